/* Strategy, number of aggregators and window together, where the machine's description says what storage costs a
 * process: a request, a byte, the lock of a block that others write to.  (Elsewhere estimate.c knows bandwidths
 * alone, and what was measured decides: thresholds.h.)
 *
 * The model of an aggregated access: in each round every aggregator fills one window by messages while it stores
 * another one.  A process stores one window at a time.  The aggregators of a round share the storage targets and
 * the links that they use.  In the last round only some aggregators have a window, which takes as long as any
 * other window.
 *
 * The model of going alone: every rank accesses its runs one after another, while all other ranks do the same. */
#include <math.h>

#include "base/checked.h"
#include "plan/draft.h"

/* What the costs of all choices depend on; the last fields are set for one length of windows. */
typedef struct weighing {
    const sagoi_draft *draft;
    const sagoi_topology *topology;
    sagoi_level network;
    double nodes, span, bytes, density, runs;
    double rate;   /* bytes a second that one process can store; 0: as many as the way to the storage carries */
    double target; /* bytes a second that a storage target, or a gateway, moves between two requests */
    double locals; /* local aggregators of a node */
    int64_t staging_most; /* bytes of staging that each rank of the node with the least memory can have */
    int64_t unit;         /* bytes that one lock of the file system covers, a stripe or a block; 0: no locks */
    /* For windows of `window` bytes: */
    int64_t window;
    double senders;  /* nodes that have data in a window */
    double stored;   /* bytes that storing a window moves */
    double beside;   /* seconds that storing a window takes besides moving its bytes */
    double steady;   /* bytes a second that a target moves, with the time for its seeks */
    double handover; /* seconds until another node has given up the lock of a target; 0: nobody waits for locks */
} weighing;

bool sagoi_draft_costs_known(const sagoi_draft *draft) {
    const sagoi_topology *topology = draft->machine->topology;
    return topology && topology->request > 0 && draft->machine->nodes > 1 && !draft->parted;
}

bool sagoi_draft_modelled(const sagoi_draft *draft) {
    return sagoi_draft_costs_known(draft) && sagoi_draft_domain_hint(draft) == 0;
}

static int64_t usable_memory(const sagoi_node *node) { return node->memory - node->memory / 4; }

/* The node with the least memory decides how much staging a rank has, since all ranks have the same staging
 * (sizes.c). */
static int64_t most_staging(const sagoi_machine *machine) {
    int64_t most = SAGOI_STAGING_MOST;
    for (int64_t n = 0; n < machine->nodes; n++)
        most = sagoi_min(most, usable_memory(&machine->node[n]) / (2 * machine->node[n].ranks));
    return sagoi_max(most, SAGOI_SMALLEST);
}

static weighing weighing_of(const sagoi_draft *draft) {
    const sagoi_topology *topology = draft->machine->topology;
    const sagoi_plan *plan = draft->plan;
    weighing w = {.draft = draft, .topology = topology, .network = sagoi_slowest_level(topology)};
    w.nodes = (double)draft->machine->nodes;
    w.span = (double)(plan->high - plan->low);
    w.bytes = (double)draft->bytes;
    w.runs = (double)draft->runs;
    w.density = plan->dense ? 1 : sagoi_smaller(1, w.bytes / w.span);
    w.rate = !plan->write && topology->reader > 0 ? topology->reader : topology->writer;
    w.target = !plan->write && topology->io_reading > 0 ? topology->io_reading : topology->io.bandwidth;
    w.locals = (double)sagoi_draft_locals(draft);
    w.staging_most = most_staging(draft->machine);
    w.unit = draft->stripe > 0 ? draft->stripe : draft->locks;
    return w;
}

/* Seconds until a node that is storing so many bytes has stored them and given up the lock of the storage target,
 * for which another node waits. */
static double handover_of(const weighing *w, double bytes) {
    double rate = w->rate > 0 ? sagoi_smaller(w->rate, w->target) : w->target;
    if (!sagoi_draft_locks_wait(w->draft))
        return 0;
    return w->topology->lock * SAGOI_LOCK_WAITS + bytes / rate;
}

/* Bytes a second that a storage target moves if each request is for so many bytes.  A request for few bytes is
 * slow, since the target seeks once for each request. */
static double steady_rate(const weighing *w, double bytes) {
    return bytes > 0 ? bytes / (w->topology->seek + bytes / w->target) : w->target;
}

/* The number of targets that the stripes of a window are on.  Storing the window is one request to each of them.
 */
