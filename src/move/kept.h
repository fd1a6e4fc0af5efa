/* What an aggregator remembers of one plan: the coded extents of every region it was sent, so that the next call
 * of the same shape needs to send only data. */
#ifndef SAGOI_KEPT_H
#define SAGOI_KEPT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/budget.h"

/* Regions are counted per round and source, in the order they came. */
typedef struct sagoi_kept_region {
    int64_t round;
    int32_t source, sequence; /* rank in the team; place among that source's regions of the round */
    int32_t message;          /* which of that source's messages of the round */
    int32_t unused;
    int64_t at, code, data; /* bytes: place in codes, length of the code, length of its data */
} sagoi_kept_region;

typedef struct sagoi_kept {
    sagoi_kept_region *regions; /* ascending by (round, source, sequence) once sorted */
    int64_t nregions, regions_capacity;
    uint8_t *codes;
    int64_t codes_bytes, codes_capacity;
    bool full;     /* the budget did not allow to keep everything */
    bool complete; /* on every aggregator of the team: senders may leave the extents out */
} sagoi_kept;

void sagoi_kept_cleanup(sagoi_kept *kept, sagoi_budget *budget); /* fine on a zeroed struct, and twice */

/* Remembers one region; sets `full` when it does not fit the budget. */
void sagoi_kept_add(sagoi_kept *kept, const sagoi_kept_region *region, const uint8_t *code, sagoi_budget *budget);
void sagoi_kept_sort(sagoi_kept *kept);

/* The first region of that source in that round, NULL if there is none; the others follow it. */
const sagoi_kept_region *sagoi_kept_find(const sagoi_kept *kept, int64_t round, int32_t source);
/* The region after this one, if it is of the same round and source. */
const sagoi_kept_region *sagoi_kept_next(const sagoi_kept *kept, const sagoi_kept_region *region);

#endif
