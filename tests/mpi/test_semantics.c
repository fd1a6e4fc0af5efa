/* RUN: n=1,4 */
/* What the calls promise, whatever strategy carries them out: short reads, exact holes, ranks with nothing to do,
 * modes, sizes, time stamps, and the rules of declared I/O.  Every result is compared with a plain read. */
#include <limits.h>
#include <time.h>

#include "mpi/check.h"

enum { CELL = 100, CELLS = 64, ROOM = 1 << 16 };

static unsigned char model[ROOM]; /* what the file must be */
static unsigned char buffer[ROOM];

static const char *const strategies[] = {"",
                                         "sago_strategy=direct",
                                         "sago_strategy=mapped",
                                         "sago_strategy=aggregated",
                                         "sago_strategy=aggregated sago_window=4K",
                                         "sago_strategy=aggregated sago_window=4K sago_io=uring",
                                         "sago_strategy=aggregated sago_window=4K sago_sieve=on",
                                         "sago_strategy=direct sago_io=uring",
                                         "sago_strategy=direct sago_direct_io=on"};
enum { STRATEGIES = sizeof strategies / sizeof *strategies };

#define RDWR_CREATE (MPI_MODE_RDWR | MPI_MODE_CREATE)

static sago_file *open_file(const char *path, int amode, const char *hints) {
    sago_file *file = NULL;
    CHECK_OK(open_hinted(path, amode, hints, &file));
    return file;
}

static bool is_filled(const unsigned char *bytes, int64_t length, unsigned char value) {
    for (int64_t i = 0; i < length; i++)
        if (bytes[i] != value)
            return false;
    return true;
}

/* A view of every `ranks`-th cell, this rank's first one at its own number. */
static void view_cells(sago_file *file) { view_turns(file, CELL); }

/* ---- Short reads ---- */

/* How many of this rank's bytes lie below the end, when cells are dealt out in turn. */
static int64_t cell_bytes_below(int64_t end) {
    int64_t bytes = 0;
    for (int64_t i = 0; i < CELLS; i++) {
        int64_t start = (i * ranks + rank) * CELL, stop = start + CELL;
        bytes += stop <= end ? CELL : start < end ? end - start : 0;
    }
    return bytes;
}

static void check_short_read(sago_file *file, int64_t end) {
    MPI_Count bytes = -1;
    int64_t wanted = cell_bytes_below(end);
    memset(buffer, 0xee, sizeof buffer);
    CHECK_OK(sago_read_at_all(file, 0, buffer, (MPI_Count)CELLS * CELL, MPI_BYTE, &bytes));
    CHECK_INT(bytes, wanted);
    for (int64_t i = 0; i < wanted; i++)
        if (buffer[i] != model[((i / CELL) * ranks + rank) * CELL + i % CELL]) {
            CHECK(false && "a byte that was read is wrong");
            break;
        }
    CHECK(is_filled(buffer + wanted, ROOM - wanted, 0xee));
}

/* The end of the file in a cell, between cells, at the start, past everything. */
static void test_short_reads(const char *hints) {
    const char *path = fresh("short");
    int64_t all = (int64_t)CELLS * CELL * ranks;
    const int64_t ends[] = {0, 1, CELL, 3 * CELL + 7, all / 2 + 33, all - 1, all, all + 1};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        plain_write(path, model, ends[i]);
        sago_file *file = open_file(path, MPI_MODE_RDONLY, hints);
        view_cells(file);
        check_short_read(file, ends[i]);
        check_short_read(file, ends[i]); /* with a plan that is there already */
        CHECK_OK(sago_close(&file));
        CHECK_FILE(path, model, ends[i]);
    }
}

/* The same by extents, by one rank alone, and through a memory type with gaps. */
static void test_short_reads_otherwise(const char *hints) {
    const char *path = fresh("short2");
    MPI_Count bytes = -1;
    plain_write(path, model, 1000);
    sago_file *file = open_file(path, MPI_MODE_RDONLY, hints);
    sago_extent list[3] = {{100, 50}, {980, 40}, {5000, 10}};
    memset(buffer, 0xee, sizeof buffer);
    CHECK_OK(sago_read_extents_all(file, 3, list, buffer, &bytes));
    CHECK_INT(bytes, 70);
    CHECK(memcmp(buffer, model + 100, 50) == 0 && memcmp(buffer + 50, model + 980, 20) == 0);
    CHECK(is_filled(buffer + 70, 1000, 0xee));
    memset(buffer, 0xee, sizeof buffer);
    CHECK_OK(sago_read_at(file, 990, buffer, 50, MPI_BYTE, &bytes));
    CHECK_INT(bytes, 10);
    CHECK(memcmp(buffer, model + 990, 10) == 0 && is_filled(buffer + 10, 1000, 0xee));
    CHECK_OK(sago_read_at(file, 1000, buffer, 50, MPI_BYTE, &bytes));
    CHECK_INT(bytes, 0);
    MPI_Datatype pairs; /* two bytes, then a gap of two */
    MPI_Type_vector(20, 2, 4, MPI_BYTE, &pairs);
    MPI_Type_commit(&pairs);
    memset(buffer, 0xee, sizeof buffer);
    CHECK_OK(sago_read_at_all(file, 985, buffer, 1, pairs, &bytes));
    MPI_Type_free(&pairs);
    CHECK_INT(bytes, 15);
    for (int64_t i = 0; i < 40; i++)
        CHECK_INT(buffer[i / 2 * 4 + i % 2], i < 15 ? model[985 + i] : 0xee);
    CHECK(buffer[2] == 0xee && buffer[3] == 0xee && is_filled(buffer + 30, 1000, 0xee));
    CHECK_OK(sago_close(&file));
}

