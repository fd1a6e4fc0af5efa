/* Records to bytes and back.  The envelope (magic, kind, version, length, checksum) is the same in all versions
 * there will ever be, so that a newer record can be told from a damaged one. */
#include "ckpt/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/checked.h"

enum { HEADER = 24, CHECKSUM = 16, LENGTH_AT = 16 };

static const char magic[8] = {'S', 'A', 'G', 'O', 'C', 'K', 'P', 'T'};

uint64_t sagoi_piece_sum(const void *data, int64_t len) { return XXH3_64bits(data, (size_t)len); }

/* ---- Envelope ---- */

/* Directories and their locks have version 2, with generations (ckpt/generation.h), so that a Sago that knows
 * nothing of generations does not take such a directory for free.  Records of an older version are still read. */
static uint32_t version_of(sagoi_record_kind kind) {
    return kind == SAGOI_RECORD_DIRECTORY || kind == SAGOI_RECORD_LEASE ? 2 : 1;
}

void sagoi_record_begin(sagoi_wire_out *out, sagoi_record_kind kind) {
    sagoi_out_bytes(out, magic, sizeof magic);
    sagoi_out_u32(out, (uint32_t)kind);
    sagoi_out_u32(out, version_of(kind));
    sagoi_out_int(out, 0);
}

void sagoi_record_end(sagoi_wire_out *out) {
    out->failed = out->failed || out->len + CHECKSUM > SAGOI_RECORD_MOST;
    if (out->failed)
        return;
    sagoi_wire_out length = {.bytes = out->bytes + LENGTH_AT, .capacity = 8};
    sagoi_out_int(&length, out->len + CHECKSUM);
    XXH128_hash_t sum = XXH3_128bits(out->bytes, (size_t)out->len);
    sagoi_out_int(out, (int64_t)sum.low64);
    sagoi_out_int(out, (int64_t)sum.high64);
}

static bool checksum_ok(const char *bytes, int64_t len) {
    XXH128_hash_t sum = XXH3_128bits(bytes, (size_t)(len - CHECKSUM));
    sagoi_wire_in in = {bytes + len - CHECKSUM, bytes + len, false};
    uint64_t low = (uint64_t)sagoi_in_int(&in), high = (uint64_t)sagoi_in_int(&in);
    return low == sum.low64 && high == sum.high64;
}

sago_status sagoi_record_open(const char *bytes, int64_t len, sagoi_record_kind kind, const char *what,
                              sagoi_wire_in *body) {
    if (len < HEADER + CHECKSUM || memcmp(bytes, magic, sizeof magic) != 0)
        return sagoi_fail(SAGO_ERR_IO, "%s is not a record of Sago's", what);
    sagoi_wire_in in = {bytes + sizeof magic, bytes + len - CHECKSUM, false};
    uint32_t found = sagoi_in_u32(&in), version = sagoi_in_u32(&in);
    if (sagoi_in_int(&in) != len || !checksum_ok(bytes, len))
        return sagoi_fail(SAGO_ERR_IO, "%s is damaged: its checksum is wrong", what);
    if (found != (uint32_t)kind)
        return sagoi_fail(SAGO_ERR_IO, "%s is a record of another kind (%u)", what, found);
    if (version < 1 || version > version_of(kind))
        return sagoi_fail(SAGO_ERR_UNSUPPORTED, "%s has format version %u; this Sago knows version %u", what,
                          version, version_of(kind));
    *body = in;
    return SAGO_OK;
}

static sago_status body_done(const sagoi_wire_in *in, const char *what) {
    if (in->failed || in->at != in->end)
        return sagoi_fail(SAGO_ERR_IO, "%s has contents that cannot be", what);
    return SAGO_OK;
}

static void out_id(sagoi_wire_out *out, sagoi_id id) {
    sagoi_out_int(out, (int64_t)id.low);
    sagoi_out_int(out, (int64_t)id.high);
}

