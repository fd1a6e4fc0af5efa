/* What engines have in common: from windows to flows, work and stores. */
#include "sim/sim_engine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "plan/thresholds.h"
#include "sim/locks.h"

enum { PAIR_BYTES = 16, DELTA_BYTES = 3, MESSAGE_BYTES = 64, PAGE_BYTES = 4096, SIEVE_BYTES = 512 << 10 };
enum { FLOWS_SIMULATED = 40000, ROUNDS_SIMULATED = 64 };
/* Few rounds are simulated one and all, if they have no more flows than these: a last one with little counts as
 * much as any to those who take part in it. */
enum { ROUNDS_FEW = 8, FLOWS_OF_FEW = 1000000 };
/* Processes that store by themselves, each of them by its own; where there are more, several of a node as one. */
enum { WRITERS_SIMULATED = 1024 };

static const sim_engine *const engines[] = {
    &sim_engine_sago, &sim_engine_tapioca, &sim_engine_two_phase, &sim_engine_tam,         &sim_engine_ompio,
    &sim_engine_gio,  &sim_engine_coio,    &sim_engine_rbio,      &sim_engine_rbio_thread,
};

const sim_engine *const *sim_engines(int64_t *count) {
    *count = sizeof engines / sizeof engines[0];
    return engines;
}

const sim_engine *sim_engine_find(const char *name, int64_t *number) {
    size_t length = strcspn(name, ":");
    *number = 0;
    if (name[length] == ':' && !bench_parse_count(name + length + 1, number))
        return NULL;
    for (size_t i = 0; i < sizeof engines / sizeof engines[0]; i++)
        if (strlen(engines[i]->name) == length && strncmp(engines[i]->name, name, length) == 0)
            return engines[i];
    return NULL;
}

/* ---- Extents of calls ---- */

/* What one rank adds; `before` is where the ranks before it end. */
static void add_rank(sim_extent *extent, int64_t *before, const sim_extent *own) {
    if (own->bytes == 0)
        return;
    extent->interleaved |= own->low < *before;
    *before = own->high;
    extent->low = sagoi_min(extent->low, own->low);
    extent->high = sagoi_max(extent->high, own->high);
    extent->bytes += own->bytes;
    extent->runs += own->runs;
    extent->most_runs = sagoi_max(extent->most_runs, own->runs);
}

static sim_extent extent_of_call(const bench_call *call) {
    sim_extent own = {.bytes = bench_region_bytes(&call->file), .runs = bench_region_runs(&call->file)};
    bench_region_bounds(&call->file, &own.low, &own.high);
    own.low += call->disp;
    own.high += call->disp;
    return own;
}

static void measure_rank(sim_case *c, const bench_access *access, int64_t *before) {
    sim_extent all = {.low = INT64_MAX};
    int64_t none = INT64_MIN;
    for (int64_t i = 0; i < access->ncalls && i < c->calls; i++) {
        sim_extent own = extent_of_call(&access->calls[i]);
        add_rank(&c->extent[i + 1], &before[i + 1], &own);
        own.runs -= all.runs > 0 && own.low == all.high; /* one run goes on in the next call */
        add_rank(&all, &none, &own);
    }
    add_rank(&c->extent[0], &before[0], &all);
}

static bool make_extents(sim_case *c, int64_t calls, int64_t **before, char *why) {
    c->calls = calls;
    c->extent = calloc((size_t)calls + 1, sizeof *c->extent);
    *before = calloc((size_t)calls + 1, sizeof **before);
    if (!c->extent || !*before)
        return bench_refuse(why, "out of memory");
    for (int64_t i = 0; i <= calls; i++) {
        c->extent[i].low = INT64_MAX;
        (*before)[i] = INT64_MIN;
    }
    return true;
}

bool sim_case_measure(sim_case *c, char *why) {
    int64_t ranks = c->config.nodes * c->config.ranks, *before = NULL;
    bool ok = true;
    for (int64_t r = 0; ok && r < ranks; r++) {
        bench_access access;
        if (!bench_pattern_make(c->config.pattern, &c->config.params, r, ranks, &access, why))
            ok = false;
        ok = ok && (before || make_extents(c, access.ncalls, &before, why));
        if (ok)
            measure_rank(c, &access, before);
        bench_access_cleanup(&access);
    }
    for (int64_t i = 0; ok && i <= c->calls; i++)
        if (c->extent[i].bytes == 0)
            c->extent[i].low = 0;
    free(before);
    return ok;
}

