/* Making a plan: small decisions in a fixed order, each of which keeps its reason.
 *
 * The decisions themselves are in strategy.c, sieve.c, count.c, groups.c, hosts.c, domains.c, sizes.c and
 * layers.c; this file has what they begin from, and what the engine asks a finished plan. */
#include "plan/plan.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "plan/hosts.h"

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
    draft->crowding = 1;
    for (int64_t n = 0; n < draft->machine->nodes; n++) {
        const sagoi_node *node = &draft->machine->node[n];
        double crowding = (double)node->ranks / (double)node->cores;
        draft->ranks += node->ranks;
        draft->most_ranks = sagoi_max(draft->most_ranks, node->ranks);
        draft->crowding = crowding > draft->crowding ? crowding : draft->crowding;
    }
}

static int compare_low(const void *a, const void *b, void *arg) {
    const sagoi_node_shape *access = arg;
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    if (access[x].low != access[y].low)
        return access[x].low < access[y].low ? -1 : 1;
    return (x > y) - (x < y);
}

static void sort_by_low(sagoi_draft *draft) {
    qsort_r(draft->by_low, (size_t)draft->nwith_data, sizeof *draft->by_low, compare_low,
            (void *)draft->shape->node);
}

/* Finds the regions in which each node has data. */
static void mark_regions(const sagoi_draft *draft) {
    const sagoi_shape *shape = draft->shape;
    sagoi_plan *plan = draft->plan;
    _Static_assert(SAGOI_REGIONS == 32, "a bit each");
    if (!shape->histogram)
        return;
    plan->origin = shape->origin;
    plan->region = shape->region;
    for (int64_t n = 0; n < shape->nodes; n++)
        for (int r = 0; r < SAGOI_REGIONS; r++)
            if (shape->histogram[n * SAGOI_REGIONS + r] > 0)
                plan->node_regions[n] |= UINT32_C(1) << r;
}

static void sum_shape(sagoi_draft *draft) {
    sagoi_plan *plan = draft->plan;
    int64_t low = INT64_MAX, high = 0;
    for (int64_t n = 0; n < draft->shape->nodes; n++) {
        const sagoi_node_shape *access = &draft->shape->node[n];
        if (access->low == access->high)
            continue;
        draft->by_low[draft->nwith_data++] = n;
        plan->node_low[n] = access->low;
        plan->node_high[n] = access->high;
        low = sagoi_min(low, access->low);
        high = sagoi_max(high, access->high);
        draft->bytes = add_capped(draft->bytes, access->bytes);
        draft->runs = add_capped(draft->runs, access->runs);
    }
    sort_by_low(draft);
    mark_regions(draft);
    plan->low = sagoi_min(low, high);
    plan->high = high;
    plan->groups = 1;
    plan->write = draft->shape->write;
    plan->dense = draft->shape->write && draft->shape->dense;
}

/* Has the node data in other subfiles than the one that its data begins in?  A part with gaps is known as far as
 * its histogram goes. */
static bool is_crossing(const sagoi_draft *draft, int64_t node, const sagoi_subfiles *subfiles) {
    const sagoi_node_shape *access = &draft->shape->node[node];
    int64_t block = subfiles->block, first = access->low / block, last = (access->high - 1) / block;
    if (first == last || access->bytes >= access->high - access->low)
        return first < last;
    double elsewhere = 0;
    for (int64_t k = first + 1; k <= sagoi_min(last, first + SAGOI_MOST_CUTS); k++)
        if ((k - first) % subfiles->count != 0)
            elsewhere += sagoi_shape_bytes(draft->shape, node, k * block, (k + 1) * block);
    return elsewhere > (double)access->bytes / SAGOI_CROSSING_PART;
}

/* Counts nodes whose data crosses from one subfile to another. */
static void tell_crossing(sagoi_draft *draft, const sagoi_subfiles *subfiles) {
    int64_t crossing = 0;
    for (int64_t i = 0; i < draft->nwith_data; i++)
        crossing += is_crossing(draft, draft->by_low[i], subfiles);
    if (crossing > 0)
        sagoi_draft_reason(draft,
                           "crossing: the data of %" PRId64 " of %" PRId64 " nodes lies in several subfiles",
                           crossing, draft->nwith_data);
}

