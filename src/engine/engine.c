/* One collective call: enter (all ranks agree on what the call is), plan (or find the plan again), move, leave
 * (all ranks agree on how the call went).  A rank that fails anywhere goes on through every meeting, so that no
 * other rank waits for the failed one. */
#include "engine/engine.h"

#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/fiber.h"
#include "engine/rule.h"
#include "engine/share.h"
#include "move/circle.h"
#include "mpi/quiet.h"

/* ---- Entering ---- */

/* Fields of the agreement that opens a call; max[0] is always the verdict. */
enum {
    SUM_SHAPE_LOW,
    SUM_SHAPE_HIGH,
    SUM_WEIGHTED,
    SUM_WEIGHTS,
    SUM_ALL_BYTES,
    SUM_ALL_RUNS,
    SUM_LONE_COVER,
    SUM_OTHERS
};
enum {
    MAX_VERDICT,
    MAX_KIND,
    MAX_MINUS_KIND,
    MAX_MINUS_LOW,
    MAX_HIGH,
    MAX_SIZE,
    MAX_SPARSE,
    MAX_ARGUMENT,
    MAX_MINUS_ARGUMENT,
    MAX_EXCEEDED,
    MAX_STAGED,
    MAX_RUNS,
    MAX_LEFT,
    MAX_PACE
};
_Static_assert((int)MAX_PACE < (int)SAGOI_MAXIMA && (int)SUM_OTHERS < (int)SAGOI_SUMS, "there is room for all");
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

/* Asking for the size costs each node a request.  A write needs the size only where the file may be mapped.  A
 * read needs the size only if the read is planned; where the last read was not planned, this read is taken to be
 * alike, and ask_size() makes up for a wrong guess.  Steps of declared variables are planned, and a rank that
 * follows the other ranks' direction may come to read.  A file in subfiles is always looked at: a subfile may have
 * been lost, and no single subfile tells where the file ends. */
static bool needs_size(const sagoi_call *call) {
    const sagoi_composed *composed = call->composed;
    if (sagoi_store_subfile_count(call->file->store) > 0)
        return true;
    if (composed->request.direction == SAGOI_FROM_FILE)
        return call->file->own.read.outcome != SAGOI_OUTCOME_ALONE || composed->type == SAGOI_DECLARED;
    return call->file->common.mappable || composed->follows;
}

/* An odd number that depends on the rank, for the weighted sum of first offsets. */
static uint64_t rank_weight(const sagoi_team *team) { return sagoi_mix(0x5a60, team->rank) | 1; }

/* The cover check's sum of one run, or of runs that tile the range. */
static uint64_t cover_of_range(const sago_file *file, int64_t low, int64_t high) {
    return sagoi_mix(file->cover_key, high) - sagoi_mix(file->cover_key, low);
}

/* The part of the cover check's sum that this rank's runs make. */
static uint64_t cover_of(const sago_file *file, const sagoi_request *request) {
    uint64_t sum = 0;
    for (int64_t i = 0; i < request->nstreams; i++)
        sum += sagoi_extents_cover(&request->streams[i].file, file->cover_key);
    return sum;
}

/* Do the runs of all ranks tile the accessed range? */
static bool covers(const sagoi_call *call, uint64_t cover) {
    return cover == cover_of_range(call->file, call->low, call->high);
}

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
        agreement->sum[SUM_LONE_COVER] = cover_of_range(file, request->low, request->high);
}

/* Every collective call begins with this agreement, whatever else the call agrees on.  So ranks that are in
 * different calls all learn of that here, and no rank goes on to wait for the others. */
static sago_status agree_call(sago_file *file, sago_status status, int64_t kind, sagoi_agreement *agreed) {
    agreed->max[MAX_VERDICT] = sagoi_verdict_code(file->team, status);
    agreed->max[MAX_KIND] = kind;
    agreed->max[MAX_MINUS_KIND] = -kind;
    sago_status met = sagoi_agree(file->team, agreed, NULL, NULL, NULL);
    if (met)
        return met;
    if (agreed->max[MAX_VERDICT])
        return sagoi_verdict(file->team, agreed->max[MAX_VERDICT]);
    if (agreed->max[MAX_KIND] != -agreed->max[MAX_MINUS_KIND])
        return sagoi_fail(SAGO_ERR_MISMATCH, "ranks are in different collective calls on this file");
    return SAGO_OK;
}

/* In a declared step a rank without buffers does not know whether the other ranks write or read, and takes their
 * direction. */
enum { MAX_WRITES = MAX_ARGUMENT, MAX_READS = MAX_MINUS_ARGUMENT };

