/* Deferred writes.
 *
 * Every rank has the same list of deferred calls: which range a call covers, and whether its runs tile it, was
 * agreed on when it was deferred.  So all ranks decide alike, without another word, whether the calls may be moved
 * as one step (paper 000), or have to follow one another because bytes may have been written twice.
 *
 * A rank may write its own part of the list by itself at any time, since an independent access of its own must
 * find it in the file.  The calls stay in the list: the others may have more of them.  If one of these writes the
 * same bytes in an earlier call, theirs comes last now: of such ranks MPI demands a sync in between. */
#include "api/defer.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "api/handle.h"
#include "base/checked.h"
#include "base/fiber.h"
#include "engine/share.h"
#include "machine/memory.h"

enum { MOST_CALLS = 1024 };         /* each costs a little in every round of a flush */
enum { MOST_BYTES = 64 * 1048576 }; /* of a rank, where nobody set a limit */

typedef struct deferred_call {
    sagoi_composed composed; /* this rank's part; its memory is `data` */
    char *data;              /* packed; composed.bytes */
    sagoi_deferral whole;    /* of all ranks */
    sagoi_view view;         /* replaced since this call, and needed by it or calls before; else empty */
    int64_t memory;          /* that it counts for, bytes */
    bool written;            /* by this rank alone */
    struct deferred_call *next;
} deferred_call;

typedef struct sagoi_pending {
    pthread_mutex_t lock; /* of the list, and of what is `written` */
    deferred_call *first, *last;
    int64_t calls;
    int64_t memory, limit; /* bytes, of this rank */
    int64_t own_flushes;
    sagoi_deferral ranges[MOST_CALLS]; /* for sorting */
} sagoi_pending;

/* ---- Life ---- */

/* Half of what the user allows, the other half being for moving it. */
static int64_t limit_of(const sago_file *file) {
    int64_t hint = file->hints.memory, mine = sagoi_share_part(), ranks = file->team->host_ranks;
    if (hint > 0)
        return sagoi_memory_share(hint / 2, mine, ranks);
    return sagoi_min(sagoi_memory_share(sagoi_memory_available("") / 8, mine, ranks), MOST_BYTES);
}

sago_status sagoi_pending_create(sago_file *file) {
    if (!file->hints.defer)
        return SAGO_OK;
    file->deferred = sagoi_budget_alloc(&file->budget, sizeof *file->deferred);
    if (!file->deferred)
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory for the list of deferred calls");
    (void)pthread_mutex_init(&file->deferred->lock, NULL);
    file->deferred->limit = limit_of(file);
    return SAGO_OK;
}

static void call_free(sago_file *file, deferred_call *call) {
    sagoi_budget_free(&file->budget, call->data, call->composed.bytes);
    sagoi_composed_cleanup(&call->composed);
    sagoi_view_cleanup(&call->view);
    sagoi_budget_free(&file->budget, call, sizeof *call);
}

/* Drops all calls before `stop`; NULL: all. */
static void drop_calls(sago_file *file, const deferred_call *stop) {
    sagoi_pending *pending = file->deferred;
    (void)pthread_mutex_lock(&pending->lock);
    while (pending->first != stop) {
        deferred_call *call = pending->first;
        pending->first = call->next;
        pending->calls--;
        pending->memory -= call->memory;
        call_free(file, call);
    }
    if (!stop)
        pending->last = NULL;
    (void)pthread_mutex_unlock(&pending->lock);
}

void sagoi_pending_destroy(sago_file *file) {
    if (!file->deferred)
        return;
    drop_calls(file, NULL);
    (void)pthread_mutex_destroy(&file->deferred->lock);
    sagoi_budget_free(&file->budget, file->deferred, sizeof *file->deferred);
    file->deferred = NULL;
}

static int64_t pattern_memory(const sagoi_pattern *pattern) {
    return pattern ? pattern->pieces_capacity * (int64_t)sizeof *pattern->pieces +
                         pattern->runs_capacity * (int64_t)sizeof *pattern->runs
                   : 0;
}

