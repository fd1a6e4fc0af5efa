/* The copy loops.  Sago is made for runs of 4 to 64 bytes by the hundred thousand, for each of which a call of
 * memcpy() would cost more than the bytes.  So short runs are copied by a few overlapping loads and stores, and
 * trains of common lengths have loops of their own. */
#include "extent/copy.h"

#include <string.h>

#include "base/checked.h"
#include "extent/codec.h"
#include "extent/staging.h"

/* A run of so many bytes is worth the work of a cursor. */
enum { LONG_RUN = 256 };

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* Copies any length from `half` to 2 * half by two copies, which may overlap in the middle. */
ALWAYS_INLINE void copy_halves(char *restrict to, const char *restrict from, size_t len, size_t half) {
    memcpy(to, from, half);
    memcpy(to + len - half, from + len - half, half);
}

/* Copies 8 to 32 bytes by four words, which may overlap.  No branch depends on the length, which in a list varies
 * from run to run: a branch that is predicted wrong costs more than the copy. */
ALWAYS_INLINE void copy_words(char *restrict to, const char *restrict from, size_t len) {
    size_t last = len - 8, second = last < 8 ? last : 8, third = last < 16 ? last : 16;
    memcpy(to, from, 8);
    memcpy(to + second, from + second, 8);
    memcpy(to + third, from + third, 8);
    memcpy(to + last, from + last, 8);
}

ALWAYS_INLINE void copy_run(char *restrict to, const char *restrict from, size_t len) {
    if (__builtin_constant_p(len)) /* becomes one load and one store */
        memcpy(to, from, len);
    else if (len >= 8 && len <= 32)
        copy_words(to, from, len);
    else if (len > 64)
        memcpy(to, from, len);
    else if (len > 32)
        copy_halves(to, from, len, 32);
    else if (len >= 4)
        copy_halves(to, from, len, 4);
    else if (len >= 2)
        copy_halves(to, from, len, 2);
    else if (len == 1)
        *to = *from;
}

/* Copies one run in either direction; `scatter` is a constant where this is inlined. */
ALWAYS_INLINE void move_run(char *place, char *packed, size_t len, bool scatter) {
    if (scatter)
        copy_run(place, packed, len);
    else
        copy_run(packed, place, len);
}

/* `len` is a constant where this is inlined, except for lengths that are not common. */
ALWAYS_INLINE void move_train(char *place, int64_t stride, char *packed, size_t len, int64_t count, bool scatter) {
    for (int64_t i = 0; i < count; i++) {
        move_run(place, packed, len, scatter);
        place += stride;
        packed += len;
    }
}

ALWAYS_INLINE void move_any_train(const sagoi_span *span, char *place, char *packed, bool scatter) {
    if (span->count == 1) {
        move_run(place, packed, (size_t)span->len, scatter);
        return;
    }
    switch (span->len) {
    case 1:
        move_train(place, span->stride, packed, 1, span->count, scatter);
        break;
    case 2:
        move_train(place, span->stride, packed, 2, span->count, scatter);
        break;
    case 4:
        move_train(place, span->stride, packed, 4, span->count, scatter);
        break;
    case 8:
        move_train(place, span->stride, packed, 8, span->count, scatter);
        break;
    case 16:
        move_train(place, span->stride, packed, 16, span->count, scatter);
        break;
    case 24:
        move_train(place, span->stride, packed, 24, span->count, scatter);
        break;
    default:
        move_train(place, span->stride, packed, (size_t)span->len, span->count, scatter);
    }
}

ALWAYS_INLINE void move_list(const sagoi_span *span, char *place, char *packed, bool scatter) {
    const sagoi_run *run = span->runs;
    move_run(place, packed, run->len, scatter);
    for (int64_t i = 1; i < span->count; i++) {
        place += (int64_t)run->len + run[1].gap;
        packed += run->len;
        run++;
        move_run(place, packed, run->len, scatter);
    }
}

