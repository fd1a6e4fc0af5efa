/* sago_sync_local(): writes down which bytes of the local files come from which calls, so that the local data
 * outlives the job.
 *
 * Three things are written in this order, each on its device before the next: the data of the local files; a
 * part beside each local file; the claim beside the global file.  The claim decides.  A part without a claim
 * means nothing.  As long as there is a claim, only a merge writes to the global file; the merge first says so
 * in the claim, and removes the claim when the global file is on its device.  So a job that finds a claim in
 * the state "held", beside a global file that has not changed since, has found the latest data. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tier/tier_state.h"
#include "base/checked.h"
#include "extent/codec.h"
#include "move/calls.h"
#include "move/collect.h"
#include "store/leftovers.h"
#include "system/syscalls.h"

/* Local files that no process has locked for so many seconds were left by a job that died. */
enum { LEFT_AFTER = 600 };

/* ---- Calls as blocks ---- */

static sago_status no_memory(void) {
    return sagoi_fail(SAGO_ERR_MEMORY, "no memory to write down what is in local storage");
}

sago_status sagoi_tier_code_stream(const sagoi_extents *extents, sagoi_wire_out *code) {
    sagoi_cursor cursor;
    sagoi_span span;
    int64_t end = 0;
    uint8_t *room = malloc((size_t)SAGOI_LIST_MAX * SAGOI_CODE_MAX);
    if (!room)
        return no_memory();
    sagoi_cursor_init(&cursor, extents);
    while (sagoi_cursor_next(&cursor, SAGOI_NO_LIMIT, &span))
        sagoi_out_bytes(code, room, sagoi_code_put(room, &span, &end) - room);
    free(room);
    return code->failed ? no_memory() : SAGO_OK;
}

static sago_status code_streams(const sagoi_composed *composed, int64_t key, sagoi_tier_persisted *persisted) {
    sago_status status = SAGO_OK;
    for (int64_t i = 0; i < composed->request.nstreams && !status; i++) {
        sagoi_wire_out code = {0};
        status = sagoi_tier_code_stream(&composed->request.streams[i].file, &code);
        sagoi_tier_block block = {.key = key, .code = (const uint8_t *)code.bytes, .bytes = code.len};
        if (!status && code.len > 0) {
            sagoi_tier_block_encode(&persisted->blocks, &block);
            persisted->nblocks++;
        }
        free(code.bytes);
    }
    return status ? status : persisted->blocks.failed ? no_memory() : SAGO_OK;
}

sago_status sagoi_tier_compose_place(sagoi_composed *composed, const sagoi_origin *call) {
    static char nowhere;
    sago_status status;
    if (call->view) {
        sagoi_view_place place = {.view = call->view, .disp = call->view->disp, .begin = call->begin};
        sagoi_buffer memory = {&nowhere, call->bytes, MPI_BYTE};
        status = sagoi_compose_view(composed, &place, &memory);
    } else {
        const sagoi_scatter memory = {.base = &nowhere, .whole = true};
        status = sagoi_compose_extents(composed, call->n, call->extents, &memory);
    }
    return status;
}

static sago_status code_call(sago_file *file, const sagoi_logged *entry) {
    sagoi_composed composed;
    sagoi_composed_init(&composed, SAGOI_TO_FILE, &file->budget);
    sago_status status = sagoi_tier_compose_place(&composed, &entry->call);
    if (!status)
        status = code_streams(&composed, entry->key, &file->tier->persisted);
    sagoi_composed_cleanup(&composed);
    return status;
}

/* Codes the calls that were logged since the last time. */
static sago_status code_calls(sago_file *file) {
    sagoi_tier_persisted *persisted = &file->tier->persisted;
    sago_status status = SAGO_OK;
    if (!persisted->next)
        persisted->next = &file->tier->first;
    for (; *persisted->next && !status; persisted->next = status ? persisted->next : &(*persisted->next)->next)
        status = code_call(file, *persisted->next);
    return status;
}

void sagoi_tier_forget_persisted(sagoi_local_tier *t) {
    free(t->persisted.blocks.bytes);
    t->persisted.blocks = (sagoi_wire_out){0};
    t->persisted.nblocks = 0;
    t->persisted.next = NULL;
}

/* ---- Parts ---- */

enum { RECORD_NAME = SAGOI_TIER_NAME + sizeof SAGOI_TIER_RECORD };

