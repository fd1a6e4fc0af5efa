/* The direct strategy: each rank reads and writes its own runs.  It suits long runs, for which staging would only
 * be another copy, and ranks that go alone (alone.c).  Memory in pieces passes through a buffer. */
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "engine/engine.h"

typedef struct many_runs {
    sagoi_io_run runs[SAGOI_BATCH_RUNS];
    int64_t positions[SAGOI_BATCH_RUNS];
} many_runs;

/* Runs on their way to or from the store. */
typedef struct batch {
    sago_file *file;
    const sagoi_stream *stream;
    sagoi_direction direction;
    sagoi_io_run *runs;
    int64_t *positions; /* the stream position of each run, by which the bytes read are scattered */
    int64_t n, most;
    many_runs *many; /* NULL: few_runs and few_positions are used */
    sagoi_io_run few_runs[SAGOI_BATCH_FEW];
    int64_t few_positions[SAGOI_BATCH_FEW];
    char *bounce;       /* NULL: memory is contiguous and of the host, and needs no buffer */
    int64_t room, used; /* bytes of `bounce` */
    bool by_thread;
} batch;

static sago_status move_by_thread(const batch *out) {
    sagoi_task task = {.kind = out->direction == SAGOI_TO_FILE ? SAGOI_TASK_WRITE : SAGOI_TASK_READ,
                       .store = out->file->store,
                       .runs = out->runs,
                       .nruns = out->n};
    sagoi_task_begin(out->file, &task, SAGOI_BY_THREAD);
    return sagoi_task_finish(out->file, &task);
}

/* Reads the part before `cut` in this thread, while the I/O thread reads the rest. */
static sago_status read_beside(sago_file *file, sagoi_io_run *runs, int64_t n, int64_t cut, int64_t *bytes) {
    int64_t heads = 0, asked = 0;
    while (runs[heads].off + runs[heads].len <= cut)
        asked += runs[heads++].len;
    sagoi_io_run *head = malloc((size_t)(heads + 1) * sizeof *head);
    if (!head)
        return sagoi_move_runs(file, SAGOI_FROM_FILE, runs, n, bytes);
    memcpy(head, runs, (size_t)heads * sizeof *head);
    sagoi_io_run *tail = &runs[heads];
    const sagoi_io_run whole = *tail;
    int64_t before = sagoi_max(0, cut - whole.off);
    *tail = (sagoi_io_run){whole.off + before, whole.len - before, whole.buf + before};
    sagoi_task task = {.kind = SAGOI_TASK_READ, .store = file->store, .runs = tail, .nruns = &runs[n] - tail};
    if (before > 0)
        head[heads++] = (sagoi_io_run){whole.off, before, whole.buf};
    sagoi_task_begin(file, &task, SAGOI_BY_THREAD);
    sago_status status = sagoi_move_runs(file, SAGOI_FROM_FILE, head, heads, bytes);
    sago_status beside = sagoi_task_finish(file, &task);
    *tail = whole;
    free(head);
    if (*bytes == asked + before) /* else the file ends there */
        *bytes += task.bytes;
    return beside ? beside : status;
}

sago_status sagoi_read_runs(sago_file *file, sagoi_io_run *runs, int64_t n, int64_t *bytes) {
    if (n > 0 && sagoi_route_reads_beside(&file->hints, sagoi_store_fd(file->store) >= 0)) {
        const sagoi_range range = {runs[0].off, runs[n - 1].off + runs[n - 1].len};
        int64_t wanted = 0;
        for (int64_t i = 0; i < n; i++)
            wanted += runs[i].len;
        const sagoi_layout *layout = sagoi_store_layout(file->store);
        int64_t cut = sagoi_route_cut(range, wanted, layout->stripe_unit, layout->stripe_count);
        if (cut < range.high)
            return read_beside(file, runs, n, cut, bytes);
    }
    return sagoi_move_runs(file, SAGOI_FROM_FILE, runs, n, bytes);
}

static sago_status move_runs(batch *out) {
    int64_t bytes = 0;
    if (out->by_thread)
        return move_by_thread(out);
    return out->direction == SAGOI_TO_FILE ? sagoi_move_runs(out->file, SAGOI_TO_FILE, out->runs, out->n, &bytes)
                                           : sagoi_read_runs(out->file, out->runs, out->n, &bytes);
}

static sago_status flush(batch *out) {
    if (out->n == 0)
        return SAGO_OK;
    bool write = out->direction == SAGOI_TO_FILE;
    sago_status status = move_runs(out);
    for (int64_t i = 0; i < out->n && !status && !write && out->bounce; i++)
        sagoi_copy_stream(out->runs[i].buf, out->positions[i], out->runs[i].len, &out->stream->memory,
                          out->direction);
    out->n = 0;
    out->used = 0;
    return status;
}

/* The store takes ascending runs, so a run of another stream that begins before the last one ends has to go in the
 * next batch. */
static bool follows_none(const batch *out, int64_t off) {
    return out->n > 0 && off < out->runs[out->n - 1].off + out->runs[out->n - 1].len;
}

