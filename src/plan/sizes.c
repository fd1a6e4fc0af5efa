/* Window, staging and messages: as large as is useful, then smaller until every node's memory holds them. */
#include <inttypes.h>

#include "base/checked.h"
#include "plan/hosts.h"

/* ---- What a plan needs -------------------------------------------------------------------------------- */

static int64_t paged(int64_t bytes) { return sagoi_round_up(bytes, SAGOI_PAGE); }

static int64_t segment_bytes(const sagoi_plan *plan, int64_t ranks, int64_t slots, int64_t reach) {
    if (plan->strategy != SAGOI_STRATEGY_AGGREGATED)
        return 0;
    int64_t bytes = SAGOI_PAGE + slots * 2 * paged(plan->window);
    if (plan->write && !plan->dense)
        bytes += slots * 2 * paged(plan->window / 8);
    if (plan->nodes > 1)
        bytes += ranks * 2 * paged(plan->staging) + paged(ranks * reach * 2 * 16);
    return bytes;
}

int64_t sagoi_plan_segment_bytes(const sagoi_plan *plan, int64_t ranks, int64_t slots) {
    return segment_bytes(plan, ranks, slots, plan->ndomains);
}

int64_t sagoi_plan_node_segment_bytes(const sagoi_plan *plan, int64_t node, int64_t ranks) {
    int64_t first;
    return segment_bytes(plan, ranks, plan->node_slots[node], sagoi_plan_reach(plan, node, &first));
}

int64_t sagoi_plan_private_bytes(const sagoi_plan *plan, int64_t ranks, int64_t slots) {
    if (plan->strategy != SAGOI_STRATEGY_AGGREGATED || plan->nodes == 1)
        return 0;
    int64_t merging = plan->merge ? sagoi_min(plan->local_aggregators, ranks) : 0;
    return (slots * plan->messages + merging) * plan->message;
}

int64_t sagoi_plan_relay_bytes(const sagoi_plan *plan, int64_t node) {
    if (plan->node_relay[node] != node)
        return 0;
    return plan->relay_slots * ((plan->write ? 1 : 2) * plan->message + plan->ndomains * SAGOI_RELAY_ENTRY);
}

static int64_t node_needs(const sagoi_draft *draft, int64_t n, int64_t slots) {
    int64_t ranks = draft->machine->node[n].ranks;
    return sagoi_plan_segment_bytes(draft->plan, ranks, slots) +
           sagoi_plan_private_bytes(draft->plan, ranks, slots);
}

/* The node that is worst off: with the least memory left, or most missing; `slots` NULL: no node has
 * aggregators. */
static int64_t tightest_node(const sagoi_draft *draft, const int64_t *slots) {
    int64_t tightest = 0, least = INT64_MAX;
    for (int64_t n = 0; n < draft->machine->nodes; n++) {
        int64_t left = draft->machine->node[n].memory - node_needs(draft, n, slots ? slots[n] : 0);
        if (left < least) {
            least = left;
            tightest = n;
        }
    }
    return tightest;
}

/* ---- Choosing ----------------------------------------------------------------------------------------- */

static int64_t or_usual(int64_t hint, int64_t usual) { return hint > 0 ? hint : usual; }

/* Staging: twice a rank's even share of what one round moves, and some more for uneven shares.  Messages: no
 * larger than a full window with its packed list. */
static void size_buffers(sagoi_draft *draft) {
    sagoi_plan *plan = draft->plan;
    if (plan->nodes == 1) /* ranks copy straight into the windows */
        return;
    int64_t share = sagoi_div_up(2 * plan->ndomains * plan->window, draft->ranks);
    plan->staging = sagoi_min(paged(share + SAGOI_SMALLEST), SAGOI_STAGING_MOST);
    int64_t useful = plan->window + plan->window / 4 + SAGOI_SMALLEST;
    plan->message =
        sagoi_max(SAGOI_SMALLEST, sagoi_min(or_usual(draft->hints->message_size, SAGOI_MESSAGE_USUAL), useful));
    if (draft->message_most > 0)
        plan->message = sagoi_min(plan->message, draft->message_most);
    if (draft->message_most > 0 && draft->weighed_window > 0) /* as weigh.c counts it */
        plan->staging = sagoi_min(plan->staging, SAGOI_STAGING_SHORT);
    plan->messages = or_usual(draft->hints->messages, SAGOI_MESSAGES_USUAL);
}

/* Small staging only costs more passes, so windows must not shrink for the sake of one node's staging, whether
 * that node aggregates or not. */
