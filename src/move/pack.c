#include "move/pack.h"

#include <string.h>

#include "base/checked.h"
#include "extent/codec.h"

enum {
    PART_HEAD = sizeof(uint32_t),
    RUN_CODE = 10,    /* bytes that the code of a run in a list takes at the most */
    SMALL_ROOM = 256, /* a part is not begun with less room than this */
};

void sagoi_packer_start(sagoi_packer *packer, int64_t round) {
    packer->round = round;
    packer->domain = packer->first;
    packer->stream = 0;
    packer->offset = INT64_MIN;
}

/* The most that a span costs, coded and with its data.  A span without code counts as much, so that packets are
 * cut where they were cut when the aggregator learned their extents. */
static int64_t span_cost(const sagoi_span *span, int64_t bytes) {
    return bytes + (span->runs ? span->count * RUN_CODE : SAGOI_CODE_MAX);
}

/* The offset at which a span that is too large for `room` has to be cut: behind whole runs, or inside of the first
 * run. */
static int64_t cut_offset(const sagoi_span *span, int64_t room) {
    int64_t off = span->off;
    if (!span->runs) {
        int64_t whole = sagoi_min(span->count, (room - SAGOI_CODE_MAX) / span->len);
        return whole > 0 ? off + (whole - 1) * span->stride + span->len : off + room - SAGOI_CODE_MAX;
    }
    for (int64_t i = 0; i < span->count; i++) {
        int64_t cost = span->runs[i].len + RUN_CODE;
        if (i > 0 && cost <= room)
            off += span->runs[i].gap;
        if (cost > room)
            return i > 0 ? off : off + room - SAGOI_CODE_MAX;
        off += span->runs[i].len;
        room -= cost;
    }
    return off;
}

/* A part that is being made: the walk over one stream within a window. */
typedef struct part {
    sagoi_cursor cursor;
    int64_t from, limit; /* offsets */
    int64_t room;        /* bytes left for codes and data */
    int64_t data;        /* bytes of data so far */
    int64_t pos;         /* position of the data in the stream */
    bool scattered;      /* the data does not lie together in the stream */
    uint8_t *out;        /* place of the next code */
    int64_t end;         /* end of the run that was coded last */
} part;

/* Takes the next span of the part, cut if need be; false: there is no span, or no room. */
static bool take_span(part *p, sagoi_span *span) {
    sagoi_cursor before = p->cursor;
    if (!sagoi_cursor_next(&p->cursor, p->limit, span))
        return false;
    int64_t bytes = sagoi_span_bytes(span);
    if (span_cost(span, bytes) > p->room) {
        p->cursor = before;
        if (p->room < SMALL_ROOM)
            return false;
        p->limit = cut_offset(span, p->room);
        if (!sagoi_cursor_next(&p->cursor, p->limit, span))
            return false;
        bytes = sagoi_span_bytes(span);
    }
    p->room -= span_cost(span, bytes);
    p->pos = p->data == 0 ? span->pos : p->pos;
    p->scattered = p->scattered || span->pos != p->pos + p->data;
    p->data += bytes;
    return true;
}

/* Codes as much of one stream as fits, from the packer's offset to the window's end.  Returns the offset at which
 * the next part goes on; the window's end when the stream is done. */
static int64_t code_part(const sagoi_packer *packer, part *p, int64_t window_start, int64_t window_end) {
    sagoi_span span;
    const sagoi_stream *stream = &packer->request->streams[packer->stream];
    sagoi_cursor_init(&p->cursor, &stream->file);
    p->from = sagoi_max(packer->offset, window_start);
    sagoi_cursor_seek(&p->cursor, p->from);
    p->limit = window_end;
    p->end = window_start;
    uint8_t *head = p->out;
    p->out += packer->code ? PART_HEAD : 0;
    p->room -= PART_HEAD;
    while (take_span(p, &span))
        if (packer->code)
            p->out = sagoi_code_put(p->out, &span, &p->end);
    if (packer->code) {
        uint32_t length = (uint32_t)(p->out - head - PART_HEAD);
        memcpy(head, &length, PART_HEAD);
    }
    /* Without room the walk goes on at the first byte that was not taken, which is not always where the last span
     * was cut. */
    return sagoi_cursor_next(&p->cursor, window_end, &span) ? span.off : window_end;
}

