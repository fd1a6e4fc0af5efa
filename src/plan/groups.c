/* Aggregation groups (paper 004, 3.1): parts of the file whose data stays among the nodes that hold it.
 *
 * The range is cut about every Msg_group bytes, at places where a node's data ends and hardly any node's data
 * crosses the cut; so serial layouts fall into groups.  If nodes hold blocks of the file in turn, the blocks of
 * a few nodes make a group.  An interleaved access stays one group. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/checked.h"
#include "plan/draft.h"

typedef struct end_of_node {
    int64_t high, node;
} end_of_node;

typedef struct division {
    sagoi_draft *draft;
    end_of_node *ends; /* ascending */
    int64_t nends;
    int64_t size;  /* Msg_group in force */
    int64_t unit;  /* cuts are at multiples of it */
    int64_t begin; /* nodes before it, in the order of `by_low`, are in groups already */
    int64_t looks;
} division;

static int compare_ends(const void *a, const void *b) {
    const end_of_node *x = a, *y = b;
    if (x->high != y->high)
        return x->high < y->high ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

/* ---- Cuts --------------------------------------------------------------------------------------------- */

/* Does hardly any data of any node cross the cut, and has each side a node whose data lies there? */
static bool cut_is_clean(division *d, int64_t cut) {
    const sagoi_draft *draft = d->draft;
    const sagoi_shape *shape = draft->shape;
    int64_t homed = 0, beyond = 0;
    for (int64_t i = d->begin; i < draft->nwith_data; i++) {
        const sagoi_node_shape *access = &shape->node[draft->by_low[i]];
        if (access->low >= cut)
            return homed > 0;
        if (draft->plan->node_group[draft->by_low[i]] >= 0)
            continue;
        if (++d->looks > SAGOI_MOST_GROUPED)
            return false;
        double before = sagoi_shape_bytes(shape, draft->by_low[i], 0, cut), all = (double)access->bytes;
        if (before > all / SAGOI_CROSSING_PART && before < all - all / SAGOI_CROSSING_PART)
            return false;
        homed += before >= all / 2;
        beyond += before < all / 2;
    }
    return homed > 0 && beyond > 0;
}

/* The first clean cut at least a group's size behind `start`; -1: there is none. */
static int64_t next_cut(division *d, int64_t start) {
    int64_t low = 0, high = d->nends, target = start + d->size;
    while (low < high) { /* finds the first end at or behind the target */
        int64_t middle = low + (high - low) / 2;
        if (d->ends[middle].high < target)
            low = middle + 1;
        else
            high = middle;
    }
    for (int64_t i = low; i < d->nends && i < low + SAGOI_MOST_CUTS; i++) {
        int64_t cut = sagoi_round_up(d->ends[i].high, d->unit);
        if (d->draft->plan->high - cut < d->size / 2) /* the remainder would be too small for a group */
            return -1;
        if (cut_is_clean(d, cut))
            return cut;
    }
    return -1;
}

/* Nodes whose data lies before the cut belong to the group.  A node that begins before the cut and lies mostly
 * behind it stays. */
static void home_nodes(division *d, int64_t cut, int64_t group) {
    sagoi_draft *draft = d->draft;
    int64_t stay = INT64_MAX, i = d->begin;
    for (; i < draft->nwith_data && draft->shape->node[draft->by_low[i]].low < cut; i++) {
        int64_t node = draft->by_low[i];
        if (draft->plan->node_group[node] >= 0)
            continue;
        if (sagoi_shape_bytes(draft->shape, node, 0, cut) >= (double)draft->shape->node[node].bytes / 2)
            draft->plan->node_group[node] = group;
        else
            stay = sagoi_min(stay, i);
    }
    d->begin = sagoi_min(stay, i);
}

static void divide(division *d) {
    sagoi_draft *draft = d->draft;
    int64_t start = draft->group[0].start, count = 0;
    while (count + 1 < draft->aggregators) { /* each group needs an aggregator */
        int64_t cut = d->looks <= SAGOI_MOST_GROUPED ? next_cut(d, start) : -1;
        if (cut < 0)
            break;
        draft->group[count] = (sagoi_group){.start = start, .end = cut};
        home_nodes(d, cut, count++);
        start = cut;
    }
    draft->group[count] = (sagoi_group){.start = start, .end = draft->plan->high};
    for (int64_t i = 0; i < draft->nwith_data; i++)
        if (draft->plan->node_group[draft->by_low[i]] < 0)
            draft->plan->node_group[draft->by_low[i]] = count;
    draft->plan->groups = count + 1;
}

/* ---- Subfiles ----------------------------------------------------------------------------------------- */

/* Each node goes with the subfile that has most of its data. */
static void home_by_subfile(sagoi_draft *draft, int64_t unit, int64_t first) {
    for (int64_t i = 0; i < draft->nwith_data; i++) {
        int64_t node = draft->by_low[i];
        const sagoi_node_shape *access = &draft->shape->node[node];
        double most = 0;
        for (int64_t k = access->low / unit; k <= (access->high - 1) / unit; k++) {
            double bytes = sagoi_shape_bytes(draft->shape, node, k * unit, (k + 1) * unit);
            if (bytes > most) {
                most = bytes;
                draft->plan->node_group[node] = k - first;
            }
        }
    }
}

/* Makes a group for every subfile, if there are enough nodes; nodes without a subfile of their own are divided
 * among the groups. */
static bool group_subfiles(sagoi_draft *draft) {
    sagoi_plan *plan = draft->plan;
    int64_t unit = draft->target->subfiles.block, low = draft->group[0].start;
    if (unit == 0 || draft->parted)
        return false;
    int64_t first = low / unit, groups = (plan->high - 1) / unit - first + 1, homed = 0;
    if (groups < 2 || groups > plan->nodes || groups > draft->aggregators)
        return false;
    if (plan->nodes * groups <= SAGOI_MOST_GROUPED)
        home_by_subfile(draft, unit, first);
    for (int64_t g = 0; g < groups; g++)
        draft->group[g] = (sagoi_group){.start = sagoi_max(low, (first + g) * unit),
                                        .end = sagoi_min(plan->high, (first + g + 1) * unit)};
    for (int64_t n = 0; n < plan->nodes; n++)
        if (plan->node_group[n] >= 0)
            homed += draft->group[plan->node_group[n]].nodes++ == 0;
    for (int64_t g = 0; g < groups; g++)
        draft->group[g].nodes = 0;
    for (int64_t n = 0; homed < groups && n < plan->nodes; n++)
        plan->node_group[n] = n * groups / plan->nodes;
    plan->groups = groups;
    return true;
}

/* ---- Blocks in turn ----------------------------------------------------------------------------------- */

/* The node that has nearly all data of a region; -1: none. */
static int64_t owner_of(const sagoi_shape *shape, int64_t region) {
    int64_t sum = 0, most = 0, owner = -1;
    for (int64_t n = 0; n < shape->nodes; n++) {
        int64_t bytes = shape->histogram[n * SAGOI_REGIONS + region];
        sum += bytes;
        if (bytes > most) {
            most = bytes;
            owner = n;
        }
    }
    return most > sum - sum / SAGOI_CROSSING_PART ? owner : -1;
}

/* The number of regions after which the owners come again, each with one stretch of them; 0: they do not. */
static int64_t period_of(const int64_t *owner, int64_t regions) {
    for (int64_t period = 2; period * 2 <= regions; period++) {
        int64_t r = period;
        while (r < regions && owner[r] == owner[r - period])
            r++;
        bool once = r == regions;
        for (int64_t i = 1; once && i < period; i++)
            for (int64_t j = 0; once && j < i - 1; j++)
                once = owner[i] != owner[j] || owner[i] == owner[i - 1];
        if (once && owner[0] != owner[period - 1])
            return period;
    }
    return 0;
}

/* Finds blocks in turn from the nodes' own patterns: blocks that come again at one distance, each of one node,
 * whatever part of the file they are and however many nodes there are.  A gap belongs to the block before it. */
static bool find_periods(sagoi_draft *draft) {
    const sagoi_shape *shape = draft->shape;
    int64_t blocks = draft->nwith_data;
    if (!shape->periods || blocks < 2 || blocks > SAGOI_MOST_GROUPED / draft->machine->nodes)
        return false;
    int64_t period = shape->periods[draft->by_low[0]].period, origin = draft->plan->low;
    if (period == 0 || period % draft->align != 0 || draft->plan->high - origin <= period)
        return false;
    for (int64_t i = 0; i < blocks; i++) {
        int64_t node = draft->by_low[i], first = shape->node[node].low;
        int64_t next = i + 1 < blocks ? shape->node[draft->by_low[i + 1]].low : origin + period;
        const sagoi_node_period *own = &shape->periods[node];
        if (own->period != period || first % draft->align != 0 || next - first < SAGOI_TURN_LEAST ||
            own->bytes > next - first)
            return false;
        draft->turn[i] = (sagoi_turn){.first = first, .bytes = next - first, .node = node};
    }
    draft->nturns = blocks;
    draft->turn_bytes = period;
    return true;
}

static bool find_turns(sagoi_draft *draft) {
    const sagoi_shape *shape = draft->shape;
    int64_t owner[SAGOI_REGIONS], regions = 0;
    if (!shape->histogram || draft->machine->nodes > SAGOI_REGIONS || shape->region % draft->align != 0)
        return false;
    for (; regions < SAGOI_REGIONS && shape->origin + regions * shape->region < draft->plan->high; regions++) {
        owner[regions] = owner_of(shape, regions);
        if (owner[regions] < 0)
            return false;
    }
    int64_t period = period_of(owner, regions);
    if (period == 0)
        return false;
    draft->turn_bytes = period * shape->region;
    draft->nturns = 0;
    for (int64_t r = 0; r < period; r++) {
        if (r > 0 && owner[r] == owner[r - 1]) {
            draft->turn[draft->nturns - 1].bytes += shape->region;
            continue;
        }
        draft->turn[draft->nturns++] =
            (sagoi_turn){.first = shape->origin + r * shape->region, .bytes = shape->region, .node = owner[r]};
    }
    return true;
}

/* Neighbouring blocks make a group of about Msg_group bytes, counted over all turns. */
static void group_turns(sagoi_draft *draft, int64_t size) {
    sagoi_plan *plan = draft->plan;
    int64_t turns = sagoi_div_up(plan->high - draft->turn[0].first, draft->turn_bytes), gathered = 0;
    plan->groups = 1;
    draft->group[0] = (sagoi_group){.start = plan->low, .end = plan->high};
    for (int64_t i = 0; i < draft->nturns; i++) {
        if (gathered >= size && plan->groups < draft->aggregators) {
            draft->group[plan->groups++] = (sagoi_group){.start = plan->low, .end = plan->high};
            gathered = 0;
        }
        gathered += draft->turn[i].bytes * turns;
        draft->turn[i].group = plan->groups - 1;
        plan->node_group[draft->turn[i].node] = plan->groups - 1;
    }
}

/* ---- Groups without a host ---------------------------------------------------------------------------- */

/* Group `poor` joins the one before it, or the one behind the first. */
static void merge_group(sagoi_draft *draft, int64_t poor) {
    sagoi_plan *plan = draft->plan;
    int64_t into = poor > 0 ? poor - 1 : 0;
    sagoi_group *a = &draft->group[into], *b = &draft->group[into + 1];
    *a = (sagoi_group){
        .start = a->start, .end = b->end, .nodes = a->nodes + b->nodes, .bytes = a->bytes + b->bytes};
    for (int64_t g = into + 1; g + 1 < plan->groups; g++)
        draft->group[g] = draft->group[g + 1];
    for (int64_t n = 0; n < plan->nodes; n++)
        plan->node_group[n] -= plan->node_group[n] > into;
    for (int64_t i = 0; i < draft->nturns; i++)
        draft->turn[i].group -= draft->turn[i].group > into;
    plan->groups--;
}

bool sagoi_draft_merge_groups(sagoi_draft *draft, const int64_t *able) {
    int64_t groups = draft->plan->groups, poor = 0, merged = 0;
    for (int64_t g = 0; g < groups; g++)
        poor += able[g] == 0;
    if (poor == 0 || poor == groups)
        return false;
    for (int64_t g = groups - 1; g >= 0; g--)
        if (able[g] == 0) { /* the groups behind were looked at, so the first one has to join the second */
            merge_group(draft, g);
            merged++;
        }
    sagoi_draft_reason(draft, "groups: %" PRId64 " without a host, merged with their neighbours", merged);
    return true;
}

/* ---- All of it ---------------------------------------------------------------------------------------- */

/* Nodes without data join the node before them.  Sums up what each group has. */
static void complete_groups(sagoi_draft *draft) {
    sagoi_plan *plan = draft->plan;
    for (int64_t g = 0; g < plan->groups; g++)
        draft->group[g] = (sagoi_group){.start = draft->group[g].start, .end = draft->group[g].end};
    for (int64_t n = 0; n < plan->nodes; n++) {
        if (plan->node_group[n] < 0)
            plan->node_group[n] = n > 0 ? plan->node_group[n - 1] : 0;
        sagoi_group *group = &draft->group[plan->node_group[n]];
        group->nodes++;
        group->bytes += (double)draft->shape->node[n].bytes;
    }
}

/* A group of one node, or of one domain, needs no search. */
static bool divisible(const sagoi_draft *draft) { return draft->machine->nodes > 1 && draft->aggregators > 1; }

static int64_t group_size(const sagoi_draft *draft) {
    return draft->hints->group_size > 0 ? draft->hints->group_size : SAGOI_GROUP_USUAL;
}

double sagoi_draft_divided(const sagoi_draft *draft) { return 1.5 * (double)group_size(draft); }

/* Are the stripes dealt out section by section (domains.c)? */
static bool has_sections(const sagoi_draft *draft) {
    if (draft->weighed_window == 0 || draft->target->subfiles.count > 0)
        return false;
    int64_t dealt = sagoi_draft_dealt(draft, draft->aggregators, draft->weighed_window);
    return sagoi_draft_sections(draft, draft->aggregators, dealt) > 1;
}

static void explain_groups(sagoi_draft *draft, int64_t size) {
    int64_t groups = draft->plan->groups;
    if (draft->form == SAGOI_FORM_TURNS)
        sagoi_draft_reason(draft, "groups: %" PRId64 ", %" PRId64 " nodes hold blocks in turn every %s", groups,
                           draft->nturns, sagoi_size_to_text(draft->turn_bytes).text);
    else if (groups > 1 && draft->target->subfiles.count > 0)
        sagoi_draft_reason(draft, "groups: %" PRId64 ", one for each block of a subfile", groups);
    else if (groups > 1)
        sagoi_draft_reason(draft, "groups: %" PRId64 ", cut where nodes' data ends, every %s or more", groups,
                           sagoi_size_to_text(size).text);
    else if (!draft->parted && draft->plan->high - draft->plan->low >= 2 * size)
        sagoi_draft_reason(draft, "groups: 1, %s",
                           has_sections(draft) ? "sections of the file have aggregators of their own"
                                               : "the nodes' data is interleaved");
}

/* The ends of nodes' data, for the cuts; none if there is nothing to divide. */
static sago_status find_ends(division *d) {
    const sagoi_draft *draft = d->draft;
    d->ends = calloc((size_t)draft->plan->nodes, sizeof *d->ends);
    if (!d->ends)
        return sagoi_fail(SAGO_ERR_MEMORY, "plan: no memory to group %" PRId64 " nodes", draft->plan->nodes);
    for (; divisible(draft) && d->nends < draft->nwith_data; d->nends++) {
        int64_t node = draft->by_low[d->nends];
        d->ends[d->nends] = (end_of_node){draft->shape->node[node].high, node};
    }
    qsort(d->ends, (size_t)d->nends, sizeof *d->ends, compare_ends);
    return SAGO_OK;
}

static void begin_groups(division *d) {
    sagoi_plan *plan = d->draft->plan;
    for (int64_t n = 0; n < plan->nodes; n++)
        plan->node_group[n] = -1;
    d->draft->group[0] = (sagoi_group){.start = sagoi_round_down(plan->low, d->unit), .end = plan->high};
    d->begin = d->looks = 0;
}

/* Each node aggregates its own blocks if the model finds that no slower than aggregators on all nodes.  Windows
 * then end with the blocks, and each node must have memory for one, but nothing moves between nodes. */
static bool turns_suit(sagoi_draft *draft) {
    sagoi_best own = sagoi_draft_choose_turns(draft);
    bool suit = own.aggregators > 0 && own.seconds <= draft->weighed_seconds * (1 + 1.0 / SAGOI_MODEL_RESOLUTION);
    sagoi_draft_reason(draft, "groups: nodes' blocks in turn are %s, which would take %.4g ms",
                       suit ? "their own" : "not their own", own.seconds * 1e3);
    if (suit)
        draft->weighed_window = own.window;
    return suit;
}

void sagoi_draft_one_group(sagoi_draft *draft) {
    draft->form = SAGOI_FORM_RANGES;
    draft->nturns = 0;
    draft->plan->groups = 1;
    draft->group[0] = (sagoi_group){.start = sagoi_round_down(draft->plan->low, draft->align),
                                    .end = draft->plan->high,
                                    .nodes = draft->plan->nodes,
                                    .bytes = (double)draft->bytes};
    for (int64_t n = 0; n < draft->plan->nodes; n++)
        draft->plan->node_group[n] = 0;
}

static void decide_form(sagoi_draft *draft, const division *d) {
    sagoi_plan *plan = draft->plan;
    if (plan->groups == 1 && draft->stripe == 0 && divisible(draft) && draft->hints->aggregators == 0 &&
        (find_periods(draft) || find_turns(draft))) {
        draft->form = SAGOI_FORM_TURNS;
        group_turns(draft, d->size);
        if (draft->weighed_window > 0 && !turns_suit(draft))
            sagoi_draft_one_group(draft);
    } else if (draft->stripe > 0 && sagoi_draft_domain_hint(draft) == 0 && has_sections(draft)) {
        sagoi_draft_one_group(draft); /* each section is written near its data, and without waiting for locks */
        draft->form = SAGOI_FORM_DEALT;
    } else if (draft->stripe > 0 && (plan->groups > 1 || sagoi_draft_domain_hint(draft) > 0)) {
        /* data that stays near matters more than a target of one's own */
        draft->form = SAGOI_FORM_RANGES;
        bool cut = draft->weighed_window > 0 && draft->weighed_window < draft->stripe; /* stripes are shared */
        draft->align = cut ? draft->weighed_window : d->unit;
    } else if (draft->stripe > 0) {
        draft->form = SAGOI_FORM_DEALT;
    }
}

sago_status sagoi_draft_groups(sagoi_draft *draft) {
    division d = {.draft = draft,
                  .size = group_size(draft),
                  .unit = sagoi_round_up(draft->align, sagoi_max(draft->stripe, 1))};
    sago_status status = find_ends(&d);
    if (status != SAGO_OK)
        return status;
    begin_groups(&d);
    if (draft->parted) {
        draft->plan->groups = 1; /* all nodes' data is in each subfile, which should have aggregators of its own */
    } else if (!group_subfiles(draft)) {
        divide(&d);
        /* Larger groups divide the data more evenly. */
        while (draft->hints->group_size == 0 && sagoi_draft_uneven(draft)) {
            d.size *= 2;
            begin_groups(&d);
            divide(&d);
        }
    }
    free(d.ends);
    decide_form(draft, &d);
    complete_groups(draft);
    explain_groups(draft, d.size);
    return SAGO_OK;
}