/* ---- Costs ---- */

static double steps(int64_t ranks) { return ranks > 1 ? ceil(log2((double)ranks)) : 0; }

/* How many processes of a node share a core; where all nodes share some, the replay has them wait for each other.
 */
static double crowd_of(const sim_case *c) {
    return c->options.shared_cores > 0 ? 1 : sagoi_larger(1, (double)c->config.ranks / (double)c->config.cores);
}

/* How much longer work takes that so many processes do at once on cores that all nodes share. */
static double waiting_of(const sim_case *c, double processes) {
    double cores = (double)c->options.shared_cores;
    return cores > 0 ? sagoi_larger(1, processes / cores) : 1;
}

/* One collective call of all ranks: all of them work in every step. */
static double collective_of(const sim_case *c, int64_t ranks) {
    return steps(ranks) * c->costs.collective * waiting_of(c, (double)ranks);
}

/* Bytes a second that one process stores, or reads, where no storage target decides. */
static double storing_rate(const sim_case *c) {
    double own = c->config.read ? c->costs.reader : c->costs.writer;
    return own > 0 ? own : c->costs.copy;
}

/* Seconds that a processor needs to bring bytes onto the network, or from it. */
static double stack_seconds(const sim_case *c, double bytes) {
    return c->costs.stack > 0 ? bytes / c->costs.stack : 0;
}

/* Bytes that reading a window first and writing it then are worth, in bytes written. */
static double sieved_bytes(const sim_case *c, double span) {
    double reading = c->costs.reader > 0 ? c->costs.writer / c->costs.reader : 1;
    return span * (1 + reading);
}

/* What a node's ranks do for a round: each packs its own runs, and those that send pay for every message. */
static double node_work(const sim_case *c, const sim_style *style, const sim_traffic *traffic, const int64_t *host,
                        int64_t round, int64_t node) {
    const sim_costs *costs = &c->costs;
    const sim_rank_share *busiest = sim_traffic_busiest(traffic, round, node);
    const sim_share *share = sim_traffic_share(traffic, round, node);
    double bytes = 0, messages = 0, leaving = 0;
    for (int64_t w = 0; w < traffic->windows; w++) {
        bytes += share[w].bytes;
        messages += share[w].locals;
        leaving += host[w] != node ? share[w].bytes : 0;
    }
    double sending =
        messages / (double)style->locals * costs->send + stack_seconds(c, leaving / (double)style->locals);
    if (style->joins) /* everything is packed already */
        return sending;
    double crowd = crowd_of(c);
    double copying = sagoi_larger(busiest->bytes / costs->copy * crowd, bytes / costs->memory);
    return busiest->runs * costs->run * crowd + copying + sending;
}

static sim_flow flow_of(const sim_case *c, const sim_style *style, const sim_share *share, double waiting,
                        bool own) {
    const sim_costs *costs = &c->costs;
    double runs = style->joins ? share->joined : share->runs, messages = share->locals;
    double queue = waiting < (double)style->in_flight ? waiting : (double)style->in_flight;
    sim_flow flow = {.bytes = share->bytes + messages * MESSAGE_BYTES +
                              (style->lists || c->options.repeated ? 0 : runs * DELTA_BYTES),
                     .messages = messages,
                     .seconds = messages * (costs->receive + costs->match * queue / 2) + runs * costs->run +
                                share->bytes / costs->copy + (own ? 0 : stack_seconds(c, share->bytes))};
    if (own && !style->lists) { /* its ranks put their runs into the window themselves */
        flow.messages = 0;
        flow.seconds = 0;
    }
    return flow;
}

/* Does a write end within a stripe to which somebody else writes, too?  Where the access itself ends nobody does.
 */
static bool is_partial(const sim_case *c, const sim_extent *extent, const sim_window *window) {
    int64_t unit = c->input.target.stripe_unit > 0 ? c->input.target.stripe_unit : c->input.target.lock_unit;
    if (unit == 0 || c->config.read || sim_locks_in_turn(c)) /* else locks.h has it */
        return false;
    return (window->start % unit != 0 && window->start > extent->low) ||
           (window->end % unit != 0 && window->end < extent->high);
}

