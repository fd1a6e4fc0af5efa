/* Each buffer has one chunk.  When writing, the chunk holds bytes of the stream that were fetched: as many as
 * are wanted after a jump, ever more while the walk goes straight on, and all of them where they fit.  When
 * reading, it holds bytes on their way to the device, as long as they follow each other.  A piece as large as a
 * chunk is copied by itself.
 *
 * A copy that fails is reported at the end, since the copy loops can return no error. */
#include "extent/staging.h"

#include <stdio.h>
#include <string.h>

#include "base/checked.h"

enum {
    MOST_CHUNK = 4 << 20,   /* bytes of host memory; larger chunks made copies no faster (docs/measured.md) */
    LEAST_CHUNK = 4096,     /* the smallest chunk that is tried; without one the call fails */
    FIRST_FETCH = 64 * 1024 /* bytes that are fetched after a jump; straight on twice as much each time */
};

struct sagoi_staging {
    const sagoi_device *device;
    sagoi_memory memory; /* the caller's memory, without the staging */
    int64_t bytes;       /* bytes of the stream */
    char *chunk;
    int64_t room;     /* bytes of it */
    int64_t from, to; /* stream positions that the chunk holds */
    bool waits;       /* the chunk has to be flushed */
    sago_status status;
    char message[SAGOI_MESSAGE_MAX];
    sagoi_budget *budget;
};

const char *sagoi_memory_first(const sagoi_memory *memory) {
    sagoi_cursor cursor;
    if (!memory->extents.pattern)
        return memory->base;
    sagoi_cursor_init(&cursor, &memory->extents);
    return memory->base + cursor.off + cursor.skip;
}

static sago_status create(const sagoi_device *device, sagoi_memory *memory, int64_t bytes, sagoi_budget *budget) {
    sagoi_staging *staging = sagoi_budget_alloc(budget, sizeof *staging);
    if (!staging)
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory to stage a buffer of a device");
    *staging = (sagoi_staging){.device = device, .memory = *memory, .bytes = bytes, .budget = budget};
    staging->room = sagoi_min(bytes, MOST_CHUNK);
    while (staging->room > LEAST_CHUNK && !sagoi_budget_fits(budget, staging->room))
        staging->room /= 2;
    while (!(staging->chunk = sagoi_budget_realloc(budget, NULL, staging->room)) && staging->room > LEAST_CHUNK)
        staging->room /= 2;
    if (!staging->chunk) {
        sagoi_budget_free(budget, staging);
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory to stage a buffer of a device");
    }
    memory->staging = staging;
    return SAGO_OK;
}

sago_status sagoi_staging_add(sagoi_memory *memory, int64_t bytes, sagoi_budget *budget) {
    const sagoi_device *device = bytes > 0 ? sagoi_device_of(sagoi_memory_first(memory)) : NULL;
    return device ? create(device, memory, bytes, budget) : SAGO_OK;
}

void sagoi_staging_destroy(sagoi_staging *staging) {
    if (!staging)
        return;
    sagoi_budget_free(staging->budget, staging->chunk);
    sagoi_budget_free(staging->budget, staging);
}

/* ---- To and from the device ---- */

/* Copies one piece of device memory; does nothing after a copy has failed. */
static void move_piece(sagoi_staging *staging, char *host, char *device, int64_t bytes,
                       sagoi_direction direction) {
    if (staging->status)
        return;
    staging->status = direction == SAGOI_TO_FILE ? sagoi_device_copy(staging->device, host, device, bytes, device)
                                                 : sagoi_device_copy(staging->device, device, host, bytes, device);
    if (staging->status)
        sagoi_message_keep(staging->message);
}

/* Copies bytes of the stream to or from one contiguous place in host memory. */
static void move_stream(sagoi_staging *staging, char *host, int64_t pos, int64_t bytes,
                        sagoi_direction direction) {
    const sagoi_memory *memory = &staging->memory;
    if (!memory->extents.pattern) {
        move_piece(staging, host, memory->base + pos, bytes, direction);
        return;
    }
    sagoi_cursor cursor;
    sagoi_span span;
    sagoi_cursor_init(&cursor, &memory->extents);
    if (pos > 0)
        sagoi_cursor_seek_pos(&cursor, pos);
    cursor.extents.end = memory->extents.begin + pos + bytes;
    while (sagoi_cursor_next(&cursor, SAGOI_NO_LIMIT, &span))
        for (sagoi_walk run = sagoi_walk_span(&span); sagoi_walk_run(&run); host += run.len)
            move_piece(staging, host, memory->base + run.off, run.len, direction);
}

