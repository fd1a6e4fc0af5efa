/* Counts who is at which target at a time, and moves each cut to where the fewest are. */
#include "plan/spread.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/checked.h"

struct sagoi_spread {
    int64_t stripe, targets;
    int64_t wide;          /* targets that a window is on */
    int64_t step;          /* by which a cut moves */
    int64_t aggregators[]; /* of each target, those that are there at a time */
};

static int64_t target_of(const sagoi_spread *s, int64_t start, int64_t i) {
    return (start / s->stripe + i) % s->targets;
}

static void count_start(sagoi_spread *s, int64_t start) {
    for (int64_t i = 0; i < s->wide; i++)
        s->aggregators[target_of(s, start, i)]++;
}

/* How many meet at the targets of a range that begins there, squared, so that the fullest counts most. */
static int64_t crowd_at(const sagoi_spread *s, int64_t start) {
    int64_t crowd = 0;
    for (int64_t i = 0; i < s->wide; i++) {
        int64_t there = s->aggregators[target_of(s, start, i)];
        crowd += there * there;
    }
    return crowd;
}

/* The nearest of the cuts within `most` steps at which the fewest meet. */
static int64_t best_cut(const sagoi_spread *s, int64_t cut, int64_t most) {
    int64_t best = cut, least = crowd_at(s, cut);
    for (int64_t shift = 1; shift <= most && least > 0; shift++)
        for (int64_t sign = -1; sign <= 1; sign += 2) {
            int64_t at = cut + sign * shift * s->step, crowd = crowd_at(s, at);
            if (crowd < least) {
                best = at;
                least = crowd;
            }
        }
    return best;
}

sago_status sagoi_spread_create(const sagoi_draft *draft, sagoi_spread **spread) {
    const sagoi_plan *plan = draft->plan;
    int64_t wide = draft->stripe > 0 ? sagoi_max(1, plan->window / draft->stripe) : 0;
    *spread = NULL;
    if (draft->stripe == 0 || draft->parted || wide >= draft->targets || plan->ndomains < 2 ||
        plan->ndomains > SAGOI_MOST_SPREAD || sagoi_draft_domain_hint(draft) > 0)
        return SAGO_OK;
    sagoi_spread *s = calloc(1, sizeof *s + (size_t)draft->targets * sizeof *s->aggregators);
    if (!s)
        return sagoi_fail(SAGO_ERR_MEMORY, "plan: no memory for %" PRId64 " storage targets", draft->targets);
    s->stripe = draft->stripe;
    s->targets = draft->targets;
    s->wide = wide;
    s->step = sagoi_round_up(draft->align, draft->stripe);
    for (int64_t g = 0; g < plan->groups; g++)
        count_start(s, draft->group[g].start);
    *spread = s;
    return SAGO_OK;
}

void sagoi_spread_destroy(sagoi_spread *spread) { free(spread); }

void sagoi_spread_leaves(sagoi_spread *spread, sagoi_tree *tree) {
    int64_t shortest = INT64_MAX;
    for (int64_t leaf = tree->first; leaf >= 0; leaf = tree->vertex[leaf].after)
        shortest = sagoi_min(shortest, tree->vertex[leaf].end - tree->vertex[leaf].start);
    int64_t most = sagoi_min(spread->targets, shortest / spread->step / SAGOI_SHIFT_PART);
    most = sagoi_min(most, SAGOI_MOST_CANDIDATES / (2 * spread->wide * tree->leaves));
    for (int64_t leaf = tree->vertex[tree->first].after; leaf >= 0; leaf = tree->vertex[leaf].after) {
        sagoi_vertex *own = &tree->vertex[leaf];
        if (own->start % spread->stripe == 0)
            own->start = best_cut(spread, own->start, most);
        tree->vertex[own->before].end = own->start;
        count_start(spread, own->start);
    }
}