static sago_status follow_direction(sagoi_composed *composed, const sagoi_agreement *agreed) {
    if (agreed->max[MAX_WRITES] && agreed->max[MAX_READS])
        return sagoi_fail(SAGO_ERR_MISMATCH, "some ranks write and some read in one step");
    composed->request.direction = agreed->max[MAX_READS] ? SAGOI_FROM_FILE : SAGOI_TO_FILE;
    return SAGO_OK;
}

static int64_t kind_of(const sagoi_composed *composed) {
    bool write = composed->request.direction == SAGOI_TO_FILE;
    if (composed->flush)
        return SAGOI_KIND_FLUSH;
    if (composed->type == SAGOI_DECLARED)
        return SAGOI_KIND_STEP;
    if (composed->request.nonblocking)
        return write ? SAGOI_KIND_START_WRITE : SAGOI_KIND_START_READ;
    return write ? SAGOI_KIND_ACCESS_WRITE : SAGOI_KIND_ACCESS_READ;
}

static void take_size(sagoi_call *call, const sagoi_agreement *agreed) {
    call->size = agreed->max[MAX_SIZE];
    call->sparse = agreed->max[MAX_SPARSE];
    call->in_place = !call->sparse && call->high <= call->size;
    if (call->composed->request.direction == SAGOI_FROM_FILE)
        call->composed->request.limit = call->size;
}

/* Asks for the size in a read that turns out to be planned (needs_size()). */
static sago_status ask_size(sagoi_call *call) {
    sagoi_agreement agreed = {0};
    sago_status status = look_at_file(call->file, true, &agreed);
    status = agree_call(call->file, status, SAGOI_KIND_SIZE, &agreed);
    if (!status)
        take_size(call, &agreed);
    call->sized = true;
    return status;
}

/* May another way into the file write to it during this call?  The question matters only where holes may be
 * sieved. */
static bool others_may_write(const sagoi_call *call) {
    const sagoi_composed *composed = call->composed;
    bool asked = call->file->hints.sieve == SAGOI_CHOICE_AUTO && composed->request.direction == SAGOI_TO_FILE &&
                 !composed->request.nonblocking;
    return !asked || !sagoi_is_exclusive(call->file);
}

static sago_status enter(sagoi_call *call, sago_status status, sagoi_agreement *agreed) {
    sago_file *file = call->file;
    sagoi_composed *composed = call->composed;
    memset(agreed, 0, sizeof *agreed);
    call->sized = needs_size(call);
    if (call->sized) {
        sago_status looked = look_at_file(file, composed->request.direction == SAGOI_FROM_FILE, agreed);
        status = status ? status : looked;
    }
    describe_request(file, composed, agreed);
    agreed->max[MAX_WRITES] = !composed->follows && composed->request.direction == SAGOI_TO_FILE;
    agreed->max[MAX_READS] = !composed->follows && composed->request.direction == SAGOI_FROM_FILE;
    agreed->max[MAX_EXCEEDED] = sagoi_share_exceeded(file);
    agreed->max[MAX_STAGED] = sagoi_request_is_staged(&composed->request);
    /* An independent write of this rank may have come after another rank's early move, which then has to be
     * repeated. */
    agreed->max[MAX_LEFT] = !call->first || file->own.strayed;
    agreed->max[MAX_PACE] =
        file->network->found.assumed ? sagoi_circle_pace(file->team->circle, SAGOI_PACE_CALLS) : 0;
    file->own.strayed = false;
    agreed->sum[SUM_OTHERS] = others_may_write(call);
    sagoi_rule_tell(file, &agreed->max[MAX_BLOCK]);
    status = agree_call(file, status, kind_of(composed), agreed);
    if (!status && composed->type == SAGOI_DECLARED)
        status = follow_direction(composed, agreed);
    if (!status)
        status = sagoi_rule_hear(file, &agreed->max[MAX_BLOCK]);
    if (status)
        return status;
    bool empty = agreed->max[MAX_HIGH] == INT64_MIN;
    call->low = empty ? 0 : -agreed->max[MAX_MINUS_LOW];
    call->high = empty ? 0 : agreed->max[MAX_HIGH];
    call->staged = agreed->max[MAX_STAGED];
    call->most_runs = agreed->max[MAX_RUNS];
    call->all_first = !agreed->max[MAX_LEFT];
    call->pace = agreed->max[MAX_PACE];
    call->exclusive = agreed->sum[SUM_OTHERS] == 0;
    if (!call->all_first || composed->request.direction == SAGOI_TO_FILE)
        take_size(call, agreed);
    return SAGO_OK;
}

