/* Runs of a window are found by bisection, so that only what lies in the windows asked for is walked. */
#include "sim/traffic.h"

#include <stdlib.h>
#include <string.h>

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
    int64_t *order; /* windows, ascending */
    pieces kept;    /* of one local aggregator */
    int64_t node, rank, local;
    bool *rank_has, *local_has; /* windows */
    sim_rank_share own;
} counter;

static void keep_piece(counter *c, int64_t window, int64_t start, int64_t end) {
    pieces *kept = &c->kept;
    if (!c->question->join)
        return;
    if (kept->count == kept->capacity) {
        int64_t capacity = kept->capacity ? 2 * kept->capacity : 4096;
        piece *more = realloc(kept->piece, (size_t)capacity * sizeof *more);
        kept->failed |= !more;
        if (!more)
            return;
        kept->piece = more;
        kept->capacity = capacity;
    }
    kept->piece[kept->count++] = (piece){window, start, end};
}

static void count_window(counter *c, const bench_call *call, int64_t w) {
    const sim_window *window = &c->question->window[w];
    sim_share *share = &c->traffic->share[c->node * c->traffic->windows + w];
    bench_cursor cursor = seek(&call->file, window->start - call->disp);
    bench_run run;
    while (bench_cursor_next(&cursor, &run)) {
        int64_t start = call->disp + run.offset, end = start + run.length;
        if (start >= window->end)
            break;
        start = start > window->start ? start : window->start;
        end = end < window->end ? end : window->end;
        share->bytes += (double)(end - start);
        share->runs++;
        c->own.bytes += (double)(end - start);
        c->own.runs++;
        c->rank_has[w] = true;
        keep_piece(c, w, start, end);
    }
}

static void count_call(counter *c, const bench_call *call) {
    int64_t low, high, begin = 0, windows = c->question->windows, end = windows;
    bench_region_bounds(&call->file, &low, &high);
    c->own.span += (double)(high - low);
    low += call->disp;
    high += call->disp;
    while (begin < end) { /* the first window that ends beyond `low`: windows do not overlap */
        int64_t middle = begin + (end - begin) / 2;
        if (c->question->window[c->order[middle]].end > low)
            end = middle;
        else
            begin = middle + 1;
    }
    for (int64_t i = begin; i < windows && c->question->window[c->order[i]].start < high; i++)
        count_window(c, call, c->order[i]);
}

static void end_rank(counter *c) {
    sim_rank_share *busiest = &c->traffic->busiest[c->node];
    for (int64_t w = 0; w < c->question->windows; w++) {
        c->traffic->share[c->node * c->traffic->windows + w].ranks += c->rank_has[w];
        c->local_has[w] |= c->rank_has[w];
        c->own.windows += c->rank_has[w];
    }
    if (c->own.bytes > busiest->bytes)
        *busiest = c->own;
    memset(c->rank_has, 0, (size_t)c->question->windows * sizeof *c->rank_has);
    c->own = (sim_rank_share){0};
}

static int by_start(const void *a, const void *b) {
    int64_t x = ((const piece *)a)->start, y = ((const piece *)b)->start;
    return (x > y) - (x < y);
}

static void end_local(counter *c) {
    sim_share *share = &c->traffic->share[c->node * c->traffic->windows];
    for (int64_t w = 0; w < c->question->windows; w++)
        share[w].locals += c->local_has[w];
    memset(c->local_has, 0, (size_t)c->question->windows * sizeof *c->local_has);
    if (c->kept.count > 1)
        qsort(c->kept.piece, (size_t)c->kept.count, sizeof *c->kept.piece, by_start);
    for (int64_t i = 0; i < c->kept.count; i++) {
        const piece *p = &c->kept.piece[i];
        share[p->window].joined += i == 0 || p[-1].end != p->start || p[-1].window != p->window;
    }
    c->kept.count = 0;
}

static bool count_rank(counter *c, char *why) {
    const plan_config *config = c->question->config;
    bench_access access;
    if (!bench_pattern_make(config->pattern, &config->params, c->node * config->ranks + c->rank,
                            config->nodes * config->ranks, &access, why))
        return false;
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
    return !c->kept.failed || bench_refuse(why, "out of memory");
}

/* ---- Interface ---- */

static const sim_window *sorted_windows; /* qsort has no context */

static int by_window(const void *a, const void *b) {
    int64_t x = sorted_windows[*(const int64_t *)a].start, y = sorted_windows[*(const int64_t *)b].start;
    return (x > y) - (x < y);
}

static void sort_windows(counter *c) {
    for (int64_t w = 0; w < c->question->windows; w++)
        c->order[w] = w;
    sorted_windows = c->question->window;
    qsort(c->order, (size_t)c->question->windows, sizeof *c->order, by_window);
}

bool sim_traffic_make(sim_traffic *traffic, const sim_question *question, char *why) {
    size_t windows = (size_t)question->windows, nodes = (size_t)question->config->nodes;
    counter c = {.question = question, .traffic = traffic};
    *traffic = (sim_traffic){.nodes = question->config->nodes, .windows = question->windows};
    traffic->share = calloc(nodes * windows, sizeof *traffic->share);
    traffic->busiest = calloc(nodes, sizeof *traffic->busiest);
    c.order = calloc(windows, sizeof *c.order);
    c.rank_has = calloc(windows, sizeof *c.rank_has);
    c.local_has = calloc(windows, sizeof *c.local_has);
    bool ok = (traffic->share && traffic->busiest && c.order && c.rank_has && c.local_has) ||
              bench_refuse(why, "out of memory");
    if (ok)
        sort_windows(&c);
    for (c.node = 0; ok && c.node < traffic->nodes; c.node++)
        ok = count_node(&c, why);
    free(c.order);
    free(c.rank_has);
    free(c.local_has);
    free(c.kept.piece);
    return ok;
}

void sim_traffic_cleanup(sim_traffic *traffic) {
    free(traffic->share);
    free(traffic->busiest);
    *traffic = (sim_traffic){0};
}
