/* How many aggregators, on which nodes, and which part of the file each owns. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/checked.h"
#include "plan/draft.h"

/* More than this many writers on one node only get in each other's way. */
static const int64_t most_on_one_node = 4;

/* ---- How many ----------------------------------------------------------------------------------------- */

/* Stripes go to aggregators by their number modulo A.  With A a divisor of the stripe count each storage target
 * still belongs to one aggregator (001, III); if that would cost more than half of them, it is not worth it. */
static int64_t divisor_near(int64_t count, int64_t at_most) {
    for (int64_t a = at_most; a > 0 && a >= at_most / 2; a--)
        if (count % a == 0)
            return a;
    return at_most;
}

static int64_t striped_count(sagoi_draft *draft) {
    int64_t targets = draft->target->stripe_count;
    int64_t count = targets <= draft->ranks ? targets : divisor_near(targets, draft->ranks);
    sagoi_draft_reason(draft, "aggregators: %" PRId64 ", for %" PRId64 " storage targets and %" PRId64 " ranks",
                       count, targets, draft->ranks);
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
    } else if (draft->aggregators == 0) {
        draft->aggregators = unstriped_count(draft);
    }
}

/* ---- Windows and slots -------------------------------------------------------------------------------- */

/* The largest multiple of a page that divides `whole` and is at most `most`; where that takes too long to find,
 * just a multiple. */
static int64_t piece_of(int64_t whole, int64_t most) {
    int64_t pages = whole / SAGOI_PAGE, fit = sagoi_max(1, most / SAGOI_PAGE);
    int64_t parts = sagoi_div_up(pages, fit);
    for (int64_t tries = 0; tries < 4096 && parts <= pages; tries++, parts++)
        if (pages % parts == 0)
            return pages / parts * SAGOI_PAGE;
    return fit * SAGOI_PAGE;
}

/* Dealt out: window number w of the file belongs to aggregator w mod A. */
static void lay_striped(sagoi_draft *draft, int64_t aggregators, int64_t window) {
    sagoi_plan *plan = draft->plan;
    if (window >= draft->stripe)
        plan->window = sagoi_round_down(window, draft->stripe);
    else
        plan->window = piece_of(draft->stripe, window);
    int64_t touched = (plan->high - 1) / plan->window - plan->low / plan->window + 1;
    plan->ndomains = sagoi_min(aggregators, touched);
}

/* Bytes of a domain that is contiguous: whole windows, and it ends at a multiple of the alignment. */
static int64_t domain_bytes(const sagoi_draft *draft, int64_t aggregators, int64_t window) {
    const sagoi_plan *plan = draft->plan;
    int64_t share = sagoi_div_up(plan->high - sagoi_round_down(plan->low, draft->align), aggregators);
    int64_t aligned = sagoi_round_up(share, draft->align);
    return sagoi_round_up(aligned, window);
}

/* Windows of at most `most` bytes that share `bytes` out evenly over the rounds, so that the last round is not
 * left with a rest.  Even to about 1/16: a round number is worth more to storage than the last percent. */
static int64_t even_window(int64_t bytes, int64_t most, int64_t align) {
    int64_t rounds = sagoi_div_up(bytes, most), window = sagoi_div_up(bytes, rounds), grain = align;
    while (grain * 2 <= window / 16)
        grain *= 2;
    return sagoi_min(sagoi_round_up(window, grain), most);
}

/* One contiguous range each. */
static void lay_contiguous(sagoi_draft *draft, int64_t aggregators, int64_t window) {
    sagoi_plan *plan = draft->plan;
    int64_t align = draft->align, base = sagoi_round_down(plan->low, align);
    if (window < align)
        plan->window = piece_of(align, window);
    else
        plan->window =
            even_window(domain_bytes(draft, aggregators, align), sagoi_round_down(window, align), align);
    plan->ndomains = sagoi_div_up(plan->high - base, domain_bytes(draft, aggregators, plan->window));
}

