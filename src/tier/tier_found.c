/* Data that an earlier job has left in local storage: the claim beside the global file leads to it, and it is
 * merged into the global file.
 *
 * The parts are where the earlier job wrote them, on nodes that must take part again; which ranks run there
 * now, and how many, does not matter.  The ranks that see a part share its blocks among them, and all ranks
 * write the blocks key by key, so that of two writes to one byte the later call wins, also between
 * neighbourhoods.
 *
 * With sago_tier_found=safe only data is merged that is surely newer than the global file: nobody may have
 * written to the global file since the claim, and no merge may have begun, since a merge that was interrupted
 * cannot be told from a write by somebody else. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tier/tier_state.h"
#include "base/checked.h"
#include "extent/codec.h"
#include "move/calls.h"
#include "move/collect.h"
#include "store/leftovers.h"

/* Extents that a rank merges at once. */
enum { EXTENTS = 1 << 14 };

/* ---- Finding ---- */

/* A part whose record this rank can read. */
typedef struct seen_part {
    char path[SAGOI_CKPT_PATH]; /* path of the local file */
    sagoi_tier_part part;
    char *bytes; /* contents of the part's record */
    sagoi_store *store;
} seen_part;

typedef struct found {
    sago_file *file;
    const sagoi_tier_place *place;
    sagoi_claim_place *where; /* on rank 0 (owned) */
    sagoi_claim claim;
    unsigned char *seen; /* for each part of the claim: does any rank see the part? */
    seen_part *parts;    /* for each part of the claim; a part that this rank does not see has no path */
} found;

static void found_cleanup(found *f) {
    for (int64_t i = 0; f->parts && i < f->claim.nparts; i++) {
        sagoi_tier_part_cleanup(&f->parts[i].part);
        free(f->parts[i].bytes);
        if (f->parts[i].store)
            (void)sagoi_store_close(&f->parts[i].store);
    }
    free(f->parts);
    free(f->seen);
    free(f->where);
    sagoi_claim_cleanup(&f->claim);
}

/* Collective.  Rank 0 reads the claim and tells it to all ranks; *there: a claim exists. */
static sago_status share_claim(found *f, bool *there) {
    sagoi_team *team = f->file->team;
    char *bytes = NULL;
    int64_t len = 0;
    sago_status status = SAGO_OK;
    if (team->rank == 0 && !(f->where = calloc(1, sizeof *f->where)))
        status = sagoi_fail(SAGO_ERR_MEMORY, "no memory to look for local data");
    if (!status && team->rank == 0)
        status = sagoi_claim_find(f->file->path, f->where);
    if (!status && team->rank == 0)
        status = sagoi_claim_load(f->where, &bytes, &len);
    sagoi_agreement agreed = {.max = {0, len}};
    status = sagoi_agree_with(team, status, &agreed);
    len = status ? 0 : agreed.max[1];
    *there = len > 0;
    if (*there) {
        if (!bytes)
            bytes = malloc((size_t)len);
        status = sagoi_agree_status(
            team, bytes ? SAGO_OK : sagoi_fail(SAGO_ERR_MEMORY, "no memory for the claim of local data"));
        if (!status)
            status = sagoi_bcast(team, team->own, bytes, len);
        if (!status && (status = sagoi_claim_decode(bytes, len, &f->claim)))
            sagoi_message_prefix("%s: ", f->where ? f->where->path : f->file->path);
        status = sagoi_agree_status(team, status);
    }
    free(bytes);
    return status;
}

/* ---- Looking at the parts ---- */

static sago_status check_part(const found *f, const seen_part *seen, int64_t first) {
    const sagoi_tier_part *part = &seen->part;
    int64_t size = 0;
    if (!sagoi_id_equal(part->id, f->claim.id) || part->first != first || part->generation < f->claim.generation)
        return sagoi_fail(SAGO_ERR_IO, "%.300s%s is not the record that was written last", seen->path,
                          SAGOI_TIER_RECORD);
    sago_status status = sagoi_store_size(seen->store, &size);
    if (!status && size < part->end)
        status = sagoi_fail(SAGO_ERR_IO, "%.300s has %lld bytes of %lld", seen->path, (long long)size,
                            (long long)part->end);
    if (!status && f->place->head && !sagoi_leftovers_seize(seen->store))
        status =
            sagoi_fail(SAGO_ERR_STATE, "%.300s is in use: another job or handle has this file open", seen->path);
    return status;
}

