/* plan_check: proves of a finished plan what the engine relies on.  It shares no code with the making. */
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

/* ---- Every byte has one owner ------------------------------------------------------------------------- */

/* Where `count` windows from `first` end; false if that is no offset. */
static bool range_end(int64_t first, int64_t count, int64_t stride, int64_t *end) {
    int64_t length;
    return !sagoi_mul(count, stride, &length) && !sagoi_add(first, length, end);
}

/* Each domain is one range, and each begins where the one before ends. */
static sago_status check_contiguous(const sagoi_plan *plan) {
    int64_t end = plan->domains[0].first;
    for (int64_t d = 0; d < plan->ndomains; d++) {
        const sagoi_domain *domain = &plan->domains[d];
        if (domain->stride != plan->window)
            return FAIL("domain %" PRId64 " has a stride of its own", d);
        if (domain->first != end)
            return FAIL("domain %" PRId64 " begins at %" PRId64 ", the one before ends at %" PRId64, d,
                        domain->first, end);
        if (end >= plan->high)
            return FAIL("domain %" PRId64 " begins past the end", d);
        if (!range_end(domain->first, domain->windows, domain->stride, &end))
            return FAIL("domain %" PRId64 " ends past 2^63", d);
    }
    return end >= plan->high ? SAGO_OK : FAIL("bytes from %" PRId64 " on have no owner", end);
}

/* All have the same stride, as long as one window of each together, and begin one window apart. */
static sago_status check_dealt(const sagoi_plan *plan) {
    for (int64_t d = 0; d < plan->ndomains; d++) {
        const sagoi_domain *domain = &plan->domains[d];
        int64_t stride, first, end;
        if (sagoi_mul(plan->ndomains, plan->window, &stride) || domain->stride != stride)
            return FAIL("domain %" PRId64 " has stride %" PRId64 ", not one of all windows", d, domain->stride);
        if (!range_end(plan->domains[0].first, d, plan->window, &first) || domain->first != first)
            return FAIL("domain %" PRId64 " is not one window after the one before", d);
        if (!range_end(first, domain->windows, stride, &end) || end < plan->high || end - stride >= plan->high)
            return FAIL("domain %" PRId64 " has %" PRId64 " windows", d, domain->windows);
    }
    return SAGO_OK;
}

static sago_status check_owners(const sagoi_plan *plan) {
    int64_t rounds = 0;
    if (plan->ndomains < 1 || plan->window <= 0)
        return FAIL("%" PRId64 " domains, window %" PRId64, plan->ndomains, plan->window);
    for (int64_t d = 0; d < plan->ndomains; d++) {
        if (plan->domains[d].windows < 1)
            return FAIL("domain %" PRId64 " is empty", d);
        rounds = sagoi_max(rounds, plan->domains[d].windows);
    }
    if (plan->rounds != rounds)
        return FAIL("%" PRId64 " rounds, the longest domain has %" PRId64, plan->rounds, rounds);
    int64_t before = plan->low - plan->domains[0].first;
    if (plan->domains[0].first < 0 || before < 0 || before >= plan->window)
        return FAIL("the first window, from %" PRId64 ", is not where the access begins", plan->domains[0].first);
    return plan->domains[0].stride == plan->window ? check_contiguous(plan) : check_dealt(plan);
}

/* ---- Aggregators and memory --------------------------------------------------------------------------- */

/* `begin` has nodes + 1 entries: where each node's slots begin in `taken`, which has one entry a domain. */
static sago_status check_slots(const sagoi_plan *plan, const sagoi_machine *machine, int64_t *begin, bool *taken) {
    int64_t most = 0;
    for (int64_t d = 0; d < plan->ndomains; d++) {
        int64_t node = plan->domains[d].node;
        if (node < 0 || node >= plan->nodes)
            return FAIL("domain %" PRId64 " is on node %" PRId64, d, node);
        begin[node + 1]++;
    }
    for (int64_t n = 0; n < plan->nodes; n++) {
        most = sagoi_max(most, begin[n + 1]);
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
        int64_t need = sagoi_plan_segment_bytes(plan, ranks, slots) + sagoi_plan_private_bytes(plan, ranks, slots);
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
    if (status != SAGO_OK)
        return status;
    if (plan->strategy != SAGOI_STRATEGY_AGGREGATED)
        return plan->ndomains == 0 && plan->rounds == 0 ? SAGO_OK : FAIL("domains that nobody uses");
    status = check_owners(plan);
    return status == SAGO_OK ? check_aggregators(plan, machine) : status;
}
