/* How bytes reach the file, and how they move: the decisions that need no domains yet. */
#include <inttypes.h>

#include "base/checked.h"
#include "plan/draft.h"

/* ---- Strategy ----------------------------------------------------------------------------------------- */

static int64_t span(const sagoi_draft *draft) { return draft->plan->high - draft->plan->low; }

static int64_t mean_run(const sagoi_draft *draft) { return draft->bytes / sagoi_max(draft->runs, 1); }

int64_t sagoi_draft_window(const sagoi_draft *draft) {
    if (draft->hints->window > 0)
        return draft->hints->window;
    if (draft->stripe > 0) /* buffer : stripe = 1 : 1 (000, Table I) */
        return sagoi_min(sagoi_max(draft->stripe, SAGOI_SMALLEST), SAGOI_WINDOW_STRIPED_MOST);
    return draft->machine->nodes > 1 ? SAGOI_WINDOW_SEVERAL : SAGOI_WINDOW_ONE_NODE;
}

/* May a shared mapping serve the access?  If not, *why_not says so. */
static bool can_map(const sagoi_draft *draft, const char **why_not) {
    if (draft->hints->map == SAGOI_CHOICE_OFF)
        *why_not = "sago_map=off";
    else if (!draft->target->mappable)
        *why_not = "the file cannot be mapped by all ranks";
    else if (!draft->plan->write && draft->target->sparse)
        *why_not = "the file may have holes, which reading a mapping could fill";
    else
        return true;
    return false;
}

/* Is enough of the range accessed to pay for touching its pages?  Writes bring whole pages in. */
static bool dense_enough(const sagoi_draft *draft) {
    return draft->bytes >= span(draft) / (draft->plan->write ? SAGOI_MAPPED_WRITE_PART : SAGOI_MAPPED_READ_PART);
}

static sagoi_strategy decide_short(sagoi_draft *draft) {
    const char *why_not = "too little of the range is accessed";
    if (can_map(draft, &why_not) && dense_enough(draft)) {
        sagoi_draft_reason(draft,
                           "strategy: mapped, short runs, %.0f%% of the range, in a file that can be mapped",
                           100.0 * (double)draft->bytes / (double)span(draft));
        return SAGOI_STRATEGY_MAPPED;
    }
    if (draft->locks > 0 && mean_run(draft) >= SAGOI_LONG_RUN)
        sagoi_draft_reason(draft, "strategy: aggregated, runs do not fill blocks of %s, the unit of locks",
                           sagoi_size_to_text(draft->locks).text);
    else
        sagoi_draft_reason(draft, "strategy: aggregated, short runs; not mapped: %s", why_not);
    return SAGOI_STRATEGY_AGGREGATED;
}

static sagoi_strategy decide_alone(sagoi_draft *draft) {
    if (mean_run(draft) >= SAGOI_LONG_RUN_OF_ONE_RANK || draft->runs <= SAGOI_FEW_RUNS) {
        sagoi_draft_reason(draft, "strategy: direct, one rank with runs of %s or more, or at most %d runs",
                           sagoi_size_to_text(SAGOI_LONG_RUN_OF_ONE_RANK).text, SAGOI_FEW_RUNS);
        return SAGOI_STRATEGY_DIRECT;
    }
    return decide_short(draft);
}

/* Copying to pages that are in the file already is faster than writing them by any system call. */
static void decide_in_place(sagoi_draft *draft) {
    const char *why_not;
    draft->plan->map_in_place = draft->ranks > 1 && dense_enough(draft) && can_map(draft, &why_not);
    if (draft->plan->map_in_place)
        sagoi_draft_reason(draft, "strategy: mapped instead, when the range is in the file already");
}

static sagoi_totals totals_of(const sagoi_draft *draft) {
    return (sagoi_totals){.nodes = draft->machine->nodes,
                          .span = span(draft),
                          .bytes = draft->bytes,
                          .runs = draft->runs,
                          .most_runs = draft->shape->most_runs,
                          .write = draft->plan->write,
                          .topology = draft->machine->topology,
                          .gathered = draft->machine->gathered,
                          .assumed = draft->machine->assumed};
}

/* Between nodes the costs decide whether runs shorter than stripes are gathered.  On one node, and in subfiles
 * that several nodes share, they are. */
static int64_t shortest_direct(sagoi_draft *draft, const sagoi_totals *all) {
    bool one_node = draft->machine->nodes == 1, alone = draft->parted && one_node;
    if (!draft->parted && !one_node) {
        sagoi_totals totals = *all; /* a plan knows more than the agreement that opens a call */
        totals.stretched = sagoi_shape_stretched(draft->shape);
        const sagoi_stripe_costs sharing = sagoi_sharing_costs(&totals, draft->target, draft->hints);
        alone = !sagoi_is_shared(sharing);
        if (sharing.gathered > 0)
            sagoi_draft_reason(draft,
                               "stripes: each rank by itself would lose %.4g ms to requests and locks of others, "
                               "gathering takes %.4g",
                               sharing.alone * 1e3, sharing.gathered * 1e3);
    }
    return sagoi_max(SAGOI_LONG_RUN, alone ? draft->locks : sagoi_max(draft->stripe, draft->locks));
}