static sagoi_id in_id(sagoi_wire_in *in) {
    sagoi_id id;
    id.low = (uint64_t)sagoi_in_int(in);
    id.high = (uint64_t)sagoi_in_int(in);
    return id;
}

/* Elements of a box; false: the number does not fit 63 bits. */
static bool volume(const int64_t *count, int64_t ndims, int64_t *elements) {
    *elements = 1;
    for (int64_t i = 0; i < ndims; i++)
        if (sagoi_mul(*elements, count[i], elements))
            return false;
    return true;
}

/* ---- Intent ---- */

static void out_array(sagoi_wire_out *out, const sagoi_array_desc *array) {
    sagoi_out_text(out, array->name);
    sagoi_out_text(out, array->type);
    sagoi_out_int(out, array->kind);
    sagoi_out_int(out, array->element);
    sagoi_out_int(out, array->bytes);
    sagoi_out_int(out, array->ndims);
    sagoi_out_ints(out, array->global, array->ndims);
}

bool sagoi_array_name_fits(const char *name) {
    for (const char *at = name; *at; at++)
        if (*at == '/' || (unsigned char)*at < ' ' || *at == 127)
            return false;
    return *name != '\0';
}

static void in_array(sagoi_wire_in *in, sagoi_array_desc *array) {
    int64_t elements, bytes;
    sagoi_in_text(in, array->name, sizeof array->name);
    sagoi_in_text(in, array->type, sizeof array->type);
    if (!sagoi_array_name_fits(array->name) || !sagoi_array_name_fits(array->type))
        in->failed = true;
    array->kind = sagoi_in_range(in, SAGO_CKPT_ARRAY, SAGO_CKPT_SHARED);
    array->element = sagoi_in_range(in, 1, INT32_MAX);
    array->bytes = sagoi_in_range(in, 0, INT64_MAX);
    array->ndims = sagoi_in_range(in, 0, SAGO_CKPT_DIMS_MAX);
    for (int64_t i = 0; i < array->ndims; i++)
        array->global[i] = sagoi_in_range(in, 0, INT64_MAX);
    if (array->kind == SAGO_CKPT_ARRAY && (!volume(array->global, array->ndims, &elements) ||
                                           sagoi_mul(elements, array->element, &bytes) || bytes != array->bytes))
        in->failed = true;
}

void sagoi_intent_encode(const sagoi_intent *intent, sagoi_wire_out *out) {
    sagoi_record_begin(out, SAGOI_RECORD_INTENT);
    out_id(out, intent->id);
    out_id(out, intent->directory);
    const int64_t numbers[] = {intent->step,  intent->time,  intent->ranks, intent->nodes,
                               intent->files, intent->piece, intent->data,  intent->parity};
    sagoi_out_ints(out, numbers, 8);
    sagoi_out_int(out, intent->narrays);
    for (int64_t i = 0; i < intent->narrays; i++)
        out_array(out, &intent->arrays[i]);
    sagoi_out_int(out, intent->nwriters);
    for (int64_t i = 0; i < intent->nwriters; i++) {
        const sagoi_writer_desc *writer = &intent->writers[i];
        const int64_t fields[] = {writer->bytes, writer->file, writer->base, writer->set, writer->member};
        sagoi_out_ints(out, fields, 5);
    }
    sagoi_record_end(out);
}

static void in_writer(sagoi_wire_in *in, sagoi_writer_desc *writer, int64_t nwriters) {
    int64_t end;
    writer->bytes = sagoi_in_range(in, 0, INT64_MAX);
    writer->file = sagoi_in_range(in, 0, nwriters - 1);
    writer->base = sagoi_in_range(in, 0, INT64_MAX);
    writer->set = sagoi_in_range(in, -1, nwriters - 1);
    writer->member = sagoi_in_range(in, 0, nwriters - 1);
    if (sagoi_add(writer->base, writer->bytes, &end))
        in->failed = true;
}

