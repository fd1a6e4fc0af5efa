/* Building patterns: runs come in stream order, one after another, and become the fewest pieces.
 *
 * The newest run stays pending, because the next run may join it.  A run that is appended either prolongs the
 * train at the end; or that train, if it is short, is dissolved into the list before it.  So regular stretches
 * become trains and irregular ones become lists, in one pass, and without looking back at more than a few runs.
 * Repetitions are in repeat.c, walking is in cursor.c. */
#include "extent/pattern.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "extent/loops.h"

/* Runs of the shortest train: fewer runs cost less in a list. */
enum { TRAIN_MIN = 5 };

void sagoi_pattern_init(sagoi_pattern *pattern, sagoi_budget *budget) {
    memset(pattern, 0, sizeof *pattern);
    pattern->budget = budget;
}

void sagoi_pattern_cleanup(sagoi_pattern *pattern) {
    sagoi_budget_free(pattern->budget, pattern->pieces);
    sagoi_budget_free(pattern->budget, pattern->runs);
    sagoi_budget_free(pattern->budget, pattern->loops);
    sagoi_pattern_init(pattern, pattern->budget);
}

/* Makes room for one more than `count` elements; false: there is no memory. */
static bool grow(sagoi_pattern *pattern, void **array, int64_t count, int64_t *capacity, int64_t size) {
    bool room = sagoi_budget_grow(pattern->budget, array, count + 1, capacity, size);
    if (!room)
        pattern->failed = SAGO_ERR_MEMORY;
    return room;
}

static sagoi_piece *last_piece(sagoi_pattern *pattern) {
    return pattern->npieces ? &pattern->pieces[pattern->npieces - 1] : NULL;
}

static sagoi_piece *push_piece(sagoi_pattern *pattern) {
    if (!grow(pattern, (void **)&pattern->pieces, pattern->npieces, &pattern->pieces_capacity,
              sizeof *pattern->pieces))
        return NULL;
    return &pattern->pieces[pattern->npieces++];
}

static void push_train(sagoi_pattern *pattern, int64_t off, int64_t len, int64_t count, int64_t stride) {
    sagoi_piece *piece = push_piece(pattern);
    if (!piece)
        return;
    *piece = (sagoi_piece){.off = off,
                           .end = off + (count - 1) * stride + len,
                           .pos = pattern->bytes,
                           .count = count,
                           .len = len,
                           .stride = stride};
    pattern->bytes += count * len;
}

/* Can a run be coded after `end` in 8 bytes? */
static bool fits_list(int64_t end, int64_t off, int64_t len) {
    int64_t gap = off - end;
    return gap >= INT32_MIN && gap <= INT32_MAX && len <= UINT32_MAX;
}

/* Appends one run to the list piece at the end of the pattern, starting a list if there is none with room. */
static void push_list_run(sagoi_pattern *pattern, int64_t off, int64_t len, int64_t pos) {
    sagoi_piece *piece = last_piece(pattern);
    if (!grow(pattern, (void **)&pattern->runs, pattern->nruns, &pattern->runs_capacity, sizeof *pattern->runs))
        return;
    bool joins = piece && piece->len == 0 && piece->count < SAGOI_LIST_MAX && fits_list(piece->end, off, len);
    if (!joins) {
        piece = push_piece(pattern);
        if (!piece)
            return;
        *piece = (sagoi_piece){.off = off, .end = off, .pos = pos, .stride = pattern->nruns};
    }
    int64_t gap = off - piece->end;
    pattern->runs[pattern->nruns++] = (sagoi_run){.gap = (int32_t)gap, .len = (uint32_t)len};
    piece->count++;
    piece->end = off + len;
}

/* Turns a short train at the end of the pattern into runs of a list. */
static void dissolve_short_train(sagoi_pattern *pattern) {
    sagoi_piece *piece = last_piece(pattern);
    if (!piece || piece->len == 0 || piece->count >= TRAIN_MIN || piece->len > UINT32_MAX)
        return;
    sagoi_piece train = *piece;
    pattern->npieces--;
    for (int64_t i = 0; i < train.count; i++)
        push_list_run(pattern, train.off + i * train.stride, train.len, train.pos + i * train.len);
}

/* Does a run of this length at `off` prolong the train? */
static bool prolongs(const sagoi_piece *train, int64_t off, int64_t len) {
    if (!train || train->len != len)
        return false;
    return train->count == 1 || off == train->off + train->count * train->stride;
}

