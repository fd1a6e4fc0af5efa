/* Routes over the kinds of networks that machine descriptions know. */
#include "sim/network.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNLIMITED 1e15 /* bytes a second */

void sim_network_init(sim_network *network, const sagoi_topology *topology, const sim_costs *costs, bool write,
                      int64_t targets) {
    *network = (sim_network){.topology = topology,
                             .payload = costs->payload,
                             .write = write,
                             .targets = targets,
                             .seek = costs->seek,
                             .target_bandwidth = write ? costs->target_write : costs->target_read,
                             .writer_bandwidth = write ? costs->writer : costs->reader,
                             .io_node_bandwidth = costs->io_node,
                             .file_bandwidth = costs->file};
}

void sim_network_cleanup(sim_network *network) {
    free(network->link);
    free(network->slot);
    *network = (sim_network){0};
}

/* ---- Links by key ---- */

static uint64_t mix(uint64_t x) {
    x ^= x >> 31;
    x *= UINT64_C(0x9e3779b97f4a7c15);
    return x ^ x >> 29;
}

static uint64_t key_of(const sim_link *link) {
    return (uint64_t)link->kind << 60 | (uint64_t)link->level << 56 | (uint64_t)link->from << 28 |
           (uint64_t)link->to;
}

static int64_t *slot_of(sim_network *network, uint64_t key) {
    uint64_t mask = (uint64_t)network->slots - 1, at = mix(key) & mask;
    while (network->slot[at] > 0 && key_of(&network->link[network->slot[at] - 1]) != key)
        at = (at + 1) & mask;
    return &network->slot[at];
}

static bool make_room(sim_network *network) {
    if (network->links < network->capacity)
        return true;
    int64_t capacity = network->capacity ? 2 * network->capacity : 1024;
    sim_link *more = realloc(network->link, (size_t)capacity * sizeof *more);
    if (more)
        network->link = more;
    int64_t *slot = calloc((size_t)(2 * capacity), sizeof *slot);
    if (!more || !slot) {
        free(slot);
        network->failed = true;
        return false;
    }
    free(network->slot);
    network->slot = slot;
    network->slots = 2 * capacity;
    network->capacity = capacity;
    for (int64_t i = 0; i < network->links; i++)
        *slot_of(network, key_of(&network->link[i])) = i + 1;
    return true;
}

/* The link's number; made if it is new. */
static int64_t link_number(sim_network *network, const sim_link *wanted) {
    if (!make_room(network))
        return 0;
    int64_t *slot = slot_of(network, key_of(wanted));
    if (*slot == 0) {
        network->link[network->links] = *wanted;
        *slot = ++network->links;
    }
    return *slot - 1;
}

static int64_t hop_link(sim_network *network, int64_t level, int64_t a, int64_t b) {
    const sagoi_level *kind = &network->topology->level[level];
    sim_link link = {.kind = SIM_LINK_HOP,
                     .level = level,
                     .from = a,
                     .to = b,
                     .bandwidth = kind->bandwidth * network->payload,
                     .latency = kind->latency};
    return link_number(network, &link);
}

/* A node's own link, in or out; a rule may say that it is slower. */
static int64_t own_link(sim_network *network, sim_link_kind kind, int64_t place) {
    const sagoi_topology *topology = network->topology;
    double own = sagoi_topology_link(topology, place), level = topology->level[0].bandwidth;
    sim_link link = {.kind = kind,
                     .from = place,
                     .bandwidth = kind == SIM_LINK_DOWN && network->send_only
                                      ? UNLIMITED
                                      : (own < level ? own : level) * network->payload,
                     .latency = topology->level[0].latency / (topology->kind == SAGOI_FLAT ? 2 : 1)};
    return link_number(network, &link);
}

