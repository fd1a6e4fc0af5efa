/* Movement between nodes by one-sided puts and gets under fences (000, Algorithm 3): runs go straight into the
 * aggregators' windows.  This suits long runs, and only windows without holes, since a put does not tell the
 * aggregator which bytes came.
 *
 * Memory that is shown to other nodes stays shown while the plan is kept: showing and hiding both wait inside
 * MPI for all ranks.  A call that drops a plan may not wait so, since it may be a nonblocking call that makes
 * room for its own plan.  So all ranks only put the dropped memory aside, and hide it when they next show
 * memory or close the file. */
#ifndef SAGOI_RMA_H
#define SAGOI_RMA_H

#include "move/exchange.h"

typedef struct sagoi_rma sagoi_rma;

typedef struct sagoi_rma_setup {
    sagoi_exchange_setup common;
    char *windows; /* two windows for each of this node's aggregators, in the node's segment */
    int64_t window_bytes;
} sagoi_rma_setup;

/* Collective over the team.  `before`: this rank's status so far; nothing is made unless all ranks are well.
 * Hides first what was put `aside`. */
sago_status sagoi_rma_create(const sagoi_rma_setup *setup, sago_status before, sagoi_rma **aside, sagoi_rma **rma)
    SAGOI_CHECKED;
/* Local.  Begins a call: another request of the same plan. */
void sagoi_rma_begin(sagoi_rma *rma, const sagoi_rma_setup *setup);
/* Local.  Puts *rma, which may be NULL, aside because no plan uses it any more. */
void sagoi_rma_put_aside(sagoi_rma **rma, sagoi_rma **aside);
/* Collective over the team: hides and frees all that was put aside, if anything was. */
void sagoi_rma_hide(sagoi_rma **aside);

/* Collective over the team.  One round: when it ends, all puts have arrived, or all gets. */
sago_status sagoi_rma_round(sagoi_rma *rma, int64_t round) SAGOI_CHECKED;

#endif
