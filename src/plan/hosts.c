#include "plan/hosts.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/checked.h"
#include "machine/sums.h"
#include "plan/loads.h"

typedef struct candidate {
    double cost, latency; /* C1 + C2; the part that does not depend on bytes */
    int64_t node;
} candidate;

/* Storage targets of the file; none: any target. */
typedef struct target_range {
    int64_t first, count;
} target_range;

/* The candidates of one domain, or of several similar ones, in levels of equal cost. */
typedef struct ballot {
    bool usable;
    bool anyone;
    int64_t group, region; /* region -1: the range is not inside of one */
    int64_t length;
    int64_t until; /* with many members: serves ranges that begin before this offset */
    int64_t ncandidates, nlevels;
    int64_t live_level;   /* levels before this one have no candidate left */
    bool beyond_share;    /* all even shares are used up */
    target_range targets; /* targets that the domain goes to */
    bool hops_count;      /* among equal costs the least latency wins */
} ballot;

struct sagoi_hosts {
    const sagoi_draft *draft;
    sagoi_placement placement;
    sagoi_topology flat; /* used if the machine has no topology */
    const sagoi_topology *topology;
    sagoi_sums *sums;
    sagoi_loads *loads; /* NULL: no shared links are known */
    int64_t looks, moved;
    int64_t targets, first_target; /* targets of the file, if it is known which gateways lead to them; else 0 */
    double resolution;             /* seconds */
    double *store_latency;         /* for each node: C2 is store_latency + bytes * store_slowness */
    double *store_slowness;
    int64_t *slots; /* so far */
    int64_t *left;  /* for each node: memory for aggregators */
    int64_t need;
    int64_t *able;       /* for each group: nodes that can host at all */
    int64_t *first_node; /* for each group */
    /* The current group: */
    int64_t group, domains, first_number, next_number, all, share;
    /* Nodes that may hold data of the current range, by first offset: active ones, then those to come. */
    int64_t *active;
    int64_t nactive, next_by_low;
    int64_t lowest_high, highest_low; /* of the active nodes */
    ballot ballot;
    candidate *candidate;
    int64_t *level_begin; /* nlevels + 1 */
    int64_t *skip;        /* for each candidate that is used up: where to look on */
};

/* ---- Life --------------------------------------------------------------------------------------------- */

static int64_t place_of(const sagoi_hosts *hosts, int64_t node) {
    return sagoi_machine_place(hosts->draft->machine, node);
}

/* C2 of bytes that go equally to the targets first, first + 1, ... of the file; the mean, which is linear in the
 * bytes. */
static double store_cost(const sagoi_hosts *hosts, int64_t place, target_range to, double bytes) {
    double sum = 0;
    if (to.count == 0)
        return sagoi_topology_store_cost(hosts->topology, place, bytes);
    for (int64_t i = 0; i < to.count; i++)
        sum += sagoi_topology_target_cost(hosts->topology, place,
                                          hosts->first_target + (to.first + i) % hosts->targets, bytes);
    return sum / (double)to.count;
}

static target_range all_targets(const sagoi_hosts *hosts) { return (target_range){0, hosts->targets}; }

static void weigh_store(sagoi_hosts *hosts) {
    static const double much = 1e12; /* so many bytes that the latency does not matter */
    const sagoi_draft *draft = hosts->draft;
    if (draft->stripe > 0 && !draft->parted && draft->target->stripe_first > 0 &&
        sagoi_topology_maps_targets(hosts->topology)) {
        hosts->targets = draft->targets;
        hosts->first_target = draft->target->stripe_first - 1;
    }
    for (int64_t n = 0; n < draft->machine->nodes; n++) {
        int64_t place = place_of(hosts, n);
        hosts->store_latency[n] = store_cost(hosts, place, all_targets(hosts), 0);
        hosts->store_slowness[n] =
            (store_cost(hosts, place, all_targets(hosts), much) - hosts->store_latency[n]) / much;
    }
}

static void *numbers(int64_t count, size_t size, bool *ok) {
    void *array = calloc((size_t)count, size);
    *ok = *ok && array;
    return array;
}

