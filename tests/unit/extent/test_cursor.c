/* Cursors: requests (patterns tiled and cut) walked whole, window by window and from anywhere; requests that do
 * not ascend, sorted into layers; the cover check. */
#include "model.h"

/* A request and its bytes. */
typedef struct request {
    sagoi_pattern pattern;
    sagoi_extents extents;
    model tile, bytes;
} request;

static request *request_create(random_state *r, int s) {
    request *q = calloc(1, sizeof *q);
    sagoi_pattern_init(&q->pattern, NULL);
    random_pattern(r, &q->pattern, &q->tile, s, 2);
    q->extents = random_extents(r, &q->pattern, s, MODEL_MAX);
    model_cut(&q->bytes, &q->tile, &q->extents);
    return q;
}

static void request_destroy(request *q) {
    sagoi_pattern_cleanup(&q->pattern);
    free(q);
}

/* ---- Any request ---- */

static void walk_round(random_state *r) {
    request *q = request_create(r, (int)random_in(r, 0, 3));
    const model *m = &q->bytes;
    sagoi_cursor cursor;
    sagoi_cursor_init(&cursor, &q->extents);
    CHECK(check_walk(&cursor, m, 0, SAGOI_OFFSET_MAX) == m->n);
    for (int i = 0; i < 5; i++) { /* forwards and backwards, the end included */
        int64_t pos = i == 4 ? m->n : random_in(r, 0, m->n);
        sagoi_cursor_seek_pos(&cursor, pos);
        CHECK(check_walk(&cursor, m, pos, SAGOI_OFFSET_MAX) == m->n);
    }
    request_destroy(q);
}

static void test_walk_and_seek_position(void **state) { run_rounds(5000, walk_round); }

/* Checks what is left of a lap; returns the position behind it. */
static int64_t check_lap(const sagoi_lap *lap, const model *m, int64_t pos) {
    int64_t first = pos;
    for (int64_t i = 0; i < lap->count; i++) {
        const sagoi_piece *piece = &lap->pieces[i];
        const sagoi_span span = {.off = lap->off + piece->off,
                                 .pos = pos,
                                 .count = piece->count,
                                 .len = piece->len,
                                 .stride = piece->stride,
                                 .runs = piece->len ? NULL : lap->runs + piece->stride};
        CHECK(piece->pos - lap->pieces[0].pos == pos - first);
        pos += check_span(&span, m, SAGOI_OFFSET_MAX);
    }
    return pos;
}

static int64_t laps_seen;

static void lap_round(random_state *r) {
    request *q = request_create(r, (int)random_in(r, 0, 3));
    const model *m = &q->bytes;
    sagoi_cursor cursor;
    sagoi_span span;
    sagoi_lap lap;
    int64_t pos = one_in(r, 2) ? 0 : random_in(r, 0, m->n);
    sagoi_cursor_init(&cursor, &q->extents);
    sagoi_cursor_seek_pos(&cursor, pos);
    for (;;) {
        if (!one_in(r, 4) && sagoi_cursor_next_lap(&cursor, &lap)) {
            pos = check_lap(&lap, m, pos);
            laps_seen++;
            continue;
        }
        if (!sagoi_cursor_next(&cursor, SAGOI_OFFSET_MAX, &span))
            break;
        CHECK(span.pos == pos);
        pos += check_span(&span, m, SAGOI_OFFSET_MAX);
    }
    CHECK(pos == m->n && !sagoi_cursor_next_lap(&cursor, &lap));
    request_destroy(q);
}

static void test_laps(void **state) {
    run_rounds(5000, lap_round);
    assert_true(laps_seen > 1000 || getenv("SAGO_SEED"));
}

static void count_round(random_state *r) {
    request *q = request_create(r, (int)random_in(r, 0, 3));
    const sagoi_extents *e = &q->extents;
    int64_t bytes = q->bytes.n, runs = sagoi_extents_runs(e), tile = q->pattern.bytes;
    CHECK(sagoi_extents_bytes(e) == bytes);
    CHECK(bytes == 0 ? runs == 0 : runs >= 1 && runs <= bytes);
    if (tile > 0 && e->begin % tile == 0 && e->end % tile == 0)
        CHECK(runs == bytes / tile * q->pattern.run_count);
    else if (bytes > 0)
        CHECK(runs <= (bytes / tile + 1) * q->pattern.run_count || runs == 2);
    if (runs == 1 && sagoi_extents_walkable(e) && !q->pattern.permuted)
        CHECK(q->bytes.off[bytes - 1] - q->bytes.off[0] == bytes - 1);
    if (sagoi_extents_walkable(e))
        CHECK(model_sorted(&q->bytes));
    else /* it errs only where a cut hides what is wrong with the pattern */
        CHECK(bytes > 0 && (!q->pattern.sorted || e->extent < q->pattern.high - q->pattern.low));
    request_destroy(q);
}

