/* Who writes a checkpoint: the numbers that hints and the model give, groups that cover all ranks, and writers
 * placed as a naive search over all pairs of nodes places them. */
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "plan/writers.h"
#include "support/unit.h"

enum { NODES = 512 };

static sagoi_node node[NODES];
static sagoi_topology topology;

/* A torus with a gateway at every 64th place, like the machine of paper 002. */
static sagoi_machine torus(int64_t nodes, int64_t ranks) {
    topology = (sagoi_topology){.kind = SAGOI_TORUS,
                                .dimensions = 3,
                                .extent = {8, 8, 8},
                                .inside = {1e-6, 3e9},
                                .io = {5e-6, 8.5e8},
                                .gateway_rules = 1,
                                .gateway_rule = {{.first = 0, .every = 64, .count = 8, .serves = 64}}};
    for (int k = 0; k < 3; k++)
        topology.level[k] = (sagoi_level){1e-7, 4.25e8};
    if (sagoi_topology_complete(&topology))
        fail_msg("%s", sagoi_message());
    for (int64_t i = 0; i < nodes; i++)
        node[i] = (sagoi_node){.ranks = ranks, .cores = 4, .place = i};
    return (sagoi_machine){.nodes = nodes, .node = node, .topology = &topology};
}

static sagoi_writers plan_of(const sagoi_machine *machine, const sagoi_writers_wish *wish) {
    sagoi_writers writers;
    if (sagoi_writers_plan(machine, wish, &writers))
        fail_msg("%s", sagoi_message());
    return writers;
}

/* Every node is in a group whose writer is on one of its nodes, and groups are numbered in the order of the nodes.
 */
static void check_groups(const sagoi_machine *machine, const sagoi_writers *writers) {
    int64_t groups = 0;
    for (int64_t i = 0; i < machine->nodes; i++) {
        int64_t here = sagoi_writers_groups(writers, machine, i);
        assert_in_range(here, 1, machine->node[i].ranks);
        if (!writers->spans)
            assert_int_equal(writers->first[i], groups);
        else
            assert_in_range(writers->first[i], groups - (groups > 0), groups);
        groups = writers->first[i] + here;
        for (int64_t w = writers->first[i]; !writers->spans && w < groups; w++)
            assert_int_equal(writers->host[w], i);
    }
    assert_int_equal(groups, writers->count);
    for (int64_t w = 0; w < writers->count; w++)
        assert_true(!writers->spans || writers->first[writers->host[w]] == w);
}

/* The paper's 64 to 1 with 4 ranks a node: groups of 16 nodes. */
static void sixty_four_to_one(void **state) {
    sagoi_machine machine = torus(512, 4);
    sagoi_writers writers = plan_of(&machine, &(sagoi_writers_wish){.group = 64});
    assert_int_equal(writers.count, 32);
    assert_int_equal(writers.files, 32);
    assert_true(writers.spans);
    for (int64_t i = 0; i < 512; i++)
        assert_int_equal(writers.first[i], i / 16);
    check_groups(&machine, &writers);
    sagoi_writers_cleanup(&writers);
    writers = plan_of(&machine, &(sagoi_writers_wish){.group = 64, .files = 1});
    assert_int_equal(writers.count, 32);
    assert_int_equal(writers.files, 1);
    sagoi_writers_cleanup(&writers);
}

/* Where data must stay on its node, or sets want the same writers everywhere, no group spans nodes. */
static void stays(void **state) {
    sagoi_machine machine = torus(64, 4);
    sagoi_writers writers = plan_of(&machine, &(sagoi_writers_wish){.group = 64, .stays = true});
    assert_int_equal(writers.count, 64);
    assert_false(writers.spans);
    sagoi_writers_cleanup(&writers);
    node[7].ranks = 2;
    writers = plan_of(&machine, &(sagoi_writers_wish){.group = 1, .even = true});
    assert_int_equal(writers.count, 128); /* 254 ranks on 64 nodes: 3 a node, but one node has 2 ranks only */
    sagoi_writers_cleanup(&writers);
}