static double targets_of(const weighing *w, double size) {
    double stripe = (double)w->draft->stripe;
    return stripe > 0 ? sagoi_larger(1, sagoi_smaller((double)w->draft->targets, size / stripe)) : 1;
}

/* Sets the fields of the weighing that depend on the length of windows.  A window with holes is written run by
 * run, which takes many requests, and is read with its holes, which takes one. */
static void look_at_window(weighing *w, int64_t window) {
    const sagoi_plan *plan = w->draft->plan;
    double size = sagoi_smaller((double)window, w->span);
    bool holes = !plan->dense && w->density < 0.999;
    double calls = plan->write && holes ? sagoi_larger(1, w->runs * size / w->span) : 1;
    w->handover = handover_of(w, sagoi_smaller((double)window, (double)w->unit));
    bool shared = plan->write && w->unit > 0 && window % w->unit != 0 && (double)window < w->span;
    shared =
        shared && w->handover == 0; /* Otherwise locks_of() counts how long aggregators wait for each other. */
    w->window = window;
    w->senders = sagoi_draft_senders(w->draft, window);
    w->stored = size * (plan->write ? w->density : 1);
    w->steady = steady_rate(w, w->stored / sagoi_larger(calls, targets_of(w, size)));
    w->beside = calls * w->topology->request + (shared ? w->topology->lock : 0);
}

/* The number of gateways that the job's nodes can use.  Where each set of nodes has gateways of its own, the job
 * has those of its part of the machine. */
static double gateways_of(const weighing *w) {
    const sagoi_topology *t = w->topology;
    double all = (double)sagoi_topology_gateways(t);
    if (all == 0 || t->gateway_rule[0].serves == 0)
        return all;
    return sagoi_larger(1, all * w->nodes / (double)t->places);
}

/* Bytes a second that so many stores at a time move in all: what their targets and gateways carry, and no more
 * than the file system allows for one file. */
static double storage_of(const weighing *w, double stores, double bytes_each) {
    double gateways = gateways_of(w), ways = stores;
    if (w->draft->stripe > 0) { /* the busiest target, which all wait for, may have one stripe more than others */
        int64_t stripes = sagoi_max(1, (int64_t)(stores * bytes_each / (double)w->draft->stripe));
        ways = (double)stripes / (double)sagoi_div_up(stripes, w->draft->targets);
    }
    double all = (gateways > 0 ? sagoi_smaller(ways, gateways) : ways) * w->steady;
    return w->topology->file > 0 ? sagoi_smaller(all, w->topology->file) : all;
}

/* Seconds to store the windows of a round in which so many aggregators have one, each in other `dealt` bytes of
 * the file.  If a window is several stripes, their targets take them at the same time. */
static double store_seconds(const weighing *w, double windows, int64_t dealt) {
    double all = storage_of(w, windows, (double)dealt);
    double own = w->draft->stripe > 0 ? storage_of(w, 1, sagoi_smaller((double)w->window, w->span)) : w->steady;
    double rate = w->rate > 0 ? sagoi_smaller(w->rate, own) : own;
    return w->beside + sagoi_larger(w->stored / rate, windows * w->stored / all);
}

/* Seconds that the busiest link needs to move so many bytes to the hosts of so many windows.  The busiest link is
 * a node's own or, where nodes share switches, one between switches: each pair of switches has a link, or each
 * switch of a tree has several links up.  The bytes spread over the links between switches by chance, as flows do
 * that are thrown onto links.  So the number of flows on a link has Poisson's distribution, and of n links the
 * busiest one is sqrt(2 ln n) standard deviations above the mean. */
static double link_seconds(const weighing *w, double windows, double bytes) {
    double neighbours = (double)sagoi_topology_neighbours(w->topology), switches = w->nodes / neighbours;
    double each = w->topology->kind == SAGOI_FAT_TREE && w->topology->levels > 1
                      ? (double)sagoi_topology_uplinks(w->topology, 1)
                      : switches;
    double hosts = sagoi_smaller(windows, w->nodes), links = switches * each;
    /* If few nodes have data in a window, and there is enough data for two groups, one of these nodes aggregates
     * it (groups.c), and its part stays there. */
    bool near = w->senders * SAGOI_REGIONS_NEAR <= w->nodes && w->span >= sagoi_draft_divided(w->draft);
    double leaving = bytes * (near ? 1 - 1 / sagoi_larger(1, w->senders) : 1 - 1 / w->nodes),
           share = SAGOI_LINK_PAYLOAD;
    if (neighbours <= 1)
        return leaving / hosts / (w->network.bandwidth * share);
    double own = leaving / hosts / (w->topology->level[0].bandwidth * share);
    double flows = sagoi_larger(1, windows * w->senders / links),
           busiest = 1 + sqrt(2 * log(sagoi_larger(1, links)) / flows);
    double between = switches > 1 ? leaving / links * busiest : 0;
    return sagoi_larger(own, between / (w->network.bandwidth * share));
}

