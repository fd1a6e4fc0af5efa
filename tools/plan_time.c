/* The model of the elections (000, IV-B), one window at a time: C1 for data from other nodes, C2 for the storage.
 * An aggregator has two windows, of which one is filled while the other is stored, so round k needs the window of
 * round k - 2.  Ranks go from round to round together, so a round begins when all aggregators are through with the
 * one before.  The picture shows who waits for whom; it is no prediction, since contention is left out. */
#include "tools/plan_time.h"

#include <stdlib.h>

#include "base/checked.h"
#include "machine/sums.h"

/* The times of filling and of storing a window. */
typedef struct window_cost {
    double fill, store, bytes;
} window_cost;

static window_cost cost_of(const plan_input *input, const sagoi_plan *plan, const sagoi_topology *topology,
                           sagoi_sums *sums, const int64_t at[2]) {
    int64_t start, end, place = sagoi_machine_place(&input->machine, plan->domains[at[0]].node);
    window_cost cost = {0, 0, 0};
    if (!sagoi_plan_window(plan, at[0], at[1], &start, &end))
        return cost;
    sagoi_sums_clear(sums);
    for (int64_t n = 0; n < plan->nodes; n++) {
        double bytes = sagoi_shape_bytes(&input->shape, n, start, end);
        if (bytes >= 0.5)
            sagoi_sums_add(sums, sagoi_machine_place(&input->machine, n), (int64_t)(bytes + 0.5));
    }
    cost.bytes = (double)sagoi_sums_bytes(sums);
    if (cost.bytes > 0) {
        cost.fill = sagoi_sums_cost(sums, place) + cost.bytes / topology->inside.bandwidth;
        cost.store = sagoi_topology_store_cost(topology, place, cost.bytes);
        if (cost.store <= 0) /* the gateways' places are unknown, so all are equally far */
            cost.store = topology->io.latency + cost.bytes / topology->io.bandwidth;
    }
    return cost;
}

/* One round of an aggregator; all were through with the round before at `begun`. */
static void take_turn(plan_times *times, bool write, int64_t d, int64_t k, double begun, const window_cost *cost) {
    plan_turn *turn = &times->turns[d * times->rounds + k];
    const plan_turn *before = k > 0 ? turn - 1 : NULL, *window = k > 1 ? turn - 2 : NULL;
    double free_from = window && window->used ? window->second[1] : 0;
    double device = before && before->used ? (write ? before->second[1] : before->first[1]) : 0;
    turn->used = true;
    turn->bytes = cost->bytes;
    turn->ready = before && before->used ? before->first[1] : 0;
    if (write) {
        turn->first[0] = begun > free_from ? begun : free_from;
        turn->waited_for_storage = free_from > begun;
        turn->first[1] = turn->first[0] + cost->fill;
        turn->second[0] = turn->first[1] > device ? turn->first[1] : device;
        turn->second[1] = turn->second[0] + cost->store;
    } else {
        turn->first[0] = free_from > device ? free_from : device;
        turn->first[1] = turn->first[0] + cost->store;
        turn->second[0] = turn->first[1] > begun ? turn->first[1] : begun;
        turn->waited_for_storage = turn->first[1] > begun;
        turn->second[1] = turn->second[0] + cost->fill;
    }
    times->end = turn->second[1] > times->end ? turn->second[1] : times->end;
}

static void run_rounds(const plan_input *input, const sagoi_plan *plan, const sagoi_topology *topology,
                       sagoi_sums *sums, plan_times *times) {
    double begun = 0;
    for (int64_t k = 0; k < times->rounds; k++) {
        double through = begun;
        for (int64_t d = 0; d < times->domains; d++) {
            window_cost cost = cost_of(input, plan, topology, sums, (int64_t[]){d, k});
            if (cost.bytes <= 0)
                continue;
            take_turn(times, plan->write, d, k, begun, &cost);
            const plan_turn *turn = &times->turns[d * times->rounds + k];
            double moved = plan->write ? turn->first[1] : turn->second[1];
            through = moved > through ? moved : through;
        }
        begun = through;
    }
}

bool plan_times_make(const plan_input *input, const sagoi_plan *plan, int64_t domains, int64_t rounds,
                     plan_times *times) {
    sagoi_topology flat;
    const sagoi_topology *topology = sagoi_topology_or_flat(input->machine.topology, plan->nodes, &flat);
    sagoi_sums *sums = NULL;
    *times =
        (plan_times){.domains = sagoi_min(domains, plan->ndomains), .rounds = sagoi_min(rounds, plan->rounds)};
    times->turns = calloc((size_t)(times->domains * times->rounds) + 1, sizeof *times->turns);
    if (!times->turns || sagoi_sums_create(topology, &sums) != SAGO_OK) {
        plan_times_cleanup(times);
        return false;
    }
    run_rounds(input, plan, topology, sums, times);
    sagoi_sums_destroy(sums);
    return true;
}

void plan_times_cleanup(plan_times *times) {
    free(times->turns);
    times->turns = NULL;
}
