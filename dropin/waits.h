/* The calls that complete requests.  Sago stands in front of them since its nonblocking calls go on inside Sago
 * only; while it has none pending they are handed on after a look at one number (entry_points.c). */
#ifndef DROPIN_WAITS_H
#define DROPIN_WAITS_H

#include "entry_points.h"
#include "requests.h"

/* What comes after Sago under either kind of name; of PMPI_x the MPI library's own functions. */
extern dropin_wait_calls dropin_waits_after_mpi, dropin_waits_after_pmpi;

/* A call of this family is under way in this thread: what is called from there goes straight to the MPI library.
 */
extern _Thread_local bool dropin_waiting;

static inline bool dropin_waits_matter(void) {
    return atomic_load_explicit(&dropin_watched, memory_order_relaxed) != 0 && !dropin_waiting;
}

#endif
