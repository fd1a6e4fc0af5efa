/* Sums over a set of places, kept in such a way that a candidate place costs O(dimensions).
 *
 * Bytes.  B(i->A) depends on which coordinates of i and A differ, and the slowest dimension among them counts.
 * With the dimensions in ascending order of bandwidth, that is the first one that differs.  So sets of places
 * are nested: all places, those with A's first coordinate, those with its first two, ..., A itself; bytes in
 * one nest and not in the next one go at one bandwidth.  Dimensions of equal bandwidth make one nest.  Places
 * whose own links are slow are summed separately, by class of link.
 *
 * Latency.  In a tree (flat, fat tree, dragonfly without direct links) it depends on the nest as well.  In a
 * torus and a direct dragonfly it is a sum over the dimensions, and the members are counted per coordinate. */
#include "machine/sums.h"

#include <math.h>
#include <stdlib.h>

#include "base/checked.h"

enum { NESTS_MAX = SAGOI_DIMENSIONS_MAX + 1, CLASSES_MAX = SAGOI_LINK_RULES_MAX + 1 };

/* Places that agree in the first `dimensions` coordinates of `order`. */
typedef struct nest {
    int64_t dimensions;
    double bandwidth; /* between two places of one set of this nest that are not in one set of the next nest */
    double latency;
    int64_t sets;
    int64_t *members; /* number of members of each set */
    int64_t *bytes;   /* for each set and class of link */
} nest;

struct sagoi_sums {
    const sagoi_topology *topology;
    bool tree;
    int64_t order[SAGOI_DIMENSIONS_MAX]; /* dimensions, the slowest first; in trees as they are */
    int64_t nests;                       /* number of nests; the last one is the place itself */
    nest nest[NESTS_MAX];
    int64_t classes;
    double class_link[CLASSES_MAX]; /* bandwidths; the last class has no link of its own */
    int64_t *place;                 /* places of the members */
    int64_t members, bytes;
    /* Not in trees; for each dimension and coordinate: */
    int64_t *marginal[SAGOI_DIMENSIONS_MAX]; /* members with that coordinate */
    int64_t *away[SAGOI_DIMENSIONS_MAX];     /* in a torus: hops from there to all members */
    bool fresh;                              /* `away` is up to date */
};

/* ---- Life --------------------------------------------------------------------------------------------- */

static int64_t level_of(const sagoi_topology *t, int64_t dimension) {
    return t->kind == SAGOI_TORUS ? dimension : t->dimensions - 1 - dimension;
}

/* The figures between two places that first differ in `dimension`. */
static nest step_of(const sagoi_topology *t, int64_t dimension) {
    nest step = {.bandwidth = INFINITY};
    int64_t other[SAGOI_DIMENSIONS_MAX] = {0}, hops[SAGOI_DIMENSIONS_MAX] = {0};
    if (t->extent[dimension] == 1)
        return step; /* places do not differ there */
    other[dimension] = 1;
    sagoi_topology_hops(t, 0, sagoi_topology_place(t, other), hops);
    for (int64_t k = 0; k < t->levels; k++) {
        if (hops[k] && t->level[k].bandwidth < step.bandwidth)
            step.bandwidth = t->level[k].bandwidth;
        step.latency += (double)hops[k] * t->level[k].latency;
    }
    return step;
}

static void order_dimensions(sagoi_sums *s, const nest *steps) {
    for (int64_t i = 0; i < s->topology->dimensions; i++) {
        int64_t at = i;
        for (; !s->tree && at > 0 && steps[s->order[at - 1]].bandwidth > steps[i].bandwidth; at--)
            s->order[at] = s->order[at - 1];
        s->order[at] = i;
    }
}

/* Finds out which nests there are; their sizes follow later. */
static void lay_nests(sagoi_sums *s) {
    const sagoi_topology *t = s->topology;
    nest steps[SAGOI_DIMENSIONS_MAX];
    for (int64_t i = 0; i < t->dimensions; i++)
        steps[i] = step_of(t, i);
    order_dimensions(s, steps);
    int64_t sets = 1;
    for (int64_t i = 0; i < t->dimensions; i++) {
        nest step = steps[s->order[i]];
        if (i == 0 || s->tree || step.bandwidth != s->nest[s->nests - 1].bandwidth) {
            step.dimensions = i;
            step.sets = sets;
            s->nest[s->nests++] = step;
        }
        sets *= t->extent[s->order[i]];
    }
    s->nest[s->nests++] = (nest){.dimensions = t->dimensions, .bandwidth = t->inside.bandwidth, .sets = sets};
}

