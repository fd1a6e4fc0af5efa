/* Movement between nodes by one-sided puts and gets under fences (000, Algorithm 3): runs go straight into the
 * aggregators' windows.  For long runs, and only where windows have no holes, since nobody learns which bytes
 * came. */
#ifndef SAGOI_RMA_H
#define SAGOI_RMA_H

#include "move/exchange.h"

typedef struct sagoi_rma sagoi_rma;

typedef struct sagoi_rma_setup {
    sagoi_exchange_setup common;
    char *windows; /* of this node's aggregators in its segment, two each */
    int64_t window_bytes;
} sagoi_rma_setup;

/* Collective over the team.  `before`: how this rank fared so far; nothing is made unless all fared well. */
sago_status sagoi_rma_create(const sagoi_rma_setup *setup, sago_status before, sagoi_rma **rma) SAGOI_CHECKED;
void sagoi_rma_destroy(sagoi_rma **rma);

/* One round: after it all puts have arrived, or all gets.  Collective over the team. */
sago_status sagoi_rma_round(sagoi_rma *rma, int64_t round) SAGOI_CHECKED;

#endif