/* ---- Holes ---- */

/* The ranks write every other cell over old bytes, then beyond the old end; what is between stays. */
static void test_checkerboard(const char *hints) {
    const char *path = fresh("holes");
    int64_t old = (int64_t)CELLS * CELL + 17, cells = 2 * CELLS, high = (2 * cells - 1) * CELL;
    unsigned char *wanted = calloc(1, (size_t)(high + ROOM));
    fill_bytes(wanted, old, 3);
    plain_write(path, wanted, old);
    sago_file *file = open_file(path, MPI_MODE_RDWR, hints);
    sago_extent list[2 * CELLS];
    int64_t n = 0;
    for (int64_t i = 0; i < cells; i++) {
        int64_t start = 2 * i * CELL;
        for (int64_t j = 0; j < CELL; j++)
            wanted[start + j] = byte_of(start + j, 4);
        if (i % ranks == rank) {
            memcpy(buffer + n * CELL, wanted + start, CELL);
            list[n++] = (sago_extent){start, CELL};
        }
    }
    CHECK_OK(sago_write_extents_all(file, n, list, buffer));
    CHECK_FILE(path, wanted, high);
    CHECK_OK(sago_write_extents_all(file, n, list, buffer));
    CHECK_OK(sago_close(&file));
    CHECK_FILE(path, wanted, high);
    free(wanted);
}

/* Bytes so far from one another that nothing between them may be touched or even allocated. */
static void test_sparse(const char *hints) {
    const char *path = fresh("sparse");
    int64_t step = INT64_C(1) << (strstr(hints, "sago_window") ? 20 : 27); /* small windows go through all of it */
    int64_t most = (int64_t)2 * ranks << (strstr(hints, "mapped") ? 20 : 16);
    sago_file *file = open_file(path, RDWR_CREATE, hints);
    sago_extent list[2] = {{rank * step, 5}, {(rank + ranks) * step, 5}};
    fill_bytes(buffer, 10, rank);
    CHECK_OK(sago_write_extents_all(file, 2, list, buffer));
    meet();
    struct stat info;
    CHECK(stat(path, &info) == 0);
    CHECK_INT(info.st_size, (2 * ranks - 1) * step + 5);
    CHECK(info.st_blocks * 512 <= most);
    unsigned char back[10] = {0};
    MPI_Count bytes = -1;
    CHECK_OK(sago_read_extents_all(file, 2, list, back, &bytes));
    CHECK_INT(bytes, 10);
    CHECK(memcmp(back, buffer, 10) == 0);
    CHECK(stat(path, &info) == 0 && info.st_blocks * 512 <= most);
    CHECK_OK(sago_close(&file));
    if (rank == 0)
        unlink(path);
}

/* An offset near the largest that this file system knows. */
static int64_t far_offset(const char *path) {
    plain_write(path, "", 0);
    for (int bits = 60; bits > 40; bits--)
        if (truncate(path, (INT64_C(1) << bits) + ROOM) == 0)
            return (INT64_C(1) << bits) + 12345;
    return INT64_C(1) << 40;
}

/* Where offsets need all their bits. */
static void test_far(const char *hints) {
    const char *path = fresh("far");
    int64_t base = far_offset(path);
    meet();
    sago_file *file = open_file(path, RDWR_CREATE, hints);
    CHECK_OK(sago_set_size(file, 0));
    sago_extent one = {base + rank * 5, 5};
    unsigned char back[5] = {0};
    MPI_Count bytes = -1;
    fill_bytes(buffer, 5, rank);
    CHECK_OK(sago_write_extents_all(file, 1, &one, buffer));
    meet();
    CHECK_INT(plain_size(path), base + 5 * ranks);
    CHECK_INT(plain_read(path, back, 5, one.offset), 5);
    CHECK(memcmp(back, buffer, 5) == 0);
    memset(back, 0, sizeof back);
    CHECK_OK(sago_read_extents_all(file, 1, &one, back, &bytes));
    CHECK_INT(bytes, 5);
    CHECK(memcmp(back, buffer, 5) == 0);
    one.offset = rank == 0 ? 3 : one.offset; /* and a range as wide as that */
    CHECK_OK(sago_write_extents_all(file, 1, &one, buffer));
    CHECK_OK(sago_read_extents_all(file, 1, &one, back, &bytes));
    CHECK_INT(bytes, 5);
    CHECK(memcmp(back, buffer, 5) == 0);
    CHECK_OK(sago_close(&file));
}

/* ---- Ranks with nothing to do ---- */

static void test_empty(const char *hints) {
    const char *path = fresh("empty");
    MPI_Count bytes = -1;
    sago_file *file = open_file(path, RDWR_CREATE, hints);
    CHECK_OK(sago_write_at_all(file, 0, NULL, 0, MPI_BYTE, &bytes)); /* all of them */
    CHECK_INT(bytes, 0);
    CHECK_OK(sago_write_extents_all(file, 0, NULL, NULL));
    CHECK_INT(plain_size(path), 0);
    CHECK_OK(sago_read_at_all(file, 10, NULL, 0, MPI_INT, &bytes));
    CHECK_INT(bytes, 0);
    for (int alone = 0; alone<ranks; alone += ranks> 1 ? ranks - 1 : 1) { /* all but one */
        bool mine = rank == alone;
        fill_bytes(buffer, CELLS * CELL, 5 + alone);
        CHECK_OK(sago_write_at_all(file, 0, mine ? buffer : NULL, mine ? CELLS * CELL : 0, MPI_BYTE, &bytes));
        CHECK_INT(bytes, mine ? CELLS * CELL : 0);
        CHECK_FILE(path, buffer, CELLS * CELL);
        unsigned char back[CELLS * CELL] = {0};
        CHECK_OK(sago_read_at_all(file, 0, back, mine ? CELLS * CELL : 0, MPI_BYTE, &bytes));
        CHECK_INT(bytes, mine ? CELLS * CELL : 0);
        CHECK(mine ? memcmp(back, buffer, sizeof back) == 0 : is_filled(back, sizeof back, 0));
    }
    sago_extent list[4] = {{0, 0}, {3, 2}, {100, 0}, {INT64_MAX / 8, 0}};
    memset(buffer + 3, 77, 2);
    CHECK_OK(sago_write_extents_all(file, 4, list, buffer + 3));
    CHECK_FILE(path, buffer, CELLS * CELL);
    CHECK_OK(sago_close(&file));
}

