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

enum { SUM_BYTES };
enum { MAX_VERDICT, MAX_MINUS_LOW, MAX_HIGH, MAX_MINUS_FIRST_LOW, MAX_FIRST_HIGH, MAX_MINUS_NEXT_LOW };

sagoi_rule_part sagoi_rule_part_of(const sagoi_composed *composed) {
    const sagoi_request *request = &composed->request;
    sagoi_rule_part part = {.first_low = INT64_MAX, .next_low = INT64_MAX, .bytes = composed->bytes};
    int64_t high;
    if (request->nstreams > 0)
        sagoi_extents_bounds(&request->streams[0].file, &part.first_low, &part.first_high);
    if (request->nstreams > 1)
        sagoi_extents_bounds(&request->streams[1].file, &part.next_low, &high);
    if (request->low < request->high) {
        part.low = request->low;
        part.high = request->high;
    }
    return part;
}

static void describe_part(const sagoi_rule_part *part, sagoi_agreement *mine) {
    mine->sum[SUM_BYTES] = (uint64_t)part->bytes;
    mine->max[MAX_MINUS_LOW] = part->low < part->high ? -part->low : -INT64_MAX;
    mine->max[MAX_HIGH] = part->high;
    mine->max[MAX_MINUS_FIRST_LOW] = -part->first_low;
    mine->max[MAX_FIRST_HIGH] = part->first_high;
    mine->max[MAX_MINUS_NEXT_LOW] = -part->next_low;
}

static void describe_node(void *arg, const sagoi_agreement *of_node, void *described) {
    (void)arg;
    *(sagoi_rule_part *)described = (sagoi_rule_part){.low = -of_node->max[MAX_MINUS_LOW],
                                                      .high = of_node->max[MAX_HIGH],
                                                      .first_low = -of_node->max[MAX_MINUS_FIRST_LOW],
                                                      .first_high = of_node->max[MAX_FIRST_HIGH],
                                                      .next_low = -of_node->max[MAX_MINUS_NEXT_LOW],
                                                      .bytes = (int64_t)of_node->sum[SUM_BYTES]};
}

/* Rank 0 chooses the block; 0: the default. */
static sago_status choose_block(const sagoi_call *call, const sagoi_rule_part *part, int64_t *block) {
    const sago_file *file = call->file;
    const sagoi_layout *layout = sagoi_store_layout(file->store);
    int64_t nodes = file->team->nodes;
    sagoi_first_access access = {.low = INT64_MAX, .first_low = INT64_MAX, .next_low = INT64_MAX};
    sagoi_node *node = calloc((size_t)nodes, sizeof *node);
    int64_t *bytes = calloc((size_t)nodes, sizeof *bytes);
    access.bytes = bytes;
    for (int64_t i = 0; node && bytes && i < nodes; i++) {
        node[i].place = file->network->place[i];
        bytes[i] = part[i].bytes;
        access.low = sagoi_min(access.low, part[i].low);
        access.high = sagoi_max(access.high, part[i].high);
        access.first_low = sagoi_min(access.first_low, part[i].first_low);
        access.first_high = sagoi_max(access.first_high, part[i].first_high);
        access.next_low = sagoi_min(access.next_low, part[i].next_low);
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
    sagoi_rule_part part =
        call->composed->rule_part ? *call->composed->rule_part : sagoi_rule_part_of(call->composed);
    describe_part(&part, &mine);
    sago_status status =
        sagoi_describe_nodes(file->team, &mine, describe_node, NULL, sizeof(sagoi_rule_part), &all);
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