/* Reads the record of one part, if the part is in this rank's directory. */
static sago_status look_for_part(found *f, int64_t i) {
    const sagoi_store_options options = {.flags = O_RDONLY | O_NOFOLLOW};
    seen_part *seen = &f->parts[i];
    char name[SAGOI_TIER_NAME], record[SAGOI_CKPT_PATH + sizeof SAGOI_TIER_RECORD];
    int64_t len = 0;
    sagoi_tier_name(name, f->claim.id, f->claim.parts[i].first);
    if (!sagoi_path_join(seen->path, f->place->dir, name))
        return sagoi_fail(SAGO_ERR_BAD_FILE, "the path %.200s is too long", f->place->dir);
    (void)snprintf(record, sizeof record, "%s%s", seen->path, SAGOI_TIER_RECORD);
    sago_status status = sagoi_cfile_load(record, SAGOI_RECORD_MOST, &seen->bytes, &len);
    if (status == SAGO_ERR_NO_FILE) {
        seen->path[0] = '\0';
        return SAGO_OK;
    }
    f->seen[i] = 1;
    if (!status)
        status = sagoi_tier_part_decode(seen->bytes, len, &seen->part);
    if (!status)
        status = sagoi_store_open(seen->path, &options, &seen->store);
    return status ? status : check_part(f, seen, f->claim.parts[i].first);
}

static sago_status look_for_parts(found *f) {
    size_t n = (size_t)f->claim.nparts;
    f->seen = calloc(n + 1, 1);
    f->parts = calloc(n + 1, sizeof *f->parts);
    sago_status status =
        f->seen && f->parts ? SAGO_OK : sagoi_fail(SAGO_ERR_MEMORY, "no memory for %lld parts", (long long)n);
    status = sagoi_agree_status(f->file->team, status);
    for (int64_t i = 0; i < f->claim.nparts && !status; i++)
        status = look_for_part(f, i);
    return status;
}

/* Fails if there is a part that no rank sees. */
static sago_status check_all_seen(found *f) {
    sagoi_team *team = f->file->team;
    sago_status asked = sagoi_allreduce(team, team->own, f->seen, f->claim.nparts, MPI_UNSIGNED_CHAR, MPI_MAX);
    if (asked)
        return asked;
    for (int64_t i = 0; i < f->claim.nparts; i++)
        if (!f->seen[i])
            return sagoi_fail(SAGO_ERR_NO_FILE,
                              "data that a job left in local storage on %s is not in sight in %.200s: run on the "
                              "nodes where it is, or give it up (sago tier rm)",
                              f->claim.parts[i].host, f->place->dir);
    return SAGO_OK;
}

/* Called on rank 0: is the local data surely newer than the global file? */
static sago_status check_newer(const found *f) {
    sagoi_file_mark now;
    if (f->file->hints.tier_found == SAGOI_FOUND_MERGE)
        return SAGO_OK;
    if (f->claim.state == SAGOI_CLAIM_MERGING)
        return sagoi_fail(SAGO_ERR_STATE,
                          "moving local data into this file was interrupted: if nobody else has written to it "
                          "since, finish that (sago tier merge --force), else give the rest up (sago tier rm)");
    sago_status status = sagoi_file_mark_of(f->file->path, sagoi_store_subfiles(f->file->store), &now);
    if (!status && !sagoi_file_mark_same(&now, &f->claim.mark))
        status = sagoi_fail(SAGO_ERR_STATE,
                            "the file is not what it was when a job left data for it in local storage: merge that "
                            "all the same (sago tier merge --force), or give it up (sago tier rm)");
    return status;
}

/* ---- Making the calls again ---- */

typedef struct own_block {
    const sagoi_tier_block *block;
    sagoi_store *store;
} own_block;