void sim_link_name(const sim_link *link, char name[SIM_LINK_NAME_MAX]) {
    static const char *const names[] = {[SIM_LINK_UP] = "link out of place",
                                        [SIM_LINK_DOWN] = "link into place",
                                        [SIM_LINK_GATEWAY] = "gateway",
                                        [SIM_LINK_TARGET] = "storage target",
                                        [SIM_LINK_IO_NODE] = "I/O node",
                                        [SIM_LINK_FILE] = "file",
                                        [SIM_LINK_WRITER] = "client of aggregator"};
    if (link->kind == SIM_LINK_HOP)
        snprintf(name, SIM_LINK_NAME_MAX, "level %d link %lld-%lld", (int)link->level, (long long)link->from,
                 (long long)link->to);
    else
        snprintf(name, SIM_LINK_NAME_MAX, "%s %lld", names[link->kind], (long long)link->from);
}

/* ---- Routes ---- */

static int64_t route_torus(sim_network *network, int64_t from, int64_t to, int64_t *route) {
    const sagoi_topology *topology = network->topology;
    int64_t at[SAGOI_DIMENSIONS_MAX], end[SAGOI_DIMENSIONS_MAX], hops = 0, here = from;
    sagoi_topology_coordinates(topology, from, at);
    sagoi_topology_coordinates(topology, to, end);
    for (int64_t d = 0; d < topology->dimensions; d++) {
        int64_t size = topology->extent[d], ahead = (end[d] - at[d] + size) % size;
        int64_t step = 2 * ahead <= size ? 1 : size - 1;
        while (at[d] != end[d] && hops < SIM_ROUTE_MAX) {
            at[d] = (at[d] + step) % size;
            int64_t next = sagoi_topology_place(topology, at);
            route[hops++] = hop_link(network, d, here, next);
            here = next;
        }
    }
    return hops;
}

/* Between two routers of a dragonfly, by the number of the first place of each. */
static int64_t add_hop(sim_network *network, int64_t level, int64_t at[4], int dimension, int64_t value,
                       int64_t *route, int64_t hops) {
    if (at[dimension] == value)
        return hops;
    int64_t here = sagoi_topology_place(network->topology, at);
    at[dimension] = value;
    route[hops] = hop_link(network, level, here, sagoi_topology_place(network->topology, at));
    return hops + 1;
}

/* Coordinates are (group, row, column, node); without direct links a group's way to another leaves by one router.
 */
static int64_t route_dragonfly(sim_network *network, int64_t from, int64_t to, int64_t *route) {
    const sagoi_topology *topology = network->topology;
    int64_t at[SAGOI_DIMENSIONS_MAX], end[SAGOI_DIMENSIONS_MAX], hops = 0;
    sagoi_topology_coordinates(topology, from, at);
    sagoi_topology_coordinates(topology, to, end);
    at[3] = 0;
    if (at[0] != end[0] && !topology->direct && topology->extent[2] > 1) {
        int64_t out = end[0] % topology->extent[2], in = at[0] % topology->extent[2];
        hops = add_hop(network, 1, at, 2, out, route, hops);
        int64_t here = sagoi_topology_place(topology, at);
        at[0] = end[0];
        at[2] = in;
        route[hops++] = hop_link(network, 3, here, sagoi_topology_place(topology, at));
        return add_hop(network, 1, at, 2, end[2], route, hops);
    }
    hops = add_hop(network, 1, at, 2, end[2], route, hops);
    hops = add_hop(network, 2, at, 1, end[1], route, hops);
    return add_hop(network, 3, at, 0, end[0], route, hops);
}

/* Of a switch's links up the destination chooses one, and so it does of those down to its own switches, as static
 * routes do.  Where there are as many as places below, no two destinations there share one. */
static int64_t route_tree(sim_network *network, int64_t from, int64_t to, int64_t *route) {
    const sagoi_topology *topology = network->topology;
    int64_t size = 1, hops = 0, height = 0, down[SAGOI_DIMENSIONS_MAX];
    for (int64_t d = topology->dimensions - 1;
         d > 0 && from / size / topology->extent[d] != to / size / topology->extent[d]; d--) {
        size *= topology->extent[d];
        height++;
        int64_t links = sagoi_topology_uplinks(topology, height);
        route[hops++] = hop_link(network, height, 2 * (from / size * links + to % links), 0);
        down[height - 1] = hop_link(network, height, 2 * (to / size * links + to % links), 1);
    }
    for (int64_t h = hops - 1; h >= 0; h--)
        route[hops + (hops - 1 - h)] = down[h];
    return 2 * hops;
}