static void fit_staging(sagoi_draft *draft, bool keep_reserve) {
    sagoi_plan *plan = draft->plan;
    for (int64_t n = 0; plan->nodes > 1 && n < plan->nodes; n++) {
        const sagoi_node *node = &draft->machine->node[n];
        int64_t over = node_needs(draft, n, 0) - (node->memory - (keep_reserve ? node->memory / 4 : 0));
        if (over > 0)
            plan->staging = sagoi_max(
                sagoi_min(plan->staging, SAGOI_SMALLEST),
                sagoi_round_down(sagoi_max(0, plan->staging - sagoi_div_up(over, 2 * node->ranks)), SAGOI_PAGE));
    }
}

/* A quarter is kept for memory that the plan does not count (lists of runs, caches), as long as that is
 * possible. */
static sago_status try_these_groups(sagoi_draft *draft, int64_t window, bool *placed) {
    sagoi_draft_lay(draft, draft->aggregators, window);
    size_buffers(draft);
    fit_staging(draft, true);
    return sagoi_draft_domains(draft, true, placed);
}

static sago_status try_window(sagoi_draft *draft, int64_t window, bool *placed) {
    for (;;) {
        sago_status status = try_these_groups(draft, window, placed);
        if (status != SAGO_OK || *placed || !sagoi_draft_merge_groups(draft, sagoi_hosts_able(draft->hosts)))
            return status;
    }
}

/* Groups keep data near.  But if some nodes are too poor for windows of this size, a few nodes have to do the work
 * of their group, or all windows shrink.  If it is known that requests cost something, all nodes then become one
 * group, in which the richest aggregate. */
static sago_status try_together(sagoi_draft *draft, int64_t window, bool *placed) {
    sago_status status = try_window(draft, window, placed);
    if (status != SAGO_OK || (*placed && !draft->refused) || draft->weighed_window == 0 ||
        draft->plan->groups == 1 || draft->form == SAGOI_FORM_DEALT || draft->target->subfiles.count > 0)
        return status;
    sagoi_draft_one_group(draft);
    if (draft->stripe > 0) /* ranges of equal length would all be at the same storage targets in every round */
        draft->form = SAGOI_FORM_DEALT;
    sagoi_draft_reason(draft, "groups: 1 after all, some nodes have too little memory for windows of %s",
                       sagoi_size_to_text(window).text);
    return try_window(draft, window, placed);
}

/* Rounds of so many windows of even ranges. */
static int64_t even_rounds(const sagoi_draft *draft, int64_t window) {
    int64_t span = draft->plan->high - draft->plan->low;
    return sagoi_div_up(sagoi_div_up(span, draft->aggregators), window);
}

/* The window with which the longest range takes as many rounds as were weighed; 0: no such window is wanted.
 * Groups end where nodes' data does, so that their ranges are longer than even ones (groups.c), and would take a
 * round more for a few bytes: as many requests more, each of which keeps a storage target that seeks. */
static int64_t window_of_rounds(sagoi_draft *draft) {
    int64_t weighed = draft->weighed_window;
    if (weighed == 0 || draft->machine->topology->seek <= 0 || draft->form != SAGOI_FORM_RANGES ||
        draft->hints->window > 0)
        return 0;
    int64_t longest = sagoi_draft_longest(draft, draft->aggregators);
    int64_t window = sagoi_round_up(sagoi_div_up(longest, even_rounds(draft, weighed)), draft->align);
    return window <= 2 * weighed ? window : 0;
}

/* Tries a longer window for the sake of the rounds, with which the groups must stay as they are, and every node
 * able to host an aggregator. */
static sago_status lengthen_window(sagoi_draft *draft, int64_t *window, bool *placed) {
    int64_t longer = window_of_rounds(draft);
    *placed = false;
    if (longer <= *window)
        return SAGO_OK;
    sago_status status = try_these_groups(draft, longer, placed);
    *placed = status == SAGO_OK && *placed && !draft->refused &&
              draft->plan->rounds <= even_rounds(draft, draft->weighed_window);
    if (*placed)
        *window = longer;
    return status;
}

/* Halves *window until all domains have hosts.  If some nodes are too poor for such windows and others are not,
 * smaller windows could have more hosts: the number of rounds decides. */
