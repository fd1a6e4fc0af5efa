/* The layout of a save: where each rank's bytes are in its group's stream, what the writers write, and whether the
 * blocks of all ranks tile their arrays.  It is made anew only when something else is protected. */
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/hash.h"
#include "ckpt/state.h"
#include "machine/memory.h"
#include "move/calls.h"
#include "move/collect.h"

#define PIECE (INT64_C(1) << 20)
#define SMALL_PIECE (INT64_C(64) << 10) /* Bytes of a piece where the budget is small. */

void sagoi_layout_cleanup(sagoi_layout_of_save *layout) {
    sagoi_intent_cleanup(&layout->intent);
    sagoi_part_cleanup(&layout->part);
    free(layout->slices);
    free(layout->before);
    *layout = (sagoi_layout_of_save){0};
}

/* ---- Do all ranks mean the same? ---- */

/* A hash of everything that must be equal on all ranks. */
static int64_t names_hash(const sagoi_dataset *data) {
    sagoi_hash hash = {0, 0};
    for (int64_t i = 0; i < data->n; i++) {
        sagoi_array_desc desc = data->entries[i].desc;
        if (desc.kind == SAGO_CKPT_LOCAL)
            desc.bytes = 0;
        hash = sagoi_hash_bytes(&desc, sizeof desc, hash);
    }
    return (int64_t)(hash.low >> 1);
}

static sago_status agree_names(sago_ckpt *ckpt, sago_status status) {
    return sagoi_agree_equal(ckpt->team, status, names_hash(&ckpt->data),
                             "ranks protect different names, types, shapes or sizes of shared data");
}

/* ---- Do the blocks tile the arrays? ---- */

typedef struct array_sums {
    uint64_t cover, bytes; /* bytes: of all blocks; for local data: of all ranks */
} array_sums;

static array_sums sums_of(const sago_ckpt *ckpt, int64_t i) {
    const sagoi_protected *entry = &ckpt->data.entries[i];
    array_sums sums = {0, 0};
    if (entry->desc.kind != SAGO_CKPT_ARRAY) {
        sums.bytes = entry->desc.kind == SAGO_CKPT_LOCAL ? (uint64_t)entry->desc.bytes : 0;
        return sums;
    }
    for (int64_t b = 0; b < entry->nblocks; b++) {
        const sagoi_box *box = &entry->boxes[b];
        sums.cover += sagoi_box_cover(box->start, box->count, entry->desc.ndims, ckpt->key + (uint64_t)i);
        sums.bytes += (uint64_t)sagoi_box_bytes(box, &entry->desc);
    }
    return sums;
}

static sago_status check_cover(const sago_ckpt *ckpt, const array_sums *sums) {
    static const int64_t origin[SAGO_CKPT_DIMS_MAX];
    for (int64_t i = 0; i < ckpt->data.n; i++) {
        const sagoi_array_desc *desc = &ckpt->data.entries[i].desc;
        if (desc->kind != SAGO_CKPT_ARRAY ||
            sums[i].cover == sagoi_box_cover(origin, desc->global, desc->ndims, ckpt->key + (uint64_t)i))
            continue;
        long long given = (long long)(sums[i].bytes / (uint64_t)desc->element),
                  wanted = (long long)(desc->bytes / desc->element);
        if (given < wanted)
            return sagoi_fail(SAGO_ERR_EXTENTS,
                              "the blocks of \"%s\" are incomplete: all ranks together have %lld of %lld elements",
                              desc->name, given, wanted);
        return sagoi_fail(SAGO_ERR_EXTENTS,
                          "blocks of \"%s\" overlap: all ranks together have %lld elements of an array of %lld",
                          desc->name, given, wanted);
    }
    return SAGO_OK;
}

static sago_status sum_arrays(sago_ckpt *ckpt, array_sums *sums) {
    for (int64_t i = 0; i < ckpt->data.n; i++)
        sums[i] = sums_of(ckpt, i);
    sago_status status =
        sagoi_allreduce(ckpt->team, ckpt->team->own, sums, 2 * ckpt->data.n, MPI_UINT64_T, MPI_SUM);
    return status ? status : check_cover(ckpt, sums);
}

/* ---- This rank's slices ---- */

static bool has_bytes(const sago_ckpt *ckpt, const sagoi_protected *entry) {
    return entry->desc.kind != SAGO_CKPT_SHARED || ckpt->team->rank == 0;
}

