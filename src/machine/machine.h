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

/* What paper 004 finds by measurement on the system; from the site file (`sago tune` writes it).  0: not known. */
typedef struct sagoi_tuned {
    int64_t aggregators_per_node;      /* N_ah */
    int64_t domain_write, domain_read; /* Msg_ind for each direction, bytes */
    int64_t group;                     /* Msg_group, bytes */
    int64_t least_memory;              /* Mem_min, bytes */
} sagoi_tuned;

typedef struct sagoi_machine {
    int64_t nodes;
    const sagoi_node *node;         /* nodes of them; not owned */
    const sagoi_topology *topology; /* not owned; NULL: nothing is known, every node is as far as any other */
    sagoi_tuned tuned;
    double gathered; /* bytes a second that a node was seen to take when data was gathered, where nobody has
                        described the network; 0: not known */
    bool assumed;    /* nobody has said how fast the network is: its figures are a common cluster's */
} sagoi_machine;

#endif