static bool allocate(sagoi_hosts *hosts, int64_t nodes) {
    bool ok = true;
    hosts->slots = numbers(nodes, sizeof *hosts->slots, &ok);
    hosts->left = numbers(nodes, sizeof *hosts->left, &ok);
    hosts->store_latency = numbers(nodes, sizeof *hosts->store_latency, &ok);
    hosts->store_slowness = numbers(nodes, sizeof *hosts->store_slowness, &ok);
    hosts->able = numbers(nodes + 1, sizeof *hosts->able, &ok);
    hosts->first_node = numbers(nodes + 1, sizeof *hosts->first_node, &ok);
    hosts->active = numbers(nodes, sizeof *hosts->active, &ok);
    hosts->candidate = numbers(nodes, sizeof *hosts->candidate, &ok);
    hosts->level_begin = numbers(nodes + 1, sizeof *hosts->level_begin, &ok);
    hosts->skip = numbers(nodes + 1, sizeof *hosts->skip, &ok);
    return ok;
}

sago_status sagoi_hosts_create(const sagoi_draft *draft, sagoi_hosts **hosts) {
    int64_t nodes = draft->machine->nodes;
    sagoi_hosts *h = calloc(1, sizeof *h);
    if (!h || !allocate(h, nodes)) {
        sagoi_hosts_destroy(h);
        return sagoi_fail(SAGO_ERR_MEMORY, "plan: no memory to place aggregators on %" PRId64 " nodes", nodes);
    }
    h->draft = draft;
    h->placement = draft->plan->placement;
    h->topology = sagoi_topology_or_flat(draft->machine->topology, nodes, &h->flat);
    h->resolution = SAGOI_EQUAL_BYTES / sagoi_slowest_level(h->topology).bandwidth;
    sago_status status = h->placement == SAGOI_PLACEMENT_COST ? sagoi_sums_create(h->topology, &h->sums) : SAGO_OK;
    if (status == SAGO_OK && h->sums)
        status = sagoi_loads_create(draft, &h->loads);
    if (status != SAGO_OK) {
        sagoi_hosts_destroy(h);
        return status;
    }
    if (h->sums)
        weigh_store(h);
    *hosts = h;
    return SAGO_OK;
}

void sagoi_hosts_destroy(sagoi_hosts *hosts) {
    if (!hosts)
        return;
    sagoi_sums_destroy(hosts->sums);
    sagoi_loads_destroy(hosts->loads);
    free(hosts->slots);
    free(hosts->left);
    free(hosts->able);
    free(hosts->first_node);
    free(hosts->store_latency);
    free(hosts->store_slowness);
    free(hosts->active);
    free(hosts->candidate);
    free(hosts->level_begin);
    free(hosts->skip);
    free(hosts);
}

int64_t sagoi_hosts_moved(const sagoi_hosts *hosts) { return hosts->moved; }

const int64_t *sagoi_hosts_able(const sagoi_hosts *hosts) { return hosts->able; }

bool sagoi_hosts_fixed(const sagoi_hosts *hosts) {
    return hosts->placement == SAGOI_PLACEMENT_RANK || hosts->placement == SAGOI_PLACEMENT_SPREAD;
}

/* ---- What nodes can take ------------------------------------------------------------------------------ */