/* Seconds to fill the windows of a round: those of the busiest link, of an aggregator that receives messages, or
 * of a node that sends to all aggregators, whichever is longest. */
static double exchange_seconds(const weighing *w, double windows) {
    double moved = sagoi_smaller((double)w->window, w->span) * w->density;
    double message = w->topology->message, link = link_seconds(w, windows, windows * moved);
    double copy = w->topology->copy > 0 ? w->topology->copy : w->topology->inside.bandwidth;
    double receiving =
        w->senders * w->locals * message + moved / copy + w->runs * (double)w->window / w->span * w->topology->run;
    double sending = windows * w->senders / w->nodes * message;
    return sagoi_larger(link, sagoi_larger(receiving, sending)) + w->network.latency;
}

/* Seconds that aggregators wait for the lock of a storage target that they share.  They wait once, when they first
 * come to the target, and all of them at the same time.  They wait again in each round, one after another, if
 * stripes of other aggregators lie between those of one aggregator (domains.c says how to avoid this). */
typedef struct lock_waits {
    double once, each_round;
} lock_waits;

static lock_waits locks_of(const weighing *w, int64_t aggregators, int64_t dealt) {
    const sagoi_draft *draft = w->draft;
    int64_t units = sagoi_max(1, sagoi_div_up((int64_t)w->span, dealt)), busy = sagoi_min(aggregators, units);
    int64_t turn = sagoi_draft_turn(draft, dealt);
    double stripes = sagoi_larger(1, (double)dealt / (double)draft->stripe);
    double alike = (double)busy * stripes / (double)draft->targets; /* aggregators of one target in a round */
    lock_waits waits = {0, 0};
    if (w->handover <= 0)
        return waits;
    if (units <= aggregators) { /* each aggregator has at most one unit */
        waits.once = (dealt < draft->stripe ? (double)units : alike) > 1 ? w->handover : 0;
    } else if (sagoi_draft_sections(draft, aggregators, dealt) > 1) {
        waits.once = w->handover;
    } else if (turn == 0 ? busy > 1 : turn % busy != 0) {
        waits.once = w->handover;
        waits.each_round = sagoi_larger(1, ceil(alike)) * w->handover;
    }
    return waits;
}

static double rounds_seconds(const weighing *w, int64_t aggregators) {
    int64_t dealt = w->draft->stripe > 0 ? sagoi_draft_dealt(w->draft, aggregators, w->window) : w->window;
    int64_t units = sagoi_max(1, sagoi_div_up((int64_t)w->span, dealt)), parts = sagoi_div_up(dealt, w->window);
    int64_t busy = sagoi_min(aggregators, units), full = units / busy * parts, last = units % busy;
    lock_waits locks = locks_of(w, aggregators, dealt);
    double e = exchange_seconds(w, (double)busy), s = store_seconds(w, (double)busy, dealt) + locks.each_round;
    double seconds = locks.once - locks.each_round + e + (double)(full - 1) * sagoi_larger(e, s) + s;
    if (last == 0)
        return seconds;
    double e_last = exchange_seconds(w, (double)last),
           s_last = store_seconds(w, (double)last, dealt) + locks.each_round;
    return seconds - s + sagoi_larger(s, e_last) + (double)(parts - 1) * sagoi_larger(e_last, s_last) + s_last;
}

/* ---- Going alone ---- */

/* Seconds until the last rank that waits for a lock has it.
 *
 * Locks of blocks belong to ranks: the ranks that have a part of the same block wait for it, and ranks of
 * different blocks wait at the same time.
 *
 * Locks of stripes belong to nodes, and ranks of one node need not wait for each other.  But Lustre's server locks
 * all that a target has of the file for one node, until another node asks for some of it.  So a node that has a
 * part of a stripe waits for all other nodes with data on that target, one after another, and each of these first
 * ends the store that is under way. */
