/* SAGO_REPORT and SAGO_TRACE in a program that calls Sago: what is written when MPI is finalized. */
/* RUN: n=1,3,4 world */
/* RUN: n=4 parts */
/* RUN: n=4 unwritable */
/* RUN: n=4 uneven */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sago/sago.h>

enum { CALLS = 5, COUNT = 1000 };

static int rank, size;

static int fail(const char *what) {
    printf("rank %d: %s: %s\n", rank, what, sago_error_message());
    MPI_Abort(MPI_COMM_WORLD, 1);
    return 1;
}

static void write_file(MPI_Comm comm, const char *path) {
    int data[COUNT] = {0}, own;
    sago_file *file = NULL;
    MPI_Comm_rank(comm, &own);
    if (sago_open(comm, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file))
        fail("open");
    for (int i = 0; i < CALLS; i++)
        if (sago_write_at_all(file, (MPI_Offset)(own + i * size) * (MPI_Offset)sizeof data, data, COUNT, MPI_INT,
                              NULL))
            fail("write");
    if (sago_close(&file))
        fail("close");
}

static char *read_all(const char *path) {
    FILE *in = fopen(path, "r");
    char *text = calloc(1, 8 << 20);
    size_t length = in && text ? fread(text, 1, (8 << 20) - 1, in) : 0;
    if (in)
        fclose(in);
    return length > 0 ? text : (free(text), NULL);
}

static int expect(const char *text, const char *words) {
    if (text && strstr(text, words))
        return 0;
    printf("FAIL: \"%s\" is not there\n%.3000s\n", words, text ? text : "(no file)");
    return 1;
}

/* After MPI_Finalize, on rank 0. */
static int check_world(int ranks, int found) {
    char words[128];
    char *json = read_all("run.json"), *page = read_all("run.html"), *trace = read_all("trace.json");
    snprintf(words, sizeof words, "\"ranks_recorded\": %d,", found);
    int wrong = expect(json, words) + expect(json, "\"complete\": true") + expect(json, "\"path\": \"./data\"");
    if (found == ranks) {
        snprintf(words, sizeof words,
                 "\"job\": {\"collective_writes\": %d, \"collective_reads\": 0, \"bytes_written\": %d", CALLS,
                 CALLS * ranks * COUNT * 4);
        wrong +=
            expect(json, words) + expect(trace, "\"name\": \"write\"") + expect(trace, "\"dropped_events\": 0");
        wrong += access("run.html.records", F_OK) == 0 ? puts("FAIL: the records are still there") >= 0 : 0;
    }
    wrong += expect(page, "</html>");
    free(json);
    free(page);
    free(trace);
    return wrong;
}

/* Of four ranks two open a file: nobody may wait for the others. */
static void use_parts(void) {
    MPI_Comm part;
    MPI_Comm_split(MPI_COMM_WORLD, rank < 2 ? 0 : MPI_UNDEFINED, rank, &part);
    if (rank < 2) {
        write_file(part, "./data");
        MPI_Comm_free(&part);
    }
}

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "world";
    int wrong = 0;
    setenv("SAGO_REPORT", strcmp(mode, "unwritable") ? "run.html" : "/nonexistent/run.html", 1);
    setenv("SAGO_TRACE", "trace.json", 1);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!strcmp(mode, "uneven") && rank == 1)
        unsetenv("SAGO_REPORT"), unsetenv("SAGO_TRACE"); /* as where a launcher does not pass it on */
    if (!strcmp(mode, "parts"))
        use_parts();
    else
        write_file(MPI_COMM_WORLD, "./data");
    int recorded = !strcmp(mode, "parts") ? 2 : size, ranks = size;
    MPI_Finalize();
    if (rank == 0 && (!strcmp(mode, "world") || !strcmp(mode, "parts"))) {
        sleep(strcmp(mode, "parts") == 0);
        wrong = check_world(ranks, recorded);
    }
    if (rank == 0 && !strcmp(mode, "uneven") && access("run.html", F_OK) == 0)
        wrong = puts("FAIL: a report that one rank does not want") >= 0;
    return wrong != 0;
}
