/* plan_check: proves the properties of a finished plan that the engine relies on.  It shares no code with the
 * functions that make plans. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/checked.h"
#include "plan/plan.h"

#define FAIL(...) sagoi_fail(SAGO_ERR_STATE, "plan_check: " __VA_ARGS__)

static sago_status check_decided(const sagoi_plan *plan) {
    if (plan->strategy <= SAGOI_STRATEGY_AUTO || plan->strategy > SAGOI_STRATEGY_AGGREGATED)
        return FAIL("no strategy");
    if (plan->move <= SAGOI_MOVE_AUTO || plan->move > SAGOI_MOVE_RMA)
        return FAIL("no movement");
    if (plan->move == SAGOI_MOVE_RMA && plan->write && !plan->dense)
        return FAIL("puts into windows with holes");
    if (plan->low < 0 || plan->low > plan->high)
        return FAIL("range [%" PRId64 ", %" PRId64 ")", plan->low, plan->high);
    return SAGO_OK;
}

static sago_status check_nodes(const sagoi_plan *plan, const sagoi_machine *machine) {
    int64_t most_ranks = 0;
    if (plan->nodes != machine->nodes)
        return FAIL("for %" PRId64 " nodes, the machine has %" PRId64, plan->nodes, machine->nodes);
    for (int64_t n = 0; n < plan->nodes; n++) {
        int64_t low = plan->node_low[n], high = plan->node_high[n];
        if (low > high || (low < high && (low < plan->low || high > plan->high)))
            return FAIL("node %" PRId64 " accesses [%" PRId64 ", %" PRId64 ")", n, low, high);
        most_ranks = sagoi_max(most_ranks, machine->node[n].ranks);
    }
    if (plan->local_aggregators < 1 || plan->local_aggregators > most_ranks)
        return FAIL("%" PRId64 " local aggregators", plan->local_aggregators);
    return SAGO_OK;
}

/* Has the relay any other node to serve? */
static bool serves_others(const sagoi_plan *plan, int64_t relay) {
    for (int64_t n = 0; n < plan->nodes; n++)
        if (n != relay && plan->node_relay[n] == relay)
            return true;
    return false;
}

static sago_status check_relays(const sagoi_plan *plan, const sagoi_machine *machine) {
    int64_t neighbours = machine->topology ? sagoi_topology_neighbours(machine->topology) : 1;
    bool several = plan->strategy == SAGOI_STRATEGY_AGGREGATED && plan->move == SAGOI_MOVE_PACKED;
    if (plan->layers != 2 && (plan->layers != 3 || !several))
        return FAIL("%" PRId64 " layers", plan->layers);
    if ((plan->layers == 3) != (plan->relay_slots > 0))
        return FAIL("%" PRId64 " layers, relays hold %" PRId64 " messages", plan->layers, plan->relay_slots);
    if (plan->relay_repeats && (plan->layers == 2 || plan->write))
        return FAIL("repeated %s go through relays, %" PRId64 " layers", plan->write ? "writes" : "reads",
                    plan->layers);
    for (int64_t n = 0; n < plan->nodes; n++) {
        int64_t relay = plan->node_relay[n];
        if (relay == -1)
            continue;
        if (plan->layers == 2 || relay < 0 || relay >= plan->nodes || plan->node_relay[relay] != relay)
            return FAIL("node %" PRId64 " has relay %" PRId64, n, relay);
        if (machine->node[n].place / neighbours != machine->node[relay].place / neighbours)
            return FAIL("node %" PRId64 " and its relay %" PRId64 " share no switch", n, relay);
        if (relay == n && !serves_others(plan, n))
            return FAIL("node %" PRId64 " is a relay for nobody", n);
    }
    return SAGO_OK;
}

/* ---- Every byte has one owner ------------------------------------------------------------------------- */