sago_status sagoi_engine_agree(sago_file *file, sago_status status, int64_t kind, int64_t argument) {
    sagoi_agreement agreed = {0};
    if (!status) { /* After an error the argument may be any number, also the one that has no negative. */
        agreed.max[MAX_ARGUMENT] = argument;
        agreed.max[MAX_MINUS_ARGUMENT] = -argument;
    }
    status = agree_call(file, status, kind, &agreed);
    if (status)
        return status;
    if (agreed.max[MAX_ARGUMENT] != -agreed.max[MAX_MINUS_ARGUMENT])
        return sagoi_fail(SAGO_ERR_MISMATCH,
                          "ranks gave different arguments to one collective call: %lld and %lld",
                          (long long)agreed.max[MAX_ARGUMENT], (long long)-agreed.max[MAX_MINUS_ARGUMENT]);
    return SAGO_OK;
}

sago_status sagoi_engine_agree_any(sago_file *file, sago_status status, int64_t kind, bool mine, bool *any) {
    sagoi_agreement agreed = {.max[MAX_ARGUMENT] = mine};
    status = agree_call(file, status, kind, &agreed);
    *any = agreed.max[MAX_ARGUMENT];
    return status;
}

sago_status sagoi_engine_agree_deferral(sago_file *file, sagoi_deferral_facts *facts, sago_status *late) {
    enum { MAX_LARGEST = MAX_HIGH, MAX_MINUS_ROOM = MAX_MINUS_LOW, MAX_HARMFUL = MAX_SPARSE, MAX_LATE = MAX_SIZE };
    sagoi_agreement agreed = {0};
    agreed.max[MAX_ARGUMENT] = facts->calls;
    agreed.max[MAX_MINUS_ARGUMENT] = -facts->calls;
    agreed.max[MAX_LARGEST] = facts->largest;
    agreed.max[MAX_MINUS_ROOM] = -facts->room;
    agreed.max[MAX_HARMFUL] = facts->harmful;
    agreed.max[MAX_LATE] = sagoi_verdict_code(file->team, *late);
    sago_status status = agree_call(file, SAGO_OK, SAGOI_KIND_FLUSH, &agreed);
    if (status)
        return status;
    if (agreed.max[MAX_ARGUMENT] != -agreed.max[MAX_MINUS_ARGUMENT])
        return sagoi_fail(SAGO_ERR_MISMATCH,
                          "ranks have made different numbers of collective writes: %lld and %lld",
                          (long long)agreed.max[MAX_ARGUMENT], (long long)-agreed.max[MAX_MINUS_ARGUMENT]);
    facts->largest = agreed.max[MAX_LARGEST];
    facts->room = -agreed.max[MAX_MINUS_ROOM];
    facts->harmful = agreed.max[MAX_HARMFUL];
    *late = sagoi_verdict(file->team, agreed.max[MAX_LATE]);
    return SAGO_OK;
}

/* ---- Planning ---- */

/* The facts of one node, as the leaders tell each other. */
typedef struct node_facts {
    int64_t low, high, bytes, runs, ranks, cores, memory;
    uint64_t cover;
    int64_t verdict;
    sagoi_node_period period;
    int64_t histogram[SAGOI_REGIONS]; /* several nodes: bytes of each region of the accessed range */
} node_facts;
_Static_assert(sizeof(node_facts) <= SAGOI_SHARE_BYTES, "leaders have room for it");
_Static_assert((int)SAGOI_REGIONS == (int)SAGOI_COUNTS, "a region is a count that the leader sums");

enum { SUM_COVER, SUM_BYTES, SUM_RUNS, SUM_MEMORY_PARTS };
/* Where other agreements have what measuring a shape does not need. */
enum { MAX_PERIOD = MAX_ARGUMENT, MAX_MINUS_PERIOD = MAX_MINUS_ARGUMENT, MAX_PERIOD_HIGH = MAX_SIZE };

/* Counts this rank's bytes in each region of the range that all ranks access.  The leader sums the counts of its
 * node.
 */
static void count_regions(const sagoi_call *call) {
    const sagoi_request *request = &call->composed->request;
    int64_t *counts = sagoi_node_counts(call->file->team), origin, region, before = 0;
    sagoi_shape_regions(call->low, call->high, &origin, &region);
    memset(counts, 0, SAGOI_REGIONS * sizeof *counts);
    for (int64_t r = 0; r < SAGOI_REGIONS && request->nstreams > 0 && before < call->composed->bytes; r++) {
        int64_t end, below = 0;
        if (sagoi_mul(r + 1, region, &end) || sagoi_add(origin, end, &end))
            end = INT64_MAX;
        for (int64_t i = 0; end > request->low && i < request->nstreams; i++)
            below += sagoi_extents_bytes_below(&request->streams[i].file, end);
        counts[r] = below - before;
        before = below;
    }
}

