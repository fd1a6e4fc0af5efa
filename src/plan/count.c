/* The number of aggregators. */
#include <inttypes.h>
#include <stddef.h>

#include "base/checked.h"
#include "plan/draft.h"

/* Stripes go to aggregators by their number modulo A.  If A divides the stripe count, each storage target belongs
 * to one aggregator (001, III).  If that would cost more than half of the aggregators, A is not reduced. */
static int64_t divisor_near(int64_t count, int64_t at_most) {
    for (int64_t a = at_most; a > 0 && a >= at_most / 2; a--)
        if (count % a == 0)
            return a;
    return at_most;
}

/* ---- Comparing numbers of aggregators by the model ---- */

/* Is this number of aggregators cheaper than the cheapest so far, by more than the model can tell?  Every number
 * that is compared is kept with the plan, so that people see the numbers that decided. */
static bool is_cheaper(sagoi_draft *draft, int64_t aggregators, double *least) {
    sagoi_plan *plan = draft->plan;
    double seconds = sagoi_draft_estimate(draft, aggregators).seconds;
    if (plan->ncompared < SAGOI_COMPARED_MAX)
        plan->compared[plan->ncompared++] = (sagoi_compared){aggregators, seconds};
    if (plan->ncompared > 1 && seconds >= *least * (1 - 1.0 / SAGOI_COST_RESOLUTION))
        return false;
    *least = seconds;
    return true;
}

/* Adds "; 8 would take 12": the cheapest other number and, if it costs less, why it was not taken.  `resolution`
 * is the part of a time that the model can tell. */
typedef struct others_text {
    char text[128];
} others_text;

static others_text describe_others(const sagoi_plan *plan, int64_t count, const char *resolution) {
    const sagoi_compared *least = NULL, *chosen = plan->compared;
    others_text others = {""};
    for (const sagoi_compared *c = plan->compared; c < plan->compared + plan->ncompared; c++) {
        if (c->aggregators == count)
            chosen = c;
        else if (!least || c->seconds < least->seconds)
            least = c;
    }
    if (!least)
        return others;
    int length = snprintf(others.text, sizeof others.text, "; %" PRId64 " would take %.4g", least->aggregators,
                          least->seconds * 1e3);
    if (least->seconds < chosen->seconds)
        (void)snprintf(others.text + length, sizeof others.text - (size_t)length,
                       ", which is less than %s cheaper", resolution);
    return others;
}

static const char cost_resolution[] = "an eighth", model_resolution[] = "a thirty-second";
_Static_assert(SAGOI_COST_RESOLUTION == 8 && SAGOI_MODEL_RESOLUTION == 32, "the texts say so");

/* Finds k, the aggregators of each target.  More aggregators share gathering, the larger it is, until all wait for
 * the storage targets; then more of them only use memory.  One stripe for each aggregator is tried, too: then no
 * rank waits twice for what one process can write.  (000 found 2 best on 512 nodes, 4 on 1,024, 8 on 2,048, with
 * one message a rank and no layer before; there gathering took that much longer.) */
static int64_t aggregators_per_target(sagoi_draft *draft, int64_t targets) {
    int64_t stripes = (draft->plan->high - draft->plan->low) / draft->stripe, best = 1, k = 1;
    int64_t each =
        sagoi_div_up(sagoi_div_up(draft->plan->high, draft->stripe) - draft->plan->low / draft->stripe, targets);
    double least = 0;
    for (; k == 1 || k * targets <= sagoi_min(draft->ranks, stripes); k *= 2)
        best = is_cheaper(draft, k * targets, &least) ? k : best;
    if (each > k / 2 && each <= k && each <= draft->ranks / targets)
        best = is_cheaper(draft, each * targets, &least) ? each : best;
    return best;
}

static const char *target_name(const sagoi_draft *draft) { return draft->parted ? "subfiles" : "storage targets"; }

static void explain_per_target(sagoi_draft *draft, int64_t k, int64_t targets) {
    sagoi_draft_reason(draft, "aggregators: %" PRId64 ", %" PRId64 " for each of %" PRId64 " %s, %.4g ms%s",
                       k * targets, k, targets, target_name(draft),
                       sagoi_draft_estimate(draft, k * targets).seconds * 1e3,
                       describe_others(draft->plan, k * targets, cost_resolution).text);
}

static int64_t striped_count(sagoi_draft *draft) {
    int64_t targets = draft->targets, hint = draft->hints->per_target;
    if (targets > draft->ranks || (draft->machine->nodes == 1 && hint == 0)) {
        int64_t count = divisor_near(targets, sagoi_min(targets, draft->ranks));
        sagoi_draft_reason(draft, "aggregators: %" PRId64 ", for %" PRId64 " %s and %" PRId64 " ranks", count,
                           targets, target_name(draft), draft->ranks);
        return count;
    }
    int64_t k = hint > 0 ? sagoi_min(hint, draft->ranks / targets) : aggregators_per_target(draft, targets);
    if (hint > 0)
        sagoi_draft_reason(draft,
                           "aggregators: %" PRId64 ", %" PRId64 " for each of %" PRId64 " %s, hint %" PRId64,
                           k * targets, k, targets, target_name(draft), hint);
    else
        explain_per_target(draft, k, targets);
    return k * targets;
}

