#include "tier/tier_record.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/checked.h"
#include "extent/codec.h"
#include "store/subfile_rule.h"
#include "system/syscalls.h"

static const char claim_suffix[] = ".sago-tier";

void sagoi_tier_name(char name[SAGOI_TIER_NAME], sagoi_id id, int64_t first) {
    (void)snprintf(name, SAGOI_TIER_NAME, SAGOI_TIER_PREFIX "%016" PRIx64 "%016" PRIx64 "-%" PRId64, id.low,
                   id.high, first);
}

static void out_id(sagoi_wire_out *out, sagoi_id id) {
    sagoi_out_int(out, (int64_t)id.low);
    sagoi_out_int(out, (int64_t)id.high);
}

static sagoi_id in_id(sagoi_wire_in *in) {
    sagoi_id id = {.low = (uint64_t)sagoi_in_int(in)};
    id.high = (uint64_t)sagoi_in_int(in);
    return id;
}

/* ---- What the global file is like ---- */

static sago_status look(const char *path, struct stat *is) {
    return sagoi_stat(path, is) == 0 ? SAGO_OK : sagoi_fail_errno(errno, "looking at %.300s", path);
}

/* The mark of a file in subfiles has the sum of the subfiles' sizes, and the time of the latest write to any of
 * them. */
static sago_status add_subfiles(const char *path, const sagoi_subfiles *subfiles, sagoi_file_mark *mark) {
    mark->size = mark->seconds = mark->nanoseconds = 0;
    for (int64_t i = 0; i < subfiles->count; i++) {
        char name[SAGOI_SUBFILE_NAME_MAX], part[PATH_MAX];
        struct stat is;
        sagoi_subfile_name(i, name);
        if (snprintf(part, sizeof part, "%s/%s", path, name) >= (int)sizeof part)
            return sagoi_fail(SAGO_ERR_BAD_FILE, "the path %.200s is too long", path);
        sago_status status = look(part, &is);
        if (status)
            return status;
        bool later = is.st_mtim.tv_sec != mark->seconds ? is.st_mtim.tv_sec > mark->seconds
                                                        : is.st_mtim.tv_nsec > mark->nanoseconds;
        mark->size += is.st_size;
        mark->seconds = later ? is.st_mtim.tv_sec : mark->seconds;
        mark->nanoseconds = later ? is.st_mtim.tv_nsec : mark->nanoseconds;
    }
    return SAGO_OK;
}

sago_status sagoi_file_mark_of(const char *path, const sagoi_subfiles *subfiles, sagoi_file_mark *mark) {
    struct stat is;
    sago_status status = look(path, &is);
    if (status)
        return status;
    *mark = (sagoi_file_mark){(int64_t)is.st_ino, is.st_size, is.st_mtim.tv_sec, is.st_mtim.tv_nsec};
    return subfiles ? add_subfiles(path, subfiles, mark) : SAGO_OK;
}

bool sagoi_file_mark_same(const sagoi_file_mark *one, const sagoi_file_mark *two) {
    return one->inode == two->inode && one->size == two->size && one->seconds == two->seconds &&
           one->nanoseconds == two->nanoseconds;
}

/* ---- Claims ---- */

static const char claim_what[] = "the claim of local data";

void sagoi_claim_encode(const sagoi_claim *claim, sagoi_wire_out *out) {
    const sagoi_file_mark *mark = &claim->mark;
    sagoi_record_begin(out, SAGOI_RECORD_TIER_CLAIM);
    out_id(out, claim->id);
    const int64_t numbers[] = {claim->state, claim->generation, mark->inode,
                               mark->size,   mark->seconds,     mark->nanoseconds};
    sagoi_out_ints(out, numbers, 6);
    sagoi_out_int(out, claim->nparts);
    for (int64_t i = 0; i < claim->nparts; i++) {
        sagoi_out_int(out, claim->parts[i].first);
        sagoi_out_text(out, claim->parts[i].host);
    }
    sagoi_record_end(out);
}

static void in_claim_numbers(sagoi_wire_in *in, sagoi_claim *claim) {
    claim->id = in_id(in);
    claim->state = sagoi_in_range(in, SAGOI_CLAIM_HELD, SAGOI_CLAIM_MERGING);
    claim->generation = sagoi_in_range(in, 1, INT64_MAX);
    claim->mark.inode = sagoi_in_int(in);
    claim->mark.size = sagoi_in_range(in, 0, INT64_MAX);
    claim->mark.seconds = sagoi_in_int(in);
    claim->mark.nanoseconds = sagoi_in_range(in, 0, 999999999);
}

