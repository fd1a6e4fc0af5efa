/* The report, the trace and the statistics that the environment asks for. */
#ifndef SAGOI_API_REPORT_H
#define SAGOI_API_REPORT_H

#include <stdio.h>

#include "base/hints.h"
#include "engine/file.h"
#include "trace/rank_record.h"

/* Does this rank's environment ask for a report, a trace or statistics? */
bool sagoi_report_wanted(void);

/* Collective over a team on which all ranks want a report, a trace or statistics; `comm` is the communicator of
 * the file.  Begins to record, unless recording is on.  Where recording cannot begin, rank 0 says so once. */
void sagoi_report_join(MPI_Comm comm, const sagoi_team *team);

/* Records the calls on a file that was opened, if recording is on. */
void sagoi_report_file(sago_file *file, const sagoi_hints *given);

/* The time now if calls on the file are recorded and no layer above times them (sago/report.h); else 0. */
double sagoi_report_clock(const sago_file *file);
/* Ends a call that began at that time. */
void sagoi_report_around(int call, double began);

/* Rank 0 of MPI_COMM_WORLD says, once in a process, what is wrong with the SAGO_* variables. */
void sagoi_report_environment(void);

/* In timeline.c.  Collective: rank 0 writes the events of all ranks to `out`, in the format of Chrome's tracing,
 * which Perfetto opens.  Rank 0 may have no `out` (NULL): then nothing is written.  `record`: this rank's record,
 * or NULL. */
void sagoi_timeline_gather(MPI_Comm comm, const sagoi_record *record, FILE *out);

#endif
