/* One collective call: enter (all ranks agree on what the call is), plan (or find the plan again), move, leave
 * (all ranks agree on how the call went).  A rank that fails anywhere goes on through every meeting, so that no
 * other rank waits for the failed one. */
#include "engine/engine.h"

#include "base/checked.h"
#include "base/fiber.h"
#include "engine/collective.h"
#include "engine/rule.h"
#include "move/circle.h"
#include "mpi/quiet.h"

/* ---- Moving ---- */

/* A flush moves the data of calls that were counted when they were made, and is no call itself. */
void sagoi_call_count_route(const sagoi_call *call, sago_route route) {
    if (!call->composed->flush)
        call->file->stats.routes[route]++;
}

static sago_status move_mapped(sagoi_call *call) {
    double clock = sagoi_phase_begin(call->file);
    sago_status status = sagoi_run_mapped(call, &clock);
    (void)sagoi_phase_next(call->file, SAGO_PHASE_GATHER, clock);
    return status;
}

static sago_status move(sagoi_call *call) {
    sago_file *file = call->file;
    const sagoi_plan *plan = &call->entry->plan;
    switch (sagoi_route_planned(plan->strategy, plan->map_in_place, call->in_place)) {
    case SAGOI_METHOD_MAPPED:
        file->stats.mapped_calls++;
        sagoi_call_count_route(call, SAGO_ROUTE_TOGETHER_MAPPED);
        return move_mapped(call);
    case SAGOI_METHOD_AGGREGATED:
        file->stats.aggregated_calls++;
        sagoi_call_count_route(call, SAGO_ROUTE_TOGETHER_AGGREGATED);
        file->stats.rounds += plan->rounds;
        return sagoi_run_aggregated(call);
    default:
        file->stats.direct_calls++;
        sagoi_call_count_route(call, SAGO_ROUTE_TOGETHER_DIRECT);
        return sagoi_run_direct(file, call->composed);
    }
}

/* A flush keeps what could not be moved, and every rank has to know of that. */
bool sagoi_call_ends_alone(const sagoi_call *call) {
    return !call->composed->flush &&
           sagoi_route_leaves_alone(sagoi_composed_call(call->composed), &call->file->common);
}

/* Ends a call that the other ranks may not have finished yet: this rank notes what it did last, as every rank that
 * goes alone does. */
sago_status sagoi_call_end_alone(sagoi_call *call, sago_status status) {
    sago_file *file = call->file;
    bool write = call->composed->request.direction == SAGOI_TO_FILE;
    file->own.last = write ? SAGOI_LAST_WRITE : SAGOI_LAST_READ;
    return sagoi_engine_end_alone(file, status);
}

/* Learns the pace of gathering from a call.  The time of the slowest rank counts, since all ranks waited for it.
 */
static void learn_pace(const sagoi_call *call, int64_t sent, int64_t microseconds) {
    int64_t nodes = sagoi_min(call->entry->plan.ndomains, call->file->team->nodes);
    int64_t pace = sagoi_pace_of(sent, nodes, (double)microseconds * 1e-6);
    if (pace > 0)
        sagoi_circle_learn_pace(call->file->team->circle, pace);
}

/* The ranks agree on how the call went, and on whether the aggregators know the extents of this plan from now on.
 */
static sago_status leave(sagoi_call *call, sago_status status) {
    enum { MAX_VERDICT, MAX_FORGETFUL, MAX_SENDING, MAX_CUT, MAX_UNANSWERED };
    enum { SUM_SENT };
    sagoi_team *team = call->file->team;
    sagoi_agreement agreed = {0};
    double start = sagoi_now();
    agreed.max[MAX_VERDICT] = sagoi_verdict_code(team, status);
    agreed.max[MAX_FORGETFUL] = call->forgetful;
    agreed.max[MAX_SENDING] = (int64_t)(call->sending * 1e6);
    agreed.max[MAX_CUT] = call->cut;
    agreed.max[MAX_UNANSWERED] = !call->answered;
    agreed.sum[SUM_SENT] = (uint64_t)call->sent;
    sago_status met = sagoi_agree(team, &agreed, NULL, NULL, NULL);
    (void)sagoi_phase_end(&call->file->stats, SAGO_PHASE_WAIT, start);
    if (met)
        return met;
    learn_pace(call, (int64_t)agreed.sum[SUM_SENT], agreed.max[MAX_SENDING]);
    call->cut = agreed.max[MAX_CUT];
    call->entry->received.complete = !agreed.max[MAX_FORGETFUL] && !agreed.max[MAX_VERDICT];
    call->entry->answered = !agreed.max[MAX_UNANSWERED];
    return sagoi_verdict(team, agreed.max[MAX_VERDICT]);
}

static void count_call(sagoi_call *call, int64_t bytes) {
    sago_stats *stats = &call->file->stats;
    if (call->composed->flush) {
        sagoi_record_no_call(stats);
        return;
    }
    bool write = call->composed->request.direction == SAGOI_TO_FILE;
    *(write ? &stats->collective_writes : &stats->collective_reads) += 1;
    *(write ? &stats->bytes_written : &stats->bytes_read) += bytes;
    if (__builtin_expect(sagoi_is_recorded(), 0))
        sagoi_record_done(call->file, write, call->composed->request.low, call->composed->request.high, bytes);
}

/* The same of a call that was planned. */
static bool is_done_alone(const sagoi_call *call) {
    return !call->composed->flush &&
           sagoi_route_leaves_planned_alone(sagoi_composed_call(call->composed), &call->file->common,
                                            call->entry->plan.strategy);
}

