/* Where aggregators go: elections on random machines against a naive search over all pairs of nodes, the policies
 * one by one, and memory that decides. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "plan/plan.h"
#include "situation.h"
#include "support/unit.h"

static situation s;
static sagoi_topology topology;
static int64_t histogram[NODES_MAX * SAGOI_REGIONS];

static void must_make(sagoi_plan *plan) {
    if (sagoi_plan_make(&s.machine, &s.shape, &s.target, &s.hints, plan) != SAGO_OK)
        fail_msg("plan_make: %s", sagoi_message());
    if (sagoi_plan_check(plan, &s.machine) != SAGO_OK)
        fail_msg("%s\n%s", sagoi_message(), plan->reasons);
}

/* ---- Random machines and shapes ---- */

static bool one_in(int64_t n) { return random_below(n) == 0; }

static void random_topology(void) {
    static const int64_t extents[4][4] = {{64}, {4, 3, 5}, {3, 4, 2, 3}, {4, 2, 4, 4}};
    memset(&topology, 0, sizeof topology);
    int64_t kind = random_below(4);
    topology.kind = (sagoi_topology_kind)kind;
    topology.dimensions = (const int64_t[]){1, 3, 4, 4}[kind];
    topology.direct = one_in(2);
    memcpy(topology.extent, extents[kind], sizeof extents[kind]);
    if (topology.kind == SAGOI_DRAGONFLY && !topology.direct)
        topology.extent[1] = 1;
    for (int64_t k = 0; k < topology.dimensions; k++)
        topology.level[k] =
            (sagoi_level){(double)(1 + random_below(50)) * 1e-6, (double)(1 + random_below(8)) * 1e9};
    if (topology.kind == SAGOI_FAT_TREE && one_in(2))
        topology.links[2] = 1 + random_below(16); /* from each 15 places */
    topology.inside = (sagoi_level){1e-7, 1e10};
    topology.io = (sagoi_level){1e-5, 2e9};
    if (one_in(2)) {
        topology.gateway_rules = 1;
        topology.gateway_rule[0] = (sagoi_gateway_rule){.first = random_below(20), .every = 7, .count = 4};
    }
    if (one_in(2)) {
        topology.link_rules = 1;
        topology.link_rule[0] = (sagoi_link_rule){.first = random_below(30), .count = 3, .bandwidth = 1e8};
    }
    if (sagoi_topology_complete(&topology) != SAGO_OK)
        fail_msg("%s", sagoi_message());
}

static void random_nodes(int64_t nodes) {
    int64_t place = random_below(3), memory = (64 + random_below(2000)) * MIB;
    for (int64_t n = 0; n < nodes; n++) {
        s.node[n] = (sagoi_node){.ranks = 1 + random_below(12), .cores = 8, .memory = memory, .place = place};
        if (one_in(3))
            s.node[n].memory = (16 + random_below(2000)) * MIB;
        place += 1 + random_below(2);
    }
}

/* Bytes here and there between the node's first and last offset. */
static void random_access(int64_t n, int64_t low, int64_t high) {
    sagoi_node_shape *access = &s.access[n];
    *access = (sagoi_node_shape){low, high, 0, 0};
    for (int64_t r = 0; r < SAGOI_REGIONS; r++) {
        int64_t start = sagoi_max(low, s.shape.origin + r * s.shape.region);
        int64_t end = sagoi_min(high, s.shape.origin + (r + 1) * s.shape.region);
        histogram[n * SAGOI_REGIONS + r] = start < end && !one_in(4) ? random_below(end - start) : 0;
        access->bytes += histogram[n * SAGOI_REGIONS + r];
    }
    access->runs = 1 + access->bytes / 50;
}

