#include "requests.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "own_calls.h"
#include "raise.h"
#include "waits.h"

/* One call.  The queue of its file uses it until it is complete, and the MPI library until its request is freed,
 * which may come first. */
typedef struct dropin_request {
    dropin_started started;
    struct dropin_request *next; /* in the queue of the file; later, in the list of failed ones */
    MPI_Request handle;          /* MPI_REQUEST_NULL: the program will not ask for the result */
    MPI_Count bytes;
    dropin_failure failure;
    bool freed; /* the MPI library will not ask for it again; guarded by the lock of failed ones */
    _Atomic int users;
} dropin_request;

_Atomic int dropin_watched;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the queues */
static dropin_file *busy;                                /* files with a queue */
static double waited;                                    /* seconds; guarded by the lock */

static pthread_mutex_t failed_lock = PTHREAD_MUTEX_INITIALIZER;
static dropin_request *failed; /* failed calls that the program has not freed yet */

/* ---- Failures ---- */

/* The requests that this thread looks at.  Any of them may fail meanwhile, since other threads let calls go on,
 * too. */
static _Thread_local dropin_look look;
/* Failed calls of earlier looks, whose handlers are still to be called. */
static _Thread_local dropin_request *unraised;

/* false: nobody will ask for the result. */
static bool failed_add(dropin_request *request) {
    (void)pthread_mutex_lock(&failed_lock);
    bool asked = !request->freed;
    if (asked) {
        request->next = failed;
        failed = request;
    }
    (void)pthread_mutex_unlock(&failed_lock);
    return asked;
}

/* The MPI library has freed the request; MPICH does so when the program does, complete or not.  true: the call had
 * failed, and was in the list. */
static bool failed_remove(dropin_request *request) {
    bool found = false;
    (void)pthread_mutex_lock(&failed_lock);
    request->freed = true;
    for (dropin_request **at = &failed; *at && !found; at = found ? at : &(*at)->next)
        if (*at == request) {
            *at = request->next;
            found = true;
        }
    (void)pthread_mutex_unlock(&failed_lock);
    return found;
}

/* ---- What the MPI library asks of a generalized request ---- */

static void let_go(dropin_request *request) {
    if (atomic_fetch_sub(&request->users, 1) == 1)
        free(request);
}

/* The MPI library may call a communicator's handler of errors during the look, and that handler may wait, too, or
 * not return: so its waits look by themselves, and the outer look goes on afterwards. */
void dropin_failures_begin(int n, const MPI_Request requests[], dropin_look *before) {
    *before = look;
    look = (dropin_look){.now = true, .n = n, .requests = requests};
    dropin_waiting = false;
}

void dropin_failures_end(const dropin_look *before) {
    look = *before;
    dropin_waiting = true;
}

/* The MPI libraries free a request before they take it from the list. */
static int place_of(const dropin_request *request) {
    int place = 0;
    while (place < look.n && look.requests[place] != request->handle)
        place++;
    return place;
}

static void ended_add(dropin_request *request) {
    dropin_request **at = &look.ended;
    request->failure.place = place_of(request);
    while (*at && (*at)->failure.place < request->failure.place)
        at = &(*at)->next;
    request->next = *at;
    *at = request;
}

bool dropin_failures_next(dropin_failure *failure) {
    dropin_request *next = look.ended;
    if (!next)
        return false;
    look.ended = next->next;
    next->next = NULL;
    dropin_request **at = &unraised;
    while (*at)
        at = &(*at)->next;
    *at = next;
    *failure = next->failure;
    return true;
}

bool dropin_failures_unraised(dropin_failure *failure) {
    dropin_request *first = unraised;
    if (!first)
        return false;
    unraised = first->next;
    *failure = first->failure;
    atomic_fetch_sub(&dropin_watched, 1);
    let_go(first);
    return true;
}

/* waits.c reports errors: from here they would go to a communicator's handler. */
static int query(void *arg, MPI_Status *status) {
    const dropin_request *request = arg;
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    (void)MPI_Status_set_elements_x(status, MPI_BYTE, request->bytes);
    (void)MPI_Status_set_cancelled(status, 0);
    return MPI_SUCCESS;
}

static int release(void *arg) {
    dropin_request *request = arg;
    bool has_failed = failed_remove(request);
    if (has_failed && look.now) { /* watched until its handler is called */
        ended_add(request);
        return MPI_SUCCESS;
    }
    if (has_failed)
        atomic_fetch_sub(&dropin_watched, 1);
    let_go(request);
    return MPI_SUCCESS;
}

static int refuse_cancel(void *arg, int complete) {
    (void)arg, (void)complete; /* it goes on */
    return MPI_SUCCESS;
}

/* ---- Completing; with the lock ---- */

