/* Strategy, aggregators and windows where the machine's description says what storage costs a process (weigh.c):
 * each decision in a situation in which only one thing is dear. */
#include <stdlib.h>

#include "machine/description.h"
#include "situation.h"
#include "support/unit.h"

enum { NODES = 16, RANKS = 4 };

static situation s;
static sagoi_topology topology;

/* 16 nodes of 4 ranks that interleave short runs over 64 MiB, in stripes of 4 MiB over 8 targets. */
static int set_up(void **state) {
    situation_init(&s, NODES, RANKS, 64 * MIB, 4 * KIB);
    sagoi_topology_flat(&topology, NODES);
    topology.io.bandwidth = 1e9;
    topology.message = 1e-6;
    topology.writer = 100e6;
    topology.request = 1e-4;
    topology.lock = 1e-2;
    s.machine.topology = &topology;
    s.target.stripe_unit = 4 * MIB;
    s.target.stripe_count = 8;
    return 0;
}

static sagoi_plan made(void) {
    sagoi_plan plan;
    assert_int_equal(sagoi_plan_make(&s.machine, &s.shape, &s.target, &s.hints, &plan), SAGO_OK);
    assert_int_equal(sagoi_plan_check(&plan, &s.machine), SAGO_OK);
    return plan;
}

static void without_the_figures_stripes_decide(void **state) {
    topology.request = 0;
    sagoi_plan plan = made();
    assert_int_equal(plan.window, 4 * MIB);
    assert_null(strstr(plan.reasons, "by itself would take"));
    sagoi_plan_cleanup(&plan);
}

/* A process writes a stripe in 42 ms: two that share it are faster, if the lock between them takes only one. */
static void stripes_are_cut_where_locks_are_cheap(void **state) {
    topology.lock = 1e-3;
    sagoi_plan cheap = made();
    topology.lock = 1;
    sagoi_plan dear = made();
    assert_true(cheap.window < 4 * MIB);
    assert_true(cheap.ndomains > 16);
    assert_int_equal(dear.window, 4 * MIB);
    assert_int_equal(dear.ndomains, 8); /* one for each storage target: nobody waits */
    sagoi_plan_cleanup(&cheap);
    sagoi_plan_cleanup(&dear);
}

/* Two that share a stripe are two requests to its target, which is busy with each. */
static void stripes_stay_whole_where_targets_seek(void **state) {
    topology.lock = 1e-3;
    sagoi_plan none = made();
    topology.seek = 0.1;
    sagoi_plan long_ones = made();
    assert_true(none.window < 4 * MIB);
    assert_true(long_ones.window >= 4 * MIB);
    sagoi_plan_cleanup(&none);
    sagoi_plan_cleanup(&long_ones);
}

/* How often the stripes of a target, one after another, change hands between aggregators. */
static int64_t changes_of(const sagoi_plan *plan, int64_t target) {
    int64_t changes = 0, before = -1;
    for (int64_t at = target * s.target.stripe_unit; at < plan->high;
         at += s.target.stripe_unit * s.target.stripe_count)
        for (int64_t d = 0; d < plan->ndomains; d++) {
            const sagoi_domain *domain = &plan->domains[d];
            if (at < domain->first || at >= domain->end || (at - domain->first) % domain->stride >= domain->block)
                continue;
            changes += before >= 0 && before != d;
            before = d;
        }
    return changes;
}

/* Lustre gives a client all of a target's part of the file from where it writes on: two aggregators of a target
 * have a half of it each, not every other stripe.  Wherever the access begins. */
static void aggregators_of_a_target_do_not_alternate(void **state) {
    s.target.stripe_unit = MIB;
    s.hints.per_target = 2;
    for (int64_t low = 0; low < 12 * MIB; low += 5 * MIB + 4096) {
        for (int64_t n = 0; n < NODES; n++)
            s.access[n].low = sagoi_max(s.access[n].low, low);
        sagoi_plan plan = made();
        assert_int_equal(plan.ndomains, 16);
        for (int64_t target = 0; target < 8; target++)
            assert_int_equal(changes_of(&plan, target), 1);
        assert_non_null(strstr(plan.reasons, "stripes: dealt out in 2 sections"));
        sagoi_plan_cleanup(&plan);
    }
}

