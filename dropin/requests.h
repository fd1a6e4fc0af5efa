/* Nonblocking collective calls that Sago serves, as requests of the MPI library: generalized requests, which are
 * completed inside of the program's own calls of Sago or of the Wait and Test family. */
#ifndef DROPIN_REQUESTS_H
#define DROPIN_REQUESTS_H

#include "mpi_calls.h"
#include "mpi_files.h"

/* A call that was started. */
typedef struct dropin_started {
    sago_request *sago;
    bool write;
    double seconds; /* time that starting the call took */
} dropin_started;

/* The number of requests that the Wait and Test family must care for: those under way, and those that failed and
 * were not waited for yet. */
extern _Atomic int dropin_watched;

/* Makes the request for a call that was started.  Without a request (`request` is NULL, or none can be made) the
 * call goes on all the same, for the other ranks. */
int dropin_request_start(dropin_file *file, const dropin_started *started, MPI_Request *request);

/* Lets all calls go on, and completes those that are done.  true: there were some. */
bool dropin_requests_advance(void);
/* A request of the list that is Sago's and not complete; MPI_REQUEST_NULL: there is none. */
MPI_Request dropin_requests_pending(int n, const MPI_Request requests[]);
/* Called before Sago closes the file: completes all of its requests. */
void dropin_requests_finish(dropin_file *file);

/* Time spent in waiting, counted for the call that completes next. */
void dropin_requests_waited(double seconds);

/* A request that is complete and failed: its error code, and the file whose handler is to be called. */
typedef struct dropin_failure {
    int code;
    MPI_File file;
    int64_t number; /* number of the file (mpi_files.h) */
    int place;      /* number in the list of requests that is looked at */
} dropin_failure;

/* A look of this thread's at requests, which the MPI library frees if they are complete. */
typedef struct dropin_look {
    bool now; /* the look has begun, and not ended */
    int n;
    const MPI_Request *requests;
    struct dropin_request *ended; /* the calls among them that have failed, ordered by place */
} dropin_look;

/* Begins a look, and keeps the one that was going on in *before.  Takes no memory. */
void dropin_failures_begin(int n, const MPI_Request requests[], dropin_look *before);
/* Ends the look, once dropin_failures_next() has given all calls that failed. */
void dropin_failures_end(const dropin_look *before);
/* false: there are no more. */
bool dropin_failures_next(dropin_failure *failure);
/* Gives the failures of dropin_failures_next() once more, for calling their handlers.  false: all were given. */
bool dropin_failures_unraised(dropin_failure *failure);

#endif
