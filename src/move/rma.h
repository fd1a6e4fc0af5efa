/* Movement between nodes by one-sided puts and gets under fences (000, Algorithm 3): runs go straight into the
 * aggregators' windows.  For long runs, and only where windows have no holes, since nobody learns which bytes
 * came.
 *
 * Memory that is shown to other nodes stays shown while the plan is kept: showing it and hiding it both wait
 * inside MPI for all ranks.  Who drops a plan may not wait so (a nonblocking call may be what makes room for its
 * own), so what is dropped is only put aside, by all ranks alike, and hidden when ranks next show memory or close
 * the file. */
#ifndef SAGOI_RMA_H
#define SAGOI_RMA_H

#include "move/exchange.h"

typedef struct sagoi_rma sagoi_rma;

typedef struct sagoi_rma_setup {
    sagoi_exchange_setup common;
    char *windows; /* of this node's aggregators in its segment, two each */
    int64_t window_bytes;
} sagoi_rma_setup;

/* Collective over the team.  `before`: how this rank fared so far; nothing is made unless all fared well.  What
 * was put `aside` is hidden first. */
sago_status sagoi_rma_create(const sagoi_rma_setup *setup, sago_status before, sagoi_rma **aside, sagoi_rma **rma)
    SAGOI_CHECKED;
/* Local.  Begins a call: another request of the same plan. */
void sagoi_rma_begin(sagoi_rma *rma, const sagoi_rma_setup *setup);
/* Local.  *rma, which may be NULL, is no longer used, and is put before what is aside already. */
void sagoi_rma_put_aside(sagoi_rma **rma, sagoi_rma **aside);
/* Collective over the team: hides and frees all that was put aside; fine with none. */
void sagoi_rma_hide(sagoi_rma **aside);

/* One round: after it all puts have arrived, or all gets.  Collective over the team. */
sago_status sagoi_rma_round(sagoi_rma *rma, int64_t round) SAGOI_CHECKED;

#endif
