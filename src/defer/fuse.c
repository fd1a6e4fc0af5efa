#include "defer/fuse.h"

#include "base/checked.h"

void sagoi_fuse_init(sagoi_fuse *fuse, int64_t room, sagoi_budget *budget) {
    *fuse = (sagoi_fuse){.budget = budget, .room = room};
}

static void drop_patterns(sagoi_fuse *fuse) {
    for (int64_t i = 0; i < fuse->npatterns; i++)
        sagoi_pattern_cleanup(&fuse->patterns[i]);
    sagoi_budget_free(fuse->budget, fuse->patterns);
    fuse->patterns = NULL;
    fuse->npatterns = 0;
}

void sagoi_fuse_reset(sagoi_fuse *fuse) {
    drop_patterns(fuse);
    fuse->used = fuse->ntrains = fuse->nparts = 0;
}

void sagoi_fuse_cleanup(sagoi_fuse *fuse) {
    drop_patterns(fuse);
    sagoi_budget_free(fuse->budget, fuse->data);
    sagoi_budget_free(fuse->budget, fuse->trains);
    sagoi_budget_free(fuse->budget, fuse->parts);
    sagoi_fuse_init(fuse, fuse->room, fuse->budget);
}

int64_t sagoi_fuse_size(const sagoi_fuse *fuse) {
    return fuse->used + fuse->ntrains * (int64_t)sizeof *fuse->trains;
}

int64_t sagoi_fuse_runs(const sagoi_fuse *fuse) {
    int64_t runs = 0;
    for (int64_t i = 0; i < fuse->ntrains; i++)
        runs += fuse->trains[i].count;
    return runs;
}

int64_t sagoi_fuse_end(const sagoi_fuse *fuse) {
    int64_t end = 0;
    for (int64_t i = 0; i < fuse->nparts; i++)
        end = sagoi_max(end, fuse->parts[i].high);
    return end;
}

/* One past the last train of a part. */
static int64_t trains_end(const sagoi_fuse *fuse, int64_t part) {
    return part + 1 < fuse->nparts ? fuse->parts[part + 1].first : fuse->ntrains;
}

/* ---- Does it write what is in there already? ---- */

static int64_t train_end(const sagoi_fused_train *train) {
    return train->off + (train->count - 1) * train->stride + train->len;
}

/* Does the train have a byte in [off, off + len)? */
static bool train_touches(const sagoi_fused_train *train, int64_t off, int64_t len) {
    if (off + len <= train->off || off >= train_end(train))
        return false;
    /* The run at or before the offset. */
    int64_t before = off > train->off ? (off - train->off) / train->stride : 0;
    int64_t from = train->off + before * train->stride;
    return off < from + train->len || (before + 1 < train->count && from + train->stride < off + len);
}

/* Do the runs of both trains have the same distance, and do those of one lie between those of the other?  Then not
 * every run has to be looked at. */
static bool trains_alternate(const sagoi_fused_train *train, const sagoi_span *span) {
    if (span->runs || span->stride != train->stride || span->count == 1 || train->count == 1)
        return false;
    int64_t shift = (span->off - train->off) % train->stride;
    shift += shift < 0 ? train->stride : 0;
    return shift >= train->len && shift + span->len <= train->stride;
}

/* Does a span touch any of the trains [*from, end) of a part?  *from moves past trains that lie before the
 * span. */
static bool span_clashes(const sagoi_fuse *fuse, int64_t *from, int64_t end, const sagoi_span *span) {
    const sagoi_fused_train *trains = fuse->trains;
    if (end - *from == 1 && trains_alternate(&trains[*from], span))
        return false;
    for (sagoi_walk run = sagoi_walk_span(span); sagoi_walk_run(&run);) {
        while (*from < end && train_end(&trains[*from]) <= run.off)
            ++*from;
        for (int64_t i = *from; i < end && trains[i].off < run.off + run.len; i++)
            if (train_touches(&trains[i], run.off, run.len))
                return true;
    }
    return false;
}

