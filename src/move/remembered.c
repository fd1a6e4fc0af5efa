#include "move/remembered.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"

void sagoi_remembered_cleanup(sagoi_remembered *list, sagoi_budget *budget) {
    sagoi_budget_free(budget, list->packets);
    sagoi_budget_free(budget, list->codes);
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
    void *moved = sagoi_budget_realloc(budget, *array, larger * unit);
    if (!moved)
        return false;
    *array = moved;
    *capacity = larger;
    return true;
}

void sagoi_remembered_add(sagoi_remembered *list, const sagoi_remembered_packet *packet, const uint8_t *code,
                          sagoi_budget *budget) {
    if (list->full)
        return;
    if (!grow(budget, (void **)&list->packets, list->npackets, 1, &list->packets_capacity,
              sizeof *list->packets) ||
        !grow(budget, (void **)&list->codes, list->codes_bytes, packet->code, &list->codes_capacity, 1)) {
        list->full = true;
        return;
    }
    sagoi_remembered_packet *added = &list->packets[list->npackets++];
    *added = *packet;
    added->at = list->codes_bytes;
    if (packet->code > 0) /* codes may still be NULL */
        memcpy(list->codes + list->codes_bytes, code, (size_t)packet->code);
    list->codes_bytes += packet->code;
}

static int compare(int64_t a, int64_t b) { return a < b ? -1 : a > b; }

static int by_place(const void *a, const void *b) {
    const sagoi_remembered_packet *x = a, *y = b;
    int order = compare(x->round, y->round);
    if (order == 0)
        order = compare(x->pass, y->pass);
    if (order == 0)
        order = compare(x->source, y->source);
    return order ? order : compare(x->number, y->number);
}

void sagoi_remembered_sort(sagoi_remembered *list) {
    if (list->npackets > 1)
        qsort(list->packets, (size_t)list->npackets, sizeof *list->packets, by_place);
}

const sagoi_remembered_packet *sagoi_remembered_find(const sagoi_remembered *list,
                                                     const sagoi_remembered_packet *place) {
    if (list->npackets == 0)
        return NULL;
    return bsearch(place, list->packets, (size_t)list->npackets, sizeof *list->packets, by_place);
}

const sagoi_remembered_packet *sagoi_remembered_first(const sagoi_remembered *list, int64_t round) {
    int64_t low = 0, high = list->npackets;
    while (low < high) { /* finds the first packet that is not of an earlier round */
        int64_t middle = low + (high - low) / 2;
        if (list->packets[middle].round < round)
            low = middle + 1;
        else
            high = middle;
    }
    return low < list->npackets && list->packets[low].round == round ? &list->packets[low] : NULL;
}

const sagoi_remembered_packet *sagoi_remembered_next(const sagoi_remembered *list,
                                                     const sagoi_remembered_packet *packet) {
    const sagoi_remembered_packet *next = packet + 1;
    return next < list->packets + list->npackets && next->round == packet->round ? next : NULL;
}