static void complete(dropin_file *file, dropin_request *request, int code) {
    if (!code)
        dropin_count_served(file, request->started.write, request->bytes,
                            dropin_clock() - request->started.seconds - waited);
    waited = 0;
    request->failure = (dropin_failure){.code = code, .file = file->handle, .number = file->number};
    bool watched = code && request->handle != MPI_REQUEST_NULL && failed_add(request); /* until it is freed */
    if (!watched)
        atomic_fetch_sub(&dropin_watched, 1);
    if (request->handle != MPI_REQUEST_NULL)
        (void)DROPIN_DONE(MPI_Grequest_complete(request->handle));
    let_go(request);
}

/* Sago's own tests of messages between nodes go straight to the MPI library: through the drop-in they would take
 * the lock again. */
static sago_status test_started(dropin_request *request, int *done) {
    bool before = dropin_waiting;
    dropin_waiting = true;
    sago_status status = sago_test(&request->started.sago, done, &request->bytes);
    dropin_waiting = before;
    return status;
}

/* true: the call is complete, and was removed. */
static bool advance_request(dropin_file *file, dropin_request *request) {
    int done = 0;
    sago_status status = test_started(request, &done);
    if (!done)
        return false;
    if (status == SAGO_ERR_MEMORY || status == SAGO_ERR_UNSUPPORTED)
        (void)dropin_failed_alone(file); /* its error is dealt with, and does not concern the others */
    complete(file, request, sago_status_mpi_class(status));
    return true;
}

static bool advance_file(dropin_file *file) {
    bool moved = false;
    while (file->started) {
        dropin_request *next = file->started->next;
        if (!advance_request(file, file->started))
            break;
        file->started = next;
        moved = true;
    }
    return moved;
}

bool dropin_requests_advance(void) {
    bool moved = false;
    if (pthread_mutex_trylock(&lock) != 0)
        return false;
    for (dropin_file **at = &busy; *at;) {
        dropin_file *file = *at;
        moved = advance_file(file) || moved;
        if (file->started)
            at = &file->next_busy;
        else
            *at = file->next_busy;
    }
    (void)pthread_mutex_unlock(&lock);
    return moved;
}

static bool is_listed(MPI_Request handle, int n, const MPI_Request requests[]) {
    int i = 0;
    while (i < n && requests[i] != handle)
        i++;
    return handle != MPI_REQUEST_NULL && i < n;
}

MPI_Request dropin_requests_pending(int n, const MPI_Request requests[]) {
    MPI_Request found = MPI_REQUEST_NULL;
    (void)pthread_mutex_lock(&lock);
    for (const dropin_file *file = busy; file && found == MPI_REQUEST_NULL; file = file->next_busy)
        for (const dropin_request *one = file->started; one && found == MPI_REQUEST_NULL; one = one->next)
            if (is_listed(one->handle, n, requests))
                found = one->handle;
    (void)pthread_mutex_unlock(&lock);
    return found;
}

void dropin_requests_finish(dropin_file *file) {
    for (bool more = true; more;) {
        (void)dropin_requests_advance();
        (void)pthread_mutex_lock(&lock);
        more = file->started != NULL;
        (void)pthread_mutex_unlock(&lock);
        if (more)
            (void)usleep(50);
    }
}

void dropin_requests_waited(double seconds) {
    if (pthread_mutex_trylock(&lock) != 0)
        return;
    waited += seconds;
    (void)pthread_mutex_unlock(&lock);
}

/* ---- Starting ---- */

/* Unless it is complete already. */
static void enqueue(dropin_file *file, dropin_request *request) {
    (void)pthread_mutex_lock(&lock);
    if (!file->started && advance_request(file, request)) {
        (void)pthread_mutex_unlock(&lock);
        return;
    }
    if (!file->started) {
        file->next_busy = busy;
        busy = file;
    }
    dropin_request **at = &file->started;
    while (*at)
        at = &(*at)->next;
    *at = request;
    (void)pthread_mutex_unlock(&lock);
}

int dropin_request_start(dropin_file *file, const dropin_started *started, MPI_Request *handle) {
    dropin_request *request = calloc(1, sizeof *request);
    if (!request) { /* the other ranks' calls must not wait for this one for ever */
        sago_request *now = started->sago;
        if (handle)
            *handle = MPI_REQUEST_NULL;
        return dropin_raise(file->handle, sago_wait(&now, NULL));
    }
    request->started = *started;
    request->handle = MPI_REQUEST_NULL;
    atomic_store(&request->users, 2);
    bool kept =
        !handle || DROPIN_DONE(MPI_Grequest_start(query, release, refuse_cancel, request, &request->handle));
    if (handle && kept)
        *handle = request->handle;
    else
        atomic_store(&request->users, 1);
    atomic_fetch_add(&dropin_watched, 1);
    enqueue(file, request);
    return kept ? MPI_SUCCESS : dropin_raise_code(file->handle, MPI_ERR_NO_MEM);
}
