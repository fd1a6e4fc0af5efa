#include "engine/rule.h"

#include <stdlib.h>

#include "base/checked.h"

void sagoi_rule_tell(const sago_file *file, int64_t *block) {
    const sagoi_subfiles *rule = sagoi_store_subfiles(file->store);
    if (file->unruled)
        *block = rule ? rule->block : 0;
}

/* Plans that were made before assume a file without blocks, so they go. */
static sago_status take_rule(sago_file *file, int64_t block) {
    sago_status status = sagoi_store_take_rule(file->store, block);
    file->unruled = false;
    file->hints.subfile_block = block;
    sagoi_drop_exchanges(file);
    sagoi_cache_keep_only(&file->cache, NULL);
    return status;
}

sago_status sagoi_rule_hear(sago_file *file, int64_t *block) {
    if (!file->unruled)
        return SAGO_OK;
    sago_status status = *block > 0 ? take_rule(file, *block) : SAGO_OK;
    *block = 0;
    return status;
}

/* ---- Making it ---- */

/* Of a node. */
typedef struct rule_facts {
    int64_t bytes, first_low, first_high, next_low;
} rule_facts;

enum { SUM_BYTES };
enum { MAX_VERDICT, MAX_MINUS_FIRST_LOW, MAX_FIRST_HIGH, MAX_MINUS_NEXT_LOW };

static void describe_part(const sagoi_composed *composed, sagoi_agreement *mine) {
    const sagoi_request *request = &composed->request;
    int64_t low = 0, high = 0;
    mine->sum[SUM_BYTES] = (uint64_t)composed->bytes;
    mine->max[MAX_MINUS_FIRST_LOW] = mine->max[MAX_FIRST_HIGH] = mine->max[MAX_MINUS_NEXT_LOW] = INT64_MIN;
    if (request->nstreams > 0) {
        sagoi_extents_bounds(&request->streams[0].file, &low, &high);
        mine->max[MAX_MINUS_FIRST_LOW] = -low;
        mine->max[MAX_FIRST_HIGH] = high;
    }
    if (request->nstreams > 1) {
        sagoi_extents_bounds(&request->streams[1].file, &low, &high);
        mine->max[MAX_MINUS_NEXT_LOW] = -low;
    }
}

static void describe_node(void *arg, const sagoi_agreement *of_node, void *described) {
    rule_facts *facts = described;
    (void)arg;
    bool none = of_node->max[MAX_FIRST_HIGH] == INT64_MIN, last = of_node->max[MAX_MINUS_NEXT_LOW] == INT64_MIN;
    *facts = (rule_facts){.bytes = (int64_t)of_node->sum[SUM_BYTES],
                          .first_low = none ? INT64_MAX : -of_node->max[MAX_MINUS_FIRST_LOW],
                          .first_high = none ? 0 : of_node->max[MAX_FIRST_HIGH],
                          .next_low = last ? INT64_MAX : -of_node->max[MAX_MINUS_NEXT_LOW]};
}

/* Rank 0 chooses the block; 0: the default. */
static sago_status choose_block(const sagoi_call *call, const rule_facts *facts, int64_t *block) {
    const sago_file *file = call->file;
    const sagoi_layout *layout = sagoi_store_layout(file->store);
    int64_t nodes = file->team->nodes;
    sagoi_first_access access = {
        .low = call->low, .high = call->high, .first_low = INT64_MAX, .next_low = INT64_MAX};
    sagoi_node *node = calloc((size_t)nodes, sizeof *node);
    int64_t *bytes = calloc((size_t)nodes, sizeof *bytes);
    access.bytes = bytes;
    for (int64_t i = 0; node && bytes && i < nodes; i++) {
        node[i].place = file->network->place[i];
        bytes[i] = facts[i].bytes;
        access.first_low = sagoi_min(access.first_low, facts[i].first_low);
        access.first_high = sagoi_max(access.first_high, facts[i].first_high);
        access.next_low = sagoi_min(access.next_low, facts[i].next_low);
    }
    sagoi_machine machine = {.nodes = nodes, .node = node, .topology = &file->network->found.topology};
    sago_status status =
        node && bytes ? SAGO_OK : sagoi_fail(SAGO_ERR_MEMORY, "no memory to look at %lld nodes", (long long)nodes);
    if (!status)
        *block = sagoi_subfiles_first_block(
            &machine, &access, sagoi_store_subfile_count(file->store),
            sagoi_max(layout->stripe_unit, sagoi_max(layout->block, layout->lock_unit)));
    free(node);
    free(bytes);
    return status;
}

sago_status sagoi_rule_make(const sagoi_call *call) {
    enum { MAX_RULE = 1 };
    sago_file *file = call->file;
    sagoi_agreement mine = {0}, agreed = {0};
    const void *all = NULL;
    int64_t block = 0;
    describe_part(call->composed, &mine);
    sago_status status = sagoi_describe_nodes(file->team, &mine, describe_node, NULL, sizeof(rule_facts), &all);
    if (status)
        return status;
    if (file->team->rank == 0) {
        status = choose_block(call, all, &block);
        if (!status)
            status = sagoi_store_make_rule(file->store, block);
        const sagoi_subfiles *rule = sagoi_store_subfiles(file->store);
        agreed.max[MAX_RULE] = rule ? rule->block : 0;
    }
    status = sagoi_agree_with(file->team, status, &agreed);
    return status ? status : take_rule(file, agreed.max[MAX_RULE]);
}
