/* Topologies against breadth-first search on the explicit graph of nodes, switches and links. */
#include <math.h>
#include <stdlib.h>

#include "gateway_targets.h"
#include "random_topology.h"
#include "support/unit.h"

enum { VERTICES_MAX = 8192, EDGES_MAX = 1 << 18, MACHINES = 400 };

typedef struct edge {
    int64_t to, level, next;
} edge;

static struct {
    int64_t vertices, edges;
    int64_t head[VERTICES_MAX]; /* first edge, -1: none */
    edge edge[EDGES_MAX];
    /* of the last search: */
    int64_t hops[VERTICES_MAX];
    double latency[VERTICES_MAX], bandwidth[VERTICES_MAX];
} graph;

static int64_t vertex_add(void) {
    assert_true(graph.vertices < VERTICES_MAX);
    graph.head[graph.vertices] = -1;
    return graph.vertices++;
}

static void half_edge_add(int64_t from, int64_t to, int64_t level) {
    assert_true(graph.edges < EDGES_MAX);
    graph.edge[graph.edges] = (edge){to, level, graph.head[from]};
    graph.head[from] = graph.edges++;
}

static void edge_add(int64_t a, int64_t b, int64_t level) {
    half_edge_add(a, b, level);
    half_edge_add(b, a, level);
}

/* ---- The graph of each kind, from its definition in the header ---- */

static void build_flat(const sagoi_topology *t) {
    for (int64_t a = 0; a < t->places; a++)
        for (int64_t b = 0; b < a; b++)
            edge_add(a, b, 0);
}

static void build_tree(const sagoi_topology *t) {
    int64_t below = 0, count = t->places; /* the vertices of the level below begin at `below` */
    for (int64_t k = 0; k < t->levels; k++) {
        int64_t children = t->extent[t->dimensions - 1 - k], above = graph.vertices;
        for (int64_t i = 0; i < count / children; i++)
            (void)vertex_add();
        for (int64_t i = 0; i < count; i++)
            edge_add(below + i, above + i / children, k);
        below = above;
        count /= children;
    }
}

static void build_torus(const sagoi_topology *t) {
    int64_t x[SAGOI_DIMENSIONS_MAX];
    for (int64_t a = 0; a < t->places; a++)
        for (int64_t k = 0; k < t->dimensions; k++) {
            sagoi_topology_coordinates(t, a, x);
            x[k] = (x[k] + 1) % t->extent[k];
            int64_t b = sagoi_topology_place(t, x);
            if (a != b)
                edge_add(a, b, k);
        }
}

static void join_routers(const sagoi_topology *t, int64_t r, int64_t s, int64_t base) {
    int64_t rows = t->extent[1], columns = t->extent[2], routers = rows * columns;
    int64_t group_r = r / routers, row_r = r / columns % rows, column_r = r % columns;
    int64_t group_s = s / routers, row_s = s / columns % rows, column_s = s % columns;
    if (group_r == group_s && row_r == row_s)
        edge_add(base + r, base + s, 1);
    else if (group_r == group_s && column_r == column_s)
        edge_add(base + r, base + s, 2);
    else if (group_r != group_s && row_r == row_s && column_r == column_s && t->direct)
        edge_add(base + r, base + s, 3);
}

/* Without direct links a group has a place of exchange: one link of level 1 from every router, unless there is but
 * one router. */
static void build_exchanges(const sagoi_topology *t, int64_t base) {
    int64_t groups = t->extent[0], routers = t->extent[2], exchange[64];
    for (int64_t g = 0; g < groups; g++) {
        exchange[g] = routers > 1 ? vertex_add() : base + g;
        for (int64_t r = 0; routers > 1 && r < routers; r++)
            edge_add(exchange[g], base + g * routers + r, 1);
        for (int64_t h = 0; h < g; h++)
            edge_add(exchange[g], exchange[h], 3);
    }
}

static void build_dragonfly(const sagoi_topology *t) {
    int64_t base = graph.vertices, routers = t->places / t->extent[3];
    for (int64_t r = 0; r < routers; r++) {
        (void)vertex_add();
        for (int64_t s = 0; s < r; s++)
            join_routers(t, r, s, base);
    }
    for (int64_t a = 0; a < t->places; a++)
        edge_add(a, base + a / t->extent[3], 0);
    if (!t->direct)
        build_exchanges(t, base);
}

static void graph_build(const sagoi_topology *t) {
    graph.vertices = graph.edges = 0;
    for (int64_t a = 0; a < t->places; a++)
        (void)vertex_add();
    switch (t->kind) {
    case SAGOI_FLAT:
        build_flat(t);
        break;
    case SAGOI_FAT_TREE:
        build_tree(t);
        break;
    case SAGOI_TORUS:
        build_torus(t);
        break;
    case SAGOI_DRAGONFLY:
        build_dragonfly(t);
        break;
    }
}