typedef struct replay {
    sago_file *file;
    own_block *blocks; /* the blocks that this rank merges, ordered by key */
    int64_t nblocks, next;
    const uint8_t *at;  /* where the decoding of blocks[next] stands; NULL: the decoding has not begun */
    int64_t end;        /* end of the runs decoded so far */
    sagoi_span train;   /* under way */
    int64_t run, moved; /* of the current train: runs done, and bytes done of the next run */
    sago_extent *extents;
    char *data;
    int64_t n, bytes, room;
} replay;

static int by_key(const void *one, const void *two) {
    int64_t a = ((const own_block *)one)->block->key, b = ((const own_block *)two)->block->key;
    return (a > b) - (a < b);
}

/* Deals the blocks of each part out to the ranks of the neighbourhood, in turn. */
static sago_status take_blocks(const found *f, replay *r) {
    int rank = 0, ranks = 1;
    int64_t turn = 0, most = 1;
    (void)MPI_Comm_rank(f->place->near, &rank);
    (void)MPI_Comm_size(f->place->near, &ranks);
    for (int64_t i = 0; i < f->claim.nparts; i++)
        most += f->parts[i].part.nblocks;
    r->blocks = calloc((size_t)most, sizeof *r->blocks);
    r->extents = malloc(EXTENTS * sizeof *r->extents);
    r->data = malloc((size_t)r->room);
    if (!r->blocks || !r->extents || !r->data)
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory to merge what a job has left");
    for (int64_t i = 0; i < f->claim.nparts; i++)
        for (int64_t k = 0; k < f->parts[i].part.nblocks; k++, turn++)
            if (turn % ranks == rank)
                r->blocks[r->nblocks++] = (own_block){&f->parts[i].part.blocks[k], f->parts[i].store};
    qsort(r->blocks, (size_t)r->nblocks, sizeof *r->blocks, by_key);
    return SAGO_OK;
}

/* Decodes the next train of the block; false: the block has ended. */
static bool next_train(replay *r) {
    const sagoi_tier_block *block = r->blocks[r->next].block;
    if (!r->at) {
        r->at = block->code;
        r->end = 0;
    }
    r->run = r->moved = 0;
    r->train.count = 0;
    if (r->at == block->code + block->bytes)
        return false;
    r->at = sagoi_code_get(r->at, block->code + block->bytes, &r->train, &r->end);
    return r->at != NULL; /* the code was checked when the record was read */
}

/* Collects runs of the block, as many as there is room for. */
static void take_runs(replay *r) {
    r->n = r->bytes = 0;
    while (r->n < EXTENTS && r->bytes < r->room) {
        if (r->run == r->train.count && !next_train(r)) {
            r->next++;
            r->at = NULL;
            return;
        }
        int64_t length = sagoi_min(r->train.len - r->moved, r->room - r->bytes);
        r->extents[r->n++] = (sago_extent){r->train.off + r->run * r->train.stride + r->moved, length};
        r->bytes += length;
        r->moved += length;
        if (r->moved == r->train.len) {
            r->run++;
            r->moved = 0;
        }
    }
}

static sago_status load_runs(replay *r, sagoi_store *store) {
    sagoi_io_run runs[256];
    int64_t at = 0;
    for (int64_t i = 0; i < r->n;) {
        int64_t n = 0, bytes = 0, got = 0;
        for (; n < 256 && i < r->n; n++, i++) {
            runs[n] = (sagoi_io_run){r->extents[i].offset, r->extents[i].length, r->data + at + bytes};
            bytes += r->extents[i].length;
        }
        sago_status status = sagoi_store_read(store, runs, n, &got);
        if (status)
            return status;
        if (got < bytes)
            return sagoi_fail(SAGO_ERR_IO, "the file in local storage has become shorter");
        at += bytes;
    }
    return SAGO_OK;
}

/* Collective: the ranks whose next block has this key write some of that block. */
static sago_status write_some(replay *r, int64_t key) {
    sagoi_composed composed;
    int64_t moved = 0;
    sago_status status = SAGO_OK;
    r->n = r->bytes = 0;
    if (r->next < r->nblocks && r->blocks[r->next].block->key == key) {
        sagoi_store *store = r->blocks[r->next].store;
        take_runs(r);
        status = load_runs(r, store);
    }
    sagoi_composed_init(&composed, SAGOI_TO_FILE, &r->file->budget);
    composed.flush = true; /* the application did not make this call */
    const sagoi_scatter memory = {.base = r->data, .whole = true};
    if (!status)
        status = sagoi_compose_extents(&composed, r->n, r->extents, &memory);
    status = sagoi_engine_run(r->file, &composed, status, &moved);
    sagoi_composed_cleanup(&composed);
    return status;
}

