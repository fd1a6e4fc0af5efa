/* Random small machines of every kind, the same at every run. */
#ifndef RANDOM_TOPOLOGY_H
#define RANDOM_TOPOLOGY_H

#include <stdint.h>
#include <string.h>

#include "machine/topology.h"

static uint64_t random_state = 88172645463325252u;

static inline int64_t random_below(int64_t n) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (int64_t)(random_state % (uint64_t)n);
}

static inline bool one_in(int64_t n) { return random_below(n) == 0; }

static inline sagoi_level random_level(void) {
    static const double latencies[] = {0, 1e-6, 2.5e-7, 0.001};
    static const double bandwidths[] = {1.8e9, 12.5e9, 14e9, 1e8, 12345.678};
    return (sagoi_level){latencies[random_below(4)], bandwidths[random_below(5)]};
}

static inline void random_shape(sagoi_topology *t) {
    t->kind = (sagoi_topology_kind)random_below(4);
    t->dimensions = t->kind == SAGOI_FLAT ? 1 : t->kind == SAGOI_DRAGONFLY ? 4 : 1 + random_below(5);
    t->direct = t->kind == SAGOI_DRAGONFLY && one_in(2);
    for (int64_t i = 0; i < t->dimensions; i++)
        t->extent[i] = 1 + random_below(t->dimensions == 1 ? 40 : t->dimensions == 2 ? 9 : 4);
    if (t->kind == SAGOI_DRAGONFLY && !t->direct)
        t->extent[1] = 1;
}

/* As many gateways for each of some targets, or the other way round. */
static inline sagoi_gateway_rule leading_to_targets(sagoi_gateway_rule rule) {
    int64_t each = 1 + random_below(4);
    if (one_in(2))
        return rule;
    rule.from = random_below(10);
    rule.targets = rule.count % each == 0 && one_in(2) ? rule.count / each : rule.count * each;
    return rule;
}

static inline sagoi_gateway_rule random_gateways(int64_t places) {
    sagoi_gateway_rule rule = {.first = one_in(5) ? -1 : random_below(places), .serves = random_below(20)};
    if (rule.first < 0)
        return (sagoi_gateway_rule){.first = -1, .count = 1 + random_below(9)};
    rule.every = random_below(7);
    rule.count = 1 + (rule.every ? random_below((places - rule.first - 1) / rule.every + 1) : random_below(3));
    if (rule.count == 1)
        rule.every = 0;
    return rule;
}

/* Complete and correct. */
static inline sagoi_topology random_topology(void) {
    sagoi_topology t;
    memset(&t, 0, sizeof t);
    random_shape(&t);
    t.places = 1;
    for (int64_t i = 0; i < t.dimensions; i++)
        t.places *= t.extent[i];
    for (int64_t k = 0; k < t.dimensions; k++)
        t.level[k] = k > 0 && one_in(3) ? t.level[k - 1] : random_level();
    t.inside = random_level();
    t.io = random_level();
    t.message = random_level().latency;
    t.writer = random_level().bandwidth;
    t.numa = random_below(5);
    t.gateway_rules = random_below(4);
    for (int64_t i = 0; i < t.gateway_rules; i++)
        t.gateway_rule[i] = leading_to_targets(random_gateways(t.places));
    t.link_rules = one_in(2) ? 0 : random_below(4);
    for (int64_t i = 0; i < t.link_rules; i++) {
        int64_t first = random_below(t.places);
        t.link_rule[i] = (sagoi_link_rule){first, 1 + random_below(t.places - first), random_level().bandwidth};
    }
    if (sagoi_topology_complete(&t) != SAGO_OK)
        memset(&t, 0, sizeof t); /* no test passes with it */
    return t;
}

#endif