/* Windows that are on all targets: each aggregator has one part of the file, and so of each target. */
static void windows_on_all_targets_do_not_alternate(void **state) {
    situation_init(&s, NODES, RANKS, 1024 * MIB, 64 * KIB);
    s.machine.topology = &topology;
    s.target.stripe_unit = 4 * MIB;
    s.target.stripe_count = 8;
    s.hints.window = 32 * MIB;
    s.hints.aggregators = 4;
    sagoi_plan plan = made();
    assert_int_equal(plan.window, 32 * MIB);
    assert_int_equal(plan.ndomains, 4);
    for (int64_t target = 0; target < 8; target++)
        assert_int_equal(changes_of(&plan, target), 3);
    sagoi_plan_cleanup(&plan);
}

static void reads_have_no_locks_to_wait_for(void **state) {
    topology.lock = 1;
    s.shape.write = false;
    sagoi_plan plan = made();
    assert_true(plan.window < 4 * MIB);
    sagoi_plan_cleanup(&plan);
}

static void dear_requests_make_windows_large(void **state) {
    s.target.stripe_unit = 64 * KIB;
    s.target.stripe_count = 64;
    sagoi_plan cheap = made();
    topology.request = 0.3;
    sagoi_plan dear = made();
    assert_true(dear.rounds == 1);
    assert_true(dear.window > cheap.window || cheap.rounds == 1);
    assert_true(dear.window >= MIB);
    sagoi_plan_cleanup(&cheap);
    sagoi_plan_cleanup(&dear);
}

/* Long runs, and nobody waits for anybody: each rank by itself; if a request takes long, together. */
static void requests_decide_who_goes_alone(void **state) {
    situation_init(&s, NODES, RANKS, 256 * MIB, 256 * KIB);
    s.machine.topology = &topology;
    s.shape.write = false;
    s.shape.most_runs = 16;
    s.target.stripe_unit = 4 * MIB;
    s.target.stripe_count = 8;
    sagoi_plan cheap = made();
    topology.request = 0.1;
    sagoi_plan dear = made();
    assert_int_equal(cheap.strategy, SAGOI_STRATEGY_DIRECT);
    assert_int_equal(dear.strategy, SAGOI_STRATEGY_AGGREGATED);
    sagoi_plan_cleanup(&cheap);
    sagoi_plan_cleanup(&dear);
}

/* Each node has one stretch of the file, `bytes` long, a piece a rank. */
static void set_stretches(int64_t bytes) {
    situation_init(&s, NODES, RANKS, NODES * bytes, bytes);
    for (int64_t n = 0; n < NODES; n++)
        s.access[n] = (sagoi_node_shape){n * bytes, (n + 1) * bytes, bytes, RANKS};
    s.machine.topology = &topology;
    s.shape.most_runs = 1;
    s.target.stripe_unit = 4 * MIB;
    s.target.stripe_count = 2;
}

/* Ranks of a node pass no lock on between them, and nodes whose stretches fill stripes wait once, side by side;
 * those that have parts of a stripe wait for all others at its target, one after another. */
static void locks_of_a_target_go_from_node_to_node(void **state) {
    set_stretches(4 * MIB);
    topology.lock = 0.02;
    sagoi_plan whole = made();
    set_stretches(4 * MIB - 64 * KIB);
    sagoi_plan dear = made();
    assert_int_equal(whole.strategy, SAGOI_STRATEGY_DIRECT);
    assert_int_equal(dear.strategy, SAGOI_STRATEGY_AGGREGATED);
    sagoi_plan_cleanup(&whole);
    sagoi_plan_cleanup(&dear);
}

/* Windows with holes are written run by run: as many requests as the ranks would make, by fewer processes. */
static void holes_are_left_to_their_ranks(void **state) {
    s.shape.dense = false;
    for (int64_t n = 0; n < NODES; n++)
        s.access[n].bytes /= 4;
    s.target.stripe_unit = s.target.stripe_count = 0;
    sagoi_plan plan = made();
    assert_int_equal(plan.strategy, SAGOI_STRATEGY_DIRECT);
    sagoi_plan_cleanup(&plan);
}

