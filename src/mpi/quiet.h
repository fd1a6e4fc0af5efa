/* MPI calls that return their errors, whatever the program has decided about errors of its own.
 *
 * A call on the program's communicator raises its errors there; a call without one (on types, attributes, groups,
 * info objects) at MPI_COMM_WORLD or MPI_COMM_SELF, as the version of the standard has it.  Either may have a
 * handler that ends the program.  So does, under MPICH, a call that completes a request, though the request
 * belongs to a communicator of Sago's (measured; Open MPI raises its errors there).  Sago's own communicators
 * return errors; around calls on anything else, and around completing requests, stand these two.
 *
 * The handlers belong to the whole process: another thread's error of its own is returned to it, too, if it comes
 * just then.  So they stand around single calls or a few, or, where only one thread may call MPI, around a call
 * that the program waits in; never where the program could go on meanwhile.  A handler that another thread sets
 * just then stays. */
#ifndef SAGOI_QUIET_H
#define SAGOI_QUIET_H

#include "mpi/types.h"

/* comm: the program's, or MPI_COMM_NULL where none is called on.  Calls may nest, and overlap between threads: the
 * last end puts back what the first begin found. */
void sagoi_quiet_begin(MPI_Comm comm);
void sagoi_quiet_end(MPI_Comm comm);

/* A communicator for the program, made from another one that is quiet, gets the handler that it would have got. */
void sagoi_quiet_pass_on(MPI_Comm from, MPI_Comm made);

#endif
