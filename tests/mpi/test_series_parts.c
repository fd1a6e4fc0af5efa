/* RUN: n=4 */
/* Declared variables that move in parts, before the step is complete. */
#include "mpi/check.h"

enum { VARS = 6, PIECE = 3000, PARTS = 3 };

static unsigned char wanted[VARS * CHECK_RANKS_MAX * PIECE];
static unsigned char data[VARS][PIECE];

static void draw(int64_t step) {
    for (int v = 0; v < VARS; v++)
        for (int owner = 0; owner < ranks; owner++)
            for (int64_t i = 0; i < PIECE; i++) {
                int64_t at = (v * (int64_t)ranks + owner) * PIECE + i;
                wanted[at] = byte_of(at, step * 100 + owner);
                if (owner == rank)
                    data[v][i] = wanted[at];
            }
}

static void declare(sago_file *file, sago_series **series) {
    sago_var vars[VARS];
    for (int v = 0; v < VARS; v++) {
        vars[v] = (sago_var)SAGO_VAR_INIT;
        vars[v].offset = (v * (MPI_Offset)ranks + rank) * PIECE;
        vars[v].count = PIECE;
    }
    CHECK_OK(sago_declare(file, VARS, vars, series));
}

/* Has the file the first `length` bytes of what is wanted? */
static bool has(const char *path, int64_t length) {
    static unsigned char is[sizeof wanted];
    return plain_read(path, is, length, 0) == length && memcmp(is, wanted, (size_t)length) == 0;
}

/* Whatever waits lets them go on: here calls on another file, in which several ranks wait for each other.  How
 * many it takes depends on who else uses the cores, so this ends when the bytes are there, or is patient for long.
 */
static void go_on(sago_file *other, const char *path, int64_t length) {
    for (int turn = 0, there = false; turn < 300 && !there; turn++) {
        for (int i = 0; i < 50; i++) {
            CHECK_OK(sago_sync(other));
            (void)usleep(1000);
        }
        there = has(path, length);
        MPI_Allreduce(MPI_IN_PLACE, &there, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    }
}

/* In order, or half of the ranks backwards; the file has what all ranks have given, before anybody completes. */
static void test_early(const char *hints, bool crossed) {
    sago_file *file = NULL, *other = NULL;
    sago_series *series = NULL;
    const char *path = fresh("parts");
    MPI_Count bytes = -1;
    char text[256];
    scene = hints;
    (void)snprintf(text, sizeof text, "sago_series_parts=%d %s", PARTS, hints);
    CHECK_OK(open_hinted(path, MPI_MODE_RDWR | MPI_MODE_CREATE, text, &file));
    CHECK_OK(open_hinted(scratch("other"), MPI_MODE_RDWR | MPI_MODE_CREATE, "", &other));
    declare(file, &series);
    for (int64_t step = 0; step < 3; step++) {
        bool backwards = crossed && rank % 2;
        draw(step);
        for (int k = 0; k < VARS; k++) {
            int v = backwards ? VARS - 1 - k : k;
            CHECK_OK(sago_series_write(series, v, data[v]));
            if (k == VARS / PARTS && !crossed) {
                const int64_t part = (int64_t)VARS / PARTS * ranks * PIECE;
                go_on(other, path, part);
                CHECK(has(path, part));
                CHECK(step > 0 || plain_size(path) == part);
                meet();
            }
        }
        if (!backwards)
            CHECK_INT(sago_series_write(series, 0, data[0]), SAGO_ERR_STATE);
        go_on(other, path, (int64_t)VARS * ranks * PIECE);
        CHECK_FILE(path, wanted, (int64_t)VARS * ranks * PIECE);
        CHECK_OK(sago_series_complete(series));
        CHECK_OK(sago_series_bytes(series, &bytes));
        CHECK_INT(bytes, VARS * PIECE);
    }
    memset(data, 0, sizeof data);
    for (int v = 0; v < VARS; v++)
        if ((v + rank) % 2)
            CHECK_OK(sago_series_read(series, v, data[v]));
    CHECK_OK(sago_series_complete(series)); /* also of ranks that left some out */
    for (int v = 0; v < VARS; v++)
        if ((v + rank) % 2)
            CHECK(memcmp(data[v], wanted + (v * (int64_t)ranks + rank) * PIECE, PIECE) == 0);
    CHECK_OK(sago_series_free(&series));
    CHECK_OK(sago_close(&other));
    CHECK_OK(sago_close(&file));
}

int main(int argc, char **argv) {
    static const char *const hints[] = {"", "sago_strategy=direct", "sago_strategy=aggregated sago_window=4K",
                                        "sago_strategy=aggregated sago_move=rma sago_defer=on"};
    check_start(&argc, &argv);
    for (int i = 0; i < 4; i++) {
        test_early(hints[i], false);
        test_early(hints[i], true);
    }
    return check_end();
}
