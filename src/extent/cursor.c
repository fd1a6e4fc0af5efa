/* Walking extents.  A cursor stands at a run, in a piece, in a lap, in a tile.  It hands out the longest span that
 * lies below the caller's limit, so that the loops over runs are the caller's, and tight. */
#include "extent/pattern.h"

#include "base/checked.h"
#include "extent/loops.h"

static const sagoi_piece *piece_at(const sagoi_cursor *cursor) {
    return &cursor->extents.pattern->pieces[cursor->piece];
}

static int64_t run_length(const sagoi_cursor *cursor) {
    const sagoi_piece *piece = piece_at(cursor);
    return piece->len ? piece->len : cursor->extents.pattern->runs[piece->stride + cursor->index].len;
}

/* Goes to the origin of a lap of a tile. */
static void enter_lap(sagoi_cursor *cursor, int64_t tile, int64_t lap) {
    const sagoi_extents *extents = &cursor->extents;
    const sagoi_pattern *pattern = extents->pattern;
    cursor->tile = tile;
    cursor->lap = lap;
    cursor->lap_pos = tile * pattern->bytes;
    cursor->lap_off = sagoi_add_wrapped(extents->base, sagoi_mul_wrapped(tile, extents->extent));
    if (lap > 0) {
        cursor->lap_pos += lap * pattern->lap_bytes;
        cursor->lap_off = sagoi_add_wrapped(cursor->lap_off, sagoi_lap_moved(pattern, lap));
    }
}

/* Goes to the first run of a piece of the lap. */
static void enter_piece(sagoi_cursor *cursor, int64_t piece) {
    const sagoi_piece *entered = &cursor->extents.pattern->pieces[piece];
    cursor->piece = piece;
    cursor->index = 0;
    cursor->skip = 0;
    cursor->pos = cursor->lap_pos + entered->pos;
    cursor->off = sagoi_add_wrapped(cursor->lap_off, entered->off);
}

/* Goes to the piece after this one. */
static void next_piece(sagoi_cursor *cursor) {
    const sagoi_pattern *pattern = cursor->extents.pattern;
    if (cursor->piece + 1 < pattern->npieces) {
        enter_piece(cursor, cursor->piece + 1);
        return;
    }
    if (pattern->permuted) { /* a permuted pattern has one tile only */
        cursor->skip = 0;
        cursor->pos = cursor->extents.end;
        return;
    }
    if (cursor->lap + 1 < pattern->laps)
        enter_lap(cursor, cursor->tile, cursor->lap + 1);
    else
        enter_lap(cursor, cursor->tile + 1, 0);
    enter_piece(cursor, 0);
}

/* Goes `count` runs further in the piece, or to the next piece. */
static void step_runs(sagoi_cursor *cursor, int64_t count, int64_t bytes, int64_t next_off) {
    const sagoi_piece *piece = piece_at(cursor);
    if (cursor->index + count == piece->count) {
        next_piece(cursor);
        return;
    }
    cursor->index += count;
    cursor->skip = 0;
    cursor->pos += bytes;
    cursor->off = next_off;
}

/* The offset at which the run after run `index` starts, if that run starts at `off`. */
static int64_t after_run(const sagoi_cursor *cursor, int64_t index, int64_t off) {
    const sagoi_piece *piece = piece_at(cursor);
    if (piece->len)
        return sagoi_add_wrapped(off, piece->stride);
    const sagoi_run *run = &cursor->extents.pattern->runs[piece->stride + index];
    int64_t gap = index + 1 < piece->count ? run[1].gap : 0;
    return sagoi_add_wrapped(off, (int64_t)run[0].len + gap);
}

/* Goes to stream position `pos` inside of the current piece. */
static void skip_to_pos(sagoi_cursor *cursor, int64_t pos) {
    const sagoi_piece *piece = piece_at(cursor);
    if (piece->len) {
        cursor->index = (pos - cursor->pos) / piece->len;
        cursor->off += cursor->index * piece->stride;
        cursor->pos += cursor->index * piece->len;
    } else {
        for (int64_t len = run_length(cursor); cursor->pos + len <= pos; len = run_length(cursor)) {
            cursor->off = after_run(cursor, cursor->index, cursor->off);
            cursor->pos += len;
            cursor->index++;
        }
    }
    cursor->skip = pos - cursor->pos;
}