static double alone_locks(const weighing *w, double runs) {
    const sagoi_draft *draft = w->draft;
    bool stretched = draft->stripe > 0 && sagoi_shape_stretched(draft->shape);
    double stretches = stretched ? w->nodes : w->runs, piece = w->bytes / stretches, unit = (double)w->unit;
    if (unit == 0 || (draft->stripe == 0 && piece >= unit))
        return 0;
    if (draft->stripe == 0)
        return sagoi_larger(runs, unit / piece) * w->topology->lock;
    bool whole = stretched ? fmod(piece, unit) == 0 : piece >= unit;
    double all = (double)draft->targets, targets = sagoi_smaller(all, w->span / unit + 1);
    if (whole && (stretched || runs <= 1)) /* each node waits once, when it first comes to a target */
        return w->bytes > all * unit ? handover_of(w, sagoi_smaller(unit, w->bytes / w->runs)) : 0;
    double others = whole ? 0 : stretched ? 1 : 1 - 1 / w->nodes;
    double taken = stretches * others + sagoi_smaller(w->bytes / unit, stretches * all);
    return sagoi_larger(0, ceil(taken / targets) - 1) * SAGOI_LOCK_WAITS * w->topology->lock;
}

double sagoi_draft_alone_seconds(const sagoi_draft *draft) {
    weighing w = weighing_of(draft);
    double ranks = (double)draft->ranks, each = w.bytes / ranks;
    double runs = draft->shape->most_runs > 0 ? (double)draft->shape->most_runs : sagoi_larger(1, w.runs / ranks);
    w.steady = steady_rate(&w, w.bytes / w.runs);
    double all = storage_of(&w, w.runs, w.bytes / w.runs);
    double seconds = runs * w.topology->request + sagoi_larger(w.rate > 0 ? each / w.rate : 0, w.bytes / all);
    return seconds + (draft->plan->write ? alone_locks(&w, runs) : 0);
}

/* ---- Choosing ---- */

static int64_t room_of(const sagoi_node *node, int64_t staging) {
    return usable_memory(node) - 2 * node->ranks * staging;
}

/* The most aggregators that hosts.c will give a node, if an even share of them is `share`. */
static int64_t most_a_node(const sagoi_draft *draft, int64_t share) {
    return draft->hints->per_node > 0 ? draft->hints->per_node : sagoi_max(SAGOI_AGGREGATORS_A_NODE, share);
}

/* The number of aggregators that all nodes together have memory for, out of so many that are wanted.  Each needs
 * its two windows, and messages of at most `longest` bytes. */
static double memory_for(const weighing *w, int64_t aggregators, int64_t longest) {
    const sagoi_draft *draft = w->draft;
    int64_t window = w->window, message = sagoi_min(window + window / 4 + SAGOI_SMALLEST, longest);
    int64_t need = 2 * window + SAGOI_MESSAGES_USUAL * message;
    double room = 0, share = 2 * (double)aggregators * (double)window / (double)draft->ranks + SAGOI_SMALLEST;
    int64_t staging = (int64_t)sagoi_smaller(share, (double)w->staging_most);
    if (longest <= SAGOI_MESSAGE_SHORT)
        staging = sagoi_min(staging, SAGOI_STAGING_SHORT);
    if (draft->plan->write && !draft->plan->dense)
        need += window / 4;
    need += need / 16; /* a reserve for tables, and for sizes that are rounded up */
    int64_t able = 0;
    for (int64_t n = 0; n < draft->machine->nodes; n++)
        able += room_of(&draft->machine->node[n], staging) >= need;
    int64_t most = most_a_node(draft, sagoi_div_up(aggregators, sagoi_max(1, able)));
    for (int64_t n = 0; n < draft->machine->nodes; n++) {
        const sagoi_node *node = &draft->machine->node[n];
        room += (double)sagoi_max(0, sagoi_min(sagoi_min(most, node->ranks), room_of(node, staging) / need));
    }
    return room;
}

typedef struct search {
    weighing w;
    sagoi_best best;
    bool cut; /* the best choice so far has several windows a stripe */
} search;

/* Keeps a number of aggregators that was compared, for `sago plan --explain`, with the seconds that it takes with
 * the window that suits it best. */
static void keep_compared(sagoi_plan *plan, int64_t aggregators, double seconds) {
    int64_t i = 0;
    while (i < plan->ncompared && plan->compared[i].aggregators != aggregators)
        i++;
    if (i == SAGOI_COMPARED_MAX) /* there are more than can be shown: this one replaces the last one */
        plan->compared[--i] = (sagoi_compared){aggregators, seconds};
    if (i == plan->ncompared)
        plan->compared[plan->ncompared++] = (sagoi_compared){aggregators, seconds};
    plan->compared[i].seconds = sagoi_smaller(plan->compared[i].seconds, seconds);
}