static void flush(sagoi_staging *staging) {
    if (staging->waits)
        move_stream(staging, staging->chunk, staging->from, staging->to - staging->from, SAGOI_FROM_FILE);
    staging->waits = false;
    staging->from = staging->to = 0;
}

sago_status sagoi_staging_finish(sagoi_staging *staging) {
    flush(staging);
    if (staging->status)
        sagoi_message_set(staging->message);
    return staging->status;
}

/* ---- The chunk ---- */

/* The host's copy of stream bytes [pos, pos + bytes), which fit the chunk. */
static char *fetched(sagoi_staging *staging, int64_t pos, int64_t bytes) {
    if (pos >= staging->from && pos + bytes <= staging->to)
        return staging->chunk + (pos - staging->from);
    bool straight_on = pos >= staging->from && pos <= staging->to && staging->to > 0;
    int64_t wanted = pos, ahead = straight_on ? 2 * (staging->to - staging->from) : FIRST_FETCH;
    if (staging->bytes <= staging->room) {
        pos = 0;
        ahead = staging->bytes;
    }
    int64_t count = sagoi_min(sagoi_max(ahead, bytes), sagoi_min(staging->room, staging->bytes - pos));
    move_stream(staging, staging->chunk, pos, count, SAGOI_TO_FILE);
    staging->from = pos;
    staging->to = pos + count;
    return staging->chunk + (wanted - pos);
}

/* The place where the caller puts stream bytes [pos, pos + bytes), which fit the chunk. */
static char *to_be_flushed(sagoi_staging *staging, int64_t pos, int64_t bytes) {
    if (!staging->waits || pos != staging->to || pos + bytes - staging->from > staging->room) {
        flush(staging);
        staging->from = staging->to = pos;
        staging->waits = true;
    }
    staging->to = pos + bytes;
    return staging->chunk + (pos - staging->from);
}

static char *in_chunk(sagoi_staging *staging, int64_t pos, int64_t bytes, sagoi_direction direction) {
    return direction == SAGOI_TO_FILE ? fetched(staging, pos, bytes) : to_be_flushed(staging, pos, bytes);
}

void sagoi_staged_stream(char *place, int64_t pos, int64_t bytes, const sagoi_memory *memory,
                         sagoi_direction direction) {
    sagoi_staging *staging = memory->staging;
    if (bytes == 0)
        return;
    if (bytes > staging->room / 2) {
        flush(staging);
        move_stream(staging, place, pos, bytes, direction);
    } else if (direction == SAGOI_TO_FILE) {
        memcpy(place, fetched(staging, pos, bytes), (size_t)bytes);
    } else {
        memcpy(to_be_flushed(staging, pos, bytes), place, (size_t)bytes);
    }
}

/* ---- Spans ---- */

/* As many runs from the first one on as fit the chunk, but at least one. */
static sagoi_span first_part(const sagoi_span *span, int64_t room, int64_t *bytes) {
    sagoi_span part = *span;
    if (!span->runs) {
        part.count = sagoi_min(span->count, sagoi_max(1, room / span->len));
        *bytes = part.count * part.len;
        return part;
    }
    part.count = 1;
    *bytes = span->runs[0].len;
    while (part.count < span->count && *bytes + span->runs[part.count].len <= room)
        *bytes += span->runs[part.count++].len;
    return part;
}

/* Takes a part off the beginning of a span. */
static void drop_part(sagoi_span *span, const sagoi_span *part, int64_t bytes) {
    if (span->runs) {
        for (int64_t i = 0; i < part->count; i++)
            span->off += (int64_t)span->runs[i].len + (i + 1 < span->count ? span->runs[i + 1].gap : 0);
        span->runs += part->count;
    } else if (part->count < span->count) {
        span->off += part->count * span->stride;
    }
    span->pos += bytes;
    span->count -= part->count;
}

void sagoi_staged_span(const sagoi_span *span, char *file_base, int64_t file_off, const sagoi_memory *memory,
                       sagoi_direction direction) {
    sagoi_staging *staging = memory->staging;
    sagoi_span rest = *span;
    while (rest.count > 0) {
        int64_t bytes;
        sagoi_span part = first_part(&rest, staging->room, &bytes);
        if (bytes > staging->room || (part.count == 1 && bytes > staging->room / 2))
            sagoi_staged_stream(file_base + (part.off - file_off), part.pos, bytes, memory, direction);
        else
            sagoi_copy_packed(&part, file_base, file_off, in_chunk(staging, part.pos, bytes, direction),
                              direction == SAGOI_TO_FILE ? SAGOI_SCATTER : SAGOI_GATHER);
        drop_part(&rest, &part, bytes);
    }
}
