#include "engine/nonblocking.h"

#include <stdlib.h>
#include <string.h>

#include "engine/dispatch.h"
#include "move/convene.h"

static void init(sago_request *request, sago_file *file, const char *call, sagoi_direction direction) {
    request->number = file->started_calls;
    request->file = file;
    request->call = call;
    sagoi_composed_init(&request->composed, direction, &file->budget);
    request->composed.request.nonblocking = true;
}

sago_status sagoi_nonblocking_create(sago_file *file, const char *call, sagoi_direction direction,
                                     sago_request **created) {
    sago_request *request = calloc(1, sizeof *request);
    file->started_calls++;
    if (!request)
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory for a request");
    init(request, file, call, direction);
    *created = request;
    return SAGO_OK;
}

void sagoi_nonblocking_init(sago_request *request, sago_file *file, const char *call, sagoi_direction direction) {
    memset(request, 0, sizeof *request);
    file->started_calls++;
    init(request, file, call, direction);
}

void sagoi_nonblocking_destroy(sago_request **request) {
    free(*request);
    *request = NULL;
}

static void keep_message(sago_request *request, sago_status status) {
    if (status)
        sagoi_message_keep(request->message);
    else
        request->message[0] = '\0';
}

static void run(sago_file *file, sago_request *request) {
    sago_status status = sagoi_dispatch_started(file, request);
    sagoi_composed_cleanup(&request->composed);
    if (status)
        sagoi_message_prefix("%s: %s: ", request->call, file->path);
    else
        sagoi_message_clear();
    keep_message(request, status);
    request->status = status;
    request->file = NULL;
    file->stats.nonblocking_calls++;
}

/* The request is done.  From here on another thread may free it. */
static void finish(sago_request *request) {
    if (request->dropped)
        sagoi_nonblocking_destroy(&request);
    else
        atomic_store(&request->done, true);
}

/* ---- On the fiber ---- */

static void run_all(void *arg) {
    sago_file *file = arg;
    while (file->first) {
        sago_request *request = file->first;
        run(file, request);
        file->first = request->next;
        if (!file->first) {
            file->last = NULL;
            sagoi_budget_count(&file->budget, -SAGOI_STACK_BYTES);
        }
        atomic_fetch_sub(&file->pending, 1); /* with the last call the file is its owner's again */
        finish(request);
    }
}

/* ---- Outside ---- */

/* Puts a request into the queue; the caller holds the lock.  The file's fiber runs as long as the queue has
 * requests.  false: the queue was empty, and there is no memory for a fiber. */
static bool enqueue(sago_file *file, sago_request *request) {
    sago_request *last = file->last;
    file->last = request;
    *(last ? &last->next : &file->first) = request;
    atomic_fetch_add(&file->pending, 1);
    if (last)
        return true;
    /* Counted before the fiber runs, since run_all() takes the count back. */
    sagoi_budget_count(&file->budget, SAGOI_STACK_BYTES);
    if (sagoi_fiber_start(run_all, file) == SAGO_OK)
        return true;
    sagoi_budget_count(&file->budget, -SAGOI_STACK_BYTES);
    file->first = file->last = NULL;
    atomic_fetch_sub(&file->pending, 1);
    return false;
}

/* Runs a call on the caller's stack.  Where ranks come together (convene.h) the lock is held, as on a fiber.  It
 * is not held where the call waits for other ranks, which may wait for what other fibers do. */
static void run_here(sago_request *request) {
    bool apart = request->part.route.choice.company == SAGOI_CONVENE;
    request->at_once = true;
    if (apart)
        sagoi_fibers_lock();
    run(request->file, request);
    if (apart)
        sagoi_fibers_unlock();
    finish(request);
}

void sagoi_nonblocking_run_at_once(sago_request *request, sago_status wrong) {
    request->status = wrong;
    keep_message(request, wrong);
    run_here(request);
}

/* Without memory for a stack the call runs here.  Where ranks wait for each other this call then waits after all,
 * since the other ranks, which have started theirs, would wait for ever; else it goes alone. */
void sagoi_nonblocking_run(sago_request *request, sago_status wrong) {
    request->status = wrong;
    keep_message(request, wrong);
    sagoi_fibers_lock();
    bool queued = enqueue(request->file, request);
    sagoi_fibers_unlock();
    if (!queued)
        run_here(request);
}

void sagoi_nonblocking_finish(sago_file *file) {
    if (atomic_load(&file->pending) == 0)
        return;
    sagoi_stay_begin();
    for (int quiet = 0; atomic_load(&file->pending) > 0;)
        if (sagoi_fibers_advance())
            quiet = 0;
        else
            sagoi_fibers_pause(quiet++);
    sagoi_stay_end();
}

void sagoi_nonblocking_end(void) {
    sagoi_fibers_lock();
    sagoi_fibers_unlock();
}

void sagoi_nonblocking_hold(sago_file *file, bool *held) {
    *held = atomic_load(&file->pending) > 0;
    if (*held)
        sagoi_fibers_lock();
}

void sagoi_nonblocking_release(bool held) {
    if (held)
        sagoi_fibers_unlock();
}