_Static_assert(SAGOI_MODEL_RESOLUTION == 32, "the text below says so");

/* The strategy if it is known what storage costs a process.  At equal costs the ranks go by themselves, unless
 * they write parts of stripes of which others write parts. */
static sagoi_strategy decide_weighed(sagoi_draft *draft) {
    double alone = sagoi_draft_alone_seconds(draft), together = sagoi_draft_choose(draft).seconds;
    int64_t nodes = draft->machine->nodes;
    bool whole = draft->stripe > 0 && sagoi_shape_stretched(draft->shape) && draft->bytes % nodes == 0 &&
                 draft->bytes / nodes % draft->stripe == 0; /* each node has stripes of its own */
    bool parts = draft->plan->write && !whole && mean_run(draft) < sagoi_max(draft->stripe, draft->locks);
    bool direct = together <= 0 || alone <= together * (1 + (parts ? -1.0 : 1.0) / SAGOI_MODEL_RESOLUTION);
    bool dearer = together > 0 && (direct ? alone > together : together > alone);
    sagoi_draft_reason(draft, "strategy: %s, each rank by itself would take %.4g ms, aggregated %.4g%s",
                       direct ? "direct" : "aggregated", alone * 1e3, together * 1e3,
                       dearer ? ", a difference of less than a thirty-second" : "");
    return direct ? SAGOI_STRATEGY_DIRECT : SAGOI_STRATEGY_AGGREGATED;
}

static sagoi_strategy decide_auto(sagoi_draft *draft) {
    const sagoi_totals all = totals_of(draft);
    if (sagoi_draft_modelled(draft) && !sagoi_route_gathers_nothing(&all, draft->target, draft->hints))
        return decide_weighed(draft);
    int64_t threshold = shortest_direct(draft, &all), windows = span(draft) / sagoi_draft_window(draft);
    if (sagoi_route_gathers_nothing(&all, draft->target, draft->hints))
        sagoi_draft_reason(draft, "strategy: direct, no rank has more than one run: nothing to gather");
    else if (draft->ranks > 1 && mean_run(draft) >= threshold)
        sagoi_draft_reason(draft, "strategy: direct, runs of %s or more: each rank does its own",
                           sagoi_size_to_text(threshold).text);
    else if (draft->runs <= windows)
        sagoi_draft_reason(draft, "strategy: direct, no more runs than the %" PRId64 " windows of the range",
                           windows);
    else
        return draft->ranks == 1 ? decide_alone(draft) : decide_short(draft);
    return SAGOI_STRATEGY_DIRECT;
}

static sagoi_strategy decide_hinted(sagoi_draft *draft) {
    static const char *const names[] = {"auto", "direct", "mapped", "aggregated"};
    sagoi_strategy wanted = (sagoi_strategy)draft->hints->strategy;
    const char *why_not = "";
    if (wanted != SAGOI_STRATEGY_MAPPED || can_map(draft, &why_not)) {
        sagoi_draft_reason(draft, "strategy: %s, as hinted", names[wanted]);
        return wanted;
    }
    sagoi_draft_reason(draft, "strategy: aggregated, mapped was hinted, but %s", why_not);
    return SAGOI_STRATEGY_AGGREGATED;
}

/* Some ranges are too long for windows and for a mapping, whatever the hints ask for. */
static bool out_of_reach(sagoi_draft *draft) {
    int64_t windows = span(draft) / sagoi_draft_window(draft);
    bool too_high = draft->plan->high > SAGOI_HIGHEST_WINDOW;
    bool too_many = windows > SAGOI_MOST_WINDOWS && windows > draft->runs;
    if (too_high)
        sagoi_draft_reason(draft, "strategy: direct after all, windows end at offset 2^62");
    else if (too_many)
        sagoi_draft_reason(draft, "strategy: direct after all, %" PRId64 " windows, more than there are runs",
                           windows);
    return too_high || too_many;
}

void sagoi_draft_strategy(sagoi_draft *draft) {
    if (span(draft) == 0) {
        sagoi_draft_reason(draft, "strategy: direct, nothing is accessed");
        draft->plan->strategy = SAGOI_STRATEGY_DIRECT;
        return;
    }
    sagoi_draft_reason(draft,
                       "access: %s in %" PRId64 " run%s (mean %s) over %s, nodes %" PRId64 ", ranks %" PRId64,
                       sagoi_size_to_text(draft->bytes).text, draft->runs, draft->runs == 1 ? "" : "s",
                       sagoi_size_to_text(mean_run(draft)).text, sagoi_size_to_text(span(draft)).text,
                       draft->machine->nodes, draft->ranks);
    bool hinted = draft->hints->strategy != SAGOI_STRATEGY_AUTO;
    draft->plan->strategy = hinted ? decide_hinted(draft) : decide_auto(draft);
    if (draft->plan->strategy != SAGOI_STRATEGY_DIRECT && out_of_reach(draft))
        draft->plan->strategy = SAGOI_STRATEGY_DIRECT;
    else if (draft->plan->strategy == SAGOI_STRATEGY_DIRECT && !hinted)
        decide_in_place(draft);
}

