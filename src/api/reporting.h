/* The report, the trace and the statistics that the environment asks for. */
#ifndef SAGOI_API_REPORT_H
#define SAGOI_API_REPORT_H

#include <stdio.h>

#include "base/hints.h"
#include "engine/file.h"
#include "trace/rank_record.h"

/* Does the environment of this rank ask for any of them? */
bool sagoi_report_wanted(void);

/* Collective over a team all of whose ranks want it, and the communicator it was made for: recording begins,
 * unless it has.  Where it cannot, rank 0 says so once, and nothing is recorded. */
void sagoi_report_join(MPI_Comm comm, const sagoi_team *team);

/* A file that is open: its calls are recorded, if anything is. */
void sagoi_report_file(sago_file *file, const sagoi_hints *given);

/* Seconds, where they are recorded and no layer above sees the whole call (sago/report.h); else 0. */
double sagoi_report_clock(const sago_file *file);
/* The call that began then ends now. */
void sagoi_report_around(int call, double began);

/* Once a process, by rank 0 of MPI_COMM_WORLD: what is wrong with the SAGO_* variables. */
void sagoi_report_environment(void);

/* timeline.c: the events of all ranks in one file, in the format of Chrome's tracing, which Perfetto opens.
 * Collective.  Rank 0 writes to `out`, which may be NULL there: then nothing is written.  `record`: this rank's,
 * or NULL. */
void sagoi_timeline_gather(MPI_Comm comm, const sagoi_record *record, FILE *out);

#endif