static sago_status shrink_window(sagoi_draft *draft, int64_t *window, bool *placed) {
    int64_t smallest = sagoi_min(*window, SAGOI_SMALLEST), best = 0, fewest = INT64_MAX, tried = *window;
    bool found;
    sago_status longer = lengthen_window(draft, window, placed);
    if (longer != SAGO_OK || *placed)
        return longer;
    for (;; tried = sagoi_max(smallest, sagoi_round_down(tried / 2, SAGOI_PAGE))) {
        sago_status status = try_together(draft, tried, &found);
        if (status != SAGO_OK)
            return status;
        if (found && draft->plan->rounds < fewest) {
            fewest = draft->plan->rounds;
            best = tried;
        }
        if ((found && (!draft->refused || sagoi_hosts_fixed(draft->hosts))) || tried <= smallest)
            break;
    }
    *placed = best > 0;
    if (best > 0)
        *window = best;
    return best == 0 || best == tried ? SAGO_OK : try_window(draft, best, placed);
}

/* Memory has made windows smaller than wanted, or has left nodes without an aggregator.  Shorter messages leave
 * more memory for windows: the number of rounds decides. */
static sago_status try_short_messages(sagoi_draft *draft, int64_t wanted, int64_t *window) {
    int64_t rounds = draft->plan->rounds, message = draft->plan->message, larger = wanted;
    bool placed;
    bool enough = *window >= wanted && !draft->refused;
    if (enough || draft->plan->nodes == 1 || message <= SAGOI_MESSAGE_SHORT)
        return SAGO_OK;
    draft->message_most = SAGOI_MESSAGE_SHORT;
    sago_status status = shrink_window(draft, &larger, &placed);
    if (status != SAGO_OK)
        return status;
    if (placed && draft->plan->rounds < rounds) {
        sagoi_draft_reason(draft,
                           "messages: short ones, %" PRId64 " rounds; %s each would leave memory for %" PRId64,
                           draft->plan->rounds, sagoi_size_to_text(message).text, rounds);
        *window = larger;
        return SAGO_OK;
    }
    draft->message_most = 0;
    return try_window(draft, *window, &placed);
}

/* Tries the smallest window with the smallest staging and messages, then with fewer messages in flight, without a
 * reserve. */
static sago_status shrink_buffers(sagoi_draft *draft, bool *placed) {
    sagoi_plan *plan = draft->plan;
    int64_t domains = plan->ndomains;
    sago_status status = sagoi_draft_domains(draft, false, placed);
    if (status != SAGO_OK || *placed)
        return status;
    plan->staging = sagoi_min(plan->staging, SAGOI_SMALLEST);
    plan->message = sagoi_min(plan->message, SAGOI_SMALLEST);
    for (;; plan->messages /= 2) {
        plan->ndomains = domains;
        status = sagoi_draft_domains(draft, false, placed);
        if (status != SAGO_OK || *placed || plan->messages <= 1)
            return status;
    }
}

/* Fails with the memory that every node needs anyway, or that one aggregator needs on the node with most
 * memory. */
static sago_status fail_memory(const sagoi_draft *draft) {
    int64_t n = tightest_node(draft, NULL), need = node_needs(draft, n, 0);
    if (need <= draft->machine->node[n].memory) {
        for (int64_t i = 0; i < draft->machine->nodes; i++)
            if (draft->machine->node[i].memory > draft->machine->node[n].memory)
                n = i;
        need = sagoi_max(node_needs(draft, n, 1), node_needs(draft, n, 0) + draft->hints->host_memory);
    }
    return sagoi_fail(SAGO_ERR_MEMORY,
                      "memory: the smallest plan needs %" PRId64 " bytes on node %" PRId64 " (%" PRId64
                      " ranks), which may use %" PRId64,
                      need, n, draft->machine->node[n].ranks, draft->machine->node[n].memory);
}

static void explain_window(sagoi_draft *draft, int64_t wanted, int64_t window) {
    sagoi_size_text is = sagoi_size_to_text(draft->plan->window);
    if (draft->hints->window > 0)
        sagoi_draft_reason(draft, "window: %s, hint %s", is.text, sagoi_size_to_text(wanted).text);
    else if (draft->form != SAGOI_FORM_TURNS && draft->stripe > 0)
        sagoi_draft_reason(draft, "window: %s, %s are %s", is.text, draft->parted ? "blocks" : "stripes",
                           sagoi_size_to_text(draft->stripe).text);
    else if (draft->plan->window <= wanted)
        sagoi_draft_reason(draft, "window: %s, at most %s and even over the rounds", is.text,
                           sagoi_size_to_text(wanted).text);
    else
        sagoi_draft_reason(draft, "window: %s", is.text);
    if (draft->plan->window > wanted)
        sagoi_draft_reason(
            draft,
            "window: longer than %s, so that the longest range takes no more rounds than even ones: %" PRId64,
            sagoi_size_to_text(wanted).text, draft->plan->rounds);
    if (window < wanted)
        sagoi_draft_reason(draft, "window: at most %s rather than %s, for want of memory",
                           sagoi_size_to_text(window).text, sagoi_size_to_text(wanted).text);
    if (sagoi_plan_sectioned(draft->plan))
        sagoi_draft_reason(draft,
                           "stripes: dealt out in %" PRId64
                           " sections of the file, so that aggregators of a storage target wait for no locks",
                           sagoi_draft_sections(draft, draft->aggregators, draft->plan->domains[0].block));
    else if (draft->stripe > 0 && !draft->parted && draft->plan->window % draft->stripe != 0)
        sagoi_draft_reason(draft, "stripes: cut, so several aggregators share a storage target");
}

