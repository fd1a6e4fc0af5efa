/* Memory of a load, and what of it passes links for nothing. */
#include "sim/load.h"
#include "sim/sim_tally.h"

#include <stdlib.h>

#include "base/checked.h"

bool sim_load_init(sim_load *load, int64_t nodes, int64_t aggregators, int64_t rounds) {
    *load = (sim_load){.nodes = nodes,
                       .aggregators = aggregators,
                       .rounds = rounds,
                       .in_flight = 1,
                       .clients = 1,
                       .processes = 1,
                       .repeats = 1};
    load->place = calloc((size_t)nodes, sizeof *load->place);
    load->host = calloc((size_t)aggregators, sizeof *load->host);
    load->round = calloc((size_t)rounds, sizeof *load->round);
    bool ok = load->place && load->host && load->round;
    for (int64_t r = 0; ok && r < rounds; r++) {
        sim_round *round = &load->round[r];
        round->flow = calloc((size_t)(nodes * aggregators), sizeof *round->flow);
        round->node = calloc((size_t)nodes, sizeof *round->node);
        round->store = calloc((size_t)aggregators, sizeof *round->store);
        ok = round->flow && round->node && round->store;
    }
    return ok;
}

void sim_load_cleanup(sim_load *load) {
    for (int64_t r = 0; load->round && r < load->rounds; r++) {
        free(load->round[r].flow);
        free(load->round[r].node);
        free(load->round[r].store);
    }
    free(load->round);
    free(load->place);
    free(load->host);
    *load = (sim_load){0};
}

/* ---- Token buckets ---- */

static int64_t sender_of(const sim_load *load, int64_t node, int64_t aggregator) {
    return load->write ? node : load->host[aggregator];
}

/* A message has a byte at least, so that it is still one. */
static void spare_flows(sim_load *load, int64_t r, double *left) {
    for (int64_t n = 0; n < load->nodes; n++)
        for (int64_t a = 0; a < load->aggregators; a++) {
            sim_flow *flow = sim_load_flow(load, r, n, a);
            double *tokens = &left[sender_of(load, n, a)], spared = sagoi_smaller(*tokens, flow->bytes - 1);
            if (!sim_load_crosses(load, r, n, a) || spared <= 0)
                continue;
            flow->bytes -= spared;
            *tokens -= spared;
        }
}

/* What is written passes the node's link and the target's; what is read, the target's. */
static void spare_stores(sim_load *load, int64_t r, double *node, double *target, int64_t targets) {
    for (int64_t a = 0; a < load->aggregators; a++) {
        sim_store *store = &load->round[r].store[a];
        int64_t pieces = sim_store_pieces(store, targets);
        double all = store->bytes;
        for (int64_t i = 0; i < pieces; i++) {
            double piece = all * sim_store_bytes(store, targets, i) / sagoi_larger(store->bytes, 1);
            double *there = &target[sim_store_target(store, targets, i)], *here = &node[load->host[a]];
            double spared = sagoi_larger(0, sagoi_smaller(*there, piece - 1));
            spared = load->write ? sagoi_smaller(spared, *here) : spared;
            store->bytes -= spared;
            *there -= spared;
            *here -= load->write ? spared : 0;
        }
    }
}

bool sim_load_burst(sim_load *load, double burst, int64_t targets) {
    double *node = calloc((size_t)(load->nodes + targets), sizeof *node),
           *target = node ? node + load->nodes : NULL;
    for (int64_t i = 0; node && i < load->nodes + targets; i++)
        node[i] = burst;
    for (int64_t r = 0; node && r < load->rounds; r++) {
        spare_flows(load, r, node);
        if (targets > 0)
            spare_stores(load, r, node, target, targets);
    }
    free(node);
    return node;
}