/* 004: memory differs.  All that there is together is used, by windows that fit, where it is. */
static void memory_decides_where_and_how_much(void **state) {
    topology.request = 0.3;
    topology.writer = 0;
    s.target.stripe_unit = s.target.stripe_count = 0;
    s.hints.per_node = 4;
    situation rich = s;
    for (int64_t n = 0; n < NODES; n++)
        s.node[n].memory = n % 4 == 0 ? 128 * MIB : 4 * MIB;
    sagoi_plan plan = made();
    assert_true(plan.ndomains > NODES / 4); /* several on those that have memory, and no domain twice as long */
    for (int64_t d = 0; d < plan.ndomains; d++)
        assert_true(plan.domains[d].windows >= plan.rounds - 1);
    for (int64_t n = 0; n < NODES; n++)
        assert_true(n % 4 == 0 || plan.node_slots[n] == 0);
    sagoi_plan_cleanup(&plan);
    s = rich;
    s.machine.node = s.node;
    s.shape.node = s.access;
    plan = made();
    assert_true(plan.ndomains >= NODES);
    sagoi_plan_cleanup(&plan);
}

/* Rich nodes have memory for more aggregators than a node may have: what is weighed must be what is placed, or
 * windows shrink for want of hosts (004: memory that differs, stripes of 1 MB, requests that are dear). */
static void windows_that_are_weighed_find_hosts(void **state) {
    (void)state;
    random_state = 1;
    for (int64_t turn = 0; turn < 40; turn++) {
        situation_init(&s, 10, 12, 32 * GIB, 2 * KIB);
        for (int64_t n = 0; n < 10; n++)
            s.node[n].memory = (10 + random_below(turn < 20 ? 190 : 400)) * MIB;
        s.machine.topology = &topology;
        s.target.stripe_unit = MIB;
        s.target.stripe_count = 16;
        topology.writer = 0;
        topology.request = 0.3;
        sagoi_plan plan = made();
        if (strstr(plan.reasons, "for want of memory"))
            fail_msg("turn %lld: %s", (long long)turn, plan.reasons);
        sagoi_plan_cleanup(&plan);
    }
}

/* 16 nodes of 38 MiB each: groups end with a node's data, after 152 MiB; five aggregators would have even ranges
 * of 122, for which windows of 128 are weighed. */
static void set_long_stretches(int64_t memory) {
    set_stretches(38 * MIB);
    s.hints.strategy = SAGOI_STRATEGY_AGGREGATED;
    topology.writer = 0;
    topology.seek = 0.2;
    s.target.stripe_unit = MIB;
    s.target.stripe_count = 16;
    for (int64_t n = 0; n < NODES; n++)
        s.node[n].memory = memory;
}

/* Where targets seek, windows are long.  The few bytes by which a group's range is longer must not cost a round.
 */
static void ranges_of_groups_take_the_rounds_that_were_weighed(void **state) {
    set_long_stretches(680 * MIB);
    sagoi_plan plan = made();
    assert_int_equal(plan.groups, 4);
    assert_int_equal(plan.window, 152 * MIB);
    assert_int_equal(plan.rounds, 1);
    assert_non_null(strstr(plan.reasons, "window: longer than 128 MiB"));
    sagoi_plan_cleanup(&plan);
}

/* A node has memory for two windows of 128 MiB and what it keeps in reserve, but not of 152. */
static void windows_are_not_longer_than_memory_allows(void **state) {
    set_long_stretches(390 * MIB);
    sagoi_plan plan = made();
    assert_int_equal(plan.rounds, 2);
    assert_true(plan.window < 128 * MIB);
    assert_non_null(strstr(plan.reasons, "with windows of 128 MiB"));
    assert_null(strstr(plan.reasons, "window: longer than"));
    sagoi_plan_cleanup(&plan);
}

static double least_compared(void) {
    sagoi_plan plan = made();
    assert_true(plan.ncompared > 0);
    double least = plan.compared[0].seconds;
    for (int64_t i = 1; i < plan.ncompared; i++)
        least = plan.compared[i].seconds < least ? plan.compared[i].seconds : least;
    sagoi_plan_cleanup(&plan);
    return least;
}

/* Groups keep data near from one and a half times their size on: then the network moves less of it. */
static void what_is_weighed_knows_groups(void **state) {
    set_stretches(13 * MIB);
    topology.level[0].bandwidth = 1e8;
    s.hints.strategy = SAGOI_STRATEGY_AGGREGATED;
    double divided = least_compared();
    s.hints.group_size = 200 * MIB;
    double whole = least_compared();
    assert_true(divided < 0.9 * whole);
}

