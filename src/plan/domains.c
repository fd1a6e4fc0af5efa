/* Which part of the file each aggregator owns: ranges from bisecting a tree, or stripes or blocks in turn. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/checked.h"
#include "plan/hosts.h"
#include "plan/spread.h"
#include "plan/tree.h"

/* ---- Windows ------------------------------------------------------------------------------------------ */

/* The largest multiple of a page that divides `whole` and is at most `most`; if finding that takes too long, any
 * multiple. */
static int64_t piece_of(int64_t whole, int64_t most) {
    int64_t pages = whole / SAGOI_PAGE, fit = sagoi_max(1, most / SAGOI_PAGE);
    int64_t parts = sagoi_max(1, sagoi_div_up(pages, fit));
    for (int64_t tries = 0; tries < 4096 && parts <= pages; tries++, parts++)
        if (pages % parts == 0)
            return pages / parts * SAGOI_PAGE;
    return fit * SAGOI_PAGE;
}

/* Windows of at most `most` bytes that divide `bytes` evenly over the rounds, so that the last round is not nearly
 * empty; even to about 1/16, since a round number matters more to storage than the last percent. */
static int64_t even_window(int64_t bytes, int64_t most, int64_t align) {
    int64_t rounds = sagoi_max(1, sagoi_div_up(bytes, most)), window = sagoi_div_up(bytes, rounds), grain = align;
    while (grain * 2 <= window / 16)
        grain *= 2;
    return sagoi_min(sagoi_round_up(window, grain), most);
}

bool sagoi_draft_locks_wait(const sagoi_draft *draft) {
    const sagoi_topology *topology = draft->machine->topology;
    return draft->plan->write && draft->stripe > 0 && !draft->parted && draft->machine->nodes > 1 && topology &&
           topology->request > 0 && topology->lock > 0;
}

/* If each aggregator has one window, a part of a stripe is waited for no more often than a stripe. */
int64_t sagoi_draft_dealt(const sagoi_draft *draft, int64_t aggregators, int64_t window) {
    const sagoi_plan *plan = draft->plan;
    if (window >= draft->stripe || !sagoi_draft_locks_wait(draft))
        return window;
    return (plan->high - 1) / window - plan->low / window < aggregators ? window : draft->stripe;
}

/* Whole blocks of subfiles are dealt out, so that each subfile has aggregators of its own, however small the
 * windows are. */
static int64_t dealt_bytes(const sagoi_draft *draft) {
    return draft->parted ? draft->stripe : sagoi_draft_dealt(draft, draft->aggregators, draft->plan->window);
}

/* ---- Sections: several aggregators of each storage target, without their locks --------------------------- */

/* Lustre's server gives a client the lock of a target's whole part of the file from its first write on, up to what
 * other clients have.  If stripes went in turn to several aggregators of a target, the lock would move at every
 * stripe.  So the file is cut into as many sections as each target has aggregators, and every section's stripes
 * are dealt out to one aggregator for each target: then an aggregator's next write is next in the target's part of
 * the file, too. */
typedef struct sections {
    int64_t count;
    int64_t each;       /* aggregators of one section, one for each target */
    int64_t bytes;      /* bytes of a turn: what each of those gets at a time */
    int64_t first;      /* the turn in which the access begins */
    int64_t base, over; /* turns of a section; the first `over` sections have one more */
} sections;

int64_t sagoi_draft_turn(const sagoi_draft *draft, int64_t dealt) {
    int64_t turn;
    if (dealt <= 0 || draft->stripe <= 0 || sagoi_mul(draft->targets, draft->stripe, &turn))
        return 0;
    if (dealt % turn == 0) /* all targets at a time */
        return 1;
    return turn % dealt == 0 ? turn / dealt : 0;
}

/* count == 1: there are no sections, since a target has one aggregator, or every aggregator has one window. */
static sections sections_of(const sagoi_draft *draft, int64_t aggregators, int64_t dealt) {
    const sagoi_plan *plan = draft->plan;
    sections s = {.count = 1, .each = sagoi_draft_locks_wait(draft) ? sagoi_draft_turn(draft, dealt) : 0};
    bool exact = draft->hints->aggregators > 0;
    bool all = (plan->high - 1) / dealt - plan->low / dealt < aggregators; /* each aggregator has one window */
    if (s.each == 0 || all || dealt < draft->stripe || aggregators < 2 * s.each ||
        (exact && aggregators % s.each != 0))
        return s;
    s.bytes = s.each * dealt;
    s.first = plan->low / s.bytes;
    int64_t turns = (plan->high - 1) / s.bytes - s.first + 1, count = aggregators / s.each;
    if (turns <= count)
        return s;
    s.count = count;
    s.base = turns / count;
    s.over = turns % count;
    return s;
}

