/* Waiting and testing while Sago has nonblocking calls under way: these go on between two looks at the
 * program's requests, some of which may be Sago's.  The program's own requests go on as well, since every look
 * is a call of the MPI library.
 *
 * If a request of Sago's has failed, its error is reported here, through the handler of its file, when the call is
 * over: the MPI libraries would call a communicator's handler, which by default ends the program. */
#include "waits.h"

#include <sched.h>
#include <unistd.h>

#include "raise.h"

enum { YIELDS = 50, SHORT_SLEEPS = 400, SHORT_SLEEP_US = 50, LONG_SLEEP_US = 500 };

dropin_wait_calls dropin_waits_after_mpi, dropin_waits_after_pmpi;
_Thread_local bool dropin_waiting;

/* ---- Between two looks ---- */

static void back_off(bool moved, int *quiet) {
    *quiet = moved ? 0 : *quiet + 1;
    if (*quiet > SHORT_SLEEPS)
        (void)usleep(LONG_SLEEP_US);
    else if (*quiet > YIELDS)
        (void)usleep(SHORT_SLEEP_US);
    else
        (void)sched_yield();
}

/* ---- Failures ---- */

/* The place of the only request that is complete now, if one is. */
static int tell_failure(const dropin_look *before, int code) {
    dropin_failure failure;
    while (dropin_failures_next(&failure))
        code = code ? code : failure.code;
    dropin_failures_end(before);
    return code;
}

/* The place of the status of the request at `place`, of n: the k-th status belongs to the request indices[k], or
 * k. */
static int status_at(int place, int n, const int indices[]) {
    int k = indices ? 0 : place;
    while (indices && k < n && indices[k] != place)
        k++;
    return k;
}

/* Some requests are complete now: puts the errors into their statuses. */
static int tell_failures(const dropin_look *before, int code, int n, const int indices[], MPI_Status statuses[]) {
    dropin_failure failure;
    bool told = code == MPI_ERR_IN_STATUS, wanted = statuses != MPI_STATUSES_IGNORE;
    while (dropin_failures_next(&failure)) {
        int at = status_at(failure.place, n, indices);
        for (int k = 0; k < n && wanted && !told && code == MPI_SUCCESS; k++)
            statuses[k].MPI_ERROR = MPI_SUCCESS;
        told = told || code == MPI_SUCCESS;
        if (wanted && told && at < n)
            statuses[at].MPI_ERROR = failure.code;
    }
    dropin_failures_end(before);
    return told ? MPI_ERR_IN_STATUS : code;
}

/* Calls the error handlers of the files whose requests failed.  A handler may wait for other requests, and need
 * not return (a C++ exception), so calling handlers is the last thing that a wait does.  If one does not return,
 * the handlers that are left are called at the end of the next wait, if their files are still open then. */
int dropin_waited(int code) {
    dropin_failure failure;
    dropin_waiting = false;
    while (dropin_failures_unraised(&failure)) {
        const dropin_file *file = dropin_files_find(failure.file);
        if (file && file->number == failure.number)
            (void)dropin_raise_code(failure.file, failure.code);
    }
    return code;
}

/* ---- One look each ---- */

static int look(MPI_Request *request, int *flag, MPI_Status *status) {
    dropin_look before;
    dropin_failures_begin(1, request, &before);
    return tell_failure(&before, dropin_waits_after_pmpi.Test(request, flag, status));
}

static int look_all(int n, MPI_Request requests[], int *flag, MPI_Status statuses[]) {
    dropin_look before;
    dropin_failures_begin(n, requests, &before);
    return tell_failures(&before, dropin_waits_after_pmpi.Testall(n, requests, flag, statuses), n, NULL, statuses);
}

static int look_any(int n, MPI_Request requests[], int *index, int *flag, MPI_Status *status) {
    dropin_look before;
    dropin_failures_begin(n, requests, &before);
    return tell_failure(&before, dropin_waits_after_pmpi.Testany(n, requests, index, flag, status));
}

static int look_some(int n, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[]) {
    dropin_look before;
    dropin_failures_begin(n, requests, &before);
    int code = dropin_waits_after_pmpi.Testsome(n, requests, done, indices, statuses);
    return tell_failures(&before, code, *done == MPI_UNDEFINED ? 0 : *done, indices, statuses);
}

