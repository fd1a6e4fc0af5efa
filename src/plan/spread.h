/* Ranges of a striped file that begin at different storage targets.
 *
 * Aggregators of contiguous ranges go on window by window, all in step.  Two whose ranges begin at the same target
 * meet there in every round, while another target is idle.  So where ranges are long, the cuts between those of a
 * group are moved by a few stripes. */
#ifndef SAGOI_SPREAD_H
#define SAGOI_SPREAD_H

#include "plan/draft.h"
#include "plan/tree.h"

typedef struct sagoi_spread sagoi_spread;

/* *spread becomes NULL where no cut is to be moved. */
sago_status sagoi_spread_create(const sagoi_draft *draft, sagoi_spread **spread) SAGOI_CHECKED;
void sagoi_spread_destroy(sagoi_spread *spread); /* NULL is fine */

/* The cuts between the leaves of a group, before anybody is elected for them; groups come in order. */
void sagoi_spread_leaves(sagoi_spread *spread, sagoi_tree *tree);

#endif