int64_t sagoi_draft_sections(const sagoi_draft *draft, int64_t aggregators, int64_t dealt) {
    return sections_of(draft, aggregators, dealt).count;
}

/* Where a section begins; the first section begins where its turn does. */
static int64_t section_start(const sections *s, int64_t number) {
    return (s->first + number * s->base + sagoi_min(number, s->over)) * s->bytes;
}

/* The last section may be shorter than a turn. */
static int64_t section_domains(const sagoi_plan *plan, const sections *s) {
    int64_t last = plan->high - section_start(s, s->count - 1);
    return (s->count - 1) * s->each + sagoi_min(s->each, sagoi_div_up(last, s->bytes / s->each));
}

/* Dealt out: window (or block) number w of the file belongs to aggregator w mod A. */
static void lay_dealt(sagoi_draft *draft, int64_t aggregators, int64_t window) {
    sagoi_plan *plan = draft->plan;
    if (draft->parted)
        plan->window =
            even_window(draft->stripe, sagoi_max(SAGOI_PAGE, sagoi_round_down(window, SAGOI_PAGE)), SAGOI_PAGE);
    else if (window < draft->stripe)
        plan->window = piece_of(draft->stripe, window);
    else
        plan->window = sagoi_round_down(window, draft->stripe);
    int64_t dealt = dealt_bytes(draft);
    int64_t touched = (plan->high - 1) / dealt - plan->low / dealt + 1;
    sections s = sections_of(draft, aggregators, dealt);
    plan->ndomains = s.count > 1 ? section_domains(plan, &s) : sagoi_min(aggregators, touched);
}

static void lay_turns(sagoi_draft *draft, int64_t window) {
    int64_t longest = 0;
    for (int64_t i = 0; i < draft->nturns; i++)
        longest = sagoi_max(longest, draft->turn[i].bytes);
    draft->plan->window = window >= longest ? longest : piece_of(longest, window);
    draft->plan->ndomains = draft->nturns;
}

/* Stripes are bisected only on request, since domains were measured without stripes.  So is a file on a machine
 * whose costs are known: the model compares all numbers of aggregators, and the measurement had one length. */
int64_t sagoi_draft_domain_hint(const sagoi_draft *draft) {
    bool asked = draft->stripe > 0 || sagoi_draft_costs_known(draft);
    const sagoi_hints *hints = asked ? draft->given : draft->hints;
    if (hints->aggregators > 0 || draft->parted || (draft->stripe > 0 && hints->per_target > 0))
        return 0;
    return draft->plan->write ? hints->domain_write : hints->domain_read;
}

static int64_t domains_of(const sagoi_draft *draft, int64_t bytes) {
    int64_t domains = 0;
    for (int64_t g = 0; g < draft->plan->groups; g++)
        domains += sagoi_div_up(draft->group[g].end - draft->group[g].start, bytes);
    return domains;
}

/* The shortest domain with which all groups together need at most `aggregators`. */
static int64_t shortest_domain(const sagoi_draft *draft, int64_t aggregators) {
    int64_t unit = draft->align, span = draft->plan->high - draft->group[0].start;
    int64_t low = sagoi_div_up(sagoi_div_up(span, aggregators), unit), high = sagoi_div_up(span, unit);
    while (draft->plan->groups > 1 && low < high) { /* in units */
        int64_t middle = low + (high - low) / 2;
        if (domains_of(draft, middle * unit) <= aggregators)
            high = middle;
        else
            low = middle + 1;
    }
    return low * unit;
}

bool sagoi_draft_uneven(const sagoi_draft *draft) {
    int64_t even = sagoi_div_up(draft->plan->high - draft->group[0].start, draft->aggregators);
    even = sagoi_round_up(even, draft->align);
    return draft->plan->groups > 1 && shortest_domain(draft, draft->aggregators) > even + even / 4;
}