/* The ranks of a node fill a part of each period together. */
static void describe_period(const sagoi_request *request, sagoi_agreement *mine) {
    sagoi_period period =
        request->nstreams == 1 ? sagoi_extents_period(&request->streams[0].file) : (sagoi_period){0, 0};
    mine->max[MAX_PERIOD] = request->nstreams > 0 ? period.bytes : INT64_MIN;
    mine->max[MAX_MINUS_PERIOD] = request->nstreams > 0 ? -period.bytes : INT64_MIN;
    mine->max[MAX_PERIOD_HIGH] =
        request->nstreams > 0 ? sagoi_add_limited(request->low, period.length) : INT64_MIN;
}

static sagoi_node_period period_of_node(const sagoi_agreement *of_node) {
    int64_t period = of_node->max[MAX_PERIOD];
    if (period <= 0 || period != -of_node->max[MAX_MINUS_PERIOD])
        return (sagoi_node_period){0, 0};
    int64_t bytes = of_node->max[MAX_PERIOD_HIGH] + of_node->max[MAX_MINUS_LOW];
    return bytes <= period ? (sagoi_node_period){period, bytes} : (sagoi_node_period){0, 0};
}

/* The leader describes its node. */
static void describe_node(void *arg, const sagoi_agreement *of_node, void *described) {
    const sagoi_call *call = arg;
    const sagoi_team *team = call->file->team;
    bool nothing = of_node->max[MAX_HIGH] == INT64_MIN;
    node_facts *facts = described;
    *facts = (node_facts){.low = nothing ? 0 : -of_node->max[MAX_MINUS_LOW],
                          .high = nothing ? 0 : of_node->max[MAX_HIGH],
                          .bytes = (int64_t)of_node->sum[SUM_BYTES],
                          .runs = (int64_t)of_node->sum[SUM_RUNS],
                          .ranks = team->local_size,
                          .cores = team->cores,
                          .memory = sagoi_share_of_node(call->file, (int64_t)of_node->sum[SUM_MEMORY_PARTS]),
                          .cover = of_node->sum[SUM_COVER],
                          .verdict = of_node->max[MAX_VERDICT],
                          .period = period_of_node(of_node)};
    if (team->nodes > 1)
        sagoi_sum_node_counts(team, facts->histogram);
}

/* Reduces the shape: per node, and whether all runs together tile the range.  `status` is agreed on, too. */
static sago_status measure_shape(sagoi_call *call, sago_status status, const node_facts **facts, bool *dense) {
    sago_file *file = call->file;
    const sagoi_request *request = &call->composed->request;
    sagoi_agreement mine = {.max[MAX_VERDICT] = sagoi_verdict_code(file->team, status)};
    const void *all = NULL;
    mine.sum[SUM_COVER] = request->direction == SAGOI_TO_FILE ? cover_of(file, request) : 0;
    mine.sum[SUM_BYTES] = (uint64_t)call->composed->bytes;
    mine.sum[SUM_RUNS] = (uint64_t)call->composed->runs;
    mine.sum[SUM_MEMORY_PARTS] = (uint64_t)sagoi_share_part();
    mine.max[MAX_MINUS_LOW] = request->nstreams ? -request->low : INT64_MIN;
    mine.max[MAX_HIGH] = request->nstreams ? request->high : INT64_MIN;
    describe_period(request, &mine);
    if (file->team->nodes > 1)
        count_regions(call);
    status = sagoi_share_nodes(file->team, &mine, describe_node, call, sizeof(node_facts), &all);
    if (status)
        return status;
    uint64_t cover = 0;
    int64_t verdict = 0;
    *facts = all;
    for (int i = 0; i < file->team->nodes; i++) {
        cover += (*facts)[i].cover;
        verdict = sagoi_max(verdict, (*facts)[i].verdict);
    }
    *dense = covers(call, cover);
    return sagoi_verdict(file->team, verdict);
}

static sagoi_target describe_target(const sagoi_call *call) {
    const sago_file *file = call->file;
    const sagoi_layout *layout = sagoi_store_layout(file->store);
    const sagoi_subfiles *subfiles = file->unruled ? NULL : sagoi_store_subfiles(file->store);
    bool reading = call->composed->request.direction == SAGOI_FROM_FILE;
    return (sagoi_target){.block = layout->block,
                          .lock_unit = layout->lock_unit,
                          .stripe_unit = layout->stripe_unit,
                          .stripe_count = layout->stripe_count,
                          .stripe_first = layout->stripe_first,
                          .subfiles = subfiles ? *subfiles : (sagoi_subfiles){0, 0},
                          .mappable = file->common.mappable,
                          .sparse = reading && call->sparse};
}

