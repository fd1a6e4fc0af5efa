/* The network as the planner sees it: places, the links between them, and the ways out to the storage.
 *
 * Glossary
 *   place      where a node may sit: a number from 0 to places - 1, the coordinates in C order (the last varies
 *              fastest).  A job's node n sits at sagoi_node.place of the machine.
 *   level      links of one kind, with latency and bandwidth
 *   hop        one link crossed; distance d(a,b): the hops of a shortest path; d(a,a) = 0
 *   B(a->b)    the least bandwidth of the levels that a shortest path crosses and of both places' own links
 *   l * d      latency of a path: each hop counts its level's latency.  With one latency for all levels this is
 *              the paper's product.
 *   gateway    where bytes leave the network for the storage (bridge node, LNET router, ...): one further hop, of
 *              level `io`, beyond the place it is attached to
 *
 * The kinds; what is in brackets is the order of `extent`, and of the coordinates
 *   flat       (places)                        every place is one hop from every other; level 0
 *   fat tree   (top, ..., leaves, nodes)       a tree of switches; level k: from height k up to height k + 1,
 * level 0 being a node's link to its leaf switch.  A path climbs to the first common switch and down again. torus
 * (any number)                    level k: the links along dimension k; the shorter way round dragonfly  (groups,
 * rows, columns, nodes)  level 0: node to router; 1: routers of a row (columns differ), all to all; 2: routers of
 * a column (rows differ), all to all; 3: between groups.  Direct: every router has a link to the same router of
 * every other group.  Otherwise (one row only) a path to another group crosses a link of level 1 in both groups,
 * if they have several routers.
 *
 * The cost of an aggregator at place A (paper 000, IV-B), V being the places that hold data for it, w(i) bytes
 * each C1 = sum over i in V, i != A, of (l * d(i,A) + w(i) / B(i->A))         sums.h, for all A at once C2 = l *
 * d(A,IO) + w / B(A->IO)                                        sagoi_topology_store_cost() IO being the nearest
 * gateway that serves A; C2 = 0 where gateways are unknown.
 *
 * A topology is a plain value without pointers: it can be copied, compared field by field and sent.  Every query
 * takes O(dimensions) steps; only the nearest gateway takes O(gateways).  No MPI, no I/O. */
#ifndef SAGOI_TOPOLOGY_H
#define SAGOI_TOPOLOGY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

typedef enum { SAGOI_FLAT, SAGOI_FAT_TREE, SAGOI_TORUS, SAGOI_DRAGONFLY } sagoi_topology_kind;

enum {
    SAGOI_DIMENSIONS_MAX = 8,
    SAGOI_GATEWAY_RULES_MAX = 32,
    SAGOI_LINK_RULES_MAX = 32,
    SAGOI_MEMORY_LEVELS_MAX = 4,
    SAGOI_PLACES_MAX = 1 << 22,
};

typedef struct sagoi_level {
    double latency;   /* seconds of a hop; >= 0 */
    double bandwidth; /* bytes a second; > 0 */
} sagoi_level;

/* `count` gateways, at the places first, first + every, ...; first = -1: there are gateways at unknown places. */
typedef struct sagoi_gateway_rule {
    int64_t first, every, count;
    /* Places of the block that a gateway is in and serves (a Pset); 0: each gateway serves all places. */
    int64_t serves;
    /* The gateways lead to the storage targets from, from + 1, ..., `targets` of them, in equal blocks: as many
     * gateways for each target, or as many targets for each gateway.  0: each gateway leads to all targets. */
    int64_t targets, from;
} sagoi_gateway_rule;

/* The places first .. first + count - 1 have links of their own, slower than their levels say. */
typedef struct sagoi_link_rule {
    int64_t first, count;
    double bandwidth; /* bytes a second; > 0 */
} sagoi_link_rule;

/* One of several memories of a node (000, VI). */
typedef struct sagoi_memory_level {
    char name[16];
    int64_t size;     /* bytes of a node; > 0 */
    double bandwidth; /* bytes a second; > 0 */
} sagoi_memory_level;

