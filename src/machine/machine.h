/* The machine as the planner sees it: nodes, ranks, cores and memory.  Plain numbers, no discovery here. */
#ifndef SAGOI_MACHINE_H
#define SAGOI_MACHINE_H

#include <stdint.h>

typedef struct sagoi_node {
    int64_t ranks;  /* of the communicator, on this node; > 0 */
    int64_t cores;  /* that they may use; > 0 */
    int64_t memory; /* budget of the library on this node, bytes */
} sagoi_node;

typedef struct sagoi_machine {
    int64_t nodes;
    const sagoi_node *node; /* nodes of them; not owned */
} sagoi_machine;

#endif
