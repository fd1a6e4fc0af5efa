/* A machine as JSON. */
#include "bench/json.h"
#include "tools/topo.h"

static void put_level(bench_json *json, const char *name, const sagoi_level *level) {
    json_open(json, NULL, '{');
    json_text(json, "name", name);
    json_real(json, "latency", level->latency);
    json_real(json, "bandwidth", level->bandwidth);
    json_close(json, '}');
}

static void put_network(bench_json *json, const sagoi_topology *t) {
    char number[24];
    json_open(json, "network", '{');
    json_text(json, "kind", sagoi_topology_kind_name(t->kind));
    json_open(json, "extent", '[');
    for (int64_t i = 0; i < t->dimensions; i++)
        json_int(json, NULL, t->extent[i]);
    json_close(json, ']');
    if (t->kind == SAGOI_DRAGONFLY)
        json_bool(json, "direct", t->direct);
    json_int(json, "places", t->places);
    json_open(json, "levels", '[');
    for (int64_t k = 0; k < t->levels; k++)
        put_level(json, sagoi_level_name(t, k, number), &t->level[k]);
    put_level(json, "inside", &t->inside);
    put_level(json, "io", &t->io);
    json_close(json, ']');
    if (t->numa > 0)
        json_int(json, "numa", t->numa);
    json_open(json, "gateways", '[');
    for (int64_t i = 0; i < t->gateway_rules; i++) {
        json_open(json, NULL, '{');
        json_int(json, "first", t->gateway_rule[i].first);
        json_int(json, "every", t->gateway_rule[i].every);
        json_int(json, "count", t->gateway_rule[i].count);
        json_int(json, "serves", t->gateway_rule[i].serves);
        if (t->gateway_rule[i].targets > 0) {
            json_int(json, "targets", t->gateway_rule[i].targets);
            json_int(json, "from", t->gateway_rule[i].from);
        }
        json_close(json, '}');
    }
    json_close(json, ']');
    json_open(json, "links", '[');
    for (int64_t i = 0; i < t->link_rules; i++) {
        json_open(json, NULL, '{');
        json_int(json, "first", t->link_rule[i].first);
        json_int(json, "count", t->link_rule[i].count);
        json_real(json, "bandwidth", t->link_rule[i].bandwidth);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_close(json, '}');
}

static void put_nodes(bench_json *json, const topo_view *view) {
    json_int(json, "nodes", view->nodes);
    if (view->described) {
        json_int(json, "ranks_per_node", view->described->ranks_per_node);
        json_int(json, "cores", view->described->cores);
        json_int(json, "memory", view->described->memory);
    }
    json_open(json, "node", '[');
    for (int64_t n = 0; view->node && n < view->nodes; n++) {
        const topo_node *node = &view->node[n];
        json_open(json, NULL, '{');
        json_text(json, "host", node->host);
        json_int(json, "place", node->place);
        json_int(json, "ranks", node->ranks);
        json_int(json, "cores", node->inside.cores);
        json_int(json, "packages", node->inside.packages);
        json_int(json, "numa", node->inside.numa);
        json_open(json, "nics", '[');
        for (int64_t i = 0; i < node->inside.nics && i < SAGOI_NICS_NAMED; i++) {
            json_open(json, NULL, '{');
            json_text(json, "name", node->inside.nic[i].name);
            json_int(json, "numa", node->inside.nic[i].numa);
            json_close(json, '}');
        }
        json_close(json, ']');
        json_int(json, "memory_available", node->memory);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void put_storage(bench_json *json, const topo_view *view) {
    static const char *const sharing[] = {
        [SAGOI_SHARED_NODE] = "node", [SAGOI_SHARED_RACK] = "rack", [SAGOI_SHARED_ALL] = "all"};
    json_open(json, "tiers", '[');
    for (int64_t i = 0; view->described && i < view->described->tiers; i++) {
        const sagoi_tier *tier = &view->described->tier[i];
        json_open(json, NULL, '{');
        json_text(json, "name", tier->name);
        json_text(json, "path", tier->path);
        json_text(json, "shared", sharing[tier->sharing]);
        json_int(json, "block", tier->rack);
        json_int(json, "capacity", tier->capacity);
        json_real(json, "bandwidth", tier->bandwidth);
        json_int(json, "targets", tier->targets);
        json_int(json, "locks", tier->locks);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_open(json, "directories", '[');
    for (int64_t i = 0; i < view->dirs; i++) {
        const topo_dir *dir = &view->dir[i];
        json_open(json, NULL, '{');
        json_text(json, "path", dir->path);
        json_text(json, "problem", dir->problem[0] ? dir->problem : NULL);
        json_int(json, "shares", dir->shares);
        json_int(json, "file_operations", dir->operations);
        json_bool(json, "divided_nodes", dir->divided);
        json_open(json, "share_of_node", '[');
        for (int64_t n = 0; !dir->problem[0] && n < view->nodes; n++)
            json_int(json, NULL, dir->share[n]);
        json_close(json, ']');
        json_close(json, '}');
    }
    json_close(json, ']');
}

void topo_print_json(const topo_view *view, FILE *out) {
    bench_json json = {.out = out};
    json_open(&json, NULL, '{');
    json_text(&json, "machine", view->name);
    json_text(&json, "source", view->source);
    put_network(&json, view->topology);
    put_nodes(&json, view);
    json_open(&json, "tuned", '{');
    json_int(&json, "aggregators_per_node", view->tuned.aggregators_per_node);
    json_int(&json, "domain_write", view->tuned.domain_write);
    json_int(&json, "domain_read", view->tuned.domain_read);
    json_int(&json, "group", view->tuned.group);
    json_int(&json, "least_memory", view->tuned.least_memory);
    json_close(&json, '}');
    put_storage(&json, view);
    json_close(&json, '}');
}
