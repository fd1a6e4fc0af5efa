/* Waiting and testing while Sago has nonblocking calls under way: they go on between two looks at the program's
 * requests, of which some may be Sago's.  The program's own go on as well, since every look is a call of the MPI
 * library.
 *
 * When a request of Sago's has failed, its error is told here, through the handler of its file: the MPI libraries
 * would take a communicator's, which by default ends the program. */
#include "waits.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "entries.h"
#include "raise.h"
#include "requests.h"

enum { YIELDS = 50, SHORT_SLEEPS = 400, SHORT_SLEEP_US = 50, LONG_SLEEP_US = 500 };

static dropin_wait_calls after_mpi, after_pmpi;
static _Thread_local bool inside; /* of one of these: what is called from here goes straight to the MPI library */

static void find(dropin_next *next, const char *name, void *mpi, void *pmpi) {
    void *one = next(name + 1), *other = next(name);
    memcpy(mpi, &one, sizeof one);
    memcpy(pmpi, &other, sizeof other);
}

const dropin_wait_calls *dropin_waits(void) { return &after_pmpi; }

/* ---- Between two looks ---- */

static void rest(bool moved, int *quiet) {
    *quiet = moved ? 0 : *quiet + 1;
    if (*quiet > SHORT_SLEEPS)
        (void)usleep(LONG_SLEEP_US);
    else if (*quiet > YIELDS)
        (void)usleep(SHORT_SLEEP_US);
    else
        (void)sched_yield();
}

/* ---- Failures: looked up before the library frees their requests ---- */

static int raise_failure(const dropin_failure *failure) { return dropin_raise_code(failure->file, failure->code); }

/* One for each request; NULL: none has failed. */
static dropin_failure *failures_of(int n, const MPI_Request requests[]) {
    dropin_failure *list = n > 0 && dropin_requests_failed() ? calloc((size_t)n, sizeof *list) : NULL;
    for (int i = 0; list && i < n; i++)
        list[i] = dropin_request_failure(requests[i]);
    return list;
}

/* Of several requests that are complete now, the k-th is number indices[k], or k: says in the statuses which
 * failed. */
static int tell_failures(int code, const dropin_failure *list, int n, const int indices[], MPI_Status statuses[]) {
    bool any = false, told = code == MPI_ERR_IN_STATUS;
    for (int k = 0; list && k < n; k++)
        any = any || list[indices ? indices[k] : k].code != MPI_SUCCESS;
    if (!any || (code != MPI_SUCCESS && !told))
        return code;
    for (int k = 0; k < n; k++) {
        const dropin_failure *failure = &list[indices ? indices[k] : k];
        if (statuses != MPI_STATUSES_IGNORE && (failure->code || !told))
            statuses[k].MPI_ERROR = failure->code;
        (void)raise_failure(failure);
    }
    return MPI_ERR_IN_STATUS;
}

/* ---- One look each ---- */

static int look(MPI_Request *request, int *flag, MPI_Status *status) {
    dropin_failure *failure = failures_of(1, request);
    int code = after_pmpi.Test(request, flag, status);
    if (failure && !code && *flag && failure->code)
        code = raise_failure(failure);
    free(failure);
    return code;
}

static int look_all(int n, MPI_Request requests[], int *flag, MPI_Status statuses[]) {
    dropin_failure *failures = failures_of(n, requests);
    int code = after_pmpi.Testall(n, requests, flag, statuses);
    if (failures && *flag)
        code = tell_failures(code, failures, n, NULL, statuses);
    free(failures);
    return code;
}

static int look_any(int n, MPI_Request requests[], int *index, int *flag, MPI_Status *status) {
    dropin_failure *failures = failures_of(n, requests);
    int code = after_pmpi.Testany(n, requests, index, flag, status);
    if (failures && !code && *flag && *index != MPI_UNDEFINED && failures[*index].code)
        code = raise_failure(&failures[*index]);
    free(failures);
    return code;
}

