/* Places come in sets of `block` consecutive ones.  The links are from set to set (dragonfly), or one for each
 * set, whatever set the bytes come from: then all sources are one. */
#include "plan/loads.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/checked.h"

/* More groups than this have more pairs than are worth being kept. */
enum { PAIRED_SETS_MOST = 256 };
static const double slack = 1.0 / 16; /* of a domain: shapes are not known better */

struct sagoi_loads {
    int64_t block, sets;
    bool paired;      /* each pair of sets has a link */
    bool lines;       /* a set's own bytes cross its links, too */
    double bandwidth; /* of the links that are counted as one */
    double all;       /* bytes of all domains */
    double *out;      /* of those, each set's */
    double *share;    /* of the nodes, each set's */
    double *carried;  /* by each link: of a set, or of source and set */
    /* The domain at hand */
    double total;
    double *inside; /* each set's bytes */
    int64_t *source, sources;
    double *wait; /* seconds; negative: the set was not asked for */
    int64_t *asked, nasked;
    int64_t waiting; /* sets that wait */
};

/* ---- Which links ---- */

/* The first dimension from `first` on, in steps of `step`, in which places differ; -1: none. */
static int64_t wide_dimension(const sagoi_topology *t, int64_t first, int64_t step) {
    for (int64_t i = first; i >= 0 && i < t->dimensions; i += step)
        if (t->extent[i] > 1)
            return i;
    return -1;
}

/* Consecutive places that share links; 0: none. */
static int64_t block_of(const sagoi_topology *t, double *bandwidth) {
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
    *bandwidth = t->level[t->dimensions - 1 - wide].bandwidth;
    return block;
}

/* ---- Life ---- */

static int64_t set_of(const sagoi_loads *l, int64_t place) { return place / l->block; }

static void sum_nodes(sagoi_loads *l, const sagoi_draft *draft) {
    for (int64_t n = 0; n < draft->machine->nodes; n++) {
        int64_t set = set_of(l, draft->machine->node[n].place);
        l->out[set] += (double)draft->shape->node[n].bytes;
        l->all += (double)draft->shape->node[n].bytes;
        l->share[set] += 1.0 / (double)draft->machine->nodes;
    }
    for (int64_t set = 0; set < l->sets; set++)
        l->wait[set] = -1;
}

static bool allocate(sagoi_loads *l) {
    size_t sets = (size_t)l->sets;
    l->out = calloc(sets, sizeof *l->out);
    l->share = calloc(sets, sizeof *l->share);
    l->carried = calloc(l->paired ? sets * sets : sets, sizeof *l->carried);
    l->inside = calloc(sets, sizeof *l->inside);
    l->source = calloc(sets, sizeof *l->source);
    l->wait = calloc(sets, sizeof *l->wait);
    l->asked = calloc(sets, sizeof *l->asked);
    return l->out && l->share && l->carried && l->inside && l->source && l->wait && l->asked;
}

sago_status sagoi_loads_create(const sagoi_draft *draft, sagoi_loads **loads) {
    const sagoi_topology *t = draft->machine->topology;
    double bandwidth = 0;
    int64_t block = t ? block_of(t, &bandwidth) : 0, sets = block > 0 ? t->places / block : 0;
    bool paired = t && t->kind == SAGOI_DRAGONFLY;
    *loads = NULL;
    if (block <= 1 || sets <= 1 || (paired && sets > PAIRED_SETS_MOST))
        return SAGO_OK;
    sagoi_loads *l = calloc(1, sizeof *l);
    if (l)
        *l = (sagoi_loads){.block = block,
                           .sets = sets,
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
    int64_t links = loads->paired ? loads->sets * loads->sets : loads->sets;
    for (int64_t i = 0; i < links; i++)
        loads->carried[i] = 0;
    sagoi_loads_clear(loads);
}

/* ---- The domain at hand ---- */

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

/* Seconds for what a link would carry beyond its even share, rounded up to domains like this one. */
static double over_share(const sagoi_loads *l, double carried, double mine, double even) {
    if (mine < 0.5)
        return 0;
    double share = ceil(even / mine - slack) * mine, over = carried + mine - share;
    return over > mine * slack ? over / l->bandwidth : 0;
}

/* What of the domain at hand crosses the set's link. */
static double arriving(const sagoi_loads *l, int64_t set) {
    return l->lines ? l->total : l->total - l->inside[set];
}

static double wait_of(const sagoi_loads *l, int64_t set) {
    double most = 0;
    if (!l->paired)
        return over_share(l, l->carried[set], arriving(l, set),
                          (l->lines ? l->all : l->all - l->out[set]) * l->share[set]);
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
    int64_t set = set_of(loads, place);
    if (loads->wait[set] >= 0)
        return;
    loads->asked[loads->nasked++] = set;
    loads->wait[set] = wait_of(loads, set);
    loads->waiting += loads->wait[set] > 0;
}

bool sagoi_loads_matter(const sagoi_loads *loads) { return loads->waiting > 0 && loads->nasked > 1; }

double sagoi_loads_wait(const sagoi_loads *loads, int64_t place) { return loads->wait[set_of(loads, place)]; }

void sagoi_loads_carry(sagoi_loads *loads, int64_t place) {
    int64_t set = set_of(loads, place);
    if (!loads->paired)
        loads->carried[set] += arriving(loads, set);
    for (int64_t i = 0; loads->paired && i < loads->sources; i++)
        if (loads->source[i] != set)
            loads->carried[loads->source[i] * loads->sets + set] += loads->inside[loads->source[i]];
    if (loads->wait[set] < 0)
        return;
    loads->waiting -= loads->wait[set] > 0;
    loads->wait[set] = wait_of(loads, set);
    loads->waiting += loads->wait[set] > 0;
}