static int64_t count_slices(const sago_ckpt *ckpt) {
    int64_t n = 0;
    for (int64_t i = 0; i < ckpt->data.n; i++)
        n += ckpt->data.entries[i].nblocks;
    return n;
}

/* Bytes of this rank. */
static int64_t own_bytes(const sago_ckpt *ckpt) {
    int64_t bytes = 0;
    for (int64_t i = 0; i < ckpt->data.n; i++) {
        const sagoi_protected *entry = &ckpt->data.entries[i];
        if (!has_bytes(ckpt, entry))
            continue;
        if (entry->desc.kind != SAGO_CKPT_ARRAY)
            bytes += entry->desc.bytes;
        for (int64_t b = 0; entry->desc.kind == SAGO_CKPT_ARRAY && b < entry->nblocks; b++)
            bytes += sagoi_box_bytes(&entry->boxes[b], &entry->desc);
    }
    return bytes;
}

/* Adds one block: its places in memory and in the stream, and its description for the writer. */
static int64_t add_slice(sago_ckpt *ckpt, int64_t array, int64_t b, int64_t offset, sagoi_wire_out *out) {
    const sagoi_protected *entry = &ckpt->data.entries[array];
    sagoi_slice *slice = &ckpt->layout.slices[ckpt->layout.nslices];
    sagoi_stored_block block = {.array = array, .rank = ckpt->team->rank, .offset = offset};
    if (entry->desc.kind == SAGO_CKPT_ARRAY) {
        const sagoi_box *box = &entry->boxes[b];
        block.bytes = sagoi_box_bytes(box, &entry->desc);
        block.ndims = entry->desc.ndims;
        memcpy(block.start, box->start, sizeof block.start);
        memcpy(block.count, box->count, sizeof block.count);
        sagoi_cells cells = {entry->desc.ndims, entry->desc.element};
        if (block.bytes == 0 || !sagoi_overlap_make(&slice->region, cells, box, offset, box))
            return 0;
    } else {
        block.bytes = entry->desc.bytes;
        sagoi_overlap_flat(&slice->region, offset, block.bytes);
    }
    slice->memory = entry->data[b];
    ckpt->layout.nslices++;
    sagoi_block_encode(&block, out);
    return block.bytes;
}

static sago_status make_slices(sago_ckpt *ckpt, int64_t offset, sagoi_wire_out *out) {
    ckpt->layout.slices = calloc((size_t)count_slices(ckpt) + 1, sizeof *ckpt->layout.slices);
    if (!ckpt->layout.slices)
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory for the blocks of a checkpoint");
    for (int64_t i = 0; i < ckpt->data.n; i++)
        for (int64_t b = 0; has_bytes(ckpt, &ckpt->data.entries[i]) && b < ckpt->data.entries[i].nblocks; b++)
            offset += add_slice(ckpt, i, b, offset, out);
    return out->failed ? sagoi_fail(SAGO_ERR_MEMORY, "no memory for the blocks of a checkpoint") : SAGO_OK;
}

/* ---- The writers ---- */

typedef struct gathered {
    int *sizes, *places;
    char *bytes;
    int64_t total;
} gathered;

/* Collective: no rank waits for the message of a rank that has no memory for it. */
static sago_status check_room(sago_ckpt *ckpt, bool enough) {
    return sagoi_agree_status(ckpt->team,
                              enough ? SAGO_OK : sagoi_fail(SAGO_ERR_MEMORY, "too many blocks for one group"));
}

/* Gathers the descriptions of all the group's blocks at its writer. */
static sago_status gather_blocks(sago_ckpt *ckpt, const sagoi_wire_out *out, gathered *all) {
    const sagoi_groups *groups = &ckpt->groups;
    int size = out->len > INT32_MAX / 2 ? -1 : (int)out->len;
    all->sizes = calloc((size_t)groups->size, sizeof *all->sizes);
    all->places = calloc((size_t)groups->size, sizeof *all->places);
    sago_status status = check_room(ckpt, all->sizes && all->places && size >= 0);
    if (!status)
        status = sagoi_gather(ckpt->team, groups->mine, &size, sizeof size, all->sizes);
    if (status)
        return status;
    for (int i = 0; groups->rank == 0 && i < groups->size; i++) {
        all->places[i] = (int)all->total;
        all->total += all->sizes[i];
    }
    all->bytes = malloc((size_t)all->total + 1);
    status = check_room(ckpt, all->bytes && all->total <= INT32_MAX);
    sagoi_parts parts = {all->bytes, all->sizes, all->places};
    return status ? status : sagoi_gather_parts(ckpt->team, groups->mine, out->bytes, size, &parts);
}

