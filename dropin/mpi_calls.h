/* The MPI-IO calls that Sago stands before, and the way past it.
 *
 * Each call has one entry, to which both of its names lead, MPI_File_x and PMPI_File_x (entry_points.c).  An
 * entry begins by asking dropin_next_calls() for the table to hand the call on with.
 *
 * Calls without an entry never come here: they go to the MPI library, which has made every MPI_File. */
#ifndef DROPIN_MPI_CALLS_H
#define DROPIN_MPI_CALLS_H

#include <stdbool.h>

#include <sago/sago.h>

#include "entry_points.h"

/* The MPI library's own functions. */
extern const dropin_calls *const dropin_mpi;

/* ---- For the entries ---- */

extern dropin_calls dropin_after_mpi, dropin_after_pmpi;
extern bool dropin_tools; /* a tool stands behind MPI_File_x */

/* Where this thread is. */
typedef enum {
    DROPIN_OUTSIDE,  /* the thread is in no call that may lead to a tool */
    DROPIN_ENTERING, /* the next entry was called as MPI_File_x, and hands on to the tools */
    DROPIN_WITHIN    /* the thread is behind such an entry, so the calls that a tool makes go straight through */
} dropin_stages;
extern _Thread_local dropin_stages dropin_stage;

/* The table to hand a call on with; NULL: the call goes straight to the MPI library. */
static inline const dropin_calls *dropin_next_calls(void) {
    if (__builtin_expect(dropin_stage == DROPIN_OUTSIDE, 1))
        return &dropin_after_pmpi;
    if (dropin_stage == DROPIN_WITHIN)
        return NULL;
    dropin_stage = DROPIN_WITHIN;
    return &dropin_after_mpi;
}

#endif
