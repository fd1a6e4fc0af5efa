/* Hops, latency and bandwidth between places.  One function for each kind says how many hops of which level a
 * shortest path has; everything else follows from that.  Gateways are in gateways.c, sums over many places in
 * sums.c. */
#include "machine/topology.h"

#include <math.h>

#include "base/checked.h"

/* Coordinates of a dragonfly. */
enum { GROUP, ROW, COLUMN, SEAT, DRAGONFLY_DIMENSIONS };
/* Levels of a dragonfly. */
enum { TO_ROUTER, IN_ROW, IN_COLUMN, BETWEEN_GROUPS };

/* ---- Making one --------------------------------------------------------------------------------------- */

void sagoi_topology_flat(sagoi_topology *topology, int64_t places) {
    *topology = (sagoi_topology){
        .kind = SAGOI_FLAT,
        .dimensions = 1,
        .extent = {places},
        .places = places,
        .levels = 1,
        .level = {{.latency = 2e-6, .bandwidth = 10e9}},
        .inside = {.latency = 5e-7, .bandwidth = 10e9},
        .io = {.latency = 1e-5, .bandwidth = 10e9},
    };
}

const sagoi_topology *sagoi_topology_or_flat(const sagoi_topology *topology, int64_t places,
                                             sagoi_topology *flat) {
    if (topology)
        return topology;
    sagoi_topology_flat(flat, places);
    return flat;
}

static bool level_usable(const sagoi_level *level) {
    return isfinite(level->latency) && level->latency >= 0 && isfinite(level->bandwidth) && level->bandwidth > 0;
}

static sago_status check_kind(const sagoi_topology *t) {
    int64_t least = t->kind == SAGOI_DRAGONFLY ? DRAGONFLY_DIMENSIONS : 1;
    int64_t most = t->kind == SAGOI_DRAGONFLY ? DRAGONFLY_DIMENSIONS
                   : t->kind == SAGOI_FLAT    ? 1
                                              : SAGOI_DIMENSIONS_MAX;
    if (t->dimensions < least || t->dimensions > most)
        return sagoi_fail(SAGO_ERR_ARG, "a topology of this kind cannot have %lld dimensions",
                          (long long)t->dimensions);
    if (t->kind == SAGOI_DRAGONFLY && !t->direct && t->extent[ROW] != 1)
        return sagoi_fail(SAGO_ERR_ARG, "a dragonfly without direct links between groups has one row, not %lld",
                          (long long)t->extent[ROW]);
    return SAGO_OK;
}

static sago_status count_places(sagoi_topology *t) {
    int64_t places = 1;
    for (int64_t i = 0; i < t->dimensions; i++) {
        if (t->extent[i] <= 0)
            return sagoi_fail(SAGO_ERR_ARG, "an extent of %lld", (long long)t->extent[i]);
        if (sagoi_mul(places, t->extent[i], &places) || places > SAGOI_PLACES_MAX)
            return sagoi_fail(SAGO_ERR_ARG, "more than %d places", SAGOI_PLACES_MAX);
    }
    t->places = places;
    return SAGO_OK;
}

static sago_status check_levels(const sagoi_topology *t) {
    for (int64_t k = 0; k < t->levels; k++) {
        if (!level_usable(&t->level[k]))
            return sagoi_fail(SAGO_ERR_ARG, "level %lld: a latency below or a bandwidth not above zero",
                              (long long)k);
        bool up = t->kind == SAGOI_FAT_TREE && k > 0;
        if (t->links[k] < 0 || (t->links[k] > 0 && !up))
            return sagoi_fail(SAGO_ERR_ARG,
                              "level %lld: links are counted of a fat tree's switches, from level 1 on",
                              (long long)k);
    }
    if (!level_usable(&t->inside) || !level_usable(&t->io))
        return sagoi_fail(SAGO_ERR_ARG, "inside or io: a latency below or a bandwidth not above zero");
    return SAGO_OK;
}

