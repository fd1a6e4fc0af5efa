/* The third layer: on random machines the cheaper number of layers is chosen, by a naive count of what both cost;
 * relays; what plan_check finds. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "plan/plan.h"
#include "situation.h"
#include "support/unit.h"

static situation s;
static sagoi_topology topology;

static void must_make(int64_t layers, sagoi_plan *plan) {
    s.hints.layers = layers;
    if (sagoi_plan_make(&s.machine, &s.shape, &s.target, &s.hints, plan) != SAGO_OK)
        fail_msg("plan_make: %s", sagoi_message());
    if (sagoi_plan_check(plan, &s.machine) != SAGO_OK)
        fail_msg("%s\n%s", sagoi_message(), plan->reasons);
}

/* ---- Random situations ---- */

/* Spread over the orders of magnitude from low to low * 10^decades. */
static double random_figure(double low, int64_t decades) {
    return low * pow(10, (double)random_below(1000 * decades) / 1000);
}

static void random_topology(void) {
    bool tree = random_below(2);
    topology = (sagoi_topology){.kind = tree ? SAGOI_FAT_TREE : SAGOI_DRAGONFLY,
                                .direct = true,
                                .dimensions = tree ? 2 : 4,
                                .extent = {12, 2 + random_below(6)}};
    if (!tree)
        for (int64_t i = 0; i < 4; i++)
            topology.extent[i] = 2 + random_below(3);
    for (int64_t k = 0; k < topology.dimensions; k++)
        topology.level[k] = (sagoi_level){random_figure(1e-6, 4), random_figure(1e9, 2)};
    topology.inside = (sagoi_level){5e-7, 1e10};
    topology.io = (sagoi_level){1e-5, 1e10};
    assert_int_equal(sagoi_topology_complete(&topology), SAGO_OK);
}

static void random_situation(int64_t seed) {
    random_state = (uint64_t)seed * 1000003;
    random_topology();
    int64_t nodes = 2 + random_below(sagoi_min(NODES_MAX, topology.places) - 1);
    situation_init(&s, nodes, 1 + random_below(8), (1 + random_below(200)) * 256 * KIB, 64);
    s.machine.topology = &topology;
    int64_t place = 0;
    for (int64_t n = 0; n < nodes; n++, place++) {
        place += random_below(sagoi_min(3, topology.places - place - (nodes - n) + 1));
        s.node[n].place = place;
    }
    if (random_below(3) == 0) /* each node a range of its own */
        for (int64_t n = 0, low = 0; n < nodes; low = s.access[n++].high)
            s.access[n] = (sagoi_node_shape){low, low + MIB * (1 + random_below(9)), MIB, 1 << 14};
    s.hints.strategy = SAGOI_STRATEGY_AGGREGATED;
    s.hints.window = random_below(2) ? 64 * KIB << random_below(4) : 0;
    s.hints.aggregators = random_below(2) ? 1 + random_below(nodes * 2) : 0;
    s.hints.local_aggregators = random_below(3);
    s.shape.write = random_below(2);
    s.shape.dense = s.shape.write && s.shape.dense;
}

/* ---- The naive count ---- */

static double path(int64_t a, int64_t b, double messages, double bytes) {
    int64_t from = s.node[a].place, to = s.node[b].place;
    return a == b ? 0
                  : messages * sagoi_topology_latency(&topology, from, to) +
                        bytes / sagoi_topology_bandwidth(&topology, from, to);
}

static double windows_of(const sagoi_plan *plan, int64_t n, int64_t d) {
    const sagoi_domain *domain = &plan->domains[d];
    double both = (double)(sagoi_min(s.access[n].high, domain->end) - sagoi_max(s.access[n].low, domain->first));
    if (both <= 0 || n == domain->node)
        return 0;
    return fmax(1, (double)domain->windows * both / (double)(domain->end - domain->first));
}

static double local_of(const sagoi_plan *plan, int64_t n) {
    return (double)sagoi_min(plan->local_aggregators, s.node[n].ranks);
}

static bool only_messages; /* requests without extents, or data */

static double bytes_of(const sagoi_plan *plan, int64_t n, int64_t d) {
    return windows_of(plan, n, d) > 0 && !only_messages ? sagoi_domain_bytes(plan, &s.shape, d, n) : 0;
}

/* Sends and receives of two layers: the busiest of each. */
static double naive_two(const sagoi_plan *plan) {
    double sends = 0, receives = 0;
    for (int64_t n = 0; n < plan->nodes; n++) {
        double sum = 0;
        for (int64_t d = 0; d < plan->ndomains; d++)
            sum +=
                path(n, plan->domains[d].node, windows_of(plan, n, d) * local_of(plan, n), bytes_of(plan, n, d));
        sends = fmax(sends, sum);
    }
    for (int64_t d = 0; d < plan->ndomains; d++) {
        double sum = 0;
        for (int64_t n = 0; n < plan->nodes; n++)
            sum +=
                path(n, plan->domains[d].node, windows_of(plan, n, d) * local_of(plan, n), bytes_of(plan, n, d));
        receives = fmax(receives, sum);
    }
    return sends + receives;
}