static void append_run(sagoi_pattern *pattern, int64_t off, int64_t len) {
    sagoi_piece *piece = last_piece(pattern);
    if (prolongs(piece, off, len)) {
        if (piece->count == 1)
            piece->stride = off - piece->off;
        piece->count++;
        piece->end = off + len;
        pattern->bytes += len;
        return;
    }
    dissolve_short_train(pattern);
    push_train(pattern, off, len, 1, len);
}

/* Stores all laps, since a run comes after them, and then the run.  Called seldom, so it is kept apart from other
 * code. */
__attribute__((noinline, cold)) static void add_after_laps(sagoi_pattern *pattern, int64_t off, int64_t len) {
    sagoi_pattern laps = *pattern;
    sagoi_pattern_init(pattern, laps.budget);
    sagoi_pattern_add_pattern(pattern, &laps, 0);
    sagoi_pattern_cleanup(&laps);
    sagoi_pattern_add(pattern, off, len);
}

static void append_pending(sagoi_pattern *pattern) {
    if (pattern->pending_len > 0)
        append_run(pattern, pattern->pending_off, pattern->pending_len);
    pattern->pending_len = 0;
}

/* Refuses what would overflow later: every offset and end must stay within +-SAGOI_OFFSET_MAX. */
static bool in_range(sagoi_pattern *pattern, int64_t off, int64_t len) {
    int64_t end, total;
    bool bad = len < 0 || sagoi_add(off, len, &end) || off < -SAGOI_OFFSET_MAX || end > SAGOI_OFFSET_MAX ||
               sagoi_add(pattern->bytes, pattern->pending_len, &total) || sagoi_add(total, len, &total) ||
               total > SAGOI_OFFSET_MAX;
    if (bad)
        pattern->failed = SAGO_ERR_OVERFLOW;
    return !bad;
}

void sagoi_pattern_add(sagoi_pattern *pattern, int64_t off, int64_t len) {
    if (len == 0 || pattern->failed || !in_range(pattern, off, len))
        return;
    if (pattern->pending_len > 0 && pattern->pending_off + pattern->pending_len == off) {
        pattern->pending_len += len;
        return;
    }
    if (pattern->nloops > 0) {
        add_after_laps(pattern, off, len);
        return;
    }
    append_pending(pattern);
    pattern->run_count++;
    pattern->pending_off = off;
    pattern->pending_len = len;
}

/* Refuses a train that would overflow later; *bytes: of the whole train. */
static bool train_in_range(sagoi_pattern *pattern, const sagoi_piece *train, int64_t *bytes) {
    int64_t last;
    bool bad = sagoi_mul(train->count - 1, train->stride, &last) || sagoi_add(train->off, last, &last) ||
               sagoi_mul(train->count, train->len, bytes) || *bytes > SAGOI_OFFSET_MAX ||
               !in_range(pattern, last, train->len) || !in_range(pattern, train->off, train->len);
    if (bad)
        pattern->failed = SAGO_ERR_OVERFLOW;
    return !bad;
}

void sagoi_pattern_add_train(sagoi_pattern *pattern, int64_t off, int64_t len, int64_t count, int64_t stride) {
    int64_t bytes;
    const sagoi_piece train = {.off = off, .len = len, .count = count, .stride = stride};
    if (len == 0 || count <= 0 || pattern->failed || !train_in_range(pattern, &train, &bytes))
        return;
    if (stride == len) {
        sagoi_pattern_add(pattern, off, bytes);
        return;
    }
    if (count < TRAIN_MIN) {
        for (int64_t i = 0; i < count; i++)
            sagoi_pattern_add(pattern, off + i * stride, len);
        return;
    }
    /* The first run may join the pending one, and the last run stays pending for the next. */
    sagoi_pattern_add(pattern, off, len);
    append_pending(pattern);
    sagoi_piece *piece = last_piece(pattern);
    int64_t from = 1, middle = count - 2;
    if (prolongs(piece, off + stride, len) && (piece->count == 1 || piece->stride == stride)) {
        piece->stride = stride;
        piece->count += middle;
        piece->end = piece->off + (piece->count - 1) * stride + len;
        pattern->bytes += middle * len;
    } else {
        dissolve_short_train(pattern);
        push_train(pattern, off + from * stride, len, middle, stride);
    }
    pattern->run_count += middle;
    sagoi_pattern_add(pattern, off + (count - 1) * stride, len);
}

