/* The calls that complete requests.  Sago stands before them since its nonblocking calls go on inside of Sago
 * only; while it has none pending, calls are handed on after a look at one number (entry_points.c). */
#ifndef DROPIN_WAITS_H
#define DROPIN_WAITS_H

#include <stdatomic.h>

#include "entry_points.h"
#include "requests.h"

/* The functions behind Sago under either kind of name; of PMPI_x the MPI library's own. */
extern dropin_wait_calls dropin_waits_after_mpi, dropin_waits_after_pmpi;

/* A call of this family is under way in this thread: calls that are made from there go straight to the MPI
 * library. */
extern _Thread_local bool dropin_waiting;

/* The end of such a call with the result `code`: calls the handlers of files whose requests have failed. */
int dropin_waited(int code);

static inline bool dropin_waits_matter(void) {
    return atomic_load_explicit(&dropin_watched, memory_order_relaxed) != 0 && !dropin_waiting;
}

#endif
