/* Repetitions of a pattern.  A few repetitions, and those that go on where the one before ends, are stored piece
 * by piece.  Others become a loop, which costs the same however many there are. */
#include <string.h>

#include "base/checked.h"
#include "extent/loops.h"

enum {
    STORED_MOST = 512,    /* bytes that repetitions may cost before they become a loop */
    STORED_TRAINS = 2,    /* the same limit if a block is a train: trains */
    NARROW = 16,          /* runs of a narrow lap, which is slow to walk: several such laps become one, */
    UNROLLED_MOST = 64,   /* of at most so many runs */
    UNROLLED_COST = 640,  /* and so many bytes, which are more where gaps do not fit a list */
    FOLDING_PIECES = 4,   /* pieces of a pattern that may go on as one train */
    FOLDING_REPEATED = 3, /* so many repetitions show whether it does */
};

static void fail(sagoi_pattern *pattern, sago_status why) {
    if (!pattern->failed)
        pattern->failed = why;
}

/* The same blocks in the simplest form: blocks with one distance in all become one block. */
static sagoi_blocks simplest(const sagoi_blocks *blocks) {
    sagoi_blocks simple = *blocks;
    int64_t span;
    if (simple.length == 1)
        simple.stride = simple.step;
    bool follow = !sagoi_mul(simple.length, simple.stride, &span) && span == simple.step;
    if (simple.length == 1 || simple.length >= simple.count || follow) {
        simple.length = simple.count;
        simple.step = 0;
    }
    return simple;
}

/* ---- Piece by piece ---- */

/* One block. */
static void store_block(sagoi_pattern *pattern, const sagoi_pattern *part, int64_t off, int64_t count,
                        int64_t stride) {
    int64_t at;
    if (sagoi_pattern_contiguous(part)) {
        if (sagoi_add(off, part->pieces[0].off, &at))
            fail(pattern, SAGO_ERR_OVERFLOW);
        else
            sagoi_pattern_add_train(pattern, at, part->pieces[0].len, count, stride);
        return;
    }
    for (int64_t i = 0; i < count && !pattern->failed; i++) {
        if (sagoi_mul(i, stride, &at) || sagoi_add(off, at, &at))
            fail(pattern, SAGO_ERR_OVERFLOW);
        else
            sagoi_pattern_add_pattern(pattern, part, at);
    }
}

/* Stores blocks that are one run each as a train. */
static void store_solid(sagoi_pattern *pattern, const sagoi_pattern *part, const sagoi_blocks *blocks) {
    int64_t full = blocks->count / blocks->length, remainder = blocks->count % blocks->length, off, bytes, past;
    if (sagoi_add(blocks->off, part->pieces[0].off, &off) || sagoi_mul(blocks->length, blocks->stride, &bytes) ||
        sagoi_mul(full, blocks->step, &past)) {
        fail(pattern, SAGO_ERR_OVERFLOW);
        return;
    }
    sagoi_pattern_add_train(pattern, off, bytes, full, blocks->step);
    if (remainder > 0 && sagoi_add(off, past, &past))
        fail(pattern, SAGO_ERR_OVERFLOW);
    else
        sagoi_pattern_add(pattern, past, remainder * blocks->stride);
}

static void store(sagoi_pattern *pattern, const sagoi_pattern *part, const sagoi_blocks *blocks) {
    int64_t off = blocks->off;
    for (int64_t left = blocks->count; left > 0 && !pattern->failed; left -= blocks->length) {
        store_block(pattern, part, off, sagoi_min(left, blocks->length), blocks->stride);
        if (left > blocks->length && sagoi_add(off, blocks->step, &off))
            fail(pattern, SAGO_ERR_OVERFLOW);
    }
}

/* ---- As a loop ---- */

static void *copied(sagoi_pattern *pattern, const void *from, int64_t size, int64_t room) {
    void *to = room ? sagoi_budget_alloc(pattern->budget, room) : NULL;
    if (to && size)
        memcpy(to, from, (size_t)size);
    else if (room && !to)
        fail(pattern, SAGO_ERR_MEMORY);
    return to;
}