static void random_situation(uint64_t seed) {
    memset(&s, 0, sizeof s);
    random_state = seed;
    int64_t nodes = 2 + random_below(NODES_MAX - 2), high = (64 + random_below(4000)) * MIB;
    bool serial = one_in(2);
    random_topology();
    random_nodes(nodes);
    s.machine = (sagoi_machine){.nodes = nodes, .node = s.node, .topology = one_in(4) ? NULL : &topology};
    s.shape = (sagoi_shape){.write = one_in(2), .nodes = nodes, .node = s.access, .histogram = histogram};
    sagoi_shape_regions(0, high, &s.shape.origin, &s.shape.region);
    for (int64_t n = 0; n < nodes; n++) {
        int64_t part = high / nodes, from = serial ? n * part : random_below(high / 2);
        random_access(n, from, serial ? from + part : from + 1 + random_below(high - from));
    }
    if (serial)
        s.access[nodes - 1].high = high;
    s.target = (sagoi_target){.block = 4096};
    if (one_in(4)) {
        s.target.stripe_unit = MIB << random_below(5);
        s.target.stripe_count = 1 + random_below(12);
    }
    s.hints = (sagoi_hints){.messages = 8, .message_size = MIB, .strategy = SAGOI_STRATEGY_AGGREGATED};
    s.hints.per_node = one_in(3) ? 1 + random_below(4) : 0;
    s.hints.host_memory = one_in(3) ? random_below(400) * MIB : 0;
    s.hints.group_size = one_in(2) ? (1 + random_below(500)) * MIB : 0;
    s.hints.placement = one_in(3) ? SAGOI_PLACEMENT_MEMORY : SAGOI_PLACEMENT_AUTO;
}

/* ---- The naive election, from the papers and the documentation ---- */

typedef struct naive {
    int64_t slots[NODES_MAX], left[NODES_MAX], need;
    double cost[NODES_MAX], latency[NODES_MAX];
    double moved[NODES_MAX][NODES_MAX]; /* bytes from node to node, so far */
    double bytes[NODES_MAX];            /* of the domain at hand */
    bool loaded;                        /* some candidate's links carry more than their share */
    bool hops_count;
    bool candidate[NODES_MAX];
} naive;

static int64_t paged(int64_t bytes) { return (bytes + 4095) / 4096 * 4096; }

static void naive_begin(naive *v, const sagoi_plan *plan) {
    v->need = 2 * paged(plan->window) + plan->messages * plan->message;
    if (plan->write && !plan->dense)
        v->need += 2 * paged(plan->window / 8);
    v->need = sagoi_max(v->need, s.hints.host_memory);
    for (int64_t n = 0; n < plan->nodes; n++) {
        int64_t ranks = s.node[n].ranks,
                base = 4096 + ranks * 2 * paged(plan->staging) + paged(ranks * plan->ndomains * 32);
        v->slots[n] = 0;
        memset(v->moved[n], 0, sizeof v->moved[n]);
        v->left[n] = s.node[n].memory - s.node[n].memory / 4 - base;
    }
}

static double naive_bytes(const sagoi_plan *plan, const sagoi_domain *d, int64_t n) {
    double bytes = 0;
    if (d->stride > d->block) /* dealt: its part of everything */
        return (double)s.access[n].bytes / (double)plan->ndomains;
    int64_t start = sagoi_max(d->first, s.access[n].low), end = sagoi_min(d->end, s.access[n].high);
    for (int64_t r = 0; r < SAGOI_REGIONS; r++) {
        int64_t low = sagoi_max(s.access[n].low, s.shape.origin + r * s.shape.region);
        int64_t high = sagoi_min(s.access[n].high, s.shape.origin + (r + 1) * s.shape.region);
        int64_t from = sagoi_max(low, start), to = sagoi_min(high, end);
        if (from < to)
            bytes += (double)histogram[n * SAGOI_REGIONS + r] * ((double)(to - from) / (double)(high - low));
    }
    return bytes;
}

