/* Discovery by all ranks of a communicator together. */
#ifndef SAGOI_DISCOVER_MPI_H
#define SAGOI_DISCOVER_MPI_H

#include <mpi.h>

#include "machine/discover.h"

/* Collective over `all`; `leaders` holds the first rank of each node, in the order of the nodes, rank 0 of `all`
 * first, and is MPI_COMM_NULL on the others.  Rank 0 reads the files and tells everybody: all get the same
 * `found`, places and status.  Only an MPI error may differ. */
sago_status sagoi_discover_mpi(MPI_Comm all, MPI_Comm leaders, const sagoi_discover_options *options,
                               int64_t nodes, sagoi_surroundings *found, int64_t *place) SAGOI_CHECKED;

#endif
