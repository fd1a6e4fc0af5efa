/* A heap merge of the packets that a local aggregator serves (001, IV-A) into one ascending list: neighbours
 * become one run, and bytes that several ranks want are asked for once.  Merging is a choice: putting by position
 * needs no order, but fewer and longer runs can be worth the extra copy. */
#ifndef SAGOI_MERGE_H
#define SAGOI_MERGE_H

#include "base/budget.h"
#include "extent/pattern.h"
#include "move/request.h"

/* A packet to be merged: the codes of its parts, and the data behind them. */
typedef struct sagoi_merge_input {
    const uint8_t *code;
    int64_t code_bytes;
    char *data;
} sagoi_merge_input;

typedef struct sagoi_merged {
    uint8_t *code; /* extents in the form of one packet's code; owned */
    int64_t code_bytes;
    int64_t data_bytes; /* bytes of the union of all runs */
    /* Set by the caller, for instance because the result is too large; then no other field counts. */
    bool given_up;
} sagoi_merged;

/* Merges the runs of all inputs, which start at or after `start`.  When writing, `data` gets the data in merged
 * order.  SAGO_ERR_MEMORY. */
sago_status sagoi_merge(const sagoi_merge_input *inputs, int64_t n, int64_t start, sagoi_direction direction,
                        char *data, sagoi_budget *budget, sagoi_merged *merged) SAGOI_CHECKED;
/* Reading: deals merged data out to the inputs. */
sago_status sagoi_merge_deal(const sagoi_merge_input *inputs, int64_t n, int64_t start, const char *data,
                             sagoi_budget *budget) SAGOI_CHECKED;
void sagoi_merged_cleanup(sagoi_merged *merged, sagoi_budget *budget); /* fine on a zeroed struct, and twice */

#endif