/* C1 + C2 of node a, pair by pair. */
static double naive_cost(const sagoi_plan *plan, const sagoi_topology *t, const int64_t *w, int64_t a,
                         double *latency) {
    double cost = 0, all = 0;
    *latency = sagoi_topology_store_cost(t, s.machine.topology ? s.node[a].place : a, 0);
    for (int64_t i = 0; i < plan->nodes; i++) {
        int64_t from = s.machine.topology ? s.node[i].place : i, to = s.machine.topology ? s.node[a].place : a;
        all += (double)w[i];
        if (i != a && w[i] > 0)
            *latency += sagoi_topology_latency(t, from, to);
        if (i != a && w[i] > 0)
            cost += sagoi_topology_latency(t, from, to) + (double)w[i] / sagoi_topology_bandwidth(t, from, to);
    }
    return cost + sagoi_topology_store_cost(t, s.machine.topology ? s.node[a].place : a, all);
}

/* From each subtree below the top of a fat tree up to it. */
static int64_t naive_uplinks(const sagoi_topology *t, int64_t first) {
    int64_t below = 1;
    for (int64_t d = first + 1; d < t->dimensions; d++)
        below *= t->extent[d];
    int64_t said = t->links[t->dimensions - 1 - first];
    return said > 0 && said < below ? said : 0; /* as many as places: nobody shares one */
}

/* Of the links that many nodes share the one that bytes cross between two places, by coordinates; -1: none. */
static int64_t naive_link(const sagoi_topology *t, int64_t from, int64_t to) {
    int64_t x[SAGOI_DIMENSIONS_MAX], y[SAGOI_DIMENSIONS_MAX], first = 0, last = t->dimensions - 1;
    sagoi_topology_coordinates(t, from, x);
    sagoi_topology_coordinates(t, to, y);
    while (first < t->dimensions - 1 && t->extent[first] == 1)
        first++;
    while (last > 0 && t->extent[last] == 1)
        last--;
    switch (t->kind) {
    case SAGOI_FLAT:
        return -1;
    case SAGOI_FAT_TREE: /* from the top switch down */
        if (x[first] == y[first] || first == last || naive_uplinks(t, first) == 0)
            return -1;
        return y[first] * naive_uplinks(t, first) + to % naive_uplinks(t, first);
    case SAGOI_DRAGONFLY: /* from group to group */
        return x[0] == y[0] ? -1 : x[0] * t->extent[0] + y[0];
    case SAGOI_TORUS: /* along the last dimension */
        y[last] = 0;
        return last == 0 ? -1 : sagoi_topology_place(t, y);
    }
    return -1;
}

static double naive_link_bandwidth(const sagoi_topology *t) {
    int64_t wide = 0;
    if (t->kind == SAGOI_DRAGONFLY)
        return t->level[3].bandwidth;
    for (int64_t i = 0; i < t->dimensions; i++)
        if (t->extent[i] > 1 && (t->kind == SAGOI_TORUS || t->extent[wide] == 1))
            wide = i;
    if (t->kind == SAGOI_TORUS)
        return t->level[wide].bandwidth * (t->extent[wide] > 2 ? 2 : 1);
    return t->level[t->dimensions - 1 - wide].bandwidth;
}

/* What one link carries if the domain at hand goes to node a, and its even share, pair by pair. */
static double naive_over(const naive *v, const sagoi_plan *plan, const sagoi_topology *t, int64_t link,
                         int64_t a) {
    double mine = 0, carried = 0, even = 0;
    for (int64_t i = 0; i < plan->nodes; i++) {
        if (v->bytes[i] >= 0.5 && naive_link(t, s.node[i].place, s.node[a].place) == link)
            mine += v->bytes[i];
        for (int64_t b = 0; b < plan->nodes; b++)
            if (naive_link(t, s.node[i].place, s.node[b].place) == link) {
                carried += v->moved[i][b];
                even += (double)s.access[i].bytes / (double)plan->nodes;
            }
    }
    if (mine < 0.5)
        return 0;
    double over = carried + mine - ceil(even / mine - 1.0 / 16) * mine;
    return over > mine / 16 ? over : 0;
}

/* C3 of node a. */
static double naive_wait(const naive *v, const sagoi_plan *plan, const sagoi_topology *t, int64_t a) {
    double most = 0;
    for (int64_t i = 0; i < plan->nodes; i++) {
        int64_t link = naive_link(t, s.node[i].place, s.node[a].place);
        double over = link < 0 ? 0 : naive_over(v, plan, t, link, a);
        most = over > most ? over : most;
    }
    return most / naive_link_bandwidth(t);
}