static void explain_memory(sagoi_draft *draft) {
    const sagoi_plan *plan = draft->plan;
    int64_t n = tightest_node(draft, plan->node_slots);
    if (plan->nodes > 1)
        sagoi_draft_reason(draft, "buffers: staging 2 x %s a rank, %" PRId64 " messages of %s an aggregator",
                           sagoi_size_to_text(plan->staging).text, plan->messages,
                           sagoi_size_to_text(plan->message).text);
    sagoi_draft_reason(draft, "memory: tightest is node %" PRId64 ", %s of %s", n,
                       sagoi_size_to_text(node_needs(draft, n, plan->node_slots[n])).text,
                       sagoi_size_to_text(draft->machine->node[n].memory).text);
}

/* Between nodes there are several rounds if there is enough to move, so that the next window is on its way while
 * one is stored. */
int64_t sagoi_draft_wanted_window(const sagoi_draft *draft, int64_t aggregators) {
    int64_t most = sagoi_draft_window(draft), least = sagoi_max(SAGOI_WINDOW_OF_ROUNDS_LEAST, draft->locks);
    if (draft->weighed_window > 0)
        return draft->weighed_window;
    if (draft->hints->window > 0 || draft->stripe > 0 || draft->machine->nodes == 1)
        return most;
    int64_t hint = sagoi_draft_domain_hint(draft), span = draft->plan->high - draft->plan->low;
    int64_t domain = hint > 0 ? sagoi_min(sagoi_draft_bisected(draft, span), span) : span / aggregators;
    return sagoi_min(most, sagoi_max(least, sagoi_round_up(domain / SAGOI_ROUNDS_WANTED, SAGOI_PAGE)));
}

/* Says why there are other domains than aggregators were wanted. */
static void explain_domains(sagoi_draft *draft, bool remerged) {
    const sagoi_plan *plan = draft->plan;
    int64_t unit = draft->form == SAGOI_FORM_RANGES ? sagoi_max(draft->align, plan->window) : plan->window;
    if (plan->ndomains == draft->aggregators)
        return;
    if (remerged)
        sagoi_draft_reason(draft, "aggregators: %" PRId64 " rather than %" PRId64 ", no node can host more",
                           plan->ndomains, draft->aggregators);
    else if (sagoi_draft_domain_hint(draft) > 0 && draft->form == SAGOI_FORM_RANGES)
        sagoi_draft_reason(draft, "aggregators: %" PRId64 ", as bisecting comes to", plan->ndomains);
    else if (draft->form == SAGOI_FORM_TURNS)
        sagoi_draft_reason(draft, "aggregators: %" PRId64 " rather than %" PRId64 ", one for each node's blocks",
                           plan->ndomains, draft->aggregators);
    else if (plan->groups > 1)
        sagoi_draft_reason(draft,
                           "aggregators: %" PRId64 " rather than %" PRId64 ", %" PRId64
                           " groups are shared out in whole windows of %s",
                           plan->ndomains, draft->aggregators, plan->groups, sagoi_size_to_text(unit).text);
    else
        sagoi_draft_reason(draft,
                           "aggregators: %" PRId64 " rather than %" PRId64
                           ", each has whole windows of %s, the last one what is left",
                           plan->ndomains, draft->aggregators, sagoi_size_to_text(unit).text);
}

