/* How many aggregators there are to be. */
#include <inttypes.h>

#include "base/checked.h"
#include "plan/draft.h"

/* More than this many writers on one node only get in each other's way. */
static const int64_t most_on_one_node = 4;

/* Stripes go to aggregators by their number modulo A.  With A a divisor of the stripe count each storage target
 * still belongs to one aggregator (001, III); if that would cost more than half of them, it is not worth it. */
static int64_t divisor_near(int64_t count, int64_t at_most) {
    for (int64_t a = at_most; a > 0 && a >= at_most / 2; a--)
        if (count % a == 0)
            return a;
    return at_most;
}

/* k: each aggregator's part of gathering falls with their number, as long as they are spread over the nodes and
 * have some rounds to overlap.  000 found 2 best on 512 nodes, 4 on 1,024, 8 on 2,048: powers of two, up to a
 * quarter of the nodes. */
static int64_t aggregators_per_target(const sagoi_draft *draft, int64_t targets) {
    static const int64_t nodes_each = 4, rounds = 4;
    int64_t stripes = (draft->plan->high - draft->plan->low) / draft->stripe, k = 1;
    while (2 * k * targets * nodes_each <= draft->machine->nodes && 2 * k * targets * rounds <= stripes)
        k *= 2;
    return k;
}

static int64_t striped_count(sagoi_draft *draft) {
    int64_t targets = draft->target->stripe_count, hint = draft->hints->per_target;
    int64_t k = hint > 0 ? hint : aggregators_per_target(draft, targets);
    int64_t wanted = targets * sagoi_min(k, sagoi_max(1, draft->ranks / targets));
    int64_t count = wanted <= draft->ranks ? wanted : divisor_near(targets, draft->ranks);
    if (count > targets)
        sagoi_draft_reason(draft, "aggregators: %" PRId64 ", %" PRId64 " for each of %" PRId64 " storage targets",
                           count, count / targets, targets);
    else
        sagoi_draft_reason(draft,
                           "aggregators: %" PRId64 ", for %" PRId64 " storage targets and %" PRId64 " ranks",
                           count, targets, draft->ranks);
    return count;
}

/* 004, 3.2: as many as bisecting takes until none owns more than Msg_ind. */
static int64_t bisected_count(sagoi_draft *draft, int64_t domain) {
    int64_t count = sagoi_min(draft->ranks, sagoi_div_up(draft->plan->high - draft->plan->low, domain));
    sagoi_draft_reason(draft, "aggregators: bisecting until none owns more than %s, hint",
                       sagoi_size_to_text(domain).text);
    return count;
}

static int64_t unstriped_count(sagoi_draft *draft) {
    const sagoi_plan *plan = draft->plan;
    const sagoi_node *node = draft->machine->node;
    int64_t nodes = draft->machine->nodes;
    int64_t count = nodes > 1 ? nodes : sagoi_min(most_on_one_node, sagoi_min(node->ranks, node->cores));
    int64_t least = sagoi_max(draft->align, SAGOI_SMALLEST);
    int64_t pieces = sagoi_div_up(plan->high - sagoi_round_down(plan->low, draft->align), least);
    const char *per = nodes > 1 ? "one a node" : "one a core, at most 4";
    if (pieces < count)
        sagoi_draft_reason(draft, "aggregators: at most %" PRId64 ", pieces of %s rather than %s", pieces,
                           sagoi_size_to_text(least).text, per);
    else
        sagoi_draft_reason(draft, "aggregators: %" PRId64 ", %s", count, per);
    return sagoi_min(count, pieces);
}

void sagoi_draft_aggregators(sagoi_draft *draft) {
    int64_t hint = draft->hints->aggregators;
    const sagoi_plan *plan = draft->plan;
    if (draft->stripe > 0 && plan->low / draft->stripe == (plan->high - 1) / draft->stripe) {
        sagoi_draft_reason(draft, "stripes: all in one of %s", sagoi_size_to_text(draft->stripe).text);
        draft->stripe = 0;
        draft->aggregators = 1;
    }
    if (hint > 0) {
        draft->aggregators = sagoi_min(hint, draft->ranks);
        sagoi_draft_reason(draft, "aggregators: %" PRId64 ", hint %" PRId64 "%s", draft->aggregators, hint,
                           hint > draft->ranks ? " but no more than ranks" : "");
    } else if (draft->stripe > 0) {
        draft->aggregators = striped_count(draft);
    } else if (sagoi_draft_domain_hint(draft) > 0) {
        draft->aggregators = bisected_count(draft, sagoi_draft_domain_hint(draft));
    } else if (draft->aggregators == 0) {
        draft->aggregators = unstriped_count(draft);
    }
}
