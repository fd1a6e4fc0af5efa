/* RUN: n=4 */
/* One subfile for each set of nodes that shares gateways, on a described machine.  However the first step is
 * written, alone or with the next one, the rule has a block of that step for each set. */
#include "check.h"
#include "fake_nodes.h"
#include "mpi/hint_of.h"

enum { PART = 3 * 4096, STEPS = 3, SETS = 2, MOST_RANKS = 4 };

static unsigned char content[STEPS * MOST_RANKS * PART], back[STEPS * MOST_RANKS * PART];

/* A torus in which every two places have a gateway of their own. */
static void describe_machine(const char *path) {
    FILE *out = rank == 0 ? fopen(path, "w") : NULL;
    if (rank == 0) {
        CHECK(out != NULL);
        fprintf(out, "name gated\ntopology torus 4 2\nlevel all latency 1us bandwidth 1GB/s\n"
                     "io latency 2us bandwidth 1GB/s\nranks-per-node 1\nmemory 1GiB\nnodes 8\n"
                     "gateways at 0 every 2 count 4 serves 2\n");
        CHECK(fclose(out) == 0);
    }
    meet();
}

typedef enum { BLOCKING, AGGREGATED, DEFERRED, NONBLOCKING, DECLARED, WAYS } way_of_writing;
static const char *const ways[WAYS] = {"blocking", "aggregated", "deferred", "nonblocking", "declared"};
static const char *const hints[WAYS] = {"", "sago_strategy=aggregated", "sago_defer=on", "", ""};

static void write_declared(sago_file *file) {
    sago_var variable = {sizeof variable, rank * PART, PART, MPI_BYTE, MPI_DATATYPE_NULL};
    sago_series *series = NULL;
    CHECK_OK(sago_declare(file, 1, &variable, &series));
    for (int step = 0; step < STEPS; step++) {
        CHECK_OK(sago_series_write(series, 0, content + (step * ranks + rank) * PART));
        CHECK_OK(sago_series_complete(series));
        CHECK_OK(sago_series_next(series, (step + 1) * ranks * PART));
    }
    CHECK_OK(sago_series_free(&series));
}

static void write_steps(sago_file *file, way_of_writing way) {
    sago_request *request[STEPS];
    for (int step = 0; step < STEPS; step++) {
        sago_extent mine = {(step * ranks + rank) * PART, PART};
        if (way == NONBLOCKING)
            CHECK_OK(sago_iwrite_extents_all(file, 1, &mine, content + mine.offset, &request[step]));
        else
            CHECK_OK(sago_write_extents_all(file, 1, &mine, content + mine.offset));
    }
    for (int step = 0; step < STEPS && way == NONBLOCKING; step++)
        CHECK_OK(sago_wait(&request[step], NULL));
}

static void check_part(const char *path, int set) {
    char part[CHECK_PATH_MAX + 20];
    struct stat is = {.st_size = -1};
    (void)snprintf(part, sizeof part, "%s/part.%05d", path, set);
    CHECK(stat(part, &is) == 0);
    CHECK_INT(is.st_size, STEPS * ranks * PART / SETS);
}

static void test_way(const char *machine, way_of_writing way) {
    char path[CHECK_PATH_MAX], text[2 * CHECK_PATH_MAX];
    sago_file *file = NULL;
    sago_extent all = {0, (int64_t)STEPS * ranks * PART};
    MPI_Count bytes = 0;
    scene = ways[way];
    (void)snprintf(path, sizeof path, "%s", scratch("gate"));
    (void)snprintf(text, sizeof text, "sago_subfiles=gateway sago_machine=%s %s", machine, hints[way]);
    CHECK_OK(open_hinted(path, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL, text, &file));
    CHECK_INT(hint_of(file, "sago_subfiles"), SETS);
    CHECK_INT(hint_of(file, "sago_subfile_block"), 0);
    if (way == DECLARED)
        write_declared(file);
    else
        write_steps(file, way);
    CHECK_OK(sago_sync(file));
    CHECK_INT(hint_of(file, "sago_subfile_block"), ranks * PART / SETS);
    sago_stats stats = SAGO_STATS_INIT;
    CHECK_OK(sago_get_stats(file, &stats));
    CHECK(strstr(stats.decision, "crossing") == NULL);
    meet();
    for (int set = 0; set < SETS; set++)
        check_part(path, set);
    CHECK_OK(sago_read_extents_all(file, 1, &all, back, &bytes));
    CHECK_INT(bytes, all.length);
    CHECK(memcmp(back, content, (size_t)all.length) == 0);
    CHECK_OK(sago_close(&file));
    meet();
    if (rank == 0)
        CHECK_OK(sago_delete(path, MPI_INFO_NULL));
    meet();
}

int main(int argc, char **argv) {
    char machine[CHECK_PATH_MAX];
    check_start(&argc, &argv);
    fake_node_ranks = 1;
    for (int64_t i = 0; i < (int64_t)sizeof content; i++)
        content[i] = byte_of(i, 3);
    (void)snprintf(machine, sizeof machine, "%s", scratch("gated.sago"));
    describe_machine(machine);
    for (int way = 0; way < WAYS; way++)
        test_way(machine, way);
    return check_end();
}