static bool stream_clashes(const sagoi_fuse *fuse, int64_t part, const sagoi_extents *file) {
    int64_t from = fuse->parts[part].first, end = trains_end(fuse, part);
    sagoi_cursor cursor;
    sagoi_span span;
    sagoi_cursor_init(&cursor, file);
    while (sagoi_cursor_next(&cursor, fuse->parts[part].high, &span))
        if (span_clashes(fuse, &from, end, &span))
            return true;
    return false;
}

static bool clashes(const sagoi_fuse *fuse, const sagoi_composed *composed) {
    const sagoi_request *request = &composed->request;
    for (int64_t p = 0; p < fuse->nparts; p++) {
        const sagoi_fused_part *part = &fuse->parts[p];
        if (request->high <= part->low || request->low >= part->high)
            continue;
        for (int64_t i = 0; i < request->nstreams; i++)
            if (stream_clashes(fuse, p, &request->streams[i].file))
                return true;
    }
    return false;
}

/* ---- Adding ---- */

/* Allocates the whole room at once: memory that is not touched costs nothing, and data never has to be moved. */
static bool has_room(sagoi_fuse *fuse) {
    while (!fuse->data && fuse->room >= SAGOI_DEFERRED_ROOM_LEAST) {
        fuse->data = sagoi_budget_realloc(fuse->budget, NULL, fuse->room);
        fuse->room /= fuse->data ? 1 : 2;
    }
    return fuse->data != NULL;
}

static bool prolongs(const sagoi_fused_train *last, const sagoi_fused_train *next) {
    if (last->len != next->len || (last->count > 1 && next->count > 1 && last->stride != next->stride))
        return false;
    int64_t stride = last->count > 1 ? last->stride : next->count > 1 ? next->stride : next->off - last->off;
    return stride > 0 && next->off == last->off + last->count * stride;
}

/* Adds a run to the trains of the last part, which begin at `first`. */
static bool add_train(sagoi_fuse *fuse, int64_t first, sagoi_fused_train next) {
    if (next.count > 1 && next.stride == next.len)
        next = (sagoi_fused_train){next.off, next.len * next.count, next.len * next.count, 1};
    sagoi_fused_train *last = fuse->ntrains > first ? &fuse->trains[fuse->ntrains - 1] : NULL;
    if (last && last->count == 1 && next.count == 1 && last->off + last->len == next.off) {
        last->len += next.len;
        last->stride = last->len;
        return true;
    }
    if (last && prolongs(last, &next)) {
        last->stride = last->count > 1 ? last->stride : next.count > 1 ? next.stride : next.off - last->off;
        last->count += next.count;
        return true;
    }
    if (!sagoi_budget_grow(fuse->budget, (void **)&fuse->trains, fuse->ntrains + 1, &fuse->trains_capacity,
                           sizeof *fuse->trains))
        return false;
    fuse->trains[fuse->ntrains++] = next;
    return true;
}

static bool add_span(sagoi_fuse *fuse, int64_t first, const sagoi_span *span) {
    bool added = true;
    if (!span->runs)
        return add_train(
            fuse, first,
            (sagoi_fused_train){span->off, span->len, sagoi_max(span->stride, span->len), span->count});
    for (sagoi_walk run = sagoi_walk_span(span); added && sagoi_walk_run(&run);)
        added = add_train(fuse, first, (sagoi_fused_train){run.off, run.len, run.len, 1});
    return added;
}

/* Prepares for a stream: it prolongs the last part, or begins a new one. */
static bool begin_stream(sagoi_fuse *fuse, int64_t low, int64_t high) {
    sagoi_fused_part *last = fuse->nparts > 0 ? &fuse->parts[fuse->nparts - 1] : NULL;
    if (last && low >= last->high && high - last->low <= SAGOI_OFFSET_MAX) {
        last->high = high;
        return true;
    }
    if (fuse->nparts == SAGOI_FUSED_PARTS_MOST ||
        !sagoi_budget_grow(fuse->budget, (void **)&fuse->parts, fuse->nparts + 1, &fuse->parts_capacity,
                           sizeof *fuse->parts))
        return false;
    fuse->parts[fuse->nparts++] =
        (sagoi_fused_part){.first = fuse->ntrains, .at = fuse->used, .low = low, .high = high};
    return true;
}

