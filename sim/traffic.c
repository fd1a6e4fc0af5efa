/* Runs of a window are found by bisection, so that only what lies in the windows asked for is walked. */
#include "sim/traffic.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/* So many runs show how they lie. */
enum { SAMPLED_MOST = 1 << 20 };

typedef struct piece {
    int64_t window, start, end;
} piece;

typedef struct pieces {
    piece *piece;
    int64_t count, capacity;
    bool failed;
} pieces;

/* ---- Bisection ---- */

static bench_run run_at(const bench_region *region, int64_t part, int64_t index) {
    bench_cursor cursor = {region, part, index};
    bench_run run = {0, 0};
    (void)bench_cursor_next(&cursor, &run);
    return run;
}

/* The first run of a leaf that ends beyond `offset`. */
static int64_t first_run(const bench_region *region, int64_t part, int64_t count, int64_t offset) {
    int64_t low = 0, high = count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        bench_run run = run_at(region, part, middle);
        if (run.offset + run.length > offset)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static int64_t first_part(const bench_region *region, int64_t offset) {
    int64_t low = 0, high = region->count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2, begin, end;
        bench_region_bounds(&region->parts[middle], &begin, &end);
        if (end > offset)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* A cursor at the first run that ends beyond `offset`. */
static bench_cursor seek(const bench_region *region, int64_t offset) {
    bench_cursor cursor = {region, 0, 0};
    if (region->kind != BENCH_PARTS) {
        cursor.index = first_run(region, 0, region->count, offset);
        return cursor;
    }
    cursor.part = first_part(region, offset);
    if (cursor.part < region->count)
        cursor.index = first_run(region, cursor.part, region->parts[cursor.part].count, offset);
    return cursor;
}

/* ---- Counting ---- */

typedef struct counter {
    const sim_question *question;
    sim_traffic *traffic;
    int64_t *order; /* all rounds' windows, ascending */
    int64_t count;  /* number of windows in `order` */
    pieces kept; /* pieces of one local aggregator; then the same in order, and where those of each window begin */
    piece *sorted;
    int64_t sorted_capacity, *first;
    pieces sampled; /* pieces of all ranks in the first window */
    int64_t node, rank, local;
    int64_t *rank_seen, *local_seen; /* windows: the last rank and local aggregator that had something there */
    double span;                     /* span of the rank: see sim_rank_share */
    int64_t end;                     /* end of the rank's last call; -1: the rank has made none */
    sim_rank_share *own;             /* rounds: the rank's */
} counter;

static sim_share *share_of(const counter *c, int64_t w) {
    int64_t windows = c->question->windows;
    return &sim_traffic_share(c->traffic, w / windows, c->node)[w % windows];
}

static void add_piece(pieces *kept, const piece *added) {
    if (!sagoi_grow((void **)&kept->piece, kept->count, &kept->capacity, sizeof *kept->piece)) {
        kept->failed = true;
        return;
    }
    kept->piece[kept->count++] = *added;
}

/* One window, the first, says for all of them how many runs touch. */
static void keep_piece(counter *c, int64_t window, int64_t start, int64_t end) {
    piece added = {window, start, end};
    if (c->question->join)
        add_piece(&c->kept, &added);
    if (c->question->sample && window == c->order[0] && c->sampled.count < SAMPLED_MOST)
        add_piece(&c->sampled, &added);
}

/* The first time that the rank has something in the window. */
static void see_window(counter *c, sim_share *share, sim_rank_share *own, int64_t w) {
    int64_t ranks = c->question->config->ranks, locals = c->question->locals;
    if (c->rank_seen[w] == 1 + c->node * ranks + c->rank)
        return;
    c->rank_seen[w] = 1 + c->node * ranks + c->rank;
    share->ranks++;
    own->windows++;
    if (c->local_seen[w] != 1 + c->node * locals + c->local)
        share->locals++;
    c->local_seen[w] = 1 + c->node * locals + c->local;
}

/* `cursor` is at or before the first run that matters; it goes on from there for the next window. */
static void count_window(counter *c, const bench_call *call, int64_t w, bench_cursor *cursor) {
    const sim_window *window = &c->question->window[w];
    sim_share *share = share_of(c, w);
    sim_rank_share *own = &c->own[w / c->question->windows];
    bench_cursor ahead = *cursor;
    bench_run run;
    double bytes = 0, runs = 0;
    if (bench_cursor_next(&ahead, &run) && call->disp + run.offset + run.length <= window->start)
        *cursor = seek(&call->file, window->start - call->disp);
    for (ahead = *cursor; bench_cursor_next(&ahead, &run); *cursor = ahead) {
        int64_t start = call->disp + run.offset, end = start + run.length;
        if (start >= window->end)
            break;
        start = start > window->start ? start : window->start;
        bytes += (double)((end < window->end ? end : window->end) - start);
        runs += start != c->end || start == window->start; /* else it is the last call's run that goes on */
        keep_piece(c, w, start, end < window->end ? end : window->end);
        if (end > window->end)
            break;
    }
    if (bytes == 0)
        return;
    see_window(c, share, own, w);
    share->bytes += bytes;
    share->runs += runs;
    own->bytes += bytes;
    own->runs += runs;
}

static void count_call(counter *c, const bench_call *call) {
    int64_t low, high, begin = 0, end = c->count;
    bench_cursor cursor = bench_cursor_at(&call->file);
    bench_region_bounds(&call->file, &low, &high);
    c->span += (double)(high - low);
    low += call->disp;
    high += call->disp;
    while (begin < end) { /* the first window that ends beyond `low`: windows do not overlap */
        int64_t middle = begin + (end - begin) / 2;
        if (c->question->window[c->order[middle]].end > low)
            end = middle;
        else
            begin = middle + 1;
    }
    for (int64_t i = begin; i < c->count && c->question->window[c->order[i]].start < high; i++)
        count_window(c, call, c->order[i], &cursor);
    c->end = high;
}

static void end_rank(counter *c) {
    for (int64_t r = 0; r < c->question->rounds; r++) {
        sim_rank_share *busiest = sim_traffic_busiest(c->traffic, r, c->node);
        c->own[r].span = c->span;
        if (c->own[r].bytes > busiest->bytes)
            *busiest = c->own[r];
        c->own[r] = (sim_rank_share){0};
    }
    c->span = 0;
}

static int by_start(const void *a, const void *b) {
    int64_t x = ((const piece *)a)->start, y = ((const piece *)b)->start;
    return (x > y) - (x < y);
}

/* Pieces in the order of their windows: counted, then dealt out.  False: there is no memory. */
static bool sort_by_window(counter *c) {
    pieces *kept = &c->kept;
    int64_t windows = c->question->windows * c->question->rounds;
    if (c->sorted_capacity < kept->capacity) {
        free(c->sorted);
        c->sorted = calloc((size_t)kept->capacity, sizeof *c->sorted);
        c->sorted_capacity = c->sorted ? kept->capacity : 0;
    }
    if (!c->sorted)
        return false;
    memset(c->first, 0, ((size_t)windows + 1) * sizeof *c->first);
    for (int64_t i = 0; i < kept->count; i++)
        c->first[kept->piece[i].window + 1]++;
    for (int64_t w = 0; w < windows; w++)
        c->first[w + 1] += c->first[w];
    for (int64_t i = 0; i < kept->count; i++)
        c->sorted[c->first[kept->piece[i].window]++] = kept->piece[i];
    return true; /* first[w] is now where the next window's begin */
}

static void end_local(counter *c) {
    int64_t windows = c->question->windows * c->question->rounds, begin = 0;
    if (c->kept.count == 0)
        return;
    c->kept.failed |= !sort_by_window(c);
    for (int64_t w = 0; w < windows && !c->kept.failed; begin = c->first[w++]) {
        int64_t count = c->first[w] - begin, joined = count > 0;
        const piece *p = c->sorted + begin;
        if (count > 1)
            qsort(c->sorted + begin, (size_t)count, sizeof *p, by_start);
        for (int64_t i = 1; i < count; i++)
            joined += p[i - 1].end != p[i].start;
        share_of(c, w)->joined += (double)joined;
    }
    c->kept.count = 0;
}

static double count_stretches(pieces *sampled) {
    double stretches = 0;
    int64_t end = INT64_MIN;
    if (sampled->count == 0)
        return 1;
    qsort(sampled->piece, (size_t)sampled->count, sizeof *sampled->piece, by_start);
    for (int64_t i = 0; i < sampled->count; i++) {
        stretches += sampled->piece[i].start > end;
        end = sampled->piece[i].end > end ? sampled->piece[i].end : end;
    }
    return stretches / (double)sampled->count;
}

static bool count_rank(counter *c, char *why) {
    const plan_config *config = c->question->config;
    bench_access access;
    if (!bench_pattern_make(config->pattern, &config->params, c->node * config->ranks + c->rank,
                            config->nodes * config->ranks, &access, why))
        return false;
    c->end = -1;
    for (int64_t i = 0; i < access.ncalls; i++)
        if (c->question->call == SIM_ALL_CALLS || c->question->call == i)
            count_call(c, &access.calls[i]);
    bench_access_cleanup(&access);
    end_rank(c);
    return true;
}

static bool count_node(counter *c, char *why) {
    int64_t ranks = c->question->config->ranks, locals = c->question->locals;
    for (c->local = 0; c->local < locals; c->local++) {
        int64_t last = sagoi_local_aggregator(ranks, locals, c->local + 1);
        for (c->rank = sagoi_local_aggregator(ranks, locals, c->local); c->rank < last; c->rank++)
            if (!count_rank(c, why))
                return false;
        end_local(c);
    }
    return !(c->kept.failed || c->sampled.failed) || bench_refuse(why, "out of memory");
}

/* ---- Interface ---- */

static const sim_window *sorted_windows; /* qsort has no context */

static int by_window(const void *a, const void *b) {
    int64_t x = sorted_windows[*(const int64_t *)a].start, y = sorted_windows[*(const int64_t *)b].start;
    return (x > y) - (x < y);
}

static void sort_windows(counter *c) {
    for (int64_t w = 0; w < c->question->windows * c->question->rounds; w++)
        if (c->question->window[w].start < c->question->window[w].end)
            c->order[c->count++] = w;
    sorted_windows = c->question->window;
    qsort(c->order, (size_t)c->count, sizeof *c->order, by_window);
}

bool sim_traffic_make(sim_traffic *traffic, const sim_question *question, char *why) {
    size_t rounds = (size_t)question->rounds, windows = rounds * (size_t)question->windows,
           nodes = (size_t)question->config->nodes;
    counter c = {.question = question, .traffic = traffic};
    *traffic =
        (sim_traffic){.nodes = question->config->nodes, .windows = question->windows, .rounds = question->rounds};
    traffic->share = calloc(nodes * windows, sizeof *traffic->share);
    traffic->busiest = calloc(nodes * rounds, sizeof *traffic->busiest);
    c.order = calloc(windows, sizeof *c.order);
    c.rank_seen = calloc(windows, sizeof *c.rank_seen);
    c.local_seen = calloc(windows, sizeof *c.local_seen);
    c.first = calloc(windows + 1, sizeof *c.first);
    c.own = calloc(rounds, sizeof *c.own);
    bool ok = (traffic->share && traffic->busiest && c.order && c.rank_seen && c.local_seen && c.own && c.first) ||
              bench_refuse(why, "out of memory");
    if (ok)
        sort_windows(&c);
    for (c.node = 0; ok && c.node < traffic->nodes; c.node++)
        ok = count_node(&c, why);
    free(c.order);
    free(c.rank_seen);
    free(c.local_seen);
    free(c.own);
    free(c.first);
    free(c.sorted);
    free(c.kept.piece);
    traffic->stretches = count_stretches(&c.sampled);
    free(c.sampled.piece);
    return ok;
}

void sim_traffic_cleanup(sim_traffic *traffic) {
    free(traffic->share);
    free(traffic->busiest);
    *traffic = (sim_traffic){0};
}