/* Goes to a position of the uncut stream below extents.end. */
static void seek_stream(sagoi_cursor *cursor, int64_t pos) {
    const sagoi_pattern *pattern = cursor->extents.pattern;
    int64_t tile = pos / pattern->bytes, in_lap = pos % pattern->bytes, lap = 0;
    if (pattern->nloops > 0) {
        lap = in_lap / pattern->lap_bytes;
        in_lap %= pattern->lap_bytes;
    }
    int64_t low = 0, high = pattern->npieces - 1;
    while (low < high) { /* finds the last piece that starts at or before in_lap */
        int64_t middle = low + (high - low + 1) / 2;
        if (pattern->pieces[middle].pos <= in_lap)
            low = middle;
        else
            high = middle - 1;
    }
    enter_lap(cursor, tile, lap);
    enter_piece(cursor, low);
    skip_to_pos(cursor, pos);
}

void sagoi_cursor_init(sagoi_cursor *cursor, const sagoi_extents *extents) {
    *cursor = (sagoi_cursor){.extents = *extents};
    cursor->pos = extents->begin;
    if (extents->begin >= extents->end)
        return;
    if (extents->pattern->permuted) {
        enter_lap(cursor, 0, 0);
        enter_piece(cursor, 0);
    } else {
        seek_stream(cursor, extents->begin);
    }
}

void sagoi_cursor_seek_pos(sagoi_cursor *cursor, int64_t pos) {
    pos += cursor->extents.begin;
    cursor->skip = 0;
    cursor->pos = pos;
    if (pos < cursor->extents.end)
        seek_stream(cursor, pos);
}

/* The first tile that has bytes at or after `offset`, if there is one. */
static int64_t tile_for(const sagoi_extents *extents, int64_t offset) {
    /* >= 0: tile 0 ends before the offset */
    int64_t past = sagoi_distance(sagoi_distance(offset, extents->base), extents->pattern->high);
    int64_t first = extents->begin / extents->pattern->bytes;
    if (past < 0 || extents->extent <= 0)
        return first;
    return sagoi_max(first, past / extents->extent + 1);
}

/* Goes to the first byte at or after `offset` in the current piece, which ends after `offset`. */
static void skip_to_offset(sagoi_cursor *cursor, int64_t offset) {
    const sagoi_piece *piece = piece_at(cursor);
    int64_t past = sagoi_distance(offset, cursor->off);
    if (piece->len && past > piece->len && piece->count > 1) {
        int64_t index = (past - piece->len) / piece->stride;
        cursor->index = index;
        cursor->off += index * piece->stride;
        cursor->pos += index * piece->len;
    }
    for (int64_t len = run_length(cursor); len <= sagoi_distance(offset, cursor->off); len = run_length(cursor)) {
        cursor->off = after_run(cursor, cursor->index, cursor->off);
        cursor->pos += len;
        cursor->index++;
    }
    cursor->skip = sagoi_max(0, sagoi_distance(offset, cursor->off));
}

/* Goes to the first piece that ends after `offset`; false: there is none. */
static bool enter_piece_after(sagoi_cursor *cursor, int64_t offset) {
    const sagoi_pattern *pattern = cursor->extents.pattern;
    int64_t tile = pattern->permuted ? 0 : tile_for(&cursor->extents, offset);
    if (!pattern->permuted && tile > (cursor->extents.end - 1) / pattern->bytes)
        return false;
    enter_lap(cursor, tile, 0);
    if (pattern->nloops > 0)
        enter_lap(cursor, tile, sagoi_lap_after(pattern, sagoi_distance(offset, cursor->lap_off)));
    int64_t in_lap = sagoi_distance(offset, cursor->lap_off), low = 0, high = pattern->npieces;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (pattern->pieces[middle].end > in_lap)
            high = middle;
        else
            low = middle + 1;
    }
    if (low == pattern->npieces)
        return false;
    enter_piece(cursor, low);
    return true;
}

void sagoi_cursor_seek(sagoi_cursor *cursor, int64_t offset) {
    const sagoi_extents *extents = &cursor->extents;
    const sagoi_pattern *pattern = extents->pattern;
    sagoi_cursor_init(cursor, extents);
    if (extents->begin >= extents->end)
        return;
    sagoi_cursor found = {.extents = *extents};
    if (!enter_piece_after(&found, offset) || found.pos >= extents->end) {
        *cursor = found;
        cursor->pos = extents->end;
        return;
    }
    skip_to_offset(&found, offset);
    if (pattern->permuted || found.pos + found.skip > extents->begin)
        *cursor = found;
}

/* How many runs of a list, from the current one on, lie wholly below the limits.  Sets their bytes and the next
 * offset, which nobody needs if no runs are left. */