static void naive_weigh(naive *v, const sagoi_plan *plan, const sagoi_topology *t, const sagoi_domain *d,
                        bool anyone) {
    int64_t w[NODES_MAX], with_data = 0, members = 0;
    for (int64_t n = 0; n < plan->nodes; n++)
        w[n] = (int64_t)((v->bytes[n] = naive_bytes(plan, d, n)) + 0.5);
    v->loaded = false;
    for (int64_t n = 0; n < plan->nodes; n++) {
        v->candidate[n] = plan->node_group[n] == d->group && (w[n] > 0 || d->stride > d->block || anyone);
        v->cost[n] = v->candidate[n] ? naive_cost(plan, t, w, n, &v->latency[n]) : 0;
        with_data += s.access[n].low < s.access[n].high;
        members += w[n] > 0;
    }
    v->hops_count = members < with_data;
    for (int64_t n = 0; n < plan->nodes && s.machine.topology && plan->placement == SAGOI_PLACEMENT_COST; n++) {
        double wait = v->candidate[n] ? naive_wait(v, plan, t, n) : 0;
        v->cost[n] += wait;
        v->loaded = v->loaded || wait > 0;
    }
}

static int64_t naive_limit(const naive *v, const sagoi_plan *plan, int64_t group, int64_t n, bool beyond) {
    int64_t domains = 0, able = 0;
    double bytes = 0;
    static int64_t first_left[NODES_MAX];
    if (s.hints.per_node > 0)
        return sagoi_min(s.hints.per_node, s.node[n].ranks);
    for (int64_t d = 0; d < plan->ndomains; d++)
        domains += plan->domains[d].group == group;
    for (int64_t i = 0; i < plan->nodes; i++) {
        first_left[i] = v->left[i] + v->slots[i] * v->need;
        if (plan->node_group[i] != group)
            continue;
        able += first_left[i] >= v->need;
        bytes += (double)s.access[i].bytes;
    }
    int64_t share = (domains + sagoi_max(1, able) - 1) / sagoi_max(1, able);
    int64_t by_data = sagoi_min(4, (int64_t)((double)domains * ((double)s.access[n].bytes / bytes) + 0.5));
    return sagoi_min(s.node[n].ranks, beyond ? sagoi_max(4, share) : sagoi_max(share, by_data));
}

/* Of those between two costs who can: the least latency, and of nearly equal ones the first from `preferred` on.
 */
static int64_t naive_best(const naive *v, const sagoi_plan *plan, int64_t group, int64_t preferred, double floor,
                          double top, bool beyond) {
    for (double low = -1;;) {
        double least = 1e300;
        for (int64_t n = 0; n < plan->nodes; n++)
            if (v->candidate[n] && v->cost[n] > floor && v->cost[n] <= top && v->latency[n] > low &&
                v->latency[n] < least)
                least = v->latency[n];
        if (least == 1e300)
            return -1;
        double high = v->hops_count ? least + 1e-9 : 1e300;
        for (int64_t i = 0; i < plan->nodes; i++) {
            int64_t n = (preferred + i) % plan->nodes;
            if (v->candidate[n] && v->cost[n] > floor && v->cost[n] <= top && v->latency[n] > low &&
                v->latency[n] <= high && v->left[n] >= v->need &&
                v->slots[n] < naive_limit(v, plan, group, n, beyond))
                return n;
        }
        low = high;
    }
}

/* The same among those who can alone, where links are loaded: costs then depend on who can. */
static int64_t naive_loaded(const naive *v, const sagoi_plan *plan, double resolution, int64_t group,
                            int64_t preferred) {
    for (int beyond = 0; beyond < 2; beyond++) {
        double least = 1e300;
        for (int64_t n = 0; n < plan->nodes; n++)
            if (v->candidate[n] && v->left[n] >= v->need && v->cost[n] < least &&
                v->slots[n] < naive_limit(v, plan, group, n, beyond))
                least = v->cost[n];
        int64_t best = least < 1e300 ? naive_best(v, plan, group, preferred, -1, least + resolution, beyond) : -1;
        if (best >= 0)
            return best;
    }
    return -1;
}