typedef struct window_sums {
    double bytes, runs, messages;
    double stretches; /* share of the runs that a hole follows: system calls that store the runs one by one */
} window_sums;

static void share_stripes(sim_store *store, int64_t unit, int64_t start, int64_t end) {
    if (unit == 0 || store->stripes < 2)
        return;
    store->first = (double)(unit - start % unit) / (double)(end - start);
    store->last = (double)((end - 1) % unit + 1) / (double)(end - start);
}

static sim_store store_of(const sim_case *c, const sim_style *style, const sim_extent *extent,
                          const sim_window *window, const window_sums *sums) {
    const sim_costs *costs = &c->costs;
    int64_t unit = c->unit, span = window->end - window->start;
    bool holes = sums->bytes < 0.999 * (double)span,
         sieves = holes && style->fills_holes && c->config.read == false;
    double calls = !holes || c->config.read ? 1 : sieves ? 2 : sagoi_larger(1, sums->runs * sums->stretches);
    sim_store store = {.bytes = sieves                    ? sieved_bytes(c, (double)span)
                                : holes && c->config.read ? (double)span
                                                          : sums->bytes,
                       .stripe = c->input.target.stripe_unit > 0
                                     ? window->start / unit
                                     : (int64_t)((uint64_t)window->start * UINT64_C(0x9e3779b97f4a7c15) >> 40),
                       .stripes = unit > 0 ? sagoi_div_up(window->end, unit) - window->start / unit : 1};
    if (sieves || (holes && !c->config.read))
        store.requests =
            sieves ? 2 : calls / sagoi_larger(1, sagoi_smaller((double)store.stripes, (double)c->targets));
    share_stripes(&store, unit, window->start, window->end);
    store.seconds = calls * costs->call + (is_partial(c, extent, window) ? costs->lock : 0);
    if (c->targets == 0) /* else the time is the targets'; what begins or ends within a page needs all of it */
        store.seconds +=
            (holes && !sieves ? sagoi_smaller((double)span, store.bytes + calls * PAGE_BYTES) : store.bytes) /
            storing_rate(c);
    if (style->lists && sums->messages > 1)
        store.work = sums->runs * log2(sums->messages) * costs->compare;
    if (sums->bytes == 0)
        store = (sim_store){0};
    return store;
}

/* ---- Rounds ---- */

static void fill_round(const sim_case *c, int64_t call, const sim_style *style, const sim_traffic *traffic,
                       const sim_window *window, sim_load *load, int64_t r) {
    sim_round *round = &load->round[r];
    for (int64_t n = 0; n < load->nodes; n++)
        round->node[n] = node_work(c, style, traffic, load->host, r, n);
    for (int64_t a = 0; a < load->aggregators; a++) {
        window_sums sums = {.stretches = traffic->stretches};
        for (int64_t n = 0; n < load->nodes; n++) {
            const sim_share *share = &sim_traffic_share(traffic, r, n)[a];
            sums.bytes += share->bytes;
            sums.runs += style->joins ? share->joined : share->runs;
            sums.messages += share->locals;
            round->runs += share->runs;
        }
        round->listed += sums.runs;
        for (int64_t n = 0; n < load->nodes; n++) {
            const sim_share *share = &sim_traffic_share(traffic, r, n)[a];
            if (share->bytes > 0)
                *sim_load_flow(load, r, n, a) = flow_of(c, style, share, sums.messages, n == load->host[a]);
        }
        round->store[a] = store_of(c, style, sim_extent_of(c, call), &window[a], &sums);
        round->bytes += sums.bytes;
    }
}

/* The runs that are left when local aggregators have joined those that touch. */
static double listed_share(const sim_load *load) {
    double runs = 0, listed = 0;
    for (int64_t r = 0; r < load->rounds; r++) {
        runs += load->round[r].runs;
        listed += load->round[r].listed;
    }
    return runs > 0 ? listed / runs : 1;
}