static void test_counts_and_walkable(void **state) { run_rounds(5000, count_round); }

/* ---- Requests that ascend: by offset ---- */

static int64_t random_offset(random_state *r, const model *m) {
    if (m->n == 0 || one_in(r, 10))
        return random_in(r, -2000, 2000);
    int64_t i = random_in(r, 0, m->n - 1);
    return one_in(r, 2) ? m->off[i] : m->off[i] + random_in(r, -20, 20);
}

/* The first position at or after an offset. */
static int64_t model_find(const model *m, int64_t offset) {
    int64_t i = 0;
    while (i < m->n && m->off[i] < offset)
        i++;
    return i;
}

static void window_round(random_state *r) {
    request *q = request_create(r, SHAPE_ASCENDING | (one_in(r, 2) ? SHAPE_NEAR : 0));
    const model *m = &q->bytes;
    int64_t low, high, real_low, real_high, pos = 0;
    CHECK(sagoi_extents_walkable(&q->extents));
    sagoi_extents_bounds(&q->extents, &low, &high);
    model_bounds(m, &real_low, &real_high);
    CHECK(low == real_low && high == real_high);

    sagoi_cursor cursor;
    sagoi_cursor_init(&cursor, &q->extents);
    int64_t step = random_in(r, 1, 300);
    for (int64_t limit = low; limit < high;) { /* windows of bytes that are there, and of nothing */
        int64_t next = pos < m->n && m->off[pos] > limit + 4 * step ? m->off[pos] - step : limit;
        limit = next + random_in(r, 0, step) + 1;
        pos = check_walk(&cursor, m, pos, limit);
    }
    CHECK(pos == m->n);
    request_destroy(q);
}

static int64_t periods_seen;

static void period_round(random_state *r) {
    request *q = request_create(r, SHAPE_ASCENDING | (one_in(r, 2) ? SHAPE_NEAR : 0));
    const model *m = &q->bytes;
    sagoi_period period = sagoi_extents_period(&q->extents);
    CHECK((period.bytes > 0) == (period.length > 0) && period.length <= period.bytes);
    for (int64_t i = 0; period.bytes > 0 && i < m->n; i++)
        CHECK((m->off[i] - m->off[0]) % period.bytes < period.length);
    periods_seen += period.bytes > 0;
    request_destroy(q);
}

static void test_periods(void **state) {
    run_rounds(5000, period_round);
    assert_true(periods_seen > 100 || getenv("SAGO_SEED"));
    sagoi_piece piece = {.off = 40, .len = 8, .count = 5, .stride = 100};
    sagoi_pattern train;
    assert_int_equal(sagoi_pattern_of_train(&train, &piece), SAGO_OK);
    sagoi_period once = sagoi_extents_period(&(sagoi_extents){&train, 1000, 500, 0, 40});
    assert_true(once.bytes == 100 && once.length == 8);
    sagoi_period tiled = sagoi_extents_period(&(sagoi_extents){&train, 1000, 600, 0, 80});
    assert_true(tiled.bytes == 600 && tiled.length == 408);
    sagoi_period cut =
        sagoi_extents_period(&(sagoi_extents){&train, 1000, 600, 8, 80}); /* not from a tile's start */
    assert_int_equal(cut.bytes, 0);
}

static void below_round(random_state *r) {
    request *q = request_create(r, SHAPE_ASCENDING | (one_in(r, 2) ? SHAPE_NEAR : 0));
    const model *m = &q->bytes;
    sagoi_cursor cursor;
    sagoi_span span;
    sagoi_cursor_init(&cursor, &q->extents);
    while (sagoi_cursor_next(&cursor, SAGOI_OFFSET_MAX, &span)) {
        int64_t bytes = sagoi_span_bytes(&span), limit = m->off[random_in(r, span.pos, span.pos + bytes - 1)];
        limit += one_in(r, 2) ? 0 : random_in(r, -10, 10);
        int64_t below = model_find(m, limit) - span.pos;
        CHECK(sagoi_span_bytes_below(&span, limit) == (below < 0 ? 0 : below < bytes ? below : bytes));
        CHECK(sagoi_span_bytes_below(&span, span.off) == 0);
        CHECK(sagoi_span_bytes_below(&span, SAGOI_OFFSET_MAX) == bytes);
    }
    request_destroy(q);
}

