/* The codec: what is coded comes back, and no bytes whatever make decoding go wrong. */
#include "model.h"

#include "extent/codec.h"

/* Codes that are decoded lie in memory of exactly their size, so that a sanitizer sees one byte too many. */
static uint8_t *exact_copy(const uint8_t *code, int64_t bytes) {
    uint8_t *copy = malloc(bytes ? (size_t)bytes : 1);
    memcpy(copy, code, (size_t)bytes);
    return copy;
}

static int64_t code_room(const sagoi_span *span) { return (span->runs ? span->count : 1) * SAGOI_CODE_MAX; }

/* ---- Round trips ---- */

/* Decodes all of it and compares with the model from position `pos`; returns the position reached. */
static int64_t check_decoded(const uint8_t *code, int64_t bytes, const model *m, int64_t pos, int64_t end) {
    uint8_t *copy = exact_copy(code, bytes);
    const uint8_t *in = copy, *stop = copy + bytes;
    sagoi_span train;
    while (in < stop) {
        in = sagoi_code_get(in, stop, &train, &end);
        CHECK(in && train.pos == 0 && !train.runs);
        train.pos = pos;
        pos += check_span(&train, m, SAGOI_OFFSET_MAX);
        CHECK(end == m->off[pos - 1] + 1);
    }
    free(copy);
    return pos;
}

static void round_trip(random_state *r) {
    static model tile, m;
    sagoi_pattern pattern;
    sagoi_cursor cursor;
    sagoi_span span;
    sagoi_pattern_init(&pattern, NULL);
    random_pattern(r, &pattern, &tile, SHAPE_ASCENDING, 2);
    sagoi_extents extents = random_extents(r, &pattern, SHAPE_ASCENDING, MODEL_MAX);
    model_cut(&m, &tile, &extents);
    sagoi_cursor_init(&cursor, &extents);
    int64_t pos = 0, done = 0, low, high;
    sagoi_extents_bounds(&extents, &low, &high);
    while (done < m.n) { /* a message a window */
        int64_t from = one_in(r, 2) ? m.off[done] : low, end = from, limit = m.off[done] + random_in(r, 1, 3000);
        uint8_t *code = NULL, *out = NULL;
        while (sagoi_cursor_next(&cursor, limit, &span)) {
            int64_t used = out - code;
            code = realloc(code, (size_t)(used + code_room(&span)));
            out = sagoi_code_put(code + used, &span, &end);
            CHECK(out - code - used <= code_room(&span));
            pos = span.pos + sagoi_span_bytes(&span);
            CHECK(end == m.off[pos - 1] + 1);
        }
        CHECK(check_decoded(code, out - code, &m, done, from) == pos);
        done = pos;
        free(code);
    }
    sagoi_pattern_cleanup(&pattern);
}

static void test_round_trip(void **state) { run_rounds(10000, round_trip); }

static void large_round_trip(random_state *r) {
    static numbers expected, decoded;
    static uint8_t code[NUMBERS_MAX * SAGOI_CODE_MAX];
    sagoi_pattern pattern;
    sagoi_cursor cursor;
    sagoi_span span;
    sagoi_pattern_init(&pattern, NULL);
    random_numbers(r, &pattern, &expected, true);
    sagoi_extents extents = {.pattern = &pattern, .end = pattern.bytes};
    sagoi_cursor_init(&cursor, &extents);
    uint8_t *out = code;
    int64_t end = 0;
    while (sagoi_cursor_next(&cursor, SAGOI_OFFSET_MAX, &span))
        out = sagoi_code_put(out, &span, &end);
    CHECK(end == pattern.high);
    decoded.n = 0;
    decoded.bytes = 0;
    end = 0;
    for (const uint8_t *in = code; in < out;) {
        in = sagoi_code_get(in, out, &span, &end);
        CHECK(in);
        numbers_add_span(&decoded, &span);
    }
    CHECK(numbers_equal(&decoded, &expected) && end == pattern.high);
    sagoi_pattern_cleanup(&pattern);
}

static void test_large_numbers(void **state) { run_rounds(2000, large_round_trip); }