/* Who sends its list to an aggregator: those that have something for it in any round. */
static double senders_of(const sim_load *load) {
    double messages = 0;
    for (int64_t r = 0; r < load->rounds; r++)
        for (int64_t i = 0; i < load->nodes * load->aggregators; i++)
            messages += load->round[r].flow[i].messages;
    return messages * load->repeats / (double)load->aggregators;
}

/* Every node sends the lists of what other nodes aggregate through its own link. */
static double lists_on_wire(const sim_case *c, double lists) {
    double nodes = (double)c->config.nodes;
    return lists / nodes * PAIR_BYTES * (1 - 1 / nodes) / (c->topology.level[0].bandwidth * c->costs.payload);
}

/* Before the first round: what is known of each other's requests, and what local aggregators gather for good. */
static double ahead_of(const sim_case *c, const sim_style *style, const sim_extent *extent, const sim_load *load) {
    const sim_costs *costs = &c->costs;
    double ranks = (double)(style->members > 0 ? style->members : c->config.nodes * c->config.ranks);
    double nodes = ranks / (double)c->config.ranks;
    double all = collective_of(c, (int64_t)ranks);
    if (!style->lists) /* agreements before and after; a few numbers a node */
        return 2 * all + (c->options.repeated ? 0 : nodes * 300 / costs->copy);
    double senders = sagoi_smaller(nodes * (double)style->locals, senders_of(load));
    double lists = (double)extent->runs * (double)c->options.times * listed_share(load),
           at_each = lists / (double)load->aggregators;
    /* Each rank flattens its runs, counts those for each aggregator, then makes the lists. */
    double seconds = 4 * all + ranks * PAIR_BYTES / costs->copy +
                     3 * (double)extent->most_runs * costs->run * waiting_of(c, ranks) + lists_on_wire(c, lists);
    if (style->to_all)
        return seconds + lists * (PAIR_BYTES / costs->copy + costs->run) + ranks * costs->receive;
    double queue = senders < (double)style->in_flight ? senders : (double)style->in_flight;
    return seconds + (senders * (costs->receive + costs->match * queue / 2) +
                      at_each * (PAIR_BYTES / costs->copy + costs->run)) *
                         waiting_of(c, (double)load->aggregators);
}

/* TAM's first layer: lists and data of q/c ranks, received, merged and moved into order. */
static double gather_ahead(const sim_case *c, const sim_style *style, const sim_extent *extent) {
    const sim_costs *costs = &c->costs;
    double aggregators = (double)(c->config.nodes * style->locals),
           served = (double)c->config.ranks / (double)style->locals;
    double runs = (double)extent->runs * (double)c->options.times / aggregators;
    double bytes = (double)extent->bytes * (double)c->options.times / aggregators;
    if (served <= 1)
        return 0;
    double moving = sagoi_larger(2 * bytes / costs->copy, 2 * bytes * (double)style->locals / costs->memory);
    return served * 2 * costs->receive + runs * (PAIR_BYTES / costs->copy + costs->run) +
           runs * log2(served) * costs->compare + moving;
}

/* Every round all ranks tell all how much they send: four bytes a pair, in log2 steps of half of them each, which
 * the ranks of a node send through its link at once. */
static double sizes_of(const sim_case *c, const sim_style *style, double ranks) {
    double half = ranks * 2, link = c->topology.level[0].bandwidth * c->costs.payload;
    double leaving = c->config.nodes > 1 ? half * (double)style->locals / link : 0;
    return steps((int64_t)ranks) * (half / c->costs.copy + leaving);
}

/* The last round is seldom full, so a sample leaves it out; so does a file that goes on like this. */
static int64_t sampled_rounds(const sim_case *c, const sim_layout *layout) {
    int64_t wanted = c->options.rounds > 0 ? c->options.rounds : 2;
    int64_t flows = c->config.nodes * layout->aggregators;
    int64_t affordable = sagoi_min(ROUNDS_SIMULATED, FLOWS_SIMULATED / sagoi_max(flows, 1));
    if (layout->rounds <= ROUNDS_FEW && layout->rounds <= FLOWS_OF_FEW / sagoi_max(flows, 1))
        affordable = layout->rounds;
    int64_t rounds = sagoi_max(wanted, c->options.rounds > 0 ? wanted : affordable);
    int64_t full = layout->rounds > 1 && c->options.times > 1 ? layout->rounds - 1 : layout->rounds;
    return sagoi_min(rounds, full);
}

