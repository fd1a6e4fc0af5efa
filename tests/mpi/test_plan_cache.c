/* RUN: n=1,4 */
/* Plans are kept: a shape that comes again is a hit, wherever in the file it comes; whatever differs on any rank
 * is a miss on all of them.  Every write is checked against a plain read, every read against what was written. */
#include "mpi/check.h"

enum { CELL = 24, CELLS = 40, ROOM = 1 << 18 };

static unsigned char model[ROOM]; /* what the file must be, as far as `high` */
static int64_t high;
static int turn; /* every access has bytes of its own */

static const char *const strategies[] = {"", "sago_strategy=direct", "sago_strategy=mapped",
                                         "sago_strategy=aggregated", "sago_strategy=aggregated sago_window=4K"};

/* ---- Shapes ---- */

/* Of a rank: cells of `cell` bytes, one every `stride` bytes. */
typedef struct shape {
    int64_t first, cell, stride, cells;
} shape;

/* All ranks' cells side by side, from `at` on. */
static shape row(int who, int64_t at) {
    return (shape){at + (int64_t)who * CELL, CELL, (int64_t)CELL * ranks, CELLS};
}

static int64_t place(const shape *cells, int64_t i) {
    return cells->first + i / cells->cell * cells->stride + i % cells->cell;
}

static int64_t bytes_of(const shape *cells) { return cells->cell * cells->cells; }

/* Everything that all ranks write goes into the model of every rank. */
static void model_write(shape (*of)(int who, int64_t at), int64_t at) {
    for (int who = 0; who < ranks; who++) {
        shape cells = of(who, at);
        for (int64_t i = 0; i < bytes_of(&cells); i++) {
            int64_t offset = place(&cells, i);
            model[offset] = byte_of(offset, turn);
            high = offset + 1 > high ? offset + 1 : high;
        }
    }
}

/* ---- Access by the three ways in ---- */

typedef enum { BY_DISPLACEMENT, BY_OFFSET, BY_EXTENTS, WAYS } way;

static sago_status access_list(sago_file *file, bool write, const shape *cells, unsigned char *data,
                               MPI_Count *bytes) {
    sago_extent list[2 * CELLS];
    for (int64_t i = 0; i < cells->cells; i++)
        list[i] = (sago_extent){cells->first + i * cells->stride, cells->cell};
    *bytes = bytes_of(cells);
    return write ? sago_write_extents_all(file, cells->cells, list, data)
                 : sago_read_extents_all(file, cells->cells, list, data, bytes);
}

static sago_status access_view(sago_file *file, bool write, const shape *cells, way by, unsigned char *data,
                               MPI_Count *bytes) {
    MPI_Datatype cell, filetype;
    MPI_Type_contiguous((int)cells->cell, MPI_BYTE, &cell);
    MPI_Type_create_resized(cell, 0, (MPI_Aint)cells->stride, &filetype);
    int64_t disp = cells->first, offset = 0;
    if (by == BY_OFFSET) { /* as many whole tiles as possible before it */
        disp = cells->first % cells->stride;
        offset = cells->first / cells->stride * cells->cell;
    }
    CHECK_OK(sago_set_view(file, disp, MPI_BYTE, filetype));
    MPI_Type_free(&filetype);
    MPI_Type_free(&cell);
    return write ? sago_write_at_all(file, offset, data, bytes_of(cells), MPI_BYTE, bytes)
                 : sago_read_at_all(file, offset, data, bytes_of(cells), MPI_BYTE, bytes);
}

/* One collective access; was its plan there? */
static bool run(sago_file *file, bool write, const shape *cells, way by, unsigned char *data, MPI_Count *bytes) {
    sago_stats before = stats_of(file);
    if (by == BY_EXTENTS)
        CHECK_OK(access_list(file, write, cells, data, bytes));
    else
        CHECK_OK(access_view(file, write, cells, by, data, bytes));
    sago_stats after = stats_of(file);
    int64_t hits = after.plan_hits - before.plan_hits, misses = after.plan_misses - before.plan_misses;
    CHECK_INT(hits + misses, 1);
    CHECK(same_everywhere(hits));
    return hits == 1;
}