static void record_name(const sagoi_local_tier *t, char name[RECORD_NAME]) {
    char local[SAGOI_TIER_NAME];
    sagoi_tier_name(local, t->persisted.id, t->place.first);
    (void)snprintf(name, RECORD_NAME, "%s%s", local, SAGOI_TIER_RECORD);
}

/* The coded calls of all ranks of a neighbourhood, gathered at its head. */
typedef struct gathered {
    int64_t (*sizes)[2]; /* for each rank: bytes and blocks */
    int *lengths, *places;
    char *bytes;
    int64_t len, nblocks;
} gathered;

static void gathered_free(gathered *all) {
    free(all->sizes);
    free(all->lengths);
    free(all->places);
    free(all->bytes);
}

/* Called at the head: allocates room for what the ranks of the neighbourhood send. */
static sago_status make_room(gathered *all, int ranks) {
    for (int i = 0; i < ranks; i++) {
        if (sagoi_add(all->len, all->sizes[i][0], &all->len) || all->len > SAGOI_RECORD_MOST / 2)
            return sagoi_fail(SAGO_ERR_MEMORY,
                              "the calls since the last sago_sync take too much to write down: call it now");
        all->nblocks += all->sizes[i][1];
        all->lengths[i] = (int)all->sizes[i][0];
        all->places[i] = (int)(all->len - all->sizes[i][0]);
    }
    all->bytes = malloc((size_t)all->len + 1);
    return all->bytes ? SAGO_OK : no_memory();
}

static sago_status gather_blocks(sago_file *file, gathered *all) {
    sagoi_tier_persisted *persisted = &file->tier->persisted;
    const sagoi_tier_place *place = &file->tier->place;
    int ranks = file->tier->local->team->size;
    int64_t mine[2] = {persisted->blocks.len, persisted->nblocks};
    if (place->head) {
        all->sizes = calloc((size_t)ranks, sizeof *all->sizes);
        all->lengths = calloc((size_t)ranks, sizeof *all->lengths);
        all->places = calloc((size_t)ranks, sizeof *all->places);
    }
    bool ok = !place->head || (all->sizes && all->lengths && all->places);
    sago_status status = ok && mine[0] <= SAGOI_RECORD_MOST / 2 ? SAGO_OK : no_memory();
    status = sagoi_agree_status(file->team, status);
    if (status)
        return status;
    status = sagoi_gather(file->team, place->near, mine, sizeof mine, all->sizes);
    if (!status && place->head)
        status = make_room(all, ranks);
    status = sagoi_agree_status(file->team, status);
    sagoi_parts parts = {all->bytes, all->lengths, all->places};
    return status ? status : sagoi_gather_parts(file->team, place->near, persisted->blocks.bytes, mine[0], &parts);
}

static sago_status publish_part(const sago_file *file, const gathered *all) {
    const sagoi_local_tier *t = file->tier;
    char name[RECORD_NAME];
    sagoi_tier_part part = {.id = t->persisted.id,
                            .generation = t->persisted.claim.generation + 1,
                            .first = t->place.first,
                            .nblocks = all->nblocks};
    sagoi_claim_place place;
    struct stat folder = {0};
    sagoi_wire_out out = {0};
    sago_status status = sagoi_claim_find(file->path, &place);
    if (!status)
        status = sagoi_store_size(t->local->store, &part.end);
    if (status)
        return status;
    (void)sagoi_stat(place.folder, &folder);
    part.folder = (int64_t)folder.st_ino;
    (void)gethostname(part.host, sizeof part.host - 1);
    (void)snprintf(part.file, sizeof part.file, "%s", place.file);
    sagoi_tier_part_encode(&part, all->bytes, all->len, &out);
    record_name(t, name);
    status = out.failed ? no_memory() : sagoi_cfile_publish(t->place.dir, name, out.bytes, out.len);
    free(out.bytes);
    return status ? status : sagoi_cdir_sync(t->place.dir);
}

static sago_status write_parts(sago_file *file) {
    gathered all = {0};
    sago_status status = gather_blocks(file, &all);
    if (!status && file->tier->place.head) {
        file->tier->persisted.parted = true;
        status = publish_part(file, &all);
    }
    gathered_free(&all);
    return sagoi_agree_status(file->team, status);
}

/* ---- The claim ---- */