static int64_t sampled_round(const sim_layout *layout, const sim_load *load, int64_t r) {
    return load->rounds == layout->rounds ? r : (layout->rounds - 1) * (2 * r + 1) / (2 * load->rounds);
}

/* Aggregators that share storage targets wait for each other's locks.  What they wait in the layout's first round
 * comes once, however often the rounds that are simulated are repeated; where the file is so many times as long as
 * the one that was planned, once each time. */
static bool wait_for_locks(const sim_case *c, const sim_layout *layout, sim_load *load, char *why) {
    double *seconds = calloc((size_t)layout->aggregators, sizeof *seconds);
    sim_locks *locks = seconds ? sim_locks_create(c, layout, why) : NULL;
    bool ok = seconds ? locks || !sim_locks_in_turn(c) || layout->own_files : bench_refuse(why, "out of memory");
    for (int64_t r = -1; locks && r < load->rounds; r++) {
        int64_t round = r < 0 ? 0 : sampled_round(layout, load, r);
        sim_locks_wait(locks, round, seconds);
        for (int64_t a = 0; a < layout->aggregators; a++)
            if (r < 0)
                load->ahead = sagoi_larger(load->ahead, seconds[a] * (double)c->options.times);
            else if (round > 0 && load->round[r].store[a].bytes > 0)
                load->round[r].store[a].seconds += seconds[a];
    }
    sim_locks_destroy(locks);
    free(seconds);
    return ok;
}

static bool load_rounds(const sim_case *c, int64_t call, const sim_layout *layout, const sim_style *style,
                        sim_load *load, char *why) {
    const sim_extent *extent = sim_extent_of(c, call);
    bool holes = extent->bytes < extent->high - extent->low;
    sim_window *window = calloc((size_t)(layout->aggregators * load->rounds), sizeof *window);
    sim_question question = {.config = &c->config,
                             .call = call,
                             .locals = style->locals,
                             .window = window,
                             .windows = layout->aggregators,
                             .rounds = load->rounds,
                             .join = style->joins,
                             .sample = holes && !style->fills_holes};
    sim_traffic traffic = {0};
    if (!window)
        return bench_refuse(why, "out of memory");
    for (int64_t r = 0; r < load->rounds; r++) {
        int64_t round = sampled_round(layout, load, r);
        for (int64_t a = 0; a < layout->aggregators; a++) {
            sim_window *own = &window[r * layout->aggregators + a];
            if (!layout->window(layout->self, a, round, &own->start, &own->end))
                *own = (sim_window){0, 0};
        }
    }
    bool ok = sim_traffic_make(&traffic, &question, why);
    for (int64_t r = 0; ok && r < load->rounds; r++)
        fill_round(c, call, style, &traffic, &window[r * layout->aggregators], load, r);
    sim_traffic_cleanup(&traffic);
    free(window);
    return ok && wait_for_locks(c, layout, load, why);
}

/* Who has to wait for a core, and for the node's client. */
static void share_cores(const sim_case *c, sim_load *load, int64_t processes) {
    load->cores = c->options.shared_cores;
    load->processes = processes;
    load->at_once = c->config.read ? 0 : (int64_t)c->costs.at_once;
    load->one_by_one = c->costs.at_once > 0; /* a client without a cache reads so, too */
}

bool sim_load_windows(const sim_case *c, int64_t call, const sim_layout *layout, const sim_style *style,
                      sim_load *load, char *why) {
    const sim_extent *extent = sim_extent_of(c, call);
    if (!sim_load_init(load, c->config.nodes, layout->aggregators, sampled_rounds(c, layout)))
        return bench_refuse(why, "out of memory");
    load->write = !c->config.read;
    load->overlapped = style->overlapped;
    load->in_step = style->in_step;
    load->in_flight = sagoi_max(1, sagoi_min(style->in_flight / style->locals, 64));
    share_cores(c, load, style->joins ? style->locals : c->config.ranks);
    for (int64_t n = 0; n < load->nodes; n++)
        load->place[n] = c->input.nodes[n].place;
    memcpy(load->host, layout->host, (size_t)load->aggregators * sizeof *load->host);
    if (!load_rounds(c, call, layout, style, load, why))
        return false;
    double sampled = 0, ranks = (double)(style->members > 0 ? style->members : c->config.nodes * style->locals);
    for (int64_t r = 0; r < load->rounds; r++)
        sampled += load->round[r].bytes;
    load->repeats = sampled > 0 ? (double)extent->bytes * (double)c->options.times / sampled : 1;
    load->step =
        style->in_step ? collective_of(c, (int64_t)ranks) + (style->lists ? sizes_of(c, style, ranks) : 0) : 0;
    load->ahead += ahead_of(c, style, extent, load) + (style->joins ? gather_ahead(c, style, extent) : 0);
    return true;
}

