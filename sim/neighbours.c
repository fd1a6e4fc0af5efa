/* Each decision one step up and one down, or the other way. */
#include "sim/neighbours.h"

#include <stdio.h>

typedef struct listing {
    sim_neighbour *list;
    int64_t count;
    const sagoi_hints *own;
} listing;

static void add(listing *all, const char *hint, const char *value) {
    sim_neighbour *next = &all->list[all->count];
    if (all->count == SIM_NEIGHBOURS_MAX)
        return;
    next->hints = *all->own;
    snprintf(next->change, sizeof next->change, "%s=%s", hint, value);
    all->count += sagoi_hints_set(&next->hints, hint, value) == SAGO_OK;
}

static void add_number(listing *all, const char *hint, int64_t value, int64_t least, int64_t most) {
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)value);
    if (value >= least && value <= most)
        add(all, hint, text);
}

/* Aggregators of each storage target where that is how they are counted, else of all. */
static void add_counts(const sim_case *c, const sim_course *course, listing *all) {
    int64_t targets = c->input.target.stripe_count, ranks = c->config.nodes * c->config.ranks;
    bool by_target = c->input.target.stripe_unit > 0 && targets > 0 && course->aggregators % targets == 0;
    const char *hint = by_target ? "sago_aggregators_per_target" : "sago_aggregators";
    int64_t count = by_target ? course->aggregators / targets : course->aggregators;
    add_number(all, hint, count / 2, 1, ranks);
    add_number(all, hint, 2 * count, 1, by_target ? ranks / targets : ranks);
}

int64_t sim_neighbours(const sim_case *c, const sim_course *course, sim_neighbour list[SIM_NEIGHBOURS_MAX]) {
    listing all = {list, 0, &c->config.hints};
    if (course->strategy != SAGOI_STRATEGY_AGGREGATED) {
        add(&all, "sago_strategy", "aggregated");
        return all.count;
    }
    add(&all, "sago_strategy", "direct");
    add_counts(c, course, &all);
    add_number(&all, "sago_local_aggregators", course->locals / 2, 1, c->config.ranks);
    add_number(&all, "sago_local_aggregators", 2 * course->locals, 1, c->config.ranks);
    add_number(&all, "sago_window", course->window / 2, 4096, INT64_MAX);
    add_number(&all, "sago_window", 2 * course->window, 4096, INT64_C(1) << 32);
    add(&all, "sago_layers", course->layers == 3 ? "2" : "3");
    add(&all, "sago_placement", "rank");
    add(&all, "sago_placement", "spread");
    add(&all, "sago_placement", "cost");
    return all.count;
}
