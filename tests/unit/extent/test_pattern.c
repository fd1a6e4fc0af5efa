/* Patterns: whatever way they are built, they mean the bytes that were added, in that order. */
#include "model.h"

/* What pattern.h promises about the pieces. */
static void check_pieces(const sagoi_pattern *pattern) {
    int64_t pos = 0, runs = 0;
    for (int64_t i = 0; i < pattern->npieces; i++) {
        const sagoi_piece *piece = &pattern->pieces[i];
        CHECK(piece->pos == pos && piece->count > 0);
        int64_t end = piece->off;
        if (piece->len > 0) {
            end += (piece->count - 1) * piece->stride + piece->len;
            pos += piece->count * piece->len;
        } else {
            CHECK(piece->count <= SAGOI_LIST_MAX && piece->stride + piece->count <= pattern->nruns);
            const sagoi_run *run = &pattern->runs[piece->stride];
            CHECK(run->gap == 0);
            for (int64_t k = 0; k < piece->count; k++, run++) {
                CHECK(run->len > 0);
                end += (int64_t)run->gap + run->len;
                pos += run->len;
            }
        }
        CHECK(piece->end == end);
        runs += piece->count;
    }
    int64_t laps = pattern->nloops ? pattern->laps : 1;
    CHECK(pos == pattern->lap_bytes && laps * pos == pattern->bytes && laps * runs == pattern->run_count);
    CHECK(!pattern->permuted && !pattern->failed && pattern->pending_len == 0);
}

static void check_against_model(const sagoi_pattern *pattern, const model *m) {
    int64_t low, high;
    model_bounds(m, &low, &high);
    CHECK(pattern->bytes == m->n && pattern->low == low && pattern->high == high);
    CHECK(pattern->sorted == model_sorted(m));
    CHECK(pattern->run_count <= m->runs && pattern->run_count >= model_joined_runs(m));
    CHECK(pattern->nloops || pattern->run_count == model_joined_runs(m)); /* laps that touch do not join */
    CHECK(sagoi_pattern_contiguous(pattern) == (pattern->run_count <= 1));

    sagoi_extents extents = {.pattern = pattern, .end = pattern->bytes};
    sagoi_cursor cursor;
    sagoi_span span;
    int64_t pos = 0, spans = 0, runs = 0;
    sagoi_cursor_init(&cursor, &extents);
    while (sagoi_cursor_next(&cursor, SAGOI_OFFSET_MAX, &span)) {
        CHECK(span.pos == pos);
        pos += check_span(&span, m, SAGOI_OFFSET_MAX);
        spans++;
        runs += span.count;
    }
    CHECK(pos == m->n && spans == pattern->npieces * (pattern->nloops ? pattern->laps : 1) &&
          runs == pattern->run_count);
}

static int64_t rounds_with_loops;

static void random_round(random_state *r) {
    static model m;
    sagoi_budget budget = {0};
    sagoi_pattern pattern;
    sagoi_pattern_init(&pattern, &budget);
    random_pattern(r, &pattern, &m, (int)random_in(r, 0, 3), 2);
    check_pieces(&pattern);
    check_against_model(&pattern, &m);
    rounds_with_loops += pattern.nloops > 0;
    int64_t held = pattern.npieces * (int64_t)sizeof *pattern.pieces +
                   pattern.nruns * (int64_t)sizeof *pattern.runs + pattern.nloops * (int64_t)sizeof *pattern.loops;
    CHECK(budget.used == held);
    sagoi_pattern_cleanup(&pattern);
    sagoi_pattern_cleanup(&pattern);
    CHECK(budget.used == 0);
}

static void test_random(void **state) {
    run_rounds(15000, random_round);
    assert_true(getenv("SAGO_SEED") || rounds_with_loops > 1000); /* else they were not tried */
}

static void numbers_round(random_state *r) {
    static numbers expected, walked;
    sagoi_pattern pattern;
    sagoi_pattern_init(&pattern, NULL);
    random_numbers(r, &pattern, &expected, one_in(r, 2));
    check_pieces(&pattern);
    CHECK(pattern.bytes == expected.bytes && pattern.run_count == expected.n);

    walked.n = 0;
    walked.bytes = 0;
    int64_t low = expected.n ? INT64_MAX : 0, high = expected.n ? INT64_MIN : 0;
    bool sorted = true;
    for (int64_t i = 0; i < expected.n; i++) {
        int64_t off = expected.run[i].off, end = off + expected.run[i].len;
        sorted = sorted && (i == 0 || off >= expected.run[i - 1].off + expected.run[i - 1].len);
        low = off < low ? off : low;
        high = end > high ? end : high;
    }
    CHECK(pattern.sorted == sorted && pattern.low == low && pattern.high == high);

    sagoi_extents extents = {.pattern = &pattern, .end = pattern.bytes};
    sagoi_cursor cursor;
    sagoi_span span;
    sagoi_cursor_init(&cursor, &extents);
    while (sagoi_cursor_next(&cursor, SAGOI_OFFSET_MAX, &span))
        numbers_add_span(&walked, &span);
    CHECK(numbers_equal(&walked, &expected));
    sagoi_pattern_cleanup(&pattern);
}