static void add_list(sagoi_pattern *pattern, const sagoi_run *runs, int64_t count, int64_t off) {
    for (int64_t i = 0; i < count && !pattern->failed; i++) {
        if (i > 0)
            off += (int64_t)runs[i - 1].len + runs[i].gap;
        sagoi_pattern_add(pattern, off, runs[i].len);
    }
}

/* Appends one lap of the part. */
static void add_lap(sagoi_pattern *pattern, const sagoi_pattern *part, int64_t off) {
    for (int64_t i = 0; i < part->npieces && !pattern->failed; i++) {
        const sagoi_piece *piece = &part->pieces[i];
        int64_t at;
        if (sagoi_add(off, piece->off, &at))
            pattern->failed = SAGO_ERR_OVERFLOW;
        else if (piece->len == 0)
            add_list(pattern, part->runs + piece->stride, piece->count, at);
        else
            sagoi_pattern_add_train(pattern, at, piece->len, piece->count, piece->stride);
    }
}

void sagoi_pattern_add_pattern(sagoi_pattern *pattern, const sagoi_pattern *part, int64_t off) {
    add_lap(pattern, part, off);
    for (int64_t lap = 1; lap < part->laps && !pattern->failed; lap++) {
        int64_t at;
        if (sagoi_add(off, sagoi_lap_moved(part, lap), &at))
            pattern->failed = SAGO_ERR_OVERFLOW;
        else
            add_lap(pattern, part, at);
    }
}

/* Finds the smallest offset and the largest end of a piece, and whether its runs ascend without overlap. */
static bool piece_bounds(const sagoi_pattern *pattern, const sagoi_piece *piece, int64_t *low, int64_t *high) {
    if (piece->len > 0) {
        int64_t last = piece->off + (piece->count - 1) * piece->stride;
        *low = sagoi_min(piece->off, last);
        *high = sagoi_max(piece->off, last) + piece->len;
        return piece->count == 1 || piece->stride >= piece->len;
    }
    bool ascends = true;
    int64_t off = piece->off;
    *low = off;
    *high = off;
    for (int64_t i = 0; i < piece->count; i++) {
        const sagoi_run *run = &pattern->runs[piece->stride + i];
        if (i > 0) {
            ascends = ascends && run->gap >= 0;
            off += run->gap;
        }
        *low = sagoi_min(*low, off);
        off += run->len;
        *high = sagoi_max(*high, off);
    }
    return ascends;
}

/* Sets low, high and sorted: of one lap, then of all laps. */
static void find_bounds(sagoi_pattern *pattern) {
    pattern->sorted = true;
    for (int64_t i = 0; i < pattern->npieces; i++) {
        int64_t low, high;
        bool ascends = piece_bounds(pattern, &pattern->pieces[i], &low, &high);
        pattern->sorted = pattern->sorted && ascends && (i == 0 || low >= pattern->high);
        pattern->low = i == 0 ? low : sagoi_min(pattern->low, low);
        pattern->high = i == 0 ? high : sagoi_max(pattern->high, high);
    }
    for (int64_t i = 0; i < pattern->nloops; i++) {
        const sagoi_loop *loop = &pattern->loops[i];
        pattern->sorted = pattern->sorted && sagoi_loop_ascends(loop, pattern->low, pattern->high);
        /* The bounds fit, or the loop would not have been added. */
        (void)sagoi_loop_bounds(loop, &pattern->low, &pattern->high);
    }
}

static void give_back(sagoi_pattern *pattern, void **array, int64_t count, int64_t *capacity, int64_t size) {
    if (count == *capacity || *capacity == 0)
        return;
    void *moved = sagoi_budget_realloc(pattern->budget, *array, count * size);
    if (!moved)
        return;
    *array = moved;
    *capacity = count;
}

static sagoi_hash hash_contents(const sagoi_pattern *pattern) {
    sagoi_hash none = {0, 0};
    sagoi_hash pieces =
        sagoi_hash_bytes(pattern->pieces, pattern->npieces * (int64_t)sizeof *pattern->pieces, none);
    sagoi_hash runs = sagoi_hash_bytes(pattern->runs, pattern->nruns * (int64_t)sizeof *pattern->runs, pieces);
    if (pattern->nloops == 0)
        return runs;
    return sagoi_hash_bytes(pattern->loops, pattern->nloops * (int64_t)sizeof *pattern->loops, runs);
}