static void graph_search(const sagoi_topology *t, int64_t from) {
    static int64_t queue[VERTICES_MAX];
    for (int64_t v = 0; v < graph.vertices; v++)
        graph.hops[v] = -1;
    graph.hops[from] = 0;
    graph.latency[from] = 0;
    graph.bandwidth[from] = INFINITY;
    int64_t head = 0, tail = 0;
    queue[tail++] = from;
    while (head < tail) {
        int64_t v = queue[head++];
        for (int64_t e = graph.head[v]; e >= 0; e = graph.edge[e].next) {
            int64_t to = graph.edge[e].to;
            if (graph.hops[to] >= 0)
                continue;
            const sagoi_level *level = &t->level[graph.edge[e].level];
            graph.hops[to] = graph.hops[v] + 1;
            graph.latency[to] = graph.latency[v] + level->latency;
            graph.bandwidth[to] = fmin(graph.bandwidth[v], level->bandwidth);
            queue[tail++] = to;
        }
    }
}

/* ---- Tests ---- */

static void assert_near(double a, double b) { assert_true(fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b))); }

static void compare_from(const sagoi_topology *t, int64_t a) {
    graph_search(t, a);
    for (int64_t b = 0; b < t->places; b++) {
        assert_int_equal(sagoi_topology_distance(t, a, b), graph.hops[b]);
        assert_near(sagoi_topology_latency(t, a, b), graph.latency[b]);
        double least = fmin(graph.bandwidth[b], fmin(sagoi_topology_link(t, a), sagoi_topology_link(t, b)));
        assert_true(sagoi_topology_bandwidth(t, a, b) == (a == b ? t->inside.bandwidth : least));
    }
}

static void test_distances(void **state) {
    for (int i = 0; i < MACHINES; i++) {
        sagoi_topology t = random_topology();
        assert_true(t.places > 0);
        graph_build(&t);
        for (int j = 0; j < 12; j++)
            compare_from(&t, random_below(t.places));
    }
}

static void test_coordinates(void **state) {
    for (int i = 0; i < MACHINES; i++) {
        sagoi_topology t = random_topology();
        int64_t x[SAGOI_DIMENSIONS_MAX];
        for (int64_t a = 0; a < t.places; a++) {
            sagoi_topology_coordinates(&t, a, x);
            for (int64_t k = 0; k < t.dimensions; k++)
                assert_true(x[k] >= 0 && x[k] < t.extent[k]);
            assert_int_equal(sagoi_topology_place(&t, x), a);
        }
    }
}

/* The nearest gateway by looking at each. */
static int64_t nearest_naive(const sagoi_topology *t, int64_t place) {
    int64_t nearest = -1, least = INT64_MAX;
    for (int64_t g = 0; g < sagoi_topology_gateways(t); g++) {
        if (sagoi_topology_gateway_place(t, g) < 0 || !sagoi_topology_gateway_serves(t, g, place))
            continue;
        int64_t distance = sagoi_topology_distance(t, place, sagoi_topology_gateway_place(t, g));
        if (distance < least) {
            least = distance;
            nearest = g;
        }
    }
    return nearest;
}

static double store_cost_naive(const sagoi_topology *t, int64_t place, double bytes) {
    int64_t gateway = nearest_naive(t, place);
    if (gateway < 0)
        return 0;
    int64_t at = sagoi_topology_gateway_place(t, gateway);
    double path = at == place ? INFINITY : sagoi_topology_bandwidth(t, place, at);
    return sagoi_topology_latency(t, place, at) + t->io.latency + bytes / fmin(path, t->io.bandwidth);
}

static void test_gateways(void **state) {
    for (int i = 0; i < MACHINES; i++) {
        sagoi_topology t = random_topology();
        for (int64_t a = 0; a < t.places; a++) {
            assert_int_equal(sagoi_topology_gateway_nearest(&t, a), nearest_naive(&t, a));
            assert_near(sagoi_topology_store_cost(&t, a, 1e7), store_cost_naive(&t, a, 1e7));
        }
        for (int64_t g = 0; g < sagoi_topology_gateways(&t); g++) {
            int64_t at = sagoi_topology_gateway_place(&t, g);
            assert_true(at < 0 || sagoi_topology_gateway_serves(&t, g, at));
        }
    }
}

/* The nearest of those that lead to the target, or of all where none does, by looking at each. */
static double target_cost_naive(const sagoi_topology *t, int64_t place, int64_t target, double bytes) {
    double least = -1, any = -1;
    int64_t nearest = INT64_MAX, nearest_any = INT64_MAX;
    for (int64_t g = 0; g < sagoi_topology_gateways(t); g++) {
        int64_t at = sagoi_topology_gateway_place(t, g);
        if (at < 0 || !sagoi_topology_gateway_serves(t, g, place))
            continue;
        int64_t hops = sagoi_topology_distance(t, place, at);
        double rate = t->io.bandwidth;
        if (at != place && sagoi_topology_bandwidth(t, place, at) < rate)
            rate = sagoi_topology_bandwidth(t, place, at);
        double cost = sagoi_topology_latency(t, place, at) + t->io.latency + bytes / rate;
        if (hops < nearest_any) {
            nearest_any = hops;
            any = cost;
        }
        if (gateway_leads(t, g, target) && hops < nearest) {
            nearest = hops;
            least = cost;
        }
    }
    return least >= 0 ? least : any >= 0 ? any : 0;
}