static void test_large_numbers(void **state) { run_rounds(5000, numbers_round); }

/* Regular runs take one piece however they come, irregular ones 8 bytes each. */
static void test_compact(void **state) {
    sagoi_pattern single, repeated, trains, list;
    sagoi_pattern_init(&single, NULL);
    sagoi_pattern_init(&repeated, NULL);
    sagoi_pattern_init(&trains, NULL);
    sagoi_pattern_init(&list, NULL);
    for (int64_t i = 0; i < 1000; i++)
        sagoi_pattern_add(&single, 100 + i * 24, 8);
    assert_int_equal(sagoi_pattern_finish(&single), SAGO_OK);
    assert_int_equal(single.npieces, 1);
    assert_int_equal(single.pieces[0].count, 1000);

    sagoi_pattern_add_repeated(&repeated, &single, 0, 50, 24000); /* goes on at the same stride */
    assert_int_equal(sagoi_pattern_finish(&repeated), SAGO_OK);
    assert_int_equal(repeated.npieces, 1);
    assert_int_equal(repeated.run_count, 50000);

    sagoi_pattern_add_train(&trains, 100, 8, 400, 24);
    sagoi_pattern_add_train(&trains, 100 + 400 * 24, 8, 600, 24);
    assert_int_equal(sagoi_pattern_finish(&trains), SAGO_OK);
    assert_true(sagoi_hash_equal(sagoi_pattern_hash(&trains), sagoi_pattern_hash(&single)));
    assert_false(sagoi_hash_equal(sagoi_pattern_hash(&trains), sagoi_pattern_hash(&repeated)));

    for (int64_t i = 0, off = 0; i < 10 * SAGOI_LIST_MAX; i++, off += 10 + i % 7)
        sagoi_pattern_add(&list, off, 1 + i % 3);
    assert_int_equal(sagoi_pattern_finish(&list), SAGO_OK);
    assert_int_equal(list.npieces, 10);
    assert_int_equal(list.nruns, list.run_count);

    sagoi_pattern_cleanup(&single);
    sagoi_pattern_cleanup(&repeated);
    sagoi_pattern_cleanup(&trains);
    sagoi_pattern_cleanup(&list);
}

/* An array of many dimensions costs as much as one of few, in whole blocks and with shorter ones at the end. */
static void test_arrays_are_small(void **state) {
    for (int rest = 0; rest < 2; rest++) {
        sagoi_budget budget = {0};
        sagoi_pattern inner, outer;
        int64_t size = 100, runs = 12 + rest;
        sagoi_pattern_init(&inner, &budget);
        sagoi_pattern_add_train(&inner, 0, 3, runs, 8);
        assert_int_equal(sagoi_pattern_finish(&inner), SAGO_OK);
        for (int dimension = 0; dimension < 5; dimension++, size *= 100) {
            sagoi_blocks blocks = {.count = 28 + rest, .length = 2, .stride = size, .step = 7 * size};
            sagoi_pattern_init(&outer, &budget);
            sagoi_pattern_add_blocks(&outer, &inner, &blocks);
            assert_int_equal(sagoi_pattern_finish(&outer), SAGO_OK);
            sagoi_pattern_cleanup(&inner);
            inner = outer;
            runs *= 28 + rest;
        }
        assert_true(inner.sorted && inner.run_count == runs && inner.bytes == 3 * runs);
        assert_true(budget.used <= 640);
        sagoi_extents extents = {.pattern = &inner, .end = inner.bytes};
        sagoi_cursor cursor;
        sagoi_cursor_init(&cursor, &extents);
        sagoi_cursor_seek(&cursor, inner.high - 1);
        assert_int_equal(cursor.pos + cursor.skip, inner.bytes - 1);
        sagoi_pattern_cleanup(&inner);
        assert_int_equal(budget.used, 0);
    }
}

