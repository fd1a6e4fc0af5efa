/* MPI calls that fail.
 *
 * A call that starts something, makes something or asks for something and fails has had no effect, and what it
 * lacked (memory, a place in a queue) may be there the next time.  So it is made again before it counts as failed.
 * Not for calls that complete requests: those tell of a failure once only (move/calls.h). */
#ifndef SAGOI_AGAIN_H
#define SAGOI_AGAIN_H

/* Has the MPI call succeeded, at one of three times? */
#define SAGOI_DONE(call) ((call) == MPI_SUCCESS || (call) == MPI_SUCCESS || (call) == MPI_SUCCESS)

#endif