static sago_status decode_blocks(sago_ckpt *ckpt, const gathered *all) {
    sagoi_part *part = &ckpt->layout.part;
    sagoi_wire_in in = {all->bytes, all->bytes + all->total, false};
    part->blocks = calloc((size_t)(all->total / 40) + 1, sizeof *part->blocks);
    if (!part->blocks)
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory for the blocks of a group");
    while (in.at < in.end && !in.failed)
        sagoi_block_decode(&in, &part->blocks[part->nblocks++]);
    return in.failed ? sagoi_fail(SAGO_ERR_IO, "the blocks of a group were cut in transit") : SAGO_OK;
}

static sago_status collect_blocks(sago_ckpt *ckpt, const sagoi_wire_out *out) {
    gathered all = {0};
    sago_status status = gather_blocks(ckpt, out, &all);
    if (!status && sagoi_is_writer(ckpt))
        status = decode_blocks(ckpt, &all);
    sagoi_free_received(ckpt->team, all.sizes);
    sagoi_free_received(ckpt->team, all.places);
    free(all.bytes);
    return status;
}

/* Tells every rank what every writer writes. */
static sago_status share_writers(sago_ckpt *ckpt, int64_t group_bytes) {
    const sagoi_groups *groups = &ckpt->groups;
    sagoi_intent *intent = &ckpt->layout.intent;
    int64_t *bytes = calloc((size_t)groups->nwriters, sizeof *bytes);
    sago_status status = check_room(ckpt, bytes != NULL);
    if (!status && sagoi_is_writer(ckpt))
        status = sagoi_allgather(ckpt->team, groups->writers, &group_bytes, sizeof group_bytes, bytes);
    if (!status)
        status = sagoi_bcast(ckpt->team, groups->mine, bytes, groups->nwriters * (int64_t)sizeof *bytes);
    for (int64_t w = 0, base = 0; !status && w < groups->nwriters; w++) {
        sagoi_writer_desc *writer = &intent->writers[w];
        writer->file = w * groups->files / groups->nwriters;
        base = w > 0 && writer->file == intent->writers[w - 1].file ? base : 0;
        writer->bytes = bytes[w];
        writer->base = base;
        base += sagoi_round_up(bytes[w], 4096);
        ckpt->layout.total += bytes[w];
        if (w >= groups->first_on_node && w < groups->first_on_node + groups->on_node)
            ckpt->layout.node_bytes += bytes[w];
    }
    free(bytes);
    return status;
}

/* ---- All together ---- */

static sago_status fill_intent(sago_ckpt *ckpt, const array_sums *sums) {
    sagoi_intent *intent = &ckpt->layout.intent;
    const sagoi_groups *groups = &ckpt->groups;
    int64_t memory = ckpt->hints.memory;
    intent->directory = ckpt->directory;
    intent->ranks = ckpt->team->size;
    intent->nodes = ckpt->team->nodes;
    intent->files = groups->files;
    intent->piece = memory > 0 && memory / (2 * ckpt->team->size) < PIECE ? SMALL_PIECE : PIECE;
    intent->arrays = calloc((size_t)ckpt->data.n + 1, sizeof *intent->arrays);
    intent->writers = calloc((size_t)groups->nwriters, sizeof *intent->writers);
    if (!intent->arrays || !intent->writers)
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory for the intent of a save");
    intent->narrays = ckpt->data.n;
    intent->nwriters = groups->nwriters;
    for (int64_t i = 0; i < ckpt->data.n; i++) {
        intent->arrays[i] = ckpt->data.entries[i].desc;
        if (intent->arrays[i].kind == SAGO_CKPT_LOCAL)
            intent->arrays[i].bytes = (int64_t)sums[i].bytes;
    }
    for (int64_t w = 0; w < groups->nwriters; w++)
        intent->writers[w].set = -1;
    return sagoi_sets_form(ckpt, intent);
}

