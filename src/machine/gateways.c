/* The gateways from the network to the storage, numbered rule by rule. */
#include "base/checked.h"
#include "machine/topology.h"

/* The rule that a gateway comes from; *index becomes the gateway's number within the rule. */
static const sagoi_gateway_rule *rule_of(const sagoi_topology *t, int64_t gateway, int64_t *index) {
    const sagoi_gateway_rule *rule = t->gateway_rule;
    while (gateway >= rule->count)
        gateway -= (rule++)->count;
    *index = gateway;
    return rule;
}

static int64_t place_of(const sagoi_gateway_rule *rule, int64_t index) {
    return rule->first < 0 ? -1 : rule->first + index * rule->every;
}

static bool serves(const sagoi_gateway_rule *rule, int64_t index, int64_t place) {
    return rule->first < 0 || rule->serves == 0 || place_of(rule, index) / rule->serves == place / rule->serves;
}

int64_t sagoi_topology_gateways(const sagoi_topology *topology) {
    int64_t sum = 0;
    for (int64_t i = 0; i < topology->gateway_rules; i++)
        sum += topology->gateway_rule[i].count;
    return sum;
}

int64_t sagoi_topology_gateway_place(const sagoi_topology *topology, int64_t gateway) {
    int64_t index;
    const sagoi_gateway_rule *rule = rule_of(topology, gateway, &index);
    return place_of(rule, index);
}

bool sagoi_topology_gateway_serves(const sagoi_topology *topology, int64_t gateway, int64_t place) {
    int64_t index;
    const sagoi_gateway_rule *rule = rule_of(topology, gateway, &index);
    return serves(rule, index, place);
}

/* The gateways of a rule that serve a place: [*begin, *end). */
static void serving(const sagoi_gateway_rule *rule, int64_t place, int64_t *begin, int64_t *end) {
    *begin = 0;
    *end = rule->first < 0 ? 0 : rule->count;
    if (rule->first < 0 || rule->serves == 0)
        return;
    int64_t low = place / rule->serves * rule->serves - rule->first, high = low + rule->serves;
    if (rule->every == 0) {
        *end = low <= 0 && high > 0 ? rule->count : 0;
        return;
    }
    *begin = low > 0 ? sagoi_div_up(low, rule->every) : 0;
    *end = sagoi_min(rule->count, high > 0 ? sagoi_div_up(high, rule->every) : 0);
}

/* Reduces [*begin, *end) to the gateways of a rule that lead to a target. */
static void leading(const sagoi_gateway_rule *rule, int64_t target, int64_t *begin, int64_t *end) {
    if (rule->targets == 0)
        return;
    target -= rule->from;
    if (target < 0 || target >= rule->targets) {
        *end = *begin;
        return;
    }
    int64_t each = sagoi_max(1, rule->count / rule->targets), shared = sagoi_max(1, rule->targets / rule->count);
    int64_t first = target / shared * each;
    *begin = sagoi_max(*begin, first);
    *end = sagoi_min(*end, first + each);
}

bool sagoi_topology_maps_targets(const sagoi_topology *topology) {
    for (int64_t i = 0; i < topology->gateway_rules; i++)
        if (topology->gateway_rule[i].first >= 0 && topology->gateway_rule[i].targets > 0)
            return true;
    return false;
}

/* target -1: any target. */
static int64_t nearest_leading(const sagoi_topology *topology, int64_t place, int64_t target) {
    int64_t nearest = -1, least = INT64_MAX, number = 0, end, i;
    for (int64_t r = 0; r < topology->gateway_rules; r++) {
        const sagoi_gateway_rule *rule = &topology->gateway_rule[r];
        serving(rule, place, &i, &end);
        if (target >= 0)
            leading(rule, target, &i, &end);
        for (; i < end; i++) {
            int64_t distance = sagoi_topology_distance(topology, place, place_of(rule, i));
            if (distance < least) {
                least = distance;
                nearest = number + i;
            }
        }
        number += rule->count;
    }
    return nearest;
}

int64_t sagoi_topology_gateway_nearest(const sagoi_topology *topology, int64_t place) {
    return nearest_leading(topology, place, -1);
}

static double cost_through(const sagoi_topology *topology, int64_t place, int64_t gateway, double bytes) {
    if (gateway < 0)
        return 0;
    int64_t at = sagoi_topology_gateway_place(topology, gateway);
    double latency = sagoi_topology_latency(topology, place, at) + topology->io.latency;
    double bandwidth = topology->io.bandwidth;
    if (at != place && sagoi_topology_bandwidth(topology, place, at) < bandwidth)
        bandwidth = sagoi_topology_bandwidth(topology, place, at);
    return latency + bytes / bandwidth;
}

double sagoi_topology_store_cost(const sagoi_topology *topology, int64_t place, double bytes) {
    return cost_through(topology, place, nearest_leading(topology, place, -1), bytes);
}

double sagoi_topology_target_cost(const sagoi_topology *topology, int64_t place, int64_t target, double bytes) {
    int64_t gateway = nearest_leading(topology, place, target);
    return cost_through(topology, place, gateway < 0 ? nearest_leading(topology, place, -1) : gateway, bytes);
}