static void test_bytes_below(void **state) { run_rounds(1500, below_round); }

static void test_windows(void **state) { run_rounds(8000, window_round); }

static void seek_round(random_state *r) {
    request *q = request_create(r, SHAPE_ASCENDING | (one_in(r, 2) ? SHAPE_NEAR : 0));
    const model *m = &q->bytes;
    sagoi_cursor cursor;
    sagoi_cursor_init(&cursor, &q->extents);
    for (int i = 0; i < 10; i++) {
        int64_t offset = random_offset(r, m), limit = offset + random_in(r, -5, 200);
        sagoi_cursor_seek(&cursor, offset);
        int64_t found = model_find(m, offset), pos = found;
        CHECK(sagoi_extents_bytes_below(&q->extents, offset) == found);
        pos = check_walk(&cursor, m, pos, limit);
        CHECK(limit < offset ? pos == found : pos == model_find(m, limit));
        if (one_in(r, 3))
            CHECK(check_walk(&cursor, m, pos, SAGOI_OFFSET_MAX) == m->n);
    }
    request_destroy(q);
}

static void test_seek_offset(void **state) { run_rounds(8000, seek_round); }

/* The same with lengths beyond 2^32 and offsets beyond 2^50. */
static void large_round(random_state *r) {
    static numbers expected, walked;
    sagoi_pattern pattern;
    sagoi_cursor cursor;
    sagoi_span span;
    sagoi_pattern_init(&pattern, NULL);
    random_numbers(r, &pattern, &expected, true);
    sagoi_extents extents = {.pattern = &pattern, .end = pattern.bytes};
    CHECK(sagoi_extents_walkable(&extents));
    walked.n = 0;
    walked.bytes = 0;
    sagoi_cursor_init(&cursor, &extents);
    int64_t limit = pattern.low;
    for (int i = 0; i < 20; i++) {
        limit = i == 19 ? pattern.high : random_in(r, limit, pattern.high);
        while (sagoi_cursor_next(&cursor, limit, &span)) {
            CHECK(span.pos == walked.bytes);
            numbers_add_span(&walked, &span);
            CHECK(walked.run[walked.n - 1].off + walked.run[walked.n - 1].len <= limit);
        }
    }
    CHECK(numbers_equal(&walked, &expected));
    for (int i = 0; i < 10 && expected.n > 0; i++) {
        int64_t k = random_in(r, 0, expected.n - 1), in = random_in(r, 0, expected.run[k].len - 1);
        int64_t off = expected.run[k].off + in, pos = expected.run[k].pos + in;
        sagoi_cursor_seek(&cursor, off);
        CHECK(sagoi_cursor_next(&cursor, off + 1, &span) && span.off == off && span.pos == pos);
        sagoi_cursor_seek_pos(&cursor, pos);
        CHECK(sagoi_cursor_next(&cursor, off + 1, &span) && span.off == off && span.pos == pos);
        sagoi_cursor_seek(&cursor, expected.run[k].off + expected.run[k].len);
        bool more = sagoi_cursor_next(&cursor, SAGOI_OFFSET_MAX, &span);
        CHECK(more == (k + 1 < expected.n) && (!more || span.off == expected.run[k + 1].off));
    }
    sagoi_pattern_cleanup(&pattern);
}

static void test_large_numbers(void **state) { run_rounds(3000, large_round); }

/* ---- Requests that do not: sorted into layers ---- */

