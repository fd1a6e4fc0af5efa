/* RUN: n=1,4 */
/* Memory is a budget: with little of it the same calls take more rounds and give the same bytes; what is used is
 * reported and given back; what cannot be had is a smaller plan or, at the very end, a clear error. */
#include <signal.h>
#include <sys/resource.h>

#include "mpi/check.h"

enum { KIB = 1024, MIB = 1024 * KIB, RUN = 8, RUNS = 20000, LISTED = 4000 };

static const char *path;

static sago_file *start(const char *hints) {
    path = fresh("budget");
    return create_hinted(path, hints);
}

/* Runs of 8 bytes, dealt out to the ranks in turn, with a hole after each row if `gap`. */
static void view_runs(sago_file *file, int gap) { view_tiles(file, 0, RUN, (int64_t)RUN * ranks + gap); }

static int64_t run_place(int64_t i, int gap) { return i * ((int64_t)RUN * ranks + gap) + (int64_t)rank * RUN; }

/* Rank 0 looks at every byte of the file, holes included. */
static void check_rows(int gap, int whose) {
    int64_t row = (int64_t)RUN * ranks + gap, size = row * (RUNS - 1) + (int64_t)RUN * ranks;
    meet();
    unsigned char *is = malloc((size_t)size);
    if (rank == 0) {
        CHECK_INT(plain_size(path), size);
        CHECK_INT(plain_read(path, is, size, 0), size);
        int64_t wrong = 0;
        for (int64_t i = 0; i < size; i++)
            wrong += is[i] != (i % row < (int64_t)RUN * ranks ? byte_of(i, whose) : 0);
        CHECK_INT(wrong, 0);
    }
    free(is);
    meet();
}

/* All of the node's processes together stay within what they may use. */
static void check_used(sago_file *file, int64_t memory) {
    sago_stats stats = stats_of(file);
    CHECK(stats.memory_now > 0 && stats.memory_peak >= stats.memory_now);
    CHECK_INT(stats.memory_budget, memory);
    int64_t sum = sum_everywhere(stats.memory_peak);
    if (sum > memory) {
        CHECK_INT(sum, memory);
        printf("%s\n", stats.decision);
    }
}

static void test_tiny_runs(int64_t memory, int gap) {
    char hints[128];
    static unsigned char data[RUNS * RUN], back[RUNS * RUN];
    MPI_Count bytes = -1;
    (void)snprintf(hints, sizeof hints, "sago_strategy=aggregated sago_memory=%lldM", (long long)memory / MIB);
    sago_file *file = start(hints);
    scene = hints;
    view_runs(file, gap);
    for (int turn = 1; turn <= 2; turn++) {
        for (int64_t i = 0; i < RUNS * RUN; i++)
            data[i] = byte_of(run_place(i / RUN, gap) + i % RUN, turn);
        CHECK_OK(sago_write_at_all(file, 0, data, sizeof data, MPI_BYTE, &bytes));
        CHECK_INT(bytes, sizeof data);
        check_rows(gap, turn);
        memset(back, 0, sizeof back);
        CHECK_OK(sago_read_at_all(file, 0, back, sizeof back, MPI_BYTE, &bytes));
        CHECK_INT(bytes, sizeof back);
        CHECK(memcmp(data, back, sizeof back) == 0);
    }
    CHECK_INT(stats_of(file).aggregated_calls, 4);
    check_used(file, memory);
    CHECK_OK(sago_close(&file));
}

/* ---- Lists that follow no rule ---- */

static int64_t odd_length(int64_t i) { return 1 + (i * 7919) % 13; }

/* This rank's extents, of all ranks' in turn; returns their bytes.  `owner` < 0: of all ranks. */
static int64_t list_runs(int owner, sago_extent *list, unsigned char *data) {
    int64_t offset = 0, bytes = 0;
    for (int64_t i = 0; i < (int64_t)LISTED * ranks; i++) {
        int64_t length = odd_length(i);
        if (owner < 0 || i % ranks == owner) {
            if (list)
                list[i / ranks] = (sago_extent){offset, length};
            for (int64_t j = 0; j < length; j++)
                data[owner < 0 ? offset + j : bytes++] = byte_of(offset + j, 3);
        }
        offset += length + i % 3; /* some of them touch */
    }
    return owner < 0 ? offset : bytes;
}