static int look_some(int n, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[]) {
    dropin_failure *failures = failures_of(n, requests);
    int code = after_pmpi.Testsome(n, requests, done, indices, statuses);
    if (failures && *done != MPI_UNDEFINED)
        code = tell_failures(code, failures, *done, indices, statuses);
    free(failures);
    return code;
}

/* ---- The calls ---- */

static int dropin_Test(MPI_Request *request, int *flag, MPI_Status *status) {
    (void)dropin_requests_advance();
    return look(request, flag, status);
}

static int dropin_Testall(int n, MPI_Request requests[], int *flag, MPI_Status statuses[]) {
    (void)dropin_requests_advance();
    return look_all(n, requests, flag, statuses);
}

static int dropin_Testany(int n, MPI_Request requests[], int *index, int *flag, MPI_Status *status) {
    (void)dropin_requests_advance();
    return look_any(n, requests, index, flag, status);
}

static int dropin_Testsome(int n, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[]) {
    (void)dropin_requests_advance();
    return look_some(n, requests, done, indices, statuses);
}

static int dropin_Request_get_status(MPI_Request request, int *flag, MPI_Status *status) {
    (void)dropin_requests_advance();
    return after_pmpi.Request_get_status(request, flag, status);
}

/* Looks, which sets `code` and `flag`, until it is done or an error came. */
#define WAIT_UNTIL(flag, look)                                                                                    \
    int code, quiet = 0;                                                                                          \
    double start = dropin_clock();                                                                                \
    sago_wait_begin();                                                                                            \
    for (bool moved = dropin_requests_advance(); (code = (look)) == MPI_SUCCESS && !(flag);                       \
         moved = dropin_requests_advance())                                                                       \
        rest(moved, &quiet);                                                                                      \
    sago_wait_end();                                                                                              \
    dropin_requests_waited(dropin_clock() - start);                                                               \
    return code

static int dropin_Wait(MPI_Request *request, MPI_Status *status) {
    int flag = 0;
    WAIT_UNTIL(flag, look(request, &flag, status));
}

static int dropin_Waitall(int n, MPI_Request requests[], MPI_Status statuses[]) {
    int flag = 0;
    WAIT_UNTIL(flag, look_all(n, requests, &flag, statuses));
}

static int dropin_Waitany(int n, MPI_Request requests[], int *index, MPI_Status *status) {
    int flag = 0;
    WAIT_UNTIL(flag, look_any(n, requests, index, &flag, status));
}

static int dropin_Waitsome(int n, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[]) {
    WAIT_UNTIL(*done != 0, look_some(n, requests, done, indices, statuses));
}

/* ---- Entry points ---- */

#define ENTER(PREFIX, table, name, params, args)                                                                  \
    static int enter_##PREFIX##_##name params {                                                                   \
        if (atomic_load_explicit(&dropin_watched, memory_order_relaxed) == 0 || inside)                           \
            return table.name args;                                                                               \
        inside = true;                                                                                            \
        int code = dropin_##name args;                                                                            \
        inside = false;                                                                                           \
        return code;                                                                                              \
    }
#define ENTER_BOTH(name, params, args)                                                                            \
    ENTER(MPI, after_mpi, name, params, args)                                                                     \
    ENTER(PMPI, after_pmpi, name, params, args)
DROPIN_WAITS(ENTER_BOTH)

void dropin_waits_begin(dropin_next *next, dropin_entry *entries[]) {
#define BEGIN(name, params, args)                                                                                 \
    find(next, "PMPI_" #name, &after_mpi.name, &after_pmpi.name);                                                 \
    entries[DROPIN_MPI_##name] = DROPIN_AS_ENTRY(enter_MPI_##name);                                               \
    entries[DROPIN_PMPI_##name] = DROPIN_AS_ENTRY(enter_PMPI_##name);
    DROPIN_WAITS(BEGIN)
#undef BEGIN
}
