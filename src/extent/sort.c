/* Extents whose offsets do not ascend with the stream: views that are legal for reading, and tiles that
 * interleave.  The runs are sorted once, and each run's stream position is kept.  Runs that overlap go to
 * different layers, so that each layer can be walked window by window. */
#include <stdlib.h>

#include "extent/pattern.h"

typedef struct placed_run {
    int64_t off, len, pos;
} placed_run;

static int by_offset(const void *a, const void *b) {
    const placed_run *x = a, *y = b;
    if (x->off != y->off)
        return x->off < y->off ? -1 : 1;
    return x->pos < y->pos ? -1 : x->pos > y->pos;
}

/* Collects all runs in stream order, and returns their number.  With out == NULL it only counts. */
static int64_t collect_runs(const sagoi_extents *extents, placed_run *out) {
    sagoi_cursor cursor;
    sagoi_span span;
    int64_t n = 0;
    sagoi_cursor_init(&cursor, extents);
    while (sagoi_cursor_next(&cursor, SAGOI_NO_LIMIT, &span)) {
        if (out)
            for (sagoi_walk run = sagoi_walk_span(&span); sagoi_walk_run(&run);)
                *out++ = (placed_run){run.off, run.len, run.pos};
        n += span.count;
    }
    return n;
}

/* Adds a run to the first layer that it does not overlap; makes a new layer if need be. */
static bool place_run(sagoi_budget *budget, sagoi_pattern **layers, int64_t *n, const placed_run *run) {
    int64_t i = 0;
    while (i < *n && (*layers)[i].high > run->off)
        i++;
    if (i == *n) {
        int64_t size = sizeof **layers;
        sagoi_pattern *more = sagoi_budget_realloc(budget, *layers, (*n + 1) * size);
        if (!more)
            return false;
        *layers = more;
        sagoi_pattern_init(&more[(*n)++], budget);
    }
    return sagoi_pattern_add_placed(&(*layers)[i], run->off, run->len, run->pos);
}

void sagoi_layers_free(sagoi_budget *budget, sagoi_pattern *layers, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        sagoi_pattern_cleanup(&layers[i]);
    sagoi_budget_free(budget, layers);
}

sago_status sagoi_extents_sort(const sagoi_extents *extents, sagoi_budget *budget, sagoi_pattern **layers,
                               int64_t *n) {
    int64_t count = collect_runs(extents, NULL);
    placed_run *runs = sagoi_budget_alloc(budget, count * (int64_t)sizeof *runs);
    if (!runs)
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory to sort %lld runs", (long long)count);
    collect_runs(extents, runs);
    qsort(runs, (size_t)count, sizeof *runs, by_offset);
    sagoi_pattern *made = NULL;
    int64_t nmade = 0;
    bool ok = true;
    for (int64_t i = 0; i < count && ok; i++)
        ok = place_run(budget, &made, &nmade, &runs[i]);
    sagoi_budget_free(budget, runs);
    if (!ok) {
        sagoi_layers_free(budget, made, nmade);
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory to sort %lld runs", (long long)count);
    }
    *layers = made;
    *n = nmade;
    return SAGO_OK;
}
