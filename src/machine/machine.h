/* The machine as the planner sees it: nodes, ranks, cores and memory.  Plain numbers, no discovery here. */
#ifndef SAGOI_MACHINE_H
#define SAGOI_MACHINE_H

#include <stdint.h>

#include "machine/topology.h"

typedef struct sagoi_node {
    int64_t ranks;  /* of the communicator, on this node; > 0 */
    int64_t cores;  /* that they may use; > 0 */
    int64_t memory; /* budget of the library on this node, bytes */
    int64_t place;  /* in the topology; no two nodes have the same */
} sagoi_node;

typedef struct sagoi_machine {
    int64_t nodes;
    const sagoi_node *node;         /* nodes of them; not owned */
    const sagoi_topology *topology; /* not owned; NULL: nothing is known, every node is as far as any other */
} sagoi_machine;

#endif
