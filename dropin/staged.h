/* Calls that the MPI library serves: what the report is told of them, and buffers in the memory of a GPU.  The MPI
 * library may not be able to use such buffers, so it gets a copy in host memory, of the whole buffer with its
 * gaps. */
#ifndef DROPIN_STAGED_H
#define DROPIN_STAGED_H

#include <stdbool.h>

#include <sago/sago.h>

#include "mpi_access.h"

typedef struct dropin_staged {
    void *use;     /* the buffer to be handed on */
    char *host;    /* the copy; NULL: the program's own buffer is used */
    char *device;  /* first byte on the device */
    int64_t bytes; /* bytes of the copy */
} dropin_staged;

typedef struct dropin_passing {
    MPI_File file;
    const dropin_access *wanted;
    bool together; /* the call is collective */
    bool alone;    /* each rank is to make an independent call instead */
    int lock;      /* lock of the file, held until the call is over; -1: none */
    int failed;    /* code of MPI: there is no copy; a collective call is made all the same, with no elements */
    double began;  /* time by dropin_clock() when the call began */
    dropin_staged staged;
} dropin_passing;

/* Called before the MPI library's call. */
dropin_passing dropin_pass(MPI_File file, const dropin_access *wanted, bool together);
/* The same for calls of this rank alone, which atomic mode keeps apart by a lock (atomic.h). */
dropin_passing dropin_pass_locked(MPI_File file, const dropin_access *wanted, bool together);
/* Called after the call, which returned `code`: copies what was read to the device.  Returns the code for the
 * program, after the file's error handler was called. */
int dropin_passed(dropin_passing *passing, int code);
/* The same for a split call: the copy is kept when the call has begun, and what was read goes to the device when
 * the call has ended. */
int dropin_passed_begun(dropin_passing *passing, int code);
int dropin_passed_end(MPI_File file, int code, bool wrote);
/* The same for a nonblocking call, which is waited for; the program gets a complete request. */
int dropin_passed_started(dropin_passing *passing, int code, MPI_Request *request);

#endif