ALWAYS_INLINE void move_span(const sagoi_span *span, char *place, char *packed, bool scatter) {
    if (span->runs)
        move_list(span, place, packed, scatter);
    else
        move_any_train(span, place, packed, scatter);
}

void sagoi_copy_packed(const sagoi_span *span, char *base, int64_t base_off, char *packed, sagoi_packing packing) {
    char *place = base + (span->off - base_off);
    if (packing == SAGOI_SCATTER)
        move_span(span, place, packed, true);
    else
        move_span(span, place, packed, false);
}

/* The cells of an array of structs are pieces of a few short runs: to walk them span by span takes longer than to
 * copy them. */
ALWAYS_INLINE void move_lap(const sagoi_lap *lap, char *base, char *packed, bool scatter) {
    const sagoi_piece *first = lap->pieces;
    for (const sagoi_piece *piece = first; piece < first + lap->count; piece++) {
        const sagoi_span span = {.count = piece->count,
                                 .len = piece->len,
                                 .stride = piece->stride,
                                 .runs = piece->len ? NULL : lap->runs + piece->stride};
        move_span(&span, base + (lap->off + piece->off), packed + (piece->pos - first->pos), scatter);
    }
}

static void copy_lap(const sagoi_lap *lap, char *base, char *packed, sagoi_packing packing) {
    if (packing == SAGOI_SCATTER)
        move_lap(lap, base, packed, true);
    else
        move_lap(lap, base, packed, false);
}

/* Decoding and copying in one loop: the processor copies a run while it decodes the next ones. */
ALWAYS_INLINE void move_coded(sagoi_coded *coded, char *place, int64_t room, bool scatter) {
    const uint8_t *next = coded->next, *stop = coded->stop;
    char *packed = coded->packed;
    int64_t bytes = coded->bytes, left = room;
    while (stop - next >= SAGOI_CODE_SHORT) {
        uint32_t gap, len;
        int code = sagoi_code_short(next, &gap, &len);
        if (code == 0 || (int64_t)gap + len > left || len > bytes)
            break;
        place += gap;
        move_run(place, packed, len, scatter);
        place += len;
        packed += len;
        bytes -= len;
        left -= (int64_t)gap + len;
        next += code;
    }
    *coded = (sagoi_coded){next, stop, coded->end + room - left, packed, bytes};
}

void sagoi_copy_coded(sagoi_coded *coded, char *base, int64_t base_off, int64_t limit, sagoi_packing packing) {
    char *place = base + (coded->end - base_off);
    int64_t room = limit - coded->end;
    if (packing == SAGOI_SCATTER)
        move_coded(coded, place, room, true);
    else
        move_coded(coded, place, room, false);
}

/* Copies stream bytes up to request position `until` between one contiguous place and the caller's pieces. */
static void copy_until(sagoi_cursor *cursor, int64_t until, char *place, const sagoi_memory *memory,
                       sagoi_direction direction) {
    const sagoi_packing packing = direction == SAGOI_TO_FILE ? SAGOI_GATHER : SAGOI_SCATTER;
    const int64_t from = cursor->pos + cursor->skip;
    sagoi_lap lap;
    sagoi_span piece;
    cursor->extents.end = memory->extents.begin + until;
    for (;;) {
        char *at = place + (cursor->pos + cursor->skip - from);
        if (sagoi_cursor_next_lap(cursor, &lap))
            copy_lap(&lap, memory->base, at, packing);
        else if (sagoi_cursor_next(cursor, SAGOI_NO_LIMIT, &piece))
            sagoi_copy_packed(&piece, memory->base, 0, at, packing);
        else
            return;
    }
}

static void memory_cursor(sagoi_cursor *cursor, const sagoi_memory *memory, int64_t pos) {
    sagoi_cursor_init(cursor, &memory->extents);
    if (pos > 0)
        sagoi_cursor_seek_pos(cursor, pos);
}