static void hints_are_obeyed(void **state) {
    s.hints.window = 8 * MIB;
    sagoi_plan plan = made();
    assert_int_equal(plan.window, 8 * MIB);
    sagoi_plan_cleanup(&plan);
    s.hints.window = 0;
    s.hints.aggregators = 3;
    plan = made();
    assert_int_equal(plan.ndomains, 3);
    sagoi_plan_cleanup(&plan);
    s.hints.aggregators = 0;
    s.hints.per_target = 1;
    plan = made();
    assert_int_equal(plan.ndomains, 8);
    sagoi_plan_cleanup(&plan);
}

/* Four routers of four nodes, each with 4 MiB of the file one after another; stripes in turn to two aggregators a
 * node. As they come, what the nodes of a router have goes to those of two; in turn it goes to all four. */
static void domains_do_not_share_links_where_others_are_free(void **state) {
    static int64_t histogram[NODES * SAGOI_REGIONS];
    sagoi_topology routers = topology;
    routers.kind = SAGOI_DRAGONFLY;
    routers.direct = true;
    routers.dimensions = 4;
    routers.extent[0] = routers.extent[1] = 1;
    routers.extent[2] = routers.extent[3] = 4;
    for (int64_t k = 0; k < 4; k++)
        routers.level[k] = (sagoi_level){.latency = 1e-7, .bandwidth = 5e9};
    assert_int_equal(sagoi_topology_complete(&routers), SAGO_OK);
    routers.request = 0;
    s.machine.topology = &routers;
    sagoi_shape_regions(0, 64 * MIB, &s.shape.origin, &s.shape.region);
    for (int64_t n = 0; n < NODES; n++) {
        s.access[n] = (sagoi_node_shape){n * 4 * MIB, (n + 1) * 4 * MIB, 4 * MIB, 1024};
        for (int64_t at = n * 4 * MIB; at < (n + 1) * 4 * MIB; at += MIB)
            histogram[n * SAGOI_REGIONS + at / s.shape.region] += MIB;
    }
    s.shape.histogram = histogram;
    s.target.stripe_unit = MIB;
    s.hints.strategy = SAGOI_STRATEGY_AGGREGATED;
    s.hints.aggregators = 2 * NODES;
    sagoi_plan plan = made();
    assert_non_null(strstr(plan.reasons, "routes: stripes go to the nodes in turn"));
    int64_t seen = 0;
    for (int64_t d = 0; d < 16; d++) /* the first router's data */
        seen |= INT64_C(1) << plan.domains[d].node / 4;
    assert_int_equal(seen, 15);
    sagoi_plan_cleanup(&plan);
}

/* Whatever the figures, the memory and the stripes are: what is planned owns every byte once and fits. */
static void any_plan_is_sound(void **state) {
    static const double requests[] = {1e-6, 1e-4, 1e-2, 0.3};
    int64_t made_so_far = 0;
    random_state = 16;
    for (int i = 0; i < 2000; i++) {
        int64_t nodes = 2 + random_below(NODES_MAX - 1), run = 1 + random_below(100 * KIB);
        situation_init(&s, nodes, 1 + random_below(8), nodes * run * (1 + random_below(4000)), run);
        sagoi_topology_flat(&topology, nodes);
        topology.request = requests[random_below(4)];
        topology.lock = random_below(2) ? 1e-3 : 1;
        topology.writer = random_below(2) ? 50e6 : 0;
        topology.message = 1e-6;
        s.machine.topology = &topology;
        topology.seek = random_below(2) ? 0.02 : 0;
        s.shape.write = random_below(2);
        s.shape.dense = s.shape.write && random_below(2);
        for (int64_t n = 0, stretched = random_below(2); stretched && n < nodes; n++) { /* one after another */
            s.access[n].low = n * s.access[n].bytes;
            s.access[n].high = s.access[n].low + s.access[n].bytes;
        }
        for (int64_t n = 0; n < nodes; n++) {
            s.node[n].memory = (1 + random_below(64)) * (random_below(2) ? MIB : 16 * MIB);
            s.access[n].bytes /= s.shape.dense ? 1 : 1 + random_below(3);
        }
        s.target.stripe_unit = random_below(2) ? (64 * KIB) << random_below(8) : 0;
        s.target.stripe_count = s.target.stripe_unit > 0 ? 1 + random_below(40) : 0;
        s.target.lock_unit = random_below(4) ? 0 : 8 * MIB;
        sagoi_plan plan;
        if (sagoi_plan_make(&s.machine, &s.shape, &s.target, &s.hints, &plan) != SAGO_OK)
            continue; /* no memory for even the smallest plan */
        assert_int_equal(sagoi_plan_check(&plan, &s.machine), SAGO_OK);
        made_so_far++;
        sagoi_plan_cleanup(&plan);
    }
    assert_true(made_so_far > 1000);
}