/* Copies stream data of [from, to) between memory and `place`; returns the number of bytes. */
static int64_t copy_data(const sagoi_request *request, int64_t stream, int64_t from, int64_t to, char *place) {
    const sagoi_stream *walked = &request->streams[stream];
    sagoi_cursor cursor;
    sagoi_span span;
    int64_t done = 0;
    sagoi_cursor_init(&cursor, &walked->file);
    sagoi_cursor_seek(&cursor, from);
    while (sagoi_cursor_next(&cursor, to, &span)) {
        int64_t bytes = sagoi_span_bytes(&span);
        sagoi_copy_stream(place + done, span.pos, bytes, &walked->memory, request->direction);
        done += bytes;
    }
    return done;
}

/* Where the part's data lies together in the caller's memory, if MPI may send or receive it there; else NULL.
 * Data past the end of the file must not be received. */
static char *place_in_memory(const sagoi_request *request, int64_t stream, const part *p) {
    const sagoi_memory *memory = &request->streams[stream].memory;
    bool cut = request->direction == SAGOI_FROM_FILE && request->high > request->limit;
    bool together = !p->scattered && !memory->extents.pattern && !memory->staging;
    return together && !cut && p->data > 0 ? memory->base + p->pos : NULL;
}

/* What a packet has: of stream `first` the offsets from `from` on, of stream `last` those below `to`, and of the
 * streams between them all that the window has. */
typedef struct taken {
    int64_t first, from, last, to;
} taken;

static void copy_taken(const sagoi_packer *packer, const taken *t, int64_t start, int64_t end, char *place) {
    for (int64_t stream = t->first; stream <= t->last; stream++)
        place += copy_data(packer->request, stream, stream == t->first ? t->from : start,
                           stream == t->last ? t->to : end, place);
}

/* Packs what fits of one domain's window, and takes the most that it may cost off *room; false: some of the window
 * is left. */
static bool pack_domain(sagoi_packer *packer, char *staging, int64_t *room, sagoi_packet *packet) {
    int64_t start, end;
    const sagoi_request *request = packer->request;
    char *in_place = NULL;
    packet->code = 0;
    packet->data = 0;
    if (packer->plan->domains[packer->domain].node == packer->node ||
        !sagoi_plan_window(packer->plan, packer->domain, packer->round, &start, &end) || request->low >= end ||
        request->high <= start)
        return true;
    taken t = {packer->stream, sagoi_max(packer->offset, start), packer->stream - 1, start};
    int64_t data = 0;
    uint8_t *out = (uint8_t *)staging;
    while (packer->stream < request->nstreams && *room >= SMALL_ROOM) {
        part p = {.room = *room, .out = out};
        t.to = code_part(packer, &p, start, end);
        t.last = packer->stream;
        if (p.data > 0) { /* most variables of a step have nothing in a window, and cost nothing there */
            *room = p.room;
            out = p.out;
            in_place = data == 0 ? place_in_memory(request, packer->stream, &p) : NULL;
        }
        data += p.data;
        packer->offset = t.to;
        if (t.to < end)
            break;
        packer->stream++;
        packer->offset = INT64_MIN;
    }
    packet->code = (uint32_t)(out - (uint8_t *)staging);
    packet->data = (uint64_t)data;
    bool stays = packer->in_place && in_place;
    if (stays)
        packer->in_place[packer->domain - packer->first] = in_place;
    if (request->direction == SAGOI_TO_FILE && !stays)
        copy_taken(packer, &t, start, end, (char *)out);
    return packer->stream == request->nstreams;
}

/* Room is counted by the most that packets may cost, so that passes end at the same place with and without
 * codes. */
bool sagoi_pack(sagoi_packer *packer, char *staging, int64_t capacity, int64_t most, sagoi_packet *packets) {
    int64_t used = 0, left = capacity, stop = packer->first + packer->reach;
    for (int64_t i = 0; i < packer->reach; i++) {
        packets[i] = (sagoi_packet){0};
        if (packer->in_place)
            packer->in_place[i] = NULL;
    }
    for (; packer->domain < stop; packer->domain++) {
        sagoi_packet *packet = &packets[packer->domain - packer->first];
        int64_t room = sagoi_min(most, left), before = room;
        if (room < SMALL_ROOM)
            break;
        packet->start = (uint32_t)used;
        bool done = pack_domain(packer, staging + used, &room, packet);
        used += packet->code + (int64_t)packet->data;
        left -= before - room;
        if (!done)
            break;
        packer->stream = 0;
        packer->offset = INT64_MIN;
    }
    return packer->domain < stop;
}

