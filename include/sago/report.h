/* The report on a job (SAGO_REPORT), the trace (SAGO_TRACE) and the statistics (SAGO_STATS), told when MPI is
 * finalized. Programs need none of these calls: they are for layers between a program and Sago, as Sago's own
 * drop-in is one. */
#ifndef SAGO_REPORT_H
#define SAGO_REPORT_H

#include <mpi.h>

#include <sago/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Collective over `comm`.  From here on what happens is recorded, if the environment asks for it on all of its
 * ranks; opening a file, or a directory of checkpoints, does the same.  On a communicator with all ranks of
 * MPI_COMM_WORLD, MPI_Finalize becomes the place where rank 0 writes the report of all of them; else each leaves a
 * record of its own, of which `sago report` makes a page. */
sago_status sago_report_begin(MPI_Comm comm);

/* Local.  Counts in the report something that another library did with a file, e.g. a call that Sago does not
 * serve: `text` says why.  `first`: this rank is the first of the file's, so that a collective call counts once.
 */
void sago_report_note(const char *path, const char *text, int first);

/* Local.  A call on a file that another library, as MPI's own I/O, served for this rank, and that ends now: how
 * many bytes it was for, and how long it took. */
void sago_report_passed(const char *path, int collective, int write, MPI_Count bytes, double seconds);

/* Local, before any file is opened.  SAGO_STATS is the caller's to tell, not the library's. */
void sago_report_leave_stats(void);

#ifdef __cplusplus
}
#endif

#endif