/* ---- The calls ---- */

int dropin_Test(MPI_Request *request, int *flag, MPI_Status *status) {
    (void)dropin_requests_advance();
    return look(request, flag, status);
}

/* While one of Sago's is under way, the MPI library is asked for that one only; see `queue`. */
int dropin_Testall(int n, MPI_Request requests[], int *flag, MPI_Status statuses[]) {
    (void)dropin_requests_advance();
    MPI_Request pending = requests ? dropin_requests_pending(n, requests) : MPI_REQUEST_NULL;
    int done = 1;
    if (pending != MPI_REQUEST_NULL && flag &&
        dropin_waits_after_pmpi.Request_get_status(pending, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done) {
        *flag = 0;
        return MPI_SUCCESS;
    }
    return look_all(n, requests, flag, statuses);
}

int dropin_Testany(int n, MPI_Request requests[], int *index, int *flag, MPI_Status *status) {
    (void)dropin_requests_advance();
    return look_any(n, requests, index, flag, status);
}

int dropin_Testsome(int n, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[]) {
    (void)dropin_requests_advance();
    return look_some(n, requests, done, indices, statuses);
}

int dropin_Request_get_status(MPI_Request request, int *flag, MPI_Status *status) {
    (void)dropin_requests_advance();
    return dropin_waits_after_pmpi.Request_get_status(request, flag, status);
}

/* Looks again and again, which sets `code` and `flag`, until it is done or an error came. */
#define WAIT_UNTIL(flag, look)                                                                                    \
    int code, quiet = 0;                                                                                          \
    double start = dropin_clock();                                                                                \
    sago_wait_begin();                                                                                            \
    for (bool moved = dropin_requests_advance(); (code = (look)) == MPI_SUCCESS && !(flag);                       \
         moved = dropin_requests_advance())                                                                       \
        back_off(moved, &quiet);                                                                                  \
    sago_wait_end();                                                                                              \
    dropin_requests_waited(dropin_clock() - start);                                                               \
    return code

int dropin_Wait(MPI_Request *request, MPI_Status *status) {
    int flag = 0;
    WAIT_UNTIL(flag, look(request, &flag, status));
}

/* Requests that are waited for together, one after the other: while one of them is looked at, the others go on.
 * MPI_Testall will not do: MPICH may not be asked again while a nonblocking call of ROMIO's own is complete and
 * others are not, since it counts the users of such a request down each time. */
typedef struct queue {
    int n, at; /* the requests before number `at` are done */
    MPI_Request *requests;
    MPI_Status *statuses;
    bool failed;
} queue;

static void note_done(const queue *all, bool first_failure, int code) {
    if (all->statuses == MPI_STATUSES_IGNORE)
        return;
    for (int i = 0; i < all->at && first_failure; i++)
        all->statuses[i].MPI_ERROR = MPI_SUCCESS;
    if (all->failed)
        all->statuses[all->at].MPI_ERROR = code;
}

/* true: all are done. */
static bool look_on(queue *all) {
    for (; all->at < all->n; all->at++) {
        int flag = 0;
        MPI_Status *status = all->statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &all->statuses[all->at];
        int code = look(&all->requests[all->at], &flag, status);
        if (!flag && !code)
            return false;
        bool first_failure = code && !all->failed;
        all->failed = all->failed || code;
        note_done(all, first_failure, code);
    }
    return true;
}

static int wait_for(queue *all) {
    bool done = false;
    WAIT_UNTIL(done, (done = look_on(all), MPI_SUCCESS));
}

int dropin_Waitall(int n, MPI_Request requests[], MPI_Status statuses[]) {
    if (n < 0 || !requests) /* for which the MPI library has its own words */
        return dropin_waits_after_pmpi.Waitall(n, requests, statuses);
    queue all = {.n = n, .requests = requests, .statuses = statuses};
    int code = wait_for(&all);
    return all.failed ? MPI_ERR_IN_STATUS : code;
}

int dropin_Waitany(int n, MPI_Request requests[], int *index, MPI_Status *status) {
    int flag = 0;
    WAIT_UNTIL(flag, look_any(n, requests, index, &flag, status));
}

int dropin_Waitsome(int n, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[]) {
    WAIT_UNTIL(*done != 0, look_some(n, requests, done, indices, statuses));
}