/* Copies one domain's data of a pass to memory: the same walk as packing, which ends with the bytes that came. */
static void unpack_domain(sagoi_packer *packer, const char *data, int64_t bytes) {
    int64_t start, end;
    const sagoi_request *request = packer->request;
    if (bytes == 0 || !sagoi_plan_window(packer->plan, packer->domain, packer->round, &start, &end))
        return;
    for (; bytes > 0 && packer->stream < request->nstreams; packer->stream++) {
        const sagoi_stream *stream = &request->streams[packer->stream];
        sagoi_cursor cursor;
        sagoi_span span;
        sagoi_cursor_init(&cursor, &stream->file);
        sagoi_cursor_seek(&cursor, sagoi_max(packer->offset, start));
        while (bytes > 0 && sagoi_cursor_next(&cursor, end, &span)) {
            int64_t here = sagoi_min(bytes, sagoi_span_bytes(&span));
            int64_t wanted = sagoi_min(here, sagoi_span_bytes_below(&span, request->limit));
            sagoi_copy_stream((char *)(uintptr_t)data, span.pos, wanted, &stream->memory, request->direction);
            data += here;
            bytes -= here;
        }
        packer->offset = INT64_MIN;
    }
}

void sagoi_unpack(const sagoi_packer *began, const char *staging, const sagoi_packet *packets) {
    sagoi_packer packer = *began;
    for (; packer.domain < packer.first + packer.reach; packer.domain++) {
        const sagoi_packet *packet = &packets[packer.domain - packer.first];
        if (!packer.in_place || !packer.in_place[packer.domain - packer.first])
            unpack_domain(&packer, staging + packet->start + packet->code, (int64_t)packet->data);
        packer.stream = 0;
        packer.offset = INT64_MIN;
    }
}

/* ---- The aggregator's side ---- */

static bool inside(const sagoi_span *train, int64_t end, const sagoi_window *window) {
    return train->off >= window->start && end <= window->end;
}

bool sagoi_packet_is_run(const uint8_t *code, int64_t code_bytes, int64_t bytes, const sagoi_window *window,
                         char **place) {
    const uint8_t *stop = code + code_bytes;
    int64_t end = window->start;
    uint32_t length;
    sagoi_span run;
    if (code_bytes < PART_HEAD)
        return false;
    memcpy(&length, code, PART_HEAD);
    if (length != code_bytes - PART_HEAD || sagoi_code_get(code + PART_HEAD, stop, &run, &end) != stop)
        return false;
    if (run.count != 1 || run.len != bytes || !inside(&run, end, window))
        return false;
    *place = window->place + (run.off - window->start);
    return true;
}

/* Copies the runs of one part; false: its code is broken. */
static bool copy_part(sagoi_coded *runs, const sagoi_window *window, sagoi_packing packing) {
    while (runs->next < runs->stop) {
        if (!window->marks)
            sagoi_copy_coded(runs, window->place, window->start, window->end, packing);
        if (runs->next == runs->stop)
            break;
        sagoi_span train;
        runs->next = sagoi_code_get(runs->next, runs->stop, &train, &runs->end);
        if (!runs->next || !inside(&train, runs->end, window) || train.count * train.len > runs->bytes)
            return false;
        sagoi_copy_packed(&train, window->place, window->start, runs->packed, packing);
        if (window->marks)
            sagoi_mark_span(&train, window->start, window->marks);
        runs->packed += train.count * train.len;
        runs->bytes -= train.count * train.len;
    }
    return true;
}

bool sagoi_packet_copy(const uint8_t *code, int64_t code_bytes, char *data, int64_t bytes,
                       const sagoi_window *window, sagoi_direction direction) {
    const uint8_t *stop = code + code_bytes;
    sagoi_packing packing = direction == SAGOI_TO_FILE ? SAGOI_SCATTER : SAGOI_GATHER;
    sagoi_coded runs = {.next = code, .stop = stop, .packed = data, .bytes = bytes};
    while (stop - runs.next >= PART_HEAD) {
        uint32_t length;
        memcpy(&length, runs.next, PART_HEAD);
        runs.next += PART_HEAD;
        if (length > stop - runs.next)
            return false;
        runs.stop = runs.next + length;
        runs.end = window->start;
        if (!copy_part(&runs, window, packing))
            return false;
    }
    return runs.next == stop && runs.bytes == 0;
}
