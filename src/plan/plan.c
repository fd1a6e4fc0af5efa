/* Making a plan: small decisions in a fixed order, each of which keeps its reason.
 *
 * The decisions themselves are in strategy.c, domains.c and sizes.c; here is what they begin from, and what the
 * engine asks a finished plan. */
#include "plan/plan.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "plan/draft.h"

/* File systems may ask for more; no window is larger. */
static const int64_t largest_align = INT64_C(1) << 30;

/* ---- Reasons ------------------------------------------------------------------------------------------ */

void sagoi_draft_reason(sagoi_draft *draft, const char *format, ...) {
    char *reasons = draft->plan->reasons;
    size_t used = strlen(reasons), room = SAGOI_REASONS_MAX - used;
    va_list args;
    va_start(args, format);
    int length = vsnprintf(reasons + used, room, format, args);
    va_end(args);
    if (length < 0 || (size_t)length + 2 > room) {
        reasons[used] = '\0';
        return;
    }
    memcpy(reasons + used + length, "\n", 2);
}

/* ---- The inputs --------------------------------------------------------------------------------------- */

static int64_t add_capped(int64_t a, int64_t b) {
    int64_t sum;
    return sagoi_add(a, b, &sum) ? INT64_MAX : sum;
}

static sago_status check_inputs(const sagoi_machine *machine, const sagoi_shape *shape) {
    if (machine->nodes <= 0 || machine->nodes != shape->nodes)
        return sagoi_fail(SAGO_ERR_ARG, "plan: a machine of %" PRId64 " nodes, an access by %" PRId64,
                          machine->nodes, shape->nodes);
    for (int64_t n = 0; n < machine->nodes; n++) {
        const sagoi_node *node = &machine->node[n];
        const sagoi_node_shape *access = &shape->node[n];
        if (node->ranks <= 0 || node->cores <= 0 || node->memory < 0)
            return sagoi_fail(SAGO_ERR_ARG, "plan: node %" PRId64 " has no ranks, no cores or negative memory", n);
        if (access->low < 0 || access->low > access->high || access->bytes < 0 || access->runs < 0)
            return sagoi_fail(SAGO_ERR_ARG, "plan: node %" PRId64 " accesses what cannot be", n);
    }
    return SAGO_OK;
}

static void sum_machine(sagoi_draft *draft) {
    for (int64_t n = 0; n < draft->machine->nodes; n++) {
        draft->ranks += draft->machine->node[n].ranks;
        draft->most_ranks = sagoi_max(draft->most_ranks, draft->machine->node[n].ranks);
    }
}

static void sum_shape(sagoi_draft *draft) {
    sagoi_plan *plan = draft->plan;
    int64_t low = INT64_MAX, high = 0;
    for (int64_t n = 0; n < draft->shape->nodes; n++) {
        const sagoi_node_shape *access = &draft->shape->node[n];
        if (access->low == access->high)
            continue;
        plan->node_low[n] = access->low;
        plan->node_high[n] = access->high;
        low = sagoi_min(low, access->low);
        high = sagoi_max(high, access->high);
        draft->bytes = add_capped(draft->bytes, access->bytes);
        draft->runs = add_capped(draft->runs, access->runs);
    }
    plan->low = sagoi_min(low, high);
    plan->high = high;
    plan->write = draft->shape->write;
    plan->dense = draft->shape->write && draft->shape->dense;
}

/* Stripes count where their edges are page edges. */
static void read_target(sagoi_draft *draft) {
    const sagoi_target *target = draft->target;
    int64_t block = sagoi_min(sagoi_max(target->block, SAGOI_PAGE), largest_align);
    draft->align = sagoi_round_up(block, SAGOI_PAGE);
    if (target->stripe_count > 0 && target->stripe_unit > 0 && target->stripe_unit % SAGOI_PAGE == 0)
        draft->stripe = target->stripe_unit;
}

/* ---- Making ------------------------------------------------------------------------------------------- */

static sago_status make_aggregated(sagoi_draft *draft) {
    sagoi_draft_aggregators(draft);
    sago_status status = sagoi_draft_sizes(draft);
    return status == SAGO_OK ? sagoi_draft_domains(draft) : status;
}

static sago_status make(sagoi_draft *draft) {
    sagoi_plan *plan = draft->plan;
    size_t nodes = (size_t)draft->machine->nodes;
    plan->nodes = draft->machine->nodes;
    plan->node_low = calloc(nodes, sizeof *plan->node_low);
    plan->node_high = calloc(nodes, sizeof *plan->node_high);
    draft->slots = calloc(nodes, sizeof *draft->slots);
    if (!plan->node_low || !plan->node_high || !draft->slots)
        return sagoi_fail(SAGO_ERR_MEMORY, "plan: no memory for %zu nodes", nodes);
    sum_machine(draft);
    sum_shape(draft);
    read_target(draft);
    sagoi_draft_strategy(draft);
    sagoi_draft_movement(draft);
    return plan->strategy == SAGOI_STRATEGY_AGGREGATED ? make_aggregated(draft) : SAGO_OK;
}

sago_status sagoi_plan_make(const sagoi_machine *machine, const sagoi_shape *shape, const sagoi_target *target,
                            const sagoi_hints *hints, sagoi_plan *plan) {
    sago_status status = check_inputs(machine, shape);
    if (status != SAGO_OK)
        return status;
    sagoi_plan fresh = {0};
    sagoi_draft draft = {.machine = machine, .shape = shape, .target = target, .hints = hints, .plan = &fresh};
    status = make(&draft);
    free(draft.slots);
    if (status == SAGO_OK)
        *plan = fresh;
    else
        sagoi_plan_cleanup(&fresh);
    return status;
}

void sagoi_plan_cleanup(sagoi_plan *plan) {
    free(plan->domains);
    free(plan->node_low);
    free(plan->node_high);
    memset(plan, 0, sizeof *plan);
}

/* ---- Asking ------------------------------------------------------------------------------------------- */

bool sagoi_plan_window(const sagoi_plan *plan, int64_t domain, int64_t round, int64_t *start, int64_t *end) {
    if (domain < 0 || domain >= plan->ndomains || round < 0 || round >= plan->domains[domain].windows)
        return false;
    int64_t begin = plan->domains[domain].first + round * plan->domains[domain].stride;
    int64_t cut = sagoi_min(begin + plan->window, plan->high);
    begin = sagoi_max(begin, plan->low);
    if (begin >= cut)
        return false;
    *start = begin;
    *end = cut;
    return true;
}

bool sagoi_plan_touches(const sagoi_plan *plan, int64_t node, int64_t start, int64_t end) {
    return sagoi_max(start, plan->node_low[node]) < sagoi_min(end, plan->node_high[node]);
}

int64_t sagoi_plan_slots(const sagoi_plan *plan, int64_t node) {
    int64_t slots = 0;
    for (int64_t d = 0; d < plan->ndomains; d++)
        slots += plan->domains[d].node == node;
    return slots;
}
