/* Racks by measurement: nodes that reach each other in less time than they reach other nodes.
 *
 * The times between pairs of nodes fall into near and far ones where there is a gap between two neighbouring
 * times; nodes that near pairs connect are a rack.  If there is no gap, if a rack has one node, or if there are
 * far pairs inside of a rack, then no racks are made up, and the network is flat.  Pure functions, no MPI. */
#ifndef SAGOI_RACKS_H
#define SAGOI_RACKS_H

#include <stdint.h>

#include "base/status.h"

enum { SAGOI_RACKS_MAX = 64 };

typedef struct sagoi_pair_time {
    int64_t a, b;
    double seconds; /* > 0 */
} sagoi_pair_time;

typedef struct sagoi_racks {
    int64_t racks;    /* 1: all nodes are alike, as far as can be told */
    double least_far; /* seconds of the fastest far pair */
    double greatest_near;
} sagoi_racks;

/* The pairs to measure first: each node with the nodes 1, 2, 4, ... further on, which connects nodes in any order.
 * Returns the number of pairs, at most nodes * 32; pair NULL: only that. */
int64_t sagoi_racks_sample(int64_t nodes, sagoi_pair_time *pair);

/* rack[n] becomes the number of the node's rack; racks are in the order of their first nodes. */
sago_status sagoi_racks_find(int64_t nodes, int64_t pairs, const sagoi_pair_time *pair, int64_t *rack,
                             sagoi_racks *found) SAGOI_CHECKED;

#endif