static void test_lists(const char *hints) {
    static sago_extent list[LISTED];
    static unsigned char data[LISTED * 16], back[LISTED * 16];
    unsigned char *all = calloc(1, (size_t)LISTED * 16 * (size_t)ranks);
    MPI_Count bytes = -1;
    sago_file *file = start(hints);
    scene = hints;
    int64_t mine = list_runs(rank, list, data), end = list_runs(-1, NULL, all);
    while (all[end - 1] == 0) /* no run ends there */
        end--;
    for (int turn = 0; turn < 2; turn++) {
        CHECK_OK(sago_write_extents_all(file, LISTED, list, data));
        CHECK_FILE(path, all, end);
        memset(back, 0, sizeof back);
        CHECK_OK(sago_read_extents_all(file, LISTED, list, back, &bytes));
        CHECK_INT(bytes, mine);
        CHECK(memcmp(back, data, (size_t)mine) == 0);
    }
    CHECK_OK(sago_close(&file));
    free(all);
}

/* ---- Given back ---- */

/* Declares, writes and frees a variable in the places of `filetype`. */
static void use_series(sago_file *file, MPI_Datatype filetype, const unsigned char *data) {
    sago_series *series = NULL;
    sago_var var = SAGO_VAR_INIT;
    int64_t before = stats_of(file).memory_now;
    var.offset = (MPI_Offset)rank * 500;
    var.count = 100;
    var.filetype = filetype;
    CHECK_OK(sago_declare(file, 1, &var, &series));
    CHECK(stats_of(file).memory_now > before);
    for (int i = 0; i < 3; i++) {
        CHECK_OK(sago_series_write(series, 0, data));
        CHECK_OK(sago_series_complete(series));
    }
    CHECK_OK(sago_series_free(&series));
}

static void test_returns(const char *hints) {
    static unsigned char data[RUNS * RUN];
    sago_file *file = start(hints);
    scene = hints;
    view_runs(file, 0);
    CHECK_OK(sago_write_at_all(file, 0, data, sizeof data, MPI_BYTE, NULL));
    CHECK_OK(sago_set_view(file, 0, MPI_BYTE, MPI_BYTE));
    int64_t before = stats_of(file).memory_now;
    MPI_Datatype ragged;
    int lengths[100], places[100];
    for (int i = 0; i < 100; i++) {
        lengths[i] = 1 + i % 5;
        places[i] = 17 * i + i * i;
    }
    MPI_Type_indexed(100, lengths, places, MPI_BYTE, &ragged);
    CHECK_OK(sago_set_view(file, 0, MPI_BYTE, ragged));
    CHECK(stats_of(file).memory_now > before);
    CHECK_OK(sago_set_view(file, 0, MPI_BYTE, MPI_BYTE));
    CHECK_INT(stats_of(file).memory_now, before);
    use_series(file, ragged, data); /* windows may stay, for the next call that needs them */
    before = stats_of(file).memory_now;
    use_series(file, ragged, data);
    CHECK_INT(stats_of(file).memory_now, before);
    MPI_Type_free(&ragged);
    CHECK_OK(sago_close(&file));
}

/* ---- What does not fit ---- */

