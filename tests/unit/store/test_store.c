/* Transfers against a model of the file in memory: random runs and marks by every way of opening a store, in
 * memory and on a disk; the end of the file; how many system calls it takes.  The argument: how many seeds. */
/* RUN: 3 */
/* RUN-LONG: 200 */
#include "store/transfer.h"
#include "store_fixture.h"

enum { FILE_MAX = 1 << 20, RUNS_MAX = 2000, ROUNDS = 4 };

/* A random access: runs in file order and the memory they lie in, neighbours in it or not. */
typedef struct access_list {
    int64_t n;
    sagoi_io_run runs[RUNS_MAX];
    char *memory; /* FILE_MAX * 2 bytes, page aligned */
} access_list;

static int64_t random_length(uint64_t *seed) {
    switch (random_below(seed, 4)) {
    case 0:
        return 1 + random_below(seed, 16);
    case 1:
        return random_below(seed, 600);
    case 2:
        return 4096 * random_below(seed, 4);
    default:
        return random_below(seed, 40000);
    }
}

/* Gaps in the file and gaps in memory, each often none: all kinds of neighbours. */
static void access_random(access_list *list, uint64_t *seed, int64_t limit) {
    int64_t off = random_below(seed, 5000), at = random_below(seed, 2) ? 0 : random_below(seed, 4096);
    int64_t dense = random_below(seed, 3);
    list->n = 0;
    while (list->n < RUNS_MAX) {
        int64_t len = dense == 2 ? 1 + random_below(seed, 64) : random_length(seed);
        if (off + len > limit || at + len > 2 * FILE_MAX)
            return;
        list->runs[list->n++] = (sagoi_io_run){off, len, list->memory + at};
        off += len + (random_below(seed, 3) ? 0 : random_below(seed, 300));
        at += len + (random_below(seed, 3) ? 0 : random_below(seed, 100));
        if (random_below(seed, 8) == 0) /* a chance for O_DIRECT */
            at = (at + 4095) / 4096 * 4096 + off % 4096;
    }
}

static void model_write(char *model, int64_t *size, const access_list *list) {
    for (int64_t i = 0; i < list->n; i++) {
        const sagoi_io_run *run = &list->runs[i];
        memcpy(model + run->off, run->buf, (size_t)run->len);
        if (run->len > 0 && run->off + run->len > *size)
            *size = run->off + run->len;
    }
}

/* Reads what the model says, leaves everything else in memory alone, and counts right. */
static void check_read(sagoi_store *store, const char *model, int64_t size, access_list *list, uint64_t *seed) {
    random_fill(seed, list->memory, 2 * FILE_MAX);
    char *expected = malloc(2 * FILE_MAX);
    assert_non_null(expected);
    memcpy(expected, list->memory, 2 * FILE_MAX);
    int64_t total = 0, bytes = -1;
    for (int64_t i = 0; i < list->n; i++) {
        const sagoi_io_run *run = &list->runs[i];
        int64_t there = run->off >= size ? 0 : run->off + run->len > size ? size - run->off : run->len;
        if (there > 0)
            memcpy(expected + (run->buf - list->memory), model + run->off, (size_t)there);
        total += there;
    }
    assert_int_equal(sagoi_store_read(store, list->runs, list->n, &bytes), SAGO_OK);
    assert_int_equal(bytes, total);
    assert_memory_equal(list->memory, expected, 2 * FILE_MAX);
    free(expected);
}

static void random_rounds(fixture *f, int place, const way *how, uint64_t seed) {
    access_list *list = calloc(1, sizeof *list);
    char *model = calloc(1, FILE_MAX);
    assert_non_null(list);
    assert_non_null(model);
    assert_int_equal(posix_memalign((void **)&list->memory, 4096, 2 * FILE_MAX), 0);
    int64_t size = 0, written = 0, runs = 0;
    sagoi_store *store = fixture_open(f, place, how);
    for (int round = 0; round < ROUNDS; round++) {
        access_random(list, &seed, FILE_MAX);
        random_fill(&seed, list->memory, 2 * FILE_MAX);
        assert_int_equal(sagoi_store_write(store, list->runs, list->n), SAGO_OK);
        model_write(model, &size, list);
        assert_file_is(f->path, model, size);
        for (int64_t i = 0; i < list->n; i++)
            written += list->runs[i].len;
        runs += list->n;
        access_random(list, &seed, FILE_MAX);
        check_read(store, model, size, list, &seed);
        runs += list->n;
    }
    sagoi_store_counts counts = sagoi_store_counters(store);
    assert_int_equal(counts.bytes_written, written);
    assert_int_equal(counts.runs, runs);
    assert_int_equal(sagoi_store_sync(store), SAGO_OK);
    assert_int_equal(sagoi_store_close(&store), SAGO_OK);
    assert_null(store);
    free(list->memory);
    free(list);
    free(model);
}

