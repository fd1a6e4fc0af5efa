/* Waiting for nonblocking calls. */
#include <sched.h>

#include "api/handle.h"
#include "engine/nonblocking.h"
#include "move/convene.h"

static sago_status check_request(sago_request *const *request) {
    if (!request)
        return sagoi_fail(SAGO_ERR_HANDLE, "the pointer to the request is NULL");
    if (*request && !sagoi_live_has(&(*request)->live))
        return sagoi_fail(SAGO_ERR_HANDLE, "the request was waited for already, or is none of Sago's");
    return SAGO_OK;
}

/* Returns how a finished request went, and frees it. */
static sago_status collect(const char *call, sago_request **waited, MPI_Count *bytes) {
    sago_request *request = *waited;
    sago_status status = request->status;
    if (bytes)
        *bytes = (MPI_Count)request->bytes;
    if (status)
        sagoi_message_set(request->message);
    sagoi_live_remove(&request->live);
    sagoi_nonblocking_destroy(waited);
    return sagoi_done(call, NULL, status);
}

static sago_status nothing(const char *call, MPI_Count *bytes, sago_status status) {
    if (bytes)
        *bytes = 0;
    return sagoi_done(call, NULL, status);
}

sago_status sago_wait(sago_request **request, MPI_Count *bytes) {
    sago_status status = check_request(request);
    if (status || !*request)
        return nothing("sago_wait", bytes, status);
    sagoi_stay_begin();
    for (int quiet = 0; !atomic_load(&(*request)->done);)
        if (sagoi_fibers_advance())
            quiet = 0;
        else
            sagoi_fibers_pause(quiet++);
    sagoi_stay_end();
    return collect("sago_wait", request, bytes);
}

/* Lets all calls make progress.  A program that does nothing but test again and again is as good as waiting: then
 * this function stays a little for other ranks to come, which may be testing, too. */
static void look_once(sago_request *request) {
    const double seldom = 1e-3, little = 100e-6;
    double now = sagoi_clock(), last = request->tested;
    sagoi_stay_begin();
    (void)sagoi_fibers_advance();
    while (now - last < seldom && !atomic_load(&request->done) && sagoi_stay_is_brief() &&
           sagoi_clock() - now < little) {
        (void)sched_yield();
        (void)sagoi_fibers_advance();
    }
    sagoi_stay_end();
    request->tested = sagoi_clock();
}

void sago_wait_begin(void) { sagoi_stay_begin(); }
void sago_wait_end(void) { sagoi_stay_end(); }

sago_status sago_test(sago_request **request, int *done, MPI_Count *bytes) {
    sago_status status = check_request(request);
    if (!status && !done)
        status = sagoi_fail(SAGO_ERR_ARG, "there is nowhere to say whether it is done");
    if (!status)
        *done = 1;
    if (status || !*request)
        return nothing("sago_test", bytes, status);
    /* A tool that stands before MPI may call this function from inside Sago's own tests of messages. */
    if (!atomic_load(&(*request)->done) && !sagoi_fibers_locked_here())
        look_once(*request);
    if (atomic_load(&(*request)->done))
        return collect("sago_test", request, bytes);
    *done = 0;
    return nothing("sago_test", bytes, SAGO_OK);
}