/* Copies of declared data are drawn from the budget; a rank without room for them is told at once. */
static void test_copies(void) {
    enum { PART = 300 * KIB };
    sago_file *file = start("sago_memory=1M sago_series_copy=on sago_strategy=direct");
    sago_series *series = NULL;
    sago_var vars[4] = {SAGO_VAR_INIT, SAGO_VAR_INIT, SAGO_VAR_INIT, SAGO_VAR_INIT};
    unsigned char *data = malloc(PART);
    int64_t part = PART / ranks; /* each of them takes part / (1M / ranks) = 29% of this rank's budget */
    scene = "copies";
    for (int v = 0; v < 4; v++) {
        vars[v].count = part;
        vars[v].offset = (v * ranks + rank) * part;
    }
    memset(data, 4, PART);
    CHECK_OK(sago_declare(file, 4, vars, &series));
    int64_t before = stats_of(file).memory_now;
    sago_status status = SAGO_OK;
    int v = 0;
    while (v < 4 && !(status = sago_series_write(series, v, data)))
        v++;
    CHECK_INT(status, SAGO_ERR_MEMORY);
    CHECK(strstr(sago_error_message(), "sago_series_copy") && strstr(sago_error_message(), "budget"));
    CHECK(v >= 2);
    CHECK_OK(sago_series_write(series, 0, data)); /* a second time takes no more */
    CHECK_OK(sago_series_complete(series));       /* those that fitted */
    CHECK_INT(stats_of(file).memory_now, before);
    MPI_Count bytes = -1;
    CHECK_OK(sago_series_bytes(series, &bytes));
    CHECK_INT(bytes, v * part);
    for (; v < 4; v++)
        CHECK_OK(sago_series_write(series, v, data));
    CHECK_OK(sago_series_complete(series));
    CHECK_OK(sago_close(&file));
    CHECK_INT(plain_size(path), 4 * part * ranks);
    free(data);
}

/* Segments can be no larger than this: as if memory were nearly full.  The files here are smaller. */
static void limit_segments(rlim_t bytes) {
    struct rlimit limit;
    CHECK(getrlimit(RLIMIT_FSIZE, &limit) == 0);
    limit.rlim_cur = bytes;
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    meet();
}

/* Node-shared memory that cannot be had leads to a smaller plan; if there is none, to one without.  Before other
 * tests, whose segments would be used again. */
static void test_small_segments(void) {
    enum { SMALL = 192 * KIB };
    static unsigned char data[SMALL], back[SMALL];
    sago_file *file = NULL;
    scene = "small segments";
    path = scratch("segments");
    CHECK_OK(
        open_hinted(path, MPI_MODE_RDWR | MPI_MODE_CREATE, "sago_strategy=aggregated sago_memory=64M", &file));
    for (int64_t i = 0; i < SMALL; i++)
        data[i] = byte_of(i, 6);
    int64_t share = SMALL / ranks, mine = rank == ranks - 1 ? SMALL - rank * share : share;
    int64_t less = 64 * KIB / ranks;
    limit_segments(100 * KIB); /* not even the smallest */
    CHECK_OK(sago_write_at_all(file, rank * less, data + rank * less, less, MPI_BYTE, NULL));
    CHECK_INT(stats_of(file).direct_calls, 1);
    CHECK_FILE(path, data, less * ranks);
    limit_segments(200 * KIB); /* small windows only */
    CHECK_OK(sago_write_at_all(file, rank * share, data + rank * share, mine, MPI_BYTE, NULL));
    CHECK_INT(stats_of(file).aggregated_calls, 1);
    limit_segments(RLIM_INFINITY);
    CHECK_FILE(path, data, SMALL);
    CHECK_OK(sago_read_at_all(file, 0, back, SMALL, MPI_BYTE, NULL));
    CHECK(memcmp(back, data, SMALL) == 0);
    CHECK_OK(sago_close(&file));
}

/* What a file with much memory leaves behind does not count against one with little. */
static void test_after_another(void) {
    test_tiny_runs(32 * MIB, 0);
    test_tiny_runs(1 * MIB, 0);
}

/* ---- Several files ---- */

enum { FILES = 4, BLOCK = 2 * MIB };

static sago_file *open_block(MPI_Comm comm, const char *name) {
    sago_file *file = NULL;
    CHECK_OK(open_hinted_in(comm, scratch(name), MPI_MODE_RDWR | MPI_MODE_CREATE,
                            "sago_strategy=aggregated sago_memory=8M", &file));
    return file;
}

