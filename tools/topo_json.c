/* A machine as JSON. */
#include "base/json.h"
#include "tools/topo.h"

static void put_level(sagoi_json *json, const char *name, const sagoi_level *level, int64_t links) {
    sagoi_json_open(json, NULL, '{');
    sagoi_json_text(json, "name", name);
    sagoi_json_real(json, "latency", level->latency);
    sagoi_json_real(json, "bandwidth", level->bandwidth);
    if (links > 0)
        sagoi_json_int(json, "links", links);
    sagoi_json_close(json, '}');
}

static void put_network(sagoi_json *json, const sagoi_topology *t) {
    bool tree = t->kind == SAGOI_FAT_TREE;
    char number[24];
    sagoi_json_open(json, "network", '{');
    sagoi_json_text(json, "kind", sagoi_topology_kind_name(t->kind));
    sagoi_json_open(json, "extent", '[');
    for (int64_t i = 0; i < t->dimensions; i++)
        sagoi_json_int(json, NULL, t->extent[i]);
    sagoi_json_close(json, ']');
    if (t->kind == SAGOI_DRAGONFLY)
        sagoi_json_bool(json, "direct", t->direct);
    sagoi_json_int(json, "places", t->places);
    sagoi_json_open(json, "levels", '[');
    for (int64_t k = 0; k < t->levels; k++)
        put_level(json, sagoi_level_name(t, k, number), &t->level[k],
                  k > 0 && tree ? sagoi_topology_uplinks(t, k) : 0);
    put_level(json, "inside", &t->inside, 0);
    put_level(json, "io", &t->io, 0);
    sagoi_json_close(json, ']');
    if (t->numa > 0)
        sagoi_json_int(json, "numa", t->numa);
    sagoi_json_open(json, "gateways", '[');
    for (int64_t i = 0; i < t->gateway_rules; i++) {
        sagoi_json_open(json, NULL, '{');
        sagoi_json_int(json, "first", t->gateway_rule[i].first);
        sagoi_json_int(json, "every", t->gateway_rule[i].every);
        sagoi_json_int(json, "count", t->gateway_rule[i].count);
        sagoi_json_int(json, "serves", t->gateway_rule[i].serves);
        if (t->gateway_rule[i].targets > 0) {
            sagoi_json_int(json, "targets", t->gateway_rule[i].targets);
            sagoi_json_int(json, "from", t->gateway_rule[i].from);
        }
        sagoi_json_close(json, '}');
    }
    sagoi_json_close(json, ']');
    sagoi_json_open(json, "links", '[');
    for (int64_t i = 0; i < t->link_rules; i++) {
        sagoi_json_open(json, NULL, '{');
        sagoi_json_int(json, "first", t->link_rule[i].first);
        sagoi_json_int(json, "count", t->link_rule[i].count);
        sagoi_json_real(json, "bandwidth", t->link_rule[i].bandwidth);
        sagoi_json_close(json, '}');
    }
    sagoi_json_close(json, ']');
    sagoi_json_close(json, '}');
}

static void put_nodes(sagoi_json *json, const topo_view *view) {
    sagoi_json_int(json, "nodes", view->nodes);
    if (view->described) {
        sagoi_json_int(json, "ranks_per_node", view->described->ranks_per_node);
        sagoi_json_int(json, "cores", view->described->cores);
        sagoi_json_int(json, "memory", view->described->memory);
    }
    sagoi_json_open(json, "node", '[');
    for (int64_t n = 0; view->node && n < view->nodes; n++) {
        const topo_node *node = &view->node[n];
        sagoi_json_open(json, NULL, '{');
        sagoi_json_text(json, "host", node->host);
        sagoi_json_int(json, "place", node->place);
        sagoi_json_int(json, "ranks", node->ranks);
        sagoi_json_int(json, "cores", node->inside.cores);
        sagoi_json_int(json, "packages", node->inside.packages);
        sagoi_json_int(json, "numa", node->inside.numa);
        sagoi_json_open(json, "nics", '[');
        for (int64_t i = 0; i < node->inside.nics && i < SAGOI_NICS_NAMED; i++) {
            sagoi_json_open(json, NULL, '{');
            sagoi_json_text(json, "name", node->inside.nic[i].name);
            sagoi_json_int(json, "numa", node->inside.nic[i].numa);
            sagoi_json_close(json, '}');
        }
        sagoi_json_close(json, ']');
        sagoi_json_int(json, "memory_available", node->memory);
        sagoi_json_close(json, '}');
    }
    sagoi_json_close(json, ']');
}

static void put_storage(sagoi_json *json, const topo_view *view) {
    static const char *const sharing[] = {
        [SAGOI_SHARED_NODE] = "node", [SAGOI_SHARED_RACK] = "rack", [SAGOI_SHARED_ALL] = "all"};
    sagoi_json_open(json, "tiers", '[');
    for (int64_t i = 0; view->described && i < view->described->tiers; i++) {
        const sagoi_tier *tier = &view->described->tier[i];
        sagoi_json_open(json, NULL, '{');
        sagoi_json_text(json, "name", tier->name);
        sagoi_json_text(json, "path", tier->path);
        sagoi_json_text(json, "shared", sharing[tier->sharing]);
        sagoi_json_int(json, "block", tier->rack);
        sagoi_json_int(json, "capacity", tier->capacity);
        sagoi_json_real(json, "bandwidth", tier->bandwidth);
        sagoi_json_int(json, "targets", tier->targets);
        sagoi_json_int(json, "locks", tier->locks);
        sagoi_json_close(json, '}');
    }
    sagoi_json_close(json, ']');
    sagoi_json_open(json, "directories", '[');
    for (int64_t i = 0; i < view->dirs; i++) {
        const topo_dir *dir = &view->dir[i];
        sagoi_json_open(json, NULL, '{');
        sagoi_json_text(json, "path", dir->path);
        sagoi_json_text(json, "problem", dir->problem[0] ? dir->problem : NULL);
        sagoi_json_int(json, "shares", dir->shares);
        sagoi_json_int(json, "file_operations", dir->operations);
        sagoi_json_bool(json, "divided_nodes", dir->divided);
        sagoi_json_open(json, "share_of_node", '[');
        for (int64_t n = 0; !dir->problem[0] && n < view->nodes; n++)
            sagoi_json_int(json, NULL, dir->share[n]);
        sagoi_json_close(json, ']');
        sagoi_json_close(json, '}');
    }
    sagoi_json_close(json, ']');
}

void topo_print_json(const topo_view *view, FILE *out) {
    sagoi_json json = {.out = out, .lines = SAGOI_JSON_INDENTED};
    sagoi_json_open(&json, NULL, '{');
    sagoi_json_text(&json, "machine", view->name);
    sagoi_json_text(&json, "source", view->source);
    put_network(&json, view->topology);
    put_nodes(&json, view);
    sagoi_json_open(&json, "tuned", '{');
    sagoi_json_int(&json, "aggregators_per_node", view->tuned.aggregators_per_node);
    sagoi_json_int(&json, "domain_write", view->tuned.domain_write);
    sagoi_json_int(&json, "domain_read", view->tuned.domain_read);
    sagoi_json_int(&json, "group", view->tuned.group);
    sagoi_json_int(&json, "least_memory", view->tuned.least_memory);
    sagoi_json_close(&json, '}');
    put_storage(&json, view);
    sagoi_json_close(&json, '}');
}