bool sagoi_hosts_begin(sagoi_hosts *hosts, const sagoi_hosting *hosting, bool *refused) {
    const sagoi_draft *draft = hosts->draft;
    bool fits = true;
    *refused = false;
    for (int64_t g = 0; g < draft->plan->groups; g++)
        hosts->able[g] = 0;
    hosts->need = sagoi_max(hosting->need, draft->hints->host_memory);
    for (int64_t n = draft->machine->nodes - 1; n >= 0; n--) {
        const sagoi_node *node = &draft->machine->node[n];
        hosts->first_node[draft->plan->node_group[n]] = n;
        int64_t usable = node->memory - (hosting->keep_reserve ? node->memory / 4 : 0);
        hosts->slots[n] = 0;
        hosts->left[n] = usable - sagoi_plan_segment_bytes(draft->plan, node->ranks, 0) -
                         sagoi_plan_private_bytes(draft->plan, node->ranks, 0);
        fits = fits && hosts->left[n] >= 0;
        *refused = *refused || hosts->left[n] < hosts->need;
        hosts->able[draft->plan->node_group[n]] += hosts->left[n] >= hosts->need;
    }
    hosts->nactive = hosts->next_by_low = 0;
    hosts->lowest_high = INT64_MAX;
    hosts->highest_low = -1;
    hosts->ballot.usable = false;
    hosts->looks = hosts->moved = 0;
    if (hosts->loads)
        sagoi_loads_begin(hosts->loads);
    return fits;
}

void sagoi_hosts_group(sagoi_hosts *hosts, int64_t group, int64_t domains, int64_t first, int64_t all) {
    hosts->group = group;
    hosts->domains = domains;
    hosts->first_number = hosts->next_number = first;
    hosts->all = all;
    hosts->share = sagoi_div_up(domains, sagoi_max(1, hosts->able[group]));
    hosts->ballot.usable = false;
}

/* How many aggregators the node may have: at first its even share, or what its part of the data needs. */
static int64_t limit_of(const sagoi_hosts *hosts, int64_t node, bool beyond_share) {
    const sagoi_draft *draft = hosts->draft;
    int64_t ranks = draft->machine->node[node].ranks, hint = draft->hints->per_node;
    if (hint > 0)
        return sagoi_min(hint, ranks);
    if (beyond_share)
        return sagoi_min(sagoi_max(SAGOI_AGGREGATORS_A_NODE, hosts->share), ranks);
    double all = draft->group[hosts->group].bytes,
           part = all > 0 ? (double)draft->shape->node[node].bytes / all : 0;
    int64_t by_data = sagoi_min((int64_t)((double)hosts->domains * part + 0.5), SAGOI_AGGREGATORS_A_NODE);
    return sagoi_min(sagoi_max(hosts->share, by_data), ranks);
}

static bool can_take(const sagoi_hosts *hosts, int64_t node, bool beyond_share) {
    return hosts->left[node] >= hosts->need && hosts->slots[node] < limit_of(hosts, node, beyond_share);
}

static int64_t take(sagoi_hosts *hosts, int64_t node) {
    if (hosts->loads)
        sagoi_loads_carry(hosts->loads, place_of(hosts, node));
    hosts->slots[node]++;
    hosts->left[node] -= hosts->need;
    return node;
}

/* ---- Candidates --------------------------------------------------------------------------------------- */

