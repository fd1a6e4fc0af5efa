/* Which holes of a write are worth reading and writing back?
 *
 * A hole between two runs costs one more request, or its bytes twice: reading and writing.  Whether another
 * process may write there meanwhile is a different question, which each call asks (engine/exclusive.c). */
#include "plan/draft.h"
#include "plan/thresholds.h"

int64_t sagoi_sieve_gap(sagoi_level io) {
    double even = io.latency * io.bandwidth / 2;
    return even < (double)SAGOI_SIEVED_GAP_MOST ? (int64_t)even : SAGOI_SIEVED_GAP_MOST;
}

/* If a file has neither stripes nor locks, nothing shows that requests are expensive. */
void sagoi_draft_sieve(sagoi_draft *draft) {
    sagoi_plan *plan = draft->plan;
    bool dear = draft->target->stripe_unit > 0 || draft->target->lock_unit > 0;
    if (plan->strategy != SAGOI_STRATEGY_AGGREGATED || !plan->write || plan->dense || !dear ||
        draft->target->subfiles.count > 0 || draft->hints->sieve == SAGOI_CHOICE_ON)
        return;
    sagoi_topology flat;
    int64_t gap =
        sagoi_sieve_gap(sagoi_topology_or_flat(draft->machine->topology, draft->machine->nodes, &flat)->io);
    bool allowed = draft->hints->sieve == SAGOI_CHOICE_AUTO;
    plan->sieve_gap = allowed ? gap : 0;
    sagoi_draft_reason(
        draft,
        allowed ? "holes: up to %s are read and written back if nobody else of the job has the file open"
                : "holes: runs are written one by one; sago_sieve=auto reads and writes back up to %s",
        sagoi_size_to_text(gap).text);
}