/* The fences of one-sided movement wait inside MPI, where a nonblocking call must not wait.  One-sided movement
 * also hands the caller's memory to MPI, which may not reach the memory of a device. */
static bool forgoes_rma(const sagoi_call *call) {
    return (call->composed->request.nonblocking || call->staged) && call->file->hints.move == SAGOI_MOVE_RMA;
}

/* From the facts of all nodes to a plan; `limit` caps every node's memory, 0: no memory is shared at all. */
static sago_status make_plan(const sagoi_call *call, const node_facts *facts, bool dense, int64_t limit,
                             sagoi_plan *plan) {
    sago_file *file = call->file;
    int64_t nodes = file->team->nodes, histogram = SAGOI_REGIONS * (int64_t)sizeof(int64_t);
    int64_t size =
        nodes * ((int64_t)(sizeof(sagoi_node) + sizeof(sagoi_node_shape) + sizeof(sagoi_node_period)) + histogram);
    sagoi_node *node = sagoi_budget_alloc(&file->budget, size);
    if (!node)
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory to plan for %lld nodes", (long long)nodes);
    sagoi_node_shape *shapes = (sagoi_node_shape *)(node + nodes);
    sagoi_node_period *periods = (sagoi_node_period *)(shapes + nodes);
    int64_t *regions = (int64_t *)(periods + nodes);
    for (int64_t i = 0; i < nodes; i++) {
        node[i] = (sagoi_node){facts[i].ranks, facts[i].cores, sagoi_min(facts[i].memory, limit),
                               file->network->place[i]};
        periods[i] = facts[i].period;
        memcpy(regions + i * SAGOI_REGIONS, facts[i].histogram, (size_t)histogram);
        shapes[i] = (sagoi_node_shape){facts[i].low, facts[i].high, facts[i].bytes, facts[i].runs};
    }
    sagoi_machine machine = {nodes,
                             node,
                             &file->network->found.topology,
                             file->network->found.tuned,
                             sagoi_pace_rate(call->pace),
                             file->network->found.assumed};
    sagoi_shape shape = {.write = call->composed->request.direction == SAGOI_TO_FILE,
                         .dense = dense,
                         .most_runs = call->most_runs,
                         .nodes = nodes,
                         .node = shapes,
                         .histogram = nodes > 1 ? regions : NULL,
                         .periods = periods};
    sagoi_shape_regions(call->low, call->high, &shape.origin, &shape.region);
    sagoi_target target = describe_target(call);
    sagoi_hints hints = file->hints;
    if (forgoes_rma(call))
        hints.move = SAGOI_MOVE_PACKED;
    if (limit == 0)
        hints.strategy = SAGOI_STRATEGY_DIRECT;
    sago_status status = sagoi_plan_make(&machine, &shape, &target, &hints, plan);
    sagoi_share_apply(file, facts[file->team->node].memory);
    sagoi_budget_free(&file->budget, node, size);
    return status;
}

/* Makes a plan and gets the plan's node-shared memory.  The ranks of a node get that memory together, so no rank
 * tries if one of them has no plan.  All ranks learn how it went on every rank.  *unplanned: some rank could not
 * make the plan. */
static sago_status plan_once(const sagoi_call *call, const node_facts *facts, bool dense, int64_t limit,
                             sagoi_plan *plan, bool *unplanned) {
    enum { MAX_UNPLANNED = 1 };
    sago_file *file = call->file;
    int64_t missing = 0;
    sago_status status = make_plan(call, facts, dense, limit, plan);
    sagoi_agreement agreed = {.max[MAX_UNPLANNED] = status != SAGO_OK};
    sago_status met = sagoi_gate_sum(file->team, status != SAGO_OK, &missing);
    if (met)
        return met;
    if (missing == 0 && plan->strategy == SAGOI_STRATEGY_AGGREGATED)
        status = sagoi_reserve_windows(file, plan);
    agreed.max[MAX_VERDICT] = sagoi_verdict_code(file->team, status);
    met = sagoi_agree(file->team, &agreed, NULL, NULL, NULL);
    *unplanned = agreed.max[MAX_UNPLANNED];
    return met ? met : sagoi_verdict(file->team, agreed.max[MAX_VERDICT]);
}

/* Where the memory cannot be had, plans again with half of the memory, and at the end with none: then each rank
 * moves its own runs. */