static void in_intent_numbers(sagoi_wire_in *in, sagoi_intent *intent) {
    intent->id = in_id(in);
    intent->directory = in_id(in);
    intent->step = sagoi_in_range(in, 0, INT64_MAX);
    intent->time = sagoi_in_range(in, 0, INT64_MAX);
    intent->ranks = sagoi_in_range(in, 1, INT32_MAX);
    intent->nodes = sagoi_in_range(in, 1, INT32_MAX);
    intent->files = sagoi_in_range(in, 1, INT32_MAX);
    intent->piece = sagoi_in_range(in, 512, INT64_C(1) << 30);
    intent->data = sagoi_in_range(in, 0, 255);
    intent->parity = sagoi_in_range(in, 0, 255);
    if (intent->data + intent->parity > 255 || (intent->data == 0) != (intent->parity == 0))
        in->failed = true;
}

/* Does every array have a name of its own? */
static bool names_differ(const sagoi_intent *intent) {
    for (int64_t i = 1; i < intent->narrays; i++) /* they are sorted */
        if (strcmp(intent->arrays[i - 1].name, intent->arrays[i].name) >= 0)
            return false;
    return true;
}

sago_status sagoi_intent_decode(const char *bytes, int64_t len, sagoi_intent *intent) {
    sagoi_wire_in in;
    *intent = (sagoi_intent){0};
    sago_status status = sagoi_record_open(bytes, len, SAGOI_RECORD_INTENT, "the intent of a save", &in);
    if (status)
        return status;
    in_intent_numbers(&in, intent);
    intent->narrays = sagoi_in_count(&in, 48);
    intent->arrays = calloc((size_t)intent->narrays + 1, sizeof *intent->arrays);
    for (int64_t i = 0; intent->arrays && i < intent->narrays; i++)
        in_array(&in, &intent->arrays[i]);
    intent->nwriters = sagoi_in_count(&in, 40);
    intent->writers = calloc((size_t)intent->nwriters + 1, sizeof *intent->writers);
    for (int64_t i = 0; intent->writers && i < intent->nwriters; i++)
        in_writer(&in, &intent->writers[i], intent->nwriters);
    if (!intent->arrays || !intent->writers)
        status = sagoi_fail(SAGO_ERR_MEMORY, "no memory for the intent of a save");
    else if (intent->nwriters < 1 || !names_differ(intent))
        in.failed = true;
    if (!status)
        status = body_done(&in, "the intent of a save");
    if (status)
        sagoi_intent_cleanup(intent);
    return status;
}

void sagoi_intent_cleanup(sagoi_intent *intent) {
    free(intent->arrays);
    free(intent->writers);
    *intent = (sagoi_intent){0};
}

int64_t sagoi_intent_bytes(const sagoi_intent *intent) {
    int64_t bytes = 0;
    for (int64_t i = 0; i < intent->nwriters; i++)
        if (sagoi_add(bytes, intent->writers[i].bytes, &bytes))
            return INT64_MAX;
    return bytes;
}

/* ---- Part ---- */

void sagoi_block_encode(const sagoi_stored_block *block, sagoi_wire_out *out) {
    const int64_t fields[] = {block->array, block->rank, block->offset, block->bytes, block->ndims};
    sagoi_out_ints(out, fields, 5);
    sagoi_out_ints(out, block->start, block->ndims);
    sagoi_out_ints(out, block->count, block->ndims);
}

void sagoi_block_decode(sagoi_wire_in *in, sagoi_stored_block *block) {
    block->array = sagoi_in_range(in, 0, INT32_MAX);
    block->rank = sagoi_in_range(in, 0, INT32_MAX);
    block->offset = sagoi_in_range(in, 0, INT64_MAX);
    block->bytes = sagoi_in_range(in, 0, INT64_MAX);
    block->ndims = sagoi_in_range(in, 0, SAGO_CKPT_DIMS_MAX);
    for (int64_t i = 0; i < block->ndims; i++)
        block->start[i] = sagoi_in_range(in, 0, INT64_MAX);
    for (int64_t i = 0; i < block->ndims; i++)
        block->count[i] = sagoi_in_range(in, 0, INT64_MAX);
}

