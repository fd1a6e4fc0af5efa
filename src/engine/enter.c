/* The agreement that opens a collective call.  A rank that fails anywhere goes on through every meeting, so that
 * no other rank waits for the failed one. */
#include "base/checked.h"
#include "engine/collective.h"
#include "engine/rule.h"
#include "engine/share.h"
#include "move/circle.h"

/* Fields of the agreement that opens a call; max[0] is always the verdict. */
enum {
    SUM_SHAPE_LOW,
    SUM_SHAPE_HIGH,
    SUM_WEIGHTED,
    SUM_WEIGHTS,
    SUM_ALL_BYTES,
    SUM_ALL_RUNS,
    SUM_SINGLE_COVER,
    SUM_OTHERS,
    SUM_UNSIZED
};
enum {
    MAX_VERDICT,
    MAX_MEETING,                    /* a claim, which takes two */
    MAX_ARGUMENT = MAX_MEETING + 2, /* the same */
    MAX_MINUS_LOW = MAX_ARGUMENT + 2,
    MAX_HIGH,
    MAX_SIZE,
    MAX_SPARSE,
    MAX_EXCEEDED,
    MAX_STAGED,
    MAX_RUNS,
    MAX_NOT_FIRST,
    MAX_PACE,
    MAX_MINUS_KNOWN
};
_Static_assert((int)MAX_MINUS_KNOWN < (int)SAGOI_MAXIMA && (int)SUM_UNSIZED < (int)SAGOI_SUMS,
               "there is room for all");
/* The block of subfiles travels where other files say that they are sparse, while ranks look for the rule. */
enum { MAX_BLOCK = MAX_SPARSE };

/* The leader of each node asks the file system for the file's size.  A rank asks, too, if that rank wrote by
 * itself since the last call, or reads and may have written past Sago: the leader may have asked before that
 * write.  Where the file system is a network's, it may not have heard of the write yet, so the end of the write
 * counts as well.  A local file system has heard of the write, answers quickly, and knows if the file was cut
 * since.  The ranks of a node share the subfiles among them. */
static sago_status look_at_file(sago_file *file, bool reads, sagoi_agreement *agreement) {
    const sagoi_team *team = file->team;
    sagoi_look look;
    bool local = sagoi_store_layout(file->store)->local, plain = sagoi_store_fd(file->store) >= 0;
    bool wrote = (reads && plain) || file->written_end > 0;
    agreement->max[MAX_SIZE] = local ? 0 : file->written_end;
    if (local)
        file->written_end = 0;
    bool all = local && wrote;
    sago_status status =
        sagoi_store_look(file->store, all ? 0 : team->local_rank, all ? 1 : team->local_size, &look);
    agreement->max[MAX_SIZE] = sagoi_max(agreement->max[MAX_SIZE], look.size);
    agreement->max[MAX_SPARSE] = look.sparse;
    return status;
}

static bool needs_size(const sagoi_call *call) {
    const sago_file *file = call->file;
    const sagoi_composed *composed = call->composed;
    bool known = file->known_end > 0 && composed->request.high <= file->known_end;
    return sagoi_route_needs_size(sagoi_composed_call(composed), &file->common, &file->own, known,
                                  composed->follows);
}

/* An odd number that depends on the rank, for the weighted sum of first offsets. */
static uint64_t rank_weight(const sagoi_team *team) { return sagoi_mix(0x5a60, team->rank) | 1; }

static void describe_request(const sago_file *file, const sagoi_composed *composed, sagoi_agreement *agreement) {
    const sagoi_request *request = &composed->request;
    sagoi_hash mine = sagoi_compose_fingerprint(composed, file->team->rank);
    agreement->sum[SUM_SHAPE_LOW] = mine.low;
    agreement->sum[SUM_SHAPE_HIGH] = mine.high;
    agreement->max[MAX_MINUS_LOW] = INT64_MIN;
    agreement->max[MAX_HIGH] = INT64_MIN;
    if (request->nstreams == 0)
        return;
    agreement->sum[SUM_WEIGHTED] = rank_weight(file->team) * (uint64_t)request->low;
    agreement->sum[SUM_WEIGHTS] = rank_weight(file->team);
    agreement->max[MAX_MINUS_LOW] = -request->low;
    agreement->max[MAX_HIGH] = request->high;
    agreement->max[MAX_RUNS] = composed->runs;
    agreement->sum[SUM_ALL_BYTES] = (uint64_t)composed->bytes;
    agreement->sum[SUM_ALL_RUNS] = (uint64_t)composed->runs;
    if (composed->runs == 1) /* The cover of several runs is asked for with the shape. */
        agreement->sum[SUM_SINGLE_COVER] = sagoi_cover_of_range(file, request->low, request->high);
}

/* Every collective call begins with this agreement, whatever else the call agrees on.  So ranks that are in
 * different calls all learn of that here, and no rank goes on to wait for the others. */
