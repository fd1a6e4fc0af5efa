/* RUN: n=4 */
/* Between nodes, declared variables of a rank that lie one after another in the file: they are one piece, moved by
 * one system call, to its last byte also where the file ends in it; and variables in another order, or with bytes
 * in common, are moved as they were given. */
#include "mpi/check.h"
#include "mpi/fake_nodes.h"

enum { VARS = 9, LENGTH = 700, OURS = VARS * LENGTH, UNTOUCHED = 0x5a };

static sago_file *file;
static unsigned char buffers[VARS][LENGTH];

static unsigned char byte_at(int64_t offset) { return (unsigned char)(offset * 7 % 251); }

/* Variable v at place[v], in units of its length. */
static sago_series *declare(const int place[VARS]) {
    sago_var vars[VARS];
    sago_series *series = NULL;
    for (int v = 0; v < VARS; v++) {
        vars[v] = (sago_var)SAGO_VAR_INIT;
        vars[v].offset = (MPI_Offset)rank * OURS + (MPI_Offset)place[v] * LENGTH;
        vars[v].count = LENGTH;
    }
    CHECK_OK(sago_declare(file, VARS, vars, &series));
    return series;
}

static sago_stats stats_now(void) {
    sago_stats stats = SAGO_STATS_INIT;
    CHECK_OK(sago_get_stats(file, &stats));
    return stats;
}

/* How many system calls the step took. */
static int64_t move(sago_series *series, bool write) {
    int64_t before = stats_now().phase[SAGO_PHASE_STORE].messages;
    for (int v = 0; v < VARS; v++)
        CHECK_OK(write ? sago_series_write(series, v, buffers[v]) : sago_series_read(series, v, buffers[v]));
    CHECK_OK(sago_series_complete(series));
    return stats_now().phase[SAGO_PHASE_STORE].messages - before;
}

static void write_in(const int place[VARS]) {
    sago_series *series = declare(place);
    for (int v = 0; v < VARS; v++)
        for (int i = 0; i < LENGTH; i++)
            buffers[v][i] = byte_at((int64_t)rank * OURS + (int64_t)place[v] * LENGTH + i);
    CHECK_INT(move(series, true), 1);
    CHECK_OK(sago_series_free(&series));
}

static void check_read(const int place[VARS], int64_t size) {
    for (int v = 0; v < VARS; v++)
        for (int i = 0; i < LENGTH; i++) {
            int64_t at = (int64_t)rank * OURS + (int64_t)place[v] * LENGTH + i;
            CHECK(buffers[v][i] == (at < size ? byte_at(at) : UNTOUCHED));
        }
}

static void read_in(const int place[VARS], int64_t size) {
    sago_series *series = declare(place);
    memset(buffers, UNTOUCHED, sizeof buffers);
    (void)move(series, false);
    check_read(place, size);
    CHECK_OK(sago_series_free(&series));
}

int main(int argc, char **argv) {
    static const int in_order[VARS] = {0, 1, 2, 3, 4, 5, 6, 7, 8}, reversed[VARS] = {8, 7, 6, 5, 4, 3, 2, 1, 0},
                     again[VARS] = {0, 1, 2, 3, 3, 2, 4, 4, 5}, turned[VARS] = {3, 4, 5, 6, 7, 8, 0, 1, 2};
    check_start(&argc, &argv);
    fake_node_ranks = 2;
    CHECK_OK(open_hinted(scratch("adjacent"), MPI_MODE_CREATE | MPI_MODE_RDWR, "", &file));
    write_in(in_order);
    int64_t all = (int64_t)ranks * OURS;
    const int64_t sizes[] = {all, all - OURS - 1, OURS + LENGTH + 5, 1, 0};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        CHECK_OK(sago_set_size(file, sizes[i]));
        read_in(in_order, sizes[i]);
        read_in(reversed, sizes[i]);
        read_in(turned, sizes[i]);
        read_in(again, sizes[i]);
    }
    CHECK_OK(sago_close(&file));
    return check_end();
}
