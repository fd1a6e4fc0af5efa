/* The replay against times that can be worked out by hand: one flow, two that share a link, work at the ends,
 * stores that overlap or do not; and that no byte is lost on the way. */
#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/sim_engine.h"
#include "sim/replay.h"
#include "tests/unit/plan/situation.h"
#include "support/unit.h"

static const double GB = 1e9, LATENCY = 1e-3;

static sagoi_topology topology;
static sim_costs costs;
static sim_load load;
static sim_model model;

static int set_up(void **state) {
    model = *state ? SIM_MODEL_LINKS : SIM_MODEL_FLOWS;
    sagoi_topology_flat(&topology, 4);
    topology.level[0] = (sagoi_level){.latency = LATENCY, .bandwidth = GB};
    topology.io = (sagoi_level){.latency = 0, .bandwidth = GB};
    costs = (sim_costs){.payload = 1, .copy = GB, .memory = GB, .target_write = GB, .target_read = GB};
    return 0;
}

static int tear_down(void **state) {
    sim_load_cleanup(&load);
    return 0;
}

static void make_load(int64_t nodes, int64_t aggregators, int64_t rounds) {
    assert_true(sim_load_init(&load, nodes, aggregators, rounds));
    load.write = true;
    load.in_flight = 8;
    for (int64_t n = 0; n < nodes; n++)
        load.place[n] = n;
    for (int64_t r = 0; r < rounds; r++)
        load.round[r].bytes = 1;
}

