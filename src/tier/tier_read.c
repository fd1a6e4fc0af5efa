/* Independent reads of a file with a local tier: for each byte, the latest data that this rank knows of.
 *
 * A rank knows its own calls; of each collective call it knows the range that any rank wrote, and what its
 * neighbourhood wrote if that has no gaps.  The calls are looked at from the oldest to the latest.  Bytes that
 * this rank wrote, or its neighbourhood without gaps, are in the local file.  Other bytes in the range of a
 * collective call may be another rank's, perhaps on storage that this rank does not see: to read such bytes is
 * an error.  All other bytes are in the global file.  What other ranks wrote by independent calls this rank
 * cannot know; as MPI has it, such writes are seen after sago_sync(). */
#include <string.h>

#include "tier/tier_state.h"
#include "base/checked.h"

enum { IN_GLOBAL, IN_LOCAL, UNKNOWN };

/* A range of the file. */
typedef struct window {
    int64_t start, end;
    char *global, *local; /* its bytes in the two files; in the end `global` has the latest of all */
    unsigned char *where; /* for each byte: which file has the latest data */
} window;

static void set_range(window *w, int64_t low, int64_t high, int value) {
    low = sagoi_max(low, w->start);
    high = sagoi_min(high, w->end);
    if (low < high)
        memset(w->where + (low - w->start), value, (size_t)(high - low));
}

typedef sago_status (*run_visitor)(window *w, int64_t low, int64_t high);

/* Calls `each` for every run of the request in the window, until a call fails. */
static sago_status for_runs(window *w, const sagoi_request *request, run_visitor visit) {
    sago_status status = SAGO_OK;
    for (int64_t i = 0; i < request->nstreams && !status; i++) {
        sagoi_cursor cursor;
        sagoi_span span;
        sagoi_cursor_init(&cursor, &request->streams[i].file);
        sagoi_cursor_seek(&cursor, w->start);
        while (!status && sagoi_cursor_next(&cursor, w->end, &span))
            for (sagoi_walk run = sagoi_walk_span(&span); !status && sagoi_walk_run(&run);)
                status = visit(w, run.off, run.off + run.len);
    }
    return status;
}

static sago_status set_local(window *w, int64_t low, int64_t high) {
    set_range(w, low, high, IN_LOCAL);
    return SAGO_OK;
}

static sago_status set_call(sago_file *file, const sagoi_logged *entry, window *w) {
    sagoi_composed composed;
    set_range(w, entry->all.low, entry->all.high, UNKNOWN);
    set_range(w, entry->near.low, entry->near.high, IN_LOCAL);
    sagoi_composed_init(&composed, SAGOI_TO_FILE, &file->budget);
    sago_status status = sagoi_tier_compose_place(&composed, &entry->call);
    if (!status) /* the bytes that this rank wrote in the call */
        status = for_runs(w, &composed.request, set_local);
    sagoi_composed_cleanup(&composed);
    return status;
}

/* Reads the window from a file; bytes past the file's end stay zero. */
static sago_status load(sagoi_store *store, const window *w, char *to) {
    sagoi_io_run run = {.off = w->start, .len = w->end - w->start, .buf = to};
    return sagoi_store_read(store, &run, 1, NULL);
}

static sago_status fill(sago_file *file, window *w) {
    memset(w->where, IN_GLOBAL, (size_t)(w->end - w->start));
    memset(w->global, 0, (size_t)(w->end - w->start));
    sago_status status = SAGO_OK;
    for (const sagoi_logged *entry = file->tier->first; entry && !status; entry = entry->next)
        status = set_call(file, entry, w);
    if (!status)
        status = load(file->store, w, w->global);
    bool local = !status && memchr(w->where, IN_LOCAL, (size_t)(w->end - w->start));
    if (!local)
        return status;
    status = load(file->tier->local->store, w, w->local);
    for (int64_t i = 0; i < w->end - w->start; i++)
        w->global[i] = w->where[i] == IN_LOCAL ? w->local[i] : w->global[i];
    return status;
}

static sago_status check_readable(window *w, int64_t low, int64_t high) {
    if (memchr(w->where + (low - w->start), UNKNOWN, (size_t)(high - low)))
        return sagoi_fail(SAGO_ERR_STATE,
                          "bytes from %lld to %lld may have been written by other ranks, and are still in local "
                          "storage (sago_tier): call sago_sync first",
                          (long long)low, (long long)high);
    return SAGO_OK;
}

static sago_status read_windows(sago_file *file, const sagoi_request *request, window *w) {
    int64_t high = sagoi_min(request->high, request->limit);
    sago_status status = SAGO_OK;
    for (w->start = request->low; w->start < high && !status; w->start = w->end) {
        w->end = sagoi_min(w->start + SAGOI_TIER_READ_WINDOW, high);
        status = fill(file, w);
        if (!status)
            status = for_runs(w, request, check_readable);
        if (!status)
            (void)sagoi_request_copy(request, w->start, w->end, w->global, NULL);
    }
    return status;
}

sago_status sagoi_tier_read_alone(sago_file *file, sagoi_composed *composed, int64_t *bytes) {
    sagoi_request *request = &composed->request;
    int64_t size = 0;
    sagoi_lone_part part = {.route = {.method = SAGOI_METHOD_NONE}};
    if (!file->tier->first)
        return sagoi_engine_alone(file, composed, &part, bytes);
    sago_status status = sagoi_store_size(file->store, &size);
    if (status)
        return status;
    size = sagoi_max(size, sagoi_tier_end(file));
    request->limit = size;
    char *room = sagoi_budget_alloc(&file->budget, (int64_t)3 * SAGOI_TIER_READ_WINDOW);
    if (!room)
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory to read from local storage");
    window w = {.global = room,
                .local = room + SAGOI_TIER_READ_WINDOW,
                .where = (unsigned char *)room + 2 * SAGOI_TIER_READ_WINDOW};
    status = read_windows(file, request, &w);
    if (!status)
        status = sagoi_request_finish_staging(request);
    sagoi_budget_free(&file->budget, room);
    if (status)
        return status;
    *bytes = request->high <= size ? composed->bytes : sagoi_bytes_below(request, size);
    file->stats.bytes_read += *bytes;
    file->stats.routes[SAGO_ROUTE_LOCAL]++;
    return SAGO_OK;
}