/* Divides the aggregators such that no group takes longer than necessary; those that are left go to the first
 * groups that can use them. */
static void share_aggregators(sagoi_draft *draft, int64_t aggregators) {
    int64_t groups = draft->plan->groups, bytes = shortest_domain(draft, aggregators), left = aggregators;
    for (int64_t g = 0; g < groups; g++) {
        sagoi_group *group = &draft->group[g];
        group->aggregators = groups == 1 ? aggregators : sagoi_div_up(group->end - group->start, bytes);
        left -= group->aggregators;
    }
    for (int64_t g = 0; g < groups && left > 0; g++)
        if (draft->group[g].aggregators < (draft->group[g].end - draft->group[g].start) / draft->align) {
            draft->group[g].aggregators++;
            left--;
        }
}

/* Bytes of a domain of a group: whole windows that end at a multiple of the alignment. */
static int64_t domain_bytes(const sagoi_draft *draft, const sagoi_group *group, int64_t window) {
    int64_t share = sagoi_div_up(group->end - group->start, group->aggregators);
    return sagoi_round_up(sagoi_round_up(share, draft->align), window);
}

int64_t sagoi_draft_bisected(const sagoi_draft *draft, int64_t span) {
    int64_t leaves = sagoi_max(1, draft->ranks / 2 / sagoi_max(1, draft->plan->groups));
    return sagoi_max(sagoi_draft_domain_hint(draft), sagoi_div_up(span, leaves));
}

/* How the group's range is bisected. */
static sagoi_bisection bisection_of(const sagoi_draft *draft, const sagoi_group *group) {
    sagoi_bisection b = {.start = group->start, .end = group->end, .origin = group->start, .unit = draft->align};
    int64_t hint = sagoi_draft_domain_hint(draft), edge = draft->stripe > 0 ? draft->stripe : draft->locks;
    bool whole = edge > 0 && draft->plan->window % edge == 0; /* whole windows or lock blocks, however many */
    if (hint > 0)
        b.unit = sagoi_round_up(draft->align, draft->plan->window);
    else if (whole && draft->stripe > 0)
        b.unit = draft->plan->window;
    /* A group begins at a multiple of the alignment and the stripe.  Where domains may be shorter than that, none
     * may lie before the access altogether. */
    b.start = b.origin += sagoi_round_down(sagoi_max(0, draft->plan->low - group->start), b.unit);
    int64_t span = b.end - b.start;
    if (hint > 0) {
        b.bytes = sagoi_draft_bisected(draft, span);
        return b;
    }
    if (whole) {
        b.leaves = sagoi_min(group->aggregators, sagoi_div_up(span, b.unit));
        return b;
    }
    b.bytes = domain_bytes(draft, group, draft->plan->window);
    b.leaves = sagoi_div_up(span, b.bytes);
    return b;
}

int64_t sagoi_draft_longest(sagoi_draft *draft, int64_t aggregators) {
    const sagoi_plan *plan = draft->plan;
    int64_t align = draft->align, longest = 0, hint = sagoi_draft_domain_hint(draft);
    share_aggregators(draft, aggregators);
    for (int64_t g = 0; g < plan->groups; g++)
        longest = sagoi_max(longest, domain_bytes(draft, &draft->group[g], align));
    if (hint > 0)
        longest = sagoi_min(longest, sagoi_round_up(sagoi_draft_bisected(draft, plan->high - plan->low), align));
    return longest;
}

/* Gives each aggregator one contiguous range. */
static void lay_ranges(sagoi_draft *draft, int64_t aggregators, int64_t window) {
    sagoi_plan *plan = draft->plan;
    int64_t align = draft->align, longest = sagoi_draft_longest(draft, aggregators);
    if (window < align)
        plan->window = piece_of(align, window);
    else
        plan->window = even_window(longest, sagoi_round_down(window, align), align);
    plan->ndomains = 0;
    for (int64_t g = 0; g < plan->groups; g++) {
        sagoi_bisection b = bisection_of(draft, &draft->group[g]);
        plan->ndomains += sagoi_bisection_leaves(&b);
    }
}

void sagoi_draft_lay(sagoi_draft *draft, int64_t aggregators, int64_t window) {
    if (draft->form == SAGOI_FORM_DEALT)
        lay_dealt(draft, aggregators, window);
    else if (draft->form == SAGOI_FORM_TURNS)
        lay_turns(draft, window);
    else
        lay_ranges(draft, aggregators, window);
}

