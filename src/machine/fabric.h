/* Where a node is in its network, by coordinates from a library in the process.
 *
 *   Tofu  uTofu's utofu_query_my_coords(): X, Y, Z, A, B, C of the node (Fujitsu's "uTofu User's Guide").
 * Fujitsu's MPI has that library in every process. PMIx  the key "pmix.fab.coord" of the process, if the job's
 * server knows it (PMIx standard, version 4, fabric support).  Open MPI has PMIx in every process, other MPI
 * libraries under some launchers.
 *
 * Neither is a dependency: a library that is not in the process is not asked.  Both are tested with made-up
 * libraries, and were not tried on a machine that has such coordinates. */
#ifndef SAGOI_FABRIC_H
#define SAGOI_FABRIC_H

#include "machine/slurm.h"

/* Sets coordinates and teller of this node; false: the coordinates are not known, and nothing is set. */
bool sagoi_fabric_ask(sagoi_node_name *name);

/* Makes places of the coordinates of all nodes: a mesh around them, since nobody tells where the whole network
 * ends, and links outside of the job are not counted on.  A hop has at most the latency of a router; other figures
 * of the topology stay as they are.  false: some node has no coordinates, or has others of another kind, or the
 * mesh is too large. */
bool sagoi_fabric_lay(int64_t nodes, const sagoi_node_name *name, sagoi_topology *topology, int64_t *place);

#endif
