/* Where the laps of a pattern with loops lie.  Used by the files of this folder only. */
#ifndef SAGOI_LOOPS_H
#define SAGOI_LOOPS_H

#include "base/checked.h"
#include "extent/pattern.h"

/* Bytes by which repetition `e` of a loop is moved. */
static inline int64_t sagoi_loop_moved(const sagoi_loop *loop, int64_t e) {
    return e < loop->length ? e * loop->stride : e / loop->length * loop->step + e % loop->length * loop->stride;
}

/* Bytes by which a lap is moved; the outermost loop that the lap reaches needs no division. */
static inline int64_t sagoi_lap_moved(const sagoi_pattern *pattern, int64_t lap) {
    const sagoi_loop *loop = pattern->loops;
    int64_t moved = 0;
    for (; lap >= loop->count; loop++) {
        moved += sagoi_loop_moved(loop, lap % loop->count);
        lap /= loop->count;
    }
    return moved + sagoi_loop_moved(loop, lap);
}

/* The first repetition of an ascending loop that has an end after `offset`; if none has, the last one. */
static inline int64_t sagoi_loop_after(const sagoi_loop *loop, int64_t offset) {
    int64_t past = offset - loop->high, before = 0;
    if (past < 0)
        return 0;
    if (loop->length < loop->count) {
        before = past / loop->step * loop->length;
        past %= loop->step;
    }
    before += past / loop->stride < loop->length ? past / loop->stride + 1 : loop->length;
    return sagoi_min(before, loop->count - 1);
}

/* The first lap of a sorted pattern that has an end after `offset`; if none has, the last one. */
static inline int64_t sagoi_lap_after(const sagoi_pattern *pattern, int64_t offset) {
    int64_t lap = 0;
    for (int64_t i = pattern->nloops - 1; i >= 0; i--) {
        const sagoi_loop *loop = &pattern->loops[i];
        int64_t e = sagoi_loop_after(loop, offset);
        offset -= sagoi_loop_moved(loop, e);
        lap = lap * loop->count + e;
    }
    return lap;
}

/* Does every repetition start at or after the end of the one before, if each reaches from low to high? */
static inline bool sagoi_loop_ascends(const sagoi_loop *loop, int64_t low, int64_t high) {
    int64_t size = high - low, turn = loop->step - (loop->length - 1) * loop->stride;
    return (loop->length == 1 || loop->stride >= size) && (loop->length == loop->count || turn >= size);
}

/* Changes the bounds of one repetition to those of all; true: they do not fit. */
static inline bool sagoi_loop_bounds(const sagoi_loop *loop, int64_t *low, int64_t *high) {
    int64_t length = loop->length, last = loop->count - 1, full = loop->count / length * length;
    /* First and last part of the first block, of the last full block, and of the shorter block. */
    const int64_t corners[] = {0, length - 1, full - length, full - 1, sagoi_min(full, last), last};
    int64_t first_low = *low, first_high = *high;
    for (size_t i = 0; i < sizeof corners / sizeof *corners; i++) {
        int64_t in_block, moved, start, end;
        if (sagoi_mul(corners[i] % length, loop->stride, &in_block) ||
            sagoi_mul(corners[i] / length, loop->step, &moved) || sagoi_add(moved, in_block, &moved) ||
            sagoi_add(first_low, moved, &start) || sagoi_add(first_high, moved, &end))
            return true;
        *low = sagoi_min(*low, start);
        *high = sagoi_max(*high, end);
    }
    return *low < -SAGOI_OFFSET_MAX || *high > SAGOI_OFFSET_MAX;
}

#endif
