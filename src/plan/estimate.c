/* How long moving and storing would take, from the number of aggregators alone, for choosing that number before
 * their places are known.  Every message costs its sender and its receiver the latency of the slowest level and
 * some time of a processor, and bytes go at the bandwidth of the slowest level.  What the finished plan costs is
 * in cost.c. */
#include "base/checked.h"
#include "plan/draft.h"

sagoi_level sagoi_slowest_level(const sagoi_topology *topology) {
    sagoi_level slowest = topology->level[0];
    for (int64_t k = 1; k < topology->levels; k++) {
        const sagoi_level *level = &topology->level[k];
        slowest.bandwidth = level->bandwidth < slowest.bandwidth ? level->bandwidth : slowest.bandwidth;
        slowest.latency = level->latency > slowest.latency ? level->latency : slowest.latency;
    }
    slowest.latency += topology->message;
    return slowest;
}

/* Each local aggregator serves q/c ranks and sends its part of the node's bytes, at most as fast as memory
 * delivers them; the receiver gets c messages from every node.  What a rank does not send itself it copies first,
 * and all ranks do so at the same time; copies are also made for a relay, and for merging lists.  If ranks share
 * cores, no more of them copy at a time than there are cores, and a message waits until its rank has the core,
 * after the others. */
double sagoi_draft_local_cost(const sagoi_draft *draft, int64_t c) {
    sagoi_topology flat;
    const sagoi_topology *topology =
        sagoi_topology_or_flat(draft->machine->topology, draft->machine->nodes, &flat);
    sagoi_level network = sagoi_slowest_level(topology);
    double nodes = (double)draft->machine->nodes, ranks = (double)draft->most_ranks;
    double at_once = ranks / draft->crowding;
    double turn = draft->crowding > 1 ? draft->crowding * SAGOI_WAKE_SECONDS : 0;
    double bytes = (double)sagoi_min(draft->bytes / draft->machine->nodes, SAGOI_WINDOW_SEVERAL);
    double sent = bytes / network.bandwidth;
    double gathered = bytes / (topology->inside.bandwidth * sagoi_smaller((double)c, at_once));
    bool own = c >= draft->most_ranks && draft->hints->layers != SAGOI_LAYERS_THREE &&
               draft->hints->merge != SAGOI_CHOICE_ON;
    double staged = own ? 0 : bytes / (topology->inside.bandwidth * at_once);
    return sagoi_larger(sent, gathered) + staged + ranks / (double)c * topology->inside.latency +
           nodes * (double)c * (network.latency + turn);
}

double sagoi_draft_senders(const sagoi_draft *draft, int64_t window) {
    const sagoi_plan *plan = draft->plan;
    double span = (double)(plan->high - plan->low), senders = 0;
    for (int64_t i = 0; i < draft->nwith_data; i++) {
        int64_t n = draft->by_low[i];
        senders += sagoi_smaller(1, ((double)(plan->node_high[n] - plan->node_low[n]) + (double)window) / span);
    }
    return senders;
}

/* Storage takes what its targets and gateways take; if there are none, every aggregator finds a way of its own. */
static double targets_bandwidth(const sagoi_draft *draft, const sagoi_topology *topology, double aggregators) {
    double ways = aggregators, gateways = (double)sagoi_topology_gateways(topology);
    if (draft->stripe > 0)
        ways = sagoi_smaller(ways, (double)draft->targets);
    if (gateways > 0)
        ways = sagoi_smaller(ways, gateways);
    return ways * topology->io.bandwidth;
}

/* Seconds of storing besides latency.  No aggregator moves more than one process can.  Stripes are dealt out in
 * whole windows, so in the last round only some aggregators have one, and take as long as for any other. */
static double store_seconds(const sagoi_draft *draft, const sagoi_topology *topology, int64_t aggregators,
                            int64_t window) {
    int64_t span = draft->plan->high - draft->plan->low, round = sagoi_min(span, aggregators * window);
    double all = targets_bandwidth(draft, topology, (double)aggregators), bytes = (double)draft->bytes;
    if (topology->writer <= 0)
        return bytes / all;
    if (draft->stripe == 0)
        return bytes / sagoi_smaller(all, (double)aggregators * topology->writer);
    int64_t full = span / round, last = span % round;
    double alone = (double)sagoi_min(window, round) / topology->writer;
    double seconds = (double)full * sagoi_larger(alone, (double)round / all) +
                     (last > 0 ? sagoi_larger(alone, (double)last / all) : 0);
    return bytes / (double)span * seconds;
}

sagoi_estimate sagoi_draft_estimate(const sagoi_draft *draft, int64_t aggregators) {
    sagoi_topology flat;
    const sagoi_topology *topology =
        sagoi_topology_or_flat(draft->machine->topology, draft->machine->nodes, &flat);
    sagoi_level network = sagoi_slowest_level(topology);
    int64_t window = sagoi_draft_wanted_window(draft, aggregators), span = draft->plan->high - draft->plan->low;
    double nodes = (double)draft->machine->nodes, count = (double)aggregators, bytes = (double)draft->bytes;
    double rounds = (double)sagoi_div_up(sagoi_div_up(span, aggregators), window);
    double messages =
        (double)draft->plan->local_aggregators * sagoi_draft_senders(draft, window) * (1 + count / nodes);
    sagoi_estimate e;
    e.gather = rounds * messages * network.latency + bytes / (sagoi_smaller(count, nodes) * network.bandwidth);
    e.store = rounds * topology->io.latency + store_seconds(draft, topology, aggregators, window);
    e.seconds = sagoi_larger(e.gather, e.store) * (rounds - 1) / rounds + (e.gather + e.store) / rounds;
    return e;
}