/* Keeps the number that was chosen with the window that was chosen, so that the table agrees with the plan. */
static void keep_chosen(sagoi_plan *plan, const sagoi_best *best) {
    keep_compared(plan, best->aggregators, best->seconds);
    for (int64_t i = 0; i < plan->ncompared; i++)
        if (plan->compared[i].aggregators == best->aggregators)
            plan->compared[i].seconds = best->seconds;
}

/* Would some of the aggregators that a hint asks for have no window?  Then shorter windows are tried first. */
static bool is_idle(const search *s, int64_t count) {
    const sagoi_hints *hints = s->w.draft->hints;
    bool hinted = (hints->aggregators > 0 || hints->per_target > 0) && hints->window == 0;
    return hinted && s->w.window > s->w.draft->stripe && s->w.span < (double)count * (double)s->w.window;
}

/* Weighs a number of aggregators.  Smaller numbers are weighed first, and a larger number replaces a smaller one
 * only if the difference is one that the model can tell. */
static void look_at_count(search *s, int64_t aggregators) {
    const sagoi_draft *draft = s->w.draft;
    const sagoi_hints *hints = draft->hints;
    int64_t count = hints->aggregators > 0 ? hints->aggregators : aggregators;
    count = sagoi_min(count, draft->ranks);
    bool cut = false;
    if (count < 1)
        return;
    if (draft->stripe > 0) {
        int64_t dealt = sagoi_draft_dealt(draft, count, s->w.window);
        int64_t sections = sagoi_draft_sections(draft, count, dealt);
        if (is_idle(s, count))
            return;
        count = sections > 1 ? sections * sagoi_draft_turn(draft, dealt) : count; /* each section has as many */
        cut = dealt > s->w.window;
    }
    bool usual = (double)count <= memory_for(&s->w, count, SAGOI_MESSAGE_USUAL);
    if (!usual && (double)count > memory_for(&s->w, count, SAGOI_MESSAGE_SHORT) && hints->aggregators == 0)
        return;
    double seconds = rounds_seconds(&s->w, count);
    /* Windows that are whole stripes (paper 000: buffer : stripe = 1 : 1) are preferred where they cost little
     * more than parts of stripes.  So parts of stripes are compared, and shown, as if they took that much longer.
     */
    keep_compared(s->w.draft->plan, count, cut ? seconds * (1 + 1.0 / SAGOI_COST_RESOLUTION) : seconds);
    double worth = s->cut && !cut ? 1 + 1.0 / SAGOI_COST_RESOLUTION : 1 - 1.0 / SAGOI_MODEL_RESOLUTION;
    if (s->best.aggregators == 0 || seconds < s->best.seconds * worth) {
        s->best = (sagoi_best){seconds, count, s->w.window, !usual};
        s->cut = cut;
    }
}

/* Tries numbers of aggregators that give each target, or each part of a stripe, aggregators of its own, so that
 * they do not wait for each other's locks; then numbers that end all windows in few rounds. */
static void try_striped(search *s) {
    const sagoi_draft *draft = s->w.draft;
    int64_t parts = sagoi_max(1, draft->stripe / s->w.window), turn = draft->targets * parts;
    int64_t windows = sagoi_div_up((int64_t)s->w.span, s->w.window), each = sagoi_div_up(windows, turn);
    if (draft->hints->per_target > 0) {
        look_at_count(s, draft->hints->per_target * draft->targets);
        return;
    }
    for (int64_t k = 1; k < each && k * turn <= draft->ranks; k *= 2)
        look_at_count(s, k * turn);
    for (int64_t rounds = 4; rounds >= 1; rounds--)
        look_at_count(s, sagoi_min(sagoi_div_up(each, rounds) * turn, windows));
    if (turn > draft->ranks || windows > draft->ranks)
        look_at_count(s, sagoi_min(windows, draft->ranks));
    int64_t nodes = draft->machine->nodes, targets = s->w.window / draft->stripe; /* of one window */
    for (int64_t k = nodes; targets >= draft->targets && k <= sagoi_min(windows, draft->ranks); k *= 2)
        look_at_count(s, k); /* every window is on all targets: each node gets as many aggregators */
    for (int64_t part = 2; s->w.handover > 0 && turn > draft->ranks && part <= turn; part++)
        if (turn % part == 0) /* each target has one aggregator, which may have several targets */
            look_at_count(s, turn / part);
}

