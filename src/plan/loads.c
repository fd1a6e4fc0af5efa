/* Places come in sets of `block` consecutive ones: a subtree, a group, a line.  Links lead from one set to another
 * (dragonfly), or into a set, wherever the bytes come from: one link (torus), or several "rails", of which each
 * place uses one (fat tree). */
#include "plan/loads.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

struct sagoi_loads {
    int64_t block, sets, rails;
    bool paired;      /* each pair of sets has a link */
    bool lines;       /* bytes that stay in a set cross its links, too */
    double bandwidth; /* bytes a second of what is counted as one link */
    double all;       /* bytes of all domains */
    double *out;      /* for each set: the bytes of its nodes in all domains */
    double *share;    /* for each rail of each set: the part of all nodes that use it */
    double *carried;  /* bytes so far, for each rail or for each pair of sets */
    /* The domain that is being placed: */
    double total;             /* its bytes */
    double *inside;           /* for each set: the bytes of its nodes in the domain */
    int64_t *source, sources; /* the sets that have such bytes */
    double *wait;             /* for each rail: C3 of its places; negative: nobody has asked */
    int64_t *asked, nasked;   /* the rails that were asked for */
    int64_t waiting;          /* the number of those that wait */
};

/* ---- Which links ---- */

/* The first dimension from `first` on, in steps of `step`, in which places differ; -1: none. */
static int64_t wide_dimension(const sagoi_topology *t, int64_t first, int64_t step) {
    for (int64_t i = first; i >= 0 && i < t->dimensions; i += step)
        if (t->extent[i] > 1)
            return i;
    return -1;
}

/* The number of consecutive places that share links; 0: no links are shared, or they are not counted. */
static int64_t block_of(const sagoi_topology *t, double *bandwidth, int64_t *rails) {
    int64_t wide = wide_dimension(t, 0, 1), block = t->places;
    if (t->kind == SAGOI_TORUS) {
        wide = wide_dimension(t, t->dimensions - 1, -1);
        if (wide < 0)
            return 0;
        *bandwidth = t->level[wide].bandwidth * (t->extent[wide] > 2 ? 2 : 1);
        return t->extent[wide];
    }
    if (t->kind == SAGOI_FLAT || wide < 0 || (t->kind == SAGOI_DRAGONFLY && wide > 0))
        return 0;
    for (int64_t i = 0; i <= wide; i++)
        block /= t->extent[i];
    int64_t level = t->dimensions - 1 - wide;
    *bandwidth = t->level[level].bandwidth;
    if (t->kind == SAGOI_FAT_TREE && level > 0)
        *rails = sagoi_topology_uplinks(t, level);
    return *rails < block ? block : 0;
}

/* ---- Life ---- */

static int64_t set_of(const sagoi_loads *l, int64_t place) { return place / l->block; }
static int64_t rail_of(const sagoi_loads *l, int64_t place) {
    return set_of(l, place) * l->rails + place % l->rails;
}

static void sum_nodes(sagoi_loads *l, const sagoi_draft *draft) {
    for (int64_t n = 0; n < draft->machine->nodes; n++) {
        int64_t set = set_of(l, draft->machine->node[n].place);
        l->out[set] += (double)draft->shape->node[n].bytes;
        l->all += (double)draft->shape->node[n].bytes;
        l->share[rail_of(l, draft->machine->node[n].place)] += 1.0 / (double)draft->machine->nodes;
    }
    for (int64_t rail = 0; rail < l->sets * l->rails; rail++)
        l->wait[rail] = -1;
}

static bool allocate(sagoi_loads *l) {
    size_t sets = (size_t)l->sets, rails = sets * (size_t)l->rails;
    l->out = calloc(sets, sizeof *l->out);
    l->share = calloc(rails, sizeof *l->share);
    l->carried = calloc(l->paired ? sets * sets : rails, sizeof *l->carried);
    l->inside = calloc(sets, sizeof *l->inside);
    l->source = calloc(sets, sizeof *l->source);
    l->wait = calloc(rails, sizeof *l->wait);
    l->asked = calloc(rails, sizeof *l->asked);
    return l->out && l->share && l->carried && l->inside && l->source && l->wait && l->asked;
}

