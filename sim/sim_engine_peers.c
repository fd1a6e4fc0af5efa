/* Two-phase I/O as ROMIO does it, and what was made of it. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/checked.h"
#include "base/size_text.h"
#include "sim/sim_engine.h"

/* All ranks tell all where their ranges begin, then where they end. */
enum { FIRST_AND_LAST = 2 };
enum { ROMIO_BUFFER = 16 << 20, OMPIO_BUFFER = 32 << 20 };

/* File domains: stripes dealt out, or even parts of the range. */
typedef struct domains {
    int64_t low, high;
    int64_t aggregators;
    int64_t unit;   /* 0: ranges */
    int64_t size;   /* bytes of a range */
    int64_t buffer; /* bytes a round and aggregator */
} domains;

static bool domain_window(const void *self, int64_t a, int64_t round, int64_t *start, int64_t *end) {
    const domains *d = self;
    int64_t stop;
    if (d->unit > 0) { /* a stripe of every `aggregators`; with a smaller buffer, a part of it */
        int64_t parts = sagoi_max(1, d->unit / d->buffer), stripe = round / parts;
        *start = sagoi_round_down(d->low, d->unit) + (stripe * d->aggregators + a) * d->unit +
                 round % parts * d->buffer;
        stop = *start + sagoi_min(d->unit, d->buffer);
    } else {
        int64_t first = d->low + a * d->size;
        *start = first + round * d->buffer;
        stop = sagoi_min(*start + d->buffer, first + d->size);
    }
    *start = sagoi_max(*start, d->low);
    *end = sagoi_min(stop, d->high);
    return *start < *end;
}

static domains domains_of(const sim_case *c, const sim_extent *extent, int64_t buffer) {
    int64_t unit = c->options.plain_peers ? 0 : c->input.target.stripe_unit,
            ranks = c->config.nodes * c->config.ranks;
    domains d = {.low = extent->low, .high = extent->high, .unit = unit};
    d.buffer = c->options.buffer > 0 ? c->options.buffer : unit > 0 ? unit : buffer;
    if (unit > 0)
        d.aggregators = c->input.target.stripe_count * sagoi_max(1, c->options.per_target);
    else
        d.aggregators = c->options.cb_nodes > 0 ? c->options.cb_nodes : c->config.nodes;
    d.aggregators = sagoi_min(d.aggregators, ranks);
    d.size = sagoi_div_up(d.high - d.low, d.aggregators);
    return d;
}

static int64_t rounds_of(const domains *d) {
    if (d->unit == 0)
        return sagoi_div_up(d->size, d->buffer);
    int64_t stripes = sagoi_div_up(d->high, d->unit) - d->low / d->unit;
    return sagoi_div_up(stripes, d->aggregators) * sagoi_max(1, d->unit / d->buffer);
}

/* Is a gateway attached to the node? */
static bool is_bridge(const sim_case *c, int64_t node) {
    for (int64_t g = 0; g < sagoi_topology_gateways(&c->topology); g++)
        if (sagoi_topology_gateway_place(&c->topology, g) == c->input.nodes[node].place)
            return true;
    return false;
}

/* Spread over the nodes; where there are more aggregators than nodes, in turn (001, V). */
static void place_hosts(const sim_case *c, int64_t aggregators, int64_t *host) {
    int64_t nodes = c->config.nodes, bridges = 0;
    for (int64_t n = 0; c->options.bridges_first && n < nodes && bridges < aggregators; n++)
        if (is_bridge(c, n))
            host[bridges++] = n;
    for (int64_t a = bridges; a < aggregators; a++)
        if (bridges > 0) /* on in the order of ranks (000, IV-B) */
            host[a] = (host[a - bridges] + 1) % nodes;
        else
            host[a] = aggregators <= nodes ? a * nodes / aggregators : a % nodes;
}

static bool load_two_phases(const sim_case *c, int64_t call, const sim_style *style, int64_t buffer,
                            sim_load *load, sim_course *course, char *why) {
    const sim_extent *extent = sim_extent_of(c, call);
    if (!c->options.always && !extent->interleaved && c->config.nodes * c->config.ranks > 1) {
        snprintf(course->plan, sizeof course->plan, "each rank by itself: ranges do not interleave");
        return sim_load_direct(c, call, &(sim_alone){!c->options.sieve_off, FIRST_AND_LAST}, load, why);
    }
    domains d = domains_of(c, extent, buffer);
    sim_layout layout = {d.aggregators, rounds_of(&d), domain_window, &d, NULL, false};
    int64_t *host = calloc((size_t)d.aggregators, sizeof *host);
    const int64_t rounds = layout.rounds * c->options.times;
    snprintf(course->plan, sizeof course->plan,
             "%" PRId64 " aggregator%s, %" PRId64 " sender%s a node, buffers of %" PRId64 " KiB, %" PRId64
             " round%s",
             d.aggregators, sagoi_plural(d.aggregators), style->locals, sagoi_plural(style->locals),
             d.buffer >> 10, rounds, sagoi_plural(rounds));
    if (!host)
        return bench_refuse(why, "out of memory");
    place_hosts(c, d.aggregators, host);
    layout.host = host;
    bool ok = sim_load_windows(c, call, &layout, style, load, why);
    free(host);
    return ok;
}

static sim_style romio_style(const sim_case *c) {
    return (sim_style){.locals = c->config.ranks,
                       .lists = true,
                       .in_step = true,
                       .fills_holes = !c->options.sieve_off,
                       .in_flight = c->config.nodes * c->config.ranks};
}

static bool load_romio(const sim_case *c, int64_t call, int64_t number, sim_load *load, sim_course *course,
                       char *why) {
    sim_style style = romio_style(c);
    (void)number;
    return load_two_phases(c, call, &style, ROMIO_BUFFER, load, course, why);
}

static bool load_tam(const sim_case *c, int64_t call, int64_t number, sim_load *load, sim_course *course,
                     char *why) {
    sim_style style = romio_style(c);
    style.locals = sagoi_min(c->config.ranks, number > 0 ? number : 1);
    style.joins = style.locals < c->config.ranks;
    return load_two_phases(c, call, &style, ROMIO_BUFFER, load, course, why);
}

static bool load_ompio(const sim_case *c, int64_t call, int64_t number, sim_load *load, sim_course *course,
                       char *why) {
    sim_style style = romio_style(c);
    (void)number;
    style.to_all = true;
    style.overlapped = true;
    style.fills_holes = false;
    return load_two_phases(c, call, &style, OMPIO_BUFFER, load, course, why);
}

const sim_engine sim_engine_two_phase = {"two-phase", "ROMIO: all ranks to all aggregators, rounds in step", true,
                                         load_romio};
const sim_engine sim_engine_tam = {"tam", "paper 001: tam:4 has four local aggregators a node (1)", true,
                                   load_tam};
const sim_engine sim_engine_ompio = {"ompio", "Open MPI's default collective", true, load_ompio};
const sim_engine sim_engine_gio = {"gio", "GIO: one local aggregator a node that joins runs, then two-phase",
                                   false, load_tam};