static sago_status plan_within_memory(const sagoi_call *call, const node_facts *facts, bool dense,
                                      sagoi_plan *plan) {
    sago_file *file = call->file;
    for (int64_t limit = INT64_MAX;;) {
        bool unplanned = false;
        sago_status status = plan_once(call, facts, dense, limit, plan, &unplanned);
        if (status != SAGO_ERR_MEMORY || limit == 0 || (unplanned && limit == INT64_MAX))
            return status;
        int64_t tried = 0;
        for (int64_t i = 0; i < file->team->nodes; i++)
            tried = sagoi_max(tried, sagoi_min(facts[i].memory, limit));
        limit = unplanned ? 0 : tried / 2;
        sagoi_plan_cleanup(plan);
        sagoi_cache_keep_only(&file->cache, call->entry); /* the windows of the others are gone */
    }
}

static sago_status plan_anew(sagoi_call *call, const sagoi_cache_key *key) {
    sago_file *file = call->file;
    const node_facts *facts = NULL;
    bool dense = false;
    sago_status status = sagoi_cache_reserve(&file->cache);
    sagoi_drop_exchanges(file); /* The plan of an exchange may have to make room for the new plan. */
    status = measure_shape(call, status, &facts, &dense);
    if (status)
        return status;
    call->entry = sagoi_cache_insert(&file->cache, key);
    status = plan_within_memory(call, facts, dense, &call->entry->plan);
    if (status)
        sagoi_cache_drop(&file->cache, call->entry);
    return status;
}

/* A plan may be used again this many bytes further on in the file, or a multiple of that. */
static int64_t moving_unit(const sago_file *file) {
    const sagoi_subfiles *subfiles = file->unruled ? NULL : sagoi_store_subfiles(file->store);
    return subfiles ? subfiles->block : sagoi_max(1, sagoi_store_layout(file->store)->stripe_unit);
}

static sago_status find_plan(sagoi_call *call, const sagoi_agreement *agreed) {
    sago_file *file = call->file;
    sagoi_cache_key key = {.shape = {agreed->sum[SUM_SHAPE_LOW], agreed->sum[SUM_SHAPE_HIGH]},
                           .weighted = agreed->sum[SUM_WEIGHTED],
                           .weights = agreed->sum[SUM_WEIGHTS],
                           .low = call->low};
    if (call->composed->request.direction == SAGOI_FROM_FILE && call->sparse)
        key.shape.low++; /* A file with holes is not mapped for reading, so the call has another plan. */
    if (forgoes_rma(call))
        key.shape.high++; /* A call that forgoes one-sided movement has another plan than one that does not. */
    if (sagoi_store_layout(file->store)->stripe_unit > 0)
        key.shape.high += (uint64_t)call->pace << 8; /* The pace of gathering decides which ranks gather. */
    if (agreed->max[MAX_EXCEEDED])
        sagoi_share_give_back(file);
    call->entry =
        file->hints.plan_cache > 0 ? sagoi_cache_find(&file->cache, &key, moving_unit(file), &call->shift) : NULL;
    call->hit = call->entry != NULL;
    if (call->hit) {
        file->stats.plan_hits++;
        return SAGO_OK;
    }
    call->shift = 0;
    file->stats.plan_misses++;
    sago_status status = plan_anew(call, &key);
    if (!status)
        (void)snprintf(file->stats.decision, sizeof file->stats.decision, "%s", call->entry->plan.reasons);
    return status;
}

/* ---- Moving ---- */

/* A flush moves the data of calls that were counted when they were made, and is no call itself. */
static void count_route(const sagoi_call *call, sago_route route) {
    if (!call->composed->flush)
        call->file->stats.routes[route]++;
}

static sago_status move(sagoi_call *call) {
    sago_file *file = call->file;
    const sagoi_plan *plan = &call->entry->plan;
    switch (sagoi_route_planned(plan->strategy, plan->map_in_place, call->in_place)) {
    case SAGOI_METHOD_MAPPED:
        file->stats.mapped_calls++;
        count_route(call, SAGO_ROUTE_TOGETHER_MAPPED);
        return sagoi_run_mapped(call);
    case SAGOI_METHOD_AGGREGATED:
        file->stats.aggregated_calls++;
        count_route(call, SAGO_ROUTE_TOGETHER_AGGREGATED);
        file->stats.rounds += plan->rounds;
        return sagoi_run_aggregated(call);
    default:
        file->stats.direct_calls++;
        count_route(call, SAGO_ROUTE_TOGETHER_DIRECT);
        return sagoi_run_direct(file, call->composed);
    }
}

