/* Regions as MPI datatypes, by the constructor that an application would use. */
#ifndef BENCH_REGION_MPI_H
#define BENCH_REGION_MPI_H

#include <mpi.h>

#include "bench/patterns.h"

/* One call of an access, as MPI wants it. */
typedef struct bench_mpi_call {
    MPI_Datatype etype;    /* predefined */
    MPI_Datatype filetype; /* MPI_DATATYPE_NULL: contiguous, by offset alone */
    MPI_Datatype memory;   /* `count` elements from the call's place in the buffer on */
    int count;
    int64_t etypes; /* distance of the next step */
    int64_t bytes;  /* the same in bytes */
} bench_mpi_call;

/* One of these for each call of the access; NULL: `why` says why not. */
bench_mpi_call *bench_mpi_calls_create(const bench_access *access, char *why);
void bench_mpi_calls_destroy(bench_mpi_call *calls, int64_t count);

#endif
