/* RUN: n=1,4 */
/* Deferred writes: what is in the file and when, who wins, what is counted, and what happens when it cannot be
 * written. */
#include <errno.h>

#include "mpi/check.h"
#include "store/store.h"
#include "support/inject.h"

enum { KIB = 1024, MIB = 1024 * KIB, CELL = 100, CELLS = 40, VARS = 9, FILE_MAX = 4 << 20 };

static const char *path;
static unsigned char wanted[FILE_MAX]; /* what the file is to be */
static int64_t wanted_size;

static sago_file *start(const char *hints) {
    char all[256];
    path = fresh("defer");
    scene = hints;
    memset(wanted, 0, sizeof wanted);
    wanted_size = 0;
    (void)snprintf(all, sizeof all, "sago_defer=on %s", hints);
    return create_hinted(path, all);
}

/* What a rank writes in a call: bytes that tell the call and the rank. */
static void expect_cell(int64_t offset, int64_t length, int64_t call, int owner) {
    for (int64_t i = offset; i < offset + length; i++)
        wanted[i] = byte_of(i, call * 100 + owner);
    if (offset + length > wanted_size)
        wanted_size = offset + length;
}

/* All ranks write one piece each: rank i at places[i]. */
static void write_pieces(sago_file *file, const int64_t *places, int64_t length, int64_t call) {
    unsigned char *data = malloc((size_t)length + 1);
    MPI_Count bytes = -1;
    for (int64_t i = 0; i < length; i++)
        data[i] = byte_of(places[rank] + i, call * 100 + rank);
    CHECK_OK(sago_write_at_all(file, places[rank], data, length, MPI_BYTE, &bytes));
    CHECK_INT(bytes, length);
    memset(data, 0, (size_t)length);
    free(data);
    for (int i = 0; i < ranks; i++)
        expect_cell(places[i], length, call, i);
}

static void write_blocks(sago_file *file, int64_t from, int64_t length, int turn, int64_t call) {
    int64_t places[CHECK_RANKS_MAX];
    for (int i = 0; i < ranks; i++)
        places[i] = from + (i + turn) % ranks * length;
    write_pieces(file, places, length, call);
}

/* Cells in turn, from cell `first` of every `step` on. */
static void write_cells(sago_file *file, int first, int step, int64_t call) {
    sago_extent list[CELLS];
    unsigned char data[CELLS * CELL];
    for (int owner = 0; owner < ranks; owner++)
        for (int k = 0; k < CELLS; k++) {
            int64_t at = ((int64_t)(k * ranks + owner) * step + first) * CELL;
            expect_cell(at, CELL, call, owner);
            if (owner == rank) {
                list[k] = (sago_extent){at, CELL};
                memcpy(data + k * CELL, wanted + at, CELL);
            }
        }
    CHECK_OK(sago_write_extents_all(file, CELLS, list, data));
    memset(data, 0, sizeof data);
}

static void close_and_check(sago_file *file) {
    CHECK_OK(sago_close(&file));
    CHECK_FILE(path, wanted, wanted_size);
}

static int64_t all_flushes(sago_file *file) {
    sago_stats stats = stats_of(file);
    int64_t sum = 0;
    for (int i = 0; i < SAGO_FLUSH_COUNT; i++)
        sum += stats.flushes[i];
    return sum;
}

/* ---- Who wins ---- */

static void test_same_rank(const char *hints) {
    sago_file *file = start(hints);
    int64_t inside[CHECK_RANKS_MAX];
    for (int i = 0; i < ranks; i++)
        inside[i] = i * (int64_t)1000 + 300;
    write_blocks(file, 0, 1000, 0, 1);
    write_blocks(file, 0, 1000, 0, 2);
    write_pieces(file, inside, 500, 3);
    CHECK_INT(stats_of(file).flushes[SAGO_FLUSH_OVERLAP], 2);
    CHECK_INT(stats_of(file).deferred_writes, 3);
    CHECK_INT(stats_of(file).collective_writes, 3);
    CHECK_INT(stats_of(file).bytes_written, 2500);
    CHECK_OK(sago_flush_all(file));
    CHECK_FILE(path, wanted, wanted_size);
    CHECK_INT(stats_of(file).flush_steps, 1);
    close_and_check(file);
}