typedef struct sagoi_topology {
    sagoi_topology_kind kind;
    bool direct; /* dragonfly */
    int64_t dimensions;
    int64_t extent[SAGOI_DIMENSIONS_MAX]; /* > 0; their product is `places` */
    int64_t places;
    int64_t levels;
    sagoi_level level[SAGOI_DIMENSIONS_MAX];
    /* Fat tree: of level k, so many lead up from each switch of height k; 0: as many as there are places below. */
    int64_t links[SAGOI_DIMENSIONS_MAX];
    sagoi_level inside; /* between ranks of one node */
    sagoi_level io;     /* from a gateway to the storage */
    double io_reading;  /* bytes a second of a storage target that is read; 0: as `io` */
    double seek;        /* seconds that a storage target is busy with a request, besides its bytes; 0: not known */
    double file;    /* bytes a second that one file takes from all ranks together; 0: not known to be limited */
    double message; /* seconds that a message costs the process at either end, besides the wire; 0: not known */
    double copy;    /* bytes a second that one process copies; 0: not known */
    double run;     /* seconds that packing or scattering a run costs a process; 0: not known */
    double writer; /* bytes a second that one process moves to or from the storage; 0: as much as the way allows */
    double reader; /* bytes a second that one process reads; 0: as when writing */
    double request; /* seconds of a request to the storage, besides its bytes; 0: not known */
    double lock;    /* seconds until a node may write to what another node has locked; 0: not known */
    int64_t numa;   /* NUMA domains of the node with most; 0: not known */
    int64_t memory_levels;
    sagoi_memory_level memory_level[SAGOI_MEMORY_LEVELS_MAX];
    int64_t gateway_rules;
    sagoi_gateway_rule gateway_rule[SAGOI_GATEWAY_RULES_MAX];
    int64_t link_rules; /* the last rule that names a place counts */
    sagoi_link_rule link_rule[SAGOI_LINK_RULES_MAX];
} sagoi_topology;

/* ---- Making one ---- */

/* What is assumed of a machine that nobody has described: one hop between any two places, no gateways, figures of
 * a common cluster. */
void sagoi_topology_flat(sagoi_topology *topology, int64_t places);
/* `topology`; or *flat, which becomes what is assumed, where that is NULL. */
const sagoi_topology *sagoi_topology_or_flat(const sagoi_topology *topology, int64_t places, sagoi_topology *flat);
/* Sets places and levels from kind, dimensions and extent.  SAGO_ERR_ARG: a field is wrong, as the message
 * says. */
sago_status sagoi_topology_complete(sagoi_topology *topology) SAGOI_CHECKED;

/* ---- The network ---- */

void sagoi_topology_coordinates(const sagoi_topology *topology, int64_t place, int64_t *coordinate);
int64_t sagoi_topology_place(const sagoi_topology *topology, const int64_t *coordinate);
/* Hops of each level on a shortest path. */
void sagoi_topology_hops(const sagoi_topology *topology, int64_t a, int64_t b, int64_t *hops);
int64_t sagoi_topology_distance(const sagoi_topology *topology, int64_t a, int64_t b);
double sagoi_topology_latency(const sagoi_topology *topology, int64_t a, int64_t b);
/* B(a->b); a == b: inside of the node. */
double sagoi_topology_bandwidth(const sagoi_topology *topology, int64_t a, int64_t b);
/* The bandwidth of the place's own link; INFINITY: no rule names the place. */
double sagoi_topology_link(const sagoi_topology *topology, int64_t place);
/* The number of links that lead up from a fat tree's switch of height `level`, which is 1 or more. */
int64_t sagoi_topology_uplinks(const sagoi_topology *topology, int64_t level);
/* Places under one leaf switch or router come in blocks of so many, from 0 on; torus and flat: 1. */
int64_t sagoi_topology_neighbours(const sagoi_topology *topology);

/* ---- Gateways ---- */

/* The number of gateways, at known places or not. */
int64_t sagoi_topology_gateways(const sagoi_topology *topology);
/* The place that a gateway is attached to; -1: unknown. */
int64_t sagoi_topology_gateway_place(const sagoi_topology *topology, int64_t gateway);
bool sagoi_topology_gateway_serves(const sagoi_topology *topology, int64_t gateway, int64_t place);
/* The nearest gateway that serves the place, the first of equally near ones; -1: none is known. */
int64_t sagoi_topology_gateway_nearest(const sagoi_topology *topology, int64_t place);
/* Is it known of any gateways at known places which targets they lead to? */
bool sagoi_topology_maps_targets(const sagoi_topology *topology);
/* C2 for `bytes` bytes from an aggregator at `place`. */
double sagoi_topology_store_cost(const sagoi_topology *topology, int64_t place, double bytes);
/* C2 by the nearest gateway that leads to the storage target; by any gateway, if none is known to. */
double sagoi_topology_target_cost(const sagoi_topology *topology, int64_t place, int64_t target, double bytes);

#endif
