/* A machine described in a text file (docs/machines.md, sago-machine(5)): its network, nodes, gateways and
 * storage. The same description drives the planner, the tests, `sago plan` and `sago topo`. */
#ifndef SAGOI_DESCRIPTION_H
#define SAGOI_DESCRIPTION_H

#include "machine/hostlist.h"
#include "machine/text.h"
#include "machine/topology.h"

enum { SAGOI_NAME_MAX = 64, SAGOI_PATH_MAX = 256, SAGOI_TIERS_MAX = 8 };

typedef enum { SAGOI_SHARED_NODE, SAGOI_SHARED_RACK, SAGOI_SHARED_ALL } sagoi_sharing;

/* A kind of storage, and which nodes see the same of it. */
typedef struct sagoi_tier {
    char name[SAGOI_NAME_MAX];
    char path[SAGOI_PATH_MAX]; /* "": not given */
    sagoi_sharing sharing;
    int64_t rack;     /* SAGOI_SHARED_RACK only: places of a rack */
    int64_t capacity; /* bytes of each rack's or node's storage; 0: not given */
    double bandwidth; /* bytes a second of each rack's or node's storage; 0: not given */
    int64_t targets;  /* storage targets that a file may be striped over; 0: not given */
    int64_t locks;    /* bytes of a lock: nodes that write to one such block wait for each other; 0: no locks */
} sagoi_tier;

typedef struct sagoi_description {
    char name[SAGOI_NAME_MAX];
    sagoi_topology topology;
    int64_t nodes; /* compute nodes; sagoi_description_place() tells where they are */
    int64_t ranks_per_node;
    int64_t cores;  /* cores of a node */
    int64_t memory; /* bytes of a node */
    int64_t tiers;
    sagoi_tier tier[SAGOI_TIERS_MAX];
    sagoi_hostlist hosts; /* range.first is a place; owned */
} sagoi_description;

/* Parses a text that may contain anything; errors are SAGO_ERR_ARG and name source and line. */
sago_status sagoi_description_parse(const char *source, const char *bytes, int64_t length,
                                    sagoi_description *description) SAGOI_CHECKED;
sago_status sagoi_description_read(const char *path, sagoi_description *description) SAGOI_CHECKED;
void sagoi_description_cleanup(sagoi_description *description); /* fine on a zeroed struct, and twice */

/* The place of node 0, 1, ...: that of its host, in the order of the hosts; without hosts the place of the same
 * number. */
int64_t sagoi_description_place(const sagoi_description *description, int64_t node);

/* Names of topologies ("flat", "fat-tree", ...) and of levels ("0"; of a dragonfly "node", "row", "column",
 * "global"). */
const char *sagoi_topology_kind_name(sagoi_topology_kind kind);
const char *sagoi_level_name(const sagoi_topology *topology, int64_t level, char number[24]);

#endif