static void test_targets(void **state) {
    sagoi_topology t;
    sagoi_topology_flat(&t, 20);
    t.gateway_rules = 2;
    t.gateway_rule[0] = (sagoi_gateway_rule){.first = 0, .every = 1, .count = 6, .targets = 3};
    t.gateway_rule[1] = (sagoi_gateway_rule){.first = 10, .every = 1, .count = 2, .targets = 4, .from = 3};
    assert_int_equal(sagoi_topology_complete(&t), SAGO_OK);
    assert_true(sagoi_topology_maps_targets(&t));
    static const int64_t first[] = {0, 2, 4, 6, 6, 7, 7, 8}, count[] = {2, 2, 2, 1, 1, 1, 1, 0};
    for (int64_t target = 0; target < 8; target++)
        for (int64_t g = 0; g < 8; g++)
            assert_int_equal(gateway_leads(&t, g, target),
                             g >= first[target] && g < first[target] + count[target]);
    int64_t mapped = 0;
    for (int i = 0; i < 300; i++) {
        t = random_topology();
        mapped += sagoi_topology_maps_targets(&t);
        for (int64_t place = 0; place < t.places; place++) {
            int64_t target = random_below(30);
            assert_true(fabs(sagoi_topology_target_cost(&t, place, target, 1e6) -
                             target_cost_naive(&t, place, target, 1e6)) < 1e-12);
        }
    }
    assert_true(mapped > 50);
}

/* Where nobody knows the gateways' places there is no cost, as paper 000 has it for Theta. */
static void test_unknown_gateways(void **state) {
    sagoi_topology t;
    sagoi_topology_flat(&t, 10);
    t.gateway_rules = 1;
    t.gateway_rule[0] = (sagoi_gateway_rule){.first = -1, .count = 7};
    assert_int_equal(sagoi_topology_complete(&t), SAGO_OK);
    assert_int_equal(sagoi_topology_gateways(&t), 7);
    assert_int_equal(sagoi_topology_gateway_nearest(&t, 3), -1);
    assert_true(sagoi_topology_store_cost(&t, 3, 1e9) == 0);
}

static void assert_refused(const sagoi_topology *wrong) {
    sagoi_topology t = *wrong;
    assert_int_equal(sagoi_topology_complete(&t), SAGO_ERR_ARG);
    assert_true(sagoi_message()[0] != '\0');
}

static void test_refusals(void **state) {
    sagoi_topology good, t;
    sagoi_topology_flat(&good, 10);
    t = good, t.extent[0] = 0, assert_refused(&t);
    t = good, t.extent[0] = INT64_MAX, assert_refused(&t);
    t = good, t.dimensions = 2, assert_refused(&t);
    t = good, t.dimensions = 0, assert_refused(&t);
    t = good, t.level[0].bandwidth = 0, assert_refused(&t);
    t = good, t.level[0].latency = -1, assert_refused(&t);
    t = good, t.io.bandwidth = NAN, assert_refused(&t);
    t = good, t.inside.latency = INFINITY, assert_refused(&t);
    t = good, t.kind = SAGOI_DRAGONFLY, assert_refused(&t);
    t = good, t.gateway_rules = 1, t.gateway_rule[0] = (sagoi_gateway_rule){.first = 10, .every = 0, .count = 1},
    assert_refused(&t);
    t = good, t.gateway_rules = 1,
    t.gateway_rule[0] = (sagoi_gateway_rule){.first = 0, .every = INT64_MAX, .count = 3}, assert_refused(&t);
    t = good, t.gateway_rules = 1, t.gateway_rule[0] = (sagoi_gateway_rule){.first = 0, .every = 1, .count = 0},
    assert_refused(&t);
    t = good, t.gateway_rules = 99, assert_refused(&t);
    t = good, t.gateway_rules = 1, t.gateway_rule[0] = (sagoi_gateway_rule){.count = 4, .targets = 3};
    assert_refused(&t);
    t = good, t.gateway_rules = 1, t.gateway_rule[0] = (sagoi_gateway_rule){.count = 4, .from = 3};
    assert_refused(&t);
    t = good, t.link_rules = 1, t.link_rule[0] = (sagoi_link_rule){9, 2, 1e9}, assert_refused(&t);
    t = good, t.link_rules = 1, t.link_rule[0] = (sagoi_link_rule){9, 1, 0}, assert_refused(&t);
    sagoi_topology grouped = {.kind = SAGOI_DRAGONFLY, .dimensions = 4, .extent = {2, 2, 2, 2}};
    for (int k = 0; k < 4; k++)
        grouped.level[k] = good.level[0];
    grouped.inside = good.inside, grouped.io = good.io;
    assert_refused(&grouped);
    grouped.direct = true;
    assert_int_equal(sagoi_topology_complete(&grouped), SAGO_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_distances), cmocka_unit_test(test_coordinates),
        cmocka_unit_test(test_gateways),  cmocka_unit_test(test_unknown_gateways),
        cmocka_unit_test(test_targets),   cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