static double naive_cost(const sagoi_machine *machine, const sagoi_writers *writers, int64_t w, int64_t host) {
    double cost = 0, all = 0;
    for (int64_t i = 0; i < machine->nodes; i++) {
        if (writers->first[i] != w)
            continue;
        double bytes = (double)machine->node[i].ranks * (64 << 20);
        int64_t from = machine->node[i].place, to = machine->node[host].place;
        all += bytes;
        if (i != host)
            cost += sagoi_topology_latency(&topology, from, to) +
                    bytes / sagoi_topology_bandwidth(&topology, from, to);
    }
    return cost + sagoi_topology_store_cost(&topology, machine->node[host].place, all);
}

static void placed_by_cost(void **state) {
    for (unsigned seed = 1; seed <= 20; seed++) {
        srand(seed);
        sagoi_machine machine = torus(100, 4);
        topology.link_rules = 1;
        topology.link_rule[0] = (sagoi_link_rule){.first = rand() % 90, .count = 5, .bandwidth = 1e7};
        for (int64_t i = 0, place = 0; i < 100; i++, place += 1 + rand() % 4)
            node[i] = (sagoi_node){.ranks = 1 + rand() % 8, .cores = 4, .place = place};
        sagoi_writers writers = plan_of(&machine, &(sagoi_writers_wish){.group = 8 + rand() % 100});
        check_groups(&machine, &writers);
        for (int64_t w = 0; writers.spans && w < writers.count; w++) {
            double chosen = naive_cost(&machine, &writers, w, writers.host[w]);
            for (int64_t i = 0; i < 100; i++)
                if (writers.first[i] == w)
                    assert_true(chosen <= naive_cost(&machine, &writers, w, i) * (1 + 1e-9));
        }
        sagoi_writers_cleanup(&writers);
    }
}

/* What the model finds is as good as any number of the same kind, or one a node. */
static void chosen_by_model(void **state) {
    sagoi_machine machine = torus(512, 4);
    sagoi_writers writers = plan_of(&machine, &(sagoi_writers_wish){0});
    assert_int_equal(writers.count, 512); /* the gateways are the limit, names cost little */
    sagoi_writers_cleanup(&writers);
    topology.io.latency = 1e-2; /* calls on the directory are slow: fewer writers than nodes */
    writers = plan_of(&machine, &(sagoi_writers_wish){0});
    assert_true(writers.spans);
    for (int64_t count = 1; count <= 512; count *= 2)
        assert_true(sagoi_writers_cost(&machine, writers.count) <= sagoi_writers_cost(&machine, count));
    check_groups(&machine, &writers);
    sagoi_writers_cleanup(&writers);
    writers = plan_of(&machine, &(sagoi_writers_wish){.stays = true});
    assert_int_equal(writers.count, 512);
    sagoi_writers_cleanup(&writers);
    topology.io = (sagoi_level){1e-6, 1e12}; /* fast storage, slow processes: several writers a node */
    topology.writer = 1e7;
    writers = plan_of(&machine, &(sagoi_writers_wish){0});
    assert_int_equal(writers.count, 2048);
    sagoi_writers_cleanup(&writers);
}

static void unknown_machine(void **state) {
    sagoi_machine machine = torus(10, 3);
    machine.topology = NULL;
    sagoi_writers writers = plan_of(&machine, &(sagoi_writers_wish){0});
    assert_int_equal(writers.count, 10);
    sagoi_writers_cleanup(&writers);
    writers = plan_of(&machine, &(sagoi_writers_wish){.files = 4});
    assert_int_equal(writers.count, 10); /* several write to one file */
    assert_int_equal(writers.files, 4);
    sagoi_writers_cleanup(&writers);
    writers = plan_of(&machine, &(sagoi_writers_wish){.files = 14});
    assert_int_equal(writers.count, 14);
    check_groups(&machine, &writers);
    sagoi_writers_cleanup(&writers);
    writers = plan_of(&machine, &(sagoi_writers_wish){.group = 30});
    assert_int_equal(writers.count, 1);
    assert_int_equal(writers.host[0], 0);
    check_groups(&machine, &writers);
    sagoi_writers_cleanup(&writers);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sixty_four_to_one), cmocka_unit_test(stays),           cmocka_unit_test(placed_by_cost),
        cmocka_unit_test(chosen_by_model),   cmocka_unit_test(unknown_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