/* ---- Writes that tile, through views and memory types ---- */

static void test_round_trip(const char *hints, int amode) {
    const char *path = fresh("tiles");
    sago_file *file = open_file(path, amode | MPI_MODE_CREATE, hints);
    MPI_Count bytes = -1;
    int64_t all = (int64_t)CELLS * CELL * ranks;
    view_cells(file);
    for (int64_t i = 0; i < CELLS * CELL; i++)
        buffer[i] = model[((i / CELL) * ranks + rank) * CELL + i % CELL];
    CHECK_OK(sago_write_at_all(file, 0, buffer, CELLS * CELL, MPI_BYTE, &bytes));
    CHECK_INT(bytes, CELLS * CELL);
    CHECK_OK(sago_close(&file));
    CHECK_FILE(path, model, all);
}

/* MPI_BOTTOM is NULL, and still a buffer: its type holds addresses. */
static void test_bottom(const char *hints) {
    const char *path = fresh("bottom");
    static int32_t left[4], right[4];
    MPI_Datatype one, both;
    MPI_Aint places[2];
    int lengths[2] = {4, 4};
    for (int i = 0; i < 4; i++) {
        left[i] = 10 * rank + i;
        right[i] = -left[i];
    }
    MPI_Get_address(left, &places[0]);
    MPI_Get_address(right, &places[1]);
    MPI_Type_create_hindexed(1, lengths, places, MPI_INT32_T, &one);
    MPI_Type_create_hindexed(2, lengths, places, MPI_INT32_T, &both);
    MPI_Type_commit(&one);
    MPI_Type_commit(&both);
    sago_file *file = open_file(path, RDWR_CREATE, hints);
    CHECK_OK(sago_write_at_all(file, rank * 48, MPI_BOTTOM, 1, both, NULL));
    CHECK_OK(sago_write_at_all(file, rank * 48 + 32, MPI_BOTTOM, 1, one, NULL));
    meet();
    int32_t back[12] = {0};
    CHECK_INT(plain_read(path, back, sizeof back, rank * 48), sizeof back);
    CHECK(memcmp(back, left, 16) == 0 && memcmp(back + 4, right, 16) == 0 && memcmp(back + 8, left, 16) == 0);
    CHECK_OK(sago_close(&file));
    MPI_Type_free(&one);
    MPI_Type_free(&both);
}

/* ---- What independent calls and collective ones see of each other ---- */

static void test_independent(const char *hints) {
    const char *path = fresh("independent");
    sago_file *file = open_file(path, RDWR_CREATE, hints);
    MPI_Count bytes = -1;
    unsigned char back[CELL];
    int64_t mine = rank * CELL;
    for (int round = 0; round < 3; round++) {
        fill_bytes(buffer, CELL, 20 * round + rank);
        int64_t place = mine + (int64_t)round * CELL * ranks; /* the file grows */
        CHECK_OK(sago_write_at(file, place, buffer, CELL, MPI_BYTE, &bytes));
        CHECK_INT(bytes, CELL);
        memset(back, 0, sizeof back);
        CHECK_OK(sago_read_at_all(file, place, back, CELL, MPI_BYTE, &bytes));
        CHECK_INT(bytes, CELL);
        CHECK(memcmp(back, buffer, CELL) == 0);
        fill_bytes(buffer, CELL, 20 * round + 10 + rank);
        CHECK_OK(sago_write_at_all(file, place, buffer, CELL, MPI_BYTE, &bytes));
        memset(back, 0, sizeof back);
        CHECK_OK(sago_read_at(file, place, back, CELL, MPI_BYTE, &bytes));
        CHECK_INT(bytes, CELL);
        CHECK(memcmp(back, buffer, CELL) == 0);
    }
    CHECK_OK(sago_close(&file));
}

/* The file is cut behind our back, through another handle: what was written before does not count any more. */
static void test_cut_elsewhere(const char *hints) {
    const char *path = fresh("cut");
    sago_file *file = open_file(path, RDWR_CREATE, hints), *second = open_file(path, MPI_MODE_RDWR, hints);
    MPI_Count bytes = -1;
    fill_bytes(buffer, 1000, 6);
    CHECK_OK(sago_write_at(file, 0, buffer, 1000, MPI_BYTE, &bytes));
    CHECK_OK(sago_sync(file));
    CHECK_OK(sago_set_size(second, 300));
    CHECK_OK(sago_sync(file));
    unsigned char back[1000];
    memset(back, 0xee, sizeof back);
    CHECK_OK(sago_read_at_all(file, 0, back, 1000, MPI_BYTE, &bytes));
    CHECK_INT(bytes, 300);
    CHECK(memcmp(back, buffer, 300) == 0 && is_filled(back + 300, 700, 0xee));
    CHECK_OK(sago_close(&second));
    CHECK_OK(sago_close(&file));
}

