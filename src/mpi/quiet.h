/* MPI calls that return their errors, whatever the program has decided about its own errors.
 *
 * A call on the program's communicator raises its errors there.  A call without a communicator (on types,
 * attributes, groups, info objects) raises them at MPI_COMM_WORLD or MPI_COMM_SELF, depending on the version of
 * the standard.  Either may have a handler that ends the program.  Under MPICH, so does a call that completes a
 * request, although the request belongs to a communicator of Sago's (measured; Open MPI raises its errors
 * there).  Sago's own communicators return errors; around calls on anything else, and around completing
 * requests, these two functions are called.
 *
 * Handlers belong to the whole process: if another thread has an error of its own meanwhile, that error is
 * returned, too.  So the two functions are called around single calls or a few or, where only one thread may
 * call MPI, around a call that the program waits in; never where the program could go on meanwhile.  A handler
 * that another thread sets meanwhile stays. */
#ifndef SAGOI_QUIET_H
#define SAGOI_QUIET_H

#include "mpi/types.h"

/* comm: the program's communicator, or MPI_COMM_NULL for calls without one.  Pairs may be nested, and overlap
 * between threads: the last end puts back what the first begin found. */
void sagoi_quiet_begin(MPI_Comm comm);
void sagoi_quiet_end(MPI_Comm comm);

/* Gives a communicator that was made for the program, from one whose handler was put aside, the handler that it
 * would have got. */
void sagoi_quiet_pass_on(MPI_Comm from, MPI_Comm made);

#endif
