/* The replay by links: round by round, without a flow of its own for anything.
 *
 * In a round every link carries what all flows over it carry together, and is free again when that is through; a
 * flow ends with the last of its links, as flows that share fairly and are alike do.  An aggregator that receives
 * at most k of N flows at a time works for one while the next ones come: of the shorter of moving and working all
 * but k/N is hidden behind the longer.  Exchanges and stores of a round are summed up apart: where stores overlap,
 * they meet the exchange of the next round on few links, and seldom on the one that decides. */
#include "sim/sim_tally.h"

#include <stdlib.h>

#include "base/checked.h"
#include "bench/patterns.h"

typedef struct sender {
    double ready; /* when the next round's work may begin */
    double start; /* when this round's flows start */
    double sent;  /* when the last flow had been sent, or received */
} sender;

typedef struct receiver {
    double start;     /* when this round's exchange starts */
    double exchanged; /* end of it */
    double stored, stored_before;
    /* Figures of this round: flows of other nodes, seconds of work for them, seconds until the last has come, and
     * their seconds one after another. */
    double flows, work, moving, wire;
} receiver;

typedef struct links_run {
    sim_tally *tally;
    const sim_load *load;
    sim_network *network;
    sender *node;
    receiver *aggregator;
} links_run;

/* ---- Links ---- */

/* Bytes that go somewhere, and the requests at a storage target that they are; `start`: when the first could come.
 */
typedef struct moved {
    double bytes, requests, start;
} moved;

static void load_route(sim_network *network, const int64_t *route, int64_t hops, const moved *what) {
    for (int64_t h = 0; h < hops; h++) {
        sim_link *link = &network->link[route[h]];
        double bytes = sim_link_bytes(network, link, what->bytes, what->requests);
        link->first = link->now > 0 ? sagoi_smaller(link->first, what->start) : what->start;
        link->now += bytes;
        link->bytes += bytes;
    }
}

/* When everything that the round has for each link is through. */
static void settle(sim_network *network, sim_phase phase) {
    for (int64_t i = 0; i < network->links; i++) {
        sim_link *link = &network->link[i];
        link->through = sagoi_larger(link->first, link->free[phase]) + link->now / link->bandwidth;
    }
}

static void end_round(sim_network *network, sim_phase phase) {
    for (int64_t i = 0; i < network->links; i++) {
        sim_link *link = &network->link[i];
        if (link->now > 0)
            link->free[phase] = link->through;
        link->now = 0;
    }
}

/* Latency and the slowest link, if nobody else were there. */
static double alone(const sim_network *network, const int64_t *route, int64_t hops, const moved *what) {
    double latency = 0, slowest = 0;
    for (int64_t h = 0; h < hops; h++) {
        const sim_link *link = &network->link[route[h]];
        latency += link->latency;
        slowest =
            sagoi_larger(slowest, sim_link_bytes(network, link, what->bytes, what->requests) / link->bandwidth);
    }
    return latency + slowest;
}

static double flow_end(const sim_network *network, sim_phase phase, const int64_t *route, int64_t hops,
                       const moved *what) {
    double end = what->start, latency = 0;
    for (int64_t h = 0; h < hops; h++) {
        const sim_link *link = &network->link[route[h]];
        double last = sagoi_larger(what->start, link->free[phase]) + link->now / link->bandwidth;
        end = sagoi_larger(end, sagoi_smaller(link->through, last));
        latency += link->latency;
    }
    return sagoi_larger(end + latency, what->start + alone(network, route, hops, what));
}

static int64_t flow_route(const links_run *run, int64_t node, int64_t aggregator, int64_t *route) {
    const sim_load *load = run->load;
    int64_t own = load->place[node], host = load->place[load->host[aggregator]];
    return load->write ? sim_network_route(run->network, own, host, route)
                       : sim_network_route(run->network, host, own, route);
}

/* ---- Stores ---- */

typedef struct stores {
    double *start, *end; /* aggregators */
} stores;

