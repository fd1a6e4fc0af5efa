/* MPI calls that the drop-in makes for itself, of which the program knows nothing: they return their errors,
 * whatever handler the program has left, and are made again before they count as failed, since a call that could
 * not be started has had no effect.  Calls that only look at valid handles of the caller's on the way of every
 * access, or write into its status, have nothing to fail of, and are made as they are. */
#ifndef DROPIN_OWN_CALLS_H
#define DROPIN_OWN_CALLS_H

#include <stdbool.h>

#include <sago/sago.h>

static inline bool dropin_end_quiet(MPI_Comm comm, bool done) {
    sago_quiet_end(comm);
    return done;
}

/* Has the call succeeded, at one of three times?  comm: what it is made on, or MPI_COMM_NULL. */
#define DROPIN_DONE_ON(comm, call)                                                                                \
    (sago_quiet_begin(comm),                                                                                      \
     dropin_end_quiet(comm, (call) == MPI_SUCCESS || (call) == MPI_SUCCESS || (call) == MPI_SUCCESS))
#define DROPIN_DONE(call) DROPIN_DONE_ON(MPI_COMM_NULL, call)

#endif