static void out_sums(sagoi_wire_out *out, const uint64_t *sums, int64_t n) {
    sagoi_out_int(out, n);
    for (int64_t i = 0; i < n; i++)
        sagoi_out_int(out, (int64_t)sums[i]);
}

/* NULL: a failure came before, or there is no memory. */
static uint64_t *in_sums(sagoi_wire_in *in, int64_t *n) {
    *n = sagoi_in_count(in, 8);
    uint64_t *sums = calloc((size_t)*n + 1, sizeof *sums);
    for (int64_t i = 0; sums && i < *n; i++)
        sums[i] = (uint64_t)sagoi_in_int(in);
    return sums;
}

void sagoi_part_encode(const sagoi_part *part, sagoi_wire_out *out) {
    sagoi_record_begin(out, SAGOI_RECORD_PART);
    out_id(out, part->id);
    const int64_t numbers[] = {part->step, part->writer, part->bytes, part->piece};
    sagoi_out_ints(out, numbers, 4);
    out_sums(out, part->sums, part->nsums);
    sagoi_out_int(out, part->nblocks);
    for (int64_t i = 0; i < part->nblocks; i++)
        sagoi_block_encode(&part->blocks[i], out);
    sagoi_record_end(out);
}

static void in_part_block(sagoi_wire_in *in, const sagoi_part *part, sagoi_stored_block *block) {
    int64_t end;
    sagoi_block_decode(in, block);
    if (sagoi_add(block->offset, block->bytes, &end) || end > part->bytes)
        in->failed = true;
}

sago_status sagoi_part_decode(const char *bytes, int64_t len, sagoi_part *part) {
    sagoi_wire_in in;
    *part = (sagoi_part){0};
    sago_status status = sagoi_record_open(bytes, len, SAGOI_RECORD_PART, "the part of a writer", &in);
    if (status)
        return status;
    part->id = in_id(&in);
    part->step = sagoi_in_range(&in, 0, INT64_MAX);
    part->writer = sagoi_in_range(&in, 0, INT32_MAX);
    part->bytes = sagoi_in_range(&in, 0, INT64_MAX);
    part->piece = sagoi_in_range(&in, 512, INT64_C(1) << 30);
    part->sums = in_sums(&in, &part->nsums);
    part->nblocks = sagoi_in_count(&in, 40);
    part->blocks = calloc((size_t)part->nblocks + 1, sizeof *part->blocks);
    for (int64_t i = 0; part->blocks && i < part->nblocks; i++)
        in_part_block(&in, part, &part->blocks[i]);
    if (!part->sums || !part->blocks)
        status = sagoi_fail(SAGO_ERR_MEMORY, "no memory for the part of a writer");
    else if (!in.failed && part->nsums != sagoi_div_up(part->bytes, part->piece))
        in.failed = true;
    if (!status)
        status = body_done(&in, "the part of a writer");
    if (status)
        sagoi_part_cleanup(part);
    return status;
}

void sagoi_part_cleanup(sagoi_part *part) {
    free(part->sums);
    free(part->blocks);
    *part = (sagoi_part){0};
}

static bool block_fits(const sagoi_stored_block *block, const sagoi_intent *intent) {
    int64_t bytes, end;
    if (block->array >= intent->narrays || block->rank >= intent->ranks)
        return false;
    const sagoi_array_desc *array = &intent->arrays[block->array];
    if (array->kind != SAGO_CKPT_ARRAY)
        return block->ndims == 0;
    if (block->ndims != array->ndims || !volume(block->count, block->ndims, &bytes) ||
        sagoi_mul(bytes, array->element, &bytes) || bytes != block->bytes)
        return false;
    for (int64_t i = 0; i < block->ndims; i++)
        if (sagoi_add(block->start[i], block->count[i], &end) || end > array->global[i])
            return false;
    return true;
}