static void each_piece(const links_run *run, int64_t r, const stores *times, bool sum_up) {
    int64_t route[SIM_ROUTE_MAX], targets = run->network->targets;
    for (int64_t a = 0; a < run->load->aggregators; a++) {
        const sim_store *store = &sim_load_round(run->load, r)->store[a];
        int64_t pieces = sim_store_pieces(store, targets > 0 ? targets : 1);
        double start = times->start[a] + store->seconds;
        if (!sum_up)
            times->end[a] = start;
        for (int64_t i = 0; store->bytes > 0 && targets > 0 && i < pieces; i++) {
            moved piece = {sim_store_bytes(store, targets, i), sim_store_requests(store, targets), start};
            int64_t hops = sim_network_store_route(run->network, a, run->load->place[run->load->host[a]],
                                                   sim_store_target(store, targets, i), route);
            if (sum_up) {
                load_route(run->network, route, hops, &piece);
                continue;
            }
            times->end[a] = sagoi_larger(times->end[a], flow_end(run->network, SIM_STORE, route, hops, &piece));
        }
    }
}

static void move_windows(const links_run *run, int64_t r, const stores *times) {
    each_piece(run, r, times, true);
    settle(run->network, SIM_STORE);
    each_piece(run, r, times, false);
    end_round(run->network, SIM_STORE);
    for (int64_t a = 0; a < run->load->aggregators; a++) {
        receiver *own = &run->aggregator[a];
        own->stored_before = own->stored;
        own->stored = times->end[a];
        sim_tally_note(run->tally, SIM_STORE, a, times->start[a], times->end[a]);
    }
}

/* ---- Exchange ---- */

/* When a flow may begin: a message by rendezvous needs both. */
static double flow_start(const links_run *run, int64_t n, int64_t a) {
    return sagoi_larger(run->node[n].start, run->aggregator[a].start);
}

static void sum_flows(const links_run *run, int64_t r) {
    const sim_load *load = run->load;
    int64_t route[SIM_ROUTE_MAX];
    for (int64_t a = 0; a < load->aggregators; a++)
        run->aggregator[a].flows = run->aggregator[a].work = run->aggregator[a].moving = run->aggregator[a].wire =
            0;
    for (int64_t n = 0; n < load->nodes; n++)
        for (int64_t a = 0; a < load->aggregators; a++) {
            if (!sim_load_crosses(load, r, n, a))
                continue;
            const sim_flow *flow = sim_load_flow(load, r, n, a);
            int64_t hops = flow_route(run, n, a, route);
            moved all = {flow->bytes, 0, flow_start(run, n, a)};
            load_route(run->network, route, hops, &all);
            run->aggregator[a].flows++;
            run->aggregator[a].work += flow->seconds;
            run->aggregator[a].wire += alone(run->network, route, hops, &all);
        }
    settle(run->network, SIM_EXCHANGE);
}

/* Ends of transfers as the links have it, for both ends. */
static void end_flows(const links_run *run, int64_t r) {
    const sim_load *load = run->load;
    int64_t route[SIM_ROUTE_MAX];
    for (int64_t n = 0; n < load->nodes; n++) {
        sender *node = &run->node[n];
        node->sent = node->start;
        for (int64_t a = 0; a < load->aggregators; a++) {
            if (!sim_load_crosses(load, r, n, a))
                continue;
            receiver *own = &run->aggregator[a];
            moved all = {sim_load_flow(load, r, n, a)->bytes, 0, flow_start(run, n, a)};
            int64_t hops = flow_route(run, n, a, route);
            double end = flow_end(run->network, SIM_EXCHANGE, route, hops, &all);
            own->moving = sagoi_larger(own->moving, end - own->start);
            node->sent = sagoi_larger(node->sent, end);
        }
    }
    end_round(run->network, SIM_EXCHANGE);
}

/* Moving and working together: `in_flight` of the flows are under way at a time. */
static double exchange_seconds(const sim_load *load, const receiver *own) {
    double at_once = sagoi_smaller(1, (double)load->in_flight / sagoi_larger(own->flows, 1));
    double moving = sagoi_larger(own->moving, own->wire / (double)load->in_flight);
    return sagoi_larger(moving, own->work) + sagoi_smaller(moving, own->work) * at_once;
}