/* In a process of its own: SimGrid runs once in each. */
static sim_outcome replay(int64_t targets) {
    struct {
        bool ok;
        sim_outcome outcome;
    } *told = mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(told != MAP_FAILED);
    pid_t child = fork();
    if (child == 0) {
        char why[BENCH_MESSAGE_MAX];
        sim_network network;
        sim_network_init(&network, &topology, &costs, load.write, targets);
        told->ok = sim_replay(&load, &network, model, &told->outcome, why);
        sim_network_cleanup(&network);
        _exit(0);
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_true(told->ok);
    sim_outcome outcome = told->outcome;
    munmap(told, sizeof *told);
    return outcome;
}

static void flow(int64_t round, int64_t node, int64_t aggregator, double bytes) {
    *sim_load_flow(&load, round, node, aggregator) = (sim_flow){.bytes = bytes, .messages = 1};
}

static void close_to(double a, double b) { assert_true(fabs(a - b) <= 2e-3 * b); }

static void a_flow_takes_bytes_over_bandwidth_and_latency(void **state) {
    make_load(2, 1, 1);
    flow(0, 1, 0, 0.5 * GB);
    sim_outcome out = replay(0);
    close_to(out.seconds, 0.5 + LATENCY);
    close_to(out.wire, 0.5 * GB);
    assert_int_equal((int)out.messages, 1);
}

static void two_flows_into_one_node_halve(void **state) {
    make_load(3, 1, 1);
    flow(0, 1, 0, 0.5 * GB);
    flow(0, 2, 0, 0.5 * GB);
    close_to(replay(0).seconds, 1 + LATENCY);
}

static void flows_over_other_links_do_not_meet(void **state) {
    make_load(4, 2, 1);
    load.host[1] = 1;
    flow(0, 2, 0, 0.5 * GB);
    flow(0, 3, 1, 0.5 * GB);
    close_to(replay(0).seconds, 0.5 + LATENCY);
}

static void one_receive_at_a_time_costs_latency_each(void **state) {
    make_load(4, 1, 1);
    load.in_flight = 1;
    for (int64_t n = 1; n < 4; n++)
        flow(0, n, 0, 1000);
    close_to(replay(0).seconds, 3 * (LATENCY + 1000 / GB));
}

static void work_at_both_ends_counts(void **state) {
    make_load(2, 1, 1);
    flow(0, 1, 0, 0.1 * GB);
    sim_load_flow(&load, 0, 1, 0)->seconds = 0.3;
    load.round[0].node[1] = 0.2;
    load.round[0].store[0].work = 0.05;
    load.ahead = 1;
    close_to(replay(0).seconds, 1 + 0.2 + 0.1 + LATENCY + 0.3 + 0.05);
}

static void make_stores(int64_t rounds, bool overlapped) {
    make_load(2, 1, rounds);
    load.overlapped = overlapped;
    load.in_step = !overlapped;
    for (int64_t r = 0; r < rounds; r++) {
        flow(r, 1, 0, 0.5 * GB);
        load.round[r].bytes = 0.5 * GB;
        load.round[r].store[0] = (sim_store){.bytes = 0.5 * GB, .stripes = 1};
    }
}

static void a_store_overlaps_with_the_next_exchange(void **state) {
    make_stores(4, true); /* 0.5 to fill, 0.5 to store */
    sim_outcome out = replay(1);
    close_to(out.seconds, 5 * 0.5 + 4 * LATENCY);
    close_to(out.stored, 2 * GB);
}

static void without_a_second_window_it_does_not(void **state) {
    make_stores(4, false);
    close_to(replay(1).seconds, 8 * 0.5 + 4 * LATENCY);
}

static void rounds_that_repeat_are_extrapolated(void **state) {
    make_stores(2, true);
    load.repeats = 50; /* 100 rounds */
    sim_outcome out = replay(1);
    close_to(out.seconds, 101 * 0.5 + 100 * LATENCY);
    close_to(out.bytes, 50 * GB);
    close_to(out.wire, 50 * GB);
    close_to(out.stored, 50 * GB);
}

static void writers_share_a_target(void **state) {
    make_load(3, 2, 1);
    load.host[1] = 1;
    for (int64_t a = 0; a < 2; a++)
        load.round[0].store[a] = (sim_store){.bytes = 0.5 * GB, .stripes = 1};
    close_to(replay(1).seconds, 1.0);
    sim_load_cleanup(&load);
    make_load(3, 2, 1);
    load.host[1] = 1;
    for (int64_t a = 0; a < 2; a++)
        load.round[0].store[a] = (sim_store){.bytes = 0.5 * GB, .stripe = a, .stripes = 1};
    close_to(replay(2).seconds, 0.5);
}

/* Each request keeps a target busy, so two writers wait for both; where a target has two stripes of a window, they
 * are one request. */
static void requests_keep_a_target_busy(void **state) {
    topology.level[0].bandwidth = 10 * GB;
    costs.seek = 0.25;
    make_load(3, 2, 1);
    load.host[1] = 1;
    load.round[0].store[0] = (sim_store){.bytes = 0.5 * GB, .stripes = 1};
    close_to(replay(1).seconds, 0.75);
    load.round[0].store[1] = load.round[0].store[0];
    close_to(replay(1).seconds, 1.5);
    load.round[0].store[1] = (sim_store){.bytes = 0};
    load.round[0].store[0] = (sim_store){.bytes = 0.5 * GB, .stripes = 2, .requests = 2};
    close_to(replay(2).seconds, 0.75);
    load.round[0].store[0] = (sim_store){.bytes = 0.5 * GB, .stripes = 4};
    close_to(replay(2).seconds, 0.5);
}

/* A window of two stripes: its client asks both targets at once, unless it has no cache. */
static void targets_store_their_parts_side_by_side(void **state) {
    costs.target_write = GB / 4;
    make_load(2, 2, 1);
    load.host[1] = 1;
    load.round[0].store[0] = (sim_store){.bytes = 0.5 * GB, .stripes = 2};
    close_to(replay(2).seconds, 1);
    load.round[0].store[1] = load.round[0].store[0]; /* both begin at the same target, and need all of both */
    close_to(replay(2).seconds, 2);
    load.round[0].store[1] = (sim_store){.bytes = 0};
    load.one_by_one = true;
    if (!*state) /* by flows alone: links are not asked for such clients */
        close_to(replay(2).seconds, 2);
}

/* More stripes than are followed one by one still go to all targets. */
static void many_stripes_are_on_all_targets(void **state) {
    (void)state;
    costs.target_write = GB / 16;
    make_load(2, 1, 1);
    load.round[0].store[0] = (sim_store){.bytes = 0.5 * GB, .stripes = 64};
    close_to(replay(8).seconds, 1);
}

static void one_writer_is_no_faster_than_its_client(void **state) {
    costs.writer = GB / 10;
    make_load(2, 1, 1);
    load.round[0].store[0] = (sim_store){.bytes = 0.5 * GB, .stripes = 1};
    close_to(replay(1).seconds, 5);
}

static void reads_go_the_other_way(void **state) {
    make_stores(4, true);
    load.write = false;
    sim_outcome out = replay(1);
    close_to(out.seconds, 5 * 0.5 + 4 * LATENCY);
    close_to(out.wire, 2 * GB);
}

/* Who has read a window early does not read the next one before the others have theirs. */
static void reads_in_step_wait_for_the_slowest(void **state) {
    make_load(2, 2, 2);
    load.write = false;
    load.in_step = true;
    load.host[1] = 1;
    for (int64_t r = 0; r < 2; r++)
        for (int64_t a = 0; a < 2; a++) {
            flow(r, 1 - a, a, GB / 1000);
            load.round[r].store[a] = (sim_store){.bytes = r == a ? GB : GB / 10, .stripe = a, .stripes = 1};
        }
    close_to(replay(2).seconds, 2 * (1 + LATENCY + 0.001));
}

/* ---- From patterns to loads ---- */

static sim_case *make_case(const char *pattern, int64_t nodes, int64_t ranks, bool read) {
    char why[BENCH_MESSAGE_MAX];
    sim_case *c = calloc(1, sizeof *c);
    assert_non_null(c);
    c->config.pattern = bench_pattern_find(pattern, why);
    assert_int_equal(sagoi_hints_init(&c->config.hints), SAGO_OK);
    bench_params_init(&c->config.params, c->config.pattern);
    c->config.nodes = nodes;
    c->config.ranks = c->config.cores = ranks;
    c->config.kind = PLAN_DECLARED;
    c->config.read = read;
    c->config.stripe_unit = 1 << 20;
    c->config.stripe_count = 4;
    c->options.times = 1;
    c->targets = 4;
    c->unit = c->config.stripe_unit;
    if (!plan_input_make(&c->config, &c->input, why))
        fail_msg("%s", why);
    sagoi_topology_flat(&c->topology, nodes);
    assert_true(sim_costs_of("theta", &c->costs, &c->costs_of));
    if (!sim_case_measure(c, why))
        fail_msg("%s", why);
    return c;
}

static void free_case(sim_case *c) {
    plan_input_cleanup(&c->input);
    free(c->extent);
    free(c);
}

/* Every byte of every rank reaches the storage once, whoever moves it. */
static void bytes_stored_are_bytes_written(void **state) {
    static const char *const patterns[] = {"block3d", "s3d",      "btio",     "e3sm-f",
                                           "e3sm-g",  "hacc-aos", "hacc-soa", "flash"};
    static const char *const engines[] = {"sago",  "tapioca", "two-phase", "tam:2",
                                          "ompio", "gio",     "coio:4",    "rbio:4"};
    for (size_t p = 0; p < sizeof patterns / sizeof patterns[0]; p++)
        for (size_t e = 0; e < sizeof engines / sizeof engines[0]; e++) {
            char why[BENCH_MESSAGE_MAX] = "";
            int64_t number;
            const sim_engine *engine = sim_engine_find(engines[e], &number);
            sim_course course = {.calls = 1};
            sim_case *c = make_case(patterns[p], 4, 4, false);
            c->options.sieve_off = true;
            c->options.rounds = 1000;
            const sim_extent extent = *sim_extent_of(c, SIM_ALL_CALLS);
            if (!engine->load(c, SIM_ALL_CALLS, number, &load, &course, why))
                fail_msg("%s, %s: %s", patterns[p], engines[e], why);
            double stored = 0, moved = 0;
            for (int64_t r = 0; r < load.rounds; r++) {
                moved += load.round[r].bytes;
                for (int64_t a = 0; a < load.aggregators; a++)
                    stored += load.round[r].store[a].bytes;
            }
            if (fabs(stored - (double)extent.bytes) > 0.5 || fabs(moved - (double)extent.bytes) > 0.5)
                fail_msg("%s, %s: %.0f bytes moved, %.0f stored, %lld written", patterns[p], engines[e], moved,
                         stored, (long long)extent.bytes);
            sim_load_cleanup(&load);
            free_case(c);
        }
}

/* Of the peers: spread over the nodes, or on BG/Q's bridge nodes and the nodes that come after them. */
static void aggregators_go_to_bridges_first(void **state) {
    static const int64_t wanted[2][5] = {{0, 3, 6, 9, 12}, {0, 8, 1, 9, 2}};
    for (int first = 0; first < 2; first++) {
        char why[BENCH_MESSAGE_MAX] = "";
        int64_t number;
        const sim_engine *engine = sim_engine_find("two-phase", &number);
        sim_course course = {.calls = 1};
        sim_case *c = make_case("hacc-aos", 16, 2, false);
        c->topology.gateway_rules = 1;
        c->topology.gateway_rule[0] = (sagoi_gateway_rule){.first = 0, .every = 8, .count = 2};
        c->options.plain_peers = c->options.always = true;
        c->options.bridges_first = first > 0;
        c->options.cb_nodes = 5;
        if (!engine->load(c, SIM_ALL_CALLS, number, &load, &course, why))
            fail_msg("%s", why);
        assert_int_equal(load.aggregators, 5);
        for (int a = 0; a < 5; a++)
            assert_int_equal(load.host[a], wanted[first][a]);
        sim_load_cleanup(&load);
        free_case(c);
    }
}

/* Comparisons at the only aggregator of a case, and before the first round at a local one. */
static void count_comparisons(const char *name, double *global, double *local, double *runs) {
    double work[2], ahead[2];
    for (int i = 0; i < 2; i++) {
        char why[BENCH_MESSAGE_MAX] = "";
        int64_t number;
        const sim_engine *engine = sim_engine_find(name, &number);
        sim_course course = {.calls = 1};
        sim_case *c = make_case("checkerboard", 4, 4, false);
        c->options.plain_peers = c->options.always = c->options.sieve_off = true;
        c->options.cb_nodes = 1;
        c->options.buffer = 1 << 30;
        c->costs.compare = i;
        if (!engine->load(c, SIM_ALL_CALLS, number, &load, &course, why))
            fail_msg("%s", why);
        assert_int_equal(load.rounds, 1);
        work[i] = load.round[0].store[0].work;
        ahead[i] = load.ahead;
        *runs = (double)sim_extent_of(c, SIM_ALL_CALLS)->runs;
        sim_load_cleanup(&load);
        free_case(c);
    }
    *global = work[1] - work[0];
    *local = ahead[1] - ahead[0];
}

/* P k log P comparisons in two-phase I/O; P k log P_L + P k / P_L log(P / P_L) in TAM (001, IV), whose local
 * aggregators have no runs to join here. */
static void lists_are_merged_as_the_formulas_say(void **state) {
    double global, local, runs;
    count_comparisons("two-phase", &global, &local, &runs);
    close_to(global / runs, log2(16));
    close_to(1 + local, 1);
    count_comparisons("tam:2", &global, &local, &runs);
    close_to(global / runs, log2(8));
    close_to(local / (runs / 8), log2(2));
}

static sim_question of_the_whole_file(const sim_case *c) {
    static const sim_window all = {0, INT64_MAX};
    return (sim_question){
        .config = &c->config, .call = SIM_ALL_CALLS, .locals = 1, .window = &all, .windows = 1, .rounds = 1};
}

static void local_aggregators_join_runs(void **state) {
    char why[BENCH_MESSAGE_MAX];
    sim_case *c = make_case("interleaved", 2, 4, false);
    sim_question question = of_the_whole_file(c);
    question.join = true;
    sim_traffic traffic;
    assert_true(sim_traffic_make(&traffic, &question, why));
    /* 64 segments; the four blocks of a node's ranks lie side by side in each */
    assert_int_equal((int)traffic.share[0].runs, 256);
    assert_int_equal((int)traffic.share[0].joined, 64);
    assert_int_equal((int)traffic.share[0].ranks, 4);
    assert_int_equal((int)traffic.share[0].locals, 1);
    sim_traffic_cleanup(&traffic);
    free_case(c);
}

/* Every other block of the file: a hole follows each of the runs, whoever has the next one.  Blocks side by side:
 * one stretch is all of them. */
static void runs_that_a_hole_follows_are_counted(void **state) {
    char why[BENCH_MESSAGE_MAX];
    const char *const patterns[] = {"checkerboard", "interleaved"};
    for (int p = 0; p < 2; p++) {
        sim_case *c = make_case(patterns[p], 2, 4, false);
        sim_question question = of_the_whole_file(c);
        question.sample = true;
        sim_traffic traffic;
        assert_true(sim_traffic_make(&traffic, &question, why));
        double runs = traffic.share[0].runs + traffic.share[1].runs;
        assert_true(fabs(traffic.stretches * runs - (p == 0 ? runs : 1)) < 1e-6);
        sim_traffic_cleanup(&traffic);
        free_case(c);
    }
}

/* Four nodes that work a second each on two cores take two; with cores of their own, one. */
static void nodes_wait_for_cores_that_they_share(void **state) {
    for (int64_t cores = 0; cores <= 4; cores += 2) {
        make_load(4, 1, 1);
        load.cores = cores;
        for (int64_t n = 0; n < 4; n++)
            load.round[0].node[n] = 1;
        flow(0, 1, 0, 1);
        close_to(replay(0).seconds, (cores == 2 ? 2 : 1) + LATENCY);
        sim_load_cleanup(&load);
    }
}

/* Two writers of a node, a second each at targets of their own: side by side, or one after the other. */
static void a_client_writes_one_piece_at_a_time(void **state) {
    for (int64_t at_once = 0; at_once < 2; at_once++) {
        make_load(1, 2, 1);
        topology.level[0].bandwidth = 10 * GB;
        load.at_once = at_once;
        load.one_by_one = at_once > 0;
        for (int64_t a = 0; a < 2; a++)
            load.round[0].store[a] = (sim_store){.bytes = GB, .stripe = a, .stripes = 1};
        close_to(replay(2).seconds, at_once == 1 ? 2 + LATENCY : 1 + LATENCY / 2);
        sim_load_cleanup(&load);
    }
}

/* Of two rounds a node's bucket lets the first half a gigabyte pass, and a target's as much. */
static void a_bucket_lets_the_first_bytes_pass(void **state) {
    make_load(2, 1, 2);
    for (int64_t r = 0; r < 2; r++) {
        flow(r, 1, 0, 0.4 * GB);
        load.round[r].store[0] = (sim_store){.bytes = 0.4 * GB, .stripes = 1};
    }
    assert_true(sim_load_burst(&load, 0.5 * GB, 1));
    close_to(sim_load_flow(&load, 1, 1, 0)->bytes, 0.3 * GB);
    close_to(load.round[1].store[0].bytes, 0.3 * GB);
    assert_true(sim_load_flow(&load, 0, 1, 0)->bytes <= 1 && load.round[0].store[0].bytes <= 1);
}

/* As many hops as the planner counts, on every kind of network; where a group has one router that leads to another
 * group, the planner counts the way to it for nodes that are there, too. */
static void routes_are_as_long_as_the_planner_thinks(void **state) {
    sagoi_topology kinds[] = {
        {.kind = SAGOI_TORUS, .dimensions = 3, .extent = {4, 3, 5}},
        {.kind = SAGOI_DRAGONFLY, .dimensions = 4, .extent = {3, 2, 4, 2}, .direct = true},
        {.kind = SAGOI_DRAGONFLY, .dimensions = 4, .extent = {3, 1, 4, 2}},
        {.kind = SAGOI_FAT_TREE, .dimensions = 3, .extent = {2, 3, 4}},
    };
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        sagoi_topology *t = &kinds[k];
        for (int64_t i = 0; i < SAGOI_DIMENSIONS_MAX; i++)
            t->level[i] = (sagoi_level){1e-6, GB};
        t->inside = t->io = (sagoi_level){1e-6, GB};
        assert_int_equal(sagoi_topology_complete(t), SAGO_OK);
        sim_network network;
        sim_network_init(&network, t, &costs, true, 1);
        for (int64_t a = 0; a < t->places; a++)
            for (int64_t b = 0; b < t->places; b++) {
                int64_t route[SIM_ROUTE_MAX], hops = sim_network_route(&network, a, b, route);
                int64_t planned = sagoi_topology_distance(t, a, b);
                bool led = t->kind == SAGOI_DRAGONFLY && !t->direct && hops < planned && hops >= planned - 2;
                if (hops != planned && !led)
                    fail_msg("kind %zu, %lld to %lld: %lld hops, the planner has %lld", k, (long long)a,
                             (long long)b, (long long)hops, (long long)planned);
            }
        sim_network_cleanup(&network);
    }
}

