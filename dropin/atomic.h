/* Atomic mode where the MPI library has none.
 *
 * OMPIO takes the flag and forgets it: an access in several pieces is one of several moments.  Independent calls
 * are kept apart here, by a lock of the file.  In a collective one a rank with the lock might wait for another
 * one, so each rank makes the independent call instead; split and nonblocking ones are left as they are.  ROMIO
 * has locks of its own. */
#ifndef DROPIN_ATOMIC_H
#define DROPIN_ATOMIC_H

#include "mpi_files.h"

/* After the MPI library has switched the mode. */
void dropin_atomic_switch(dropin_file *file, bool on);

/* Around an independent call of the MPI library's, which needs nobody else to return.  What cannot be locked is
 * accessed all the same, as without Sago. */
int dropin_atomic_enter(MPI_File handle);
void dropin_atomic_leave(int lock);

/* After a collective call was left to the MPI library: are all ranks to make their parts of it alone? */
bool dropin_atomic_alone(MPI_File handle);

/* Does ROMIO serve the MPI library's calls? */
bool dropin_by_romio(void);

#endif
