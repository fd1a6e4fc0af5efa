/* From what was done when to seconds, bandwidths and whoever was busiest. */
#include "sim/sim_tally.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "bench/patterns.h"

/* SimGrid needs about a second for each ten thousand flows, and more for each the more they are at once. */
enum { FLOWS_FOR_SIMGRID = 4000 };

/* ---- Stores ---- */

/* A few stripes are a piece each, with the bytes that are in it; of more the bytes are shared out evenly. */
static bool is_exact(const sim_store *store) { return store->stripes > 1 && store->stripes <= SIM_PIECES_MAX; }

double sim_store_bytes(const sim_store *store, int64_t targets, int64_t i) {
    int64_t pieces = sim_store_pieces(store, targets);
    if (!is_exact(store) || store->first + store->last <= 0)
        return store->bytes / (double)pieces;
    double share = i == 0            ? store->first
                   : i == pieces - 1 ? store->last
                                     : (1 - store->first - store->last) / (double)(pieces - 2);
    return store->bytes * share;
}

int64_t sim_store_pieces(const sim_store *store, int64_t targets) {
    if (is_exact(store))
        return store->stripes;
    int64_t most = targets < SIM_PIECES_MAX ? targets : SIM_PIECES_MAX;
    return store->stripes < 1 ? 1 : store->stripes < most ? store->stripes : most;
}

double sim_store_requests(const sim_store *store, int64_t targets) {
    int64_t pieces = sim_store_pieces(store, targets), touched = pieces < targets ? pieces : targets;
    return sagoi_larger(1, store->requests) * (double)touched / (double)pieces;
}

int64_t sim_store_target(const sim_store *store, int64_t targets, int64_t i) {
    if (is_exact(store))
        return (store->stripe + i) % targets;
    int64_t touched = store->stripes < targets ? store->stripes : targets;
    int64_t spread = touched > SIM_PIECES_MAX ? touched / SIM_PIECES_MAX : 1;
    int64_t number = store->stripes > 0 ? store->stripe / store->stripes : 0; /* all targets have their turn */
    return (store->stripe + i * spread + (number + store->stripe / targets) % spread) % targets;
}

/* ---- What was done when ---- */

/* The lane of a node or aggregator in the timeline; SIM_LANES: it has none. */
static int64_t lane_of(const sim_tally *tally, int64_t who) {
    int64_t i = 0;
    if (who >= 0)
        return who < SIM_LANES ? who : SIM_LANES;
    while (i < SIM_LANES && tally->outcome->drawn[i] != -1 - who)
        i++;
    return i < SIM_LANES ? -1 - i : SIM_LANES;
}

void sim_tally_note(sim_tally *tally, sim_phase phase, int64_t who, double start, double end) {
    sim_busy *whose = who < 0 ? &tally->node[-1 - who] : &tally->aggregator[who];
    sim_outcome *outcome = tally->outcome;
    int64_t lane = lane_of(tally, who);
    whose->phase[phase] += end - start;
    if (lane < SIM_LANES && end > start && outcome->nspans < SIM_SPANS_MAX)
        outcome->span[outcome->nspans++] = (sim_span){phase, lane, start, end};
}

void sim_tally_end(sim_tally *tally, int64_t round, double now) {
    tally->end[round] = sagoi_larger(tally->end[round], now);
}

void sim_tally_sent(sim_tally *tally, int64_t round, double now) {
    tally->sent[round] = sagoi_larger(tally->sent[round], now);
}

static void choose_drawn(const sim_load *load, sim_outcome *outcome) {
    int64_t drawn = 0;
    for (int64_t n = 0; n < load->nodes && drawn < SIM_LANES; n++) {
        bool moves = false;
        for (int64_t r = 0; r < load->rounds; r++)
            for (int64_t a = 0; a < load->aggregators; a++)
                moves |= sim_load_flow(load, r, n, a)->bytes > 0;
        if (moves)
            outcome->drawn[drawn++] = n;
    }
    for (; drawn < SIM_LANES; drawn++)
        outcome->drawn[drawn] = -1;
}

bool sim_tally_init(sim_tally *tally, const sim_load *load, sim_network *network, sim_outcome *outcome) {
    *tally = (sim_tally){.load = load, .network = network, .outcome = outcome};
    *outcome = (sim_outcome){.rounds = load->rounds};
    choose_drawn(load, outcome);
    tally->end = calloc((size_t)sim_load_replayed(load), sizeof *tally->end);
    tally->sent = calloc((size_t)sim_load_replayed(load), sizeof *tally->sent);
    tally->node = calloc((size_t)load->nodes, sizeof *tally->node);
    tally->aggregator = calloc((size_t)load->aggregators, sizeof *tally->aggregator);
    return tally->end && tally->sent && tally->node && tally->aggregator;
}

void sim_tally_cleanup(sim_tally *tally) {
    free(tally->end);
    free(tally->sent);
    free(tally->node);
    free(tally->aggregator);
    *tally = (sim_tally){0};
}