sago_status sagoi_pattern_finish(sagoi_pattern *pattern) {
    append_pending(pattern);
    if (pattern->nloops == 0)
        dissolve_short_train(pattern);
    if (pattern->failed) {
        sago_status why = pattern->failed;
        int64_t runs = pattern->run_count;
        sagoi_pattern_cleanup(pattern);
        return sagoi_fail(why, "%s after %lld runs",
                          why == SAGO_ERR_MEMORY ? "no memory for a list of runs" : "offsets go beyond 2^61",
                          (long long)runs);
    }
    /* A single run becomes a train of one, so that contiguous data is easily recognised. */
    sagoi_piece *only = last_piece(pattern);
    if (pattern->npieces == 1 && only->len == 0 && only->count == 1) {
        only->len = pattern->runs[only->stride].len;
        only->stride = only->len;
    }
    find_bounds(pattern);
    if (pattern->nloops == 0)
        pattern->lap_bytes = pattern->bytes;
    give_back(pattern, (void **)&pattern->pieces, pattern->npieces, &pattern->pieces_capacity,
              sizeof *pattern->pieces);
    give_back(pattern, (void **)&pattern->runs, pattern->nruns, &pattern->runs_capacity, sizeof *pattern->runs);
    pattern->hash = hash_contents(pattern);
    return SAGO_OK;
}

sago_status sagoi_pattern_of_train(sagoi_pattern *pattern, sagoi_piece *piece) {
    int64_t bytes;
    sagoi_pattern_init(pattern, NULL);
    if (!train_in_range(pattern, piece, &bytes))
        return sagoi_fail(SAGO_ERR_OVERFLOW, "%lld runs go beyond 2^61", (long long)piece->count);
    if (piece->stride == piece->len)
        *piece = (sagoi_piece){.off = piece->off, .len = bytes, .count = 1, .stride = bytes};
    piece->end = piece->off + (piece->count - 1) * piece->stride + piece->len;
    piece->pos = 0;
    pattern->pieces = piece;
    pattern->npieces = 1;
    pattern->bytes = pattern->lap_bytes = bytes;
    pattern->run_count = piece->count;
    find_bounds(pattern);
    pattern->hash = hash_contents(pattern);
    return SAGO_OK;
}

bool sagoi_pattern_add_placed(sagoi_pattern *pattern, int64_t off, int64_t len, int64_t pos) {
    if (pattern->npieces == 0)
        pattern->low = off;
    push_train(pattern, off, len, 1, len);
    if (pattern->failed)
        return false;
    last_piece(pattern)->pos = pos;
    pattern->high = off + len;
    pattern->run_count++;
    pattern->permuted = true;
    return true;
}

/* The hash of a finished pattern is computed once, since a view serves many calls. */
sagoi_hash sagoi_pattern_hash(const sagoi_pattern *pattern) {
    return pattern->permuted ? hash_contents(pattern) : pattern->hash;
}

/* ---- At what distance the runs repeat ---- */

/* The period inside of one tile: of the repetitions of a train, or of the outermost loop. */
static sagoi_period period_in_tile(const sagoi_pattern *pattern) {
    const sagoi_period none = {0, 0};
    if (pattern->nloops > 0) {
        const sagoi_loop *outer = &pattern->loops[pattern->nloops - 1];
        bool even = outer->length == outer->count && outer->stride > 0;
        return even ? (sagoi_period){outer->stride, outer->high - pattern->low} : none;
    }
    const sagoi_piece *piece = pattern->pieces;
    bool train = pattern->npieces == 1 && piece->len > 0 && piece->count > 1 && piece->stride > 0;
    return train ? (sagoi_period){piece->stride, piece->len} : none;
}

sagoi_period sagoi_extents_period(const sagoi_extents *extents) {
    const sagoi_pattern *pattern = extents->pattern;
    const sagoi_period none = {0, 0};
    if (pattern->npieces == 0 || pattern->permuted || !pattern->sorted || extents->begin % pattern->bytes != 0)
        return none;
    sagoi_period found = extents->end - extents->begin > pattern->bytes
                             ? (sagoi_period){extents->extent, pattern->high - pattern->low}
                             : period_in_tile(pattern);
    return found.length > 0 && found.length <= found.bytes ? found : none;
}