/* The cheapest level of equal costs with somebody who can, and there the next one from `preferred` on. */
static int64_t naive_cheapest(const naive *v, const sagoi_plan *plan, const sagoi_topology *t, int64_t group,
                              int64_t preferred) {
    double slowest = t->level[0].bandwidth;
    for (int64_t k = 1; k < t->levels; k++)
        slowest = t->level[k].bandwidth < slowest ? t->level[k].bandwidth : slowest;
    if (v->loaded)
        return naive_loaded(v, plan, 4096 / slowest, group, preferred);
    for (int beyond = 0; beyond < 2; beyond++)
        for (double floor = -1;;) {
            double least = 1e300, top = 0;
            for (int64_t n = 0; n < plan->nodes; n++)
                if (v->candidate[n] && v->cost[n] > floor && v->cost[n] < least)
                    least = v->cost[n];
            if (least == 1e300)
                break;
            top = least + 4096 / slowest;
            int64_t best = naive_best(v, plan, group, preferred, floor, top, beyond);
            if (best >= 0)
                return best;
            floor = top;
        }
    return -1;
}

static int64_t naive_richest(const naive *v, const sagoi_plan *plan, int64_t group, int64_t preferred) {
    int64_t best = -1;
    for (int64_t i = 0; i < plan->nodes; i++) {
        int64_t n = (preferred + i) % plan->nodes;
        if (v->candidate[n] && v->left[n] >= v->need && v->slots[n] < naive_limit(v, plan, group, n, true) &&
            (best < 0 || v->left[n] > v->left[best]))
            best = n;
    }
    return best;
}

static void check_elections(const sagoi_plan *plan) {
    static naive v;
    sagoi_topology flat;
    const sagoi_topology *t = s.machine.topology;
    sagoi_topology_flat(&flat, plan->nodes);
    t = t ? t : &flat;
    naive_begin(&v, plan);
    bool dealt = plan->domains[0].stride > plan->domains[0].block;
    int64_t first = dealt ? plan->ndomains - plan->low / plan->window % plan->ndomains : 0;
    for (int64_t i = 0; i < plan->ndomains; i++) {
        const sagoi_domain *d = &plan->domains[(first + i) % plan->ndomains];
        int64_t preferred = i * plan->nodes / plan->ndomains;
        int64_t host = -1;
        for (int anyone = 0; anyone < 2 && host < 0; anyone++) { /* nobody with data: then anybody of the group */
            naive_weigh(&v, plan, t, d, anyone);
            host = plan->placement == SAGOI_PLACEMENT_MEMORY ? naive_richest(&v, plan, d->group, preferred)
                                                             : naive_cheapest(&v, plan, t, d->group, preferred);
        }
        if (host != d->node)
            fail_msg("domain %lld: node %lld, naively %lld\n%s", (long long)((first + i) % plan->ndomains),
                     (long long)d->node, (long long)host, plan->reasons);
        v.slots[host]++;
        v.left[host] -= v.need;
        for (int64_t n = 0; n < plan->nodes; n++)
            v.moved[n][host] += v.bytes[n] >= 0.5 ? v.bytes[n] : 0;
    }
}

/* Where nothing was remerged, nor memory so short that other rules hold, every host is who the naive search finds.
 */