/* ---- Sizes ---- */

static void check_size(sago_file *file, const char *path, int64_t wanted) {
    MPI_Offset size = -1;
    CHECK_OK(sago_get_size(file, &size));
    CHECK_INT(size, wanted);
    CHECK_INT(plain_size(path), wanted);
    meet();
}

static void test_sizes(const char *hints) {
    const char *path = fresh("sizes");
    sago_file *file = open_file(path, RDWR_CREATE, hints);
    struct stat info;
    check_size(file, path, 0);
    CHECK_OK(sago_set_size(file, 5000));
    check_size(file, path, 5000);
    CHECK_OK(sago_preallocate(file, 100)); /* never shrinks */
    check_size(file, path, 5000);
    CHECK_OK(sago_preallocate(file, 9000));
    check_size(file, path, 9000);
    CHECK(stat(path, &info) == 0 && info.st_blocks * 512 >= 9000);
    memset(buffer, 0, 9000);
    CHECK_FILE(path, buffer, 9000);
    fill_bytes(buffer, 9000, 7);
    int64_t share = 9000 / ranks, mine = rank == ranks - 1 ? 9000 - rank * share : share;
    CHECK_OK(sago_write_at_all(file, rank * share, buffer + rank * share, mine, MPI_BYTE, NULL));
    CHECK_OK(sago_sync(file));
    CHECK_FILE(path, buffer, 9000);
    CHECK_OK(sago_set_size(file, 10)); /* what is cut off is gone, also when the file grows again */
    CHECK_OK(sago_set_size(file, 9000));
    memset(buffer + 10, 0, 8990);
    CHECK_FILE(path, buffer, 9000);
    unsigned char back[9000];
    MPI_Count bytes = -1;
    CHECK_OK(sago_read_at_all(file, 0, back, 9000, MPI_BYTE, &bytes));
    CHECK_INT(bytes, 9000);
    CHECK(memcmp(back, buffer, 9000) == 0);
    CHECK_OK(sago_preallocate(file, 0));
    CHECK_OK(sago_set_size(file, 0));
    CHECK_OK(sago_read_at_all(file, 0, back, 9000, MPI_BYTE, &bytes));
    CHECK_INT(bytes, 0);
    check_size(file, path, 0);
    CHECK_OK(sago_close(&file));
}

/* ---- Modes, permissions, time stamps ---- */

static void test_modes(void) {
    const char *path = fresh("modes");
    struct stat info;
    mode_t before = umask(027);
    sago_file *file = open_file(path, RDWR_CREATE | MPI_MODE_EXCL, "");
    umask(before);
    CHECK(stat(path, &info) == 0);
    CHECK_INT(info.st_mode & 0777, 0640);
    CHECK_OK(sago_close(&file));
    EXPECT(open_hinted(path, RDWR_CREATE | MPI_MODE_EXCL, "", &file), SAGO_ERR_EXISTS, "exists", 0);
    plain_write(path, model, 100);
    file = open_file(path, RDWR_CREATE, ""); /* creating what is there leaves it */
    CHECK_FILE(path, model, 100);
    CHECK_OK(sago_close(&file));
    file = open_file(path, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE | MPI_MODE_UNIQUE_OPEN, "");
    CHECK_INT(plain_size(path), 100);
    meet();
    CHECK_OK(sago_close(&file));
    CHECK_INT(plain_size(path), -1);
}

static void test_delete(void) {
    const char *path = fresh("delete");
    plain_write(path, model, 100);
    if (rank == ranks - 1)
        CHECK_OK(sago_delete(path, MPI_INFO_NULL));
    meet();
    CHECK_INT(plain_size(path), -1);
    meet();
    plain_write(path, model, 100);
    sago_file *file = open_file(path, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, "");
    if (rank == 0)
        CHECK_OK(sago_delete(path, MPI_INFO_NULL)); /* so that closing cannot */
    meet();
    EXPECT(sago_close(&file), SAGO_ERR_NO_FILE, "on close", 0);
    CHECK(!file);
}

/* MPI_MODE_APPEND is about file pointers, of which there are none: offsets mean what they say. */
static void test_append(const char *hints) {
    const char *path = fresh("append");
    plain_write(path, model, 1000);
    sago_file *file = open_file(path, MPI_MODE_WRONLY | MPI_MODE_APPEND, hints);
    MPI_Offset size = -1;
    CHECK_OK(sago_get_size(file, &size));
    CHECK_INT(size, 1000);
    memcpy(buffer, model, 1000);
    fill_bytes(buffer + 1000, 10 * ranks, 8);
    memset(buffer + 10, 9, 5 * (size_t)ranks);
    CHECK_OK(sago_write_at_all(file, 10 + 5 * rank, buffer + 10, 5, MPI_BYTE, NULL));
    CHECK_OK(sago_write_at_all(file, size + 10 * rank, buffer + 1000 + 10 * rank, 10, MPI_BYTE, NULL));
    CHECK_OK(sago_close(&file));
    CHECK_FILE(path, buffer, 1000 + 10 * ranks);
}

static bool is_newer(const struct timespec *a, const struct timespec *b) {
    return a->tv_sec > b->tv_sec || (a->tv_sec == b->tv_sec && a->tv_nsec > b->tv_nsec);
}