/* Where no rank has more than one run, the opening agreement says enough to do without a plan.  Most calls have
 * more runs or one node: they are spared the collecting of what sagoi_route_gathers_nothing() looks at. */
static bool goes_alone(const sagoi_call *call, const sagoi_agreement *agreed) {
    if (call->most_runs != 1 || call->file->team->nodes == 1)
        return false;
    const sagoi_totals all = {.nodes = call->file->team->nodes,
                              .span = call->high - call->low,
                              .bytes = (int64_t)agreed->sum[SUM_ALL_BYTES],
                              .runs = (int64_t)agreed->sum[SUM_ALL_RUNS],
                              .most_runs = call->most_runs,
                              .write = call->composed->request.direction == SAGOI_TO_FILE,
                              .topology = &call->file->network->found.topology,
                              .gathered = sagoi_pace_rate(call->pace),
                              .assumed = call->file->network->found.assumed};
    const sagoi_target target = describe_target(call);
    return sagoi_route_gathers_nothing(&all, &target, &call->file->hints);
}

/* May a rank leave the call without an agreement?  A nonblocking call that the ranks started together is done on
 * all ranks at once, so the ranks agree. */
static bool leaves_alone(const sagoi_call *call) {
    return sagoi_route_leaves_alone(sagoi_composed_call(call->composed), &call->file->common);
}

/* Ends a call that the other ranks may not have finished yet: this rank notes what it did last, as every rank that
 * goes alone does. */
static sago_status leave_alone(sagoi_call *call, sago_status status) {
    sago_file *file = call->file;
    bool write = call->composed->request.direction == SAGOI_TO_FILE;
    file->own.last = write ? SAGOI_LAST_WRITE : SAGOI_LAST_READ;
    return sagoi_engine_end_alone(file, status);
}

/* At most this many streams are read as one run.  Estimated: a step has seldom more variables. */
enum { LONE_STREAMS = 32 };

/* Lists the streams of one run of the file, which lie there one after another.  false: the run has to pass through
 * a buffer. */
static bool list_lone(const sagoi_request *request, sagoi_io_run runs[LONE_STREAMS]) {
    int64_t off = request->low;
    if (request->nonblocking || request->nstreams > LONE_STREAMS)
        return false;
    for (int64_t i = 0; i < request->nstreams; i++) {
        const sagoi_stream *stream = &request->streams[i];
        if (stream->memory.extents.pattern || stream->memory.staging)
            return false;
        runs[i] = (sagoi_io_run){off, sagoi_extents_bytes(&stream->file), stream->memory.base};
        off += runs[i].len;
    }
    return true;
}

/* Reads one run without asking for the file's size first: how much the read brings tells where the file ends. */
static sago_status read_lone(sagoi_call *call) {
    sago_file *file = call->file;
    sagoi_request *request = &call->composed->request;
    sagoi_io_run runs[LONE_STREAMS];
    call->size = request->high;
    if (request->nstreams == 0)
        return SAGO_OK;
    if (!list_lone(request, runs)) {
        sagoi_look look;
        sago_status status = sagoi_store_look(file->store, 0, 1, &look);
        call->size = request->limit = look.size;
        return status ? status : sagoi_run_direct(file, call->composed);
    }
    int64_t bytes = 0;
    double start = sagoi_phase_begin(file);
    sago_status status = sagoi_read_runs(file, runs, request->nstreams, &bytes);
    (void)sagoi_phase_next(file, SAGO_PHASE_STORE, start);
    call->size = request->low + bytes;
    return status;
}

/* Moves this rank's part of a call in which no rank has more than one run. */
static sago_status move_lone(sagoi_call *call) {
    bool by_size = call->sized || call->composed->request.direction == SAGOI_TO_FILE;
    sago_status status = by_size ? sagoi_run_direct(call->file, call->composed) : read_lone(call);
    return status ? status : sagoi_request_finish_staging(&call->composed->request);
}

/* Moves this rank's part before the ranks meet, where nothing else is likely to be left to do. */
static sago_status go_first(sagoi_call *call) {
    const sago_file *file = call->file;
    const sagoi_composed *composed = call->composed;
    const sagoi_route_call kind = sagoi_composed_call(composed);
    if (composed->flush || composed->follows || file->unruled || !sagoi_route_may_go_first(kind, &file->common))
        return SAGO_OK;
    const sagoi_route_wanted wanted = sagoi_engine_wanted(composed);
    call->first = sagoi_route_goes_first(kind, &file->common, &file->own, &wanted);
    return call->first && wanted.bytes > 0 ? move_lone(call) : SAGO_OK;
}

