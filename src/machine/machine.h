/* The machine as the planner sees it: nodes, ranks, cores and memory.  Plain numbers, no discovery here. */
#ifndef SAGOI_MACHINE_H
#define SAGOI_MACHINE_H

#include <stdint.h>

#include "machine/topology.h"

typedef struct sagoi_node {
    int64_t ranks;  /* ranks of the communicator on this node; > 0 */
    int64_t cores;  /* cores that the ranks may use; > 0 */
    int64_t memory; /* bytes of the library's budget on this node */
    int64_t place;  /* place in the topology, different for every node */
} sagoi_node;

/* Figures that paper 004 measures on the system; from the site file, into which `sago tune` writes them.  0: not
 * known. */
typedef struct sagoi_tuned {
    int64_t aggregators_per_node;      /* N_ah */
    int64_t domain_write, domain_read; /* Msg_ind for each direction, bytes */
    int64_t group;                     /* Msg_group, bytes */
    int64_t least_memory;              /* Mem_min, bytes */
} sagoi_tuned;

typedef struct sagoi_machine {
    int64_t nodes;
    const sagoi_node *node;         /* one for each node; not owned */
    const sagoi_topology *topology; /* not owned; NULL: not known, so all nodes are equally far from each other */
    sagoi_tuned tuned;
    /* Bytes a second that a node took when data was gathered, on a network that nobody has described; 0: not
     * known. */
    double gathered;
    bool assumed; /* nobody has said how fast the network is, so the figures are those of a common cluster */
} sagoi_machine;

/* Where a node is in the topology, or in the flat one that is assumed where none is known. */
static inline int64_t sagoi_machine_place(const sagoi_machine *machine, int64_t node) {
    return machine->topology ? machine->node[node].place : node;
}

#endif