/* Stores to a mapped page tell the kernel nothing; programs like make look at the time all the same. */
static void test_mtime(const char *hints) {
    const char *path = fresh("mtime");
    struct stat before, after;
    sago_file *file = open_file(path, RDWR_CREATE, hints);
    view_cells(file);
    for (int i = 0; i < 3; i++) { /* from the second on nothing about the file is new */
        CHECK_OK(sago_write_at_all(file, 0, buffer, CELLS * CELL, MPI_BYTE, NULL));
        meet();
        CHECK(stat(path, &before) == 0);
        meet();
        (void)usleep(20000);
        CHECK_OK(sago_write_at_all(file, 0, buffer, CELLS * CELL, MPI_BYTE, NULL));
        meet();
        CHECK(stat(path, &after) == 0);
        CHECK(is_newer(&after.st_mtim, &before.st_mtim));
        meet();
    }
    CHECK_OK(sago_close(&file));
}

/* ---- Declared I/O ---- */

enum { VARS = 3 };

/* Variable v of a step: `ranks` cells one after another, this rank's own among them; rank 0 has none of
 * variable 1. */
static int64_t var_place(int v) { return ((int64_t)v * ranks + rank) * CELL; }
static int64_t var_bytes(int v) { return v == 1 && rank == 0 ? 0 : CELL; }
static int64_t step_bytes(void) { return (int64_t)VARS * ranks * CELL; }

static sago_series *declare_cells(sago_file *file) {
    sago_series *series = NULL;
    sago_var vars[VARS] = {SAGO_VAR_INIT, SAGO_VAR_INIT, SAGO_VAR_INIT};
    for (int v = 0; v < VARS; v++) {
        vars[v].offset = var_place(v);
        vars[v].count = var_bytes(v);
    }
    CHECK_OK(sago_declare(file, VARS, vars, &series));
    return series;
}

/* A step into the model, with the variables in `mask`, by the ranks from `first` on. */
static void model_step(unsigned char *wanted, int step, int mask, int first) {
    for (int v = 0; v < VARS; v++)
        for (int r = first; r < ranks; r++)
            for (int64_t i = 0; mask >> v & 1 && !(v == 1 && r == 0) && i < CELL; i++) {
                int64_t at = ((int64_t)v * ranks + r) * CELL + i;
                wanted[step * step_bytes() + at] = byte_of(at, 40 + step);
            }
}

/* Writes those variables of a step, last one first. */
static void write_step(sago_series *series, int step, int mask, bool reuse) {
    static unsigned char data[VARS][CELL];
    MPI_Count bytes = -1, wanted = 0;
    for (int v = VARS - 1; v >= 0; v--) {
        if (!(mask >> v & 1))
            continue;
        for (int64_t i = 0; i < CELL; i++)
            data[reuse ? 0 : v][i] = byte_of(var_place(v) + i, 40 + step);
        CHECK_OK(sago_series_write(series, v, data[reuse ? 0 : v]));
        wanted += var_bytes(v);
    }
    if (reuse)
        memset(data, 0xee, sizeof data);
    CHECK_OK(sago_series_complete(series));
    CHECK_OK(sago_series_bytes(series, &bytes));
    CHECK_INT(bytes, wanted);
}

static void read_step(sago_series *series, int step, int mask) {
    unsigned char back[VARS][CELL];
    MPI_Count bytes = -1, wanted = 0;
    memset(back, 0xee, sizeof back);
    for (int v = 0; v < VARS; v++)
        if (mask >> v & 1) {
            CHECK_OK(sago_series_read(series, v, back[v]));
            wanted += var_bytes(v);
        }
    CHECK_OK(sago_series_complete(series));
    CHECK_OK(sago_series_bytes(series, &bytes));
    CHECK_INT(bytes, wanted);
    for (int v = 0; v < VARS; v++)
        for (int64_t i = 0; i < CELL; i++)
            CHECK_INT(back[v][i], mask >> v & 1 && i < var_bytes(v) ? byte_of(var_place(v) + i, 40 + step) : 0xee);
}

static void test_series(const char *hints) {
    const char *path = fresh("series");
    bool copies = strstr(hints, "sago_series_copy") != NULL;
    unsigned char *wanted = calloc(1, (size_t)step_bytes() * 3);
    sago_file *file = open_file(path, RDWR_CREATE, hints);
    sago_series *series = declare_cells(file), *another = declare_cells(file);
    write_step(series, 0, 7, copies);
    model_step(wanted, 0, 7, 0);
    CHECK_FILE(path, wanted, step_bytes());
    CHECK_OK(sago_series_next(series, step_bytes()));
    write_step(series, 1, 6, copies); /* variable 0 takes no part */
    model_step(wanted, 1, 6, 0);
    CHECK_FILE(path, wanted, 2 * step_bytes());
    CHECK_OK(sago_series_next(series, 2 * step_bytes()));
    write_step(series, 2, rank == ranks - 1 ? 7 : 0, copies); /* only one rank takes part */
    model_step(wanted, 2, 7, ranks - 1);
    CHECK_FILE(path, wanted, 3 * step_bytes());
    read_step(another, 0, 5);
    CHECK_OK(sago_series_next(another, step_bytes()));
    read_step(another, 1, 6);
    CHECK_OK(sago_series_next(another, 0)); /* back again: displacements count from the declaration */
    read_step(another, 0, rank == 0 ? 0 : 7);
    CHECK_OK(sago_series_complete(another)); /* nobody has anything */
    CHECK_OK(sago_series_free(&another));
    CHECK_OK(sago_close(&file)); /* and `series` goes with it */
    CHECK_FILE(path, wanted, 3 * step_bytes());
    free(wanted);
}

