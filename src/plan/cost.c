/* What a plan costs by the model of paper 000, IV-B, whatever placed its aggregators. */
#include <inttypes.h>

#include "base/checked.h"
#include "machine/sums.h"
#include "plan/plan.h"

double sagoi_domain_bytes(const sagoi_plan *plan, const sagoi_shape *shape, int64_t domain, int64_t node) {
    const sagoi_domain *d = &plan->domains[domain];
    if (d->stride == d->block)
        return sagoi_shape_bytes(shape, node, d->first, d->end);
    double bytes = 0;
    if (d->block >= shape->region && shape->histogram) { /* blocks that the histogram can show */
        for (int64_t start = d->first; start < d->end; start += d->stride)
            bytes += sagoi_shape_bytes(shape, node, start, sagoi_min(start + d->block, d->end));
        return bytes;
    }
    bytes = sagoi_plan_sectioned(plan) ? sagoi_shape_bytes(shape, node, d->first, d->end)
                                       : (double)shape->node[node].bytes;
    return bytes * ((double)d->block / (double)d->stride);
}

/* Fills *sums with the nodes' bytes of the domain. */
static void sum_domain(const sagoi_plan *plan, const sagoi_machine *machine, const sagoi_shape *shape,
                       int64_t domain, sagoi_sums *sums) {
    sagoi_sums_clear(sums);
    for (int64_t n = 0; n < plan->nodes; n++) {
        double bytes = sagoi_domain_bytes(plan, shape, domain, n);
        if (bytes >= 0.5)
            sagoi_sums_add(sums, sagoi_machine_place(machine, n), (int64_t)(bytes + 0.5));
    }
}

static void add_domain(const sagoi_plan *plan, const sagoi_machine *machine, const sagoi_shape *shape,
                       int64_t domain, const sagoi_topology *topology, sagoi_sums *sums, sagoi_cost *cost) {
    int64_t host = plan->domains[domain].node, place = sagoi_machine_place(machine, host);
    double own = sagoi_domain_bytes(plan, shape, domain, host), all = (double)sagoi_sums_bytes(sums);
    double gather = sagoi_sums_cost(sums, place), store = sagoi_topology_store_cost(topology, place, all);
    cost->gather += gather;
    cost->store += store;
    cost->slowest = gather + store > cost->slowest ? gather + store : cost->slowest;
    cost->wire += all > own ? all - own : 0;
    cost->senders += sagoi_sums_members(sums) - (own >= 0.5);
}

sago_status sagoi_plan_cost(const sagoi_plan *plan, const sagoi_machine *machine, const sagoi_shape *shape,
                            sagoi_cost *cost) {
    sagoi_topology flat;
    const sagoi_topology *topology = sagoi_topology_or_flat(machine->topology, machine->nodes, &flat);
    sagoi_sums *sums = NULL;
    sagoi_cost total = {0};
    sago_status status = sagoi_sums_create(topology, &sums);
    if (status != SAGO_OK)
        return status;
    for (int64_t d = 0; d < plan->ndomains; d++) {
        sum_domain(plan, machine, shape, d, sums);
        add_domain(plan, machine, shape, d, topology, sums, &total);
    }
    sagoi_sums_destroy(sums);
    *cost = total;
    return SAGO_OK;
}
