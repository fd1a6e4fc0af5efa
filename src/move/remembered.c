#include "move/remembered.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"

void sagoi_remembered_cleanup(sagoi_remembered *list, sagoi_budget *budget) {
    sagoi_budget_free(budget, list->regions, list->regions_capacity * (int64_t)sizeof *list->regions);
    sagoi_budget_free(budget, list->codes, list->codes_capacity);
    memset(list, 0, sizeof *list);
}

/* Makes room for `more` units in an array of `count`; false: the budget does not allow that. */
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

void sagoi_remembered_add(sagoi_remembered *list, const sagoi_remembered_region *region, const uint8_t *code,
                          sagoi_budget *budget) {
    if (list->full)
        return;
    if (!grow(budget, (void **)&list->regions, list->nregions, 1, &list->regions_capacity,
              sizeof *list->regions) ||
        !grow(budget, (void **)&list->codes, list->codes_bytes, region->code, &list->codes_capacity, 1)) {
        list->full = true;
        return;
    }
    sagoi_remembered_region *added = &list->regions[list->nregions++];
    *added = *region;
    added->at = list->codes_bytes;
    if (region->code > 0) /* codes may still be NULL */
        memcpy(list->codes + list->codes_bytes, code, (size_t)region->code);
    list->codes_bytes += region->code;
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

void sagoi_remembered_sort(sagoi_remembered *list) {
    if (list->nregions > 1)
        qsort(list->regions, (size_t)list->nregions, sizeof *list->regions, by_place);
}

const sagoi_remembered_region *sagoi_remembered_find(const sagoi_remembered *list,
                                                     const sagoi_remembered_region *place) {
    if (list->nregions == 0)
        return NULL;
    return bsearch(place, list->regions, (size_t)list->nregions, sizeof *list->regions, by_place);
}

const sagoi_remembered_region *sagoi_remembered_first(const sagoi_remembered *list, int64_t round) {
    int64_t low = 0, high = list->nregions;
    while (low < high) { /* finds the first region that is not of an earlier round */
        int64_t middle = low + (high - low) / 2;
        if (list->regions[middle].round < round)
            low = middle + 1;
        else
            high = middle;
    }
    return low < list->nregions && list->regions[low].round == round ? &list->regions[low] : NULL;
}

const sagoi_remembered_region *sagoi_remembered_next(const sagoi_remembered *list,
                                                     const sagoi_remembered_region *region) {
    const sagoi_remembered_region *next = region + 1;
    return next < list->regions + list->nregions && next->round == region->round ? next : NULL;
}