static void test_series_rules(const char *hints) {
    const char *path = fresh("rules");
    unsigned char mine[CELL], back[CELL], again[CELL];
    sago_file *file = open_file(path, RDWR_CREATE, hints);
    sago_series *series = declare_cells(file);
    fill_bytes(mine, CELL, rank);
    fill_bytes(again, CELL, rank + 50);
    CHECK_OK(sago_series_write(series, 0, mine));
    CHECK_INT(sago_series_read(series, 1, back), SAGO_ERR_STATE);
    CHECK(strstr(sago_error_message(), "either writes or reads"));
    CHECK_OK(sago_series_write(series, 0, again)); /* the later buffer counts */
    CHECK_OK(sago_series_complete(series));
    CHECK_OK(sago_series_read(series, 0, back));
    CHECK_INT(sago_series_write(series, 1, mine), SAGO_ERR_STATE);
    CHECK_OK(sago_series_complete(series));
    CHECK(memcmp(back, again, CELL) == 0);
    MPI_Count bytes = -1;
    CHECK_OK(sago_set_size(file, rank * 0 + CELL / 2)); /* in the middle of rank 0's cell */
    memset(back, 0xee, sizeof back);
    CHECK_OK(sago_series_read(series, 0, back));
    CHECK_OK(sago_series_complete(series));
    CHECK_OK(sago_series_bytes(series, &bytes));
    CHECK_INT(bytes, rank == 0 ? CELL / 2 : 0);
    CHECK(rank != 0 || memcmp(back, again, CELL / 2) == 0);
    CHECK(is_filled(back + bytes, CELL - bytes, 0xee));
    CHECK_OK(sago_series_free(&series));
    CHECK_OK(sago_declare(file, 0, NULL, &series)); /* nothing is a declaration too */
    CHECK_OK(sago_series_complete(series));
    CHECK_OK(sago_series_next(series, 17));
    CHECK_OK(sago_series_free(&series));
    CHECK_OK(sago_close(&file));
}

/* Variables with filetypes and memory types: two fields of a record, a file of such records. */
static void test_series_types(const char *hints) {
    enum { RECORDS = 50 };
    typedef struct record {
        int32_t id;
        char unused[4];
        double value;
    } record;
    const char *path = fresh("records");
    static record mine[RECORDS], back[RECORDS];
    sago_var vars[2] = {SAGO_VAR_INIT, SAGO_VAR_INIT};
    MPI_Datatype field[2], memory[2], parts[2] = {MPI_INT32_T, MPI_DOUBLE};
    int64_t places[2] = {offsetof(record, id), offsetof(record, value)};
    for (int v = 0; v < 2; v++) {
        MPI_Type_create_resized(parts[v], 0, 12 * ranks, &field[v]); /* packed records, ranks in turn */
        MPI_Type_create_resized(parts[v], 0, sizeof(record), &memory[v]);
        vars[v] = (sago_var){sizeof vars[v], rank * 12 + 4 * v, RECORDS, memory[v], field[v]};
    }
    for (int i = 0; i < RECORDS; i++)
        mine[i] = (record){.id = 1000 * rank + i, .value = rank + 0.5 * i};
    sago_file *file = open_file(path, RDWR_CREATE, hints);
    sago_series *series = NULL;
    CHECK_OK(sago_declare(file, 2, vars, &series));
    for (int v = 0; v < 2; v++) {
        MPI_Type_free(&field[v]);
        MPI_Type_free(&memory[v]);
        CHECK_OK(sago_series_write(series, v, (char *)mine + places[v]));
    }
    CHECK_OK(sago_series_complete(series));
    CHECK_INT(plain_size(path), 12 * ranks * RECORDS);
    for (int i = 0; i < RECORDS; i++) {
        unsigned char packed[12] = {0};
        CHECK_INT(plain_read(path, packed, 12, ((int64_t)i * ranks + rank) * 12), 12);
        CHECK(memcmp(packed, &mine[i].id, 4) == 0 && memcmp(packed + 4, &mine[i].value, 8) == 0);
    }
    for (int v = 0; v < 2; v++)
        CHECK_OK(sago_series_read(series, v, (char *)back + places[v]));
    CHECK_OK(sago_series_complete(series));
    CHECK(memcmp(mine, back, sizeof mine) == 0);
    CHECK_OK(sago_close(&file));
}

/* ---- Without a file ---- */

static void test_version(void) {
    int major = -1, minor = -1, patch = -1;
    char text[64];
    const char *version = sago_version(&major, &minor, &patch);
    CHECK(major == SAGO_VERSION_MAJOR && minor == SAGO_VERSION_MINOR && patch == SAGO_VERSION_PATCH);
    (void)snprintf(text, sizeof text, "%d.%d.%d", major, minor, patch);
    CHECK(strcmp(text, version) == 0 && strcmp(text, sago_version(NULL, NULL, NULL)) == 0);
}