/* Of ranks that write the same bytes MPI demands a sync in between; every rank writing its own does as well. */
static void test_across_ranks(const char *hints) {
    sago_file *file = start(hints);
    for (int turn = 0; turn < 4; turn++) {
        write_blocks(file, 0, 1000, turn, turn + 1);
        CHECK_OK(turn % 2 ? sago_sync(file) : sago_flush_own(file));
        meet();
    }
    write_blocks(file, 77, 500, 1, 9);
    close_and_check(file);
}

/* What all filled at first, one rank at a time writes over, and looks at the file in between. */
static void test_filled(const char *hints) {
    sago_file *file = start(hints);
    MPI_Offset size = -1;
    write_blocks(file, 0, 1000, 0, 1);
    CHECK_OK(sago_sync(file));
    write_cells(file, 0, 2, 2);
    if (rank == 0)
        CHECK_OK(sago_get_size(file, &size));
    close_and_check(file);
}

/* Cells of one call between those of the other, some of them the same. */
static void test_interleaved(const char *hints) {
    sago_file *file = start(hints);
    write_cells(file, 0, 3, 1);
    write_cells(file, 1, 3, 2);
    CHECK_OK(sago_sync(file));
    CHECK_INT(stats_of(file).flush_steps, 1);
    write_cells(file, 0, 2, 3);
    CHECK_OK(sago_sync(file));
    write_cells(file, 0, 5, 4);
    CHECK_OK(sago_sync(file));
    CHECK_INT(stats_of(file).flush_steps, 3);
    CHECK_INT(stats_of(file).flushes[SAGO_FLUSH_SYNC], 3);
    CHECK_INT(stats_of(file).flushes[SAGO_FLUSH_OVERLAP], 0);
    CHECK_FILE(path, wanted, wanted_size);
    close_and_check(file);
}

/* A series, and what was deferred before and after it. */
static void test_series(const char *hints) {
    sago_file *file = start(hints);
    sago_series *series = NULL;
    sago_var var = SAGO_VAR_INIT;
    unsigned char data[500];
    var.offset = rank * (MPI_Offset)sizeof data;
    var.count = sizeof data;
    write_blocks(file, 100, sizeof data, 1, 1);
    CHECK_OK(sago_declare(file, 1, &var, &series));
    for (int i = 0; i < ranks; i++)
        expect_cell(i * (int64_t)sizeof data, sizeof data, 2, i);
    memcpy(data, wanted + var.offset, sizeof data);
    CHECK_OK(sago_series_write(series, 0, data));
    CHECK_OK(sago_series_complete(series));
    CHECK_INT(stats_of(file).flushes[SAGO_FLUSH_STEP], 1);
    CHECK_FILE(path, wanted, wanted_size);
    write_blocks(file, 50, sizeof data, 1, 3);
    close_and_check(file);
}

/* ---- Nine variables ---- */

typedef struct counts {
    int64_t steps, store_calls, plans;
} counts;

static counts count_of(sago_file *file) {
    sago_stats stats = stats_of(file);
    return (counts){stats.direct_calls + stats.mapped_calls + stats.aggregated_calls,
                    sum_everywhere(stats.phase[SAGO_PHASE_STORE].messages), stats.plan_hits + stats.plan_misses};
}

/* Variables one after another, or in turn; twice, as a checkpoint would be. */
static counts write_variables(const char *hints, bool in_turn) {
    sago_file *file = start(hints);
    for (int64_t step = 0; step < 2; step++) {
        for (int v = 0; v < VARS; v++) {
            if (in_turn)
                write_cells(file, v, VARS, step * VARS + v);
            else
                write_blocks(file, v * (int64_t)ranks * 3000, 3000, 0, step * VARS + v);
        }
        CHECK_OK(sago_sync(file));
        CHECK_FILE(path, wanted, wanted_size);
    }
    counts found = count_of(file);
    close_and_check(file);
    return found;
}