/* Makes the empty pattern a copy of the part, with one loop more if there are repetitions. */
static void copy_with_loop(sagoi_pattern *pattern, const sagoi_pattern *part, int64_t off,
                           const sagoi_loop *loop) {
    int64_t pieces = part->npieces * (int64_t)sizeof *part->pieces;
    int64_t runs = part->nruns * (int64_t)sizeof *part->runs, loops = part->nloops * (int64_t)sizeof *loop;
    int64_t more = loop->count > 1;
    sagoi_pattern_cleanup(pattern);
    pattern->pieces = copied(pattern, part->pieces, pieces, pieces);
    pattern->pieces_capacity = pattern->pieces ? part->npieces : 0;
    pattern->runs = copied(pattern, part->runs, runs, runs);
    pattern->runs_capacity = pattern->runs ? part->nruns : 0;
    pattern->loops = copied(pattern, part->loops, loops, loops + more * (int64_t)sizeof *loop);
    pattern->nloops = pattern->loops ? part->nloops + more : 0;
    if (pattern->failed)
        return;
    pattern->npieces = part->npieces;
    pattern->nruns = part->nruns;
    if (more)
        pattern->loops[part->nloops] = *loop;
    for (int64_t i = 0; i < pattern->npieces; i++) {
        pattern->pieces[i].off += off;
        pattern->pieces[i].end += off;
    }
    for (int64_t i = 0; i < pattern->nloops; i++)
        pattern->loops[i].high += off;
}

static void add_loop(sagoi_pattern *pattern, const sagoi_pattern *part, const sagoi_blocks *blocks) {
    sagoi_loop loop = {.count = blocks->count,
                       .length = blocks->length,
                       .stride = blocks->stride,
                       .step = blocks->step,
                       .high = part->high};
    int64_t low, high, bytes;
    if (sagoi_mul(part->bytes, loop.count, &bytes) || bytes > SAGOI_OFFSET_MAX ||
        sagoi_add(part->low, blocks->off, &low) || sagoi_add(part->high, blocks->off, &high) ||
        sagoi_loop_bounds(&loop, &low, &high)) {
        fail(pattern, SAGO_ERR_OVERFLOW);
        return;
    }
    copy_with_loop(pattern, part, blocks->off, &loop);
    pattern->bytes = bytes;
    pattern->lap_bytes = part->lap_bytes;
    pattern->laps = sagoi_max(1, part->laps) * loop.count;
    pattern->run_count = part->run_count * loop.count;
}

/* ---- Which of them ---- */

static int64_t lap_cost(const sagoi_pattern *pattern) {
    return pattern->npieces * (int64_t)sizeof *pattern->pieces + pattern->nruns * (int64_t)sizeof *pattern->runs;
}

/* Is the pattern empty, and is much to be added? */
static bool wants_loop(const sagoi_pattern *pattern, const sagoi_pattern *part, int64_t count) {
    bool empty = pattern->npieces == 0 && pattern->pending_len == 0, several = count > 1 || part->nloops > 0;
    return empty && several &&
           (double)count * (double)sagoi_max(1, part->laps) * (double)lap_cost(part) > STORED_MOST;
}

/* Does each repetition go on where the one before ends, as in a train, so that it costs nothing? */
static bool folds(const sagoi_pattern *part, int64_t count, int64_t stride) {
    if (sagoi_pattern_contiguous(part))
        return true;
    if (part->nloops > 0 || part->npieces > FOLDING_PIECES || count <= FOLDING_REPEATED)
        return false;
    sagoi_pattern some;
    sagoi_pattern_init(&some, part->budget);
    store_block(&some, part, 0, FOLDING_REPEATED, stride);
    int64_t pieces = some.npieces, runs = some.nruns, next = 0;
    bool same = !some.failed && !sagoi_mul(FOLDING_REPEATED, stride, &next);
    if (same)
        sagoi_pattern_add_pattern(&some, part, next);
    same = same && !some.failed && some.npieces == pieces && some.nruns == runs;
    sagoi_pattern_cleanup(&some);
    return same;
}