bool sagoi_part_fits(const sagoi_part *part, const sagoi_intent *intent) {
    if (!sagoi_id_equal(part->id, intent->id) || part->step != intent->step || part->writer >= intent->nwriters ||
        part->piece != intent->piece || part->bytes != intent->writers[part->writer].bytes)
        return false;
    for (int64_t i = 0; i < part->nblocks; i++)
        if (!block_fits(&part->blocks[i], intent))
            return false;
    return true;
}

/* ---- Parity ---- */

void sagoi_parity_encode(const sagoi_parity *parity, sagoi_wire_out *out) {
    sagoi_record_begin(out, SAGOI_RECORD_PARITY);
    out_id(out, parity->id);
    const int64_t numbers[] = {parity->step,   parity->set,   parity->member, parity->data,
                               parity->parity, parity->chunk, parity->piece};
    sagoi_out_ints(out, numbers, 7);
    out_sums(out, parity->sums, parity->nsums);
    sagoi_out_int(out, parity->nmembers);
    for (int64_t i = 0; i < parity->nmembers; i++) {
        sagoi_out_int(out, parity->members[i].writer);
        sagoi_out_int(out, parity->members[i].part_len);
        sagoi_out_bytes(out, parity->members[i].part, parity->members[i].part_len);
    }
    sagoi_record_end(out);
}

static void in_member(sagoi_wire_in *in, sagoi_parity_member *member) {
    member->writer = sagoi_in_range(in, 0, INT32_MAX);
    member->part_len = sagoi_in_range(in, 0, SAGOI_RECORD_MOST);
    const char *bytes = sagoi_in_bytes(in, member->part_len);
    member->part = bytes ? malloc((size_t)member->part_len + 1) : NULL;
    if (member->part)
        memcpy(member->part, bytes, (size_t)member->part_len);
    else
        in->failed = true;
}

static void in_parity_numbers(sagoi_wire_in *in, sagoi_parity *parity) {
    int64_t bytes;
    parity->id = in_id(in);
    parity->step = sagoi_in_range(in, 0, INT64_MAX);
    parity->set = sagoi_in_range(in, 0, INT32_MAX);
    parity->member = sagoi_in_range(in, 0, 255);
    parity->data = sagoi_in_range(in, 1, 255);
    parity->parity = sagoi_in_range(in, 1, 255);
    parity->chunk = sagoi_in_range(in, 0, INT64_MAX);
    parity->piece = sagoi_in_range(in, 512, INT64_C(1) << 30);
    parity->sums = in_sums(in, &parity->nsums);
    if (!in->failed &&
        (sagoi_mul(parity->chunk, parity->parity, &bytes) || parity->nsums != sagoi_div_up(bytes, parity->piece)))
        in->failed = true;
}

sago_status sagoi_parity_decode(const char *bytes, int64_t len, sagoi_parity *parity) {
    sagoi_wire_in in;
    *parity = (sagoi_parity){0};
    sago_status status = sagoi_record_open(bytes, len, SAGOI_RECORD_PARITY, "a parity record", &in);
    if (status)
        return status;
    in_parity_numbers(&in, parity);
    parity->nmembers = sagoi_in_count(&in, 16);
    parity->members = calloc((size_t)parity->nmembers + 1, sizeof *parity->members);
    for (int64_t i = 0; parity->members && i < parity->nmembers; i++)
        in_member(&in, &parity->members[i]);
    if (!parity->sums || !parity->members)
        status = sagoi_fail(SAGO_ERR_MEMORY, "no memory for a parity record");
    else if (parity->nmembers < parity->data + parity->parity || parity->member >= parity->nmembers)
        in.failed = true;
    if (!status)
        status = body_done(&in, "a parity record");
    if (status)
        sagoi_parity_cleanup(parity);
    return status;
}

void sagoi_parity_cleanup(sagoi_parity *parity) {
    for (int64_t i = 0; parity->members && i < parity->nmembers; i++)
        free(parity->members[i].part);
    free(parity->members);
    free(parity->sums);
    *parity = (sagoi_parity){0};
}
