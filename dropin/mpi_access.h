/* What a call of MPI-IO that moves data leads to: Sago serves it, or has to do something before it is handed
 * on. */
#ifndef DROPIN_MPI_ACCESS_H
#define DROPIN_MPI_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "mpi_calls.h"

/* One call, as the program made it. */
typedef struct dropin_access {
    bool write;
    bool at; /* `offset` counts; else the individual file pointer does */
    MPI_Offset offset;
    void *buf;
    MPI_Count count;
    MPI_Datatype type;
} dropin_access;

/* The buffer of a call that writes is only read. */
static inline void *dropin_buffer(const void *buf) { return (void *)(uintptr_t)buf; }

/* Collective calls: blocking, split and nonblocking.  true: Sago has served the call, and *code is its result.
 * false: the MPI library has to serve it, on all ranks. */
bool dropin_serve(MPI_File handle, const dropin_access *wanted, MPI_Status *status, int *code);
bool dropin_serve_begin(MPI_File handle, const dropin_access *wanted, int *code);
bool dropin_serve_end(MPI_File handle, MPI_Status *status, int *code);
bool dropin_serve_start(MPI_File handle, const dropin_access *wanted, MPI_Request *request, int *code);

/* The MPI library has begun a split call, with `code`, so it will end that call. */
int dropin_begun_by_mpi(MPI_File handle, int code);

/* Called before a call is handed on: writes this rank's deferred data, and notes the individual file pointer or
 * the reason.  A code other than MPI_SUCCESS is the call's result. */
int dropin_leave_file(MPI_File handle);
int dropin_leave_pointer(MPI_File handle);
int dropin_leave_ordered(MPI_File handle);

#endif
