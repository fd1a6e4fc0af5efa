/* E3SM's climate cases: irregular short runs, as PnetCDF hands them to MPI-IO: all runs of a rank in one
 * filetype and one call.
 *
 * The runs are dealt out in rounds.  In a round every rank gets one run of the same length.  The order of the
 * ranks is drawn anew for each round, as an affine map modulo the number of ranks: irregular, yet a rank finds
 * its place without working out those of the others.  Two neighbouring runs never belong to the same rank (with
 * two ranks or more). */
#include "bench/patterns.h"

#include <stdlib.h>

/* ---- Dealing ---- */

enum { UNITS_MAX = 64 };

typedef struct dealer {
    int64_t rank, ranks;
    uint64_t random;
    int units;                                   /* factors to draw from, */
    int64_t unit[UNITS_MAX], inverse[UNITS_MAX]; /* and their inverses modulo `ranks` */
    int64_t last;                                /* the rank that had the last run of the round before */
    int64_t end;                                 /* end of the runs that are dealt out so far, in elements */
} dealer;

/* x with a*x = 1 (mod n); 0 if there is none. */
static int64_t inverse_mod(int64_t a, int64_t n) {
    int64_t r0 = n, r1 = a % n, s0 = 0, s1 = 1;
    while (r1) {
        int64_t q = r0 / r1, r2 = r0 - q * r1, s2 = s0 - q * s1;
        r0 = r1, r1 = r2, s0 = s1, s1 = s2;
    }
    return r0 == 1 ? (s0 % n + n) % n : 0;
}

static dealer dealer_make(int64_t rank, int64_t ranks, int64_t seed) {
    dealer d = {.rank = rank, .ranks = ranks, .random = (uint64_t)seed, .last = -1};
    for (int64_t a = 1; a < ranks && d.units < UNITS_MAX; a++) {
        int64_t inverse = inverse_mod(a, ranks);
        if (inverse) {
            d.unit[d.units] = a;
            d.inverse[d.units++] = inverse;
        }
    }
    return d;
}

/* One round of runs of `length` elements: where this rank's run begins. */
static int64_t deal(dealer *d, int64_t length) {
    int64_t place = 0;
    if (d->units > 0) {
        uint64_t draw = bench_random(&d->random);
        int u = (int)((draw & 0xffff) % (uint64_t)d->units);
        int64_t first = (int64_t)((draw >> 16) % (uint64_t)d->ranks);
        if (first == d->last)
            first = (first + 1) % d->ranks;
        place = (d->rank - first + d->ranks) % d->ranks * d->inverse[u] % d->ranks;
        d->last = (first + d->unit[u] * (d->ranks - 1)) % d->ranks;
    }
    int64_t start = d->end + place * length;
    d->end += length * d->ranks;
    return start;
}

/* ---- F case ---- */

enum { SLOTS_MAX = 64 };

/* How the c slots of a rank in one stripe are divided into runs.  For c = 6 these weights give the lengths of the
 * real decomposition: 6 52%, 3 20%, 1 9%, 2 9%, 5 5%, 4 5% of the runs. */
static const struct {
    int weight, parts, part[3];
} splits_of_6[] = {{52, 1, {6}}, {8, 2, {3, 3}}, {5, 2, {5, 1}}, {5, 2, {4, 2}}, {4, 3, {3, 2, 1}}};
enum { SPLIT_WEIGHTS = 74 };

/* Draws the runs of a stripe in random order; for other c the stripe is one run as often as for 6, and else
 * two. */
static int draw_split(uint64_t *random, int64_t c, int64_t part[3]) {
    uint64_t draw = bench_random(random);
    int weight = (int)(draw % SPLIT_WEIGHTS), s = 0;
    if (c == 1 || (c != 6 && weight < splits_of_6[0].weight)) {
        part[0] = c;
        return 1;
    }
    if (c != 6) {
        part[0] = 1 + (int64_t)((draw >> 32) % (uint64_t)(c - 1));
        part[1] = c - part[0];
        return 2;
    }
    while (weight >= splits_of_6[s].weight)
        weight -= splits_of_6[s++].weight;
    int parts = splits_of_6[s].parts, turn = (int)((draw >> 32) % (uint64_t)parts);
    for (int p = 0; p < parts; p++)
        part[p] = splits_of_6[s].part[(p + turn) % parts];
    return parts;
}