/* If the last call has an old view already, then none was deferred since, and nobody needs this one. */
void sagoi_pending_keep_view(sago_file *file, sagoi_view *view) {
    deferred_call *last = file->deferred ? file->deferred->last : NULL;
    if (!last || last->view.etype_size > 0) {
        sagoi_view_cleanup(view);
        return;
    }
    int64_t memory = pattern_memory(&view->filetype->flat.pattern);
    last->view = *view;
    last->memory += memory;
    file->deferred->memory += memory;
    memset(view, 0, sizeof *view);
}

/* ---- Deferring ---- */

/* A call with its data; the rest follows when it is agreed on.  NULL without memory. */
static deferred_call *call_make(sago_file *file, const sagoi_composed *composed) {
    deferred_call *call = sagoi_budget_alloc(&file->budget, sizeof *call);
    if (!call)
        return NULL;
    call->data = sagoi_budget_alloc(&file->budget, composed->bytes);
    if (!call->data) {
        sagoi_budget_free(&file->budget, call, sizeof *call);
        return NULL;
    }
    char *to = call->data;
    for (int64_t i = 0; i < composed->request.nstreams; i++) {
        const sagoi_stream *stream = &composed->request.streams[i];
        int64_t bytes = sagoi_extents_bytes(&stream->file);
        sagoi_copy_stream(to, 0, bytes, &stream->memory, SAGOI_TO_FILE);
        to += bytes;
    }
    return call;
}

static void call_unmake(sago_file *file, deferred_call *call, const sagoi_composed *composed) {
    if (!call)
        return;
    sagoi_budget_free(&file->budget, call->data, composed->bytes);
    sagoi_budget_free(&file->budget, call, sizeof *call);
}

/* The streams lead to the copy. */
static void call_take(deferred_call *call, sagoi_composed *composed) {
    sagoi_composed_move(&call->composed, composed);
    char *from = call->data;
    for (int64_t i = 0; i < call->composed.request.nstreams; i++) {
        sagoi_stream *stream = &call->composed.request.streams[i];
        stream->memory = (sagoi_memory){.base = from};
        from += sagoi_extents_bytes(&stream->file);
    }
    sagoi_composed_unstage(&call->composed);
}

static void call_append(sagoi_pending *pending, deferred_call *call) {
    (void)pthread_mutex_lock(&pending->lock);
    if (pending->last)
        pending->last->next = call;
    else
        pending->first = call;
    pending->last = call;
    pending->calls++;
    pending->memory += call->memory;
    (void)pthread_mutex_unlock(&pending->lock);
}

/* What a deferred call keeps, the view apart. */
static int64_t memory_of(const sago_file *file, const sagoi_composed *composed) {
    int64_t memory = composed->bytes + (int64_t)sizeof(deferred_call);
    for (int64_t i = 0; i < composed->request.nstreams; i++) {
        const sagoi_stream *stream = &composed->request.streams[i];
        memory += (int64_t)sizeof *stream + pattern_memory(stream->memory.extents.pattern);
        if (stream->file.pattern != &file->view.filetype->flat.pattern)
            memory += pattern_memory(stream->file.pattern);
    }
    return memory;
}

enum { FITS, CLASHES, FITS_WHEN_FLUSHED, NEVER_FITS }; /* what stands against deferring a call */

static int64_t shortage_of(const sagoi_pending *pending, int64_t memory) {
    if (memory > pending->limit)
        return NEVER_FITS;
    bool full = pending->calls == MOST_CALLS || memory > pending->limit - pending->memory;
    return full && pending->calls > 0 ? FITS_WHEN_FLUSHED : FITS;
}

/* Are its runs a gapless range, and nothing twice? */
static bool tiles(const sago_file *file, const sagoi_deferral *one) {
    return one->cover == sagoi_mix(file->cover_key, one->high) - sagoi_mix(file->cover_key, one->low);
}

/* Do calls surely write the same bytes, or as good as surely?  Pieces in turn do not look so. */
static bool clash(const sago_file *file, const sagoi_deferral *one, const sagoi_deferral *other) {
    int64_t span = sagoi_max(one->high, other->high) - sagoi_min(one->low, other->low);
    return one->low < other->high && other->low < one->high &&
           (tiles(file, one) || tiles(file, other) || one->bytes + other->bytes > (uint64_t)span);
}