/* Also where the gaps are too large for a list. */
static void test_large_gaps_are_small(void **state) {
    const int64_t far = 5LL << 32;
    sagoi_budget budget = {0};
    sagoi_pattern part, pattern;
    sagoi_pattern_init(&part, &budget);
    sagoi_pattern_init(&pattern, &budget);
    for (int64_t i = 0; i < 3; i++)
        sagoi_pattern_add(&part, i * far, 8 + i);
    assert_int_equal(sagoi_pattern_finish(&part), SAGO_OK);
    sagoi_pattern_add_repeated(&pattern, &part, 0, 96000, 3 * far);
    assert_int_equal(sagoi_pattern_finish(&pattern), SAGO_OK);
    assert_true(pattern.sorted && pattern.run_count == 3 * 96000 && pattern.high == (3 * 96000 - 1) * far + 10);
    sagoi_pattern_cleanup(&part);
    assert_true(budget.used <= 640);
    sagoi_pattern_cleanup(&pattern);
}

/* Built the same way they are the same, and moved or longer ones are others. */
static void test_hash_of_loops(void **state) {
    const sagoi_blocks blocks[] = {
        {0, 90, 4, 500, 9000}, {0, 90, 4, 500, 9000}, {1, 90, 4, 500, 9000}, {0, 91, 4, 500, 9000},
        {0, 90, 3, 500, 9000}, {0, 90, 4, 501, 9000}, {0, 90, 4, 500, 9001},
    };
    sagoi_hash hashes[sizeof blocks / sizeof *blocks];
    sagoi_pattern part;
    sagoi_pattern_init(&part, NULL);
    sagoi_pattern_add_train(&part, 5, 4, 40, 10);
    assert_int_equal(sagoi_pattern_finish(&part), SAGO_OK);
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        sagoi_pattern pattern;
        sagoi_pattern_init(&pattern, NULL);
        sagoi_pattern_add_blocks(&pattern, &part, &blocks[i]);
        assert_int_equal(sagoi_pattern_finish(&pattern), SAGO_OK);
        assert_true(pattern.nloops > 0);
        hashes[i] = sagoi_pattern_hash(&pattern);
        for (size_t k = 0; k < i; k++)
            assert_int_equal(sagoi_hash_equal(hashes[i], hashes[k]), i == 1);
        sagoi_pattern_cleanup(&pattern);
    }
    sagoi_pattern_cleanup(&part);
}

static void test_empty_and_contiguous(void **state) {
    sagoi_pattern empty, pattern;
    sagoi_pattern_init(&empty, NULL);
    sagoi_pattern_add(&empty, 5, 0);
    sagoi_pattern_add_train(&empty, 5, 0, 10, 3);
    sagoi_pattern_add_train(&empty, 5, 3, 0, 3);
    assert_int_equal(sagoi_pattern_finish(&empty), SAGO_OK);
    assert_true(empty.sorted && empty.bytes == 0 && empty.low == 0 && empty.high == 0);
    assert_true(sagoi_pattern_contiguous(&empty));

    sagoi_pattern_init(&pattern, NULL);
    sagoi_pattern_add_pattern(&pattern, &empty, 7);
    sagoi_pattern_add_repeated(&pattern, &empty, 7, 100, 3);
    sagoi_pattern_add_train(&pattern, 10, 4, 25, 4);
    sagoi_pattern_add(&pattern, 110, 5LL << 32);
    assert_int_equal(sagoi_pattern_finish(&pattern), SAGO_OK);
    assert_true(sagoi_pattern_contiguous(&pattern) && pattern.pieces[0].len == 100 + (5LL << 32));
    sagoi_pattern_cleanup(&pattern);
    sagoi_pattern_cleanup(&empty);
}

/* ---- What does not fit ---- */

static void expect_overflow(sagoi_pattern *pattern) {
    sagoi_pattern_add(pattern, 0, 8); /* whatever comes after is ignored */
    assert_int_equal(sagoi_pattern_finish(pattern), SAGO_ERR_OVERFLOW);
    assert_int_equal(pattern->npieces, 0);
    sagoi_pattern_cleanup(pattern);
    sagoi_message_clear();
}