static int seeds = 3;

static void random_runs_match_the_model(void **state) {
    for (int place = 0; place < PLACES; place++)
        for (int w = 0; w < WAYS; w++)
            for (int seed = 0; seed < seeds; seed++)
                random_rounds(*state, place, &ways[w], 88172645463325252u + (uint64_t)seed * 7919u);
}

/* ---- Marks ---- */

/* From almost nothing to almost everything, single bits and long stretches, in whole words and not. */
static void marks_random(uint64_t *marks, int64_t len, uint64_t *seed) {
    memset(marks, 0, (size_t)(len / 64 + 1) * 8);
    int64_t stretch = 1 + random_below(seed, random_below(seed, 2) ? 3 : 3000), share = random_below(seed, 5);
    for (int64_t i = 0; i < len;) {
        int64_t upto = i + 1 + random_below(seed, stretch);
        bool set = random_below(seed, 4) < share;
        for (; i < upto && i < len; i++)
            marks[i / 64] |= (uint64_t)set << (i % 64);
    }
    marks[len / 64] |= UINT64_MAX << (len % 64); /* bits past the end must not count */
}

static const sagoi_sieve no_holes = {0, 0}, all_holes = {INT64_MAX, 2};

static void marked_round(fixture *f, const way *how, int64_t len, int64_t off, uint64_t *seed) {
    uint64_t *marks = calloc((size_t)len / 64 + 1, 8);
    char *buf = malloc((size_t)len + 1), *model = malloc((size_t)(off + len) + 500);
    assert_true(marks && buf && model);
    sagoi_store *store = fixture_open(f, 0, how);
    int64_t size = off + len + 500;
    random_fill(seed, model, size);
    sagoi_io_run all = {0, size, model};
    assert_int_equal(sagoi_store_write(store, &all, 1), SAGO_OK);
    random_fill(seed, buf, len);
    marks_random(marks, len, seed);
    assert_int_equal(sagoi_store_write_marked(store, buf, off, len, marks, no_holes), SAGO_OK);
    int64_t runs = 1; /* that of the whole file */
    for (int64_t i = 0; i < len; i++) {
        bool set = marks[i / 64] >> (i % 64) & 1, before = i > 0 && (marks[(i - 1) / 64] >> ((i - 1) % 64) & 1);
        runs += set && !before;
        if (set)
            model[off + i] = buf[i];
    }
    assert_file_is(f->path, model, size);
    assert_int_equal(sagoi_store_counters(store).runs, runs);
    assert_int_equal(sagoi_store_close(&store), SAGO_OK);
    free(marks);
    free(buf);
    free(model);
}

static void marks_are_written_exactly(void **state) {
    uint64_t seed = 4101842887655102017u;
    const int64_t lengths[] = {1, 63, 64, 65, 128, 1000, 4096, 60000};
    for (int w = 0; w < 2; w++)
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
            for (int round = 0; round < 6; round++)
                marked_round(*state, &ways[w], lengths[i], random_below(&seed, 9000), &seed);
}