/* Then what is deferred is moved first, so that no rank can write by itself what an earlier call of another rank
 * would overwrite. */
static bool clashes(const sago_file *file, const sagoi_deferral *wanted) {
    for (const deferred_call *call = file->deferred->first; call; call = call->next)
        if (clash(file, &call->whole, wanted))
            return true;
    return false;
}

/* One try: FITS if the call is deferred now, or there is nothing to write. */
static sago_status try_to_defer(sago_file *file, sagoi_composed *composed, sago_status status, int64_t memory,
                                int64_t *shortage) {
    deferred_call *call = NULL;
    sagoi_deferral agreed = {.shortage = status ? FITS : shortage_of(file->deferred, memory)};
    if (!status && agreed.shortage == FITS) {
        double start = sagoi_now();
        call = call_make(file, composed);
        agreed.shortage = call ? FITS : NEVER_FITS;
        status = call ? sagoi_request_settle(&composed->request) : SAGO_OK;
        (void)sagoi_phase_end(&file->stats, SAGO_PHASE_GATHER, start);
    }
    double start = sagoi_now();
    status = sagoi_engine_agree_deferral(file, composed, status, &agreed);
    (void)sagoi_phase_end(&file->stats, SAGO_PHASE_PLAN, start);
    if (!status && agreed.shortage == FITS && clashes(file, &agreed))
        agreed.shortage = CLASHES;
    *shortage = agreed.shortage;
    if (status || agreed.low == agreed.high || agreed.shortage != FITS || !call) {
        call_unmake(file, call, composed);
        return status;
    }
    call->whole = agreed;
    call->memory = memory;
    file->stats.deferred_writes++;
    file->stats.collective_writes++;
    file->stats.bytes_written += composed->bytes;
    call_take(call, composed);
    call_append(file->deferred, call);
    return SAGO_OK;
}

sago_status sagoi_defer_write(sago_file *file, sagoi_composed *composed, sago_status status, int64_t *bytes) {
    int64_t shortage = FITS, asked = composed->bytes, memory = memory_of(file, composed);
    *bytes = 0;
    do {
        status = try_to_defer(file, composed, status, memory, &shortage);
        if (!status && shortage != FITS)
            status = sagoi_flush(file, shortage == CLASHES ? SAGO_FLUSH_OVERLAP : SAGO_FLUSH_MEMORY);
    } while (!status && (shortage == CLASHES || shortage == FITS_WHEN_FLUSHED));
    if (!status && shortage == NEVER_FITS)
        return sagoi_engine_run(file, composed, SAGO_OK, bytes);
    *bytes = status ? 0 : asked;
    return status;
}

/* ---- Flushing, all ranks ---- */

static int compare_ranges(const void *a, const void *b) {
    const sagoi_deferral *one = a, *other = b;
    return (one->low > other->low) - (one->low < other->low);
}

/* May all calls be moved as one step?  Of calls whose ranges overlap it is known that they write no byte twice
 * only if together they tile the range of them all. */
static bool is_one_step(const sago_file *file) {
    sagoi_pending *pending = file->deferred;
    int64_t n = 0;
    for (const deferred_call *call = pending->first; call; call = call->next)
        pending->ranges[n++] = call->whole;
    qsort(pending->ranges, (size_t)n, sizeof *pending->ranges, compare_ranges);
    for (int64_t i = 0, next; i < n; i = next) {
        sagoi_deferral together = pending->ranges[i];
        for (next = i + 1; next < n && pending->ranges[next].low < together.high; next++) {
            together.high = sagoi_max(together.high, pending->ranges[next].high);
            together.cover += pending->ranges[next].cover;
        }
        if (next > i + 1 && !tiles(file, &together))
            return false;
    }
    return true;
}