/* ---- Placement by the load on routes (C3), carried out ---- */

/* Seconds of the exchange of a plan of one round, in which each domain has its part of every node's bytes. */
static double exchange_of(const situation *s, const sagoi_plan *plan) {
    make_load(s->machine.nodes, plan->ndomains, 1);
    for (int64_t d = 0; d < plan->ndomains; d++) {
        load.host[d] = plan->domains[d].node;
        for (int64_t n = 0; n < s->machine.nodes; n++)
            flow(0, n, d, (double)s->access[n].bytes / (double)plan->ndomains);
    }
    double seconds = replay(0).seconds;
    sim_load_cleanup(&load);
    return seconds;
}

static double cost_of(const situation *s, const sagoi_plan *plan) {
    sagoi_cost cost;
    assert_int_equal(sagoi_plan_cost(plan, &s->machine, &s->shape, &cost), SAGO_OK);
    return cost.gather + cost.store;
}

/* Four sets of four nodes; those of the first have a little more, so C1 + C2 is least there for each of four
 * domains. */
static void plan_four_domains(const sagoi_topology *network, situation *s, sagoi_plan *plan) {
    situation_init(s, 16, 4, 256 * MIB, 64);
    topology = *network;
    for (int64_t i = 0; i < topology.dimensions; i++)
        topology.level[i] = (sagoi_level){.latency = 1e-6, .bandwidth = i == 0 ? 10 * GB : GB};
    topology.inside = topology.io = (sagoi_level){.latency = 1e-7, .bandwidth = 10 * GB};
    assert_int_equal(sagoi_topology_complete(&topology), SAGO_OK);
    for (int64_t n = 0; n < 16; n++)
        s->access[n].bytes = n < 4 ? 19 * MIB : 15 * MIB;
    s->machine.topology = &topology;
    s->hints.aggregators = 4;
    assert_int_equal(sagoi_plan_make(&s->machine, &s->shape, &s->target, &s->hints, plan), SAGO_OK);
    assert_int_equal(plan->ndomains, 4);
}