static void test_limits(void **state) {
    const int64_t most = SAGOI_OFFSET_MAX;
    const sagoi_span good[] = {
        {.off = most - 1, .count = 1, .len = 1, .stride = 1},
        {.off = 0, .count = 1, .len = most, .stride = most},
        {.off = 0, .count = most / 2, .len = 1, .stride = 2},
        {.off = 0, .count = most, .len = 1, .stride = 1},
        {.off = 1, .count = 2, .len = 1, .stride = most - 2},
        {.off = INT64_MAX - 8, .count = 1, .len = 8, .stride = 8},
        {.off = 0, .count = 2, .len = 1, .stride = INT64_MAX - 1},
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        uint8_t code[SAGOI_CODE_MAX];
        int64_t put_end = 0, end = 0;
        sagoi_span back;
        uint8_t *stop = sagoi_code_put(code, &good[i], &put_end);
        assert_ptr_equal(sagoi_code_get(code, stop, &back, &end), stop);
        assert_memory_equal(&back, &good[i], sizeof back);
        assert_true(end == put_end && end > good[i].off);
    }
}

/* The runs of small gaps and lengths that Sago is for take two bytes. */
static void test_short_runs_are_short(void **state) {
    sagoi_run runs[100];
    for (int i = 0; i < 100; i++)
        runs[i] = (sagoi_run){.gap = i + 20, .len = (uint32_t)(4 + i % 60)};
    const sagoi_span list = {.off = 1000, .count = 100, .runs = runs};
    const sagoi_span train = {.off = 1000, .count = 100, .len = 8, .stride = 64};
    uint8_t code[100 * SAGOI_CODE_MAX];
    int64_t end = 1000;
    assert_int_equal(sagoi_code_put(code, &list, &end) - code, 200);
    end = 1000;
    assert_int_equal(sagoi_code_put(code, &train, &end) - code, 4);
}

/* ---- Hostile codes ---- */

/* What is taken for a run with a short code is what the general decoder finds there. */
static void compare_short(const uint8_t *in, const uint8_t *stop) {
    sagoi_span train;
    uint32_t gap, len;
    int64_t end = 0;
    int code = stop - in < SAGOI_CODE_SHORT ? 0 : sagoi_code_short(in, &gap, &len);
    if (code > 0) {
        CHECK(sagoi_code_get(in, stop, &train, &end) == in + code);
        CHECK(train.count == 1 && train.off == gap && train.len == len);
    }
}

/* Whatever is accepted keeps the promises that receivers build on; a refusal changes nothing. */
static void decode_hostile(const uint8_t *code, int64_t bytes, int64_t end) {
    uint8_t *copy = exact_copy(code, bytes);
    const uint8_t *in = copy, *stop = copy + bytes;
    while (in) {
        int64_t before = end, length;
        sagoi_span train;
        compare_short(in, stop);
        const uint8_t *next = sagoi_code_get(in, stop, &train, &end);
        if (!next) {
            CHECK(end == before);
            break;
        }
        CHECK(next > in && next <= stop);
        CHECK(!train.runs && train.pos == 0 && train.len > 0 && train.count > 0 && train.stride >= train.len);
        CHECK(train.off >= before && end > train.off);
        CHECK(!__builtin_mul_overflow(train.count - 1, train.stride, &length));
        CHECK(end - train.off == length + train.len);
        in = next;
    }
    free(copy);
}

static uint8_t *put_number(uint8_t *out, uint64_t value) {
    for (; value >= 128; value >>= 7)
        *out++ = (uint8_t)(value | 128);
    *out++ = (uint8_t)value;
    return out;
}

static uint64_t random_number(random_state *r) {
    uint64_t value = random_bits(r) >> random_in(r, 0, 63);
    return one_in(r, 6) ? ~value : value;
}

static void hostile_round(random_state *r) {
    uint8_t code[400];
    int64_t n = random_in(r, 0, 60), end = one_in(r, 2) ? 0 : (int64_t)random_bits(r);
    for (int64_t i = 0; i < n; i++) { /* any bytes, many of which go on */
        code[i] = (uint8_t)random_bits(r);
        code[i] |= one_in(r, 3) ? 128 : 0;
    }
    decode_hostile(code, n, end);
    uint8_t *out = code; /* numbers of any size */
    for (n = random_in(r, 1, 30); n > 0; n--)
        out = put_number(out, random_number(r));
    decode_hostile(code, out - code, end);
}

static void test_hostile(void **state) { run_rounds(50000, hostile_round); }