/* Finds where each rank's bytes begin in the group's stream. */
static sago_status place_ranks(sago_ckpt *ckpt) {
    const sagoi_groups *groups = &ckpt->groups;
    int64_t mine = own_bytes(ckpt), sum = 0;
    int64_t *before = ckpt->layout.before = calloc((size_t)groups->size + 1, sizeof *before);
    sago_status status = check_room(ckpt, before != NULL);
    if (!status)
        status = sagoi_allgather(ckpt->team, groups->mine, &mine, sizeof mine, before);
    for (int i = 0; !status && i <= groups->size; i++) {
        int64_t bytes = before[i];
        before[i] = sum;
        sum += bytes;
    }
    return status;
}

static sago_status place_streams(sago_ckpt *ckpt) {
    const sagoi_groups *groups = &ckpt->groups;
    sagoi_wire_out out = {0};
    sago_status status = place_ranks(ckpt);
    if (!status)
        status = make_slices(ckpt, ckpt->layout.before[groups->rank], &out);
    status = sagoi_agree_status(ckpt->team, status);
    if (!status)
        status = sagoi_agree_status(ckpt->team, collect_blocks(ckpt, &out));
    free(out.bytes);
    if (status)
        return status;
    int64_t all = ckpt->layout.before[groups->size];
    sagoi_part *part = &ckpt->layout.part;
    part->writer = groups->writer;
    part->bytes = all;
    part->piece = ckpt->layout.intent.piece;
    return share_writers(ckpt, all);
}

/* The pool may use the hint's budget, or a quarter of the memory that the node has left. */
static sago_status size_pool(sago_ckpt *ckpt) {
    const sagoi_groups *groups = &ckpt->groups;
    int64_t memory = ckpt->hints.memory > 0 ? ckpt->hints.memory : sagoi_memory_available("") / 4;
    memory =
        sagoi_memory_share(memory, (int64_t)ckpt->team->local_size * SAGOI_MEMORY_PART, ckpt->team->host_ranks);
    sago_status status = sagoi_gate_sum(ckpt->team, ckpt->team->local_rank == 0 ? memory : 0, &memory);
    int64_t *bytes = calloc((size_t)groups->on_node + 1, sizeof *bytes), failures = 0;
    if (!status)
        status = sagoi_gate_sum(ckpt->team, !bytes, &failures);
    if (!status && failures)
        status = sagoi_fail(SAGO_ERR_MEMORY, "no memory for the list of groups");
    for (int64_t i = 0; !status && i < groups->on_node; i++)
        bytes[i] = ckpt->layout.intent.writers[groups->first_on_node + i].bytes;
    sagoi_pool_wish wish = {bytes, groups->on_node, groups->writer - groups->first_on_node,
                            ckpt->layout.intent.piece, memory};
    if (!status && groups->on_node > 0)
        status = sagoi_pool_resize(&ckpt->pool, ckpt->team, &wish);
    free(bytes);
    return status;
}

/* A rank on another node than its writer sends window after window, of the same size as the writer's. */
static sago_status tell_pool(sago_ckpt *ckpt) {
    int64_t is[2] = {ckpt->pool.slots, ckpt->pool.window};
    sago_status status = sagoi_bcast(ckpt->team, ckpt->groups.mine, is, sizeof is);
    if (ckpt->groups.away)
        ckpt->pool = (sagoi_pool){.slots = is[0], .window = is[1]};
    return status ? status : sagoi_far_prepare(ckpt);
}

sago_status sagoi_layout_make(sago_ckpt *ckpt) {
    sagoi_layout_cleanup(&ckpt->layout);
    array_sums *sums = calloc((size_t)ckpt->data.n + 1, sizeof *sums);
    sago_status status = sums ? SAGO_OK : sagoi_fail(SAGO_ERR_MEMORY, "no memory to check the blocks");
    status = agree_names(ckpt, status);
    if (!status)
        status = sagoi_agree_status(ckpt->team, sum_arrays(ckpt, sums));
    if (!status)
        status = sagoi_agree_status(ckpt->team, fill_intent(ckpt, sums));
    free(sums);
    if (!status)
        status = sagoi_agree_status(ckpt->team, place_streams(ckpt));
    if (!status && !ckpt->together)
        status = sagoi_agree_status(ckpt->team, size_pool(ckpt));
    if (!status && !ckpt->together && ckpt->groups.spans)
        status = sagoi_agree_status(ckpt->team, tell_pool(ckpt));
    if (status)
        return status;
    ckpt->layout.valid = true;
    ckpt->data.changed = false;
    return SAGO_OK;
}
