/* Where a node sits in its network, by coordinates that a library in the process tells.
 *
 *   Tofu   uTofu's utofu_query_my_coords(): X, Y, Z, A, B, C of the node (Fujitsu's "uTofu User's Guide").
 * Fujitsu's MPI has that library in every process. PMIx   the key "pmix.fab.coord" of the process, where the
 * server of the job knows it (PMIx standard, version 4, fabric support).  Open MPI has PMIx in every process,
 * others under some launchers.
 *
 * Neither is a dependency: what is not in the process is not asked.  Both are tested with made-up libraries;
 * untried on a machine that has such coordinates. */
#ifndef SAGOI_FABRIC_H
#define SAGOI_FABRIC_H

#include "machine/slurm.h"

/* Sets coordinates and teller of this node; false: nobody knows them, and nothing is set. */
bool sagoi_fabric_ask(sagoi_node_name *name);

/* Places by the coordinates of all nodes: a mesh around them, since nobody says where the whole network ends and
 * what lies outside of the job is not counted on.  A hop has at most the latency of a router; other figures of the
 * topology are left alone.  False: somebody has no coordinates, or of another kind, or the box is too large. */
bool sagoi_fabric_lay(int64_t nodes, const sagoi_node_name *name, sagoi_topology *topology, int64_t *place);

#endif