/* Makes room for more than a few runs; false: there is none. */
static bool grow(batch *out) {
    if (out->many || out->n < SAGOI_BATCH_FEW || !(out->many = malloc(sizeof *out->many)))
        return false;
    memcpy(out->many->runs, out->runs, (size_t)out->n * sizeof *out->runs);
    memcpy(out->many->positions, out->positions, (size_t)out->n * sizeof *out->positions);
    out->runs = out->many->runs;
    out->positions = out->many->positions;
    out->most = SAGOI_BATCH_RUNS;
    return true;
}

/* Adds one run, in as many parts as the bounce buffer needs. */
static sago_status add_run(batch *out, int64_t off, int64_t len, int64_t pos) {
    if (follows_none(out, off)) {
        sago_status status = flush(out);
        if (status)
            return status;
    }
    while (len > 0) {
        int64_t part = out->bounce ? sagoi_min(len, out->room - out->used) : len;
        if (part == 0 || (out->n == out->most && !grow(out))) {
            sago_status status = flush(out);
            if (status)
                return status;
            continue;
        }
        char *buf = out->bounce ? out->bounce + out->used : out->stream->memory.base + pos;
        if (out->bounce && out->direction == SAGOI_TO_FILE)
            sagoi_copy_stream(buf, pos, part, &out->stream->memory, out->direction);
        out->positions[out->n] = pos;
        out->runs[out->n++] = (sagoi_io_run){.off = off, .len = part, .buf = buf};
        out->used += out->bounce ? part : 0;
        off += part;
        pos += part;
        len -= part;
    }
    return SAGO_OK;
}

static sago_status add_span(batch *out, const sagoi_span *span) {
    sago_status status = SAGO_OK;
    for (sagoi_walk run = sagoi_walk_span(span); !status && sagoi_walk_run(&run);)
        status = add_run(out, run.off, run.len, run.pos);
    return status;
}

static sago_status move_stream(batch *out, int64_t limit) {
    sagoi_cursor cursor;
    sagoi_span span;
    sago_status status = SAGO_OK;
    sagoi_cursor_init(&cursor, &out->stream->file);
    while (!status && sagoi_cursor_next(&cursor, limit, &span))
        status = add_span(out, &span);
    return status;
}

/* Streams that pass through the buffer do so one by one.  The runs of the other streams may go to the store
 * together, and become one run where they are one in the file. */
static sago_status begin_stream(batch *out, const sagoi_stream *stream, char *bounce) {
    sago_status status = out->bounce || bounce ? flush(out) : SAGO_OK;
    out->stream = stream;
    out->bounce = bounce;
    return status;
}

static bool is_bounced(const sagoi_memory *memory) { return memory->extents.pattern || memory->staging; }

/* The bytes that the bounce buffer must hold for streams whose memory is in pieces or on a device; 0: there is no
 * such stream. */
static int64_t bounce_for(const sagoi_request *request) {
    int64_t most = 0;
    for (int64_t i = 0; i < request->nstreams; i++)
        if (is_bounced(&request->streams[i].memory))
            most = sagoi_max(most, sagoi_extents_bytes(&request->streams[i].file));
    return sagoi_min(most, SAGOI_BOUNCE_MOST);
}

/* Allocates a bounce buffer of *room bytes, or of fewer where memory is short.  The buffer is not cleared. */
static char *get_bounce(sago_file *file, int64_t *room) {
    char *bounce = NULL;
    while (*room > 0 && !(bounce = sagoi_budget_realloc(&file->budget, NULL, *room)) && *room > SAGOI_BOUNCE_LEAST)
        *room /= 2;
    return bounce;
}

sago_status sagoi_move_alone(sago_file *file, const sagoi_composed *composed) {
    const sagoi_request *request = &composed->request;
    batch out; /* not cleared, since a call of one run uses little of it */
    out.file = file;
    out.direction = request->direction;
    out.runs = out.few_runs;
    out.positions = out.few_positions;
    out.most = SAGOI_BATCH_FEW;
    out.many = NULL;
    out.n = out.used = 0;
    out.bounce = NULL;
    out.by_thread = sagoi_route_worker(&file->own, request->nonblocking, composed->bytes) == SAGOI_BY_THREAD;
    out.room = bounce_for(request);
    int64_t limit = request->direction == SAGOI_FROM_FILE ? request->limit : SAGOI_NO_LIMIT;
    sago_status status = SAGO_OK;
    char *bounce = get_bounce(file, &out.room);
    if (out.room > 0 && !bounce)
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory for a buffer of %lld bytes", (long long)out.room);
    for (int64_t i = 0; i < request->nstreams && !status; i++) {
        const sagoi_stream *stream = &request->streams[i];
        status = begin_stream(&out, stream, is_bounced(&stream->memory) ? bounce : NULL);
        if (!status)
            status = move_stream(&out, limit);
    }
    if (!status)
        status = flush(&out);
    free(out.many);
    sagoi_budget_free(&file->budget, bounce);
    return status;
}

sago_status sagoi_run_direct(sago_file *file, const sagoi_composed *composed) {
    double start = sagoi_phase_begin(file);
    sago_status status = sagoi_move_alone(file, composed);
    (void)sagoi_phase_next(file, SAGO_PHASE_STORE, start);
    return status;
}