/* ---- Direct ---- */

/* A stripe's lock goes from one node to the next of those that write there, one after another.  Where ranks have
 * one piece a call, a node's lie together, and it takes the lock once for all of them; else each run needs it
 * again. */
static double direct_locks(const sim_case *c, const sim_share *share, const sim_rank_share *busiest, bool *once) {
    int64_t unit = c->input.target.stripe_unit;
    double locked = (double)(unit > 0 ? unit : c->input.target.lock_unit), nodes = (double)c->config.nodes;
    *once = busiest->span <= busiest->bytes;
    double piece =
        *once ? share->bytes / sagoi_larger(busiest->runs, 1) : share->bytes / sagoi_larger(share->runs, 1);
    if (c->config.read || share->bytes == 0 || locked == 0 || sim_locks_in_turn(c))
        return 0;
    if (*once) /* at least with who has the next piece, unless stripes end there */
        return fmod(piece, locked) == 0
                   ? 0
                   : c->costs.lock * busiest->runs * sagoi_larger(1, sagoi_smaller(nodes, locked / piece));
    return piece < locked ? c->costs.lock * sagoi_larger(busiest->runs, locked / piece) : 0;
}

/* What the ranks of a node do: run by run, or in blocks of which a write reads first what it has not.  Runs in
 * blocks are flattened, then copied. */
static sim_store direct_store(const sim_case *c, const sim_share *share, const sim_rank_share *busiest,
                              bool sieves) {
    const sim_costs *costs = &c->costs;
    int64_t unit = c->input.target.stripe_unit;
    double mean = share->bytes / sagoi_larger(share->runs, 1), crowd = crowd_of(c);
    bool sieved = sieves && busiest->runs > 1 && mean < SIEVE_BYTES;
    double passes = sieved ? (c->config.read ? 1 : 2) * busiest->span / busiest->bytes : 1;
    double calls = sieved ? ceil(passes * busiest->bytes / SIEVE_BYTES) : busiest->runs;
    sim_store store = {.bytes = share->bytes * passes,
                       .seconds = calls * costs->call + (sieved ? 2 * busiest->runs * costs->run * crowd : 0),
                       .stripes = unit > 0 ? (int64_t)(share->bytes / (double)unit) + 1 : 1};
    store.requests =
        calls * share->ranks / sagoi_larger(1, sagoi_smaller((double)store.stripes, (double)c->targets));
    if (share->bytes == 0)
        return (sim_store){0};
    if (c->targets == 0)
        store.seconds +=
            sagoi_larger(busiest->bytes * passes * crowd / storing_rate(c), store.bytes / costs->memory);
    return store;
}

/* How many of a node's ranks are simulated as writers of their own. */
static int64_t writers_of(const sim_case *c) {
    int64_t writers = sagoi_min(c->config.ranks, sagoi_max(1, WRITERS_SIMULATED / c->config.nodes));
    while (c->config.ranks % writers != 0)
        writers--;
    return writers;
}