/* Parts are in ascending order of their ranks, so that no part is named twice. */
static void in_claimed_parts(sagoi_wire_in *in, sagoi_claim *claim) {
    int64_t least = 0;
    for (int64_t i = 0; i < claim->nparts; i++) {
        claim->parts[i].first = sagoi_in_range(in, least, INT32_MAX);
        sagoi_in_text(in, claim->parts[i].host, SAGOI_TIER_HOST);
        least = claim->parts[i].first + 1;
    }
}

sago_status sagoi_claim_decode(const char *bytes, int64_t len, sagoi_claim *claim) {
    sagoi_wire_in in;
    *claim = (sagoi_claim){0};
    sago_status status = sagoi_record_open(bytes, len, SAGOI_RECORD_TIER_CLAIM, claim_what, &in);
    if (status)
        return status;
    in_claim_numbers(&in, claim);
    claim->nparts = sagoi_in_count(&in, 16);
    claim->parts = calloc((size_t)claim->nparts + 1, sizeof *claim->parts);
    if (claim->parts)
        in_claimed_parts(&in, claim);
    if (!claim->parts)
        status = sagoi_fail(SAGO_ERR_MEMORY, "no memory for %s", claim_what);
    else if (in.failed || in.at != in.end || claim->nparts < 1)
        status = sagoi_fail(SAGO_ERR_IO, "%s has contents that cannot be", claim_what);
    if (status)
        sagoi_claim_cleanup(claim);
    return status;
}

void sagoi_claim_cleanup(sagoi_claim *claim) {
    free(claim->parts);
    *claim = (sagoi_claim){0};
}

/* `file` is a path in which links were followed; the file itself may have been removed. */
static sago_status claim_beside(const char *file, sagoi_claim_place *place) {
    const char *slash = strrchr(file, '/');
    int folder = slash ? (int)(slash - file) : 0;
    int lengths[] = {
        snprintf(place->file, sizeof place->file, "%s", file),
        snprintf(place->folder, sizeof place->folder, "%.*s", folder ? folder : 1, folder ? file : "/"),
        snprintf(place->path, sizeof place->path, "%.*s/.%s%s", folder, file, slash ? slash + 1 : file,
                 claim_suffix)};
    for (int i = 0; i < 3; i++)
        if (lengths[i] < 0 || lengths[i] >= SAGOI_CKPT_PATH)
            return sagoi_fail(SAGO_ERR_BAD_FILE, "the path %.200s is too long", file);
    return SAGO_OK;
}

sago_status sagoi_claim_find(const char *file, sagoi_claim_place *place) {
    char *real = realpath(file, NULL);
    if (!real)
        return sagoi_fail_errno(errno, "looking for %.300s", file);
    sago_status status = claim_beside(real, place);
    free(real);
    return status;
}

sago_status sagoi_claim_load(const sagoi_claim_place *place, char **bytes, int64_t *len) {
    *bytes = NULL;
    *len = 0;
    sago_status status = sagoi_cfile_load(place->path, SAGOI_RECORD_MOST, bytes, len);
    return status == SAGO_ERR_NO_FILE ? SAGO_OK : status;
}

sago_status sagoi_claim_publish(const sagoi_claim_place *place, const sagoi_claim *claim) {
    sagoi_wire_out out = {0};
    sagoi_claim_encode(claim, &out);
    sago_status status =
        out.failed ? sagoi_fail(SAGO_ERR_MEMORY, "no memory for %s", claim_what)
                   : sagoi_cfile_publish(place->folder, strrchr(place->path, '/') + 1, out.bytes, out.len);
    free(out.bytes);
    return status ? status : sagoi_cdir_sync(place->folder);
}

sago_status sagoi_claim_remove(const sagoi_claim_place *place) {
    sago_status status = sagoi_path_remove(place->path);
    return status ? status : sagoi_cdir_sync(place->folder);
}

/* ---- Parts ---- */

static const char part_what[] = "the record of local data";

void sagoi_tier_block_encode(sagoi_wire_out *out, const sagoi_tier_block *block) {
    sagoi_out_int(out, block->key);
    sagoi_out_int(out, block->bytes);
    sagoi_out_bytes(out, block->code, block->bytes);
}

