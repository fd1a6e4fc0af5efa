/* The report on a job (SAGO_REPORT), the trace (SAGO_TRACE) and the statistics (SAGO_STATS), told when MPI is
 * finalized. Programs need none of these calls: they are for layers between a program and Sago, as Sago's own
 * drop-in is one. */
#ifndef SAGO_REPORT_H
#define SAGO_REPORT_H

#include <mpi.h>

#include <sago/stats.h>
#include <sago/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Collective over `comm`.  From here on events are recorded, if the environment of all ranks asks for a record;
 * opening a file, or a directory of checkpoints, does the same.  On a communicator with all ranks of
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

/* Local.  A call around the reads and writes of a layer's file, which Sago itself sees a part of only: how long
 * this rank was in it. */
void sago_report_around(int call, double seconds);

/* ---- SAGO_STATS ---- */

/* Local, before any file is opened.  There is a layer, whose reasons not to use Sago for a call have these names
 * (in JSON) and words; the first one stands for none.  They are not copied. */
void sago_report_layer(const char *const (*reasons)[2], int count);

/* Local.  Files that this thread opens between a call with 1 and a call with 0 are the layer's: the layer counts
 * them. */
void sago_report_layer_opens(int opens);

/* Local.  Adds to the statistics that rank 0 tells when MPI is finalized, if all ranks have called
 * sago_report_begin(MPI_COMM_WORLD) before.  `first`: this rank is the first of the file's. */
void sago_report_count(const sago_report_counts *more, int first);

#ifdef __cplusplus
}
#endif

#endif