static void lay_classes(sagoi_sums *s) {
    for (int64_t i = 0; i < s->topology->link_rules; i++) {
        double link = s->topology->link_rule[i].bandwidth;
        int64_t c = 0;
        while (c < s->classes && s->class_link[c] != link)
            c++;
        s->class_link[c] = link;
        s->classes = sagoi_max(s->classes, c + 1);
    }
    s->class_link[s->classes++] = INFINITY;
}

static int64_t *numbers(int64_t count, bool *ok) {
    int64_t *array = calloc((size_t)count, sizeof *array);
    *ok = *ok && array;
    return array;
}

static bool allocate(sagoi_sums *s) {
    const sagoi_topology *t = s->topology;
    bool ok = true;
    for (int64_t n = 0; n < s->nests; n++) {
        s->nest[n].members = numbers(s->nest[n].sets, &ok);
        s->nest[n].bytes = numbers(s->nest[n].sets * s->classes, &ok);
    }
    for (int64_t i = 0; !s->tree && i < t->dimensions; i++) {
        s->marginal[i] = numbers(t->extent[i], &ok);
        s->away[i] = numbers(t->extent[i], &ok);
    }
    s->place = numbers(t->places, &ok);
    return ok;
}

sago_status sagoi_sums_create(const sagoi_topology *topology, sagoi_sums **sums) {
    sagoi_sums *s = calloc(1, sizeof *s);
    if (s) {
        s->topology = topology;
        s->tree = topology->kind != SAGOI_TORUS && (topology->kind != SAGOI_DRAGONFLY || !topology->direct);
        lay_nests(s);
        lay_classes(s);
    }
    if (!s || !allocate(s)) {
        sagoi_sums_destroy(s);
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory for sums over %lld places", (long long)topology->places);
    }
    *sums = s;
    return SAGO_OK;
}

void sagoi_sums_destroy(sagoi_sums *sums) {
    if (!sums)
        return;
    for (int64_t n = 0; n < sums->nests; n++) {
        free(sums->nest[n].members);
        free(sums->nest[n].bytes);
    }
    for (int64_t i = 0; i < SAGOI_DIMENSIONS_MAX; i++) {
        free(sums->marginal[i]);
        free(sums->away[i]);
    }
    free(sums->place);
    free(sums);
}

/* ---- Members ------------------------------------------------------------------------------------------ */

/* Finds the set of each nest that the place is in; returns the place's class of link. */
static int64_t locate(const sagoi_sums *s, int64_t place, int64_t *coordinate, int64_t *set) {
    const sagoi_topology *t = s->topology;
    sagoi_topology_coordinates(t, place, coordinate);
    int64_t key = 0, done = 0;
    for (int64_t n = 0; n < s->nests; n++) {
        for (; done < s->nest[n].dimensions; done++)
            key = key * t->extent[s->order[done]] + coordinate[s->order[done]];
        set[n] = key;
    }
    if (s->classes == 1)
        return 0;
    double link = sagoi_topology_link(t, place);
    int64_t c = 0;
    while (s->class_link[c] != link)
        c++;
    return c;
}

void sagoi_sums_add(sagoi_sums *sums, int64_t place, int64_t bytes) {
    int64_t coordinate[SAGOI_DIMENSIONS_MAX], set[NESTS_MAX];
    int64_t class = locate(sums, place, coordinate, set), last = sums->nests - 1;
    bool joins = !sums->nest[last].members[set[last]];
    bytes = sagoi_min(bytes, INT64_MAX - sums->bytes);
    for (int64_t n = 0; n < sums->nests; n++) {
        sums->nest[n].members[set[n]] += joins;
        sums->nest[n].bytes[set[n] * sums->classes + class] += bytes;
    }
    sums->bytes += bytes;
    if (!joins)
        return;
    sums->place[sums->members++] = place;
    for (int64_t i = 0; !sums->tree && i < sums->topology->dimensions; i++)
        sums->marginal[i][coordinate[i]]++;
    sums->fresh = false;
}

void sagoi_sums_clear(sagoi_sums *sums) {
    int64_t coordinate[SAGOI_DIMENSIONS_MAX], set[NESTS_MAX];
    for (int64_t m = 0; m < sums->members; m++) {
        int64_t class = locate(sums, sums->place[m], coordinate, set);
        for (int64_t n = 0; n < sums->nests; n++) {
            sums->nest[n].members[set[n]] = 0;
            sums->nest[n].bytes[set[n] * sums->classes + class] = 0;
        }
        for (int64_t i = 0; !sums->tree && i < sums->topology->dimensions; i++)
            sums->marginal[i][coordinate[i]] = 0;
    }
    sums->members = sums->bytes = 0;
    sums->fresh = false;
}