/* 004, 3.2: bisects until no aggregator owns more than Msg_ind. */
static int64_t bisected_count(sagoi_draft *draft, int64_t domain) {
    const sagoi_hints *given = draft->given;
    bool hinted = (draft->plan->write ? given->domain_write : given->domain_read) > 0;
    int64_t count = sagoi_min(draft->ranks, sagoi_div_up(draft->plan->high - draft->plan->low, domain));
    sagoi_draft_reason(draft, "aggregators: bisecting until none owns more than %s, %s",
                       sagoi_size_to_text(domain).text, hinted ? "hint" : "site file");
    return count;
}

/* One aggregator a node uses every node's link, unless messages cost more than that: then half as many, a quarter,
 * ... */
static int64_t cheapest_count(sagoi_draft *draft) {
    int64_t best = draft->machine->nodes;
    double least = 0;
    for (int64_t count = best; count >= 1; count /= 2)
        best = is_cheaper(draft, count, &least) ? count : best;
    return best;
}

static void explain_count(sagoi_draft *draft, int64_t count) {
    int64_t nodes = draft->machine->nodes;
    if (nodes == 1)
        sagoi_draft_reason(draft, "aggregators: %" PRId64 ", one a core, at most %d", count,
                           SAGOI_AGGREGATORS_OF_ONE_NODE);
    else
        sagoi_draft_reason(draft, "aggregators: %" PRId64 "%s, %.4g ms%s", count,
                           count == nodes ? ", one a node" : "", sagoi_draft_estimate(draft, count).seconds * 1e3,
                           describe_others(draft->plan, count, cost_resolution).text);
}

static int64_t unstriped_count(sagoi_draft *draft) {
    const sagoi_plan *plan = draft->plan;
    const sagoi_node *node = draft->machine->node;
    int64_t count = draft->machine->nodes > 1
                        ? cheapest_count(draft)
                        : sagoi_min(SAGOI_AGGREGATORS_OF_ONE_NODE, sagoi_min(node->ranks, node->cores));
    int64_t least = sagoi_max(draft->align, SAGOI_SMALLEST);
    int64_t pieces = sagoi_div_up(plan->high - sagoi_round_down(plan->low, draft->align), least);
    if (pieces < count)
        sagoi_draft_reason(draft, "aggregators: at most %" PRId64 ", pieces of %s", pieces,
                           sagoi_size_to_text(least).text);
    else
        explain_count(draft, count);
    return sagoi_min(count, pieces);
}

/* Uses the model that knows what storage costs a process, where that model decides. */
static bool weigh_aggregators(sagoi_draft *draft) {
    if (!sagoi_draft_modelled(draft))
        return false;
    sagoi_best choice = sagoi_draft_choose(draft);
    if (choice.aggregators == 0)
        return false;
    draft->aggregators = draft->plan->aggregators = choice.aggregators;
    draft->weighed_window = choice.window;
    draft->weighed_seconds = choice.seconds;
    draft->message_most = choice.short_messages ? SAGOI_MESSAGE_SHORT : 0;
    char each[64] = "";
    if (draft->stripe > 0 && choice.aggregators % draft->targets == 0)
        (void)snprintf(each, sizeof each, ", %" PRId64 " for each of %" PRId64 " storage targets",
                       choice.aggregators / draft->targets, draft->targets);
    bool hinted = draft->hints->aggregators > 0 || draft->hints->per_target > 0;
    if (hinted)
        draft->plan->ncompared = 0;
    sagoi_draft_reason(draft, "aggregators: %" PRId64 "%s, with windows of %s, %.4g ms%s%s", choice.aggregators,
                       each, sagoi_size_to_text(choice.window).text, choice.seconds * 1e3,
                       hinted ? ", hinted" : "",
                       hinted ? "" : describe_others(draft->plan, choice.aggregators, model_resolution).text);
    return true;
}