static void test_variables(bool in_turn) {
    static const char *const off = "sago_strategy=aggregated sago_window=1M sago_defer=off",
                             *const on = "sago_strategy=aggregated sago_window=1M";
    counts alone = write_variables(off, in_turn), merged = write_variables(on, in_turn);
    CHECK_INT(alone.steps, 2 * VARS);
    CHECK_INT(merged.steps, 2);
    CHECK_INT(merged.plans, 2);
    CHECK(merged.store_calls * 3 <= alone.store_calls);
    if (rank == 0)
        printf("nine variables %s, twice: %lld movements and %lld write calls, deferred %lld and %lld\n",
               in_turn ? "in turn" : "one after another", (long long)alone.steps, (long long)alone.store_calls,
               (long long)merged.steps, (long long)merged.store_calls);
}

/* ---- Memory ---- */

static void test_memory(void) {
    enum { MEMORY = 2 * MIB };
    sago_file *file = start("sago_memory=2M sago_strategy=aggregated");
    int64_t share = MEMORY / 2 / ranks, length = share / 5;
    for (int64_t call = 0; call < 12; call++)
        write_blocks(file, call * length * ranks, length, 0, call);
    sago_stats stats = stats_of(file);
    CHECK_INT(stats.deferred_writes, 12);
    CHECK_INT(stats.flushes[SAGO_FLUSH_MEMORY], 0);
    CHECK_INT(stats.flushes[SAGO_FLUSH_ROOM], 2);
    CHECK_OK(sago_sync(file)); /* here all learn how large calls are */
    for (int64_t call = 12; call < 20; call++)
        write_blocks(file, call * length * ranks, length, 0, call);
    stats = stats_of(file);
    CHECK_INT(stats.deferred_writes, 20);
    CHECK_INT(stats.flushes[SAGO_FLUSH_MEMORY], 2);
    CHECK_INT(stats.flushes[SAGO_FLUSH_ROOM], 2);
    CHECK_INT(stats.memory_budget, MEMORY);
    CHECK(sum_everywhere(stats.memory_peak) <= MEMORY);
    close_and_check(file);
}

/* Too much for the copy, on one rank only, which writes it at once, after what came before.  Then all know that
 * calls are large. */
static void test_large(void) {
    sago_file *file = start("sago_memory=1M");
    int64_t large = MIB / 2 / ranks + 1, small = 10;
    unsigned char *data = malloc((size_t)large);
    MPI_Count bytes = -1, mine = rank == ranks - 1 ? large : small;
    write_blocks(file, 0, small, 0, 1);
    for (int i = 0; i < ranks; i++)
        expect_cell(i * small, i == ranks - 1 ? large : small, 2, i);
    memcpy(data, wanted + rank * small, (size_t)mine);
    CHECK_OK(sago_write_at_all(file, rank * small, data, mine, MPI_BYTE, &bytes));
    CHECK_INT(bytes, mine);
    CHECK_INT(stats_of(file).deferred_writes, 2);
    CHECK_INT(stats_of(file).flushes[SAGO_FLUSH_ROOM], rank == ranks - 1);
    CHECK_OK(sago_sync(file));
    CHECK_FILE(path, wanted, wanted_size);
    write_blocks(file, 0, small, 0, 3);
    CHECK_INT(stats_of(file).deferred_writes, 2);
    CHECK_FILE(path, wanted, wanted_size);
    for (int64_t call = 4; call < 40; call++)
        write_blocks(file, call * small * ranks, small, 0, call);
    CHECK(stats_of(file).deferred_writes > 2); /* they are small again */
    close_and_check(file);
    free(data);
}

/* All ranks move at the same call, ever more calls together. */
static void test_many_calls(void) {
    sago_file *file = start("");
    for (int64_t call = 0; call < 1100; call++)
        write_blocks(file, call * 8 * ranks, 8, 0, call);
    CHECK_INT(stats_of(file).deferred_writes, 1100);
    CHECK_INT(stats_of(file).flushes[SAGO_FLUSH_MEMORY], 2);
    CHECK_INT(stats_of(file).flush_steps, 2);
    close_and_check(file);
}

