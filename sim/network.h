/* The network and the storage as links: which links a message crosses, and how much crosses each.
 *
 * Routes are minimal, as in machine/topology.h: in a torus dimension by dimension, the shorter way round; in a
 * dragonfly along the row, then the column, then to the other group; in a fat tree by the destination.  A link has
 * one direction.  Links exist once something crosses them. */
#ifndef SIM_NETWORK_H
#define SIM_NETWORK_H

#include <stdbool.h>
#include <stdint.h>

#include "machine/topology.h"
#include "sim/costs.h"

enum { SIM_ROUTE_MAX = 96, SIM_LINK_NAME_MAX = 48, SIM_LINK_USES = 3 };

typedef enum {
    SIM_LINK_UP = 1, /* out of a node */
    SIM_LINK_DOWN,
    SIM_LINK_HOP,
    SIM_LINK_GATEWAY,
    SIM_LINK_TARGET,
    SIM_LINK_WRITER, /* the file system's client of one process */
    SIM_LINK_IO_NODE,
    SIM_LINK_FILE
} sim_link_kind;

typedef struct sim_link {
    sim_link_kind kind;
    int64_t level, from, to; /* numbers of what the kind connects: places, gateways, targets */
    double bandwidth, latency;
    double bytes; /* bytes that cross the link */
    /* Used by the replay by links: bytes of this round, when the first could come and when all are through, and
     * when it was free after the round before, for exchanges and for stores. */
    double now, first, through, free[SIM_LINK_USES];
} sim_link;

typedef struct sim_network {
    const sagoi_topology *topology; /* not owned */
    double payload;
    bool write;
    bool send_only;  /* links limit what nodes send, not what they receive */
    int64_t targets; /* targets of the storage; 0: storage costs nothing but the calls */
    double seek;     /* seconds that a target is busy with a request beside its bytes */
    double target_bandwidth, writer_bandwidth, io_node_bandwidth, file_bandwidth; /* 0: no limit */
    sim_link *link; /* owned, as is the table by key */
    int64_t links, capacity;
    int64_t *slot;
    int64_t slots;
    bool failed; /* memory has run out */
} sim_network;

void sim_network_init(sim_network *network, const sagoi_topology *topology, const sim_costs *costs, bool write,
                      int64_t targets);
void sim_network_cleanup(sim_network *network);

void sim_link_name(const sim_link *link, char name[SIM_LINK_NAME_MAX]);

/* The links from one place to another, at most SIM_ROUTE_MAX; returns how many. */
int64_t sim_network_route(sim_network *network, int64_t from, int64_t to, int64_t *route);
/* From the process `writer` at a place to a storage target: its own client, the network, the gateway, the target.
 * When reading, the links of the other direction. */
int64_t sim_network_store_route(sim_network *network, int64_t writer, int64_t place, int64_t target,
                                int64_t *route);
/* So many bytes on a link, and on a target's, as many more as it could move while it seeks: `requests` at it. */
double sim_link_bytes(const sim_network *network, const sim_link *link, double bytes, double requests);
/* Adds bytes to all links of a route. */
void sim_network_load(sim_network *network, const int64_t *route, int64_t hops, double bytes, double requests);

#endif
