/* Putting by position: the place of a byte in a window is its offset less the window's start, so nothing is
 * exchanged, sorted or merged. */
#include "move/request.h"

#include <stdatomic.h>

#include "base/checked.h"
#include "extent/staging.h"

/* Sets bits [from, to); other ranks set other bits of the same words. */
static void mark_range(uint64_t *marks, int64_t from, int64_t to) {
    while (from < to) {
        int64_t word = from / 64, stop = sagoi_min(to, (word + 1) * 64);
        uint64_t bits = stop - from == 64 ? ~UINT64_C(0) : ((UINT64_C(1) << (stop - from)) - 1) << (from % 64);
        if (~bits == 0)
            marks[word] = bits; /* no other rank has a byte in this word */
        else
            atomic_fetch_or_explicit((_Atomic uint64_t *)&marks[word], bits, memory_order_relaxed);
        from = stop;
    }
}

void sagoi_mark_span(const sagoi_span *span, int64_t start, uint64_t *marks) {
    for (sagoi_walk run = sagoi_walk_span(span); sagoi_walk_run(&run);)
        mark_range(marks, run.off - start, run.off - start + run.len);
}

static int64_t copy_stream(const sagoi_stream *stream, const sagoi_request *request, int64_t start, int64_t end,
                           char *place, uint64_t *marks) {
    sagoi_cursor cursor;
    sagoi_span span;
    int64_t bytes = 0;
    sagoi_cursor_init(&cursor, &stream->file);
    sagoi_cursor_seek(&cursor, start);
    while (sagoi_cursor_next(&cursor, end, &span)) {
        sagoi_copy_span(&span, place, start, &stream->memory, request->direction);
        if (marks)
            sagoi_mark_span(&span, start, marks);
        bytes += sagoi_span_bytes(&span);
    }
    return bytes;
}

bool sagoi_request_is_staged(const sagoi_request *request) {
    for (int64_t i = 0; i < request->nstreams; i++)
        if (request->streams[i].memory.staging)
            return true;
    return false;
}

sago_status sagoi_request_finish_staging(const sagoi_request *request) {
    sago_status status = SAGO_OK;
    for (int64_t i = 0; i < request->nstreams && !status; i++)
        if (request->streams[i].memory.staging)
            status = sagoi_staging_finish(request->streams[i].memory.staging);
    return status;
}

bool sagoi_request_touches(const sagoi_request *request, int64_t start, int64_t end) {
    for (int64_t i = 0; i < request->nstreams; i++) {
        sagoi_cursor cursor;
        sagoi_span span;
        sagoi_cursor_init(&cursor, &request->streams[i].file);
        sagoi_cursor_seek(&cursor, start);
        if (sagoi_cursor_next(&cursor, end, &span))
            return true;
    }
    return false;
}

int64_t sagoi_request_copy(const sagoi_request *request, int64_t start, int64_t end, char *place,
                           uint64_t *marks) {
    int64_t bytes = 0;
    if (request->direction == SAGOI_FROM_FILE)
        end = sagoi_min(end, request->limit);
    if (end <= request->low || start >= request->high)
        return 0;
    for (int64_t i = 0; i < request->nstreams; i++)
        bytes += copy_stream(&request->streams[i], request, start, end, place, marks);
    return bytes;
}