void sagoi_copy_stream(char *place, int64_t pos, int64_t bytes, const sagoi_memory *memory,
                       sagoi_direction direction) {
    if (bytes == 0) /* there may be no memory at all */
        return;
    if (memory->staging) {
        sagoi_staged_stream(place, pos, bytes, memory, direction);
        return;
    }
    if (!memory->extents.pattern) {
        if (direction == SAGOI_TO_FILE)
            memcpy(place, memory->base + pos, (size_t)bytes);
        else
            memcpy(memory->base + pos, place, (size_t)bytes);
        return;
    }
    sagoi_cursor cursor;
    memory_cursor(&cursor, memory, pos);
    copy_until(&cursor, pos + bytes, place, memory, direction);
}

/* For long runs of the file and pieces in memory: copies one run after another. */
static void copy_long_runs(const sagoi_span *span, char *place, const sagoi_memory *memory,
                           sagoi_direction direction) {
    sagoi_cursor cursor;
    memory_cursor(&cursor, memory, span->pos);
    int64_t pos = span->pos;
    for (int64_t i = 0; i < span->count; i++) {
        int64_t len = span->runs ? span->runs[i].len : span->len;
        if (span->runs && i > 0)
            place += span->runs[i].gap;
        pos += len;
        copy_until(&cursor, pos, place, memory, direction);
        place += span->runs ? len : span->stride;
    }
}

/* The part of a span that is not copied yet: the rest of the current run, and the runs behind it. */
typedef struct run_walk {
    const sagoi_span *span;
    int64_t index; /* of the current run */
    char *place;   /* of its rest */
    int64_t left;  /* bytes that are left of it, > 0 */
} run_walk;

static run_walk walk_start(const sagoi_span *span, char *place) {
    return (run_walk){.span = span, .place = place, .left = span->runs ? span->runs[0].len : span->len};
}

/* Takes `bytes` off the current run; false: the span has ended. */
ALWAYS_INLINE bool walk_on(run_walk *walk, int64_t bytes) {
    const sagoi_span *span = walk->span;
    walk->place += bytes;
    walk->left -= bytes;
    if (walk->left > 0)
        return true;
    if (++walk->index == span->count)
        return false;
    walk->place += span->runs ? span->runs[walk->index].gap : span->stride - span->len;
    walk->left = span->runs ? span->runs[walk->index].len : span->len;
    return true;
}

/* For short runs on both sides: walks both together. */
static void copy_short_runs(const sagoi_span *span, char *place, const sagoi_memory *memory,
                            sagoi_direction direction) {
    sagoi_cursor cursor;
    sagoi_span piece;
    run_walk in_file = walk_start(span, place);
    memory_cursor(&cursor, memory, span->pos);
    while (sagoi_cursor_next(&cursor, SAGOI_NO_LIMIT, &piece)) {
        run_walk in_memory = walk_start(&piece, memory->base + piece.off);
        int64_t bytes;
        do {
            bytes = sagoi_min(in_file.left, in_memory.left);
            move_run(in_file.place, in_memory.place, (size_t)bytes, direction == SAGOI_TO_FILE);
            if (!walk_on(&in_file, bytes))
                return;
        } while (walk_on(&in_memory, bytes));
    }
}

void sagoi_copy_span(const sagoi_span *span, char *file_base, int64_t file_off, const sagoi_memory *memory,
                     sagoi_direction direction) {
    char *place = file_base + (span->off - file_off);
    if (memory->staging)
        sagoi_staged_span(span, file_base, file_off, memory, direction);
    else if (!memory->extents.pattern)
        sagoi_copy_packed(span, file_base, file_off, memory->base + span->pos,
                          direction == SAGOI_TO_FILE ? SAGOI_SCATTER : SAGOI_GATHER);
    else if (sagoi_span_bytes(span) / span->count >= LONG_RUN)
        copy_long_runs(span, place, memory, direction);
    else
        copy_short_runs(span, place, memory, direction);
}