static void write_block(sago_file *file, int whose) {
    static unsigned char data[BLOCK], back[BLOCK];
    for (int64_t i = 0; i < BLOCK; i++)
        data[i] = byte_of((int64_t)rank * BLOCK + i, whose);
    CHECK_OK(sago_write_at_all(file, (MPI_Offset)rank * BLOCK, data, BLOCK, MPI_BYTE, NULL));
    memset(back, 0, BLOCK);
    CHECK_OK(sago_read_at_all(file, (MPI_Offset)rank * BLOCK, back, BLOCK, MPI_BYTE, NULL));
    CHECK(memcmp(data, back, BLOCK) == 0);
}

/* What files that are open together may use, and do use, is together what one of them may. */
static void test_together(void) {
    static const char *const names[FILES] = {"together.0", "together.1", "together.2", "together.3"};
    sago_file *files[FILES];
    int64_t used = 0;
    scene = "files opened together";
    for (int i = 0; i < FILES; i++)
        files[i] = open_block(MPI_COMM_WORLD, names[i]);
    for (int i = 0; i < FILES; i++) {
        write_block(files[i], i);
        CHECK_INT(stats_of(files[i]).memory_budget, 8 * MIB / FILES);
        used += stats_of(files[i]).memory_peak;
    }
    CHECK(sum_everywhere(used) <= 8 * MIB);
    for (int i = 0; i < FILES; i++)
        CHECK_OK(sago_close(&files[i]));
}

/* A file that had everything gives back what is too much when it is used again beside another. */
static void test_one_more(void) {
    scene = "one more file";
    sago_file *first = open_block(MPI_COMM_WORLD, "first");
    write_block(first, 1);
    CHECK_INT(stats_of(first).memory_budget, 8 * MIB);
    int64_t alone = stats_of(first).memory_now;
    sago_file *second = open_block(MPI_COMM_WORLD, "second");
    write_block(second, 2);
    CHECK_INT(stats_of(second).memory_budget, 4 * MIB);
    write_block(first, 3);
    int64_t planned = stats_of(first).plan_misses;
    CHECK_INT(stats_of(first).memory_budget, 4 * MIB);
    CHECK(stats_of(first).memory_now < alone);
    CHECK(sum_everywhere(stats_of(first).memory_now + stats_of(second).memory_now) <= 8 * MIB);
    write_block(first, 4); /* once is enough */
    CHECK_INT(stats_of(first).plan_misses, planned);
    CHECK_OK(sago_close(&second));
    write_block(first, 5);
    CHECK_INT(stats_of(first).plan_misses, planned);
    CHECK_OK(sago_close(&first));
}

/* Ranks with files of their own share the node as they share a file. */
static void test_own_files(void) {
    char name[32];
    scene = "files of single ranks";
    (void)snprintf(name, sizeof name, "own.%d", rank);
    sago_file *file = open_block(MPI_COMM_SELF, name);
    write_block(file, rank);
    CHECK_INT(stats_of(file).memory_budget, 8 * MIB / ranks);
    CHECK_OK(sago_close(&file));
}

int main(int argc, char **argv) {
    static const int64_t memories[] = {1, 2, 4, 8, 32};
    check_start(&argc, &argv);
    (void)signal(SIGXFSZ, SIG_IGN);
    test_small_segments();
    for (size_t i = 0; i < sizeof memories / sizeof *memories; i++) {
        test_tiny_runs(memories[i] * MIB, 0);
        test_tiny_runs(memories[i] * MIB, 3);
    }
    test_after_another();
    test_lists("sago_strategy=aggregated sago_memory=1M");
    test_lists("sago_strategy=aggregated sago_memory=4M sago_window=4K");
    test_lists("sago_memory=1M");
    test_returns("");
    test_returns("sago_strategy=aggregated");
    test_returns("sago_strategy=aggregated sago_memory=1M");
    test_copies();
    test_together();
    test_one_more();
    test_own_files();
    return check_end();
}