/* ---- Movement ----------------------------------------------------------------------------------------- */

static void decide_move(sagoi_draft *draft) {
    sagoi_plan *plan = draft->plan;
    bool wanted = draft->hints->move == SAGOI_MOVE_RMA;
    bool marked = plan->write && !plan->dense; /* a put leaves no mark of what it wrote */
    plan->move = wanted && !marked ? SAGOI_MOVE_RMA : SAGOI_MOVE_PACKED;
    if (plan->move == SAGOI_MOVE_RMA)
        sagoi_draft_reason(draft, "move: rma, as hinted");
    else if (wanted)
        sagoi_draft_reason(draft, "move: packed, a put into windows with holes would not tell what was written");
    else if (draft->hints->move == SAGOI_MOVE_PACKED)
        sagoi_draft_reason(draft, "move: packed, as hinted");
    else
        sagoi_draft_reason(draft, "move: packed, puts make no progress while the target is busy (measured)");
}

static void decide_merge(sagoi_draft *draft) {
    sagoi_plan *plan = draft->plan;
    bool wanted = draft->hints->merge == SAGOI_CHOICE_ON;
    plan->merge = wanted && plan->move == SAGOI_MOVE_PACKED;
    if (plan->merge)
        sagoi_draft_reason(draft, "merge: on, as hinted");
    else if (wanted)
        sagoi_draft_reason(draft, "merge: off, puts carry no lists to merge");
    else if (draft->hints->merge == SAGOI_CHOICE_OFF)
        sagoi_draft_reason(draft, "merge: off, as hinted");
    else
        sagoi_draft_reason(draft, "merge: off, receivers scatter by position and need no order");
}

/* Each NUMA domain of a node has the same number of local aggregators, at least one, so that ranks gather where
 * their memory is.  (Ranks count as bound in blocks, which is the launchers' default.) */
static int64_t domains_of_node(const sagoi_draft *draft) {
    const sagoi_topology *topology = draft->machine->topology;
    return sagoi_min(draft->most_ranks, topology ? sagoi_max(1, topology->numa) : 1);
}

static int64_t cheapest_local(const sagoi_draft *draft) {
    int64_t domains = domains_of_node(draft), most = draft->most_ranks, best = domains;
    for (int64_t c = 2 * domains; c < most + domains; c += domains)
        if (sagoi_draft_local_cost(draft, sagoi_min(c, most)) < sagoi_draft_local_cost(draft, best))
            best = sagoi_min(c, most);
    return best;
}

int64_t sagoi_draft_locals(const sagoi_draft *draft) {
    int64_t hint = draft->hints->local_aggregators;
    if (draft->plan->local_aggregators > 0)
        return draft->plan->local_aggregators;
    return sagoi_min(draft->most_ranks, hint > 0 ? hint : cheapest_local(draft));
}

static void decide_local(sagoi_draft *draft) {
    int64_t hint = draft->hints->local_aggregators, most = draft->most_ranks, domains = domains_of_node(draft);
    bool matters = draft->plan->strategy == SAGOI_STRATEGY_AGGREGATED && draft->machine->nodes > 1;
    int64_t c = matters ? sagoi_draft_locals(draft) : sagoi_min(most, sagoi_max(1, hint));
    draft->plan->local_aggregators = c;
    if (matters && hint > 0)
        sagoi_draft_reason(draft, "local aggregators: %" PRId64 " on a node of %" PRId64 " ranks, hint %" PRId64,
                           c, most, hint);
    if (matters && hint == 0 && domains > 1)
        sagoi_draft_reason(draft, "local aggregators: at least one in each of %" PRId64 " NUMA domains of a node",
                           domains);
    if (matters && hint == 0 && most > 1)
        sagoi_draft_reason(draft,
                           "local aggregators: %" PRId64 " on a node of %" PRId64
                           " ranks, %.4g ms a round; 1 would take %.4g, all (two-phase) %.4g",
                           c, most, sagoi_draft_local_cost(draft, c) * 1e3, sagoi_draft_local_cost(draft, 1) * 1e3,
                           sagoi_draft_local_cost(draft, most) * 1e3);
}

void sagoi_draft_movement(sagoi_draft *draft) {
    draft->plan->move = SAGOI_MOVE_PACKED;
    decide_local(draft);
    if (draft->plan->strategy != SAGOI_STRATEGY_AGGREGATED || draft->machine->nodes == 1)
        return; /* nothing moves between nodes */
    decide_move(draft);
    decide_merge(draft);
}