/* What was taken for the first calls serves all. */
static void test_memory_stays(void) {
    sago_file *file = start("sago_plan_cache=0 sago_strategy=direct");
    for (int64_t call = 0; call < 5; call++)
        write_cells(file, (int)call, 7, call);
    CHECK_OK(sago_flush_all(file));
    int64_t before = stats_of(file).memory_now;
    CHECK(before > 5 * (int64_t)CELLS * CELL);
    for (int64_t call = 0; call < 5; call++)
        write_cells(file, (int)call, 7, call);
    CHECK_INT(stats_of(file).memory_now, before);
    CHECK_OK(sago_flush_all(file));
    CHECK_INT(stats_of(file).memory_now, before);
    close_and_check(file);
}

/* ---- What a rank sees of its own ---- */

static void test_own(const char *hints) {
    sago_file *file = start(hints);
    unsigned char data[1000], back[1000];
    MPI_Count bytes = -1;
    MPI_Offset size = -1;
    int64_t mine = rank * (int64_t)sizeof data;
    write_blocks(file, 0, sizeof data, 0, 1);
    meet();
    if (rank == 0) { /* alone: the others do not even know */
        CHECK_OK(sago_get_size(file, &size));
        CHECK_INT(size, sizeof data);
    }
    meet();
    CHECK_INT(plain_size(path), sizeof data);
    meet();
    if (rank == ranks - 1) {
        CHECK_OK(sago_read_at(file, mine, back, sizeof back, MPI_BYTE, &bytes));
        CHECK_INT(bytes, sizeof back);
        CHECK(memcmp(back, wanted + mine, sizeof back) == 0);
        for (int64_t i = 0; i < 100; i++)
            data[i] = byte_of(mine + 50 + i, 555);
        CHECK_OK(sago_write_at(file, mine + 50, data, 100, MPI_BYTE, NULL));
        CHECK_INT(stats_of(file).flushes[SAGO_FLUSH_OWN], 1);
    }
    int64_t last = (ranks - 1) * (int64_t)sizeof data + 50;
    for (int64_t i = last; i < last + 100; i++)
        wanted[i] = byte_of(i, 555);
    write_blocks(file, 10000, 10, 0, 2);
    CHECK_OK(sago_flush_own(file));
    CHECK_FILE(path, wanted, wanted_size);
    CHECK_INT(all_flushes(file), stats_of(file).flushes[SAGO_FLUSH_OWN]);
    write_blocks(file, 11000, 10, 0, 3);
    close_and_check(file);
}

/* Every collective call that looks at the file finds all of it. */
static void test_visible(const char *hints) {
    sago_file *file = start(hints);
    unsigned char back[600];
    MPI_Count bytes = -1;
    MPI_Offset size = -1;
    write_blocks(file, 0, 600, 0, 1);
    int64_t next = (rank + 1) % ranks * (int64_t)600;
    CHECK_OK(sago_read_at_all(file, next, back, 600, MPI_BYTE, &bytes));
    CHECK_INT(bytes, 600);
    CHECK(memcmp(back, wanted + next, 600) == 0);
    CHECK_INT(stats_of(file).flushes[SAGO_FLUSH_READ], 1);
    write_blocks(file, 600 * ranks, 600, 0, 2);
    CHECK_OK(sago_preallocate(file, 10));
    CHECK_OK(sago_get_size(file, &size));
    CHECK_INT(size, 1200 * ranks);
    write_blocks(file, 1200 * ranks, 600, 0, 3);
    CHECK_OK(sago_set_size(file, 1000));
    CHECK_INT(stats_of(file).flushes[SAGO_FLUSH_SIZE], 2);
    wanted_size = 1000;
    memset(wanted + 1000, 0, sizeof wanted - 1000);
    CHECK_FILE(path, wanted, wanted_size);
    CHECK_OK(sago_write_at_all(file, 5, back, 0, MPI_BYTE, &bytes)); /* the others may have something */
    CHECK_INT(stats_of(file).deferred_writes, 4);
    close_and_check(file);
}

