/* Checkpoints as in paper 002: every rank has one block, and groups of ranks share a file or a writer. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/checked.h"
#include "base/size_text.h"
#include "sim/sim_engine.h"

enum { COIO_BUFFER = 16 << 20, RANKS_AN_AGGREGATOR = 32 };

/* The file that a group's ranks write holds their blocks in order: a range of the whole. */
typedef struct groups {
    int64_t count, bytes; /* number of groups; bytes of each */
    int64_t high;
    int64_t buffer; /* bytes a round */
} groups;

static bool group_window(const void *self, int64_t g, int64_t round, int64_t *start, int64_t *end) {
    const groups *all = self;
    *start = g * all->bytes + round * all->buffer;
    *end = sagoi_min(sagoi_min(*start + all->buffer, (g + 1) * all->bytes), all->high);
    return *start < *end;
}

static bool load_groups(const sim_case *c, int64_t size, bool files, int64_t buffer, const sim_style *style,
                        sim_load *load, sim_course *course, char *why) {
    int64_t ranks = c->config.nodes * c->config.ranks;
    const sim_extent *extent = sim_extent_of(c, SIM_ALL_CALLS);
    groups all = {.count = sagoi_div_up(ranks, size), .high = extent->high};
    all.bytes = sagoi_div_up(extent->bytes, all.count);
    all.buffer = buffer > 0 ? buffer : all.bytes;
    sim_layout layout = {all.count, sagoi_div_up(all.bytes, all.buffer), group_window, &all, NULL, files};
    int64_t *host = calloc((size_t)all.count, sizeof *host);
    if (!host)
        return bench_refuse(why, "out of memory");
    for (int64_t g = 0; g < all.count; g++)
        host[g] = g * size / c->config.ranks;
    layout.host = host;
    bool ok = sim_load_windows(c, SIM_ALL_CALLS, &layout, style, load, why);
    free(host);
    if (!ok)
        return false;
    snprintf(course->plan, sizeof course->plan, "%" PRId64 " writer%s, one for %" PRId64 " rank%s, %s", all.count,
             sagoi_plural(all.count), size, sagoi_plural(size),
             files ? "each to a file of its own" : "to one file");
    for (int64_t g = 0; g < all.count; g++) /* names are made one after another */
        load->round[0].store[g].seconds += c->costs.open * (files ? (double)all.count : 1);
    load->own_files = files;
    return true;
}

/* A group of all ranks writes one file, by more aggregators than one: on BG/P eight for each 64 nodes of 4 ranks.
 */
static bool is_one_file(const sim_case *c, int64_t number) { return number >= c->config.nodes * c->config.ranks; }

static int64_t group_size(const sim_case *c, int64_t number) {
    return is_one_file(c, number) ? RANKS_AN_AGGREGATOR : number > 0 ? number : 64;
}

static bool load_coio(const sim_case *c, int64_t call, int64_t number, sim_load *load, sim_course *course,
                      char *why) {
    sim_style style = {
        .locals = c->config.ranks, .lists = true, .in_step = true, .in_flight = c->config.nodes * c->config.ranks};
    (void)call;
    return load_groups(c, group_size(c, number), !is_one_file(c, number), COIO_BUFFER, &style, load, course, why);
}

static bool load_rbio(const sim_case *c, int64_t call, int64_t number, sim_load *load, sim_course *course,
                      char *why) {
    sim_style style = {
        .locals = c->config.ranks, .members = group_size(c, number), .in_flight = 2 * c->config.ranks};
    (void)call;
    return load_groups(c, group_size(c, number), !is_one_file(c, number), 0, &style, load, course, why);
}

static bool load_threaded(const sim_case *c, int64_t call, int64_t number, sim_load *load, sim_course *course,
                          char *why) {
    course->held_only = true;
    return load_rbio(c, call, number, load, course, why);
}

const sim_engine sim_engine_coio = {"coio", "paper 002: a file for each 64 ranks, written collectively; coio:N",
                                    false, load_coio};
const sim_engine sim_engine_rbio = {"rbio", "paper 002: a writer for each 64 ranks; rbio:N", false, load_rbio};
const sim_engine sim_engine_rbio_thread = {"rbio-thread", "the same, stored by the writer's thread", false,
                                           load_threaded};