/* ---- What came out ---- */

/* The rounds that were simulated stand for all: what they took when they came a second time is what all the others
 * take. */
static void extrapolate(const sim_tally *tally) {
    const sim_load *load = tally->load;
    sim_outcome *outcome = tally->outcome;
    int64_t passes = sim_load_passes(load), last = sim_load_replayed(load) - 1;
    double end = tally->end[last], bytes = 0;
    double pass = passes > 1 ? end - tally->end[load->rounds - 1] : end - load->ahead;
    for (int64_t r = 0; r < load->rounds; r++)
        bytes += load->round[r].bytes;
    outcome->replayed = end;
    outcome->ahead = load->ahead;
    outcome->bytes = bytes * load->repeats;
    outcome->seconds = end + (load->repeats - (double)passes) * pass;
    outcome->held = tally->sent[last] * (end > 0 ? outcome->seconds / end : 1);
}

static void sum_traffic(const sim_tally *tally) {
    const sim_load *load = tally->load;
    sim_outcome *outcome = tally->outcome;
    for (int64_t r = 0; r < load->rounds; r++) {
        for (int64_t a = 0; a < load->aggregators; a++)
            outcome->stored += load->round[r].store[a].bytes * load->repeats;
        for (int64_t n = 0; n < load->nodes; n++)
            for (int64_t a = 0; a < load->aggregators; a++) {
                const sim_flow *flow = sim_load_flow(load, r, n, a);
                outcome->wire += sim_load_crosses(load, r, n, a) ? flow->bytes * load->repeats : 0;
                outcome->messages += flow->messages * load->repeats;
            }
    }
}

static bool is_most(sim_use *use, double share) {
    bool most = share > use->share;
    use->share = most ? share : use->share;
    return most;
}

static void find_busiest(const sim_tally *tally) {
    sim_outcome *outcome = tally->outcome;
    double time = outcome->replayed - tally->load->ahead;
    if (time <= 0)
        return;
    for (int64_t i = 0; i < tally->network->links; i++) {
        const sim_link *link = &tally->network->link[i];
        sim_use *use = link->kind == SIM_LINK_TARGET ? &outcome->target : &outcome->link;
        if (link->kind != SIM_LINK_WRITER && is_most(use, link->bytes / link->bandwidth / time))
            sim_link_name(link, use->name);
    }
    for (int64_t n = 0; n < tally->load->nodes; n++)
        if (is_most(&outcome->node, tally->node[n].phase[SIM_GATHER] / time))
            snprintf(outcome->node.name, sizeof outcome->node.name, "node %lld", (long long)n);
    for (int64_t a = 0; a < tally->load->aggregators; a++)
        if (is_most(&outcome->node, tally->aggregator[a].phase[SIM_EXCHANGE] / time))
            snprintf(outcome->node.name, sizeof outcome->node.name, "aggregator %lld on node %lld", (long long)a,
                     (long long)tally->load->host[a]);
}

static void sum_phases(const sim_tally *tally) {
    double *phase = tally->outcome->phase;
    for (int64_t n = 0; n < tally->load->nodes; n++)
        phase[SIM_GATHER] = sagoi_larger(phase[SIM_GATHER], tally->node[n].phase[SIM_GATHER]);
    for (int64_t a = 0; a < tally->load->aggregators; a++)
        for (int p = SIM_EXCHANGE; p < SIM_PHASES; p++)
            phase[p] = sagoi_larger(phase[p], tally->aggregator[a].phase[p]);
    for (int p = 0; p < SIM_PHASES; p++)
        phase[p] *= tally->load->repeats / (double)sim_load_passes(tally->load);
}

void sim_tally_finish(sim_tally *tally) {
    extrapolate(tally);
    sum_traffic(tally);
    sum_phases(tally);
    find_busiest(tally);
}

/* ---- Either way ---- */

static sim_model choose(const sim_load *load) {
    int64_t flows = 0;
    for (int64_t r = 0; r < load->rounds; r++)
        for (int64_t i = 0; i < load->nodes * load->aggregators; i++)
            flows += load->round[r].flow[i].bytes > 0;
    return flows > FLOWS_FOR_SIMGRID ? SIM_MODEL_LINKS : SIM_MODEL_FLOWS;
}

bool sim_replay(const sim_load *load, sim_network *network, sim_model model, sim_outcome *outcome, char *why) {
    sim_tally tally;
    bool ok = sim_tally_init(&tally, load, network, outcome) || bench_refuse(why, "out of memory");
    outcome->model = model == SIM_MODEL_AUTO ? choose(load) : model;
    if (load->cores > 0 || load->at_once > 0) /* who waits for whom is not to be had from sums */
        outcome->model = SIM_MODEL_FLOWS;
    ok = ok && (outcome->model == SIM_MODEL_FLOWS ? sim_replay_flows(&tally, why) : sim_replay_links(&tally, why));
    if (ok)
        sim_tally_finish(&tally);
    sim_tally_cleanup(&tally);
    return ok;
}
