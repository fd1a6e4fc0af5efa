/* Atomic mode, where the MPI library has none.
 *
 * OMPIO accepts the flag and ignores it: an access in several pieces does not happen at one moment.  Here a
 * lock of the file keeps independent calls apart.  In a collective call a rank with the lock might wait for
 * another rank, so each rank makes the independent call instead; split and nonblocking calls stay as they are.
 * ROMIO has locks of its own. */
#ifndef DROPIN_ATOMIC_H
#define DROPIN_ATOMIC_H

#include "mpi_files.h"

/* Called when the MPI library has switched the mode. */
void dropin_atomic_switch(dropin_file *file, bool on);

/* Around an independent call of the MPI library, which needs no other rank to return.  If the file cannot be
 * locked the call is made all the same, as without Sago. */
int dropin_atomic_enter(MPI_File handle);
void dropin_atomic_leave(int lock);

/* Called for a collective call that is left to the MPI library: shall all ranks make their parts alone? */
bool dropin_atomic_alone(MPI_File handle);

/* Does ROMIO serve the MPI library's calls? */
bool dropin_by_romio(void);

#endif