/* Does this rank know that all is well everywhere? */
static bool is_answered(const sagoi_call *call, sago_status status) {
    const sagoi_answers answers = {.failed = status != SAGO_OK,
                                   .refused = call->refused,
                                   .remembered = call->remembered,
                                   .from_all = call->entry->answered,
                                   .staged = call->staged};
    return sagoi_route_ends_answered(sagoi_composed_call(call->composed), &call->entry->plan, &answers);
}

/* Ends a call that was planned. */
static sago_status end_planned(sagoi_call *call, sago_status status) {
    if (is_done_alone(call))
        return sagoi_call_end_alone(call, status);
    return is_answered(call, status) ? SAGO_OK : leave(call, status);
}

/* Does the known end of the file need no question with the plan that was found? */
static bool may_trust(const sagoi_call *call) {
    return sagoi_route_notices_end(&call->entry->plan, call->hit && call->entry->received.complete);
}

static sago_status run_planned(sagoi_call *call) {
    sago_file *file = call->file;
    double start = sagoi_now();
    sago_status status = sagoi_call_find_plan(call);
    (void)sagoi_phase_end(&file->stats, SAGO_PHASE_PLAN, start);
    if (!status && call->trusted && !may_trust(call))
        status = sagoi_call_ask_size(call);
    if (status)
        return status;
    call->composed->all_dense = call->entry->plan.dense;
    if (call->composed->request.direction == SAGOI_FROM_FILE)
        file->own.read.direct = call->entry->plan.strategy == SAGOI_STRATEGY_DIRECT;
    status = move(call);
    if (!status)
        status = sagoi_request_finish_staging(&call->composed->request);
    status = end_planned(call, status);
    sagoi_mapping_remember(&file->mapping, file->store);
    if (status && !is_done_alone(call)) /* else only this rank would, and no exchange was in use */
        sagoi_drop_exchanges(file);     /* An exchange may have stopped halfway. */
    return status;
}

/* A read whose file was cut since its end was known is done again, up to where the file ends now. */
static sago_status run_trusted(sagoi_call *call) {
    sago_status status = run_planned(call);
    if (status || !call->trusted || !call->cut)
        return status;
    status = sagoi_call_ask_size(call);
    return status ? status : run_planned(call);
}

static sago_status run(sago_file *file, sagoi_composed *composed, sago_status status, int64_t *bytes) {
    sagoi_call call = {.file = file, .composed = composed};
    const sagoi_request *request = &composed->request;
    *bytes = 0;
    if (!status)
        status = sagoi_call_go_first(&call);
    double start = sagoi_now();
    status = sagoi_call_enter(&call, status);
    (void)sagoi_phase_end(&file->stats, SAGO_PHASE_PLAN, start);
    if (status)
        return status;
    if (call.low == call.high) {
        sagoi_call_count_route(&call, SAGO_ROUTE_NOTHING);
        count_call(&call, 0);
        return SAGO_OK;
    }
    if (file->unruled && request->direction == SAGOI_TO_FILE)
        status = sagoi_rule_make(&call);
    if (status)
        return status;
    composed->all_low = call.low;
    composed->all_high = call.high;
    bool alone = sagoi_call_gathers_nothing(&call), reads = request->direction == SAGOI_FROM_FILE;
    if (!composed->flush)
        sagoi_route_set_precedent(&file->own, !reads, alone, composed->bytes);
    alone = alone || call.all_first;
    if (reads && !alone)
        status = sagoi_call_find_size(&call);
    if (!status)
        status = alone ? sagoi_call_run_ungathered(&call) : run_trusted(&call);
    if (status)
        return status;
    if (!reads && !alone)
        file->known_end = sagoi_max(file->known_end, call.high);
    bool whole = request->direction == SAGOI_TO_FILE || request->high <= call.size;
    *bytes = whole ? composed->bytes : sagoi_bytes_below(request, call.size);
    count_call(&call, *bytes);
    return SAGO_OK;
}

/* Each look at messages puts the program's error handlers aside and back (mpi/quiet.h), which costs more than the
 * look does.  A call that the program waits in does so once, unless another thread could raise an error meanwhile.
 */
sago_status sagoi_engine_run(sago_file *file, sagoi_composed *composed, sago_status status, int64_t *bytes) {
    const bool quiet = file->team->nodes > 1 && !file->team->circle->threads && !sagoi_on_fiber();
    if (quiet)
        sagoi_quiet_begin(MPI_COMM_NULL);
    status = run(file, composed, status, bytes);
    if (quiet)
        sagoi_quiet_end(MPI_COMM_NULL);
    return status;
}

sago_status sagoi_engine_prepare(sago_file *file, sagoi_composed *composed) {
    sagoi_call call = {.file = file, .composed = composed};
    sago_status status = sagoi_call_enter(&call, SAGO_OK);
    if (!status && call.low < call.high)
        status = sagoi_call_find_plan(&call);
    return status;
}

/* The ranks of a node share the node's page cache, so one rank syncs for all of them.  Of a file in subfiles each
 * rank syncs the subfiles that it wrote. */
sago_status sagoi_sync_here(const sago_file *file) {
    bool mine = file->team->local_rank == 0 || sagoi_store_subfile_count(file->store) > 0;
    return mine ? sagoi_store_sync(file->store) : SAGO_OK;
}