static sago_status check_gateways(const sagoi_topology *t) {
    if (t->gateway_rules < 0 || t->gateway_rules > SAGOI_GATEWAY_RULES_MAX)
        return sagoi_fail(SAGO_ERR_ARG, "%lld rules for gateways", (long long)t->gateway_rules);
    for (int64_t i = 0; i < t->gateway_rules; i++) {
        const sagoi_gateway_rule *rule = &t->gateway_rule[i];
        if (rule->count <= 0 || rule->count > SAGOI_PLACES_MAX || rule->serves < 0)
            return sagoi_fail(SAGO_ERR_ARG, "gateways: a count of %lld, serving %lld places",
                              (long long)rule->count, (long long)rule->serves);
        bool even = rule->targets > 0 && (rule->count % rule->targets == 0 || rule->targets % rule->count == 0);
        if (rule->targets < 0 || rule->targets > SAGOI_PLACES_MAX || rule->from < 0 ||
            rule->from > SAGOI_PLACES_MAX || (rule->targets == 0 ? rule->from > 0 : !even))
            return sagoi_fail(SAGO_ERR_ARG, "gateways: %lld of them cannot lead to %lld targets from %lld on",
                              (long long)rule->count, (long long)rule->targets, (long long)rule->from);
        if (rule->first == -1)
            continue;
        int64_t last;
        if (rule->first < 0 || rule->every < 0 || sagoi_mul(rule->every, rule->count - 1, &last) ||
            sagoi_add(rule->first, last, &last) || last >= t->places)
            return sagoi_fail(SAGO_ERR_ARG, "gateways: %lld places from %lld every %lld do not lie within %lld",
                              (long long)rule->count, (long long)rule->first, (long long)rule->every,
                              (long long)t->places);
    }
    return SAGO_OK;
}

static sago_status check_links(const sagoi_topology *t) {
    if (t->link_rules < 0 || t->link_rules > SAGOI_LINK_RULES_MAX)
        return sagoi_fail(SAGO_ERR_ARG, "%lld rules for links", (long long)t->link_rules);
    for (int64_t i = 0; i < t->link_rules; i++) {
        const sagoi_link_rule *rule = &t->link_rule[i];
        int64_t end;
        if (rule->first < 0 || rule->count <= 0 || sagoi_add(rule->first, rule->count, &end) || end > t->places)
            return sagoi_fail(SAGO_ERR_ARG, "link: %lld places from %lld do not lie within %lld",
                              (long long)rule->count, (long long)rule->first, (long long)t->places);
        if (!isfinite(rule->bandwidth) || rule->bandwidth <= 0)
            return sagoi_fail(SAGO_ERR_ARG, "link: a bandwidth not above zero");
    }
    return SAGO_OK;
}

sago_status sagoi_topology_complete(sagoi_topology *topology) {
    sago_status status = check_kind(topology);
    if (status == SAGO_OK)
        status = count_places(topology);
    if (status != SAGO_OK)
        return status;
    topology->levels = topology->dimensions;
    status = check_levels(topology);
    if (status == SAGO_OK)
        status = check_gateways(topology);
    return status == SAGO_OK ? check_links(topology) : status;
}

/* ---- Coordinates -------------------------------------------------------------------------------------- */

void sagoi_topology_coordinates(const sagoi_topology *topology, int64_t place, int64_t *coordinate) {
    for (int64_t i = topology->dimensions - 1; i >= 0; i--) {
        coordinate[i] = place % topology->extent[i];
        place /= topology->extent[i];
    }
}

int64_t sagoi_topology_place(const sagoi_topology *topology, const int64_t *coordinate) {
    int64_t place = 0;
    for (int64_t i = 0; i < topology->dimensions; i++)
        place = place * topology->extent[i] + coordinate[i];
    return place;
}

int64_t sagoi_topology_neighbours(const sagoi_topology *topology) {
    bool switched = topology->kind == SAGOI_FAT_TREE || topology->kind == SAGOI_DRAGONFLY;
    return switched ? topology->extent[topology->dimensions - 1] : 1;
}

int64_t sagoi_topology_uplinks(const sagoi_topology *topology, int64_t level) {
    int64_t below = 1;
    for (int64_t k = 0; k < level; k++)
        below *= topology->extent[topology->dimensions - 1 - k];
    return topology->links[level] > 0 ? topology->links[level] : below;
}

