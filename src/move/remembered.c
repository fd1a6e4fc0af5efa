#include "move/remembered.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"

void sagoi_remembered_cleanup(sagoi_remembered *kept, sagoi_budget *budget) {
    sagoi_budget_free(budget, kept->regions, kept->regions_capacity * (int64_t)sizeof *kept->regions);
    sagoi_budget_free(budget, kept->codes, kept->codes_capacity);
    memset(kept, 0, sizeof *kept);
}

/* Room for `more` units in an array of `count`; within the budget, or not at all. */
static bool grow(sagoi_budget *budget, void **array, int64_t count, int64_t more, int64_t *capacity,
                 int64_t unit) {
    if (count + more <= *capacity)
        return true;
    int64_t larger = sagoi_max(count + more, *capacity + *capacity / 2);
    if (!sagoi_budget_fits(budget, (larger - *capacity) * unit))
        return false;
    void *moved = sagoi_budget_realloc(budget, *array, *capacity * unit, larger * unit);
    if (!moved)
        return false;
    *array = moved;
    *capacity = larger;
    return true;
}

void sagoi_remembered_add(sagoi_remembered *kept, const sagoi_remembered_region *region, const uint8_t *code,
                          sagoi_budget *budget) {
    if (kept->full)
        return;
    if (!grow(budget, (void **)&kept->regions, kept->nregions, 1, &kept->regions_capacity,
              sizeof *kept->regions) ||
        !grow(budget, (void **)&kept->codes, kept->codes_bytes, region->code, &kept->codes_capacity, 1)) {
        kept->full = true;
        return;
    }
    sagoi_remembered_region *added = &kept->regions[kept->nregions++];
    *added = *region;
    added->at = kept->codes_bytes;
    if (region->code > 0) /* codes may still be NULL */
        memcpy(kept->codes + kept->codes_bytes, code, (size_t)region->code);
    kept->codes_bytes += region->code;
}

static int compare(int64_t a, int64_t b) { return a < b ? -1 : a > b; }

static int by_place(const void *a, const void *b) {
    const sagoi_remembered_region *x = a, *y = b;
    int order = compare(x->round, y->round);
    if (order == 0)
        order = compare(x->pass, y->pass);
    if (order == 0)
        order = compare(x->source, y->source);
    return order ? order : compare(x->number, y->number);
}

void sagoi_remembered_sort(sagoi_remembered *kept) {
    if (kept->nregions > 1)
        qsort(kept->regions, (size_t)kept->nregions, sizeof *kept->regions, by_place);
}

const sagoi_remembered_region *sagoi_remembered_find(const sagoi_remembered *kept,
                                                     const sagoi_remembered_region *place) {
    if (kept->nregions == 0)
        return NULL;
    return bsearch(place, kept->regions, (size_t)kept->nregions, sizeof *kept->regions, by_place);
}

const sagoi_remembered_region *sagoi_remembered_first(const sagoi_remembered *kept, int64_t round) {
    int64_t low = 0, high = kept->nregions;
    while (low < high) { /* the first that is not of an earlier round */
        int64_t middle = low + (high - low) / 2;
        if (kept->regions[middle].round < round)
            low = middle + 1;
        else
            high = middle;
    }
    return low < kept->nregions && kept->regions[low].round == round ? &kept->regions[low] : NULL;
}

const sagoi_remembered_region *sagoi_remembered_next(const sagoi_remembered *kept,
                                                     const sagoi_remembered_region *region) {
    const sagoi_remembered_region *next = region + 1;
    return next < kept->regions + kept->nregions && next->round == region->round ? next : NULL;
}