/* Copies data in the order of the file. */
static void copy_span(const sagoi_span *span, const sagoi_memory *memory, char **to) {
    for (sagoi_walk run = sagoi_walk_span(span); sagoi_walk_run(&run);) {
        sagoi_copy_stream(*to, run.pos, run.len, memory, SAGOI_TO_FILE);
        *to += run.len;
    }
}

static bool add_stream(sagoi_fuse *fuse, const sagoi_stream *stream) {
    int64_t low, high, bytes = sagoi_extents_bytes(&stream->file);
    bool permuted = stream->file.pattern->permuted;
    char *to = fuse->data + fuse->used;
    sagoi_cursor cursor;
    sagoi_span span;
    sagoi_extents_bounds(&stream->file, &low, &high);
    if (!begin_stream(fuse, low, high))
        return false;
    int64_t first = fuse->parts[fuse->nparts - 1].first;
    sagoi_cursor_init(&cursor, &stream->file);
    while (sagoi_cursor_next(&cursor, SAGOI_NO_LIMIT, &span)) {
        if (!add_span(fuse, first, &span))
            return false;
        if (permuted)
            copy_span(&span, &stream->memory, &to);
    }
    if (!permuted)
        sagoi_copy_stream(to, 0, bytes, &stream->memory, SAGOI_TO_FILE);
    fuse->used += bytes;
    return true;
}

/* The state that adding a call changes, apart from what is appended. */
typedef struct mark {
    sagoi_fuse fuse;
    sagoi_fused_part part;
    sagoi_fused_train train;
} mark;

static mark mark_here(const sagoi_fuse *fuse) {
    mark here = {.fuse = *fuse};
    if (fuse->nparts > 0)
        here.part = fuse->parts[fuse->nparts - 1];
    if (fuse->ntrains > 0)
        here.train = fuse->trains[fuse->ntrains - 1];
    return here;
}

static void go_back(sagoi_fuse *fuse, const mark *to) {
    fuse->used = to->fuse.used;
    fuse->ntrains = to->fuse.ntrains;
    fuse->nparts = to->fuse.nparts;
    if (fuse->nparts > 0)
        fuse->parts[fuse->nparts - 1] = to->part;
    if (fuse->ntrains > 0)
        fuse->trains[fuse->ntrains - 1] = to->train;
}

/* Finds a reason not to add the call. */
static sagoi_fuse_answer try_room(sagoi_fuse *fuse, const sagoi_composed *composed) {
    if (composed->bytes > fuse->room || !has_room(fuse) || composed->bytes > fuse->room)
        return SAGOI_FUSE_NEVER;
    if (composed->bytes > fuse->room - sagoi_fuse_size(fuse))
        return SAGOI_FUSE_FULL;
    return clashes(fuse, composed) ? SAGOI_FUSE_CLASHES : SAGOI_FUSED;
}

sago_status sagoi_fuse_add(sagoi_fuse *fuse, const sagoi_composed *composed, sagoi_fuse_answer *answer) {
    *answer = composed->bytes > 0 ? try_room(fuse, composed) : SAGOI_FUSED;
    if (*answer != SAGOI_FUSED || composed->bytes == 0)
        return SAGO_OK;
    mark before = mark_here(fuse);
    bool added = true;
    for (int64_t i = 0; i < composed->request.nstreams && added; i++)
        added = add_stream(fuse, &composed->request.streams[i]);
    added = added && sagoi_fuse_size(fuse) <= fuse->room;
    sago_status status = sagoi_request_finish_staging(&composed->request);
    if (!status && added)
        return SAGO_OK;
    go_back(fuse, &before);
    *answer = sagoi_fuse_empty(fuse) ? SAGOI_FUSE_NEVER : SAGOI_FUSE_FULL;
    return status;
}