/* The streams of the calls from `first` to before `stop` as one request. */
static sago_status gather(const deferred_call *first, const deferred_call *stop, sagoi_composed *step) {
    int64_t n = 0;
    for (const deferred_call *call = first; call != stop; call = call->next)
        n += call->written ? 0 : call->composed.request.nstreams;
    step->streams = sagoi_budget_alloc(step->budget, n * (int64_t)sizeof *step->streams);
    if (!step->streams)
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory for a step of %lld streams", (long long)n);
    step->streams_capacity = n;
    step->request.streams = step->streams;
    for (const deferred_call *call = first; call != stop; call = call->next) {
        if (call->written)
            continue;
        for (int64_t i = 0; i < call->composed.request.nstreams; i++)
            step->streams[step->request.nstreams++] = call->composed.request.streams[i];
        step->bytes += call->composed.bytes;
        step->runs += call->composed.runs;
    }
    sagoi_compose_bounds(step);
    return SAGO_OK;
}

/* Collective. */
static sago_status move_calls(sago_file *file, const deferred_call *first, const deferred_call *stop) {
    sagoi_composed step;
    int64_t bytes;
    sagoi_composed_init(&step, SAGOI_TO_FILE, &file->budget);
    step.flush = true;
    step.nonblocking = file->serves_started;
    (void)pthread_mutex_lock(&file->deferred->lock);
    sago_status status = gather(first, stop, &step);
    (void)pthread_mutex_unlock(&file->deferred->lock);
    status = sagoi_engine_run(file, &step, status, &bytes);
    sagoi_composed_cleanup(&step);
    file->stats.flush_steps++;
    return status;
}

static sago_status move_in_turn(sago_file *file) {
    sago_status status = SAGO_OK;
    while (!status && file->deferred->first) {
        const deferred_call *next = file->deferred->first->next;
        status = move_calls(file, file->deferred->first, next);
        if (!status)
            drop_calls(file, next);
    }
    return status;
}

/* Where there is no memory even for the smallest plan: every rank writes its own, call by call. */
static sago_status write_in_turn(sago_file *file) {
    sago_status status = SAGO_OK;
    while (!status && file->deferred->first) {
        deferred_call *call = file->deferred->first;
        if (!call->written)
            status = sagoi_move_alone(file, &call->composed.request);
        status = sagoi_agree_status(file->team, status);
        if (!status)
            drop_calls(file, call->next);
    }
    return status;
}

sago_status sagoi_flush(sago_file *file, sago_flush reason) {
    sagoi_pending *pending = file->deferred;
    if (!pending || pending->calls == 0)
        return SAGO_OK;
    file->stats.flushes[reason]++;
    bool one_step = is_one_step(file);
    sago_status status = one_step ? move_calls(file, pending->first, NULL) : move_in_turn(file);
    if (status == SAGO_ERR_MEMORY)
        status = write_in_turn(file);
    if (!status)
        drop_calls(file, NULL);
    return status;
}

/* ---- Flushing, this rank ---- */

static sago_status write_own(sago_file *file) {
    sagoi_pending *pending = file->deferred;
    bool wrote = false;
    sago_status status = SAGO_OK;
    for (deferred_call *call = pending->first; call && !status; call = call->next) {
        const sagoi_request *request = &call->composed.request;
        if (call->written || request->nstreams == 0)
            continue;
        status = sagoi_move_alone(file, request);
        if (status)
            break;
        call->written = wrote = true;
        file->written_end = sagoi_max(file->written_end, request->high);
    }
    pending->own_flushes += wrote;
    return status;
}

sago_status sagoi_flush_own(sago_file *file) {
    sagoi_pending *pending = file->deferred;
    if (!pending)
        return SAGO_OK;
    (void)pthread_mutex_lock(&pending->lock);
    sago_status status = write_own(file);
    (void)pthread_mutex_unlock(&pending->lock);
    return status;
}

int64_t sagoi_own_flushes(const sago_file *file) { return file->deferred ? file->deferred->own_flushes : 0; }

/* ---- For users ---- */

sago_status sago_flush_all(sago_file *file) {
    sago_status status = sagoi_check_collective(file);
    if (status)
        return sagoi_done("sago_flush_all", NULL, status);
    return sagoi_done("sago_flush_all", file->path, sagoi_flush(file, SAGO_FLUSH_ASKED));
}

sago_status sago_flush_own(sago_file *file) {
    sago_status status = sagoi_check_file(file);
    if (status)
        return sagoi_done("sago_flush_own", NULL, status);
    return sagoi_done("sago_flush_own", file->path, sagoi_flush_own(file));
}
