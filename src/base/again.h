/* MPI calls that fail.
 *
 * A call that fails to start, make or ask for something has had no effect, and what the call lacked (memory, a
 * place in a queue) may be there the next time.  So such a call is made again before it counts as failed.
 * Calls that complete requests are different: they report a failure only once (move/calls.h). */
#ifndef SAGOI_AGAIN_H
#define SAGOI_AGAIN_H

/* Does the MPI call succeed, in one of three tries? */
#define SAGOI_DONE(call) ((call) == MPI_SUCCESS || (call) == MPI_SUCCESS || (call) == MPI_SUCCESS)

#endif