/* ---- Writes ---- */

/* After a round of a write in step. */
static double wait_for_all(const links_run *run, double now) {
    const sim_load *load = run->load;
    for (int64_t a = 0; a < load->aggregators; a++)
        now = sagoi_larger(now, load->overlapped ? run->aggregator[a].exchanged : run->aggregator[a].stored);
    for (int64_t n = 0; n < load->nodes; n++)
        now = sagoi_larger(now, load->overlapped ? run->node[n].start : run->node[n].sent);
    return now + load->step;
}

/* An aggregator that takes k flows at a time lets another one come when it has worked for one of them. */
static void hold_senders(const links_run *run, int64_t r) {
    const sim_load *load = run->load;
    for (int64_t a = 0; a < load->aggregators; a++) {
        const receiver *own = &run->aggregator[a];
        double seconds = exchange_seconds(load, own), place = 0;
        for (int64_t n = 0; n < load->nodes && own->flows > (double)load->in_flight; n++)
            if (sim_load_crosses(load, r, n, a)) {
                double before = sagoi_larger(0, ++place - (double)load->in_flight);
                double taken = (before * seconds + own->moving) / own->flows;
                run->node[n].sent = sagoi_larger(run->node[n].sent, own->start + taken);
            }
    }
}

static void write_round(const links_run *run, int64_t r, double after, const stores *times) {
    const sim_load *load = run->load;
    for (int64_t n = 0; n < load->nodes; n++) {
        sender *node = &run->node[n];
        double begin = sagoi_larger(after, node->ready), packed = begin + sim_load_round(load, r)->node[n];
        sim_tally_note(run->tally, SIM_GATHER, -1 - n, begin, packed);
        node->start = sagoi_larger(packed, node->sent);
        if (r > 0)
            sim_tally_sent(run->tally, r - 1, node->sent);
    }
    for (int64_t a = 0; a < load->aggregators; a++) {
        receiver *own = &run->aggregator[a];
        own->start =
            sagoi_larger(sagoi_larger(after, own->exchanged), load->overlapped ? own->stored_before : own->stored);
    }
    sum_flows(run, r);
    end_flows(run, r);
    hold_senders(run, r);
    for (int64_t n = 0; n < load->nodes; n++) {
        sender *node = &run->node[n];
        node->ready = load->overlapped ? node->start : node->sent;
        sim_tally_note(run->tally, SIM_EXCHANGE, -1 - n, node->start, node->sent);
    }
    for (int64_t a = 0; a < load->aggregators; a++) {
        receiver *own = &run->aggregator[a];
        own->exchanged = own->start + exchange_seconds(load, own) +
                         sim_load_flow(load, r, load->host[a], a)->seconds +
                         sim_load_round(load, r)->store[a].work;
        sim_tally_note(run->tally, SIM_EXCHANGE, a, own->start, own->exchanged);
        times->start[a] = sagoi_larger(own->exchanged, own->stored);
    }
    move_windows(run, r, times);
    for (int64_t a = 0; a < load->aggregators; a++)
        sim_tally_end(run->tally, r, run->aggregator[a].stored);
}

/* ---- Reads ---- */

/* In step nobody sends before all windows of the round have been read. */
static double wait_for_windows(const links_run *run) {
    const sim_load *load = run->load;
    double now = load->ahead;
    for (int64_t a = 0; load->in_step && a < load->aggregators; a++)
        now = sagoi_larger(now, sagoi_larger(run->aggregator[a].stored, run->aggregator[a].exchanged));
    for (int64_t n = 0; load->in_step && n < load->nodes; n++)
        now = sagoi_larger(now, run->node[n].ready);
    return load->in_step ? now + load->step : now;
}

