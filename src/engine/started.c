#include "engine/started.h"

#include <stdio.h>
#include <stdlib.h>

#include "engine/engine.h"

sago_status sagoi_started_create(sago_file *file, const char *call, sagoi_direction direction,
                                 sago_request **created) {
    sago_request *request = calloc(1, sizeof *request);
    if (!request)
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory for a request");
    if (!file->fiber) {
        sago_status status = sagoi_fiber_create(&file->budget, &file->fiber);
        if (status) {
            free(request);
            return status;
        }
    }
    request->file = file;
    request->call = call;
    sagoi_composed_init(&request->composed, direction, &file->budget);
    request->composed.nonblocking = true;
    *created = request;
    return SAGO_OK;
}

void sagoi_started_destroy(sago_request **request) {
    free(*request);
    *request = NULL;
}

/* ---- On the fiber ---- */

static void run(sago_file *file, sago_request *request) {
    sago_status before = request->before ? request->before(file) : SAGO_OK;
    if (!before && request->status)
        sagoi_message_set(request->message);
    sago_status status =
        sagoi_engine_run(file, &request->composed, before ? before : request->status, &request->bytes);
    sagoi_composed_cleanup(&request->composed);
    if (status)
        sagoi_message_prefix("%s: %s: ", request->call, file->path);
    else
        sagoi_message_clear();
    (void)snprintf(request->message, sizeof request->message, "%s", sagoi_message());
    request->status = status;
    request->file = NULL;
}

static void run_all(void *arg) {
    sago_file *file = arg;
    while (file->first) {
        sago_request *request = file->first;
        run(file, request);
        file->first = request->next;
        if (!file->first)
            file->last = NULL;
        file->stats.nonblocking_calls++;
        atomic_fetch_sub(&file->pending, 1);
        if (request->dropped)
            sagoi_started_destroy(&request);
        else
            atomic_store(&request->done, true); /* from here on another thread may free it */
    }
}

/* ---- Outside ---- */

void sagoi_started_run(sago_request *request, sago_status status) {
    sago_file *file = request->file;
    request->status = status;
    (void)snprintf(request->message, sizeof request->message, "%s", status ? sagoi_message() : "");
    sagoi_fibers_lock();
    if (file->last)
        file->last->next = request;
    else
        file->first = request;
    file->last = request;
    atomic_fetch_add(&file->pending, 1);
    if (!sagoi_fiber_active(file->fiber))
        sagoi_fiber_start(file->fiber, run_all, file);
    sagoi_fibers_unlock();
}

SAGOI_OFTEN void sagoi_started_settle(sago_file *file) {
    for (int quiet = 0; atomic_load(&file->pending) > 0;)
        if (sagoi_fibers_advance())
            quiet = 0;
        else
            sagoi_fibers_rest(quiet++);
}

void sagoi_started_hold(sago_file *file, bool *held) {
    *held = atomic_load(&file->pending) > 0;
    if (*held)
        sagoi_fibers_lock();
}

void sagoi_started_release(bool held) {
    if (held)
        sagoi_fibers_unlock();
}
