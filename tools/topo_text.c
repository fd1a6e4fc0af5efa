/* A machine in words. */
#include <stdarg.h>
#include <string.h>

#include "base/size_text.h"
#include "tools/topo.h"

enum { NODES_SHOWN = 64 };

static topo_text text(const char *format, ...) __attribute__((format(printf, 1, 2)));

static topo_text text(const char *format, ...) {
    topo_text made;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(made.text, sizeof made.text, format, arguments);
    va_end(arguments);
    return made;
}

static topo_text extents(const sagoi_topology *t, const char *between) {
    topo_text made = {""};
    size_t used = 0;
    for (int64_t i = 0; i < t->dimensions && used < sizeof made.text; i++)
        used += (size_t)snprintf(made.text + used, sizeof made.text - used, "%s%lld", i ? between : "",
                                 (long long)t->extent[i]);
    return made;
}

topo_text topo_network(const sagoi_topology *t) {
    const int64_t *e = t->extent;
    switch (t->kind) {
    case SAGOI_FLAT:
        return text("flat: every node one hop from every other");
    case SAGOI_FAT_TREE:
        return text("fat tree: %s (top to nodes)", extents(t, " x ").text);
    case SAGOI_TORUS:
        return text("%lld-D torus: %s", (long long)t->dimensions, extents(t, " x ").text);
    case SAGOI_DRAGONFLY:
        return text("dragonfly: %lld groups of %lld x %lld routers with %lld nodes each%s", (long long)e[0],
                    (long long)e[1], (long long)e[2], (long long)e[3],
                    t->direct ? ", direct links between groups" : "");
    }
    return text("unknown");
}

topo_text topo_level_meaning(const sagoi_topology *t, int64_t level) {
    static const char *const dragonfly[] = {"node to router", "routers of a row", "routers of a column",
                                            "between groups"};
    switch (t->kind) {
    case SAGOI_FLAT:
        return text("between nodes");
    case SAGOI_FAT_TREE:
        if (level == 0)
            return text("node to switch");
        return text("switch to switch, height %lld to %lld, %lld links a switch", (long long)level,
                    (long long)level + 1, (long long)sagoi_topology_uplinks(t, level));
    case SAGOI_TORUS:
        return text("along dimension %lld", (long long)level);
    case SAGOI_DRAGONFLY:
        return text("%s", dragonfly[level]);
    }
    return text("unknown");
}

topo_text topo_gateways(const sagoi_topology *t) {
    int64_t all = sagoi_topology_gateways(t), placed = 0, serves = 0, targets = 0;
    char leads[64] = "";
    for (int64_t i = 0; i < t->gateway_rules; i++) {
        placed += t->gateway_rule[i].first >= 0 ? t->gateway_rule[i].count : 0;
        serves = t->gateway_rule[i].serves;
        targets += t->gateway_rule[i].targets;
    }
    if (targets > 0)
        snprintf(leads, sizeof leads, ", which lead to %lld storage targets", (long long)targets);
    if (all == 0)
        return text("unknown");
    if (placed == 0)
        return text("%lld, at unknown places%s", (long long)all, leads);
    if (serves)
        return text("%lld, each for %lld places%s", (long long)all, (long long)serves, leads);
    return text("%lld, for all places%s", (long long)all, leads);
}

/* "2 3 0" */
static topo_text coordinates_of(const sagoi_topology *t, int64_t place) {
    int64_t coordinate[SAGOI_DIMENSIONS_MAX];
    sagoi_topology shown = *t;
    sagoi_topology_coordinates(t, place, coordinate);
    memcpy(shown.extent, coordinate, sizeof coordinate);
    return extents(&shown, " ");
}

topo_text topo_sharing(const topo_view *view, const topo_dir *dir) {
    if (dir->problem[0])
        return text("not known: %.120s", dir->problem);
    if (dir->divided)
        return text("%lld different ones, some within one node", (long long)dir->shares);
    if (dir->shares == 1)
        return text(view->nodes == 1 ? "the one node's" : "one, shared by all nodes");
    if (dir->shares == view->nodes)
        return text("each node has its own");
    return text("%lld different ones for %lld nodes", (long long)dir->shares, (long long)view->nodes);
}

topo_text topo_tier(const sagoi_tier *tier) {
    char who[64], more[64] = "", locks[64] = "";
    if (tier->sharing == SAGOI_SHARED_RACK)
        snprintf(who, sizeof who, "shared by %lld places each", (long long)tier->rack);
    else
        snprintf(who, sizeof who, "%s", tier->sharing == SAGOI_SHARED_NODE ? "one on each node" : "shared by all");
    if (tier->targets)
        snprintf(more, sizeof more, ", %lld targets", (long long)tier->targets);
    if (tier->locks)
        snprintf(locks, sizeof locks, ", locks of %.48s", sagoi_size_to_text(tier->locks).text);
    return text("%s%s%s%s%s%s%s", who, tier->capacity ? ", " : "",
                tier->capacity ? sagoi_size_to_text(tier->capacity).text : "", tier->bandwidth > 0 ? ", " : "",
                tier->bandwidth > 0 ? sagoi_show_rate(tier->bandwidth).text : "", more, locks);
}