/* ---- Domains of each form ----------------------------------------------------------------------------- */

typedef struct making {
    sagoi_draft *draft;
    sagoi_spread *spread; /* ranges over storage targets; NULL: there is nothing to spread */
    int64_t made;         /* domains so far */
    bool placed;
} making;

/* Elects the host of a leaf among the nodes with data in it, and then among all nodes: if no node was refused for
 * want of memory, since the nodes with data then only have enough aggregators already; and if the model has
 * counted what there is room for, since a domain of twice the length would cost more than the way to another node.
 */
static int64_t elect_leaf(void *arg, int64_t start, int64_t end) {
    const making *m = arg;
    int64_t host = sagoi_hosts_elect_range(m->draft->hosts, start, end, false);
    bool decided = host >= 0 || sagoi_hosts_fixed(m->draft->hosts);
    if (decided || (m->draft->refused && m->draft->weighed_window == 0))
        return host;
    return sagoi_hosts_elect_range(m->draft->hosts, start, end, true);
}

/* Without a limit by memory there is nothing to remerge. */
static bool elect_fixed(sagoi_tree *tree, making *m) {
    for (int64_t leaf = tree->first; leaf >= 0; leaf = tree->vertex[leaf].after) {
        tree->vertex[leaf].host = elect_leaf(m, tree->vertex[leaf].start, tree->vertex[leaf].end);
        if (tree->vertex[leaf].host < 0)
            return false;
    }
    return true;
}

static bool elect_hosts(sagoi_tree *tree, making *m) {
    if (sagoi_hosts_fixed(m->draft->hosts))
        return elect_fixed(tree, m);
    if (sagoi_tree_elect(tree, elect_leaf, m))
        return true;
    /* No node with data in it can host it, so any node of the group may. */
    sagoi_vertex *whole = &tree->vertex[tree->first];
    whole->host = sagoi_hosts_elect_range(m->draft->hosts, whole->start, whole->end, true);
    return whole->host >= 0;
}

static void add_range(making *m, const sagoi_vertex *leaf, int64_t group) {
    sagoi_plan *plan = m->draft->plan;
    int64_t begin = leaf->start, end = sagoi_min(leaf->end, plan->high);
    if (m->made == 0) /* windows smaller than the alignment may lie before `low` altogether */
        begin += sagoi_round_down(plan->low - begin, plan->window);
    plan->domains[m->made++] = (sagoi_domain){.first = begin,
                                              .end = end,
                                              .block = end - begin,
                                              .stride = end - begin,
                                              .windows = sagoi_div_up(end - begin, plan->window),
                                              .group = group,
                                              .node = leaf->host};
}

static sago_status make_group(making *m, int64_t g) {
    sagoi_draft *draft = m->draft;
    sagoi_bisection b = bisection_of(draft, &draft->group[g]);
    sagoi_tree tree = {0};
    sago_status status = sagoi_tree_make(&b, &tree);
    if (status != SAGO_OK)
        return status;
    if (m->spread)
        sagoi_spread_leaves(m->spread, &tree);
    sagoi_hosts_group(draft->hosts, g, tree.leaves, m->made, draft->plan->ndomains);
    m->placed = elect_hosts(&tree, m);
    for (int64_t leaf = tree.first; m->placed && leaf >= 0; leaf = tree.vertex[leaf].after)
        add_range(m, &tree.vertex[leaf], g);
    draft->by_sibling += tree.by_sibling;
    draft->by_descendant += tree.by_descendant;
    sagoi_tree_cleanup(&tree);
    return SAGO_OK;
}

static sago_status make_ranges(making *m) {
    sago_status status = sagoi_spread_create(m->draft, &m->spread);
    m->placed = true;
    m->draft->by_sibling = m->draft->by_descendant = 0;
    for (int64_t g = 0; g < m->draft->plan->groups && m->placed && status == SAGO_OK; g++)
        status = make_group(m, g);
    sagoi_spread_destroy(m->spread);
    return status;
}

/* Stripe s of the file keeps its aggregator, wherever the access begins.  Returns the domain of the first
 * aggregator. */
static int64_t dealt_first(const sagoi_draft *draft) {
    const sagoi_plan *plan = draft->plan;
    return (plan->ndomains - plan->low / dealt_bytes(draft) % plan->ndomains) % plan->ndomains;
}