/* Counts the neighbourhoods, and allocates room for their parts on rank 0. */
static sago_status count_parts(sago_file *file) {
    sagoi_claim *claim = &file->tier->persisted.claim;
    sagoi_agreement heads = {.sum[0] = file->tier->place.head};
    sago_status status = sagoi_agree(file->team, &heads, NULL, NULL, NULL);
    if (status)
        return status;
    claim->nparts = (int64_t)heads.sum[0];
    claim->parts = calloc((size_t)claim->nparts, sizeof *claim->parts);
    return sagoi_agree_status(file->team, claim->parts ? SAGO_OK : no_memory());
}

/* Rank 0 learns of all neighbourhoods; it is the head of the first. */
static sago_status gather_parts(sago_file *file) {
    sagoi_claimed_part mine = {.first = file->tier->place.first};
    MPI_Comm heads = MPI_COMM_NULL;
    int color = file->tier->place.head ? 0 : MPI_UNDEFINED;
    (void)gethostname(mine.host, sizeof mine.host - 1);
    if (!SAGOI_DONE(MPI_Comm_split(file->team->own, color, file->team->rank, &heads)))
        return sagoi_break(file->team, sagoi_fail(SAGO_ERR_MPI, "meeting the other neighbourhoods failed"));
    sago_status status = SAGO_OK;
    if (heads != MPI_COMM_NULL)
        status = sagoi_gather(file->team, heads, &mine, sizeof mine, file->tier->persisted.claim.parts);
    sagoi_free_comm(file->team, &heads);
    return status;
}

/* The claim of another job, or of another handle, is never overwritten. */
static sago_status check_unclaimed(const sagoi_claim_place *place) {
    char *bytes = NULL;
    int64_t len = 0;
    sago_status status = sagoi_claim_load(place, &bytes, &len);
    if (!status && bytes)
        status = sagoi_fail(SAGO_ERR_STATE, "another handle keeps data of this file in local storage (%.200s)",
                            place->path);
    free(bytes);
    return status;
}

/* Rank 0. */
static sago_status publish_claim(sago_file *file) {
    sagoi_tier_persisted *persisted = &file->tier->persisted;
    sagoi_claim_place place;
    sago_status status = sagoi_claim_find(file->path, &place);
    if (!status && !persisted->claimed)
        status = check_unclaimed(&place);
    if (!status && !persisted->claimed)
        status = sagoi_file_mark_of(file->path, sagoi_store_subfiles(file->store), &persisted->claim.mark);
    persisted->claim.id = persisted->id;
    return status ? status : sagoi_claim_publish(&place, &persisted->claim);
}

/* Called for the first claim: brings the global file to the state that it keeps until it is merged into, with no
 * write still on its way. */
static sago_status first_claim(sago_file *file) {
    sago_status status = sagoi_agree_status(file->team, sagoi_sync_here(file));
    if (status || file->tier->persisted.claim.parts)
        return status;
    status = count_parts(file);
    return status ? status : sagoi_agree_status(file->team, gather_parts(file));
}

/* Collective.  Writes down the log; `drain`: some calls go to the global file afterwards, which the claim says
 * first. */
static sago_status keep_calls(sago_file *file, bool drain) {
    sagoi_tier_persisted *persisted = &file->tier->persisted;
    sago_status status = write_parts(file);
    if (!status && !persisted->claimed)
        status = first_claim(file);
    if (status)
        return status;
    persisted->claim.generation++;
    persisted->claim.state = drain ? SAGOI_CLAIM_MERGING : persisted->claim.state;
    status = sagoi_agree_status(file->team, file->team->rank == 0 ? publish_claim(file) : SAGO_OK);
    /* Writing the claim may have succeeded even if the call failed, unless it is another job's claim. */
    persisted->claimed = persisted->claimed || status != SAGO_ERR_STATE;
    return status;
}

sago_status sagoi_tier_sync(sago_file *file) {
    enum { MAX_VERDICT, MAX_CALLS, MAX_UNDRAINABLE, MAX_DRAINS };
    sagoi_local_tier *t = file->tier;
    sago_status coded = code_calls(file);
    sago_status status = t->local->team->local_rank == 0 ? sagoi_store_sync(t->local->store) : SAGO_OK;
    bool may = !status && !coded && sagoi_tier_may_drain(file);
    sagoi_agreement agreed = {.max = {[MAX_CALLS] = t->calls + t->own,
                                      [MAX_UNDRAINABLE] = !may,
                                      [MAX_DRAINS] = may && sagoi_tier_prepare_drains(file)}};
    status = sagoi_agree_with(file->team, status ? status : coded, &agreed);
    bool drain = !agreed.max[MAX_UNDRAINABLE] && agreed.max[MAX_DRAINS];
    if (!status && agreed.max[MAX_CALLS] > 0)
        status = keep_calls(file, drain);
    sagoi_tier_drain(file, !status && drain);
    return status;
}