static const char *path;

/* Writes what the ranks have by `of`, and looks at the whole file. */
static bool write_rows(sago_file *file, shape (*of)(int who, int64_t at), int64_t at, way by) {
    unsigned char data[2 * CELLS * CELL];
    shape mine = of(rank, at);
    MPI_Count bytes = -1;
    turn++;
    for (int64_t i = 0; i < bytes_of(&mine); i++)
        data[i] = byte_of(place(&mine, i), turn);
    bool hit = run(file, true, &mine, by, data, &bytes);
    CHECK_INT(bytes, bytes_of(&mine));
    model_write(of, at);
    CHECK_FILE(path, model, high);
    return hit;
}

static bool read_rows(sago_file *file, shape (*of)(int who, int64_t at), int64_t at, way by) {
    unsigned char data[2 * CELLS * CELL];
    shape mine = of(rank, at);
    MPI_Count bytes = -1;
    memset(data, 0xee, sizeof data);
    bool hit = run(file, false, &mine, by, data, &bytes);
    int64_t count = 0;
    for (int64_t i = 0; i < bytes_of(&mine); i++) {
        bool there = place(&mine, i) < high;
        count += there;
        if (data[i] != (there ? model[place(&mine, i)] : 0xee)) {
            CHECK(false && "a byte that was read is wrong");
            break;
        }
    }
    CHECK_INT(bytes, count);
    return hit;
}

static sago_file *start(const char *hints) {
    path = fresh("plans");
    memset(model, 0, sizeof model);
    high = 0;
    return create_hinted(path, hints);
}

/* ---- Hits ---- */

static void test_repeats(const char *hints, way by) {
    sago_file *file = start(hints);
    int64_t far = (int64_t)CELL * CELLS * ranks * 2; /* whole tiles on, in every way of getting there */
    CHECK(!write_rows(file, row, 0, by));
    CHECK(write_rows(file, row, 0, by));
    CHECK(write_rows(file, row, far, by));
    CHECK(write_rows(file, row, far + (int64_t)CELL * ranks, by)); /* over the end of what is there */
    CHECK(write_rows(file, row, 0, by));
    CHECK(!read_rows(file, row, 0, by)); /* another direction */
    CHECK(read_rows(file, row, 0, by));
    CHECK(read_rows(file, row, far, by));
    CHECK(read_rows(file, row, far + (int64_t)2 * CELL * ranks, by)); /* the last tiles are not there */
    CHECK(read_rows(file, row, 10 * far, by));                        /* nor is anything */
    CHECK(write_rows(file, row, far, by));
    CHECK_OK(sago_close(&file));
}

/* By the displacement, or an extent list, any distance does; not only whole tiles. */
static void test_odd_distances(const char *hints, way by) {
    sago_file *file = start(hints);
    CHECK(!write_rows(file, row, 100, by));
    CHECK(write_rows(file, row, 101, by));
    CHECK(write_rows(file, row, 5077, by));
    CHECK(write_rows(file, row, 0, by)); /* backwards, too */
    CHECK(!read_rows(file, row, 0, by));
    CHECK(read_rows(file, row, 13, by));
    CHECK(read_rows(file, row, 5077, by));
    CHECK_OK(sago_close(&file));
}

/* ---- Misses: one rank alone does something else ---- */

static shape one_longer(int who, int64_t at) {
    shape cells = row(who, at);
    cells.cells += who == ranks - 1;
    return cells;
}
static shape one_moved(int who, int64_t at) {
    shape cells = row(who, at);
    cells.first += who == ranks - 1 ? bytes_of(&cells) * ranks : 0;
    return cells;
}
static shape one_moved_less(int who, int64_t at) {
    shape cells = row(who, at);
    cells.first += who == ranks - 1 ? bytes_of(&cells) * ranks - (int64_t)CELL * ranks : 0;
    return cells;
}
static shape one_thinner(int who, int64_t at) {
    shape cells = row(who, at);
    cells.cell -= who == 0;
    return cells;
}
static shape one_absent(int who, int64_t at) {
    shape cells = row(who, at);
    cells.cells = who == 0 && ranks > 1 ? 0 : cells.cells;
    return cells;
}
/* The last two ranks change places: the same cells in all, but not of the same ranks. */
static shape swapped(int who, int64_t at) {
    return row(who >= ranks - 2 && ranks > 1 ? 2 * ranks - 3 - who : who, at);
}

