/* The calls that complete requests, and the way past Sago.  Sago stands in front of them since its nonblocking
 * calls go on inside Sago only; while it has none pending they are handed on after a look at one number.
 *
 * One row a call: name, parameters, arguments; dropin_x() in waits.c is what stands behind MPI_x and PMPI_x then.
 */
#ifndef DROPIN_WAITS_H
#define DROPIN_WAITS_H

#include <mpi.h>

/* clang-format off */
#define DROPIN_WAITS(X)                                                                                           \
    X(Wait, (MPI_Request *request, MPI_Status *status), (request, status))                                        \
    X(Waitall, (int n, MPI_Request requests[], MPI_Status statuses[]), (n, requests, statuses))                   \
    X(Waitany, (int n, MPI_Request requests[], int *index, MPI_Status *status), (n, requests, index, status))     \
    X(Waitsome, (int n, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[]),                 \
      (n, requests, done, indices, statuses))                                                                     \
    X(Test, (MPI_Request *request, int *flag, MPI_Status *status), (request, flag, status))                       \
    X(Testall, (int n, MPI_Request requests[], int *flag, MPI_Status statuses[]), (n, requests, flag, statuses))  \
    X(Testany, (int n, MPI_Request requests[], int *index, int *flag, MPI_Status *status),                        \
      (n, requests, index, flag, status))                                                                         \
    X(Testsome, (int n, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[]),                 \
      (n, requests, done, indices, statuses))                                                                     \
    X(Request_get_status, (MPI_Request request, int *flag, MPI_Status *status), (request, flag, status))
/* clang-format on */

typedef struct dropin_wait_calls {
#define DROPIN_POINTER(name, params, args) int(*name) params;
    DROPIN_WAITS(DROPIN_POINTER)
#undef DROPIN_POINTER
} dropin_wait_calls;

/* The MPI library's own functions. */
const dropin_wait_calls *dropin_waits(void);

#endif