static void elections_equal_naive_search(void **state) {
    int64_t compared = 0, dealt = 0, grouped = 0, remerged = 0, routed = 0;
    for (uint64_t seed = 1; seed <= 1500; seed++) {
        sagoi_plan plan = {0};
        random_situation(seed);
        if (sagoi_plan_make(&s.machine, &s.shape, &s.target, &s.hints, &plan) == SAGO_OK) {
            assert_int_equal(sagoi_plan_check(&plan, &s.machine), SAGO_OK);
            bool taken = strstr(plan.reasons, "taken over"), rather = strstr(plan.reasons, "rather than");
            bool turns = strstr(plan.reasons, "in turn every");
            remerged += taken;
            if (plan.strategy == SAGOI_STRATEGY_AGGREGATED && !taken && !rather && !turns) {
                check_elections(&plan);
                compared++;
                dealt += plan.domains[0].stride > plan.domains[0].block;
                grouped += plan.groups > 1;
                routed += strstr(plan.reasons, "to share links less") != NULL;
            }
        }
        sagoi_plan_cleanup(&plan);
    }
    print_message("%lld compared, %lld dealt, %lld grouped, %lld remerged, %lld moved off loaded links\n",
                  (long long)compared, (long long)dealt, (long long)grouped, (long long)remerged,
                  (long long)routed);
    assert_true(compared > 500 && dealt > 50 && grouped > 50 && remerged > 50 && routed > 20);
}

/* ---- Policies ---- */

static void hosts_are(int64_t placement, int64_t aggregators, const int64_t *expected) {
    sagoi_plan plan;
    s.hints.placement = placement;
    s.hints.aggregators = aggregators;
    must_make(&plan);
    assert_int_equal(plan.ndomains, aggregators);
    for (int64_t d = 0; d < plan.ndomains; d++)
        if (plan.domains[d].node != expected[d])
            fail_msg("placement %lld: domain %lld is on node %lld, not %lld\n%s", (long long)placement,
                     (long long)d, (long long)plan.domains[d].node, (long long)expected[d], plan.reasons);
    sagoi_plan_cleanup(&plan);
}

/* Six nodes that interleave, of which 2 and 4 have most memory. */
static void policies(void **state) {
    situation_init(&s, 6, 4, 600 * MIB, 32);
    s.node[2].memory = 16 * GIB;
    s.node[4].memory = 8 * GIB;
    hosts_are(SAGOI_PLACEMENT_RANK, 3, (const int64_t[]){0, 1, 2});
    hosts_are(SAGOI_PLACEMENT_RANK, 8, (const int64_t[]){0, 1, 2, 3, 4, 5, 0, 1});
    hosts_are(SAGOI_PLACEMENT_SPREAD, 3, (const int64_t[]){0, 2, 4});
    hosts_are(SAGOI_PLACEMENT_MEMORY, 3, (const int64_t[]){2, 2, 2});
    hosts_are(SAGOI_PLACEMENT_COST, 3, (const int64_t[]){0, 2, 4}); /* all equal: as even as can be */
    s.hints.per_node = 1;
    hosts_are(SAGOI_PLACEMENT_MEMORY, 3, (const int64_t[]){2, 4, 5});
    s.node[2].memory = 6 * GIB; /* falls below the others', one window after the other */
    s.node[4].memory = 6 * GIB;
    s.hints.per_node = 4;
    hosts_are(SAGOI_PLACEMENT_MEMORY, 4, (const int64_t[]){2, 4, 4, 2});
}

/* One node holds nearly all of the file: its data stays there. */
static void data_decides(void **state) {
    sagoi_plan plan;
    situation_init(&s, 4, 4, 64 * MIB, 4096);
    for (int64_t n = 0; n < 4; n++)
        s.access[n].bytes = n == 2 ? 58 * MIB : 2 * MIB;
    must_make(&plan);
    assert_int_equal(plan.ndomains, 4);
    for (int64_t d = 0; d < plan.ndomains; d++)
        assert_int_equal(plan.domains[d].node, 2);
    sagoi_plan_cleanup(&plan);
}

/* A slow link is kept away from, unless it is hinted to. */
static void links_decide(void **state) {
    sagoi_plan plan;
    situation_init(&s, 4, 2, 64 * MIB, 64);
    sagoi_topology_flat(&topology, 4);
    topology.link_rules = 1;
    topology.link_rule[0] = (sagoi_link_rule){.first = 0, .count = 1, .bandwidth = 12.5e6};
    for (int64_t n = 0; n < 4; n++)
        s.node[n].place = n;
    s.machine.topology = &topology;
    s.hints.aggregators = 1;
    must_make(&plan);
    assert_true(plan.domains[0].node != 0);
    sagoi_plan_cleanup(&plan);
    hosts_are(SAGOI_PLACEMENT_RANK, 1, (const int64_t[]){0});
}