/* ---- What comes out ---- */

static sago_status part_pattern(const sagoi_fuse *fuse, int64_t p, sagoi_pattern *pattern) {
    const sagoi_fused_part *part = &fuse->parts[p];
    sagoi_pattern_init(pattern, fuse->budget);
    for (int64_t i = part->first; i < trains_end(fuse, p); i++) {
        const sagoi_fused_train *train = &fuse->trains[i];
        sagoi_pattern_add_train(pattern, train->off - part->low, train->len, train->count, train->stride);
    }
    return sagoi_pattern_finish(pattern);
}

static sago_status part_stream(const sagoi_fuse *fuse, int64_t p, sagoi_stream *stream) {
    sagoi_pattern *pattern = &fuse->patterns[p];
    sago_status status = part_pattern(fuse, p, pattern);
    *stream = (sagoi_stream){.file = {.pattern = pattern, .base = fuse->parts[p].low, .end = pattern->bytes},
                             .memory = {.base = fuse->data + fuse->parts[p].at}};
    return status;
}

sago_status sagoi_fuse_compose(sagoi_fuse *fuse, sagoi_composed *step) {
    sago_status status = SAGO_OK;
    drop_patterns(fuse); /* patterns of an earlier request that could not be moved */
    if (fuse->nparts == 0)
        return SAGO_OK;
    fuse->patterns = sagoi_budget_alloc(fuse->budget, fuse->nparts * (int64_t)sizeof *fuse->patterns);
    fuse->npatterns = fuse->patterns ? fuse->nparts : 0;
    step->streams = sagoi_budget_alloc(step->budget, fuse->nparts * (int64_t)sizeof *step->streams);
    step->streams_capacity = step->streams ? fuse->nparts : 0;
    if (!fuse->patterns || !step->streams)
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory for a step of %lld streams", (long long)fuse->nparts);
    step->request.streams = step->streams;
    for (int64_t p = 0; p < fuse->nparts && !status; p++) {
        sagoi_stream *stream = &step->streams[step->request.nstreams++];
        status = part_stream(fuse, p, stream);
        step->bytes += status ? 0 : sagoi_extents_bytes(&stream->file);
        step->runs += status ? 0 : sagoi_extents_runs(&stream->file);
    }
    if (!status)
        sagoi_compose_bounds(step);
    else
        step->request.nstreams = 0;
    return status;
}

/* Runs on their way to the file. */
typedef struct batch {
    sagoi_store *store;
    sagoi_io_run runs[SAGOI_FUSED_BATCH];
    int64_t n;
} batch;

static sago_status flush(batch *out) {
    sago_status status = out->n > 0 ? sagoi_store_write(out->store, out->runs, out->n) : SAGO_OK;
    out->n = 0;
    return status;
}

static sago_status store_train(batch *out, const sagoi_fused_train *train, char **from) {
    sago_status status = SAGO_OK;
    for (int64_t i = 0; i < train->count && !status; i++) {
        out->runs[out->n++] = (sagoi_io_run){train->off + i * train->stride, train->len, *from};
        *from += train->len;
        if (out->n == SAGOI_FUSED_BATCH)
            status = flush(out);
    }
    return status;
}

sago_status sagoi_fuse_store(const sagoi_fuse *fuse, sagoi_store *store) {
    batch out; /* not cleared */
    sago_status status = SAGO_OK;
    char *from = fuse->data;
    out.store = store;
    out.n = 0;
    for (int64_t p = 0; p < fuse->nparts && !status; p++) {
        for (int64_t i = fuse->parts[p].first; i < trains_end(fuse, p) && !status; i++)
            status = store_train(&out, &fuse->trains[i], &from);
        if (!status)
            status = flush(&out); /* the next part may lie before this one */
    }
    return status;
}