static int64_t whole_list_runs(const sagoi_cursor *cursor, int64_t limit, int64_t *bytes, int64_t *next_off) {
    const sagoi_extents *extents = &cursor->extents;
    const sagoi_pattern *pattern = extents->pattern;
    const sagoi_piece *piece = piece_at(cursor);
    int64_t end_pos = cursor->piece + 1 < pattern->npieces ? piece[1].pos : pattern->lap_bytes;
    if (piece->end <= sagoi_distance(limit, cursor->lap_off) && cursor->lap_pos + end_pos <= extents->end)
        return piece->count - cursor->index;
    /* The last run does not fit, at the latest. */
    const sagoi_run *first = pattern->runs + piece->stride + cursor->index, *run = first;
    int64_t off = cursor->off, sum = 0, room = extents->end - cursor->pos;
    while (sum + run->len <= room && off <= limit - run->len) {
        sum += run->len;
        off = sagoi_add_wrapped(off, (int64_t)run->len + run[1].gap);
        run++;
    }
    *bytes = sum;
    *next_off = off;
    return run - first;
}

/* Does a train lie wholly below the limits?  Most do, and then nothing has to be divided. */
static bool is_whole_train(const sagoi_cursor *cursor, const sagoi_piece *piece, int64_t limit) {
    bool below =
        limit == SAGOI_NO_LIMIT || (piece->stride > 0 && piece->end <= sagoi_distance(limit, cursor->lap_off));
    return cursor->index == 0 && below && piece->count * piece->len <= cursor->extents.end - cursor->pos;
}

/* How many runs of a train or a list lie wholly below the limits. */
static int64_t whole_runs(const sagoi_cursor *cursor, int64_t limit, int64_t *bytes, int64_t *next_off) {
    const sagoi_piece *piece = piece_at(cursor);
    if (piece->len == 0)
        return whole_list_runs(cursor, limit, bytes, next_off);
    if (is_whole_train(cursor, piece, limit))
        return piece->count;
    int64_t below = sagoi_distance(limit, cursor->off);
    if (piece->len > below)
        return 0;
    int64_t room = cursor->extents.end - cursor->pos;
    int64_t count = sagoi_min(piece->count - cursor->index, room / piece->len);
    if (piece->stride > 0 && count > 1)
        count = sagoi_min(count, (below - piece->len) / piece->stride + 1);
    *bytes = count * piece->len;
    *next_off = sagoi_add_wrapped(cursor->off, sagoi_mul_wrapped(count, piece->stride));
    return count;
}

bool sagoi_cursor_next(sagoi_cursor *cursor, int64_t limit, sagoi_span *span) {
    int64_t end = cursor->extents.end;
    if (cursor->pos + cursor->skip >= end || cursor->off + cursor->skip >= limit)
        return false;
    const sagoi_piece *piece = piece_at(cursor);
    span->off = cursor->off + cursor->skip;
    span->pos = cursor->pos + cursor->skip - cursor->extents.begin;
    span->runs = NULL;
    int64_t bytes = 0, next_off = 0;
    int64_t count = cursor->skip ? 0 : whole_runs(cursor, limit, &bytes, &next_off);
    if (count > 0) {
        span->count = count;
        span->len = piece->len;
        span->stride = piece->stride;
        if (!piece->len)
            span->runs = cursor->extents.pattern->runs + piece->stride + cursor->index;
        step_runs(cursor, count, bytes, next_off);
        return true;
    }
    /* Hands out a part of one run: from `skip` to the limit, or to the end of the stream. */
    int64_t len = run_length(cursor);
    int64_t until = sagoi_min(len, sagoi_min(end - cursor->pos, sagoi_distance(limit, cursor->off)));
    span->count = 1;
    span->len = until - cursor->skip;
    span->stride = span->len;
    if (until == len)
        step_runs(cursor, 1, len, after_run(cursor, cursor->index, cursor->off));
    else
        cursor->skip = until;
    return true;
}

bool sagoi_cursor_next_lap(sagoi_cursor *cursor, sagoi_lap *lap) {
    const sagoi_pattern *pattern = cursor->extents.pattern;
    if (cursor->pos >= cursor->extents.end || cursor->index > 0 || cursor->skip > 0 ||
        pattern->lap_bytes > cursor->extents.end - cursor->lap_pos)
        return false;
    *lap = (sagoi_lap){.pieces = piece_at(cursor),
                       .runs = pattern->runs,
                       .count = pattern->npieces - cursor->piece,
                       .off = cursor->lap_off};
    cursor->piece = pattern->npieces - 1;
    next_piece(cursor);
    return true;
}

int64_t sagoi_span_bytes(const sagoi_span *span) {
    if (!span->runs)
        return span->count * span->len;
    int64_t bytes = 0;
    for (int64_t i = 0; i < span->count; i++)
        bytes += span->runs[i].len;
    return bytes;
}

