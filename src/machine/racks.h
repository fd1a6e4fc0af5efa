/* Racks by measurement: nodes that reach each other in less time than they reach the others.
 *
 * What is measured of pairs of nodes falls into near and far ones where there is a gap between two neighbouring
 * times; nodes that near pairs connect are a rack.  Times without a gap, racks of one node, and far pairs inside a
 * rack mean that there are none: then nothing is made up, and the network is flat.  Pure functions, no MPI. */
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
    int64_t racks;    /* 1: all nodes are alike, as far as anybody can tell */
    double least_far; /* seconds of the fastest far pair */
    double greatest_near;
} sagoi_racks;

/* Pairs for a first look at the nodes: each with those 1, 2, 4, ... further on, which any order of nodes connects.
 * Returns how many there are, at most nodes * 32; pair NULL: only that. */
int64_t sagoi_racks_sample(int64_t nodes, sagoi_pair_time *pair);

/* rack[n] becomes the number of the node's rack, in the order of their first nodes. */
sago_status sagoi_racks_find(int64_t nodes, int64_t pairs, const sagoi_pair_time *pair, int64_t *rack,
                             sagoi_racks *found) SAGOI_CHECKED;

#endif