static void test_statuses(void) {
    CHECK_INT(sago_status_mpi_class(SAGO_OK), MPI_SUCCESS);
    CHECK_INT(sago_status_mpi_class(SAGO_ERR_NO_SPACE), MPI_ERR_NO_SPACE);
    CHECK_INT(sago_status_mpi_class(SAGO_ERR_NO_FILE), MPI_ERR_NO_SUCH_FILE);
    CHECK_INT(sago_status_mpi_class(SAGO_ERR_MISMATCH), MPI_ERR_NOT_SAME);
    CHECK_INT(sago_status_mpi_class(SAGO_ERR_MODE), MPI_ERR_AMODE);
    CHECK_INT(sago_status_mpi_class(SAGO_STATUS_COUNT), MPI_ERR_OTHER);
    for (int i = 0; i < SAGO_STATUS_COUNT; i++) {
        int class = sago_status_mpi_class((sago_status)i);
        CHECK(i == 0 || (class != MPI_SUCCESS && class <= MPI_ERR_LASTCODE));
        CHECK(strlen(sago_status_string((sago_status)i)) > 3);
        for (int j = 0; j < i; j++)
            CHECK(strcmp(sago_status_string((sago_status)i), sago_status_string((sago_status)j)) != 0);
    }
    CHECK(sago_status_string(SAGO_STATUS_COUNT) != NULL);
    CHECK(sago_status_string((sago_status)-1) != NULL);
    for (int i = 0; i <= SAGO_PHASE_COUNT; i++)
        CHECK(sago_phase_string((sago_phase)i) != NULL);
    for (int i = 0; i < SAGO_FLUSH_COUNT; i++)
        CHECK(sago_flush_string((sago_flush)i) != NULL);
    CHECK(strcmp(sago_flush_string(SAGO_FLUSH_STARTED), "started") == 0);
    CHECK(strcmp(sago_flush_string(SAGO_FLUSH_OWN), "own") == 0);
}

/* The application's bytes, whichever way they went. */
static void test_stats(void) {
    sago_file *file = open_file(fresh("counts"), RDWR_CREATE, "");
    unsigned char back[30];
    CHECK_OK(sago_write_at_all(file, rank * 10, buffer, 10, MPI_BYTE, NULL));
    CHECK_OK(sago_write_at(file, rank * 10, buffer, 7, MPI_BYTE, NULL));
    CHECK_OK(sago_read_at_all(file, ranks * 10 - 5, back, 30, MPI_BYTE, NULL)); /* 5 of them are there */
    CHECK_OK(sago_read_at(file, ranks * 10 - 2, back, 30, MPI_BYTE, NULL));     /* 2 */
    sago_stats stats = stats_of(file);
    CHECK_INT(stats.bytes_written, 17);
    CHECK_INT(stats.bytes_read, 7);
    CHECK_INT(stats.collective_writes, 1);
    CHECK_INT(stats.collective_reads, 1);
    CHECK_INT(stats.direct_calls + stats.mapped_calls + stats.aggregated_calls, 2);
    CHECK(strstr(stats.decision, "strategy"));
    CHECK_OK(sago_close(&file));
}

static int64_t sum_of_routes(const sago_stats *stats) {
    int64_t sum = 0;
    for (int i = 0; i < SAGO_ROUTE_COUNT; i++)
        sum += stats->routes[i];
    return sum;
}

/* Every call counts once, by the route it took. */
static void test_routes(void) {
    static const char *const hints[] = {"sago_agree=always", "sago_agree=turn sago_map=on", "sago_defer=on"};
    sago_extent runs[200];
    for (int i = 0; i < 200; i++)
        runs[i] = (sago_extent){(i * (ranks + 1) + rank) * 8, 8};
    for (int i = 0; i < 3; i++) {
        sago_request *request = NULL;
        sago_file *file = open_file(fresh("routes"), RDWR_CREATE, hints[i]);
        CHECK_OK(sago_write_at_all(file, rank * 10, buffer, 10, MPI_BYTE, NULL));
        CHECK_OK(sago_write_extents_all(file, 200, runs, buffer));
        CHECK_OK(sago_read_at_all(file, rank * 10, buffer, 0, MPI_BYTE, NULL));
        CHECK_OK(sago_read_extents_all(file, 200, runs, buffer, NULL));
        CHECK_OK(sago_iwrite_extents_all(file, 200, runs, buffer, &request));
        CHECK_OK(sago_wait(&request, NULL));
        CHECK_OK(sago_write_at(file, rank, buffer, 1, MPI_BYTE, NULL));
        CHECK_OK(sago_read_at(file, rank, buffer, 1, MPI_BYTE, NULL));
        sago_stats stats = stats_of(file);
        CHECK_INT(stats.collective_writes, 3);
        CHECK_INT(stats.collective_reads, 2);
        CHECK_INT(stats.independent_writes, 1);
        CHECK_INT(stats.independent_reads, 1);
        CHECK_INT(sum_of_routes(&stats), 7);
        CHECK_INT(stats.routes[SAGO_ROUTE_ALONE_PIECE], 2 + (i == 1));
        CHECK_INT(stats.routes[SAGO_ROUTE_DEFERRED], i == 2 ? 2 : 0);
        CHECK_OK(sago_close(&file));
    }
    CHECK(strcmp(sago_route_string(SAGO_ROUTE_ALONE_PIECE), "alone_piece") == 0);
    CHECK(strcmp(sago_route_string(SAGO_ROUTE_LOCAL), "local") == 0);
}

/* Ranks of one node go alone where the hint allows it, and what they see is in order all the same. */
static void test_agree(void) {
    static const char *const hints[] = {"sago_agree=enter", "sago_agree=turn"};
    for (int i = 0; i < 2; i++) {
        sago_file *file = open_file(fresh("agree"), RDWR_CREATE, hints[i]);
        for (int n = 1; n <= 20; n++) {
            unsigned char mine = (unsigned char)(rank + 7 * n), other = 0;
            int next = (rank + 1) % ranks;
            CHECK_OK(sago_write_at_all(file, rank, &mine, 1, MPI_BYTE, NULL));
            CHECK_OK(sago_read_at_all(file, next, &other, 1, MPI_BYTE, NULL));
            CHECK_INT(other, (unsigned char)(next + 7 * n));
        }
        CHECK_INT(stats_of(file).separate_calls, 40);
        CHECK_OK(sago_close(&file));
    }
}