/* All four in the first set would share the links into it: the planner has some elsewhere, which costs more by
 * C1 + C2, and takes less time. */
static void domains_that_share_no_link_are_faster(void **state) {
    static const sagoi_topology networks[] = {
        {.kind = SAGOI_DRAGONFLY, .dimensions = 4, .extent = {4, 1, 1, 4}},
        {.kind = SAGOI_TORUS, .dimensions = 2, .extent = {4, 4}},
        {.kind = SAGOI_FAT_TREE, .dimensions = 2, .extent = {4, 4}, .links = {[1] = 1}},
        {.kind = SAGOI_FAT_TREE, .dimensions = 2, .extent = {4, 4}, .links = {[1] = 2}},
        {.kind = SAGOI_FAT_TREE, .dimensions = 3, .extent = {4, 2, 2}, .links = {[2] = 1}},
    };
    for (size_t k = 0; k < sizeof networks / sizeof *networks; k++) {
        situation s;
        sagoi_plan plan;
        plan_four_domains(&networks[k], &s, &plan);
        double apart = exchange_of(&s, &plan), apart_cost = cost_of(&s, &plan);
        for (int64_t d = 0; d < 4; d++)
            plan.domains[d].node = d;
        double together = exchange_of(&s, &plan), together_cost = cost_of(&s, &plan);
        printf("network %zu: one domain a set %.4g s (C1 + C2 %.4g), all in one %.4g s (%.4g)\n", k, apart,
               apart_cost, together, together_cost);
        assert_true(together_cost < apart_cost);
        assert_true(apart < 0.9 * together);
        sagoi_plan_cleanup(&plan);
    }
}

