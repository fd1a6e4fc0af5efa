/* Who owns what of each storage target's part of the file, and who has to wait for it. */
#include "sim/locks.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "plan/thresholds.h"

/* Of more windows only those of the first rounds are looked at: later ones are like them. */
enum { WINDOWS_MOST = 1 << 22 };

typedef struct owned {
    int64_t start, end; /* range of the file */
    int64_t node;
} owned;

struct sim_locks {
    const sim_case *c;
    const sim_layout *layout;
    int64_t unit, targets, rounds;
    owned *window; /* ascending; owned, as are: */
    int64_t windows;
    int64_t *first;   /* nodes x targets: the file's offset where the node comes to the target; INT64_MAX: never */
    int64_t *waiting; /* targets: who has waited for the lock so far */
};

bool sim_locks_in_turn(const sim_case *c) {
    return !c->config.read && c->costs.in_turn > 0 && c->costs.lock > 0 && c->input.target.stripe_unit > 0 &&
           c->targets > 0;
}

double sim_locks_handover(const sim_case *c, double bytes) {
    double rate = c->costs.writer > 0 ? c->costs.writer : c->costs.copy;
    if (c->costs.target_write > 0 && c->costs.target_write < rate)
        rate = c->costs.target_write;
    return c->costs.lock * SAGOI_LOCK_WAITS + bytes / rate;
}

static int by_start(const void *a, const void *b) {
    const owned *x = a, *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

/* The node that owns the byte; -1: none of those looked at. */
static int64_t owner_of(const sim_locks *locks, int64_t at) {
    int64_t low = 0, high = locks->windows;
    while (low < high) { /* the first window that begins behind it */
        int64_t middle = low + (high - low) / 2;
        if (locks->window[middle].start <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && at < locks->window[low - 1].end ? locks->window[low - 1].node : -1;
}

static int64_t *first_of(const sim_locks *locks, int64_t node, int64_t at) {
    return &locks->first[node * locks->targets + at / locks->unit % locks->targets];
}

/* The end of the part of [start, end) that lies in one stripe. */
static int64_t part_end(const sim_locks *locks, int64_t start, int64_t end) {
    return sagoi_min(end, sagoi_round_down(start, locks->unit) + locks->unit);
}

static void add_window(sim_locks *locks, int64_t a, int64_t round) {
    int64_t start, end, node = locks->layout->host[a];
    if (!locks->layout->window(locks->layout->self, a, round, &start, &end))
        return;
    locks->window[locks->windows++] = (owned){start, end, node};
    for (; start < end; start = part_end(locks, start, end)) {
        int64_t *first = first_of(locks, node, start);
        *first = sagoi_min(*first, start);
    }
}

sim_locks *sim_locks_create(const sim_case *c, const sim_layout *layout, char *why) {
    if (!sim_locks_in_turn(c) || layout->own_files)
        return NULL;
    sim_locks *locks = calloc(1, sizeof *locks);
    int64_t pairs = c->config.nodes * c->targets;
    if (locks) {
        *locks = (sim_locks){.c = c, .layout = layout, .targets = c->targets, .rounds = layout->rounds};
        locks->unit = c->input.target.stripe_unit;
        locks->rounds = sagoi_min(layout->rounds, sagoi_max(2, WINDOWS_MOST / layout->aggregators));
        locks->window = calloc((size_t)(locks->rounds * layout->aggregators), sizeof *locks->window);
        locks->first = malloc((size_t)pairs * sizeof *locks->first);
        locks->waiting = calloc((size_t)c->targets, sizeof *locks->waiting);
    }
    if (!locks || !locks->window || !locks->first || !locks->waiting) {
        sim_locks_destroy(locks);
        (void)bench_refuse(why, "out of memory");
        return NULL;
    }
    for (int64_t i = 0; i < pairs; i++)
        locks->first[i] = INT64_MAX;
    for (int64_t r = 0; r < locks->rounds; r++)
        for (int64_t a = 0; a < layout->aggregators; a++)
            add_window(locks, a, r);
    qsort(locks->window, (size_t)locks->windows, sizeof *locks->window, by_start);
    return locks;
}

void sim_locks_destroy(sim_locks *locks) {
    if (!locks)
        return;
    free(locks->window);
    free(locks->first);
    free(locks->waiting);
    free(locks);
}

/* What an aggregator waits for before it stores [start, end), a part of one stripe. */
static double wait_for_part(sim_locks *locks, int64_t round, int64_t node, int64_t start, int64_t end) {
    int64_t before = start % locks->unit > 0 ? start - 1 : start - locks->targets * locks->unit + locks->unit - 1;
    int64_t owner = owner_of(locks, before);
    if (owner < 0 || owner == node)
        return 0;
    double handover = sim_locks_handover(locks->c, (double)(end - start));
    if (round == 0 || *first_of(locks, node, start) == start)
        return handover;
    return (double)++locks->waiting[start / locks->unit % locks->targets] * handover;
}

void sim_locks_wait(sim_locks *locks, int64_t round, double *seconds) {
    const sim_layout *layout = locks->layout;
    int64_t looked_at = sagoi_min(round, locks->rounds - 1);
    memset(locks->waiting, 0, (size_t)locks->targets * sizeof *locks->waiting);
    for (int64_t a = 0; a < layout->aggregators; a++) {
        int64_t start, end;
        seconds[a] = 0;
        if (!layout->window(layout->self, a, looked_at, &start, &end))
            continue;
        for (int64_t part; start < end; start = part) { /* it waits at all of its targets at the same time */
            part = part_end(locks, start, end);
            double waits = wait_for_part(locks, looked_at, layout->host[a], start, part);
            seconds[a] = waits > seconds[a] ? waits : seconds[a];
        }
    }
}