static void sieved_round(fixture *f, int64_t len, int64_t kept, sagoi_sieve sieve, uint64_t *seed) {
    uint64_t *marks = calloc((size_t)len / 64 + 1, 8);
    char *buf = malloc((size_t)len), *model = calloc((size_t)len, 1);
    assert_true(marks && buf && model);
    sagoi_store *store = fixture_open(f, 0, &ways[0]);
    random_fill(seed, model, kept); /* the file ends there; holes past its end become zeros */
    sagoi_io_run before = {0, kept, model};
    assert_int_equal(sagoi_store_write(store, &before, 1), SAGO_OK);
    random_fill(seed, buf, len);
    marks_random(marks, len, seed);
    int64_t end = kept;
    for (int64_t i = 0; i < len; i++) {
        if (marks[i / 64] >> (i % 64) & 1) {
            model[i] = buf[i];
            end = i + 1 > end ? i + 1 : end;
        }
    }
    assert_int_equal(sagoi_store_write_marked(store, buf, 0, len, marks, sieve), SAGO_OK);
    assert_file_is(f->path, model, end);
    assert_int_equal(sagoi_store_close(&store), SAGO_OK);
    free(marks);
    free(buf);
    free(model);
}

static void sieved_writes_keep_the_holes(void **state) {
    uint64_t seed = 2305843009213693951u;
    const int64_t lengths[] = {1, 64, 1000, 60000, 3 << 20};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (int round = 0; round < 9; round++) {
            sagoi_sieve some = {random_below(&seed, 100), random_below(&seed, 9)};
            sieved_round(*state, lengths[i], random_below(&seed, lengths[i] + 1), round < 3 ? all_holes : some,
                         &seed);
        }
}

/* Only stretches of enough runs with short holes between them become one; longer holes are not written. */
static void sieving_stops_at_long_holes(void **state) {
    enum { LEN = 1 << 16, SHORT = 5, LONG = 6 };
    static uint64_t marks[LEN / 64];
    static char buf[LEN];
    sagoi_store *store = fixture_open(*state, 0, &ways[0]);
    int64_t at = 0, bytes = 0, runs_of[] = {1, 2, 3, 4, 9};
    for (size_t s = 0; s < sizeof runs_of / sizeof *runs_of; s++, at += LONG - SHORT)
        for (int64_t r = 0; r < runs_of[s]; r++, at += 1 + SHORT)
            marks[at / 64] |= UINT64_C(1) << (at % 64);
    for (int64_t least = 2; least <= 5; least++) {
        sagoi_store_counts before = sagoi_store_counters(store);
        int64_t runs = 0;
        bytes = 0;
        for (size_t s = 0; s < sizeof runs_of / sizeof *runs_of; s++) {
            bool one = runs_of[s] >= least;
            runs += one ? 2 : runs_of[s]; /* it is read, too */
            bytes += one ? runs_of[s] * (1 + SHORT) - SHORT : runs_of[s];
        }
        sagoi_sieve sieve = {SHORT, least};
        assert_int_equal(sagoi_store_write_marked(store, buf, 0, LEN, marks, sieve), SAGO_OK);
        assert_int_equal(sagoi_store_counters(store).bytes_written - before.bytes_written, bytes);
        assert_int_equal(sagoi_store_counters(store).runs - before.runs, runs);
    }
    assert_int_equal(sagoi_store_close(&store), SAGO_OK);
}

/* 4 bytes of every 38: the holes are read together, in as few calls as one large write is worth. */
static void sieved_holes_share_system_calls(void **state) {
    enum { LEN = 1 << 20 };
    static uint64_t marks[LEN / 64];
    static char buf[LEN];
    sagoi_store *store = fixture_open(*state, 0, &ways[0]);
    sagoi_io_run all = {0, LEN, buf};
    assert_int_equal(sagoi_store_write(store, &all, 1), SAGO_OK);
    for (int64_t i = 0; i < LEN; i++)
        marks[i / 64] |= (uint64_t)(i % 38 < 4) << (i % 64);
    int64_t before = sagoi_store_counters(store).system_calls;
    assert_int_equal(sagoi_store_write_marked(store, buf, 0, LEN, marks, all_holes), SAGO_OK);
    assert_in_range(sagoi_store_counters(store).system_calls - before, 1, 4);
    assert_int_equal(sagoi_store_close(&store), SAGO_OK);
}