/* A node's store, shared out among its writers: side by side, and one after another in the file. */
static void share_store(const sim_case *c, const sim_extent *extent, const sim_store *node, int64_t n,
                        int64_t writers, sim_load *load) {
    int64_t unit = sagoi_max(1, c->input.target.stripe_unit), all = c->config.nodes * writers;
    double span = (double)(extent->high - extent->low) / (double)all;
    for (int64_t w = n * writers; w < (n + 1) * writers; w++) {
        sim_store *own = &load->round[0].store[w];
        *own = *node;
        load->host[w] = n;
        own->bytes = node->bytes / (double)writers;
        own->stripes = sagoi_max(1, node->stripes / writers);
        own->requests = node->requests / (double)writers;
        int64_t start = (int64_t)((double)extent->low + (double)w * span),
                end = start + sagoi_max(1, (int64_t)span);
        own->stripe = start / unit;
        if (own->bytes >= 0.99 * span) { /* its part of the file, and nothing else */
            own->stripes = sagoi_div_up(end, unit) - own->stripe;
            share_stripes(own, unit, start, end);
        }
    }
}

/* So many of a node's writers wait for locks. */
static void add_locks(sim_load *load, double seconds, int64_t node, int64_t writers) {
    int64_t each = load->aggregators / load->nodes;
    for (int64_t w = node * each; w < node * each + writers; w++)
        load->round[0].store[w].seconds += seconds;
}

/* Seconds until the last one has a target's lock.  Where stripes are shared, or runs of other nodes lie between a
 * node's own, each gets it from the one before, behind what is under way.  Where a node's data is one piece of
 * whole stripes, it waits once, side by side with the others (locks.h). */
static double locks_waited_for(const sim_case *c, const sim_traffic *traffic) {
    double unit = (double)c->input.target.stripe_unit, parts = 0, bytes = 0, runs = 0;
    bool between = false;
    if (!sim_locks_in_turn(c))
        return 0;
    for (int64_t n = 0; n < c->config.nodes; n++) {
        const sim_share *share = &traffic->share[n];
        const sim_rank_share *busiest = &traffic->busiest[n];
        bool once = busiest->span <= busiest->bytes; /* the node's ranks lie side by side */
        double stretches = once ? busiest->runs : share->runs * (1 - 1 / (double)c->config.nodes);
        bytes += share->bytes;
        runs += share->runs;
        between |= !once && busiest->runs > 1;
        parts += fmod(share->bytes, sagoi_larger(1, once ? stretches : share->runs) * unit) == 0 ? 0 : stretches;
    }
    double all = (double)c->targets, targets = sagoi_larger(1, sagoi_smaller(all, bytes / unit + 1));
    if (parts == 0 && !between)
        return c->config.nodes > 1 && bytes > all * unit ? sim_locks_handover(c, sagoi_smaller(unit, bytes / runs))
                                                         : 0;
    double passes = ceil((parts + sagoi_smaller(bytes / unit, runs * all)) / targets) - 1;
    return sagoi_larger(0, passes) * c->costs.lock * SAGOI_LOCK_WAITS;
}

/* Each node's ranks store at once: what one process may write counts for each of them. */
bool sim_load_direct(const sim_case *c, int64_t call, const sim_alone *how, sim_load *load, char *why) {
    sim_window all = {0, INT64_MAX};
    sim_question question = {
        .config = &c->config, .call = call, .locals = c->config.ranks, .window = &all, .windows = 1, .rounds = 1};
    sim_traffic traffic = {0};
    int64_t writers = writers_of(c), nodes = c->config.nodes;
    bool once = false;
    bool ok = sim_traffic_make(&traffic, &question, why) &&
              (sim_load_init(load, nodes, nodes * writers, 1) || bench_refuse(why, "out of memory"));
    double waiting = ok ? locks_waited_for(c, &traffic) : 0;
    for (int64_t n = 0; ok && n < nodes; n++) {
        sim_store together = direct_store(c, &traffic.share[n], &traffic.busiest[n], how->sieves);
        together.seconds += together.bytes > 0 ? waiting : 0;
        load->place[n] = c->input.nodes[n].place;
        load->round[0].bytes += traffic.share[n].bytes;
        share_store(c, sim_extent_of(c, call), &together, n, writers, load);
        add_locks(load, direct_locks(c, &traffic.share[n], &traffic.busiest[n], &once), n, once ? 1 : writers);
    }
    load->write = !c->config.read;
    load->repeats = (double)c->options.times;
    load->clients = c->config.ranks / writers;
    share_cores(c, load, c->config.ranks);
    load->ahead = how->agreed * collective_of(c, c->config.nodes * c->config.ranks);
    sim_traffic_cleanup(&traffic);
    return ok;
}