sago_status sagoi_tier_remove_global(const char *path) {
    sagoi_claim_place place;
    struct stat is;
    bool found = lstat(path, &is) == 0 && !S_ISLNK(is.st_mode) && sagoi_claim_find(path, &place) == SAGO_OK;
    sago_status status = sagoi_store_remove(path);
    if (!status && found)
        sagoi_path_discard(place.path);
    return status;
}

/* ---- Merging ---- */

sago_status sagoi_tier_begin_merge(sago_file *file) {
    sagoi_tier_persisted *persisted = &file->tier->persisted;
    if (!persisted->claimed)
        return SAGO_OK;
    persisted->claim.state = SAGOI_CLAIM_MERGING;
    return sagoi_agree_status(file->team, file->team->rank == 0 ? publish_claim(file) : SAGO_OK);
}

/* A part means nothing without its claim, so failing to remove one does no harm. */
void sagoi_tier_remove_part(sagoi_local_tier *t) {
    if (!t->persisted.parted)
        return;
    t->persisted.parted = false;
    char name[RECORD_NAME], path[SAGOI_CKPT_PATH];
    record_name(t, name);
    if (sagoi_path_join(path, t->place.dir, name))
        sagoi_path_discard(path);
}

static sago_status remove_claim(const sago_file *file) {
    sagoi_claim_place place;
    sago_status status = sagoi_claim_find(file->path, &place);
    return status ? status : sagoi_claim_remove(&place);
}

sago_status sagoi_tier_end_merge(sago_file *file) {
    sagoi_local_tier *t = file->tier;
    if (!t->persisted.claimed)
        return SAGO_OK;
    sago_status status = sagoi_agree_status(file->team, sagoi_sync_here(file));
    if (!status)
        status = sagoi_agree_status(file->team, file->team->rank == 0 ? remove_claim(file) : SAGO_OK);
    if (status)
        return status;
    t->persisted.claimed = false;
    t->persisted.claim.state = SAGOI_CLAIM_HELD;
    sagoi_tier_remove_part(t);
    return SAGO_OK;
}

/* ---- Leftovers ---- */

static bool ends_with(const char *name, const char *end) {
    size_t all = strlen(name), part = strlen(end);
    return all >= part && strcmp(name + all - part, end) == 0;
}

/* Has the local file a part whose claim still exists, or can that not be known? */
static bool is_wanted(const char *path) {
    char record[SAGOI_CKPT_PATH], *bytes = NULL;
    int64_t len = 0;
    sagoi_tier_part part;
    if (snprintf(record, sizeof record, "%s%s", path, SAGOI_TIER_RECORD) >= (int)sizeof record)
        return true;
    sago_status status = sagoi_cfile_load(record, SAGOI_RECORD_MOST, &bytes, &len);
    if (status)
        return status != SAGO_ERR_NO_FILE;
    bool wanted = true;
    if (!sagoi_tier_part_decode(bytes, len, &part)) {
        wanted = sagoi_tier_part_claimed(&part);
        sagoi_tier_part_cleanup(&part);
    }
    free(bytes);
    return wanted;
}

/* A part is removed after its local file. */
static bool keep(const char *dir, const char *name) {
    char path[SAGOI_CKPT_PATH];
    if (!sagoi_path_join(path, dir, name))
        return true;
    if (!ends_with(name, SAGOI_TIER_RECORD))
        return is_wanted(path);
    path[strlen(path) - strlen(SAGOI_TIER_RECORD)] = '\0';
    return sagoi_syscall(&(sagoi_file_op){.kind = SAGOI_OP_ACCESS, .path = path, .flags = F_OK}) == 0;
}

void sagoi_tier_clear_leftovers(const char *dir) {
    (void)sagoi_leftovers_remove(dir, SAGOI_TIER_PREFIX, LEFT_AFTER, keep);
    (void)sagoi_leftovers_remove(dir, SAGOI_TIER_PREFIX, LEFT_AFTER, keep);
}