static void test_overflow_of_runs(void **state) {
    const int64_t most = SAGOI_OFFSET_MAX;
    const struct {
        int64_t off, len;
    } bad[] = {{most, 1},      {most - 7, 8 + 1}, {INT64_MAX, 1},  {INT64_MAX, INT64_MAX},
               {-most - 1, 1}, {INT64_MIN, 1},    {0, most + 1},   {0, INT64_MAX},
               {0, -1},        {0, INT64_MIN},    {INT64_MIN, -1}, {-most, most * 2},
               {-1, INT64_MAX}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        sagoi_pattern pattern;
        sagoi_pattern_init(&pattern, NULL);
        sagoi_pattern_add(&pattern, 16, 8);
        sagoi_pattern_add(&pattern, bad[i].off, bad[i].len);
        expect_overflow(&pattern);
    }
}

static void test_overflow_of_trains(void **state) {
    const int64_t most = SAGOI_OFFSET_MAX;
    const struct {
        int64_t off, len, count, stride;
    } bad[] = {
        {0, 8, INT64_MAX, 16},        {0, 8, 1LL << 59, 8},    {0, 8, 3, INT64_MAX},      {0, 8, 3, INT64_MIN},
        {0, 1LL << 40, 1LL << 40, 0}, {most - 100, 8, 10, 16}, {-most + 100, 8, 10, -16}, {0, -8, 10, 16},
        {INT64_MAX, 8, 10, -16},      {0, 1LL << 59, 4, 1},    {0, 1LL << 59, 100, 1},    {0, most, 6, 0}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        sagoi_pattern pattern;
        sagoi_pattern_init(&pattern, NULL);
        sagoi_pattern_add(&pattern, 16, 8);
        sagoi_pattern_add_train(&pattern, bad[i].off, bad[i].len, bad[i].count, bad[i].stride);
        expect_overflow(&pattern);
    }
}

/* Lists, trains and single runs, moved and repeated beyond what fits. */
static void test_overflow_of_parts(void **state) {
    const int64_t most = SAGOI_OFFSET_MAX;
    const struct {
        int64_t off, count, stride;
    } bad[] = {{most, 1, 0},      {INT64_MAX, 1, 0},    {INT64_MAX - 4, 1, 0}, {INT64_MAX - 30, 1, 0},
               {INT64_MIN, 1, 0}, {-most - 1, 1, 0},    {0, 3, INT64_MAX},     {0, 3, INT64_MIN},
               {0, 9, most / 4},  {0, INT64_MAX, most}, {most - 10, 9, 1},     {-most, 9, -most}};
    for (int kind = 0; kind < 3; kind++) {
        sagoi_pattern part;
        sagoi_pattern_init(&part, NULL);
        for (int64_t i = 0, off = 0; i < (kind == 0 ? 1 : 9); i++, off += 4 + (kind == 2 ? i : 0))
            sagoi_pattern_add(&part, off, 3);
        assert_int_equal(sagoi_pattern_finish(&part), SAGO_OK);
        for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
            sagoi_pattern pattern;
            sagoi_pattern_init(&pattern, NULL);
            sagoi_pattern_add_repeated(&pattern, &part, bad[i].off, bad[i].count, bad[i].stride);
            if (bad[i].count == 1)
                sagoi_pattern_add_pattern(&pattern, &part, bad[i].off);
            expect_overflow(&pattern);
        }
        sagoi_pattern_cleanup(&part);
    }
}

/* The largest that does fit, in both directions. */
static void test_limits_fit(void **state) {
    const int64_t most = SAGOI_OFFSET_MAX;
    sagoi_pattern pattern;
    sagoi_pattern_init(&pattern, NULL);
    sagoi_pattern_add(&pattern, most - 8, 8);
    sagoi_pattern_add(&pattern, -most, 8);
    sagoi_pattern_add_train(&pattern, -most, 8, 3, most - 8);
    sagoi_pattern_add_train(&pattern, most - 8, 8, 7, -(most / 4));
    sagoi_pattern_add(&pattern, 0, most - 12 * 8);
    assert_int_equal(sagoi_pattern_finish(&pattern), SAGO_OK);
    assert_int_equal(pattern.bytes, most);
    assert_int_equal(pattern.low, -most);
    assert_int_equal(pattern.high, most);
    assert_false(pattern.sorted);
    check_pieces(&pattern);
    sagoi_pattern_cleanup(&pattern);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_large_numbers),
        cmocka_unit_test(test_compact),
        cmocka_unit_test(test_arrays_are_small),
        cmocka_unit_test(test_large_gaps_are_small),
        cmocka_unit_test(test_hash_of_loops),
        cmocka_unit_test(test_empty_and_contiguous),
        cmocka_unit_test(test_overflow_of_runs),
        cmocka_unit_test(test_overflow_of_trains),
        cmocka_unit_test(test_overflow_of_parts),
        cmocka_unit_test(test_limits_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