/* What relay L has for domain d of all its nodes. */
static double led(const sagoi_plan *plan, int64_t relay, int64_t d) {
    double bytes = 0, windows = 0;
    for (int64_t n = 0; n < plan->nodes; n++)
        if (plan->node_relay[n] == relay && sagoi_plan_relayed(plan, n, d)) {
            bytes += bytes_of(plan, n, d);
            windows = fmax(windows, windows_of(plan, n, d));
        }
    return path(relay, plan->domains[d].node, windows, bytes);
}

static double to_relay(const sagoi_plan *plan, int64_t n) {
    double bytes = 0, rounds = 0;
    if (plan->node_relay[n] < 0)
        return 0;
    for (int64_t d = 0; d < plan->ndomains; d++)
        if (sagoi_plan_relayed(plan, n, d)) {
            bytes += bytes_of(plan, n, d);
            rounds = fmax(rounds, windows_of(plan, n, d));
        }
    return path(n, plan->node_relay[n], rounds * local_of(plan, n), bytes);
}

static double straight(const sagoi_plan *plan, int64_t n, int64_t d) {
    if (sagoi_plan_relayed(plan, n, d))
        return 0;
    return path(n, plan->domains[d].node, windows_of(plan, n, d) * local_of(plan, n), bytes_of(plan, n, d));
}

static double naive_three(const sagoi_plan *plan) {
    double sends = 0, collects = 0, forwards = 0, receives = 0;
    for (int64_t n = 0; n < plan->nodes; n++) {
        double sum = to_relay(plan, n), collected = 0, forwarded = 0;
        for (int64_t d = 0; d < plan->ndomains; d++)
            sum += straight(plan, n, d);
        for (int64_t m = 0; m < plan->nodes; m++)
            collected += plan->node_relay[m] == n ? to_relay(plan, m) : 0;
        for (int64_t d = 0; d < plan->ndomains && plan->node_relay[n] == n; d++)
            forwarded += led(plan, n, d);
        sends = fmax(sends, sum);
        collects = fmax(collects, collected);
        forwards = fmax(forwards, forwarded);
    }
    for (int64_t d = 0; d < plan->ndomains; d++) {
        double sum = 0;
        for (int64_t n = 0; n < plan->nodes; n++)
            sum += straight(plan, n, d) + (plan->node_relay[n] == n ? led(plan, n, d) : 0);
        receives = fmax(receives, sum);
    }
    return sends + collects + forwards + receives;
}

static void assert_close(double a, double b) {
    if (fabs(a - b) > 1e-9 * (fabs(a) + fabs(b)))
        fail_msg("%.12g is not %.12g", a, b);
}

static double naive_asking(const sagoi_plan *plan) {
    only_messages = true;
    double seconds = plan->write ? 0 : naive_three(plan);
    only_messages = false;
    return seconds;
}

static void cheaper_is_chosen(void **state) {
    int64_t chosen[4] = {0}, repeats[2] = {0};
    for (int64_t seed = 0; seed < 600; seed++) {
        sagoi_plan two, three, any;
        sagoi_layers_cost cost;
        random_situation(seed);
        must_make(SAGOI_LAYERS_TWO, &two);
        must_make(SAGOI_LAYERS_THREE, &three);
        must_make(SAGOI_LAYERS_AUTO, &any);
        assert_int_equal(two.layers, 2);
        if (three.layers == 3) {
            assert_int_equal(sagoi_plan_layers_cost(&three, &s.machine, &s.shape, &cost), SAGO_OK);
            assert_close(cost.two, naive_two(&three));
            assert_close(cost.three, naive_three(&three));
            assert_int_equal(any.layers, naive_three(&three) < naive_two(&three) ? 3 : 2);
            chosen[any.layers]++;
            double repeated = naive_three(&three) + naive_asking(&three);
            assert_close(cost.asking, naive_asking(&three));
            assert_int_equal(three.relay_repeats, !three.write);
            assert_int_equal(any.relay_repeats, !any.write && repeated < naive_two(&three));
            if (any.layers == 3 && !any.write)
                repeats[any.relay_repeats]++;
        } else {
            assert_non_null(strstr(three.reasons, "layers: 2, three were hinted, but"));
            assert_int_equal(any.layers, 2);
        }
        sagoi_plan_cleanup(&two);
        sagoi_plan_cleanup(&three);
        sagoi_plan_cleanup(&any);
    }
    if (chosen[2] < 50 || chosen[3] < 50)
        fail_msg("%d plans of two layers, %d of three", (int)chosen[2], (int)chosen[3]);
    if (repeats[0] < 5 || repeats[1] < 5)
        fail_msg("repeated reads go straight in %d plans, through relays in %d", (int)repeats[0], (int)repeats[1]);
}

/* ---- Relays ---- */