/* ---- Hops --------------------------------------------------------------------------------------------- */

/* A path goes up to the first common switch and down again. */
static void tree_hops(const sagoi_topology *t, int64_t a, int64_t b, int64_t *hops) {
    for (int64_t k = 0; k < t->levels; k++) {
        hops[k] = a != b ? 2 : 0;
        a /= t->extent[t->dimensions - 1 - k];
        b /= t->extent[t->dimensions - 1 - k];
    }
}

static void torus_hops(const sagoi_topology *t, int64_t a, int64_t b, int64_t *hops) {
    for (int64_t k = t->dimensions - 1; k >= 0; k--) {
        int64_t apart = a % t->extent[k] - b % t->extent[k];
        apart = apart < 0 ? -apart : apart;
        hops[k] = sagoi_min(apart, t->extent[k] - apart);
        a /= t->extent[k];
        b /= t->extent[k];
    }
}

static void dragonfly_hops(const sagoi_topology *t, int64_t a, int64_t b, int64_t *hops) {
    int64_t x[DRAGONFLY_DIMENSIONS] = {0}, y[DRAGONFLY_DIMENSIONS] = {0};
    sagoi_topology_coordinates(t, a, x);
    sagoi_topology_coordinates(t, b, y);
    hops[TO_ROUTER] = a != b ? 2 : 0;
    hops[IN_ROW] = x[COLUMN] != y[COLUMN];
    hops[IN_COLUMN] = x[ROW] != y[ROW];
    hops[BETWEEN_GROUPS] = x[GROUP] != y[GROUP];
    if (!t->direct && hops[BETWEEN_GROUPS])
        hops[IN_ROW] = t->extent[COLUMN] > 1 ? 2 : 0;
}

void sagoi_topology_hops(const sagoi_topology *topology, int64_t a, int64_t b, int64_t *hops) {
    switch (topology->kind) {
    case SAGOI_FLAT:
        hops[0] = a != b;
        break;
    case SAGOI_FAT_TREE:
        tree_hops(topology, a, b, hops);
        break;
    case SAGOI_TORUS:
        torus_hops(topology, a, b, hops);
        break;
    case SAGOI_DRAGONFLY:
        dragonfly_hops(topology, a, b, hops);
        break;
    }
}

int64_t sagoi_topology_distance(const sagoi_topology *topology, int64_t a, int64_t b) {
    int64_t hops[SAGOI_DIMENSIONS_MAX] = {0}, sum = 0;
    sagoi_topology_hops(topology, a, b, hops);
    for (int64_t k = 0; k < topology->levels; k++)
        sum += hops[k];
    return sum;
}

double sagoi_topology_latency(const sagoi_topology *topology, int64_t a, int64_t b) {
    int64_t hops[SAGOI_DIMENSIONS_MAX] = {0};
    double sum = 0;
    sagoi_topology_hops(topology, a, b, hops);
    for (int64_t k = 0; k < topology->levels; k++)
        sum += (double)hops[k] * topology->level[k].latency;
    return sum;
}

double sagoi_topology_link(const sagoi_topology *topology, int64_t place) {
    for (int64_t i = topology->link_rules - 1; i >= 0; i--) {
        const sagoi_link_rule *rule = &topology->link_rule[i];
        if (place >= rule->first && place - rule->first < rule->count)
            return rule->bandwidth;
    }
    return INFINITY;
}

static double lesser(double a, double b) { return a < b ? a : b; }

double sagoi_topology_bandwidth(const sagoi_topology *topology, int64_t a, int64_t b) {
    if (a == b)
        return topology->inside.bandwidth;
    int64_t hops[SAGOI_DIMENSIONS_MAX] = {0};
    sagoi_topology_hops(topology, a, b, hops);
    double least = lesser(sagoi_topology_link(topology, a), sagoi_topology_link(topology, b));
    for (int64_t k = 0; k < topology->levels; k++)
        if (hops[k])
            least = lesser(least, topology->level[k].bandwidth);
    return least;
}