BENCH_GENERATOR(bench_make_e3sm_f) {
    enum { FLOAT = 4 };
    if (!bench_fits((double)params->runs * (double)params->c * FLOAT * (double)ranks, why))
        return false;
    dealer d = dealer_make(rank, ranks, params->seed);
    uint64_t random = (uint64_t)params->seed + 1;
    bench_run_list list = {0};
    while (list.count < params->runs && !list.failed) {
        int64_t part[3];
        int parts = draw_split(&random, params->c, part);
        for (int p = 0; p < parts; p++)
            bench_run_list_add(&list, deal(&d, part[p]) * FLOAT, part[p] * FLOAT);
    }
    return bench_access_of_list(access, &list, FLOAT, why);
}

/* ---- G case ---- */

/* Percent of runs with 1, 2, ... elements: cells mean 2.3, half of them 1 long; edges and vertices mean 1.14. */
enum { LENGTHS = 8 };
static const int cell_lengths[LENGTHS] = {50, 20, 10, 8, 3, 3, 3, 3};
static const int edge_lengths[LENGTHS] = {88, 10, 2};

/* The part of one mesh entity (cells, edges or vertices) that the rank owns: at least `least` of them. */
static int64_t deal_entities(dealer *d, const int lengths[], int64_t least, bench_run_list *owned) {
    uint64_t random = d->random ^ (uint64_t)least;
    d->end = 0;
    for (int64_t have = 0; have < least && !owned->failed;) {
        int percent = (int)(bench_random(&random) % 100);
        int64_t length = 1;
        for (; length < LENGTHS && percent >= lengths[length - 1]; length++)
            percent -= lengths[length - 1];
        bench_run_list_add(owned, deal(d, length), length);
        have += length;
    }
    return d->end;
}

/* Appends variables on an entity: with levels one run for each element, without one for each run of them. */
static void add_variables(bench_run_list *list, const bench_run_list *owned, int64_t all, const int64_t shape[2],
                          int64_t *at) {
    enum { DOUBLE = 8 };
    int64_t variables = shape[0], levels = shape[1];
    for (int64_t v = 0; v < variables; v++) {
        for (int64_t i = 0; i < owned->count; i++) {
            bench_run run = owned->runs[i];
            if (levels == 0)
                bench_run_list_add(list, *at + run.offset * DOUBLE, run.length * DOUBLE);
            for (int64_t k = 0; levels > 0 && k < run.length; k++)
                bench_run_list_add(list, *at + (run.offset + k) * levels * DOUBLE, levels * DOUBLE);
        }
        *at += all * (levels ? levels : 1) * DOUBLE;
    }
}

BENCH_GENERATOR(bench_make_e3sm_g) {
    enum { CELLS, EDGES, VERTICES, ENTITIES };
    /* D1 to D6: on what, how many variables, with how many levels more than --levels (-1: without levels). */
    static const struct {
        int entity, variables, levels;
    } sets[] = {{CELLS, 6, -1}, {EDGES, 2, -1}, {CELLS, 25, 0}, {EDGES, 2, 0}, {VERTICES, 2, 0}, {CELLS, 4, 1}};
    if (!bench_fits(500.0 * (double)params->cells * (double)params->levels * (double)ranks, why))
        return false;
    dealer d = dealer_make(rank, ranks, params->seed);
    bench_run_list owned[ENTITIES] = {{0}}, list = {0};
    int64_t all[ENTITIES];
    all[CELLS] = deal_entities(&d, cell_lengths, params->cells, &owned[CELLS]);
    all[EDGES] = deal_entities(&d, edge_lengths, 3 * params->cells, &owned[EDGES]);
    all[VERTICES] = deal_entities(&d, edge_lengths, 2 * params->cells, &owned[VERTICES]);
    int64_t at = 0;
    for (size_t s = 0; s < sizeof sets / sizeof sets[0]; s++) {
        int entity = sets[s].entity;
        int64_t shape[2] = {sets[s].variables, sets[s].levels < 0 ? 0 : params->levels + sets[s].levels};
        add_variables(&list, &owned[entity], all[entity], shape, &at);
    }
    for (int e = 0; e < ENTITIES; e++) {
        list.failed |= owned[e].failed;
        free(owned[e].runs);
    }
    return bench_access_of_list(access, &list, 8, why);
}