static sago_status run_alone(sagoi_call *call, const sagoi_agreement *agreed) {
    static const char why[] = "strategy: direct, no rank has more than one run: nothing to gather\n";
    sago_file *file = call->file;
    call->composed->all_dense = covers(call, agreed->sum[SUM_LONE_COVER]);
    file->stats.direct_calls++;
    count_route(call, leaves_alone(call) ? SAGO_ROUTE_ALONE_DIRECT : SAGO_ROUTE_TOGETHER_DIRECT);
    memcpy(file->stats.decision, why, sizeof why);
    if (call->all_first)
        return SAGO_OK;
    sago_status status = move_lone(call);
    if (leaves_alone(call))
        return leave_alone(call, status);
    double start = sagoi_now();
    status = sagoi_agree_status(file->team, status);
    (void)sagoi_phase_end(&file->stats, SAGO_PHASE_WAIT, start);
    return status;
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
    enum { MAX_FORGETFUL = 1, MAX_SENDING = 2, SUM_SENT = 0 };
    sagoi_team *team = call->file->team;
    sagoi_agreement agreed = {0};
    double start = sagoi_now();
    agreed.max[MAX_VERDICT] = sagoi_verdict_code(team, status);
    agreed.max[MAX_FORGETFUL] = call->forgetful;
    agreed.max[MAX_SENDING] = (int64_t)(call->sending * 1e6);
    agreed.sum[SUM_SENT] = (uint64_t)call->sent;
    sago_status met = sagoi_agree(team, &agreed, NULL, NULL, NULL);
    (void)sagoi_phase_end(&call->file->stats, SAGO_PHASE_WAIT, start);
    if (met)
        return met;
    learn_pace(call, (int64_t)agreed.sum[SUM_SENT], agreed.max[MAX_SENDING]);
    call->entry->received.complete = !agreed.max[MAX_FORGETFUL] && !agreed.max[MAX_VERDICT];
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

static sago_status run_planned(sagoi_call *call, const sagoi_agreement *agreed) {
    sago_file *file = call->file;
    double start = sagoi_now();
    sago_status status = find_plan(call, agreed);
    (void)sagoi_phase_end(&file->stats, SAGO_PHASE_PLAN, start);
    if (status)
        return status;
    call->composed->all_dense = call->entry->plan.dense;
    status = move(call);
    if (!status)
        status = sagoi_request_finish_staging(&call->composed->request);
    status = leave(call, status);
    sagoi_mapping_remember(&file->mapping, file->store);
    if (status)
        sagoi_drop_exchanges(file); /* An exchange may have stopped halfway. */
    return status;
}

static sago_status run(sago_file *file, sagoi_composed *composed, sago_status status, int64_t *bytes) {
    sagoi_call call = {.file = file, .composed = composed};
    sagoi_agreement agreed;
    const sagoi_request *request = &composed->request;
    *bytes = 0;
    if (!status)
        status = go_first(&call);
    double start = sagoi_now();
    status = enter(&call, status, &agreed);
    (void)sagoi_phase_end(&file->stats, SAGO_PHASE_PLAN, start);
    if (status)
        return status;
    if (call.low == call.high) {
        count_route(&call, SAGO_ROUTE_NOTHING);
        count_call(&call, 0);
        return SAGO_OK;
    }
    if (file->unruled && request->direction == SAGOI_TO_FILE)
        status = sagoi_rule_make(&call);
    if (status)
        return status;
    composed->all_low = call.low;
    composed->all_high = call.high;
    bool alone = goes_alone(&call, &agreed), reads = request->direction == SAGOI_FROM_FILE;
    if (!composed->flush)
        sagoi_route_set_precedent(&file->own, !reads, alone, composed->bytes);
    alone = alone || call.all_first;
    if (reads && !alone && !call.sized)
        status = ask_size(&call);
    if (!status)
        status = alone ? run_alone(&call, &agreed) : run_planned(&call, &agreed);
    if (status)
        return status;
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
    sagoi_agreement agreed;
    sago_status status = enter(&call, SAGO_OK, &agreed);
    if (!status && call.low < call.high)
        status = find_plan(&call, &agreed);
    return status;
}

/* The ranks of a node share the node's page cache, so one rank syncs for all of them.  Of a file in subfiles each
 * rank syncs the subfiles that it wrote. */
sago_status sagoi_sync_here(const sago_file *file) {
    bool mine = file->team->local_rank == 0 || sagoi_store_subfile_count(file->store) > 0;
    return mine ? sagoi_store_sync(file->store) : SAGO_OK;
}