/* Views come and go, with their types, while calls made through them wait; memory has gaps. */
static void test_views(const char *hints) {
    sago_file *file = start(hints);
    int lengths[3] = {7, 1, 12};
    unsigned char data[3 * 2 * 20];
    for (int call = 0; call < 6; call++) {
        MPI_Aint at[3] = {0, 9, 30};
        MPI_Datatype filetype, memory;
        int64_t low = (int64_t)call * 100 * ranks;
        MPI_Type_create_hindexed(3, lengths, at, MPI_BYTE, &filetype);
        MPI_Type_vector(20, 1, 2, MPI_BYTE, &memory);
        MPI_Type_commit(&memory);
        if (call != 3) /* the view before once more */
            CHECK_OK(sago_set_view(file, low + (int64_t)rank * 50, MPI_BYTE, filetype));
        else
            low -= (int64_t)100 * ranks;
        for (int owner = 0; owner < ranks; owner++)
            for (int k = 0; k < 3; k++)
                expect_cell(low + (int64_t)owner * 50 + at[k], lengths[k], call, owner);
        for (int k = 0, i = 0; k < 3; k++)
            for (int j = 0; j < lengths[k]; j++, i++)
                data[2 * i] = wanted[low + (int64_t)rank * 50 + at[k] + j];
        CHECK_OK(sago_write_at_all(file, 0, data, 1, memory, NULL));
        memset(data, 0, sizeof data);
        MPI_Type_free(&filetype);
        MPI_Type_free(&memory);
        if (call % 2)
            CHECK_OK(sago_set_view(file, 0, MPI_BYTE, MPI_BYTE)); /* which no call uses */
    }
    CHECK_INT(stats_of(file).deferred_writes, 6);
    CHECK_INT(stats_of(file).flush_steps, 0);
    CHECK_INT(stats_of(file).flushes[SAGO_FLUSH_OVERLAP], 1);
    close_and_check(file);
}

/* ---- What MPI promises ---- */

/* Write, sync, barrier, sync, and another rank reads by itself; through a second handle as well. */
static void test_consistency(const char *hints) {
    sago_file *file = start(hints), *second = NULL;
    unsigned char back[600];
    MPI_Count bytes = -1;
    CHECK_OK(open_hinted(path, MPI_MODE_RDWR, hints, &second));
    for (int turn = 0; turn < 3; turn++) {
        int64_t next = (rank + 1) % ranks * (int64_t)600;
        write_blocks(file, 0, 600, turn, turn);
        CHECK_OK(sago_sync(file));
        meet();
        CHECK_OK(sago_sync(turn % 2 ? second : file));
        CHECK_OK(sago_read_at(turn % 2 ? second : file, next, back, 600, MPI_BYTE, &bytes));
        CHECK_INT(bytes, 600);
        CHECK(memcmp(back, wanted + next, 600) == 0);
        meet();
    }
    CHECK_OK(sago_close(&second));
    close_and_check(file);
}

/* A rank's own, in any order and as often as it likes, against what it should come to. */
static void test_own_order(const char *hints, uint64_t seed) {
    enum { SPAN = 5000, CALLS = 60 };
    sago_file *file = start(hints);
    unsigned char data[SPAN];
    for (int call = 0; call < CALLS; call++)
        for (int owner = 0; owner < ranks; owner++) {
            uint64_t draw = (uint64_t)byte_of(call, 7 * owner + (int64_t)seed) << 8 | byte_of(call + 1, owner + 3);
            int64_t length = 1 + (int64_t)(draw % 700), at = (int64_t)(draw * 31 % (SPAN - 700));
            expect_cell(owner * (int64_t)SPAN + at, length, call, owner);
            if (owner != rank)
                continue;
            memcpy(data, wanted + owner * (int64_t)SPAN + at, (size_t)length);
            CHECK_OK(sago_write_at_all(file, owner * (int64_t)SPAN + at, data, length, MPI_BYTE, NULL));
        }
    close_and_check(file);
}