sago_status sagoi_loads_create(const sagoi_draft *draft, sagoi_loads **loads) {
    const sagoi_topology *t = draft->machine->topology;
    double bandwidth = 0;
    int64_t rails = 1, block = t ? block_of(t, &bandwidth, &rails) : 0, sets = block > 0 ? t->places / block : 0;
    bool paired = t && t->kind == SAGOI_DRAGONFLY;
    *loads = NULL;
    if (block <= 1 || sets <= 1 || (paired && sets > SAGOI_MOST_PAIRED))
        return SAGO_OK;
    sagoi_loads *l = calloc(1, sizeof *l);
    if (l)
        *l = (sagoi_loads){.block = block,
                           .sets = sets,
                           .rails = rails,
                           .paired = paired,
                           .lines = t->kind == SAGOI_TORUS,
                           .bandwidth = bandwidth};
    if (!l || !allocate(l)) {
        sagoi_loads_destroy(l);
        return sagoi_fail(SAGO_ERR_MEMORY, "plan: no memory for the links of %" PRId64 " sets of nodes", sets);
    }
    sum_nodes(l, draft);
    *loads = l;
    return SAGO_OK;
}

void sagoi_loads_destroy(sagoi_loads *loads) {
    if (!loads)
        return;
    free(loads->out);
    free(loads->share);
    free(loads->carried);
    free(loads->inside);
    free(loads->source);
    free(loads->wait);
    free(loads->asked);
    free(loads);
}

void sagoi_loads_begin(sagoi_loads *loads) {
    int64_t links = loads->sets * (loads->paired ? loads->sets : loads->rails);
    for (int64_t i = 0; i < links; i++)
        loads->carried[i] = 0;
    sagoi_loads_clear(loads);
}

/* ---- The domain that is being placed ---- */

void sagoi_loads_clear(sagoi_loads *loads) {
    for (int64_t i = 0; i < loads->sources; i++)
        loads->inside[loads->source[i]] = 0;
    for (int64_t i = 0; i < loads->nasked; i++)
        loads->wait[loads->asked[i]] = -1;
    loads->sources = loads->nasked = loads->waiting = 0;
    loads->total = 0;
}

void sagoi_loads_add(sagoi_loads *loads, int64_t place, double bytes) {
    int64_t set = set_of(loads, place);
    if (bytes <= 0)
        return;
    if (loads->inside[set] <= 0)
        loads->source[loads->sources++] = set;
    loads->inside[set] += bytes;
    loads->total += bytes;
}

/* Seconds for the bytes that a link would carry beyond its even share.  The share is rounded up to whole domains
 * like this one, since a domain has one host. */
static double over_share(const sagoi_loads *l, double carried, double mine, double even) {
    if (mine < 0.5)
        return 0;
    double share = ceil(even / mine - SAGOI_LINK_SLACK) * mine, over = carried + mine - share;
    return over > mine * SAGOI_LINK_SLACK ? over / l->bandwidth : 0;
}

/* Bytes of the domain that would come into the set. */
static double arriving(const sagoi_loads *l, int64_t set) {
    return l->lines ? l->total : l->total - l->inside[set];
}

static double wait_of(const sagoi_loads *l, int64_t place) {
    int64_t set = set_of(l, place), rail = rail_of(l, place);
    double most = 0;
    if (!l->paired)
        return over_share(l, l->carried[rail], arriving(l, set),
                          (l->lines ? l->all : l->all - l->out[set]) * l->share[rail]);
    for (int64_t i = 0; i < l->sources; i++) {
        int64_t from = l->source[i];
        double wait = from == set ? 0
                                  : over_share(l, l->carried[from * l->sets + set], l->inside[from],
                                               l->out[from] * l->share[set]);
        most = wait > most ? wait : most;
    }
    return most;
}

void sagoi_loads_weigh(sagoi_loads *loads, int64_t place) {
    int64_t rail = rail_of(loads, place);
    if (loads->wait[rail] >= 0)
        return;
    loads->asked[loads->nasked++] = rail;
    loads->wait[rail] = wait_of(loads, place);
    loads->waiting += loads->wait[rail] > 0;
}

bool sagoi_loads_matter(const sagoi_loads *loads) { return loads->waiting > 0 && loads->nasked > 1; }

double sagoi_loads_wait(const sagoi_loads *loads, int64_t place) { return loads->wait[rail_of(loads, place)]; }

void sagoi_loads_carry(sagoi_loads *loads, int64_t place) {
    int64_t set = set_of(loads, place), rail = rail_of(loads, place);
    if (!loads->paired)
        loads->carried[rail] += arriving(loads, set);
    for (int64_t i = 0; loads->paired && i < loads->sources; i++)
        if (loads->source[i] != set)
            loads->carried[loads->source[i] * loads->sets + set] += loads->inside[loads->source[i]];
    if (loads->wait[rail] < 0)
        return;
    loads->waiting -= loads->wait[rail] > 0;
    loads->wait[rail] = wait_of(loads, place);
    loads->waiting += loads->wait[rail] > 0;
}
