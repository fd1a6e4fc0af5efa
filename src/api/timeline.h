/* The trace: the events of all ranks in one file, in the format of Chrome's tracing, which Perfetto opens. */
#ifndef SAGOI_TIMELINE_H
#define SAGOI_TIMELINE_H

#include <stdio.h>

#include "mpi/types.h"
#include "trace/rank_record.h"

/* Collective.  Rank 0 writes to `out`, which may be NULL there: then nothing is written.  `record`: this rank's,
 * or NULL. */
void sagoi_timeline_gather(MPI_Comm comm, const sagoi_record *record, FILE *out);

#endif