static void test_misses(const char *hints, way by) {
    static shape (*const others[])(int, int64_t) = {one_longer,  one_moved,  one_moved_less,
                                                    one_thinner, one_absent, swapped};
    sago_file *file = start(hints);
    CHECK(!write_rows(file, row, 0, by));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        bool alone = ranks == 1 && (others[i] == one_moved || others[i] == one_moved_less ||
                                    others[i] == one_absent || others[i] == swapped);
        CHECK(write_rows(file, others[i], 0, by) == alone); /* a single rank that moves is a shape that moves */
        CHECK(write_rows(file, others[i], 0, by));
        CHECK(write_rows(file, row, 0, by)); /* still there */
        CHECK(write_rows(file, others[i], (int64_t)CELL * ranks * 7, by));
    }
    CHECK_OK(sago_close(&file));
}

/* ---- How many are kept ---- */

static int shape_number;

/* As many different shapes as one likes. */
static shape numbered(int who, int64_t at) {
    shape cells = row(who, at);
    cells.cells = 1 + shape_number;
    return cells;
}

/* Shapes 0 to n - 1, one after the other; how many were there? */
static int write_numbered(sago_file *file, int n) {
    int hits = 0;
    for (shape_number = 0; shape_number < n; shape_number++)
        hits += write_rows(file, numbered, 64 * shape_number, BY_DISPLACEMENT);
    return hits;
}

static void test_capacity(void) {
    sago_file *file = start("sago_strategy=aggregated sago_plan_cache=4");
    CHECK_INT(write_numbered(file, 4), 0);
    CHECK_INT(write_numbered(file, 4), 4);
    CHECK_INT(write_numbered(file, 4), 4);
    CHECK_INT(write_numbered(file, 5), 4); /* the fifth takes the place of the first */
    CHECK_INT(write_numbered(file, 5), 0); /* and so on: each was thrown out just before */
    CHECK_INT(write_numbered(file, 2), 0);
    CHECK_INT(write_numbered(file, 2), 2);
    CHECK_OK(sago_close(&file));
    file = start("sago_strategy=aggregated sago_plan_cache=1");
    CHECK_INT(write_numbered(file, 1), 0);
    CHECK_INT(write_numbered(file, 1), 1);
    CHECK_INT(write_numbered(file, 2), 1);
    CHECK_INT(write_numbered(file, 2), 0);
    CHECK_OK(sago_close(&file));
    file = start("sago_strategy=aggregated sago_plan_cache=0");
    for (int i = 0; i < 3; i++)
        CHECK_INT(write_numbered(file, 2), 0);
    CHECK(!read_rows(file, row, 0, BY_OFFSET));
    CHECK(!read_rows(file, row, 0, BY_OFFSET));
    CHECK_INT(stats_of(file).plan_hits, 0);
    CHECK_OK(sago_close(&file));
}

/* The one used longest ago goes, not the oldest. */
static void test_eviction(void) {
    sago_file *file = start("sago_strategy=aggregated sago_plan_cache=2");
    CHECK_INT(write_numbered(file, 2), 0);
    shape_number = 0;
    CHECK(write_rows(file, numbered, 0, BY_DISPLACEMENT));
    shape_number = 2;
    CHECK(!write_rows(file, numbered, 0, BY_DISPLACEMENT)); /* instead of shape 1 */
    shape_number = 0;
    CHECK(write_rows(file, numbered, 0, BY_DISPLACEMENT));
    shape_number = 1;
    CHECK(!write_rows(file, numbered, 0, BY_DISPLACEMENT));
    CHECK_OK(sago_close(&file));
}

/* ---- Never kept: the size of the file, short counts ---- */

static void resize(sago_file *file, int64_t size) {
    CHECK_OK(sago_set_size(file, size));
    if (size < high)
        memset(model + size, 0, (size_t)(high - size));
    high = size;
    CHECK_FILE(path, model, high);
}