void sagoi_draft_aggregators(sagoi_draft *draft) {
    int64_t hint = draft->hints->aggregators;
    const sagoi_plan *plan = draft->plan;
    if (weigh_aggregators(draft))
        return;
    if (draft->stripe > 0 && plan->low / draft->stripe == (plan->high - 1) / draft->stripe) {
        sagoi_draft_reason(draft, "stripes: all in one of %s", sagoi_size_to_text(draft->stripe).text);
        draft->stripe = 0;
        draft->aggregators = 1;
    }
    if (hint > 0) {
        draft->aggregators = sagoi_min(hint, draft->ranks);
        sagoi_draft_reason(draft, "aggregators: %" PRId64 ", hint %" PRId64 "%s", draft->aggregators, hint,
                           hint > draft->ranks ? " but no more than ranks" : "");
    } else if (sagoi_draft_domain_hint(draft) > 0) {
        draft->aggregators = bisected_count(draft, sagoi_draft_domain_hint(draft));
    } else if (draft->stripe > 0) {
        draft->aggregators = striped_count(draft);
    } else if (draft->aggregators == 0) {
        draft->aggregators = unstriped_count(draft);
    }
    draft->plan->aggregators = draft->aggregators;
}

/* ---- Hints without effect ---- */

/* The reason why the hint has no effect although data is aggregated; NULL: it has one. */
static const char *why_domains_idle(const sagoi_draft *draft) {
    if (draft->given->aggregators > 0)
        return "the number of aggregators is hinted";
    if (draft->parted)
        return "blocks of subfiles come in turn";
    if (draft->form == SAGOI_FORM_TURNS)
        return "each node aggregates its own blocks";
    return draft->stripe > 0 && draft->given->per_target > 0 ? "aggregators for each storage target are hinted"
                                                             : NULL;
}

static const char *why_targets_idle(const sagoi_draft *draft) {
    if (draft->given->aggregators > 0)
        return "the number of aggregators is hinted";
    return draft->stripe == 0 ? "the access is not striped" : NULL;
}

static const char *why_needs_nodes(const sagoi_draft *draft) {
    return draft->machine->nodes == 1 ? "there is one node" : NULL;
}

static const char *why_groups_idle(const sagoi_draft *draft) {
    if (draft->machine->nodes == 1)
        return "there is one node";
    return draft->target->subfiles.count > 0 ? "subfiles decide the groups" : NULL;
}

/* A hint of the plan; one with a default counts as given where it says something else. */
typedef struct idle_row {
    const char *name;
    size_t field;
    int64_t usual;
    const char *(*why)(const sagoi_draft *draft); /* NULL: it has an effect wherever data is aggregated */
} idle_row;

#define HINT(field) offsetof(sagoi_hints, field)

static const idle_row idle_rows[] = {{"sago_domain_write", HINT(domain_write), 0, why_domains_idle},
                                     {"sago_domain_read", HINT(domain_read), 0, why_domains_idle},
                                     {"sago_aggregators_per_target", HINT(per_target), 0, why_targets_idle},
                                     {"sago_group_size", HINT(group_size), 0, why_groups_idle},
                                     {"sago_aggregators", HINT(aggregators), 0, NULL},
                                     {"sago_aggregators_per_node", HINT(per_node), 0, NULL},
                                     {"sago_local_aggregators", HINT(local_aggregators), 0, why_needs_nodes},
                                     {"sago_layers", HINT(layers), SAGOI_LAYERS_AUTO, why_needs_nodes},
                                     {"sago_placement", HINT(placement), SAGOI_PLACEMENT_AUTO, why_needs_nodes},
                                     {"sago_move", HINT(move), SAGOI_MOVE_AUTO, why_needs_nodes},
                                     {"sago_merge", HINT(merge), SAGOI_CHOICE_AUTO, why_needs_nodes},
                                     {"sago_host_memory", HINT(host_memory), 0, NULL},
                                     {"sago_window", HINT(window), 0, NULL},
                                     {"sago_messages", HINT(messages), SAGOI_MESSAGES_USUAL, NULL},
                                     {"sago_message_size", HINT(message_size), SAGOI_MESSAGE_USUAL, NULL}};

static void explain_idle(sagoi_draft *draft, const idle_row *row) {
    if (draft->plan->strategy == SAGOI_STRATEGY_AGGREGATED) {
        const char *why = row->why ? row->why(draft) : NULL;
        if (why)
            sagoi_draft_reason(draft, "%s: no effect, %s", row->name, why);
    } else if (sagoi_draft_aggregates_without(draft, row->field)) {
        sagoi_draft_reason(draft, "%s: with it nothing is aggregated", row->name);
    } else {
        sagoi_draft_reason(draft, "%s: no effect, nothing is aggregated", row->name);
    }
}

void sagoi_draft_explain_idle(sagoi_draft *draft) {
    size_t other = draft->plan->write ? HINT(domain_read) : HINT(domain_write); /* of the other direction */
    for (size_t i = 0; i < sizeof idle_rows / sizeof *idle_rows; i++) {
        int64_t value = *(const int64_t *)((const char *)draft->given + idle_rows[i].field);
        if (value > 0 && value != idle_rows[i].usual && idle_rows[i].field != other)
            explain_idle(draft, &idle_rows[i]);
    }
}