/* Aggregator i goes to node i * nodes / A; where a node has too few ranks, others take its part in turn. */
static void spread(sagoi_draft *draft, int64_t aggregators) {
    int64_t nodes = draft->machine->nodes, left = aggregators;
    const sagoi_node *node = draft->machine->node;
    for (int64_t n = 0; n < nodes; n++) {
        int64_t share = sagoi_div_up((n + 1) * aggregators, nodes) - sagoi_div_up(n * aggregators, nodes);
        draft->slots[n] = sagoi_min(share, node[n].ranks);
        left -= draft->slots[n];
    }
    for (int64_t n = 0; left > 0; n = (n + 1) % nodes)
        if (draft->slots[n] < node[n].ranks) {
            draft->slots[n]++;
            left--;
        }
    draft->plan->max_slots = 0;
    for (int64_t n = 0; n < nodes; n++)
        draft->plan->max_slots = sagoi_max(draft->plan->max_slots, draft->slots[n]);
}

void sagoi_draft_lay(sagoi_draft *draft, int64_t aggregators, int64_t window) {
    if (draft->stripe > 0)
        lay_striped(draft, aggregators, window);
    else
        lay_contiguous(draft, aggregators, window);
    spread(draft, draft->plan->ndomains);
}

/* ---- The domains themselves --------------------------------------------------------------------------- */

static void fill_striped(sagoi_plan *plan) {
    int64_t first_window = plan->low / plan->window;
    for (int64_t d = 0; d < plan->ndomains; d++) {
        sagoi_domain *domain = &plan->domains[d];
        domain->first = (first_window + d) * plan->window;
        domain->stride = plan->ndomains * plan->window;
        domain->windows = sagoi_div_up(plan->high - domain->first, domain->stride);
    }
}

static void fill_contiguous(sagoi_plan *plan, int64_t base, int64_t bytes) {
    for (int64_t d = 0; d < plan->ndomains; d++) {
        sagoi_domain *domain = &plan->domains[d];
        int64_t begin = base + d * bytes, end = sagoi_min(begin + bytes, plan->high);
        if (d == 0) /* windows smaller than the alignment may lie before `low` altogether */
            begin += sagoi_round_down(plan->low - base, plan->window);
        domain->first = begin;
        domain->stride = plan->window;
        domain->windows = sagoi_div_up(end - begin, plan->window);
    }
}

/* Aggregators are numbered node by node; aggregator a owns domain a - turn, modulo their number. */
static void place(sagoi_draft *draft, int64_t turn) {
    sagoi_plan *plan = draft->plan;
    int64_t aggregator = 0;
    for (int64_t n = 0; n < plan->nodes; n++)
        for (int64_t s = 0; s < draft->slots[n]; s++, aggregator++) {
            sagoi_domain *domain = &plan->domains[(aggregator + plan->ndomains - turn) % plan->ndomains];
            domain->node = n;
            domain->slot = s;
        }
}

sago_status sagoi_draft_domains(sagoi_draft *draft) {
    sagoi_plan *plan = draft->plan;
    plan->domains = calloc((size_t)plan->ndomains, sizeof *plan->domains);
    if (!plan->domains)
        return sagoi_fail(SAGO_ERR_MEMORY, "plan: no memory for %" PRId64 " domains", plan->ndomains);
    if (draft->stripe > 0) {
        fill_striped(plan);
        place(draft, plan->low / plan->window % plan->ndomains);
    } else {
        /* what sagoi_draft_lay() was given, before it found that fewer do */
        fill_contiguous(plan, sagoi_round_down(plan->low, draft->align),
                        domain_bytes(draft, draft->aggregators, plan->window));
        place(draft, 0);
    }
    for (int64_t d = 0; d < plan->ndomains; d++)
        plan->rounds = sagoi_max(plan->rounds, plan->domains[d].windows);
    return SAGO_OK;
}