/* How often the offset that is there most often is there. */
static int compare_offsets(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static int64_t model_depth(const model *m) {
    int64_t *sorted = malloc(sizeof m->off), deepest = 0, same = 0;
    memcpy(sorted, m->off, sizeof m->off);
    qsort(sorted, (size_t)m->n, sizeof *sorted, compare_offsets);
    for (int64_t i = 0; i < m->n; i++) {
        same = i > 0 && sorted[i] == sorted[i - 1] ? same + 1 : 1;
        deepest = same > deepest ? same : deepest;
    }
    free(sorted);
    return deepest;
}

/* Walks a layer window by window; marks the stream positions that it has. */
static int64_t check_layer(random_state *r, const sagoi_extents *layer, const model *m, bool *seen) {
    sagoi_cursor cursor;
    sagoi_span span;
    int64_t low, high, bytes = 0, end = INT64_MIN, step = one_in(r, 2) ? INT64_MAX / 8 : random_in(r, 1, 300);
    sagoi_extents_bounds(layer, &low, &high);
    CHECK(layer->pattern->permuted && sagoi_extents_walkable(layer) && low < high);
    sagoi_cursor_init(&cursor, layer);
    for (int64_t limit = low; limit < high;) {
        limit = limit + random_in(r, 1, step);
        if (one_in(r, 4) && cursor.off > limit)
            limit = cursor.off;
        while (sagoi_cursor_next(&cursor, limit, &span)) {
            int64_t n = check_span(&span, m, limit);
            CHECK(span.off >= low && span.off >= end);
            end = span.off + span.len;
            bytes += n;
            for (int64_t i = 0; i < n; i++) {
                CHECK(!seen[span.pos + i]);
                seen[span.pos + i] = true;
            }
        }
        CHECK(end <= limit);
    }
    CHECK(end == high && bytes == sagoi_extents_bytes(layer));
    return bytes;
}

/* After a seek come the layer's bytes at or after the offset, no others. */
static void check_layer_seek(random_state *r, const sagoi_extents *layer, const model *m) {
    const sagoi_pattern *pattern = layer->pattern;
    sagoi_cursor cursor;
    sagoi_span span;
    int64_t offset = random_offset(r, m), expected = 0, found = 0;
    for (int64_t i = 0; i < pattern->npieces; i++) {
        int64_t start = pattern->pieces[i].off > offset ? pattern->pieces[i].off : offset;
        expected += pattern->pieces[i].end > start ? pattern->pieces[i].end - start : 0;
    }
    sagoi_cursor_init(&cursor, layer);
    sagoi_cursor_seek(&cursor, offset);
    while (sagoi_cursor_next(&cursor, SAGOI_OFFSET_MAX, &span)) {
        CHECK(span.off >= offset);
        found += check_span(&span, m, SAGOI_OFFSET_MAX);
    }
    CHECK(found == expected);
}

static void sort_round(random_state *r) {
    static bool seen[MODEL_MAX];
    request *q = request_create(r, one_in(r, 4) ? SHAPE_ASCENDING : one_in(r, 2) ? SHAPE_NEAR : SHAPE_ANY);
    const model *m = &q->bytes;
    sagoi_budget budget = {0};
    sagoi_pattern *layers;
    int64_t n, bytes = 0, runs = 0;
    CHECK(sagoi_extents_sort(&q->extents, &budget, &layers, &n) == SAGO_OK);
    CHECK(n == model_depth(m));
    memset(seen, 0, sizeof seen);
    for (int64_t i = 0; i < n; i++) {
        sagoi_extents layer = {.pattern = &layers[i], .end = m->n};
        bytes += check_layer(r, &layer, m, seen);
        runs += sagoi_extents_runs(&layer);
        check_layer_seek(r, &layer, m);
        check_layer_seek(r, &layer, m);
    }
    CHECK(bytes == m->n && runs >= q->bytes.runs);
    sagoi_layers_free(&budget, layers, n);
    CHECK(budget.used == 0);
    request_destroy(q);
}

static void test_sort(void **state) { run_rounds(3000, sort_round); }

/* ---- The cover check ---- */

enum { RANKS_MAX = 8, COVER_MAX = 200 };

typedef struct tiling {
    int64_t n, off[COVER_MAX], len[COVER_MAX];
    int rank[COVER_MAX];
} tiling;

/* The sum over all ranks, each with its runs in ascending order. */
static uint64_t cover_sum(const tiling *t, uint64_t key) {
    uint64_t sum = 0;
    for (int rank = 0; rank < RANKS_MAX; rank++) {
        sagoi_pattern pattern;
        sagoi_pattern_init(&pattern, NULL);
        for (int64_t i = 0; i < t->n; i++)
            if (t->rank[i] == rank)
                sagoi_pattern_add(&pattern, t->off[i], t->len[i]);
        CHECK(sagoi_pattern_finish(&pattern) == SAGO_OK);
        sagoi_extents extents = {.pattern = &pattern, .end = pattern.bytes};
        sum += sagoi_extents_cover(&extents, key);
        sagoi_pattern_cleanup(&pattern);
    }
    return sum;
}

static void cover_round(random_state *r) {
    uint64_t key = random_bits(r);
    int64_t low = random_in(r, 0, one_in(r, 3) ? 1LL << 50 : 1000), high = low, ranks = random_in(r, 1, RANKS_MAX);
    int64_t regular = one_in(r, 3) ? random_in(r, 1, 9) : 0; /* so that there are trains */
    tiling t = {.n = random_in(r, 1, COVER_MAX - 1)}, broken;
    for (int64_t i = 0; i < t.n; i++) {
        t.off[i] = high;
        t.len[i] = regular ? regular : random_in(r, 1, one_in(r, 20) ? 1LL << 33 : 20);
        t.rank[i] = (int)(regular ? i % ranks : random_in(r, 0, ranks - 1));
        high += t.len[i];
    }
    uint64_t expected = sagoi_mix(key, high) - sagoi_mix(key, low);
    CHECK(cover_sum(&t, key) == expected);

    int64_t i = random_in(r, 0, t.n - 1), by = random_in(r, 1, 9) * (one_in(r, 2) ? 1 : -1);
    broken = t; /* a run is missing */
    broken.len[i] = 0;
    CHECK(cover_sum(&broken, key) != expected);
    broken = t; /* a run is there twice, at any rank */
    broken.off[t.n] = t.off[i];
    broken.len[t.n] = t.len[i];
    broken.rank[t.n] = (int)random_in(r, 0, ranks - 1);
    broken.n++;
    CHECK(cover_sum(&broken, key) != expected);
    broken = t; /* shifted */
    broken.off[i] += by;
    CHECK(cover_sum(&broken, key) != expected);
    broken = t; /* too long or too short */
    broken.len[i] += by > -broken.len[i] ? by : 1;
    CHECK(cover_sum(&broken, key) != expected);
    if (i > 0) { /* a boundary between two is fine anywhere; the same bytes twice and others never are not */
        broken = t;
        broken.off[i]--;
        broken.len[i]++;
        broken.len[i - 1]--;
        CHECK(cover_sum(&broken, key) == expected);
        broken = t;
        broken.off[i] = t.off[i - 1];
        CHECK(cover_sum(&broken, key) != expected);
    }
}

static void test_cover(void **state) { run_rounds(500, cover_round); }

/* Ranks that interleave by tiling one small pattern each, cut to a window. */
static void test_cover_of_tiles(void **state) {
    const uint64_t key = 0x0123456789abcdefu;
    const int64_t low = 7, high = 7 + 4 * 12 * 25; /* 4 ranks of 12 bytes, 25 times */
    uint64_t sum = 0, short_sum = 0;
    for (int64_t rank = 0; rank < 4; rank++) {
        sagoi_pattern pattern;
        sagoi_pattern_init(&pattern, NULL);
        sagoi_pattern_add(&pattern, rank * 4, 4);
        sagoi_pattern_add(&pattern, 16 + rank * 8, 8);
        assert_int_equal(sagoi_pattern_finish(&pattern), SAGO_OK);
        sagoi_extents extents = {.pattern = &pattern, .base = low, .extent = 48, .end = 25 * 12};
        sum += sagoi_extents_cover(&extents, key);
        extents.end -= rank == 2;
        short_sum += sagoi_extents_cover(&extents, key);
        sagoi_pattern_cleanup(&pattern);
    }
    assert_true(sum == sagoi_mix(key, high) - sagoi_mix(key, low));
    assert_true(short_sum != sum);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_walk_and_seek_position),
        cmocka_unit_test(test_laps),
        cmocka_unit_test(test_counts_and_walkable),
        cmocka_unit_test(test_windows),
        cmocka_unit_test(test_periods),
        cmocka_unit_test(test_bytes_below),
        cmocka_unit_test(test_seek_offset),
        cmocka_unit_test(test_large_numbers),
        cmocka_unit_test(test_sort),
        cmocka_unit_test(test_cover),
        cmocka_unit_test(test_cover_of_tiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