int64_t sim_network_route(sim_network *network, int64_t from, int64_t to, int64_t *route) {
    const sagoi_topology *topology = network->topology;
    int64_t hops = 0;
    if (from == to)
        return 0;
    if (topology->kind == SAGOI_TORUS)
        return route_torus(network, from, to, route);
    route[hops++] = own_link(network, SIM_LINK_UP, from);
    if (topology->kind == SAGOI_DRAGONFLY)
        hops += route_dragonfly(network, from, to, route + hops);
    if (topology->kind == SAGOI_FAT_TREE)
        hops += route_tree(network, from, to, route + hops);
    route[hops++] = own_link(network, SIM_LINK_DOWN, to);
    return hops;
}

/* ---- Storage ---- */

static int64_t gateway_link(sim_network *network, int64_t gateway) {
    const sagoi_level *io = &network->topology->io;
    sim_link link = {
        .kind = SIM_LINK_GATEWAY, .from = gateway, .bandwidth = io->bandwidth, .latency = io->latency};
    return link_number(network, &link);
}

static int64_t storage_link(sim_network *network, sim_link_kind kind, int64_t number) {
    double bandwidth = kind == SIM_LINK_TARGET   ? network->target_bandwidth
                       : kind == SIM_LINK_WRITER ? network->writer_bandwidth
                       : kind == SIM_LINK_FILE   ? network->file_bandwidth
                                                 : network->io_node_bandwidth;
    sim_link link = {.kind = kind,
                     .from = number,
                     .bandwidth = bandwidth > 0 ? bandwidth : UNLIMITED,
                     .latency = kind == SIM_LINK_TARGET ? network->topology->io.latency : 0};
    return link_number(network, &link);
}

/* To the nearest gateway, if anybody knows where that is, and through the I/O node of its set. */
static int64_t gateway_route(sim_network *network, int64_t place, int64_t *route) {
    const sagoi_topology *topology = network->topology;
    int64_t gateway = sagoi_topology_gateway_nearest(topology, place), hops;
    if (gateway < 0) {
        route[0] = own_link(network, network->write ? SIM_LINK_UP : SIM_LINK_DOWN, place);
        return topology->kind != SAGOI_TORUS;
    }
    int64_t out = sagoi_topology_gateway_place(topology, gateway);
    hops = network->write ? sim_network_route(network, place, out, route)
                          : sim_network_route(network, out, place, route);
    route[hops++] = gateway_link(network, gateway);
    int64_t set = topology->gateway_rule[0].serves;
    if (network->io_node_bandwidth > 0 && set > 0)
        route[hops++] = storage_link(network, SIM_LINK_IO_NODE, place / set);
    return hops;
}

int64_t sim_network_store_route(sim_network *network, int64_t writer, int64_t place, int64_t target,
                                int64_t *route) {
    int64_t hops = 0;
    if (network->writer_bandwidth > 0)
        route[hops++] = storage_link(network, SIM_LINK_WRITER, writer);
    hops += gateway_route(network, place, route + hops);
    if (network->file_bandwidth > 0)
        route[hops++] = storage_link(network, SIM_LINK_FILE, 0);
    route[hops++] = storage_link(network, SIM_LINK_TARGET, target);
    return hops;
}

double sim_link_bytes(const sim_network *network, const sim_link *link, double bytes, double requests) {
    return link->kind == SIM_LINK_TARGET ? bytes + requests * network->seek * link->bandwidth : bytes;
}

void sim_network_load(sim_network *network, const int64_t *route, int64_t hops, double bytes, double requests) {
    for (int64_t h = 0; h < hops && network->links > 0; h++)
        network->link[route[h]].bytes += sim_link_bytes(network, &network->link[route[h]], bytes, requests);
}