/* The number of parts that make a lap of a good length, such that all blocks can be made of such laps. */
static int64_t parts_of_lap(const sagoi_pattern *part, const sagoi_blocks *blocks) {
    if (part->nloops > 0 || part->run_count >= NARROW)
        return 1;
    int64_t most = UNROLLED_MOST / part->run_count;
    while (blocks->count % most != 0 || blocks->length % most != 0)
        most--;
    return most;
}

/* Adds the repetitions of a pattern of a few parts, and takes that pattern over. */
static void add_nested(sagoi_pattern *pattern, sagoi_pattern *parts, const sagoi_blocks *blocks) {
    sago_status status = sagoi_pattern_finish(parts);
    if (status != SAGO_OK)
        fail(pattern, status);
    else
        sagoi_pattern_add_blocks(pattern, parts, blocks);
    sagoi_pattern_cleanup(parts);
}

/* Adds blocks that are all alike, as a loop in a loop. */
static void add_whole_blocks(sagoi_pattern *pattern, const sagoi_pattern *part, const sagoi_blocks *blocks) {
    const sagoi_blocks outer = {
        .off = blocks->off, .count = blocks->count / blocks->length, .length = 1, .step = blocks->step};
    sagoi_pattern block;
    sagoi_pattern_init(&block, pattern->budget);
    sagoi_pattern_add_repeated(&block, part, 0, blocks->length, blocks->stride);
    add_nested(pattern, &block, &outer);
}

/* Adds the blocks with laps of several parts. */
static void add_unrolled(sagoi_pattern *pattern, const sagoi_pattern *part, const sagoi_blocks *blocks,
                         int64_t several) {
    sagoi_blocks fewer = *blocks;
    sagoi_pattern parts;
    fewer.count /= several;
    fewer.length /= several;
    if (sagoi_mul(several, blocks->stride, &fewer.stride)) {
        fail(pattern, SAGO_ERR_OVERFLOW);
        return;
    }
    sagoi_pattern_init(&parts, pattern->budget);
    store_block(&parts, part, 0, several, blocks->stride);
    if (lap_cost(&parts) <= UNROLLED_COST) {
        add_nested(pattern, &parts, &fewer);
        return;
    }
    sagoi_pattern_cleanup(&parts);
    add_loop(pattern, part, blocks);
}

static void add_much(sagoi_pattern *pattern, const sagoi_pattern *part, const sagoi_blocks *blocks) {
    int64_t alike = blocks->count / blocks->length, several = parts_of_lap(part, blocks);
    if (alike > 1 && blocks->count % blocks->length == 0)
        add_whole_blocks(pattern, part, blocks);
    else if (alike <= STORED_TRAINS && folds(part, blocks->length, blocks->stride))
        store(pattern, part, blocks);
    else if (several > 1)
        add_unrolled(pattern, part, blocks, several);
    else
        add_loop(pattern, part, blocks);
}

void sagoi_pattern_add_blocks(sagoi_pattern *pattern, const sagoi_pattern *part, const sagoi_blocks *blocks) {
    if (part->npieces == 0 || blocks->count <= 0 || blocks->length <= 0 || pattern->failed)
        return;
    sagoi_blocks simple = simplest(blocks);
    bool contiguous = sagoi_pattern_contiguous(part);
    if (contiguous && simple.length < simple.count && simple.stride == part->pieces[0].len)
        store_solid(pattern, part, &simple);
    else if (!(contiguous && simple.length == simple.count) && wants_loop(pattern, part, simple.count))
        add_much(pattern, part, &simple);
    else
        store(pattern, part, &simple);
}

void sagoi_pattern_add_repeated(sagoi_pattern *pattern, const sagoi_pattern *part, int64_t off, int64_t count,
                                int64_t stride) {
    const sagoi_blocks blocks = {.off = off, .count = count, .length = 1, .step = stride};
    sagoi_pattern_add_blocks(pattern, part, &blocks);
}