void sagoi_tier_part_encode(const sagoi_tier_part *part, const char *blocks, int64_t bytes, sagoi_wire_out *out) {
    sagoi_record_begin(out, SAGOI_RECORD_TIER_PART);
    out_id(out, part->id);
    const int64_t numbers[] = {part->generation, part->first, part->end, part->folder};
    sagoi_out_ints(out, numbers, 4);
    sagoi_out_text(out, part->file);
    sagoi_out_text(out, part->host);
    sagoi_out_int(out, part->nblocks);
    sagoi_out_bytes(out, blocks, bytes);
    sagoi_record_end(out);
}

/* Do all runs lie in [0, end), one after another? */
static bool code_is_good(const sagoi_tier_block *block, int64_t end) {
    const uint8_t *at = block->code, *stop = at + block->bytes;
    int64_t reached = 0;
    sagoi_span train;
    while (at && at < stop)
        at = sagoi_code_get(at, stop, &train, &reached);
    return at && reached <= end;
}

static void in_block(sagoi_wire_in *in, const sagoi_tier_part *part, sagoi_tier_block *block) {
    block->key = sagoi_in_range(in, 0, INT64_MAX - 1);
    block->bytes = sagoi_in_count(in, 1);
    block->code = (const uint8_t *)sagoi_in_bytes(in, block->bytes);
    if (!block->code || !code_is_good(block, part->end))
        in->failed = true;
}

sago_status sagoi_tier_part_decode(const char *bytes, int64_t len, sagoi_tier_part *part) {
    sagoi_wire_in in;
    *part = (sagoi_tier_part){0};
    sago_status status = sagoi_record_open(bytes, len, SAGOI_RECORD_TIER_PART, part_what, &in);
    if (status)
        return status;
    part->id = in_id(&in);
    part->generation = sagoi_in_range(&in, 1, INT64_MAX);
    part->first = sagoi_in_range(&in, 0, INT32_MAX);
    part->end = sagoi_in_range(&in, 0, INT64_MAX);
    part->folder = sagoi_in_int(&in);
    sagoi_in_text(&in, part->file, sizeof part->file);
    sagoi_in_text(&in, part->host, sizeof part->host);
    part->nblocks = sagoi_in_count(&in, 16);
    part->blocks = calloc((size_t)part->nblocks + 1, sizeof *part->blocks);
    for (int64_t i = 0; part->blocks && i < part->nblocks && !in.failed; i++)
        in_block(&in, part, &part->blocks[i]);
    if (!part->blocks)
        status = sagoi_fail(SAGO_ERR_MEMORY, "no memory for %s", part_what);
    else if (in.failed || in.at != in.end)
        status = sagoi_fail(SAGO_ERR_IO, "%s has contents that cannot be", part_what);
    if (status)
        sagoi_tier_part_cleanup(part);
    return status;
}

void sagoi_tier_part_cleanup(sagoi_tier_part *part) {
    free(part->blocks);
    *part = (sagoi_tier_part){0};
}

int64_t sagoi_tier_part_bytes(const sagoi_tier_part *part) {
    int64_t bytes = 0;
    for (int64_t i = 0; i < part->nblocks; i++) {
        const uint8_t *at = part->blocks[i].code, *stop = at + part->blocks[i].bytes;
        int64_t reached = 0;
        sagoi_span train;
        while (at && at < stop && (at = sagoi_code_get(at, stop, &train, &reached)))
            if (sagoi_add(bytes, sagoi_span_bytes(&train), &bytes))
                return INT64_MAX;
    }
    return bytes;
}

/* Does this process see the folder that the claim was written in?  Another file system may be mounted there
 * instead, and then nothing follows from a claim that is missing. */
static bool sees_folder(const sagoi_claim_place *place, int64_t inode) {
    struct stat folder;
    return sagoi_stat(place->folder, &folder) == 0 && (int64_t)folder.st_ino == inode;
}

bool sagoi_tier_part_claimed(const sagoi_tier_part *part) {
    sagoi_claim_place place;
    sagoi_claim claim;
    char *bytes = NULL;
    int64_t len = 0;
    if (claim_beside(part->file, &place) || !sees_folder(&place, part->folder) ||
        sagoi_claim_load(&place, &bytes, &len))
        return true;
    bool claimed = bytes != NULL;
    if (bytes && !sagoi_claim_decode(bytes, len, &claim)) {
        claimed = sagoi_id_equal(claim.id, part->id);
        sagoi_claim_cleanup(&claim);
    }
    free(bytes);
    return claimed;
}