/* Checks one domain: its blocks ascend, and are cut into windows. */
static sago_status check_domain(const sagoi_plan *plan, int64_t d) {
    const sagoi_domain *domain = &plan->domains[d];
    int64_t length = domain->end - domain->first, far;
    if (domain->first < 0 || domain->end <= domain->first || domain->end > plan->high)
        return FAIL("domain %" PRId64 " is [%" PRId64 ", %" PRId64 ")", d, domain->first, domain->end);
    if (domain->block <= 0 || domain->stride < domain->block ||
        (domain->block == domain->stride && domain->block != length))
        return FAIL("domain %" PRId64 " has blocks of %" PRId64 " every %" PRId64, d, domain->block,
                    domain->stride);
    int64_t blocks = (length - 1) / domain->stride + 1, in_block = (domain->block - 1) / plan->window + 1;
    int64_t remainder = sagoi_min(length - (blocks - 1) * domain->stride, domain->block);
    if (sagoi_mul(blocks, in_block, &far) ||
        domain->windows != (blocks - 1) * in_block + (remainder - 1) / plan->window + 1)
        return FAIL("domain %" PRId64 " has %" PRId64 " windows", d, domain->windows);
    if (domain->group < 0 || domain->group >= plan->groups)
        return FAIL("domain %" PRId64 " is of group %" PRId64, d, domain->group);
    return SAGO_OK;
}

/* From domain d on: blocks in turn, one of each domain, which fill the range up to *end without a gap.  *next: the
 * first domain that is none of them. */
static sago_status check_turns(const sagoi_plan *plan, int64_t d, int64_t *next, int64_t *end) {
    const sagoi_domain *first = &plan->domains[d];
    int64_t at = first->first, filled = 0;
    for (; d < plan->ndomains && filled < first->stride; d++) {
        const sagoi_domain *domain = &plan->domains[d];
        if (domain->stride != first->stride || domain->end != first->end || domain->first != at)
            return FAIL("domain %" PRId64 " does not take turns with the one before", d);
        at += domain->block;
        filled += domain->block;
    }
    /* the last turns may end before every domain has had a block */
    bool whole = filled == first->stride || (filled < first->stride && at >= first->end);
    *next = d;
    *end = first->end;
    return whole ? SAGO_OK : FAIL("blocks of %" PRId64 " bytes in all, every %" PRId64, filled, first->stride);
}

/* Checks ranges, and blocks in turn: each begins where the one before it ends. */
static sago_status check_tiling(const sagoi_plan *plan) {
    int64_t end = plan->domains[0].first, d = 0;
    while (d < plan->ndomains) {
        const sagoi_domain *domain = &plan->domains[d];
        if (domain->first != end)
            return FAIL("domain %" PRId64 " begins at %" PRId64 ", the one before ends at %" PRId64, d,
                        domain->first, end);
        if (domain->block < domain->stride) {
            sago_status status = check_turns(plan, d, &d, &end);
            if (status != SAGO_OK)
                return status;
        } else {
            end = domain->end;
            d++;
        }
    }
    return end == plan->high ? SAGO_OK : FAIL("bytes from %" PRId64 " on have no owner", end);
}

static sago_status check_owners(const sagoi_plan *plan) {
    int64_t rounds = 0;
    if (plan->ndomains < 1 || plan->window <= 0)
        return FAIL("%" PRId64 " domains, window %" PRId64, plan->ndomains, plan->window);
    for (int64_t d = 0; d < plan->ndomains; d++) {
        sago_status status = check_domain(plan, d);
        if (status != SAGO_OK)
            return status;
        rounds = sagoi_max(rounds, plan->domains[d].windows);
    }
    if (plan->rounds != rounds)
        return FAIL("%" PRId64 " rounds, the longest domain has %" PRId64, plan->rounds, rounds);
    int64_t before = plan->low - plan->domains[0].first;
    if (before < 0 ||
        before >= sagoi_max(plan->window, plan->domains[0].block < plan->domains[0].stride ? plan->domains[0].block
                                                                                           : plan->window))
        return FAIL("the first window, from %" PRId64 ", is not where the access begins", plan->domains[0].first);
    return check_tiling(plan);
}

/* ---- Aggregators and memory --------------------------------------------------------------------------- */