static sago_status agree_call(sago_file *file, sago_status status, sagoi_meeting meeting,
                              sagoi_agreement *agreed) {
    sagoi_agreement_claim(agreed, MAX_MEETING, meeting);
    status = sagoi_agree_with(file->team, status, agreed);
    if (status)
        return status;
    return sagoi_agreement_is_equal(agreed, MAX_MEETING)
               ? SAGO_OK
               : sagoi_fail(SAGO_ERR_MISMATCH, "ranks are in different collective calls on this file");
}

/* In a declared step a rank without buffers does not know whether the other ranks write or read, and takes their
 * direction. */
enum { MAX_WRITES = MAX_ARGUMENT, MAX_READS };

static sago_status follow_direction(sagoi_composed *composed, const sagoi_agreement *agreed) {
    if (agreed->max[MAX_WRITES] && agreed->max[MAX_READS])
        return sagoi_fail(SAGO_ERR_MISMATCH, "some ranks write and some read in one step");
    composed->request.direction = agreed->max[MAX_READS] ? SAGOI_FROM_FILE : SAGOI_TO_FILE;
    return SAGO_OK;
}

static sagoi_meeting meeting_of(const sagoi_composed *composed) {
    bool write = composed->request.direction == SAGOI_TO_FILE;
    if (composed->flush)
        return SAGOI_MEETING_FLUSH;
    if (composed->type == SAGOI_DECLARED)
        return SAGOI_MEETING_STEP;
    if (composed->request.nonblocking)
        return write ? SAGOI_MEETING_START_WRITE : SAGOI_MEETING_START_READ;
    return write ? SAGOI_MEETING_ACCESS_WRITE : SAGOI_MEETING_ACCESS_READ;
}

static void take_size(sagoi_call *call, const sagoi_agreement *agreed) {
    call->size = agreed->max[MAX_SIZE];
    if (call->sized)
        call->file->known_end = call->size;
    call->sparse = call->file->common.mappable && agreed->max[MAX_SPARSE];
    call->in_place = !call->sparse && call->high <= call->size;
    if (call->composed->request.direction == SAGOI_FROM_FILE)
        call->composed->request.limit = call->size;
}

/* Asks for the size in a read that turns out to be planned (needs_size()). */
sago_status sagoi_call_ask_size(sagoi_call *call) {
    sagoi_agreement agreed = {0};
    sago_status status = look_at_file(call->file, true, &agreed);
    status = agree_call(call->file, status, SAGOI_MEETING_FIND_SIZE, &agreed);
    call->sized = true;
    call->trusted = false;
    if (!status)
        take_size(call, &agreed);
    return status;
}

/* Finds out how far a planned read may go.  If the file was cut since its end was known, the aggregators find that
 * out (run_trusted()). */
sago_status sagoi_call_find_size(sagoi_call *call) {
    call->trusted = !call->sized && sagoi_route_trusts_end(call->known, call->high, call->staged);
    if (call->sized)
        return SAGO_OK;
    if (!call->trusted)
        return sagoi_call_ask_size(call);
    call->size = call->composed->request.limit = call->high;
    return SAGO_OK;
}

/* May another way into the file write to it during this call?  The question matters only where holes may be
 * sieved. */
static bool others_may_write(const sagoi_call *call) {
    const sagoi_composed *composed = call->composed;
    bool asked = call->file->hints.sieve == SAGOI_CHOICE_AUTO && composed->request.direction == SAGOI_TO_FILE &&
                 !composed->request.nonblocking;
    return !asked || !sagoi_is_exclusive(call->file);
}

/* What this rank says when it enters a call. */
static void describe_call(const sagoi_call *call, bool looks, sagoi_agreement *agreed) {
    sago_file *file = call->file;
    const sagoi_composed *composed = call->composed;
    bool writes = composed->request.direction == SAGOI_TO_FILE;
    describe_request(file, composed, agreed);
    agreed->sum[SUM_UNSIZED] = !looks;
    agreed->max[MAX_MINUS_KNOWN] = -file->known_end;
    agreed->max[MAX_WRITES] = !composed->follows && writes;
    agreed->max[MAX_READS] = !composed->follows && !writes;
    agreed->max[MAX_EXCEEDED] = sagoi_share_exceeded(file);
    agreed->max[MAX_STAGED] = sagoi_request_is_staged(&composed->request);
    /* An independent write of this rank may have come after another rank's early move, which then has to be
     * repeated. */
    agreed->max[MAX_NOT_FIRST] = !call->first || file->own.strayed;
    file->own.strayed = false;
    agreed->max[MAX_PACE] =
        file->network->found.assumed ? sagoi_circle_pace(file->team->circle, SAGOI_PACE_CALLS) : 0;
    agreed->sum[SUM_OTHERS] = others_may_write(call);
    sagoi_rule_tell(file, &agreed->max[MAX_BLOCK]);
}

