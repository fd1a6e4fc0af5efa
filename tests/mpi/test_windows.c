/* RUN: n=2 0 */
/* RUN: n=2 1 */
/* An aggregator's windows as paper 000 has them.  There are two (its Algorithm 3): while one is being written, the
 * ranks fill the other one; and while one is being read, they take what the other one has.  Each write and read of
 * a window is held up until the window next to it has been filled, or emptied: if one were moved after the other,
 * nobody would come to that.  On one node, and with a node for each rank.  And windows fill across declared
 * variables: one that is not full is the last. */
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>

#include "mpi/check.h"
#include "mpi/fake_nodes.h"

enum { WINDOW = 65536, ROUNDS = 6, RUN = 1024, TURNS = ROUNDS * WINDOW / RUN / 2 };
enum { TRIES = 60000 }; /* of a millisecond each: only a failure takes as long */

static unsigned char data[TURNS * RUN], back[TURNS * RUN];
static const volatile unsigned char *stored[ROUNDS]; /* where each window was */
static atomic_int met, missed, stores;
static bool held; /* up, until the other window is ready */

static unsigned char byte_at(int64_t offset) { return (unsigned char)(1 + offset % 251 % 128 + offset / WINDOW); }

/* The other threads write there meanwhile, which is what is tested. */
__attribute__((no_sanitize("thread"))) static bool holds(const volatile unsigned char *place, int64_t bytes,
                                                         int64_t offset) {
    for (int64_t i = 0; i < bytes; i++)
        if (place[i] != byte_at(offset + i))
            return false;
    return true;
}

static void await(const volatile unsigned char *place, int64_t bytes, int64_t offset) {
    const struct timespec nap = {.tv_nsec = 1000000};
    for (int try = 0; try < TRIES && missed == 0; try++) {
        if (holds(place, bytes, offset)) {
            met++;
            return;
        }
        (void)nanosleep(&nap, NULL);
    }
    missed++;
}

ssize_t pwrite(int fd, const void *buf, size_t bytes, off_t offset) {
    int64_t round = offset / WINDOW;
    stores++;
    if (held && bytes == WINDOW && offset % WINDOW == 0 && round < ROUNDS) {
        stored[round] = buf;
        if (round > 0 && round + 1 < ROUNDS) /* the window before this one is the next one's, too */
            await(stored[round - 1], WINDOW, (round + 1) * WINDOW);
    }
    return syscall(SYS_pwrite64, fd, buf, bytes, offset);
}

ssize_t pread(int fd, void *buf, size_t bytes, off_t offset) {
    int64_t before = offset / WINDOW - 1;
    if (held && bytes == WINDOW && offset % WINDOW == 0 &&
        before >= 0) { /* the first run that this rank has there */
        int64_t turn = before * WINDOW / RUN / ranks;
        await(&back[turn * RUN], RUN, (turn * ranks + rank) * RUN);
    }
    return syscall(SYS_pread64, fd, buf, bytes, offset);
}

/* One of the ranks is the aggregator. */
static void check_meetings(int wanted) {
    int own = met, all = 0;
    MPI_Allreduce(&own, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK_INT(missed, 0);
    CHECK_INT(all, wanted);
    met = 0;
}

static const char *const hints = "sago_strategy=aggregated sago_aggregators=1 sago_window=64K sago_io=posix";

static void one_moves_beside_the_other(void) {
    sago_file *file = NULL;
    sago_extent extents[TURNS];
    for (int64_t i = 0; i < TURNS; i++) {
        extents[i] = (sago_extent){.offset = (i * ranks + rank) * RUN, .length = RUN};
        for (int64_t b = 0; b < RUN; b++)
            data[i * RUN + b] = byte_at(extents[i].offset + b);
    }
    CHECK_OK(open_hinted(scratch("beside.dat"), MPI_MODE_RDWR | MPI_MODE_CREATE, hints, &file));
    held = true;
    scene = "writing";
    CHECK_OK(sago_write_extents_all(file, TURNS, extents, data));
    check_meetings(ROUNDS - 2);
    sago_stats stats = SAGO_STATS_INIT;
    CHECK_OK(sago_get_stats(file, &stats));
    CHECK(strstr(stats.decision, fake_node_ranks == 1 ? "nodes 2," : "nodes 1,") != NULL);
    scene = "reading";
    CHECK_OK(sago_read_extents_all(file, TURNS, extents, back, NULL));
    check_meetings(ROUNDS - 1);
    held = false;
    CHECK(memcmp(data, back, sizeof data) == 0);
    CHECK_OK(sago_close(&file));
}

/* Variables of a third of a window each, one behind the other. */
static void variables_share_windows(void) {
    enum { VARS = 9, PIECE = WINDOW / VARS / 2 * 3 };
    sago_file *file = NULL;
    sago_series *series = NULL;
    sago_var vars[VARS];
    scene = "variables";
    CHECK_OK(open_hinted(scratch("variables.dat"), MPI_MODE_RDWR | MPI_MODE_CREATE, hints, &file));
    for (int v = 0; v < VARS; v++) {
        vars[v] = (sago_var)SAGO_VAR_INIT;
        vars[v].offset = (v * (MPI_Offset)ranks + rank) * PIECE;
        vars[v].count = PIECE;
    }
    CHECK_OK(sago_declare(file, VARS, vars, &series));
    stores = 0;
    for (int v = 0; v < VARS; v++)
        CHECK_OK(sago_series_write(series, v, data + (ptrdiff_t)v * PIECE));
    CHECK_OK(sago_series_complete(series));
    CHECK_INT(sum_everywhere(stores), (VARS * PIECE * ranks + WINDOW - 1) / WINDOW);
    stores = 0;
    for (int v = 0; v < VARS; v++)
        CHECK_OK(sago_write_at_all(file, vars[v].offset, data + (ptrdiff_t)v * PIECE, PIECE, MPI_BYTE, NULL));
    CHECK(sum_everywhere(stores) >= VARS);
    CHECK_OK(sago_series_free(&series));
    CHECK_OK(sago_close(&file));
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    fake_node_ranks = atoi(argv[1]);
    one_moves_beside_the_other();
    variables_share_windows();
    return check_end();
}