/* Twelve nodes, four to a switch. */
static void switches(void) {
    topology = (sagoi_topology){.kind = SAGOI_FAT_TREE, .dimensions = 2, .extent = {3, 4}};
    for (int64_t k = 0; k < 2; k++)
        topology.level[k] = (sagoi_level){1e-6, 1e10};
    topology.inside = topology.io = topology.level[0];
    assert_int_equal(sagoi_topology_complete(&topology), SAGO_OK);
    situation_init(&s, 12, 2, 64 * MIB, 64);
    s.machine.topology = &topology;
}

static void relays_have_memory(void **state) {
    sagoi_plan plan;
    switches();
    s.node[5].memory = 8 * GIB; /* the others: 4 */
    must_make(SAGOI_LAYERS_THREE, &plan);
    assert_int_equal(plan.layers, 3);
    for (int64_t n = 0; n < 12; n++)
        assert_int_equal(plan.node_relay[n], n / 4 == 1 ? 5 : n / 4 * 4);
    assert_int_equal(plan.relay_slots, 8); /* of twice four nodes: writes */
    assert_int_equal(sagoi_plan_relay_bytes(&plan, 5), 8 * (plan.message + plan.ndomains * SAGOI_RELAY_ENTRY));
    assert_int_equal(sagoi_plan_relay_bytes(&plan, 4), 0);
    sagoi_plan_cleanup(&plan);
}

static void two_layers_where_three_cannot_be(void **state) {
    sagoi_plan plan;
    switches();
    s.hints.move = SAGOI_MOVE_RMA;
    must_make(SAGOI_LAYERS_THREE, &plan);
    assert_int_equal(plan.layers, 2);
    sagoi_plan_cleanup(&plan);
    switches();
    sagoi_topology_flat(&topology, 12);
    must_make(SAGOI_LAYERS_THREE, &plan);
    assert_int_equal(plan.layers, 2);
    assert_non_null(strstr(plan.reasons, "no nodes are known to share a switch"));
    sagoi_plan_cleanup(&plan);
    switches();
    for (int64_t n = 0; n < 12; n++) /* no two share one */
        s.node[n].place = n;
    s.machine.nodes = s.shape.nodes = 3;
    for (int64_t n = 0; n < 3; n++)
        s.node[n].place = n * 4;
    must_make(SAGOI_LAYERS_THREE, &plan);
    assert_int_equal(plan.layers, 2);
    sagoi_plan_cleanup(&plan);
}

/* With less and less memory: fewer messages held, then no third layer; never a plan that does not fit. */
static void little_memory(void **state) {
    int64_t slots = INT64_MAX, last = 3;
    for (int64_t memory = 64 * MIB; memory > 2 * MIB; memory -= memory / 16) {
        sagoi_plan plan;
        switches();
        s.hints.window = MIB;
        s.hints.placement = SAGOI_PLACEMENT_SPREAD;
        for (int64_t n = 0; n < 12; n++)
            s.node[n].memory = memory;
        s.hints.layers = SAGOI_LAYERS_THREE;
        if (sagoi_plan_make(&s.machine, &s.shape, &s.target, &s.hints, &plan) != SAGO_OK)
            break;
        sagoi_plan_cleanup(&plan);
        must_make(SAGOI_LAYERS_THREE, &plan);
        slots = sagoi_min(slots, plan.relay_slots);
        last = sagoi_min(last, plan.layers);
        sagoi_plan_cleanup(&plan);
    }
    assert_true(slots < 8);
}

/* ---- plan_check ---- */

typedef void (*damage)(sagoi_plan *plan);

static void four_layers(sagoi_plan *plan) { plan->layers = 4; }
static void two_with_relays(sagoi_plan *plan) { plan->layers = 2; }
static void no_slots(sagoi_plan *plan) { plan->relay_slots = 0; }
static void many_slots(sagoi_plan *plan) { plan->relay_slots = 1 << 20; }
static void outside(sagoi_plan *plan) { plan->node_relay[1] = plan->nodes; }
static void served_relays(sagoi_plan *plan) { plan->node_relay[1] = 2; }
static void other_switch(sagoi_plan *plan) { plan->node_relay[1] = plan->node_relay[4]; }
static void serves_nobody(sagoi_plan *plan) {
    plan->node_relay[1] = plan->node_relay[2] = plan->node_relay[3] = -1;
}
static void repeated_writes(sagoi_plan *plan) { plan->relay_repeats = true; }
static void by_puts(sagoi_plan *plan) { plan->move = SAGOI_MOVE_RMA; }

static void damaged_plans(void **state) {
    const damage damages[] = {four_layers,   two_with_relays, no_slots,      many_slots, outside,
                              served_relays, other_switch,    serves_nobody, by_puts,    repeated_writes};
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        sagoi_plan plan;
        switches();
        must_make(SAGOI_LAYERS_THREE, &plan);
        assert_int_equal(plan.layers, 3);
        damages[i](&plan);
        if (sagoi_plan_check(&plan, &s.machine) != SAGO_ERR_STATE)
            fail_msg("damage %zu was not found", i);
        sagoi_plan_cleanup(&plan);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cheaper_is_chosen),
        cmocka_unit_test(relays_have_memory),
        cmocka_unit_test(two_layers_where_three_cannot_be),
        cmocka_unit_test(little_memory),
        cmocka_unit_test(damaged_plans),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