/* `begin` has nodes + 1 entries: where each node's slots begin in `taken`, which has one entry for each domain. */
static sago_status check_slots(const sagoi_plan *plan, const sagoi_machine *machine, int64_t *begin, bool *taken) {
    int64_t most = 0;
    for (int64_t d = 0; d < plan->ndomains; d++) {
        int64_t node = plan->domains[d].node;
        if (node < 0 || node >= plan->nodes)
            return FAIL("domain %" PRId64 " is on node %" PRId64, d, node);
        if (plan->domains[d].group != plan->node_group[node])
            return FAIL("node %" PRId64 " serves groups %" PRId64 " and %" PRId64, node, plan->node_group[node],
                        plan->domains[d].group);
        begin[node + 1]++;
    }
    for (int64_t n = 0; n < plan->nodes; n++) {
        most = sagoi_max(most, begin[n + 1]);
        if (begin[n + 1] != plan->node_slots[n])
            return FAIL("node %" PRId64 " has %" PRId64 " aggregators, not %" PRId64, n, begin[n + 1],
                        plan->node_slots[n]);
        if (begin[n + 1] > machine->node[n].ranks)
            return FAIL("node %" PRId64 " has more aggregators than ranks", n);
        begin[n + 1] += begin[n];
    }
    if (most != plan->max_slots)
        return FAIL("at most %" PRId64 " slots, not %" PRId64, most, plan->max_slots);
    for (int64_t d = 0; d < plan->ndomains; d++) {
        const sagoi_domain *domain = &plan->domains[d];
        int64_t place = begin[domain->node] + domain->slot;
        if (domain->slot < 0 || place >= begin[domain->node + 1] || taken[place])
            return FAIL("slot %" PRId64 " of node %" PRId64 " is not one domain's own", domain->slot,
                        domain->node);
        taken[place] = true;
    }
    return SAGO_OK;
}

static sago_status check_memory(const sagoi_plan *plan, const sagoi_machine *machine, const int64_t *begin) {
    if (plan->nodes > 1 && (plan->staging <= 0 || plan->message <= 0 || plan->messages <= 0))
        return FAIL("no buffers to move with");
    for (int64_t n = 0; n < plan->nodes; n++) {
        int64_t ranks = machine->node[n].ranks, slots = begin[n + 1] - begin[n];
        int64_t need = sagoi_plan_segment_bytes(plan, ranks, slots) +
                       sagoi_plan_private_bytes(plan, ranks, slots) + sagoi_plan_relay_bytes(plan, n);
        if (need > machine->node[n].memory)
            return FAIL("node %" PRId64 " needs %" PRId64 " bytes and has %" PRId64, n, need,
                        machine->node[n].memory);
    }
    return SAGO_OK;
}

static sago_status check_aggregators(const sagoi_plan *plan, const sagoi_machine *machine) {
    int64_t *begin = calloc((size_t)plan->nodes + 1, sizeof *begin);
    bool *taken = calloc((size_t)plan->ndomains, sizeof *taken);
    sago_status status = SAGO_ERR_MEMORY;
    if (begin && taken)
        status = check_slots(plan, machine, begin, taken);
    else
        (void)sagoi_fail(status, "plan_check: no memory");
    if (status == SAGO_OK)
        status = check_memory(plan, machine, begin);
    free(taken);
    free(begin);
    return status;
}

sago_status sagoi_plan_check(const sagoi_plan *plan, const sagoi_machine *machine) {
    sago_status status = check_decided(plan);
    if (status == SAGO_OK)
        status = check_nodes(plan, machine);
    if (status == SAGO_OK)
        status = check_relays(plan, machine);
    if (status != SAGO_OK)
        return status;
    if (plan->strategy != SAGOI_STRATEGY_AGGREGATED)
        return plan->ndomains == 0 && plan->rounds == 0 ? SAGO_OK : FAIL("domains that nobody uses");
    status = check_owners(plan);
    return status == SAGO_OK ? check_aggregators(plan, machine) : status;
}
