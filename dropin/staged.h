/* Calls that the MPI library serves: what the report is told of them, and buffers in the memory of a GPU.  The MPI
 * library may not be able to use those, so it gets a copy in host memory, whole and with its gaps. */
#ifndef DROPIN_STAGED_H
#define DROPIN_STAGED_H

#include <stdbool.h>

#include <sago/sago.h>

#include "mpi_access.h"

typedef struct dropin_staged {
    void *use;     /* the buffer to be handed on */
    char *host;    /* NULL: that is the program's own */
    char *device;  /* first byte there, */
    int64_t bytes; /* and how many */
} dropin_staged;

typedef struct dropin_passing {
    MPI_File file;
    const dropin_access *wanted;
    bool together; /* the call is collective */
    bool alone;    /* each rank is to make an independent call instead */
    int lock;      /* of the file, held until the call has passed; -1: none */
    int failed;    /* code of MPI: there is no copy.  Collective calls are made all the same, with no elements */
    double began;  /* by dropin_clock() */
    dropin_staged staged;
} dropin_passing;

/* Before the MPI library's call. */
dropin_passing dropin_pass(MPI_File file, const dropin_access *wanted, bool together);
/* The same of calls that atomic mode keeps apart by a lock (atomic.h), if it is this rank's alone. */
dropin_passing dropin_pass_locked(MPI_File file, const dropin_access *wanted, bool together);
/* After the call, which returned `code`: what was read goes to the device.  Returns the code for the program,
 * after the file's error handler has seen it. */
int dropin_passed(dropin_passing *passing, int code);
/* The same of a split call: the copy is kept when the call has begun, and what was read goes to the device when it
 * has ended. */
int dropin_passed_begun(dropin_passing *passing, int code);
int dropin_passed_end(MPI_File file, int code, bool wrote);
/* The same of a nonblocking call, which is waited for; the program gets a request that is complete. */
int dropin_passed_started(dropin_passing *passing, int code, MPI_Request *request);

#endif