/* If the access has at most one block of each subfile, and a node for each block, the blocks make groups
 * (groups.c). Otherwise blocks come in turn like stripes, and each subfile is a target of its own.  The file
 * system's stripes inside of a block are left to the file system. */
static void read_subfiles(sagoi_draft *draft) {
    const sagoi_subfiles *subfiles = &draft->target->subfiles;
    int64_t block = subfiles->block;
    if (subfiles->count == 0 || draft->plan->low == draft->plan->high)
        return;
    int64_t blocks = (draft->plan->high - 1) / block - draft->plan->low / block + 1;
    draft->parted = blocks > sagoi_min(subfiles->count, draft->machine->nodes);
    draft->stripe = draft->parted ? block : 0;
    draft->targets = subfiles->count;
    if (block % draft->align != 0)
        draft->align = SAGOI_PAGE;
    sagoi_draft_reason(draft, "subfiles: %" PRId64 ", the access lies in %" PRId64 " blocks of %s, %s",
                       subfiles->count, blocks, sagoi_size_to_text(block).text,
                       draft->parted ? "in turn, like stripes" : "ranges of nodes");
    tell_crossing(draft, subfiles);
}

/* Nodes that write to the same block wait for each other (GPFS), so each block should have one owner, and domains
 * begin at the edges of blocks.  On one node no other node is in the way. */
static void read_locks(sagoi_draft *draft) {
    int64_t unit = draft->target->lock_unit;
    if (unit < SAGOI_PAGE || unit % SAGOI_PAGE != 0 || unit > SAGOI_ALIGNED_MOST || draft->stripe > 0 ||
        draft->machine->nodes == 1)
        return;
    draft->locks = unit;
    if (draft->plan->write) /* readers wait for no lock */
        draft->align = sagoi_round_up(draft->align, unit);
}

/* Stripes count if their edges are edges of pages. */
static void read_target(sagoi_draft *draft) {
    const sagoi_target *target = draft->target;
    int64_t block = sagoi_min(sagoi_max(target->block, SAGOI_PAGE), SAGOI_ALIGNED_MOST);
    draft->align = sagoi_round_up(block, SAGOI_PAGE);
    if (target->stripe_count > 0 && target->stripe_unit > 0 && target->stripe_unit % SAGOI_PAGE == 0)
        draft->stripe = target->stripe_unit;
    draft->targets = target->stripe_count;
    read_locks(draft);
    read_subfiles(draft);
    /* The cost of a request is known, wherever it begins. */
    if (!draft->plan->write && sagoi_draft_modelled(draft))
        draft->align = SAGOI_PAGE;
}

/* ---- Making ------------------------------------------------------------------------------------------- */

/* On one node there is no other place for a window. */
static void decide_placement(sagoi_draft *draft) {
    static const char *const how[] = {"", "least cost of moving and storing", "most memory",
                                      "the first nodes first", "evenly over the nodes"};
    sagoi_placement hint = (sagoi_placement)draft->hints->placement;
    draft->plan->placement = hint != SAGOI_PLACEMENT_AUTO ? hint : SAGOI_PLACEMENT_COST;
    if (draft->machine->nodes == 1)
        draft->plan->placement = SAGOI_PLACEMENT_SPREAD;
    else if (hint != SAGOI_PLACEMENT_AUTO)
        sagoi_draft_reason(draft, "placement: %s, hint", how[hint]);
}

static sago_status make_aggregated(sagoi_draft *draft) {
    decide_placement(draft);
    sagoi_draft_aggregators(draft);
    sago_status status = sagoi_draft_groups(draft);
    if (status == SAGO_OK)
        status = sagoi_hosts_create(draft, &draft->hosts);
    if (status == SAGO_OK)
        status = sagoi_draft_sizes(draft);
    if (status == SAGO_OK)
        status = sagoi_draft_layers(draft);
    if (status == SAGO_OK)
        sagoi_draft_memory_level(draft);
    return status;
}