static void read_round(const links_run *run, int64_t r, const stores *times, double *before) {
    const sim_load *load = run->load;
    for (int64_t a = 0; a < load->aggregators; a++) { /* a window is empty when it has been sent */
        receiver *own = &run->aggregator[a];
        times->start[a] = sagoi_larger(own->stored, load->overlapped ? before[a] : own->exchanged);
        before[a] = own->exchanged;
    }
    move_windows(run, r, times);
    const double after = wait_for_windows(run);
    for (int64_t a = 0; a < load->aggregators; a++) {
        receiver *own = &run->aggregator[a];
        own->start = sagoi_larger(sagoi_larger(after, own->exchanged), own->stored) +
                     sim_load_flow(load, r, load->host[a], a)->seconds + sim_load_round(load, r)->store[a].work;
    }
    for (int64_t n = 0; n < load->nodes; n++)
        run->node[n].start = sagoi_larger(after, run->node[n].ready);
    sum_flows(run, r);
    end_flows(run, r);
    for (int64_t a = 0; a < load->aggregators; a++) { /* works for the next flow while the last one goes */
        receiver *own = &run->aggregator[a];
        double moving = sagoi_larger(own->moving, own->wire / (double)load->in_flight);
        own->exchanged = own->start + sagoi_larger(moving, own->work) +
                         sagoi_smaller(moving, own->work) / sagoi_larger(own->flows, 1);
        sim_tally_note(run->tally, SIM_EXCHANGE, a, own->start, own->exchanged);
        sim_tally_end(run->tally, r, own->exchanged);
        for (int64_t n = 0; n < load->nodes; n++) /* some node is the last one, seldom the same for all */
            if (sim_load_crosses(load, r, n, a))
                run->node[n].sent = sagoi_larger(run->node[n].sent, own->exchanged);
    }
    for (int64_t n = 0; n < load->nodes; n++) {
        sender *node = &run->node[n];
        node->ready = node->sent + sim_load_round(load, r)->node[n];
        sim_tally_note(run->tally, SIM_EXCHANGE, -1 - n, node->start, node->sent);
        sim_tally_note(run->tally, SIM_GATHER, -1 - n, node->sent, node->ready);
        sim_tally_end(run->tally, r, node->ready);
        sim_tally_sent(run->tally, r, node->ready);
    }
}

/* ---- Interface ---- */

static void run_rounds(const links_run *run, const stores *times, double *before) {
    const sim_load *load = run->load;
    double after = load->ahead;
    for (int64_t n = 0; n < load->nodes; n++)
        run->node[n].ready = run->node[n].sent = after;
    for (int64_t a = 0; a < load->aggregators; a++) {
        run->aggregator[a].exchanged = run->aggregator[a].stored = run->aggregator[a].stored_before = after;
        before[a] = after;
    }
    for (int64_t r = 0; r < sim_load_replayed(load); r++) {
        if (load->write)
            write_round(run, r, after, times);
        else
            read_round(run, r, times, before);
        after = load->in_step && load->write ? wait_for_all(run, after) : load->ahead;
    }
    for (int64_t n = 0; load->write && n < load->nodes; n++)
        sim_tally_sent(run->tally, sim_load_replayed(load) - 1, run->node[n].sent);
}

bool sim_replay_links(sim_tally *tally, char *why) {
    size_t aggregators = (size_t)tally->load->aggregators, nodes = (size_t)tally->load->nodes;
    links_run run = {.tally = tally, .load = tally->load, .network = tally->network};
    run.node = calloc(nodes, sizeof *run.node);
    run.aggregator = calloc(aggregators, sizeof *run.aggregator);
    stores times = {calloc(aggregators, sizeof(double)), calloc(aggregators, sizeof(double))};
    double *before = calloc(aggregators, sizeof *before);
    bool ok = run.node && run.aggregator && times.start && times.end && before;
    if (ok)
        run_rounds(&run, &times, before);
    free(run.node);
    free(run.aggregator);
    free(times.start);
    free(times.end);
    free(before);
    return (ok && !tally->network->failed) || bench_refuse(why, "out of memory");
}