/* Good codes cut anywhere, or with a bit turned. */
static void damaged_round(random_state *r) {
    static model m;
    static uint8_t code[MODEL_MAX * SAGOI_CODE_MAX];
    sagoi_pattern pattern;
    sagoi_cursor cursor;
    sagoi_span span;
    sagoi_pattern_init(&pattern, NULL);
    random_pattern(r, &pattern, &m, SHAPE_ASCENDING, 1);
    sagoi_extents extents = {.pattern = &pattern, .base = 100, .end = pattern.bytes};
    uint8_t *out = code;
    int64_t end = 0;
    sagoi_cursor_init(&cursor, &extents);
    while (sagoi_cursor_next(&cursor, SAGOI_OFFSET_MAX, &span) && out - code < 500)
        out = sagoi_code_put(out, &span, &end);
    int64_t bytes = out - code;
    for (int64_t cut = 0; cut < bytes; cut += random_in(r, 1, 10)) {
        decode_hostile(code, cut, 0);
        int64_t at = random_in(r, 0, bytes - 1), bit = random_in(r, 0, 7);
        code[at] ^= (uint8_t)(1 << bit);
        decode_hostile(code, bytes, 0);
        code[at] ^= (uint8_t)(1 << bit);
    }
    sagoi_pattern_cleanup(&pattern);
}

static void test_damaged(void **state) { run_rounds(1000, damaged_round); }

/* Every gap and length of up to two bytes is short, and none that is longer. */
static void test_short(void **state) {
    const uint32_t sizes[] = {0, 1, 2, 63, 64, 100, 127, 128, 129, 1000, 8191, 8192, 16383, 16384, 1 << 20};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    for (int i = 0; i < SIZES; i++) {
        for (int k = 1; k < SIZES; k++) {
            uint8_t code[2 * SAGOI_CODE_MAX] = {0};
            uint32_t gap = 0, len = 0;
            int64_t end = 0;
            sagoi_span run = {.off = sizes[i], .count = 1, .len = sizes[k], .stride = sizes[k]};
            int bytes = (int)(sagoi_code_put(code, &run, &end) - code);
            bool small = sizes[i] < 1 << 14 && sizes[k] < 1 << 13;
            assert_int_equal(sagoi_code_short(code, &gap, &len), small ? bytes : 0);
            assert_true(!small || (gap == sizes[i] && len == sizes[k]));
        }
    }
}

static void expect_refused(const uint8_t *code, int64_t bytes) {
    sagoi_span train;
    int64_t end = 5;
    uint8_t *copy = exact_copy(code, bytes);
    assert_null(sagoi_code_get(copy, copy + bytes, &train, &end));
    assert_int_equal(end, 5);
    free(copy);
}

static void test_refused(void **state) {
    const uint64_t most = INT64_MAX;
    const struct {
        uint64_t gap, length, count, space;
    } bad[] = {
        {0, 0, 1, 0},                   /* no bytes */
        {0, 8, 0, 0},                   /* no runs */
        {most, 1, 1, 0},                /* beyond the last offset, with what came before */
        {0, most, 1, 0},                /* the same */
        {most + 1, 1, 1, 0},            /* an offset too large by itself, */
        {0, most + 1, 1, 0},            /* a length, */
        {0, 1, most, 1},                /* a train, */
        {0, 1, UINT64_MAX, 1},          /* a count that is negative, */
        {0, 1, 2, UINT64_MAX},          /* a space that is negative (runs that overlap), */
        {(uint64_t)-4, 1, 1, 0},        /* a gap that is negative, */
        {0, 1ull << 32, 1ull << 32, 0}, /* and a product that wraps to 0 */
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        uint8_t code[SAGOI_CODE_MAX], *out = put_number(code, bad[i].gap);
        out = put_number(out, bad[i].length << 1 | 1);
        out = put_number(out, bad[i].count);
        out = put_number(out, bad[i].space);
        expect_refused(code, out - code);
    }
    const uint8_t dropped[] = {0x82, 0x80, 0x80, 0x80, 0x80, 0x80,
                               0x80, 0x80, 0x80, 0x7e, 0x08}; /* bits past 64 */
    const uint8_t endless[] = {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00, 0x08};
    const uint8_t half[] = {0x04};
    const uint8_t no_train[] = {0x04, 0x09};
    expect_refused(dropped, sizeof dropped);
    expect_refused(endless, sizeof endless);
    expect_refused(half, sizeof half);
    expect_refused(no_train, sizeof no_train);
    expect_refused(half, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_large_numbers),
        cmocka_unit_test(test_limits),     cmocka_unit_test(test_short_runs_are_short),
        cmocka_unit_test(test_hostile),    cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_short),      cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
