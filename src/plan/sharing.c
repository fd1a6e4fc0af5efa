/* Do the ranks of several nodes access a striped file themselves, or is the data gathered for them?
 *
 * Alone every byte crosses the network once, but each run is a request of its own, and a stripe's lock goes
 * from node to node with the nodes that write to it.  Gathered, one node writes or reads a stripe, but most
 * bytes cross the network twice, and the ranks meet more often.  Both costs are in seconds beyond what either
 * way takes.  Targets work side by side; requests to one target go one after another. */
#include <math.h>

#include "base/checked.h"
#include "plan/draft.h"

/* How the runs of all ranks lie on the stripes, if they are spread evenly. */
typedef struct stripes {
    double pieces;    /* pieces of runs that stripes cut */
    double stretches; /* pieces of nodes' data that stripes cut, between which a lock is passed on */
    double touched;   /* stripes */
    double ways;      /* targets that work side by side */
    double busy;      /* targets that are busy, if each node has one request under way */
} stripes;

static stripes lay_on_stripes(const sagoi_totals *all, const sagoi_target *target) {
    double unit = (double)target->stripe_unit;
    double cuts = (double)all->bytes / unit;
    stripes s = {.pieces = (double)all->runs + cuts};
    s.stretches = all->stretched ? sagoi_smaller((double)all->nodes + cuts, s.pieces) : s.pieces;
    s.touched = sagoi_smaller((double)all->span / unit + 1, s.pieces);
    s.ways = target->stripe_count > 0 ? sagoi_smaller((double)target->stripe_count, s.touched) : s.touched;
    s.busy =
        /* A node that waits at one target leaves another one idle. */
        s.ways * (double)all->nodes / ((double)all->nodes + s.ways - 1);
    return s;
}

/* More requests than a stripe needs; and its lock, unless the last writer was on the same node. */
static double alone_seconds(const sagoi_totals *all, const stripes *s, double request, double lock) {
    double others = all->stretched ? 1 : 1 - 1 / (double)all->nodes;
    double passed = all->write ? others * (s->stretches - s->touched) : 0;
    return ((s->pieces - s->touched) * request + sagoi_larger(0, passed) * lock * SAGOI_LOCK_WAITS) / s->busy;
}

static double gathered_seconds(const sagoi_totals *all, const stripes *s, sagoi_level network) {
    double nodes = (double)all->nodes, aggregators = sagoi_smaller(nodes, s->touched), steps = 0;
    for (int64_t reached = 1; reached < all->nodes; reached *= 2)
        steps += 2; /* towards one node, and back */
    double moved = (double)all->bytes * (1 - 1 / nodes) / (aggregators * network.bandwidth);
    return moved + nodes * network.latency +
           SAGOI_PLANNED_MEETINGS * (steps * network.latency + SAGOI_WAKE_SECONDS);
}

sagoi_stripe_costs sagoi_sharing_costs(const sagoi_totals *all, const sagoi_target *target,
                                       const sagoi_hints *hints) {
    sagoi_topology flat;
    sagoi_level network;
    if (target->stripe_unit == 0 || all->bytes / sagoi_max(1, all->runs) >= target->stripe_unit)
        return (sagoi_stripe_costs){0, 0}; /* each run's edges are shared with at most one neighbour */
    const sagoi_topology *topology = sagoi_topology_or_flat(all->topology, all->nodes, &flat);
    network = sagoi_slowest_level(topology);
    double request = topology->io.latency;
    if (!all->write && (all->assumed || topology == &flat)) {
        request = sagoi_larger(request, SAGOI_ASSUMED_REQUEST);
        network.bandwidth = sagoi_smaller(network.bandwidth, SAGOI_SLOW_NETWORK);
    }
    if (all->gathered > 0)
        network.bandwidth = all->gathered;
    const stripes s = lay_on_stripes(all, target);
    return (sagoi_stripe_costs){.alone = alone_seconds(all, &s, request, (double)hints->lock_time * 1e-6),
                                .gathered = gathered_seconds(all, &s, network)};
}

int64_t sagoi_pace_of(int64_t bytes, int64_t nodes, double seconds) {
    if (bytes < SAGOI_PACE_LEAST || nodes <= 0 || seconds <= 0)
        return 0;
    return sagoi_max(1, (int64_t)lround(log2((double)bytes / ((double)nodes * seconds))));
}

double sagoi_pace_rate(int64_t pace) { return pace > 0 ? exp2((double)pace) : 0; }