/* 16 nodes of Mira with runs of 100 KiB, on a file without stripes. */
static void set_up_mira(sagoi_description *mira) {
    const char *source = getenv("SAGO_SOURCE");
    char path[512];
    (void)snprintf(path, sizeof path, "%s/machines/mira-1024.sago", source ? source : ".");
    assert_int_equal(sagoi_description_read(path, mira), SAGO_OK);
    situation_init(&s, NODES, 16, NODES * 16 * INT64_C(950000), 950000 / 9);
    s.target.lock_unit = 8 * MIB;
    s.machine.topology = &mira->topology;
}

static void tune(void) {
    s.machine.tuned = (sagoi_tuned){.aggregators_per_node = 2,
                                    .domain_write = 128 * MIB,
                                    .domain_read = 128 * MIB,
                                    .group = 256 * MIB,
                                    .least_memory = 2 * MIB};
}

/* `sago tune` knows less than the model: what it has measured sets no domains where the model decides. */
static void measured_domains_do_not_replace_the_model(void **state) {
    sagoi_description mira;
    for (int write = 0; write < 2; write++) {
        set_up_mira(&mira);
        s.shape.write = write;
        sagoi_plan plain = made();
        tune();
        sagoi_plan tuned = made();
        assert_true(!write || plain.ndomains > 4);
        assert_string_equal(plain.reasons, tuned.reasons);
        s.hints.domain_write = s.hints.domain_read = 128 * MIB;
        sagoi_plan hinted = made();
        assert_int_equal(hinted.ndomains, 2);
        assert_non_null(strstr(hinted.reasons, "until none owns more than 128 MiB, hint"));
        sagoi_plan_cleanup(&plain);
        sagoi_plan_cleanup(&tuned);
        sagoi_plan_cleanup(&hinted);
    }
}

/* Where nothing is modelled they do, and the reason says whose they are. */
static void measured_domains_are_said_to_be(void **state) {
    topology.request = 0;
    s.target.stripe_unit = 0;
    tune();
    s.machine.tuned.domain_write = 16 * MIB;
    sagoi_plan plan = made();
    assert_int_equal(plan.ndomains, 4);
    assert_non_null(strstr(plan.reasons, "until none owns more than 16 MiB, site file"));
    sagoi_plan_cleanup(&plan);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(without_the_figures_stripes_decide, set_up),
        cmocka_unit_test_setup(stripes_are_cut_where_locks_are_cheap, set_up),
        cmocka_unit_test_setup(stripes_stay_whole_where_targets_seek, set_up),
        cmocka_unit_test_setup(aggregators_of_a_target_do_not_alternate, set_up),
        cmocka_unit_test_setup(windows_on_all_targets_do_not_alternate, set_up),
        cmocka_unit_test_setup(reads_have_no_locks_to_wait_for, set_up),
        cmocka_unit_test_setup(dear_requests_make_windows_large, set_up),
        cmocka_unit_test_setup(requests_decide_who_goes_alone, set_up),
        cmocka_unit_test_setup(locks_of_a_target_go_from_node_to_node, set_up),
        cmocka_unit_test_setup(holes_are_left_to_their_ranks, set_up),
        cmocka_unit_test_setup(memory_decides_where_and_how_much, set_up),
        cmocka_unit_test_setup(windows_that_are_weighed_find_hosts, set_up),
        cmocka_unit_test_setup(ranges_of_groups_take_the_rounds_that_were_weighed, set_up),
        cmocka_unit_test_setup(windows_are_not_longer_than_memory_allows, set_up),
        cmocka_unit_test_setup(what_is_weighed_knows_groups, set_up),
        cmocka_unit_test_setup(hints_are_obeyed, set_up),
        cmocka_unit_test_setup(measured_domains_do_not_replace_the_model, set_up),
        cmocka_unit_test_setup(measured_domains_are_said_to_be, set_up),
        cmocka_unit_test_setup(domains_do_not_share_links_where_others_are_free, set_up),
        cmocka_unit_test(any_plan_is_sound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