/* The windows of a domain whose blocks come in turn. */
static int64_t count_windows(const sagoi_domain *domain, int64_t window) {
    int64_t length = domain->end - domain->first, blocks = sagoi_div_up(length, domain->stride);
    int64_t remainder = length - (blocks - 1) * domain->stride;
    return (blocks - 1) * sagoi_div_up(domain->block, window) +
           sagoi_div_up(sagoi_min(remainder, domain->block), window);
}

/* Aggregators of one subfile sit together, so that each subfile is written by nodes of its own (000: by its
 * Pset). */
static int64_t seat_of(const sagoi_draft *draft, int64_t aggregator) {
    int64_t domains = draft->plan->ndomains, subfiles = draft->targets, nodes = draft->machine->nodes;
    if (draft->scattered && domains > nodes) { /* one for each node, then the next one for each */
        int64_t a_node = domains / nodes, over = domains % nodes, node = aggregator % nodes;
        return node * a_node + sagoi_min(node, over) + aggregator / nodes;
    }
    if (!draft->parted || domains % subfiles != 0)
        return aggregator;
    return aggregator % subfiles * (domains / subfiles) + aggregator / subfiles;
}

/* The domain of aggregator a, whose bytes all go to one target of the file; -1: they go to all. */
static bool make_dealt_one(making *m, int64_t a, int64_t target) {
    sagoi_plan *plan = m->draft->plan;
    int64_t dealt = dealt_bytes(m->draft), first = plan->low / dealt, domains = plan->ndomains;
    int64_t d = (dealt_first(m->draft) + a) % domains;
    sagoi_domain *domain = &plan->domains[d];
    domain->first = (first + d) * dealt;
    if (domains == 1) /* there are no turns, so windows may lie before `low` altogether */
        domain->first += sagoi_round_down(plan->low - domain->first, plan->window);
    domain->end = plan->high;
    int64_t length = plan->high - domain->first;
    domain->block = domains > 1 ? dealt : length;
    domain->stride = domains > 1 ? domains * dealt : length;
    domain->windows = count_windows(domain, plan->window);
    domain->node = sagoi_hosts_elect_dealt(m->draft->hosts, seat_of(m->draft, a), 1.0 / (double)domains, target);
    return domain->node >= 0;
}

/* Places the domain of a section's aggregator number j.  false: no node can have it. */
static bool make_section_one(making *m, const sections *s, int64_t number, int64_t j, int64_t target) {
    sagoi_plan *plan = m->draft->plan;
    int64_t dealt = s->bytes / s->each, start = section_start(s, number);
    int64_t low = sagoi_max(plan->low, start) / dealt;
    int64_t d =
        /* How many turns of the section's aggregators come before this one from the section's first byte on. */
        (j - low % s->each + s->each) % s->each;
    if ((low + d) * dealt >= plan->high) /* the last section is shorter than a turn */
        return true;
    sagoi_domain *domain = &plan->domains[number * s->each + d];
    domain->first = (low + d) * dealt;
    if (s->each == 1) /* there are no turns, so windows may lie before `low` altogether */
        domain->first += sagoi_round_down(sagoi_max(0, plan->low - domain->first), plan->window);
    domain->end = number + 1 < s->count ? section_start(s, number + 1) : plan->high;
    domain->block = s->each > 1 ? dealt : domain->end - domain->first;
    domain->stride = s->each > 1 ? s->bytes : domain->block;
    domain->windows = count_windows(domain, plan->window);
    domain->node = sagoi_hosts_elect_dealt(m->draft->hosts, seat_of(m->draft, number * s->each + j),
                                           1.0 / (double)(s->count * s->each), target);
    return domain->node >= 0;
}

static void make_sections(making *m, const sections *s) {
    int64_t domains = m->draft->plan->ndomains, targets = sagoi_hosts_targets(m->draft->hosts);
    bool by_target = targets > 1 && s->each == targets;
    sagoi_hosts_group(m->draft->hosts, 0, domains, 0, domains);
    for (int64_t i = 0; i < s->count * s->each; i++) {
        int64_t number = by_target ? i % s->count : i / s->each, j = by_target ? i / s->count : i % s->each;
        if (!make_section_one(m, s, number, j, by_target ? j : -1))
            return;
    }
    m->made = domains;
    m->placed = true;
}

