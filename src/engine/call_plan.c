/* The plan of a collective call: found again, or made from the shape that the ranks measure together. */
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "engine/collective.h"
#include "engine/share.h"

/* ---- The shape ---- */

/* The facts of one node, as the leaders tell each other. */
typedef struct node_facts {
    int64_t low, high, bytes, runs, ranks, cores, memory;
    uint64_t cover;
    int64_t verdict;
    sagoi_node_period period;
    int64_t histogram[SAGOI_REGIONS]; /* several nodes: bytes of each region of the accessed range */
} node_facts;
_Static_assert(sizeof(node_facts) <= SAGOI_DESCRIBED_BYTES, "leaders have room for it");
_Static_assert((int)SAGOI_REGIONS == (int)SAGOI_COUNTS, "a region is a count that the leader sums");

enum { SUM_COVER, SUM_BYTES, SUM_RUNS, SUM_MEMORY_PARTS };
enum { MAX_VERDICT, MAX_MINUS_LOW, MAX_HIGH, MAX_PERIOD, MAX_MINUS_PERIOD, MAX_PERIOD_HIGH };

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

/* The part of the cover check's sum that this rank's runs make. */
static uint64_t cover_of(const sago_file *file, const sagoi_request *request) {
    uint64_t sum = 0;
    for (int64_t i = 0; i < request->nstreams; i++)
        sum += sagoi_extents_cover(&request->streams[i].file, file->cover_key);
    return sum;
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
    status = sagoi_describe_nodes(file->team, &mine, describe_node, call, sizeof(node_facts), &all);
    if (status)
        return status;
    uint64_t cover = 0;
    int64_t verdict = 0;
    *facts = all;
    for (int i = 0; i < file->team->nodes; i++) {
        cover += (*facts)[i].cover;
        verdict = sagoi_max(verdict, (*facts)[i].verdict);
    }
    *dense = sagoi_call_is_tiled(call, cover);
    return sagoi_verdict(file->team, verdict);
}

/* ---- The plan ---- */

sagoi_target sagoi_call_target(const sagoi_call *call) {
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

static bool forgoes_rma(const sagoi_call *call) {
    return sagoi_route_forgoes_rma(&call->file->hints, call->composed->request.nonblocking, call->staged);
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
                             sagoi_pace_rate(call->pace_log2),
                             file->network->found.assumed};
    sagoi_shape shape = {.write = call->composed->request.direction == SAGOI_TO_FILE,
                         .dense = dense,
                         .most_runs = call->most_runs,
                         .nodes = nodes,
                         .node = shapes,
                         .histogram = nodes > 1 ? regions : NULL,
                         .periods = periods};
    sagoi_shape_regions(call->low, call->high, &shape.origin, &shape.region);
    sagoi_target target = sagoi_call_target(call);
    sagoi_hints hints = file->hints;
    if (forgoes_rma(call))
        hints.move = SAGOI_MOVE_PACKED;
    if (limit == 0)
        hints.strategy = SAGOI_STRATEGY_DIRECT;
    sago_status status = sagoi_plan_make(&machine, &shape, &target, &hints, plan);
    sagoi_share_apply(file, facts[file->team->node].memory);
    sagoi_budget_free(&file->budget, node);
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
    status = sagoi_agree_with(file->team, status, &agreed);
    *unplanned = agreed.max[MAX_UNPLANNED];
    return status;
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

sago_status sagoi_call_find_plan(sagoi_call *call) {
    sago_file *file = call->file;
    sagoi_cache_key key = call->key;
    if (call->composed->request.direction == SAGOI_FROM_FILE && call->sparse)
        key.shape.low++; /* A file with holes is not mapped for reading, so the call has another plan. */
    if (forgoes_rma(call))
        key.shape.high++; /* A call that forgoes one-sided movement has another plan than one that does not. */
    if (sagoi_store_layout(file->store)->stripe_unit > 0)
        key.shape.high += (uint64_t)call->pace_log2 << 8; /* The pace of gathering decides which ranks gather. */
    if (call->exceeded)
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