/* Ranks that go alone read the clock only if they are to; then what they wait for each other is counted, too. */
static void test_timing(void) {
    static const char *const hints[] = {"sago_agree=turn sago_timing=off", "sago_agree=turn"};
    for (int timed = 0; timed < 2; timed++) {
        sago_file *file = open_file(fresh("timing"), RDWR_CREATE, hints[timed]);
        CHECK_OK(sago_write_at_all(file, rank * 10, buffer, 10, MPI_BYTE, NULL));
        CHECK_INT(stats_of(file).separate_calls, 1);
        CHECK_INT(stats_of(file).phase[SAGO_PHASE_STORE].seconds > 0, timed);
        CHECK_INT(stats_of(file).phase[SAGO_PHASE_WAIT].seconds > 0, 0);
        CHECK_OK(sago_read_at_all(file, rank * 10, buffer, 10, MPI_BYTE, NULL));
        CHECK_INT(stats_of(file).phase[SAGO_PHASE_WAIT].seconds > 0, timed && ranks > 1);
        CHECK_OK(sago_close(&file));
    }
}

/* Older programs know a shorter struct. */
static void test_stats_size(void) {
    sago_file *file = open_file(fresh("stats"), RDWR_CREATE, "");
    sago_stats stats = SAGO_STATS_INIT;
    memset((char *)&stats + sizeof stats.size, 0xee, sizeof stats - sizeof stats.size);
    stats.size = offsetof(sago_stats, bytes_written);
    CHECK_OK(sago_get_stats(file, &stats));
    CHECK_INT(stats.size, offsetof(sago_stats, bytes_written));
    CHECK_INT(stats.collective_writes, 0);
    CHECK(is_filled((unsigned char *)&stats.bytes_written, 8, 0xee));
    CHECK_OK(sago_close(&file));
}

/* What is in force is told back, in words that another file can be opened with. */
static void test_hints(void) {
    const char *path = fresh("hints");
    sago_file *file = open_file(path, RDWR_CREATE, "sago_window=2M sago_strategy=aggregated"), *again = NULL;
    MPI_Info info;
    char value[64] = "";
    int found = 0;
    MPI_Info_create(&info);
    CHECK_OK(sago_get_hints(file, info));
    MPI_Info_get(info, "sago_window", sizeof value - 1, value, &found);
    CHECK(found && strcmp(value, "2M") == 0);
    MPI_Info_get(info, "sago_strategy", sizeof value - 1, value, &found);
    CHECK(found && strcmp(value, "aggregated") == 0);
    CHECK_OK(sago_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR, info, &again));
    MPI_Info_free(&info);
    CHECK_OK(sago_close(&again));
    CHECK_OK(sago_close(&file));
}

/* Two files on one communicator, and a communicator that goes before its file does. */
static void test_communicators(void) {
    MPI_Comm own;
    sago_file *first = NULL, *second = NULL;
    const char *paths[2] = {fresh("first"), fresh("second")};
    MPI_Comm_dup(MPI_COMM_WORLD, &own);
    CHECK_OK(sago_open(own, paths[0], RDWR_CREATE, MPI_INFO_NULL, &first));
    CHECK_OK(sago_open(own, paths[1], RDWR_CREATE, MPI_INFO_NULL, &second));
    MPI_Comm_free(&own);
    fill_bytes(buffer, 10 * ranks, 9);
    CHECK_OK(sago_write_at_all(second, 10 * rank, buffer + 10 * rank, 10, MPI_BYTE, NULL));
    CHECK_OK(sago_write_at_all(first, 10 * rank, buffer + 10 * rank, 10, MPI_BYTE, NULL));
    CHECK_OK(sago_close(&first));
    CHECK_OK(sago_write_at_all(second, 0, buffer, rank == 0 ? 10 : 0, MPI_BYTE, NULL));
    CHECK_OK(sago_close(&second));
    CHECK_FILE(paths[0], buffer, 10 * ranks);
    CHECK_FILE(paths[1], buffer, 10 * ranks);
    sago_file *alone = NULL;
    char name[32];
    (void)snprintf(name, sizeof name, "alone.%d", rank);
    CHECK_OK(sago_open(MPI_COMM_SELF, scratch(name), RDWR_CREATE, MPI_INFO_NULL, &alone));
    CHECK_OK(sago_write_at_all(alone, 0, buffer, 10, MPI_BYTE, NULL));
    CHECK_OK(sago_close(&alone));
    CHECK_INT(plain_size(scratch(name)), 10);
}

static void test_strategy(const char *hints) {
    scene = hints;
    test_short_reads(hints);
    test_short_reads_otherwise(hints);
    test_checkerboard(hints);
    test_sparse(hints);
    test_far(hints);
    test_empty(hints);
    test_round_trip(hints, MPI_MODE_RDWR);
    test_round_trip(hints, MPI_MODE_WRONLY);
    test_bottom(hints);
    test_independent(hints);
    test_cut_elsewhere(hints);
    test_sizes(hints);
    test_append(hints);
    test_mtime(hints);
    test_series(hints);
    test_series_rules(hints);
    test_series_types(hints);
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    fill_bytes(model, ROOM, 1);
    for (int i = 0; i < STRATEGIES; i++)
        test_strategy(strategies[i]);
    scene = "sago_series_copy";
    test_series("sago_series_copy=on");
    test_series_rules("sago_series_copy=on");
    test_series_types("sago_series_copy=on sago_strategy=aggregated");
    scene = "";
    test_modes();
    test_delete();
    test_version();
    test_statuses();
    test_stats();
    test_routes();
    test_agree();
    test_timing();
    test_stats_size();
    test_hints();
    test_communicators();
    return check_end();
}