/* Allocates all nodes' numbers, all zero. */
static int64_t *per_node(const sagoi_draft *draft, bool *ok) {
    int64_t *array = calloc((size_t)draft->machine->nodes, sizeof *array);
    *ok = *ok && array;
    return array;
}

static bool allocate(sagoi_draft *draft) {
    sagoi_plan *plan = draft->plan;
    bool ok = true;
    plan->node_low = per_node(draft, &ok);
    plan->node_high = per_node(draft, &ok);
    plan->node_slots = per_node(draft, &ok);
    plan->node_group = per_node(draft, &ok);
    plan->node_relay = per_node(draft, &ok);
    for (int64_t n = 0; ok && n < draft->machine->nodes; n++)
        plan->node_relay[n] = -1;
    plan->node_regions = calloc((size_t)draft->machine->nodes, sizeof *plan->node_regions);
    ok = ok && plan->node_regions;
    draft->by_low = per_node(draft, &ok);
    draft->group = calloc((size_t)draft->machine->nodes + 1, sizeof *draft->group);
    draft->turn = calloc((size_t)sagoi_max(draft->machine->nodes, SAGOI_REGIONS), sizeof *draft->turn);
    return ok && draft->group && draft->turn;
}

/* As far as the strategy. */
static sago_status begin(sagoi_draft *draft) {
    sagoi_plan *plan = draft->plan;
    plan->nodes = draft->machine->nodes;
    plan->layers = 2;
    if (!allocate(draft))
        return sagoi_fail(SAGO_ERR_MEMORY, "plan: no memory for %" PRId64 " nodes", plan->nodes);
    sum_machine(draft);
    sum_shape(draft);
    read_target(draft);
    sagoi_draft_strategy(draft);
    return SAGO_OK;
}

static sago_status make(sagoi_draft *draft) {
    sagoi_plan *plan = draft->plan;
    sago_status begun = begin(draft);
    if (begun != SAGO_OK)
        return begun;
    sagoi_draft_movement(draft);
    sagoi_draft_sieve(draft);
    sago_status status = plan->strategy == SAGOI_STRATEGY_AGGREGATED ? make_aggregated(draft) : SAGO_OK;
    sagoi_draft_explain_idle(draft);
    return status;
}