int64_t sagoi_sums_members(const sagoi_sums *sums) { return sums->members; }

int64_t sagoi_sums_bytes(const sagoi_sums *sums) { return sums->bytes; }

/* ---- Hops and latency --------------------------------------------------------------------------------- */

/* How many members are 1 to `steps` places beyond x on the ring. */
static int64_t beyond(const int64_t *count, int64_t extent, int64_t x, int64_t steps) {
    int64_t sum = 0;
    for (int64_t k = 1; k <= steps; k++)
        sum += count[(x + k) % extent];
    return sum;
}

/* The hops round the ring from every coordinate to all members.  A step forward brings the half ahead nearer and
 * the other half farther away; on an odd ring the coordinate just past the half stays as far as it was. */
static void ring_away(const int64_t *count, int64_t extent, int64_t members, int64_t *away) {
    int64_t half = extent / 2, here = 0;
    for (int64_t k = 0; k < extent; k++)
        here += count[k] * sagoi_min(k, extent - k);
    int64_t ahead = beyond(count, extent, 0, half);
    for (int64_t x = 0; x < extent; x++) {
        away[x] = here;
        int64_t unmoved = extent % 2 ? count[(x + half + 1) % extent] : 0;
        if (extent == 1)
            return;
        here += members - 2 * ahead - unmoved;
        ahead += count[(x + half + 1) % extent] - count[(x + 1) % extent];
    }
}

static void refresh(sagoi_sums *s) {
    const sagoi_topology *t = s->topology;
    for (int64_t i = 0; t->kind == SAGOI_TORUS && i < t->dimensions; i++)
        ring_away(s->marginal[i], t->extent[i], s->members, s->away[i]);
    s->fresh = true;
}

/* Hops of each level from the place to all members together; not in trees. */
static void level_hops(sagoi_sums *s, int64_t place, int64_t *hops) {
    const sagoi_topology *t = s->topology;
    int64_t coordinate[SAGOI_DIMENSIONS_MAX], set[NESTS_MAX];
    if (!s->fresh)
        refresh(s);
    (void)locate(s, place, coordinate, set);
    for (int64_t i = 0; i < t->dimensions; i++) {
        int64_t x = coordinate[i];
        hops[level_of(t, i)] = t->kind == SAGOI_TORUS ? s->away[i][x] : s->members - s->marginal[i][x];
    }
    if (t->kind == SAGOI_DRAGONFLY) /* to the router and from it, for all members but the place itself */
        hops[0] = 2 * (s->members - s->nest[s->nests - 1].members[set[s->nests - 1]]);
}

/* Members in set[n] of nest n that are not in the next nest's set. */
static int64_t between(const sagoi_sums *s, int64_t n, const int64_t *set) {
    return s->nest[n].members[set[n]] - s->nest[n + 1].members[set[n + 1]];
}

double sagoi_sums_latency(sagoi_sums *sums, int64_t place) {
    int64_t coordinate[SAGOI_DIMENSIONS_MAX], set[NESTS_MAX], hops[SAGOI_DIMENSIONS_MAX] = {0};
    double sum = 0;
    if (sums->tree) {
        (void)locate(sums, place, coordinate, set);
        for (int64_t n = 0; n + 1 < sums->nests; n++)
            sum += (double)between(sums, n, set) * sums->nest[n].latency;
        return sum;
    }
    level_hops(sums, place, hops);
    for (int64_t k = 0; k < sums->topology->levels; k++)
        sum += (double)hops[k] * sums->topology->level[k].latency;
    return sum;
}

/* ---- Bytes -------------------------------------------------------------------------------------------- */

static double slowest(double a, double b, double c) {
    double least = a < b ? a : b;
    return least < c ? least : c;
}

double sagoi_sums_transfer(const sagoi_sums *sums, int64_t place) {
    int64_t coordinate[SAGOI_DIMENSIONS_MAX], set[NESTS_MAX], classes = sums->classes;
    double link = sums->class_link[locate(sums, place, coordinate, set)], sum = 0;
    for (int64_t n = 0; n + 1 < sums->nests; n++) {
        const int64_t *outer = sums->nest[n].bytes + set[n] * classes;
        const int64_t *inner = sums->nest[n + 1].bytes + set[n + 1] * classes;
        for (int64_t c = 0; c < classes; c++)
            if (outer[c] > inner[c])
                sum += (double)(outer[c] - inner[c]) / slowest(sums->nest[n].bandwidth, link, sums->class_link[c]);
    }
    return sum;
}

double sagoi_sums_cost(sagoi_sums *sums, int64_t place) {
    return sagoi_sums_latency(sums, place) + sagoi_sums_transfer(sums, place);
}