int64_t sagoi_span_bytes_below(const sagoi_span *span, int64_t limit) {
    if (span->off >= limit)
        return 0;
    if (!span->runs) {
        /* Only whole runs are left. */
        int64_t before = sagoi_min(span->count - 1, (limit - 1 - span->off) / span->stride);
        return before * span->len + sagoi_min(span->len, limit - span->off - before * span->stride);
    }
    int64_t bytes = 0;
    for (sagoi_walk run = sagoi_walk_span(span); sagoi_walk_run(&run) && run.off < limit;)
        bytes += sagoi_min(run.len, limit - run.off);
    return bytes;
}

/* One past the offset of the last byte of the stream. */
static int64_t last_end(const sagoi_extents *extents) {
    sagoi_cursor cursor = {.extents = *extents};
    seek_stream(&cursor, extents->end - 1);
    return cursor.off + cursor.skip + 1;
}

/* Is the request a part of one run, as most are?  Then its place needs no walk.  The request has bytes. */
static bool is_part_of_one_run(const sagoi_extents *extents, int64_t *low) {
    const sagoi_pattern *pattern = extents->pattern;
    int64_t tile = extents->begin / pattern->bytes;
    if (!sagoi_pattern_contiguous(pattern) || pattern->permuted || (extents->end - 1) / pattern->bytes != tile)
        return false;
    int64_t origin = sagoi_add_wrapped(extents->base, sagoi_mul_wrapped(tile, extents->extent));
    *low = sagoi_add_wrapped(origin, pattern->pieces[0].off + extents->begin % pattern->bytes);
    return true;
}

bool sagoi_extents_walkable(const sagoi_extents *extents) {
    const sagoi_pattern *pattern = extents->pattern;
    if (pattern->permuted || extents->begin >= extents->end)
        return true;
    bool one_tile = extents->begin / pattern->bytes == (extents->end - 1) / pattern->bytes;
    return pattern->sorted && (one_tile || extents->extent >= pattern->high - pattern->low);
}

void sagoi_extents_bounds(const sagoi_extents *extents, int64_t *low, int64_t *high) {
    *low = 0;
    *high = 0;
    if (extents->begin >= extents->end)
        return;
    if (extents->pattern->permuted) {
        *low = extents->base + extents->pattern->low;
        *high = extents->base + extents->pattern->high;
        return;
    }
    if (is_part_of_one_run(extents, low)) {
        *high = *low + extents->end - extents->begin;
        return;
    }
    sagoi_cursor cursor;
    sagoi_cursor_init(&cursor, extents);
    *low = cursor.off + cursor.skip;
    *high = last_end(extents);
}

/* Do the bytes form one run?  Offsets must ascend; less than a tile may still be the end of one run and the
 * beginning of the next. */
static bool is_one_run(const sagoi_extents *extents, int64_t bytes) {
    sagoi_cursor cursor;
    int64_t low;
    if (is_part_of_one_run(extents, &low))
        return true;
    if (extents->pattern->permuted)
        return extents->pattern->high - extents->pattern->low == bytes;
    sagoi_cursor_init(&cursor, extents);
    return last_end(extents) - cursor.off - cursor.skip == bytes;
}

int64_t sagoi_extents_runs(const sagoi_extents *extents) {
    const sagoi_pattern *pattern = extents->pattern;
    int64_t bytes = sagoi_extents_bytes(extents);
    if (bytes == 0)
        return 0;
    int64_t tiles = bytes / pattern->bytes, remainder = bytes % pattern->bytes;
    int64_t runs = tiles * pattern->run_count;
    if (remainder > 0)
        runs += sagoi_max(1, (int64_t)((double)pattern->run_count * (double)remainder / (double)pattern->bytes));
    return runs == 1 && !is_one_run(extents, bytes) ? 2 : runs;
}

uint64_t sagoi_extents_cover(const sagoi_extents *extents, uint64_t key) {
    sagoi_cursor cursor;
    sagoi_span span;
    uint64_t sum = 0;
    sagoi_cursor_init(&cursor, extents);
    while (sagoi_cursor_next(&cursor, SAGOI_NO_LIMIT, &span)) {
        for (sagoi_walk run = sagoi_walk_span(&span); sagoi_walk_run(&run);)
            sum += sagoi_mix(key, run.off + run.len) - sagoi_mix(key, run.off);
    }
    return sum;
}

/* Where offsets and the stream ascend together, finding the place is enough. */
int64_t sagoi_extents_bytes_below(const sagoi_extents *extents, int64_t offset) {
    sagoi_cursor cursor;
    sagoi_span span;
    int64_t bytes = 0;
    sagoi_cursor_init(&cursor, extents);
    if (extents->pattern->permuted) {
        while (sagoi_cursor_next(&cursor, offset, &span))
            bytes += sagoi_span_bytes(&span);
        return bytes;
    }
    sagoi_cursor_seek(&cursor, offset);
    bytes = sagoi_min(cursor.pos + cursor.skip, extents->end) - extents->begin;
    return sagoi_max(0, bytes);
}