/* Two storage targets, each behind a gateway of its own: the aggregator of a target is where its gateway is, if it
 * is known which targets the file has. */
static void gateways_of_targets_decide(void **state) {
    sagoi_plan plan;
    for (int known = 0; known < 2; known++)
        for (int64_t per_target = 1; per_target <= 2; per_target++) {
            situation_init(&s, 8, 4, 256 * MIB, 64);
            topology =
                (sagoi_topology){.kind = SAGOI_FAT_TREE, .dimensions = 2, .extent = {2, 4}, .links = {[1] = 1}};
            for (int64_t i = 0; i < topology.dimensions; i++)
                topology.level[i] = (sagoi_level){.latency = 1e-6, .bandwidth = 1e9};
            topology.inside = topology.io = (sagoi_level){.latency = 1e-7, .bandwidth = 1e10};
            topology.gateway_rules = 2; /* the first target behind the second switch */
            topology.gateway_rule[0] = (sagoi_gateway_rule){.first = 4, .count = 1, .targets = 1};
            topology.gateway_rule[1] = (sagoi_gateway_rule){.first = 0, .count = 1, .targets = 1, .from = 1};
            assert_int_equal(sagoi_topology_complete(&topology), SAGO_OK);
            s.machine.topology = &topology;
            s.target = (sagoi_target){
                .block = 4096, .stripe_unit = 4 * MIB, .stripe_count = 2, .stripe_first = known ? 1 : 0};
            s.hints.per_target = per_target;
            must_make(&plan);
            assert_int_equal(plan.ndomains, 2 * per_target);
            int64_t behind_second = 0;
            for (int64_t d = 0; d < plan.ndomains; d++) {
                int64_t gateway = d % 2 ? 0 : 4, node = plan.domains[d].node;
                behind_second += node / 4;
                if (known && per_target == 1)
                    assert_int_equal(node, gateway);
                else if (known)
                    assert_int_equal(node / 4, gateway / 4);
                for (int64_t before = 0; before < d; before++)
                    assert_int_not_equal(plan.domains[before].node, node);
            }
            assert_int_equal(behind_second, per_target); /* half of them */
            if (!known && per_target == 1)               /* as even as can be */
                assert_true(plan.domains[0].node == 0 && plan.domains[1].node == 4);
            sagoi_plan_cleanup(&plan);
        }
}

/* ---- Routes ---- */

/* Four sets of four nodes; the first set has a little more of everything, so C1 would have all domains there, over
 * one link.  C3 has one in each set, and the busiest link carries a quarter of it. */
static void domains_keep_off_shared_links(void **state) {
    static const sagoi_topology networks[] = {
        {.kind = SAGOI_FAT_TREE, .dimensions = 2, .extent = {4, 4}, .links = {[1] = 1}},
        {.kind = SAGOI_TORUS, .dimensions = 2, .extent = {4, 4}},
        {.kind = SAGOI_DRAGONFLY, .dimensions = 4, .extent = {4, 1, 1, 4}},
        {.kind = SAGOI_FAT_TREE, .dimensions = 4, .extent = {1, 4, 2, 2}, .links = {[2] = 1}},
    };
    for (size_t k = 0; k < sizeof networks / sizeof *networks; k++) {
        sagoi_plan plan;
        int64_t of_set[4] = {0};
        situation_init(&s, 16, 4, 256 * MIB, 64);
        topology = networks[k];
        for (int64_t i = 0; i < topology.dimensions; i++)
            topology.level[i] = (sagoi_level){.latency = 1e-6, .bandwidth = 1e9};
        topology.inside = topology.io = (sagoi_level){.latency = 1e-7, .bandwidth = 1e10};
        assert_int_equal(sagoi_topology_complete(&topology), SAGO_OK);
        for (int64_t n = 0; n < 16; n++)
            s.access[n].bytes = n < 4 ? 19 * MIB : 15 * MIB;
        s.machine.topology = &topology;
        s.hints.aggregators = 4;
        must_make(&plan);
        assert_int_equal(plan.ndomains, 4);
        for (int64_t d = 0; d < 4; d++)
            of_set[plan.domains[d].node / 4]++;
        for (int64_t set = 0; set < 4; set++)
            if (of_set[set] != 1)
                fail_msg("network %zu: %lld domains in set %lld\n%s", k, (long long)of_set[set], (long long)set,
                         plan.reasons);
        assert_non_null(strstr(plan.reasons, "routes: 3 of 4 domains"));
        sagoi_plan_cleanup(&plan);
    }
}