static int compare_costs(const void *a, const void *b) {
    const candidate *x = a, *y = b;
    if (x->cost != y->cost)
        return x->cost < y->cost ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

static int compare_latencies(const void *a, const void *b) {
    const candidate *x = a, *y = b;
    if (x->latency != y->latency)
        return x->latency < y->latency ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

static int compare_nodes(const void *a, const void *b) {
    const candidate *x = a, *y = b;
    return (x->node > y->node) - (x->node < y->node);
}

/* Candidates [begin, end) cost the same: makes one level, ordered by node; if hops count, one level for each
 * latency. */
static void add_levels(sagoi_hosts *hosts, int64_t begin, int64_t end, bool hops_count) {
    candidate *all = hosts->candidate;
    if (hops_count)
        qsort(all + begin, (size_t)(end - begin), sizeof *all, compare_latencies);
    while (begin < end) {
        int64_t next = hops_count ? begin + 1 : end;
        while (next < end && all[next].latency <= all[begin].latency + SAGOI_EQUAL_LATENCY)
            next++;
        qsort(all + begin, (size_t)(next - begin), sizeof *all, compare_nodes);
        hosts->level_begin[hosts->ballot.nlevels++] = begin;
        begin = next;
    }
}

/* Sorts the candidates into levels of equal cost, and by node within each level. */
static void rank_candidates(sagoi_hosts *hosts, bool hops_count) {
    ballot *now = &hosts->ballot;
    candidate *all = hosts->candidate;
    int64_t begin = 0;
    qsort(all, (size_t)now->ncandidates, sizeof *all, compare_costs);
    now->nlevels = now->live_level = 0;
    while (begin < now->ncandidates) {
        int64_t end = begin + 1;
        while (end < now->ncandidates && all[end].cost <= all[begin].cost + hosts->resolution)
            end++;
        add_levels(hosts, begin, end, hops_count);
        begin = end;
    }
    hosts->level_begin[now->nlevels] = now->ncandidates;
    now->beyond_share = false;
    for (int64_t i = 0; i <= now->ncandidates; i++)
        hosts->skip[i] = i;
}

static void add_candidate(sagoi_hosts *hosts, int64_t node) {
    if (hosts->draft->plan->node_group[node] == hosts->group)
        hosts->candidate[hosts->ballot.ncandidates++] = (candidate){.node = node};
}

/* Costs of the candidates, when the members' bytes are summed.  Among equal costs the least latency wins, unless
 * all nodes send to all aggregators: then aggregators should not be close together. */
static void weigh_candidates(sagoi_hosts *hosts) {
    ballot *now = &hosts->ballot;
    double bytes = hosts->sums ? (double)sagoi_sums_bytes(hosts->sums) : 0;
    for (int64_t i = 0; hosts->sums && i < now->ncandidates; i++) {
        candidate *one = &hosts->candidate[i];
        int64_t place = place_of(hosts, one->node);
        double store = hosts->store_latency[one->node], stored = store + bytes * hosts->store_slowness[one->node];
        if (now->targets.count < hosts->targets) { /* the targets are not all targets */
            store = store_cost(hosts, place, now->targets, 0);
            stored = store_cost(hosts, place, now->targets, bytes);
        }
        one->latency = sagoi_sums_latency(hosts->sums, place) + store;
        one->cost = one->latency - store + sagoi_sums_transfer(hosts->sums, place) + stored;
        if (hosts->loads)
            sagoi_loads_weigh(hosts->loads, place);
    }
    now->hops_count = hosts->sums && sagoi_sums_members(hosts->sums) < hosts->draft->nwith_data;
    rank_candidates(hosts, now->hops_count);
    if (hosts->sums)
        sagoi_sums_clear(hosts->sums);
    now->usable = true;
}

static void add_member(sagoi_hosts *hosts, int64_t node, double bytes) {
    if (bytes < 0.5)
        return;
    if (hosts->sums)
        sagoi_sums_add(hosts->sums, place_of(hosts, node), (int64_t)(bytes + 0.5));
    if (hosts->loads)
        sagoi_loads_add(hosts->loads, place_of(hosts, node), bytes);
    if (!hosts->ballot.anyone)
        add_candidate(hosts, node);
}

static void start_ballot(sagoi_hosts *hosts, bool anyone, target_range targets) {
    hosts->ballot = (ballot){.anyone = anyone, .group = hosts->group, .region = -1, .targets = targets};
    if (hosts->loads)
        sagoi_loads_clear(hosts->loads);
    for (int64_t n = 0; anyone && n < hosts->draft->machine->nodes; n++)
        add_candidate(hosts, n);
}

/* ---- Ranges ------------------------------------------------------------------------------------------- */

/* Drops members whose data ends before `start`. */
static void leave_behind(sagoi_hosts *hosts, int64_t start) {
    const sagoi_node_shape *access = hosts->draft->shape->node;
    int64_t kept = 0;
    if (hosts->lowest_high > start)
        return;
    hosts->lowest_high = INT64_MAX;
    for (int64_t i = 0; i < hosts->nactive; i++)
        if (access[hosts->active[i]].high > start) {
            hosts->lowest_high = sagoi_min(hosts->lowest_high, access[hosts->active[i]].high);
            hosts->active[kept++] = hosts->active[i];
        }
    hosts->nactive = kept;
}

/* Adds members whose data begins before `end`; true: there were some. */
static bool take_along(sagoi_hosts *hosts, int64_t end) {
    const sagoi_draft *draft = hosts->draft;
    const sagoi_node_shape *access = draft->shape->node;
    int64_t before = hosts->nactive;
    for (; hosts->next_by_low < draft->nwith_data; hosts->next_by_low++) {
        int64_t node = draft->by_low[hosts->next_by_low];
        if (access[node].low >= end)
            break;
        hosts->active[hosts->nactive++] = node;
        hosts->highest_low = access[node].low;
        hosts->lowest_high = sagoi_min(hosts->lowest_high, access[node].high);
    }
    return hosts->nactive > before;
}

/* The region that contains the range; -1: there is none. */
static int64_t region_of(const sagoi_shape *shape, int64_t start, int64_t end) {
    if (!shape->histogram)
        return 0;
    int64_t first = (start - shape->origin) / shape->region;
    return first == (end - 1 - shape->origin) / shape->region ? first : -1;
}

/* The targets of a range.  For a range that many nodes share all targets count, so that figures can be kept. */
static target_range targets_of(const sagoi_hosts *hosts, int64_t start, int64_t end) {
    int64_t stripe = hosts->draft->stripe;
    if (hosts->targets == 0 || hosts->nactive > SAGOI_FEW_MEMBERS)
        return all_targets(hosts);
    int64_t first = start / stripe, count = (end - 1) / stripe - first + 1;
    return count < hosts->targets ? (target_range){first % hosts->targets, count} : all_targets(hosts);
}

/* Would the candidates and their costs be the same as for the range before? */
static bool alike(const sagoi_hosts *hosts, int64_t start, int64_t end, bool joined) {
    const ballot *now = &hosts->ballot;
    int64_t length = end - start, region = region_of(hosts->draft->shape, start, end);
    target_range targets = targets_of(hosts, start, end);
    if (!now->usable || now->anyone || now->group != hosts->group || now->targets.first != targets.first ||
        now->targets.count != targets.count)
        return false;
    if (hosts->nactive > SAGOI_FEW_MEMBERS)
        return start < now->until && length <= 2 * now->length && now->length <= 2 * length;
    return !joined && length == now->length && region >= 0 && region == now->region &&
           hosts->highest_low <= start && hosts->lowest_high >= end;
}

/* Sums each member's bytes in the range; for many members, their bytes in a stretch of the file are good
 * enough. */
static void weigh_members(sagoi_hosts *hosts, int64_t start, int64_t end) {
    const sagoi_draft *draft = hosts->draft;
    int64_t until = end, origin, stretch;
    if (hosts->nactive > SAGOI_FEW_MEMBERS) {
        sagoi_shape_regions(draft->plan->low, draft->plan->high, &origin, &stretch);
        until = sagoi_max(end, start + (hosts->nactive > SAGOI_MANY_MEMBERS ? 4 : 1) * stretch);
        hosts->ballot.until = until;
    }
    double part = (double)(end - start) / (double)(until - start);
    for (int64_t i = 0; i < hosts->nactive; i++)
        add_member(hosts, hosts->active[i],
                   part * sagoi_shape_bytes(draft->shape, hosts->active[i], start, until));
}

static void prepare_range(sagoi_hosts *hosts, int64_t start, int64_t end, bool anyone) {
    if (hosts->nactive <= SAGOI_FEW_MEMBERS)
        leave_behind(hosts, start);
    bool joined = take_along(hosts, end);
    if (!anyone && alike(hosts, start, end, joined))
        return;
    leave_behind(hosts, start);
    start_ballot(hosts, anyone, targets_of(hosts, start, end));
    weigh_members(hosts, start, end);
    weigh_candidates(hosts);
    bool covered = hosts->highest_low <= start && hosts->lowest_high >= end;
    hosts->ballot.region = covered ? region_of(hosts->draft->shape, start, end) : -1;
    hosts->ballot.length = end - start;
}

/* ---- Elections ---------------------------------------------------------------------------------------- */

/* The first candidate at or behind position `at` that can take one more aggregator; `end`: there is none. */
static int64_t live_from(sagoi_hosts *hosts, int64_t at, int64_t end) {
    int64_t root = at;
    while (root < end) {
        if (hosts->skip[root] == root) {
            if (can_take(hosts, hosts->candidate[root].node, hosts->ballot.beyond_share))
                break;
            hosts->skip[root] = root + 1;
        }
        root = hosts->skip[root];
    }
    root = sagoi_min(root, end);
    while (at < root) {
        int64_t next = hosts->skip[at];
        hosts->skip[at] = root;
        at = next;
    }
    return root;
}

/* Among the candidates from `begin` to `end`, which are sorted by node: the first one at or behind `node`. */
static int64_t position_of(const sagoi_hosts *hosts, int64_t begin, int64_t end, int64_t node) {
    while (begin < end) {
        int64_t middle = begin + (end - begin) / 2;
        if (hosts->candidate[middle].node < node)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

static int64_t elect_level(sagoi_hosts *hosts, int64_t level, int64_t preferred) {
    int64_t begin = hosts->level_begin[level], end = hosts->level_begin[level + 1];
    int64_t at = live_from(hosts, position_of(hosts, begin, end, preferred), end);
    if (at == end)
        at = live_from(hosts, begin, end);
    return at < end ? hosts->candidate[at].node : -1;
}

/* No node is within the even shares any more. */
static void go_beyond_share(sagoi_hosts *hosts) {
    ballot *now = &hosts->ballot;
    now->beyond_share = true;
    now->live_level = 0;
    for (int64_t i = 0; i <= now->ncandidates; i++)
        hosts->skip[i] = i;
}

/* C1 + C2 + C3 (loads.h). */
static double cost_of(const sagoi_hosts *hosts, const candidate *one) {
    return one->cost + sagoi_loads_wait(hosts->loads, place_of(hosts, one->node));
}

/* The least of a figure among the candidates that can take one more and cost at most `most`. */
static double least_of(const sagoi_hosts *hosts, bool latency, double most) {
    double least = INFINITY;
    for (int64_t i = 0; i < hosts->ballot.ncandidates; i++) {
        const candidate *one = &hosts->candidate[i];
        double cost = cost_of(hosts, one), figure = latency ? one->latency : cost;
        if (figure < least && cost <= most && can_take(hosts, one->node, hosts->ballot.beyond_share))
            least = figure;
    }
    return least;
}

/* Chooses where links carry more than their share: the least cost; among equal costs the least latency; among
 * those the next one from `preferred` on.  -1: no candidate can take one more. */
static int64_t elect_loaded(sagoi_hosts *hosts, int64_t preferred) {
    const ballot *now = &hosts->ballot;
    int64_t nodes = hosts->draft->machine->nodes, best = -1, nearest = nodes;
    double most = least_of(hosts, false, INFINITY) + hosts->resolution, idle = INFINITY, cost = 0;
    double latest = now->hops_count ? least_of(hosts, true, most) + SAGOI_EQUAL_LATENCY : INFINITY;
    hosts->looks += 3 * now->ncandidates;
    for (int64_t i = 0; i < now->ncandidates; i++) {
        const candidate *one = &hosts->candidate[i];
        int64_t away = (one->node - preferred + nodes) % nodes;
        if (!can_take(hosts, one->node, now->beyond_share))
            continue;
        idle = one->cost < idle ? one->cost : idle;
        if (away < nearest && one->latency <= latest && cost_of(hosts, one) <= most) {
            nearest = away;
            best = one->node;
            cost = one->cost;
        }
    }
    hosts->moved += best >= 0 && cost > idle + hosts->resolution;
    return best;
}

static int64_t elect_cheapest(sagoi_hosts *hosts, int64_t preferred) {
    ballot *now = &hosts->ballot;
    for (;;) {
        bool loaded = hosts->loads && hosts->looks < SAGOI_MOST_CANDIDATES && sagoi_loads_matter(hosts->loads);
        int64_t least = loaded ? elect_loaded(hosts, preferred) : -1;
        if (least >= 0)
            return least;
        for (; now->live_level < now->nlevels; now->live_level++) {
            int64_t node = elect_level(hosts, now->live_level, preferred);
            if (node >= 0)
                return node;
        }
        if (now->beyond_share)
            return -1;
        go_beyond_share(hosts);
    }
}

/* The node with most memory; among equal ones the next one behind `preferred`. */
static int64_t elect_richest(const sagoi_hosts *hosts, int64_t preferred) {
    int64_t nodes = hosts->draft->machine->nodes, richest = -1, most = -1, nearest = nodes;
    for (int64_t i = 0; i < hosts->ballot.ncandidates; i++) {
        int64_t node = hosts->candidate[i].node, away = (node - preferred + nodes) % nodes;
        if (!can_take(hosts, node, true))
            continue;
        if (hosts->left[node] > most || (hosts->left[node] == most && away < nearest)) {
            most = hosts->left[node];
            nearest = away;
            richest = node;
        }
    }
    return richest;
}

/* The next node of the group at or behind `preferred` that has a rank left and enough memory. */
static int64_t elect_fixed(const sagoi_hosts *hosts, int64_t preferred) {
    const sagoi_draft *draft = hosts->draft;
    int64_t nodes = draft->machine->nodes;
    for (int64_t i = 0; i < nodes; i++) {
        int64_t node = (preferred + i) % nodes;
        if (draft->plan->node_group[node] == hosts->group && hosts->slots[node] < draft->machine->node[node].ranks)
            return hosts->left[node] >= hosts->need ? node : -1;
    }
    return -1;
}

static int64_t elect(sagoi_hosts *hosts, int64_t preferred) {
    int64_t node;
    if (sagoi_hosts_fixed(hosts))
        node = elect_fixed(hosts, preferred);
    else if (hosts->placement == SAGOI_PLACEMENT_MEMORY)
        node = elect_richest(hosts, preferred);
    else
        node = elect_cheapest(hosts, preferred);
    return node < 0 ? -1 : take(hosts, node);
}

/* Where an even spread would put domain `number` of all. */
static int64_t spread_node(const sagoi_hosts *hosts, int64_t number) {
    int64_t nodes = hosts->draft->machine->nodes;
    if (hosts->placement == SAGOI_PLACEMENT_RANK)
        return (hosts->first_node[hosts->group] + number - hosts->first_number) % nodes;
    return number < hosts->all ? number * nodes / hosts->all : nodes - 1;
}

int64_t sagoi_hosts_elect_range(sagoi_hosts *hosts, int64_t start, int64_t end, bool anyone) {
    if (!sagoi_hosts_fixed(hosts))
        prepare_range(hosts, start, end, anyone);
    int64_t node = elect(hosts, spread_node(hosts, hosts->next_number));
    hosts->next_number += node >= 0;
    return node;
}

int64_t sagoi_hosts_targets(const sagoi_hosts *hosts) { return hosts->targets; }

int64_t sagoi_hosts_elect_dealt(sagoi_hosts *hosts, int64_t number, double part, int64_t target) {
    const sagoi_draft *draft = hosts->draft;
    target_range targets = target >= 0 ? (target_range){target, 1} : all_targets(hosts);
    /* One result for all domains of a target, each of which has its part of everything. */
    if (!hosts->ballot.usable || hosts->ballot.targets.first != targets.first) {
        start_ballot(hosts, true, targets);
        for (int64_t i = 0; i < draft->nwith_data; i++)
            add_member(hosts, draft->by_low[i], (double)draft->shape->node[draft->by_low[i]].bytes * part);
        weigh_candidates(hosts);
    }
    return elect(hosts, spread_node(hosts, number));
}

int64_t sagoi_hosts_elect_turn(sagoi_hosts *hosts, const sagoi_turn *turn) {
    start_ballot(hosts, true, all_targets(hosts));
    add_member(hosts, turn->node, (double)hosts->draft->shape->node[turn->node].bytes);
    weigh_candidates(hosts);
    return elect(hosts, turn->node);
}