/* Whoever removes the file's name writes its own part first, which is found under the file's other name. */
static void test_deleted(const char *hints) {
    sago_file *file = start(hints);
    char other[4096];
    (void)snprintf(other, sizeof other, "%s.other", path);
    if (rank == 0)
        (void)unlink(other);
    if (rank == 0)
        CHECK(link(path, other) == 0);
    write_blocks(file, 0, 1000, 0, 1);
    meet();
    CHECK_INT(plain_size(other), 0);
    meet();
    if (rank == ranks - 1)
        CHECK_OK(sago_delete(path, MPI_INFO_NULL));
    meet();
    CHECK(access(path, F_OK) != 0);
    CHECK_INT(plain_size(other), wanted_size); /* the last rank's part ends it */
    CHECK_INT(stats_of(file).flushes[SAGO_FLUSH_OWN], rank == ranks - 1);
    CHECK_OK(sago_close(&file));
    CHECK_FILE(other, wanted, wanted_size);
    if (rank == 0)
        (void)unlink(other);
    meet();
}

/* Nobody does anything: after a while it is in the file. */
static void test_age(void) {
    sago_file *file = start("sago_defer_age=1");
    write_blocks(file, 0, 1000, 0, 1);
    meet();
    CHECK_INT(plain_size(path), 0);
    for (int tenths = 0; tenths < 100 && stats_of(file).flushes[SAGO_FLUSH_AGE] == 0; tenths++)
        (void)usleep(100000);
    CHECK_FILE(path, wanted, wanted_size);
    CHECK_INT(stats_of(file).flushes[SAGO_FLUSH_AGE], 1);
    write_blocks(file, 1000 * ranks, 1000, 0, 2); /* the next one waits as long again */
    meet();
    CHECK_INT(plain_size(path), 1000 * ranks);
    (void)usleep(1500000);
    CHECK_FILE(path, wanted, wanted_size);
    CHECK_INT(stats_of(file).flush_steps, 0);
    close_and_check(file);
}

/* ---- When it cannot be written ---- */

static int injected; /* the errno of every write; 0: none */
static int failing_write(void *arg, const sagoi_file_op *op, int64_t *len) {
    (void)arg, (void)len;
    return op->kind == SAGOI_OP_WRITE ? injected : 0;
}
static const file_hooks failing = {.before = failing_write};

/* One rank's disk is full: all ranks learn it, again and again, and nothing is lost until the file is closed. */
static void test_failing(const char *hints) {
    sago_file *file = start(hints);
    int bad = ranks - 1;
    unsigned char byte = 1;
    inject_file_hooks(&failing);
    write_blocks(file, 0, 1000, 0, 1);
    write_blocks(file, 1000 * ranks, 1000, 0, 2);
    injected = rank == bad || strstr(hints, "aggregated") ? ENOSPC : 0;
    EXPECT(sago_sync(file), SAGO_ERR_NO_SPACE, strerror(ENOSPC), -1);
    EXPECT(sago_read_at_all(file, 0, &byte, 1, MPI_BYTE, NULL), SAGO_ERR_NO_SPACE, strerror(ENOSPC), -1);
    EXPECT(sago_set_size(file, 0), SAGO_ERR_NO_SPACE, strerror(ENOSPC), -1);
    EXPECT(sago_flush_all(file), SAGO_ERR_NO_SPACE, strerror(ENOSPC), -1);
    if (rank == bad)
        CHECK_INT(sago_flush_own(file), SAGO_ERR_NO_SPACE);
    write_blocks(file, 2000 * ranks, 1000, 0, 3); /* there is room for it */
    meet();
    injected = 0;
    CHECK_OK(sago_sync(file));
    CHECK_FILE(path, wanted, wanted_size);
    write_blocks(file, 0, 1000, 1, 4);
    write_blocks(file, 500, 1000, 0, 5);
    injected = EIO;
    EXPECT(sago_close(&file), SAGO_ERR_IO, strerror(EIO), -1);
    CHECK(!file);
    injected = 0;
    inject_file_hooks(NULL);
}