/* Nothing marked leaves an empty file empty; marks into an empty file leave real holes around them. */
static void marks_leave_holes(void **state) {
    fixture *f = *state;
    sagoi_store *store = fixture_open(f, 0, &ways[0]);
    uint64_t *marks = calloc(1 << 10, 8);
    char *buf = malloc(1 << 16);
    assert_true(marks && buf);
    memset(buf, 7, 1 << 16);
    assert_int_equal(sagoi_store_write_marked(store, buf, 0, 1 << 16, marks, no_holes), SAGO_OK);
    int64_t size = -1;
    assert_int_equal(sagoi_store_size(store, &size), SAGO_OK);
    assert_int_equal(size, 0);
    marks[500] = 1u << 3;
    assert_int_equal(sagoi_store_write_marked(store, buf, 0, 1 << 16, marks, no_holes), SAGO_OK);
    assert_int_equal(sagoi_store_size(store, &size), SAGO_OK);
    assert_int_equal(size, 500 * 64 + 4);
    struct stat file;
    assert_int_equal(fstat(sagoi_store_fd(store), &file), 0);
    assert_int_equal(file.st_blocks * 512, 4096);
    assert_int_equal(sagoi_store_write_marked(store, buf, 0, 1 << 16, NULL, no_holes), SAGO_OK);
    assert_file_is(f->path, buf, 1 << 16);
    assert_int_equal(sagoi_store_close(&store), SAGO_OK);
    free(marks);
    free(buf);
}

/* ---- The end of the file ---- */

static void reads_stop_at_the_end(void **state) {
    for (int w = 0; w < WAYS; w++) {
        sagoi_store *store = fixture_open(*state, 1, &ways[w]);
        char text[] = "0123456789", back[40];
        sagoi_io_run put = {0, 10, text};
        assert_int_equal(sagoi_store_write(store, &put, 1), SAGO_OK);
        memset(back, '.', sizeof back);
        sagoi_io_run get[] = {{2, 3, back}, {8, 10, back + 10}, {100, 10, back + 30}};
        int64_t bytes = -1;
        assert_int_equal(sagoi_store_read(store, get, 3, &bytes), SAGO_OK);
        assert_int_equal(bytes, 5);
        assert_memory_equal(back, "234.......89............................", 40);
        assert_int_equal(sagoi_store_read(store, get, 0, &bytes), SAGO_OK);
        assert_int_equal(bytes, 0);
        assert_int_equal(sagoi_store_close(&store), SAGO_OK);
    }
}

/* ---- What it costs ---- */

static int64_t calls_for(sagoi_store *store, const sagoi_io_run *runs, int64_t n) {
    int64_t before = sagoi_store_counters(store).system_calls;
    assert_int_equal(sagoi_store_write(store, runs, n), SAGO_OK);
    return sagoi_store_counters(store).system_calls - before;
}

static void neighbours_share_system_calls(void **state) {
    static sagoi_io_run runs[2048];
    static char memory[2048 * 32];
    sagoi_store *posix = fixture_open(*state, 0, &ways[0]);
    for (int i = 0; i < 2048; i++) /* neighbours in file and memory */
        runs[i] = (sagoi_io_run){i * 16, 16, memory + i * 16};
    assert_int_equal(calls_for(posix, runs, 2048), 1);
    for (int i = 0; i < 2048; i++) /* in the file only */
        runs[i].buf = memory + i * 32;
    assert_int_equal(calls_for(posix, runs, 2048), 2);
    for (int i = 0; i < 2048; i++) /* in memory only */
        runs[i] = (sagoi_io_run){i * 32, 16, memory + i * 16};
    assert_int_equal(calls_for(posix, runs, 2048), 2048);
    assert_int_equal(sagoi_store_close(&posix), SAGO_OK);
    sagoi_store *uring = fixture_open(*state, 0, &ways[1]);
    if (sagoi_uring_usable(uring->uring))
        assert_in_range(calls_for(uring, runs, 2048), 1, 256);
    assert_int_equal(sagoi_store_close(&uring), SAGO_OK);
}

int main(int argc, char **argv) {
    if (argc > 1)
        seeds = atoi(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_runs_match_the_model), cmocka_unit_test(marks_are_written_exactly),
        cmocka_unit_test(marks_leave_holes),           cmocka_unit_test(sieved_writes_keep_the_holes),
        cmocka_unit_test(sieving_stops_at_long_holes), cmocka_unit_test(sieved_holes_share_system_calls),
        cmocka_unit_test(reads_stop_at_the_end),       cmocka_unit_test(neighbours_share_system_calls),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