/* ---- Text ---- */

static void print_level(const char *name, const sagoi_level *level, const char *meaning, FILE *out) {
    fprintf(out, "    %-10s %10s a hop %14s   %s\n", name, sagoi_show_time(level->latency).text,
            sagoi_show_rate(level->bandwidth).text, meaning);
}

static void print_network(const topo_view *view, FILE *out) {
    const sagoi_topology *t = view->topology;
    char number[24];
    fprintf(out, "machine   %s\n", view->name);
    fprintf(out, "source    %s\n", view->source);
    fprintf(out, "network   %s; %lld place%s\n", topo_network(t).text, (long long)t->places,
            t->places == 1 ? "" : "s");
    for (int64_t k = 0; k < t->levels; k++)
        print_level(sagoi_level_name(t, k, number), &t->level[k], topo_level_meaning(t, k).text, out);
    print_level("inside", &t->inside, "between ranks of a node", out);
    print_level("io", &t->io, "gateway to storage", out);
    fprintf(out, "gateways  %s\n", topo_gateways(t).text);
    for (int64_t i = 0; i < t->link_rules; i++)
        fprintf(out, "slow link places %lld to %lld: %s\n", (long long)t->link_rule[i].first,
                (long long)(t->link_rule[i].first + t->link_rule[i].count - 1),
                sagoi_show_rate(t->link_rule[i].bandwidth).text);
}

static void print_nodes(const topo_view *view, FILE *out) {
    if (!view->node) {
        const sagoi_description *d = view->described;
        fprintf(out, "nodes     %lld, each with %lld rank%s, %lld core%s and %s of memory", (long long)d->nodes,
                (long long)d->ranks_per_node, sagoi_plural(d->ranks_per_node), (long long)d->cores,
                sagoi_plural(d->cores), sagoi_size_to_text(d->memory).text);
        if (d->topology.numa > 0)
            fprintf(out, " in %lld NUMA domain%s", (long long)d->topology.numa, d->topology.numa == 1 ? "" : "s");
        fputc('\n', out);
        return;
    }
    fprintf(out, "nodes     %lld\n    %-24s %8s %-12s %6s %6s %9s %5s %5s %12s\n", (long long)view->nodes, "host",
            "place", "coordinates", "ranks", "cores", "packages", "NUMA", "NICs", "memory free");
    for (int64_t n = 0; n < view->nodes && n < NODES_SHOWN; n++) {
        const topo_node *node = &view->node[n];
        fprintf(out, "    %-24.60s %8lld %-12s %6lld %6lld %9lld %5lld %5lld %12s\n", node->host,
                (long long)node->place, coordinates_of(view->topology, node->place).text, (long long)node->ranks,
                (long long)node->inside.cores, (long long)node->inside.packages, (long long)node->inside.numa,
                (long long)node->inside.nics, sagoi_size_to_text(node->memory).text);
    }
    if (view->nodes > NODES_SHOWN)
        fprintf(out, "    and %lld more (--json shows all)\n", (long long)(view->nodes - NODES_SHOWN));
}

static void print_tuned(const sagoi_tuned *tuned, FILE *out) {
    if (tuned->aggregators_per_node)
        fprintf(out,
                "tuned     %lld aggregator%s a node, domains of %s (writes) and %s (reads),\n          groups of "
                "%s, %s free\n",
                (long long)tuned->aggregators_per_node, tuned->aggregators_per_node == 1 ? "" : "s",
                sagoi_size_to_text(tuned->domain_write).text, sagoi_size_to_text(tuned->domain_read).text,
                sagoi_size_to_text(tuned->group).text, sagoi_size_to_text(tuned->least_memory).text);
}

void topo_print_text(const topo_view *view, FILE *out) {
    print_network(view, out);
    print_nodes(view, out);
    print_tuned(&view->tuned, out);
    for (int64_t i = 0; view->described && i < view->described->tiers; i++) {
        const sagoi_tier *tier = &view->described->tier[i];
        fprintf(out, "storage   %-12s %s%s%s\n", tier->name, tier->path, tier->path[0] ? ": " : "",
                topo_tier(tier).text);
    }
    for (int64_t i = 0; i < view->dirs; i++) {
        fprintf(out, "storage   %s: %s", view->dir[i].path, topo_sharing(view, &view->dir[i]).text);
        if (view->dir[i].operations > 0)
            fprintf(out, " (found by %lld file operations)", (long long)view->dir[i].operations);
        fputc('\n', out);
    }
}