/* What was measured on the system holds if no hint says otherwise. */
static void fill_hints(const sagoi_hints *hints, const sagoi_tuned *tuned, sagoi_hints *filled) {
    *filled = *hints;
    struct {
        int64_t *hint, measured;
    } pairs[] = {{&filled->per_node, tuned->aggregators_per_node},
                 {&filled->domain_write, tuned->domain_write},
                 {&filled->domain_read, tuned->domain_read},
                 {&filled->group_size, tuned->group},
                 {&filled->host_memory, tuned->least_memory}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (*pairs[i].hint == 0)
            *pairs[i].hint = pairs[i].measured;
}

/* Too large for the stack of a thread that has little. */
typedef struct making {
    sagoi_plan plan;
    sagoi_hints hints;
    sagoi_draft draft;
} making;

static void begin_making(making *own, const sagoi_machine *machine, const sagoi_shape *shape,
                         const sagoi_target *target, const sagoi_hints *hints) {
    fill_hints(hints, &machine->tuned, &own->hints);
    own->draft = (sagoi_draft){.machine = machine,
                               .shape = shape,
                               .target = target,
                               .hints = &own->hints,
                               .given = hints,
                               .plan = &own->plan};
}

static void end_making(making *own) {
    sagoi_hosts_destroy(own->draft.hosts);
    free(own->draft.by_low);
    free(own->draft.group);
    free(own->draft.turn);
}

bool sagoi_draft_aggregates_without(const sagoi_draft *draft, size_t field) {
    struct other {
        making made;
        sagoi_hints given;
    } *other = draft->given->strategy == SAGOI_STRATEGY_AUTO ? calloc(1, sizeof *other) : NULL;
    if (!other)
        return false;
    other->given = *draft->given;
    memset((char *)&other->given + field, 0, sizeof(int64_t));
    begin_making(&other->made, draft->machine, draft->shape, draft->target, &other->given);
    bool aggregates =
        begin(&other->made.draft) == SAGO_OK && other->made.plan.strategy == SAGOI_STRATEGY_AGGREGATED;
    end_making(&other->made);
    sagoi_plan_cleanup(&other->made.plan);
    free(other);
    return aggregates;
}

sago_status sagoi_plan_make(const sagoi_machine *machine, const sagoi_shape *shape, const sagoi_target *target,
                            const sagoi_hints *hints, sagoi_plan *plan) {
    sago_status status = check_inputs(machine, shape);
    if (status != SAGO_OK)
        return status;
    making *own = calloc(1, sizeof *own);
    if (!own)
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory to plan");
    begin_making(own, machine, shape, target, hints);
    status = make(&own->draft);
    end_making(own);
    if (status == SAGO_OK)
        *plan = own->plan;
    else
        sagoi_plan_cleanup(&own->plan);
    free(own);
    return status;
}

void sagoi_plan_cleanup(sagoi_plan *plan) {
    free(plan->domains);
    free(plan->node_low);
    free(plan->node_high);
    free(plan->node_regions);
    free(plan->node_slots);
    free(plan->node_group);
    free(plan->node_relay);
    memset(plan, 0, sizeof *plan);
}

/* ---- Asking ------------------------------------------------------------------------------------------- */

bool sagoi_plan_window(const sagoi_plan *plan, int64_t domain, int64_t round, int64_t *start, int64_t *end) {
    if (domain < 0 || domain >= plan->ndomains || round < 0 || round >= plan->domains[domain].windows)
        return false;
    const sagoi_domain *d = &plan->domains[domain];
    int64_t a_block = sagoi_div_up(d->block, plan->window);
    int64_t block = d->first + round / a_block * d->stride, begin = block + round % a_block * plan->window;
    int64_t cut = sagoi_min(sagoi_min(begin + plan->window, block + d->block), sagoi_min(d->end, plan->high));
    begin = sagoi_max(begin, plan->low);
    if (begin >= cut)
        return false;
    *start = begin;
    *end = cut;
    return true;
}

bool sagoi_plan_sectioned(const sagoi_plan *plan) {
    const sagoi_domain *first = plan->domains;
    return plan->ndomains > 1 && first->block < first->stride && first->end < plan->high;
}

bool sagoi_plan_touches(const sagoi_plan *plan, int64_t node, int64_t start, int64_t end) {
    int64_t low = sagoi_max(start, plan->node_low[node]), high = sagoi_min(end, plan->node_high[node]);
    if (low >= high || plan->region == 0)
        return low < high;
    int64_t first = (low - plan->origin) / plan->region, last = (high - 1 - plan->origin) / plan->region;
    uint32_t within = UINT32_MAX << first & UINT32_MAX >> (SAGOI_REGIONS - 1 - last);
    return plan->node_regions[node] & within;
}

bool sagoi_plan_relayed(const sagoi_plan *plan, int64_t node, int64_t domain) {
    int64_t relay = plan->node_relay[node];
    return relay >= 0 && relay != plan->node_relay[plan->domains[domain].node];
}

int64_t sagoi_plan_slots(const sagoi_plan *plan, int64_t node) { return plan->node_slots[node]; }

int64_t sagoi_plan_reach(const sagoi_plan *plan, int64_t node, int64_t *first) {
    int64_t low = plan->node_low[node], high = plan->node_high[node], begin = 0, end = plan->ndomains;
    if (low >= high)
        end = 0;
    while (begin < end && plan->domains[begin].end <= low)
        begin++;
    while (begin < end && plan->domains[end - 1].first >= high)
        end--;
    *first = begin;
    return end - begin;
}