static void test_sizes(const char *hints) {
    sago_file *file = start(hints);
    int64_t all = (int64_t)CELL * CELLS * ranks;
    CHECK(!write_rows(file, row, 0, BY_OFFSET));
    (void)read_rows(file, row, 0, BY_OFFSET);
    CHECK(read_rows(file, row, 0, BY_OFFSET));
    resize(file, all / 2 + 5);
    CHECK(read_rows(file, row, 0, BY_OFFSET)); /* shorter now */
    CHECK(write_rows(file, row, 0, BY_OFFSET));
    CHECK_INT(plain_size(path), all);
    meet();
    CHECK(read_rows(file, row, 0, BY_OFFSET));
    resize(file, 0);
    (void)read_rows(file, row, 0, BY_OFFSET);
    resize(file, 2 * all); /* nothing but a hole: such a file is not read by mapping it */
    (void)read_rows(file, row, 0, BY_OFFSET);
    CHECK(read_rows(file, row, 0, BY_OFFSET));
    CHECK(write_rows(file, row, 0, BY_OFFSET));
    (void)read_rows(file, row, all / 2 / CELL / ranks * CELL * ranks, BY_OFFSET);
    CHECK_OK(sago_close(&file));
}

/* ---- Declared I/O ---- */

static void test_series(const char *hints) {
    sago_file *file = start(hints);
    unsigned char data[2][CELL * CELLS];
    sago_var vars[2] = {SAGO_VAR_INIT, SAGO_VAR_INIT};
    int64_t part = CELL * CELLS, step = 2 * part * ranks;
    sago_series *series = NULL;
    for (int v = 0; v < 2; v++) {
        vars[v].offset = (v * ranks + rank) * part;
        vars[v].count = part;
    }
    CHECK_OK(sago_declare(file, 2, vars, &series));
    sago_stats before = stats_of(file);
    for (int k = 0; k < 4; k++) {
        CHECK_OK(sago_series_next(series, k * step));
        turn++;
        for (int v = 0; v < 2; v++) {
            for (int64_t i = 0; i < part; i++)
                data[v][i] = byte_of(k * step + vars[v].offset + i, turn);
            CHECK_OK(sago_series_write(series, v, data[v]));
        }
        CHECK_OK(sago_series_complete(series));
        high = (k + 1) * step;
        for (int64_t i = k * step; i < high; i++)
            model[i] = byte_of(i, turn);
        CHECK_FILE(path, model, high);
    }
    sago_stats after = stats_of(file);
    CHECK_INT(after.plan_hits - before.plan_hits, 4); /* declaring made the plan */
    CHECK_INT(after.plan_misses, before.plan_misses);
    CHECK_INT(after.metadata_bytes, before.metadata_bytes);
    CHECK_OK(sago_series_free(&series));
    CHECK_OK(sago_close(&file));
}

/* A failed call leaves no plan behind that would be taken for a good one. */
static void test_after_failure(void) {
    sago_file *file = start("sago_strategy=aggregated");
    unsigned char data[CELL] = {0};
    CHECK(!write_rows(file, row, 0, BY_DISPLACEMENT));
    EXPECT(sago_write_at_all(file, rank == 0 ? -1 : 0, data, CELL, MPI_BYTE, NULL), SAGO_ERR_ARG, "negative", 0);
    CHECK(write_rows(file, row, 0, BY_DISPLACEMENT));
    CHECK_OK(sago_close(&file));
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    for (size_t i = 0; i < sizeof strategies / sizeof *strategies; i++) {
        for (way by = BY_DISPLACEMENT; by < WAYS; by++) {
            scene = strategies[i];
            test_repeats(strategies[i], by);
            test_misses(strategies[i], by);
        }
        test_odd_distances(strategies[i], BY_DISPLACEMENT);
        test_odd_distances(strategies[i], BY_EXTENTS);
        test_sizes(strategies[i]);
        test_series(strategies[i]);
    }
    scene = "";
    test_capacity();
    test_eviction();
    test_after_failure();
    return check_end();
}