static sago_status write_all(const found *f) {
    replay r = {.file = f->file, .room = SAGOI_TIER_CHUNK};
    sago_status status = sagoi_agree_status(f->file->team, take_blocks(f, &r));
    while (!status) {
        int64_t key = r.next < r.nblocks ? r.blocks[r.next].block->key : INT64_MAX;
        sagoi_agreement least = {.max[0] = -key};
        status = sagoi_agree(f->file->team, &least, NULL, NULL, NULL);
        if (status || least.max[0] == -INT64_MAX)
            break;
        status = write_some(&r, -least.max[0]);
    }
    free(r.blocks);
    free(r.extents);
    free(r.data);
    return status;
}

/* ---- The end ---- */

static sago_status remove_parts(const found *f) {
    sago_status status = SAGO_OK;
    for (int64_t i = 0; f->place->head && i < f->claim.nparts; i++) {
        char record[SAGOI_CKPT_PATH + sizeof SAGOI_TIER_RECORD];
        if (!f->parts[i].path[0])
            continue;
        (void)snprintf(record, sizeof record, "%s%s", f->parts[i].path, SAGOI_TIER_RECORD);
        sago_status removed = sagoi_path_remove(record);
        sago_status file = sagoi_path_remove(f->parts[i].path);
        status = status ? status : removed ? removed : file;
    }
    return sagoi_agree_status(f->file->team, status);
}

static sago_status leave(const found *f) {
    sagoi_team *team = f->file->team;
    sago_status status = sagoi_agree_status(team, team->rank == 0 ? sagoi_claim_remove(f->where) : SAGO_OK);
    return status ? status : remove_parts(f);
}

static sago_status merge(found *f) {
    sagoi_team *team = f->file->team;
    sago_status status = check_all_seen(f);
    if (!status)
        status = sagoi_agree_status(team, team->rank == 0 ? check_newer(f) : SAGO_OK);
    if (status)
        return status;
    f->claim.state = SAGOI_CLAIM_MERGING;
    status = sagoi_agree_status(team, team->rank == 0 ? sagoi_claim_publish(f->where, &f->claim) : SAGO_OK);
    if (!status)
        status = write_all(f);
    return status ? status : sagoi_agree_status(team, sagoi_sync_here(f->file));
}

sago_status sagoi_tier_take_found(sago_file *file, const sagoi_tier_place *place) {
    found f = {.file = file, .place = place};
    bool there = false, drop = file->hints.tier_found == SAGOI_FOUND_DROP;
    sago_status status = share_claim(&f, &there);
    if (!status && there) {
        status = look_for_parts(&f);
        /* A damaged claim is dropped like any other, but not one that another job holds. */
        if (drop && status != SAGO_ERR_STATE)
            status = SAGO_OK;
        status = sagoi_agree_status(file->team, status);
        if (!status && !drop)
            status = merge(&f);
        if (!status)
            status = leave(&f);
    }
    found_cleanup(&f);
    return status;
}

/* Merges what was found by opening the file a second time, for writing. */
sago_status sagoi_tier_take_found_for_reading(sago_file *file, sagoi_open_fn *open_file) {
    found f = {.file = file};
    bool there = false;
    MPI_Comm comm = MPI_COMM_NULL;
    sago_file *writer = NULL;
    sago_status status = share_claim(&f, &there);
    found_cleanup(&f);
    if (status || !there)
        return status;
    if (!SAGOI_DONE(MPI_Comm_dup(file->team->own, &comm)))
        return sagoi_fail(SAGO_ERR_MPI, "duplicating a communicator failed");
    status = open_file(comm, file->path, MPI_MODE_RDWR, &file->hints, &writer);
    if (!status)
        status = sago_close(&writer);
    else
        sagoi_message_prefix(
            "a job left data of this file in local storage, which has to be merged into it first: ");
    sagoi_free_comm(file->team, &comm);
    return status;
}
