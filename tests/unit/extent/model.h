/* The naive model that the extent tests compare with, and the random input they share.
 *
 * A model is an explicit array: the offset of every byte of the stream, its index being the position.  What
 * is too large for that is a list of joined runs (numbers).  Every round has a seed, which is printed when a
 * check fails; SAGO_SEED=<n> in the environment runs that round alone. */
#ifndef TEST_EXTENT_MODEL_H
#define TEST_EXTENT_MODEL_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "extent/pattern.h"
#include "support/unit.h"
#include "support/random.h"

/* ---- Rounds and random numbers ---- */

typedef struct random_state {
    uint64_t state;
} random_state;

static uint64_t model_seed; /* of the round in hand */

#define CHECK(condition)                                                                                          \
    do {                                                                                                          \
        bool holds = (condition);                                                                                 \
        if (!holds)                                                                                               \
            print_error("SAGO_SEED=%llu: %s does not hold\n", (unsigned long long)model_seed, #condition);        \
        assert_true(holds);                                                                                       \
    } while (0)

static inline uint64_t random_bits(random_state *r) { return next_bits(&r->state); }

/* From low to high, both included. */
static inline int64_t random_in(random_state *r, int64_t low, int64_t high) {
    return low + (int64_t)(random_bits(r) % (uint64_t)(high - low + 1));
}

static inline bool one_in(random_state *r, int64_t n) { return random_in(r, 1, n) == 1; }

static inline void run_rounds(uint64_t rounds, void (*round)(random_state *)) {
    const char *only = getenv("SAGO_SEED");
    for (uint64_t seed = 1; seed <= rounds; seed++) {
        model_seed = only ? strtoull(only, NULL, 10) : seed;
        random_state r = {model_seed};
        round(&r);
        if (only)
            return;
    }
}

/* ---- The model, byte by byte ---- */

enum { MODEL_MAX = 6000 };

typedef struct model {
    int64_t n;              /* bytes */
    int64_t runs;           /* as they were added, without those of no bytes */
    int64_t off[MODEL_MAX]; /* where the byte at stream position [i] lies */
} model;

static inline void model_add(model *m, int64_t off, int64_t len) {
    for (int64_t i = 0; i < len; i++)
        m->off[m->n++] = off + i;
    m->runs += len > 0;
}

/* Runs when all neighbours in the stream are joined. */
static inline int64_t model_joined_runs(const model *m) {
    int64_t runs = 0;
    for (int64_t i = 0; i < m->n; i++)
        runs += i == 0 || m->off[i] != m->off[i - 1] + 1;
    return runs;
}

static inline bool model_sorted(const model *m) {
    for (int64_t i = 1; i < m->n; i++)
        if (m->off[i] <= m->off[i - 1])
            return false;
    return true;
}

static inline void model_bounds(const model *m, int64_t *low, int64_t *high) {
    *low = 0;
    *high = 0;
    for (int64_t i = 0; i < m->n; i++) {
        *low = i == 0 || m->off[i] < *low ? m->off[i] : *low;
        *high = i == 0 || m->off[i] + 1 > *high ? m->off[i] + 1 : *high;
    }
}

/* The bytes of a request: the pattern's model, tiled and cut. */
static inline void model_cut(model *request, const model *pattern, const sagoi_extents *extents) {
    request->n = extents->end - extents->begin;
    for (int64_t i = 0; i < request->n; i++) {
        int64_t pos = extents->begin + i;
        request->off[i] = extents->base + pos / pattern->n * extents->extent + pattern->off[pos % pattern->n];
    }
    request->runs = model_joined_runs(request);
}

/* Run `i` of a span, given where the run before it ends (a span's first: anything). */
static inline int64_t span_run(const sagoi_span *span, int64_t i, int64_t end_before, int64_t *len) {
    *len = span->runs ? span->runs[i].len : span->len;
    if (!span->runs)
        return span->off + i * span->stride;
    return i == 0 ? span->off : end_before + span->runs[i].gap;
}

/* Do the span's bytes lie where the model says, and below the limit?  Returns how many there are. */
static inline int64_t check_span(const sagoi_span *span, const model *m, int64_t limit) {
    int64_t pos = span->pos, off = 0, len = 0;
    CHECK(span->count > 0);
    for (int64_t i = 0; i < span->count; i++) {
        off = span_run(span, i, off + len, &len);
        CHECK(len > 0 && off + len <= limit);
        for (int64_t k = 0; k < len; k++, pos++)
            CHECK(pos < m->n && m->off[pos] == off + k);
    }
    CHECK(sagoi_span_bytes(span) == pos - span->pos);
    return pos - span->pos;
}

/* Walks on from stream position `pos` to the limit, everything checked; returns the position reached. */
static inline int64_t check_walk(sagoi_cursor *cursor, const model *m, int64_t pos, int64_t limit) {
    sagoi_span span;
    while (sagoi_cursor_next(cursor, limit, &span)) {
        CHECK(span.pos == pos);
        pos += check_span(&span, m, limit);
    }
    CHECK(pos == m->n || m->off[pos] >= limit);
    CHECK(!sagoi_cursor_next(cursor, limit, &span));
    return pos;
}

/* ---- Random patterns ---- */

typedef enum {
    SHAPE_ANY,
    SHAPE_ASCENDING = 1, /* sorted */
    SHAPE_NEAR = 2,      /* no huge gaps: fits a buffer */
} shape;

/* Where the next run starts: at the end of the last (which joins), a little off, or far away. */
static inline int64_t random_start(random_state *r, int64_t at, int s) {
    if (one_in(r, 4))
        return at;
    if (one_in(r, 12) && !(s & SHAPE_NEAR))
        at += random_in(r, s & SHAPE_ASCENDING ? 0 : -1, 1) * random_in(r, 1LL << 31, 1LL << 34);
    return at + random_in(r, s & SHAPE_ASCENDING ? 0 : -40, 40);
}

static inline int64_t random_stride(random_state *r, int64_t len, int s) {
    if (one_in(r, 6))
        return len;
    int64_t far = one_in(r, 12) && !(s & SHAPE_NEAR) ? random_in(r, 1LL << 31, 1LL << 33) : 0;
    if (s & SHAPE_ASCENDING)
        return len + random_in(r, 0, 20) + far;
    return random_in(r, -30, 30) + (one_in(r, 2) ? far : -far);
}

static inline int64_t add_random_train(random_state *r, sagoi_pattern *pattern, model *m, int64_t at, int s) {
    int64_t len = random_in(r, 0, one_in(r, 10) ? 700 : 10), count = random_in(r, 0, one_in(r, 4) ? 40 : 8);
    int64_t off = random_start(r, at, s), stride = random_stride(r, len, s);
    if (m->n + len * count > MODEL_MAX)
        return at;
    sagoi_pattern_add_train(pattern, off, len, count, stride);
    for (int64_t i = 0; i < count; i++)
        model_add(m, off + i * stride, len);
    return len && count ? off + (count - 1) * stride + len : at;
}

static inline int64_t add_random_list(random_state *r, sagoi_pattern *pattern, model *m, int64_t at, int s) {
    int64_t count = one_in(r, 40) ? random_in(r, 1000, 1500) : random_in(r, 1, 20);
    int64_t longest = count > 20 ? 2 : one_in(r, 8) ? random_in(r, 10, 700) : 4;
    for (int64_t i = 0; i < count && m->n + longest <= MODEL_MAX; i++) {
        int64_t len = random_in(r, 0, longest);
        at = random_start(r, at, s);
        sagoi_pattern_add(pattern, at, len);
        model_add(m, at, len);
        at += len;
    }
    return at;
}

static inline void random_pattern(random_state *r, sagoi_pattern *pattern, model *m, int s, int depth);

static inline int64_t add_random_part(random_state *r, sagoi_pattern *pattern, model *m, int64_t at, int s,
                                      int depth) {
    model *part_model = malloc(sizeof *part_model);
    sagoi_pattern part;
    sagoi_pattern_init(&part, NULL);
    random_pattern(r, &part, part_model, s, depth - 1);
    int64_t count = one_in(r, 2) ? 1 : random_in(r, 0, 9);
    int64_t off = random_start(r, at, s) - part.low, stride = random_stride(r, part.high - part.low, s);
    if (m->n + count * part.bytes <= MODEL_MAX) {
        if (count == 1)
            sagoi_pattern_add_pattern(pattern, &part, off);
        else
            sagoi_pattern_add_repeated(pattern, &part, off, count, stride);
        for (int64_t i = 0; i < count; i++)
            for (int64_t k = 0; k < part_model->n; k++)
                model_add(m, off + i * stride + part_model->off[k], 1);
        m->runs += count * (part_model->runs - part_model->n); /* they came byte by byte */
        if (count > 0 && part.bytes > 0)
            at = off + (count - 1) * stride + part.high;
    }
    sagoi_pattern_cleanup(&part);
    free(part_model);
    return at;
}

/* Blocks of a part with `size` bytes from start to end; ascending ones neither overlap nor go back. */
static inline sagoi_blocks random_blocks(random_state *r, int64_t size, int s) {
    sagoi_blocks blocks = {.off = random_in(r, -50, 50), .count = random_in(r, 0, one_in(r, 3) ? 60 : 12)};
    blocks.length = one_in(r, 2) ? random_in(r, 1, blocks.count + 2) : random_in(r, 1, 4);
    bool ascending = s & SHAPE_ASCENDING, nearly = !ascending && one_in(r, 2); /* or by one byte not */
    blocks.stride = nearly ? size + random_in(r, -1, 2) : random_stride(r, size, s);
    int64_t last = (blocks.length - 1) * blocks.stride;
    if (one_in(r, 8))
        blocks.step = last + blocks.stride; /* they follow one another */
    else if (nearly)
        blocks.step = last + size + random_in(r, -1, 2);
    else
        blocks.step = (ascending ? last : 0) + random_stride(r, size, s);
    return blocks;
}

static inline void model_add_blocks(model *m, const model *part, const sagoi_blocks *blocks) {
    int64_t runs = m->runs + blocks->count * part->runs;
    for (int64_t i = 0; i < blocks->count; i++)
        for (int64_t k = 0; k < part->n; k++)
            model_add(m,
                      blocks->off + i / blocks->length * blocks->step + i % blocks->length * blocks->stride +
                          part->off[k],
                      1);
    m->runs = runs; /* they came byte by byte */
}

/* Repetitions of repetitions into the empty pattern; returns where they end. */
static inline int64_t add_random_loops(random_state *r, sagoi_pattern *pattern, model *m, int s, int depth) {
    model *part_model = malloc(sizeof *part_model);
    sagoi_pattern part;
    sagoi_pattern_init(&part, pattern->budget);
    random_pattern(r, &part, part_model, s, depth - 1);
    sagoi_blocks blocks = random_blocks(r, part.high - part.low, s);
    while (blocks.count * part.bytes > MODEL_MAX)
        blocks.count /= 2;
    sagoi_pattern_add_blocks(pattern, &part, &blocks);
    model_add_blocks(m, part_model, &blocks);
    sagoi_pattern_cleanup(&part);
    free(part_model);
    int64_t low, high;
    model_bounds(m, &low, &high);
    return high;
}

/* Builds and finishes a pattern (initialised before) and its model. */
static inline void random_pattern(random_state *r, sagoi_pattern *pattern, model *m, int s, int depth) {
    int64_t at = random_in(r, -100, 100);
    m->n = 0;
    m->runs = 0;
    if (depth > 0 && one_in(r, 2)) {
        at = add_random_loops(r, pattern, m, s, depth);
        if (!one_in(r, 4)) {
            CHECK(sagoi_pattern_finish(pattern) == SAGO_OK);
            return;
        }
    }
    for (int64_t steps = one_in(r, 20) ? 0 : random_in(r, 1, 6); steps > 0; steps--) {
        int64_t kind = random_in(r, 0, depth > 0 ? 3 : 2);
        if (kind == 0)
            at = add_random_train(r, pattern, m, at, s);
        else if (kind == 3)
            at = add_random_part(r, pattern, m, at, s, depth);
        else
            at = add_random_list(r, pattern, m, at, s);
    }
    CHECK(sagoi_pattern_finish(pattern) == SAGO_OK);
}

/* A request over the pattern: a few tiles, often cut.  `most` bounds its bytes. */
static inline sagoi_extents random_extents(random_state *r, const sagoi_pattern *pattern, int s, int64_t most) {
    int64_t size = pattern->high - pattern->low, tiles = random_in(r, 1, 5);
    sagoi_extents extents = {.pattern = pattern, .base = random_in(r, -1000, 1000)};
    extents.extent = s & SHAPE_ASCENDING ? size + random_in(r, 0, 3) * random_in(r, 0, 50) : random_in(r, -60, 60);
    extents.end = tiles * pattern->bytes;
    if (one_in(r, 2)) {
        extents.end = random_in(r, 0, extents.end);
        extents.begin = random_in(r, 0, extents.end);
    }
    if (extents.end - extents.begin > most)
        extents.end = extents.begin + most;
    bool one_tile =
        extents.begin < extents.end && extents.begin / pattern->bytes == (extents.end - 1) / pattern->bytes;
    if (one_tile && one_in(r, 2)) /* then it does not matter */
        extents.extent = random_in(r, -60, 60);
    return extents;
}

/* ---- Numbers: joined runs, for what is too large to be expanded ---- */

enum { NUMBERS_MAX = 4000 };

typedef struct numbers {
    int64_t n;     /* runs, joined */
    int64_t bytes; /* in all */
    struct {
        int64_t off, len, pos;
    } run[NUMBERS_MAX];
} numbers;

static inline void numbers_add(numbers *list, int64_t off, int64_t len) {
    if (len == 0)
        return;
    if (list->n > 0 && list->run[list->n - 1].off + list->run[list->n - 1].len == off) {
        list->run[list->n - 1].len += len;
    } else {
        CHECK(list->n < NUMBERS_MAX);
        list->run[list->n].off = off;
        list->run[list->n].len = len;
        list->run[list->n++].pos = list->bytes;
    }
    list->bytes += len;
}

static inline void numbers_add_span(numbers *list, const sagoi_span *span) {
    int64_t off = 0, len = 0;
    for (int64_t i = 0; i < span->count; i++) {
        off = span_run(span, i, off + len, &len);
        numbers_add(list, off, len);
    }
}

static inline bool numbers_equal(const numbers *a, const numbers *b) {
    return a->n == b->n && a->bytes == b->bytes && memcmp(a->run, b->run, (size_t)a->n * sizeof a->run[0]) == 0;
}

/* Lengths beyond 2^32 and gaps beyond 2^31 are common here. */
static inline int64_t random_large(random_state *r) {
    return random_in(r, 0, 1LL << (one_in(r, 3) ? random_in(r, 31, 34) : random_in(r, 0, 45)));
}

/* Builds and finishes a pattern of large numbers. */
static inline void random_numbers(random_state *r, sagoi_pattern *pattern, numbers *list, bool ascending) {
    int64_t at = random_large(r);
    list->n = 0;
    list->bytes = 0;
    for (int64_t steps = random_in(r, 1, 40); steps > 0; steps--) {
        int64_t len = random_large(r), count = one_in(r, 3) ? random_in(r, 0, 30) : 1;
        int64_t stride = len + random_large(r), off = at + (one_in(r, 3) ? 0 : random_large(r));
        if (!ascending && one_in(r, 2))
            stride = -stride;
        if (!ascending && one_in(r, 2))
            off = -off;
        sagoi_pattern_add_train(pattern, off, len, count, stride);
        for (int64_t i = 0; i < count; i++)
            numbers_add(list, off + i * stride, len);
        if (len > 0 && count > 0)
            at = off + (count - 1) * stride + len;
    }
    CHECK(sagoi_pattern_finish(pattern) == SAGO_OK);
}

#endif