/* Where a tree has a link up for each node below, nobody shares one: the planner leaves the domains where C1 + C2
 * is least, and elsewhere they would take as long. */
static void domains_in_a_full_tree_stay_together(void **state) {
    static const sagoi_topology trees[] = {
        {.kind = SAGOI_FAT_TREE, .dimensions = 2, .extent = {4, 4}},
        {.kind = SAGOI_FAT_TREE, .dimensions = 3, .extent = {4, 2, 2}},
        {.kind = SAGOI_FAT_TREE, .dimensions = 2, .extent = {4, 4}, .links = {[1] = 5}},
    };
    for (size_t k = 0; k < sizeof trees / sizeof *trees; k++) {
        situation s;
        sagoi_plan plan;
        plan_four_domains(&trees[k], &s, &plan);
        for (int64_t d = 0; d < 4; d++)
            assert_true(plan.domains[d].node < 4);
        double together = exchange_of(&s, &plan);
        for (int64_t d = 0; d < 4; d++)
            plan.domains[d].node = 4 * d;
        double apart = exchange_of(&s, &plan);
        printf("tree %zu: together %.4g s, apart %.4g s\n", k, together, apart);
        assert_true(together < 1.05 * apart);
        sagoi_plan_cleanup(&plan);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
/* With either way of replaying. */
#define BOTH(name)                                                                                                \
    TEST(name), { #name " by links", name, set_up, tear_down, &model }

int main(void) {
    const struct CMUnitTest tests[] = {
        BOTH(a_flow_takes_bytes_over_bandwidth_and_latency),
        BOTH(two_flows_into_one_node_halve),
        BOTH(flows_over_other_links_do_not_meet),
        BOTH(one_receive_at_a_time_costs_latency_each),
        BOTH(work_at_both_ends_counts),
        BOTH(a_store_overlaps_with_the_next_exchange),
        BOTH(without_a_second_window_it_does_not),
        BOTH(rounds_that_repeat_are_extrapolated),
        BOTH(writers_share_a_target),
        BOTH(requests_keep_a_target_busy),
        BOTH(targets_store_their_parts_side_by_side),
        BOTH(many_stripes_are_on_all_targets),
        BOTH(one_writer_is_no_faster_than_its_client),
        BOTH(reads_go_the_other_way),
        BOTH(reads_in_step_wait_for_the_slowest),
        TEST(bytes_stored_are_bytes_written),
        TEST(aggregators_go_to_bridges_first),
        TEST(lists_are_merged_as_the_formulas_say),
        TEST(local_aggregators_join_runs),
        TEST(runs_that_a_hole_follows_are_counted),
        TEST(nodes_wait_for_cores_that_they_share),
        TEST(a_client_writes_one_piece_at_a_time),
        TEST(a_bucket_lets_the_first_bytes_pass),
        TEST(routes_are_as_long_as_the_planner_thinks),
        BOTH(domains_that_share_no_link_are_faster),
        BOTH(domains_in_a_full_tree_stay_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