static void explain_hosts(sagoi_draft *draft, int64_t aggregators) {
    const sagoi_plan *plan = draft->plan;
    int64_t poor = 0, remerged = draft->form == SAGOI_FORM_RANGES ? draft->by_sibling + draft->by_descendant : 0;
    if (draft->aggregators < aggregators)
        sagoi_draft_reason(draft, "aggregators: %" PRId64 " rather than %" PRId64 ", for want of memory",
                           draft->aggregators, aggregators);
    explain_domains(draft, remerged > 0);
    int64_t moved = plan->nodes > 1 ? sagoi_hosts_moved(draft->hosts) : 0;
    if (moved > 0)
        sagoi_draft_reason(draft,
                           "routes: %" PRId64 " of %" PRId64
                           " domains are elsewhere than C1 + C2 is least, to share links less",
                           moved, plan->ndomains);
    for (int64_t n = 0; n < plan->nodes; n++)
        poor += plan->node_slots[n] == 0;
    if (draft->refused && poor > 0)
        sagoi_draft_reason(draft,
                           "hosts: %" PRId64 " of %" PRId64 " nodes; some have too little memory for a window",
                           plan->nodes - poor, plan->nodes);
    if (remerged > 0)
        sagoi_draft_reason(draft,
                           "domains: %" PRId64 " without a host, taken over by a sibling, %" PRId64
                           " by the nearest leaf of a sibling",
                           draft->by_sibling, draft->by_descendant);
}

/* Memory makes windows smaller than a stripe, and stripes are dealt out: then several aggregators share a storage
 * target, and rounds are many.  Ranges of whole stripes may take fewer; those without a host are remerged (004,
 * 3.3). */
static sago_status try_ranges(sagoi_draft *draft, int64_t wanted, int64_t *window) {
    int64_t rounds = draft->plan->rounds, align = draft->align;
    bool placed, fixed = draft->plan->nodes == 1 || sagoi_hosts_fixed(draft->hosts);
    if (draft->form != SAGOI_FORM_DEALT || draft->parted || fixed || draft->plan->window % draft->stripe == 0)
        return SAGO_OK;
    draft->form = SAGOI_FORM_RANGES;
    draft->align = sagoi_round_up(align, draft->stripe);
    sago_status status = try_window(draft, wanted, &placed);
    if (status != SAGO_OK)
        return status;
    if (placed && draft->plan->window % draft->stripe == 0 && draft->plan->rounds < rounds) {
        sagoi_draft_reason(
            draft, "stripes: ranges of whole ones, %" PRId64 " rounds; dealt out, memory would cut them: %" PRId64,
            draft->plan->rounds, rounds);
        *window = wanted;
        return SAGO_OK;
    }
    draft->form = SAGOI_FORM_DEALT;
    draft->align = align;
    return try_window(draft, *window, &placed);
}

/* Chooses between stripes in turn to one node's aggregators and to all nodes' in turn, by the load on the links
 * between switches (000, VI: its future work). */
static sago_status try_scattered(sagoi_draft *draft, int64_t window) {
    double together = draft->form == SAGOI_FORM_DEALT && !draft->parted ? sagoi_draft_switch_seconds(draft) : 0;
    bool placed;
    if (together <= 0 || draft->plan->placement != SAGOI_PLACEMENT_COST ||
        draft->plan->ndomains <= draft->plan->nodes)
        return SAGO_OK;
    draft->scattered = true;
    sago_status status = try_window(draft, window, &placed);
    if (status != SAGO_OK)
        return status;
    double apart = placed ? sagoi_draft_switch_seconds(draft) : together;
    draft->scattered = apart < together * (1 - 1.0 / SAGOI_COST_RESOLUTION);
    sagoi_draft_reason(
        draft, "routes: stripes go to the nodes %s; the busiest link between switches takes %.4g ms, else %.4g",
        draft->scattered ? "in turn" : "as they come", (draft->scattered ? apart : together) * 1e3,
        (draft->scattered ? together : apart) * 1e3);
    return draft->scattered ? SAGO_OK : try_window(draft, window, &placed);
}

sago_status sagoi_draft_sizes(sagoi_draft *draft) {
    int64_t aggregators = draft->aggregators, wanted = sagoi_draft_wanted_window(draft, aggregators);
    int64_t window = wanted;
    bool placed = false;
    for (;;) {
        sago_status status = shrink_window(draft, &window, &placed);
        if (status == SAGO_OK && placed)
            status = try_short_messages(draft, wanted, &window);
        if (status == SAGO_OK && placed)
            status = try_ranges(draft, wanted, &window);
        if (status == SAGO_OK && placed)
            status = try_scattered(draft, window);
        if (status == SAGO_OK && !placed) {
            window = sagoi_min(wanted, SAGOI_SMALLEST);
            status = shrink_buffers(draft, &placed);
        }
        if (status != SAGO_OK || placed) {
            if (status != SAGO_OK)
                return status;
            break;
        }
        if (draft->aggregators == 1)
            return fail_memory(draft);
        draft->aggregators /= 2;
    }
    explain_hosts(draft, aggregators);
    explain_window(draft, wanted, window);
    explain_memory(draft);
    return SAGO_OK;
}