/* Tries windows that let so many aggregators of contiguous domains take one round, two, four and so on. */
static void try_ranges(search *s, int64_t aggregators) {
    const sagoi_draft *draft = s->w.draft;
    int64_t align = draft->align, domain = sagoi_div_up((int64_t)s->w.span, aggregators);
    for (int64_t rounds = 1; rounds <= SAGOI_ROUNDS_WANTED; rounds *= 2) {
        int64_t window = sagoi_round_up(sagoi_div_up(domain, rounds), align);
        if (draft->hints->window > 0)
            window = draft->hints->window;
        else if (window < SAGOI_SMALLEST || window > SAGOI_WINDOW_STRIPED_MOST)
            continue;
        look_at_window(&s->w, window);
        look_at_count(s, aggregators);
    }
}

/* Tries as many aggregators as there is memory for, with windows of each length: where memory is short this may be
 * the only possible choice. */
static void try_room(search *s) {
    const sagoi_draft *draft = s->w.draft;
    if (draft->hints->window > 0)
        return;
    for (int64_t window = SAGOI_WINDOW_STRIPED_MOST; window >= SAGOI_SMALLEST; window /= 2) {
        look_at_window(&s->w, sagoi_round_up(window, draft->align));
        look_at_count(s, (int64_t)memory_for(&s->w, draft->machine->nodes, SAGOI_MESSAGE_SHORT));
    }
}

/* The longest window.  Where targets seek for every request, large requests are worth four times the memory. */
static int64_t most_window(const search *s) {
    return s->w.topology->seek > 0 ? 4 * SAGOI_WINDOW_STRIPED_MOST : SAGOI_WINDOW_STRIPED_MOST;
}

/* Tries windows from a part of a stripe to many stripes. */
static void try_windows(search *s) {
    const sagoi_draft *draft = s->w.draft;
    int64_t hint = draft->hints->window, window = draft->stripe;
    for (; window / 2 >= SAGOI_SMALLEST && window / 2 % SAGOI_PAGE == 0; window /= 2)
        ;
    window = hint > 0 ? hint : window;
    for (; window <= most_window(s); window *= 2) {
        look_at_window(&s->w, window);
        try_striped(s);
        if (hint > 0 || (double)window >= s->w.span)
            break;
    }
}

static void try_all(search *s) {
    const sagoi_draft *draft = s->w.draft;
    int64_t nodes = draft->machine->nodes, most = sagoi_min(draft->ranks, nodes * draft->most_ranks);
    if (draft->stripe > 0) {
        try_windows(s);
        return;
    }
    for (int64_t count = 1; count < nodes; count *= 2)
        try_ranges(s, count);
    for (int64_t count = nodes; count <= most; count *= 2)
        try_ranges(s, count);
    try_room(s);
}

sagoi_best sagoi_draft_choose(const sagoi_draft *draft) {
    search s = {.w = weighing_of(draft)};
    draft->plan->ncompared = 0;
    try_all(&s);
    if (s.best.aggregators > 0)
        keep_chosen(draft->plan, &s.best);
    return s.best;
}

/* Each node aggregates its own blocks, which come in turn with those of other nodes.  Its windows are these
 * blocks, or equal parts of them, and all nodes store at the same time, turn after turn. */
sagoi_best sagoi_draft_choose_turns(const sagoi_draft *draft) {
    weighing w = weighing_of(draft);
    sagoi_best best = {.seconds = 0};
    int64_t block = 0, turns = sagoi_div_up((int64_t)w.span, draft->turn_bytes), hint = draft->hints->window;
    for (int64_t i = 0; i < draft->nturns; i++)
        block = sagoi_max(block, draft->turn[i].bytes);
    int64_t fewest = hint > 0 ? sagoi_max(1, sagoi_div_up(block, hint)) : 1;
    for (int64_t parts = fewest; block / parts >= SAGOI_SMALLEST; parts *= 2) {
        look_at_window(&w, sagoi_round_up(sagoi_div_up(block, parts), SAGOI_PAGE));
        double seconds = (double)(turns * parts) * store_seconds(&w, (double)draft->nturns, w.window);
        bool room = (double)draft->nturns <= memory_for(&w, draft->nturns, SAGOI_MESSAGE_SHORT);
        if (room && (best.aggregators == 0 || seconds < best.seconds))
            best = (sagoi_best){seconds, draft->nturns, w.window, false};
        if (hint > 0)
            break;
    }
    return best;
}