/* ---- Memory ---- */

/* 256 MiB, 256 MiB, 2 GiB, 2 GiB: nodes below Mem_min aggregate nothing. */
static void poor_nodes_host_nothing(void **state) {
    const int64_t memory[] = {256 * MIB, 256 * MIB, 2 * GIB, 2 * GIB};
    for (int64_t placement = 0; placement <= SAGOI_PLACEMENT_MEMORY; placement++) {
        sagoi_plan plan;
        situation_init(&s, 4, 2, GIB, 512);
        for (int64_t n = 0; n < 4; n++)
            s.node[n].memory = memory[n];
        s.hints.placement = placement;
        s.hints.host_memory = 256 * MIB;
        must_make(&plan);
        assert_int_equal(sagoi_plan_slots(&plan, 0) + sagoi_plan_slots(&plan, 1), 0);
        assert_int_equal(sagoi_plan_slots(&plan, 2), sagoi_plan_slots(&plan, 3));
        assert_int_equal(plan.window, 16 * MIB); /* nobody's windows shrink */
        sagoi_plan_cleanup(&plan);
    }
}

/* Sum of twelve even numbers: near enough to a normal distribution (mean 0, deviation 1). */
static double random_normal(void) {
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += (double)random_below(1000000) / 1e6;
    return sum;
}

static int64_t rounds_of(int64_t placement) {
    sagoi_plan plan;
    s.hints.placement = placement;
    must_make(&plan);
    int64_t rounds = plan.rounds;
    sagoi_plan_cleanup(&plan);
    return rounds;
}

/* M7: memory of the nodes drawn from a normal distribution around the usual buffer, deviation 50 MiB, cut at 1
 * MiB. */
static void memory_saves_rounds(void **state) {
    random_state = 7;
    for (int64_t mean = 16; mean <= 128; mean *= 2) {
        int64_t fixed = 0, by_cost = 0, by_memory = 0;
        for (int draw = 0; draw < 10; draw++) {
            situation_init(&s, 8, 2, GIB, 512);
            for (int64_t n = 0; n < 8; n++)
                s.node[n].memory = sagoi_max(MIB, (int64_t)(((double)mean + 50 * random_normal()) * (double)MIB));
            fixed += rounds_of(SAGOI_PLACEMENT_SPREAD);
            by_cost += rounds_of(SAGOI_PLACEMENT_COST);
            by_memory += rounds_of(SAGOI_PLACEMENT_MEMORY);
        }
        print_message("mean %lld MiB: %lld rounds fixed, %lld by cost, %lld by memory\n", (long long)mean,
                      (long long)fixed, (long long)by_cost, (long long)by_memory);
        assert_true(fixed * 100 >= by_cost * 124 && fixed * 100 >= by_memory * 124);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elections_equal_naive_search),
        cmocka_unit_test(policies),
        cmocka_unit_test(data_decides),
        cmocka_unit_test(links_decide),
        cmocka_unit_test(gateways_of_targets_decide),
        cmocka_unit_test(domains_keep_off_shared_links),
        cmocka_unit_test(poor_nodes_host_nothing),
        cmocka_unit_test(memory_saves_rounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
