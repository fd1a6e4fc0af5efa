/* Which storage targets a gateway leads to, by counting through the rules. */
#ifndef GATEWAY_TARGETS_H
#define GATEWAY_TARGETS_H

#include "machine/topology.h"

static inline bool gateway_leads(const sagoi_topology *topology, int64_t gateway, int64_t target) {
    const sagoi_gateway_rule *rule = topology->gateway_rule;
    while (gateway >= rule->count)
        gateway -= (rule++)->count;
    int64_t own = target - rule->from;
    if (rule->targets == 0)
        return true;
    if (own < 0 || own >= rule->targets)
        return false;
    if (rule->count >= rule->targets)
        return gateway / (rule->count / rule->targets) == own;
    return own / (rule->targets / rule->count) == gateway;
}

#endif