/* Places domains in the order of aggregators, not of offsets; target by target, if each aggregator has one target
 * and C2 depends on it. */
static void make_dealt(making *m) {
    sections s = sections_of(m->draft, m->draft->aggregators, dealt_bytes(m->draft));
    if (s.count > 1) {
        make_sections(m, &s);
        return;
    }
    int64_t domains = m->draft->plan->ndomains, targets = sagoi_hosts_targets(m->draft->hosts);
    bool by_target =
        targets > 1 && domains > 1 && domains % targets == 0 && dealt_bytes(m->draft) == m->draft->stripe;
    sagoi_hosts_group(m->draft->hosts, 0, domains, 0, domains);
    for (int64_t i = 0; i < domains; i++) {
        int64_t k = by_target ? domains / targets : 1; /* aggregators of a target */
        if (!make_dealt_one(m, by_target ? i % k * targets + i / k : i, by_target ? i / k : -1))
            return;
    }
    m->made = domains;
    m->placed = true;
}

static void make_turns(making *m) {
    const sagoi_draft *draft = m->draft;
    sagoi_plan *plan = draft->plan;
    for (int64_t i = 0; i < draft->nturns; i++) {
        const sagoi_turn *turn = &draft->turn[i];
        sagoi_domain *domain = &plan->domains[i];
        if (i == 0 || turn->group != draft->turn[i - 1].group)
            sagoi_hosts_group(draft->hosts, turn->group, draft->group[turn->group].nodes, i, draft->nturns);
        domain->first = turn->first;
        domain->end = plan->high;
        domain->block = turn->bytes;
        domain->stride = draft->turn_bytes;
        domain->group = turn->group;
        domain->windows = count_windows(domain, plan->window);
        domain->node = sagoi_hosts_elect_turn(draft->hosts, turn);
        if (domain->node < 0)
            return;
    }
    m->made = draft->nturns;
    m->placed = true;
}

/* ---- All of them -------------------------------------------------------------------------------------- */

/* Numbers slots from domain `first` on, round to the one before it. */
static void number_slots(sagoi_plan *plan, int64_t first) {
    plan->rounds = plan->max_slots = 0;
    for (int64_t n = 0; n < plan->nodes; n++)
        plan->node_slots[n] = 0;
    for (int64_t i = 0; i < plan->ndomains; i++) {
        sagoi_domain *domain = &plan->domains[(first + i) % plan->ndomains];
        domain->slot = plan->node_slots[domain->node]++;
        plan->max_slots = sagoi_max(plan->max_slots, plan->node_slots[domain->node]);
        plan->rounds = sagoi_max(plan->rounds, domain->windows);
    }
}

/* Bytes of a node's memory that one more aggregator takes. */
static int64_t hosting_bytes(const sagoi_plan *plan) {
    return sagoi_plan_segment_bytes(plan, 1, 1) - sagoi_plan_segment_bytes(plan, 1, 0) +
           sagoi_plan_private_bytes(plan, 1, 1) - sagoi_plan_private_bytes(plan, 1, 0);
}

sago_status sagoi_draft_domains(sagoi_draft *draft, bool keep_reserve, bool *placed) {
    sagoi_plan *plan = draft->plan;
    sagoi_hosting hosting = {hosting_bytes(plan), keep_reserve};
    making m = {.draft = draft};
    sago_status status = SAGO_OK;
    *placed = false;
    if (!sagoi_hosts_begin(draft->hosts, &hosting, &draft->refused))
        return SAGO_OK;
    free(plan->domains);
    plan->domains = calloc((size_t)plan->ndomains, sizeof *plan->domains);
    if (!plan->domains)
        return sagoi_fail(SAGO_ERR_MEMORY, "plan: no memory for %" PRId64 " domains", plan->ndomains);
    if (draft->form == SAGOI_FORM_DEALT)
        make_dealt(&m);
    else if (draft->form == SAGOI_FORM_TURNS)
        make_turns(&m);
    else
        status = make_ranges(&m);
    *placed = m.placed;
    if (m.placed) {
        plan->ndomains = m.made;
        bool dealt = draft->form == SAGOI_FORM_DEALT && !sagoi_plan_sectioned(plan);
        number_slots(plan, dealt ? dealt_first(draft) : 0);
    }
    return status;
}