/* What all ranks know of the call from here on. */
static void take_agreed(sagoi_call *call, const sagoi_agreement *agreed) {
    bool empty = agreed->max[MAX_HIGH] == INT64_MIN;
    call->low = empty ? 0 : -agreed->max[MAX_MINUS_LOW];
    call->high = empty ? 0 : agreed->max[MAX_HIGH];
    call->key = (sagoi_cache_key){.shape = {agreed->sum[SUM_SHAPE_LOW], agreed->sum[SUM_SHAPE_HIGH]},
                                  .weighted = agreed->sum[SUM_WEIGHTED],
                                  .weights = agreed->sum[SUM_WEIGHTS],
                                  .low = call->low};
    call->all_bytes = (int64_t)agreed->sum[SUM_ALL_BYTES];
    call->all_runs = (int64_t)agreed->sum[SUM_ALL_RUNS];
    call->single_cover = agreed->sum[SUM_SINGLE_COVER];
    call->sized = agreed->sum[SUM_UNSIZED] == 0;
    call->known = -agreed->max[MAX_MINUS_KNOWN];
    call->staged = agreed->max[MAX_STAGED];
    call->most_runs = agreed->max[MAX_RUNS];
    call->all_first = !agreed->max[MAX_NOT_FIRST];
    call->pace_log2 = agreed->max[MAX_PACE];
    call->exceeded = agreed->max[MAX_EXCEEDED];
    call->exclusive = agreed->sum[SUM_OTHERS] == 0;
    if (!call->all_first || call->composed->request.direction == SAGOI_TO_FILE)
        take_size(call, agreed);
}

sago_status sagoi_call_enter(sagoi_call *call, sago_status status) {
    sago_file *file = call->file;
    sagoi_composed *composed = call->composed;
    sagoi_agreement agreed = {0};
    bool looks = needs_size(call);
    if (looks) {
        sago_status looked = look_at_file(file, composed->request.direction == SAGOI_FROM_FILE, &agreed);
        status = status ? status : looked;
    }
    describe_call(call, looks, &agreed);
    status = agree_call(file, status, meeting_of(composed), &agreed);
    if (!status && composed->type == SAGOI_DECLARED)
        status = follow_direction(composed, &agreed);
    if (!status)
        status = sagoi_rule_hear(file, &agreed.max[MAX_BLOCK]);
    if (!status)
        take_agreed(call, &agreed);
    return status;
}

/* ---- Calls that move no data ---- */

sago_status sagoi_engine_agree(sago_file *file, sago_status status, sagoi_meeting meeting, int64_t argument) {
    sagoi_agreement agreed = {0};
    sagoi_agreement_claim(&agreed, MAX_ARGUMENT, argument);
    status = agree_call(file, status, meeting, &agreed);
    if (status || sagoi_agreement_is_equal(&agreed, MAX_ARGUMENT))
        return status;
    return sagoi_fail(SAGO_ERR_MISMATCH, "ranks gave different arguments to one collective call: %lld and %lld",
                      (long long)agreed.max[MAX_ARGUMENT],
                      (long long)sagoi_agreement_least(&agreed, MAX_ARGUMENT));
}

sago_status sagoi_engine_agree_any(sago_file *file, sago_status status, sagoi_meeting meeting, bool mine,
                                   bool *any) {
    sagoi_agreement agreed = {.max[MAX_ARGUMENT] = mine};
    status = agree_call(file, status, meeting, &agreed);
    *any = agreed.max[MAX_ARGUMENT];
    return status;
}

sago_status sagoi_engine_agree_deferral(sago_file *file, sagoi_deferral_facts *facts, sago_status *late) {
    enum { MAX_LARGEST = MAX_HIGH, MAX_MINUS_ROOM = MAX_MINUS_LOW, MAX_HARMFUL = MAX_SPARSE, MAX_LATE = MAX_SIZE };
    sagoi_agreement agreed = {0};
    sagoi_agreement_claim(&agreed, MAX_ARGUMENT, facts->calls);
    agreed.max[MAX_LARGEST] = facts->largest;
    agreed.max[MAX_MINUS_ROOM] = -facts->room;
    agreed.max[MAX_HARMFUL] = facts->harmful;
    agreed.max[MAX_LATE] = sagoi_verdict_code(file->team, *late);
    sago_status status = agree_call(file, SAGO_OK, SAGOI_MEETING_FLUSH, &agreed);
    if (status)
        return status;
    if (!sagoi_agreement_is_equal(&agreed, MAX_ARGUMENT))
        return sagoi_fail(
            SAGO_ERR_MISMATCH, "ranks have made different numbers of collective writes: %lld and %lld",
            (long long)agreed.max[MAX_ARGUMENT], (long long)sagoi_agreement_least(&agreed, MAX_ARGUMENT));
    facts->largest = agreed.max[MAX_LARGEST];
    facts->room = -agreed.max[MAX_MINUS_ROOM];
    facts->harmful = agreed.max[MAX_HARMFUL];
    *late = sagoi_verdict(file->team, agreed.max[MAX_LATE]);
    return SAGO_OK;
}