/* The call that finds no room is not taken, which is told when the ranks meet; what was deferred before is. */
static void test_failing_for_room(void) {
    sago_file *file = start("sago_memory=1M sago_strategy=direct");
    int64_t length = MIB / 2 / ranks * 2 / 3;
    unsigned char *data = calloc(1, (size_t)length);
    write_blocks(file, 0, length, 0, 1);
    inject_file_hooks(&failing);
    injected = EDQUOT;
    CHECK_OK(sago_write_at_all(file, rank * length, data, length, MPI_BYTE, NULL));
    meet();
    injected = 0;
    EXPECT(sago_flush_all(file), SAGO_ERR_QUOTA, strerror(EDQUOT), -1);
    close_and_check(file);
    inject_file_hooks(NULL);
    free(data);
}

/* A wrong argument of one rank: that rank learns it at once, and what the others wrote is moved all the same. */
static void test_wrong(void) {
    sago_file *file = start("");
    unsigned char data[10] = {0};
    write_blocks(file, 0, 1000, 0, 1);
    MPI_Count bytes = -1;
    if (rank == 0) {
        CHECK_INT(sago_write_at_all(file, -1, data, 10, MPI_BYTE, &bytes), SAGO_ERR_ARG);
        CHECK(strstr(sago_error_message(), "negative"));
    } else {
        CHECK_OK(sago_write_at_all(file, rank * 1000, data, 10, MPI_BYTE, &bytes));
    }
    CHECK_INT(bytes, rank == 0 ? 0 : 10);
    for (int i = 1; i < ranks; i++)
        memset(wanted + i * (int64_t)1000, 0, sizeof data);
    CHECK_OK(sago_sync(file));
    CHECK_FILE(path, wanted, wanted_size);
    if (ranks > 1) {
        write_blocks(file, 5000, 10, 0, 2);
        sago_file *same = file;
        EXPECT(rank == 0 ? sago_close(&same) : sago_set_view(file, 0, MPI_BYTE, MPI_BYTE), SAGO_ERR_MISMATCH,
               "different collective calls", -1);
        CHECK(same == file);
    }
    close_and_check(file);
    EXPECT(sago_flush_all(NULL), SAGO_ERR_HANDLE, "NULL", -1);
    EXPECT(sago_flush_own(NULL), SAGO_ERR_HANDLE, "NULL", -1);
}

/* Without the hint nothing waits. */
static void test_off(void) {
    sago_file *file = start("sago_defer=off");
    write_blocks(file, 0, 1000, 0, 1);
    CHECK_FILE(path, wanted, wanted_size);
    CHECK_OK(sago_flush_all(file));
    CHECK_OK(sago_flush_own(file));
    CHECK_INT(stats_of(file).deferred_writes + all_flushes(file), 0);
    close_and_check(file);
}

int main(int argc, char **argv) {
    static const char *const strategies[] = {"", "sago_strategy=direct", "sago_strategy=mapped",
                                             "sago_strategy=aggregated sago_window=4K"};
    check_start(&argc, &argv);
    for (int i = 0; i < 4; i++) {
        test_same_rank(strategies[i]);
        test_across_ranks(strategies[i]);
        test_filled(strategies[i]);
        test_interleaved(strategies[i]);
        test_series(strategies[i]);
        test_own(strategies[i]);
        test_visible(strategies[i]);
        test_views(strategies[i]);
        test_consistency(strategies[i]);
        test_own_order(strategies[i], (uint64_t)i);
    }
    test_deleted("");
    test_age();
    test_variables(false);
    test_variables(true);
    test_memory();
    test_large();
    test_many_calls();
    test_memory_stays();
    test_failing("sago_strategy=direct");
    test_failing("sago_strategy=aggregated");
    test_failing_for_room();
    test_wrong();
    test_off();
    return check_end();
}
