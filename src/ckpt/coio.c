/* coIO (002, section 3): a save is a collective write of the engine, to one file or to those of groups of
 * ranks, and no rank goes on before it is done.  The writers only make the records; the engine's plan decides
 * which rank writes which bytes.
 *
 * All that is written goes through files.h, as in any other checkpoint, so a store that hangs is left behind
 * here, too, and tests see every operation.
 *
 * Checksums are made for pieces of a group's stream, and a piece may belong to several ranks.  The rank with
 * the first byte of a piece makes its checksum, and the other ranks send it their bytes. */
#include <sago/sago.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "ckpt/state.h"
#include "move/calls.h"
#include "move/collect.h"
#include "store/store.h"

#define CHUNK (INT64_C(16) << 20) /* Bytes that a rank writes in one call, without a hint. */
enum { TAG_EDGE = 3 };

typedef struct together {
    sago_ckpt *ckpt;
    sagoi_saving *saving;
    sagoi_part part; /* the group's part, for names; this rank may not be its writer */
    sagoi_commit_plan plan;
    sagoi_cfile data;     /* this rank's descriptor */
    int64_t begin, end;   /* this rank's bytes of the group's stream */
    int64_t piece, chunk; /* bytes */
    int64_t first, owned; /* pieces whose sums this rank makes */
    char *buffer;         /* a chunk */
    /* Bytes of a piece whose sum another rank makes; bytes of the last piece of this rank's own. */
    char *head, *tail;
    uint64_t *sums;        /* sums of this rank's own pieces */
    MPI_Request *requests; /* one for each rank of the group, and one more */
} together;

/* ---- Rooms ---- */

static int64_t pieces_before(const together *at, int64_t offset) { return sagoi_div_up(offset, at->piece); }

/* Packed data may use a quarter of the budget; the engine has its own share. */
static int64_t chunk_of(const together *at) {
    const sago_ckpt *ckpt = at->ckpt;
    int64_t memory = ckpt->hints.memory, mine = sagoi_round_up(at->end - at->begin, at->piece) + at->piece;
    int64_t chunk = memory > 0 ? sagoi_min(CHUNK, memory / (4 * (int64_t)ckpt->team->local_size)) : CHUNK;
    return sagoi_max(at->piece, sagoi_round_down(sagoi_min(chunk, mine), at->piece));
}

static sago_status make_rooms(together *at) {
    const sago_ckpt *ckpt = at->ckpt;
    const int64_t *before = ckpt->layout.before;
    at->begin = before[ckpt->groups.rank];
    at->end = before[ckpt->groups.rank + 1];
    at->piece = ckpt->layout.intent.piece;
    at->chunk = chunk_of(at);
    at->first = pieces_before(at, at->begin);
    at->owned = pieces_before(at, at->end) - at->first;
    at->buffer = malloc((size_t)at->chunk);
    at->head = malloc((size_t)at->piece);
    at->tail = malloc((size_t)at->piece);
    at->sums = calloc((size_t)at->owned + 1, sizeof *at->sums);
    at->requests = calloc((size_t)ckpt->groups.size + 1, sizeof *at->requests);
    if (at->buffer && at->head && at->tail && at->sums && at->requests)
        return SAGO_OK;
    return sagoi_fail(SAGO_ERR_MEMORY, "no memory for a collective write of a checkpoint");
}

static void free_rooms(together *at) {
    const sagoi_team *team = at->ckpt->team;
    free(at->buffer);
    sagoi_free_received(team, at->head);
    sagoi_free_received(team, at->tail);
    sagoi_free_received(team, at->requests);
    free(at->sums);
}

/* ---- The file ---- */

static void describe(together *at) {
    const sago_ckpt *ckpt = at->ckpt;
    const sagoi_job *job = at->saving->job;
    bool local = ckpt->local[0];
    at->part = (sagoi_part){.id = at->saving->id, .step = at->saving->step, .writer = ckpt->groups.writer};
    at->plan = (sagoi_commit_plan){.dir = local ? ckpt->local : ckpt->dir,
                                   .global = !local,
                                   .intent = job && job->intent_first ? job->intent : NULL,
                                   .intent_len = job ? job->intent_len : 0,
                                   .part = job ? &job->part : &at->part,
                                   .place = &ckpt->layout.intent.writers[ckpt->groups.writer],
                                   .fence = &ckpt->fence};
}

/* The writers make folder, records and files; then the other ranks open the file that they write to. */
static sago_status open_data(together *at) {
    char path[SAGOI_CKPT_PATH];
    sagoi_job *job = at->saving->job;
    sago_status status = SAGO_OK;
    at->data.fd = -1;
    if (job) {
        job->opened = job->submitted = sagoi_ckpt_now();
        job->begun = !job->status;
        status =
            job->begun ? sagoi_commit_begin(&job->commit, &at->plan) : sagoi_fail(job->status, "%s", job->message);
    }
    status = sagoi_agree_status(at->ckpt->team, status);
    if (status || job)
        return status;
    status = sagoi_commit_data_path(&at->plan, path);
    return status ? status : sagoi_cfile_open(path, SAGOI_CFILE_UPDATE, &at->data);
}

static sagoi_cfile *data_of(together *at) { return at->saving->job ? &at->saving->job->commit.data : &at->data; }

static sago_status write_run(void *arg, const sagoi_io_run *run) {
    return sagoi_cfile_write(data_of(arg), run->buf, run->len, run->off);
}

static sago_status sync_data(void *arg) { return sagoi_cfile_sync(data_of(arg)); }

/* Collective over the ranks that write to the same file. */
static sago_status open_file(together *at, sago_file **file) {
    const sago_ckpt *ckpt = at->ckpt;
    sagoi_store_service service = {write_run, sync_data, at};
    sagoi_store *store = NULL;
    sagoi_hints hints = ckpt->hints;
    hints.memory = hints.memory / 2;
    hints.tier = SAGOI_TIER_GLOBAL;
    hints.defer = SAGOI_CHOICE_OFF;
    hints.agree = SAGOI_AGREE_ALWAYS;
    hints.sieve = SAGOI_CHOICE_OFF;
    hints.direct_io = 0;
    hints.subfiles[0] = '\0';
    sago_status status = sagoi_agree_status(ckpt->team, sagoi_store_serve(data_of(at)->path, &service, &store));
    if (status) {
        (void)sagoi_store_close(&store);
        return status;
    }
    MPI_Comm comm = ckpt->local[0] ? ckpt->groups.mine : ckpt->groups.same_file;
    return ckpt->open_store(comm, data_of(at)->path, &hints, store, file);
}

/* ---- Writing ---- */

/* Makes sums of whole pieces, and keeps the bytes of shared pieces. */
static void take_sums(together *at, int64_t from, int64_t to) {
    for (int64_t start = from, next; start < to; start = next) {
        int64_t piece = start / at->piece;
        next = sagoi_min((piece + 1) * at->piece, to);
        const char *bytes = at->buffer + (start - from);
        if (piece < at->first)
            /* It is the first piece, and the bytes lie within it. */
            memcpy(at->head, bytes, (size_t)(next - start));
        else if (next == at->end)
            memcpy(at->tail, bytes, (size_t)(next - start));
        else
            at->sums[piece - at->first] = sagoi_piece_sum(bytes, next - start);
    }
}

/* This rank's next bytes.  A copy from a device that fails makes the save fail when all ranks have written. */
static sago_status write_chunks(together *at, sago_file *file) {
    int64_t base = at->plan.global ? at->plan.place->base : 0, chunk = at->chunk, rounds = 0;
    if (at->end > at->begin)
        rounds = sagoi_div_up(at->end - sagoi_round_down(at->begin, at->piece), chunk);
    MPI_Comm comm = at->ckpt->local[0] ? at->ckpt->groups.mine : at->ckpt->groups.same_file;
    sago_status status = sagoi_allreduce(at->ckpt->team, comm, &rounds, 1, MPI_INT64_T, MPI_MAX), copied = SAGO_OK;
    int64_t from = at->begin;
    for (int64_t i = 0; i < rounds && !status; i++) {
        int64_t to = sagoi_min(at->end, sagoi_round_down(from, at->piece) + chunk);
        MPI_Count moved = 0;
        double begin = sagoi_ckpt_now();
        if (!copied)
            copied = sagoi_slices_copy(at->ckpt, at->buffer, from, to);
        take_sums(at, from, to);
        at->saving->stats.copy += sagoi_ckpt_now() - begin;
        status = sago_write_at_all(file, base + from, at->buffer, to - from, MPI_BYTE, &moved);
        from = to;
    }
    return status ? status : copied;
}

static sago_status write_file(together *at) {
    sago_file *file = NULL;
    sago_status status = open_file(at, &file);
    if (status)
        return status;
    status = write_chunks(at, file);
    if (status == SAGO_OK)
        status = sago_sync(file);
    char why[SAGOI_MESSAGE_MAX];
    sagoi_message_keep(why);
    sago_status closed = sago_close(&file);
    if (!status)
        return closed;
    sagoi_message_set(why);
    return status;
}

/* ---- Checksums ---- */

/* The rank of the group that has the byte. */
static int owner_of(const together *at, int64_t offset) {
    const int64_t *before = at->ckpt->layout.before;
    int low = 0, high = at->ckpt->groups.size;
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if (before[middle] <= offset)
            low = middle;
        else
            high = middle;
    }
    while (before[low + 1] <= offset) /* among ranks without bytes the last one was found */
        low++;
    return low;
}

static sago_status receive_edges(together *at, int64_t *n) {
    const int64_t *before = at->ckpt->layout.before;
    int64_t start = (at->first + at->owned - 1) * at->piece, end = start + at->piece;
    sago_status status = SAGO_OK;
    if (at->owned == 0)
        return SAGO_OK;
    for (int r = at->ckpt->groups.rank + 1; r < at->ckpt->groups.size && before[r] < end && !status; r++) {
        int64_t upto = sagoi_min(before[r + 1], end);
        sagoi_message_to message = {at->ckpt->groups.mine, r, TAG_EDGE, at->tail + (before[r] - start),
                                    upto - before[r]};
        if (upto > before[r])
            status = sagoi_start_receive(at->ckpt->team, &message, &at->requests[(*n)++]);
    }
    return status;
}

static sago_status exchange_edges(together *at) {
    int64_t n = 0, shared = sagoi_min(at->first * at->piece, at->end) - at->begin;
    sago_status status = receive_edges(at, &n);
    if (!status && shared > 0) {
        sagoi_message_to message = {at->ckpt->groups.mine, owner_of(at, sagoi_round_down(at->begin, at->piece)),
                                    TAG_EDGE, at->head, shared};
        status = sagoi_start_send(at->ckpt->team, &message, &at->requests[n++]);
    }
    if (!status)
        status = sagoi_finish_messages(at->ckpt->team, n, at->requests);
    if (status || at->owned == 0)
        return status;
    int64_t start = (at->first + at->owned - 1) * at->piece, all = at->ckpt->layout.before[at->ckpt->groups.size];
    at->sums[at->owned - 1] = sagoi_piece_sum(at->tail, sagoi_min(at->piece, all - start));
    return SAGO_OK;
}

/* The writer gets the sums in the order of the stream. */
static sago_status gather_sums(together *at) {
    const sagoi_groups *groups = &at->ckpt->groups;
    const int64_t *before = at->ckpt->layout.before;
    int *sizes = calloc((size_t)groups->size, sizeof *sizes),
        *places = calloc((size_t)groups->size, sizeof *places);
    bool enough = sizes && places && pieces_before(at, before[groups->size]) < INT32_MAX / 8;
    for (int r = 0; enough && r < groups->size; r++) {
        int64_t first = pieces_before(at, before[r]);
        places[r] = (int)(first * 8);
        sizes[r] = (int)((pieces_before(at, before[r + 1]) - first) * 8);
    }
    sago_status status = sagoi_agree_status(
        at->ckpt->team, enough ? SAGO_OK : sagoi_fail(SAGO_ERR_MEMORY, "no memory for the checksums of a group"));
    sagoi_parts parts = {at->saving->job ? at->saving->job->commit.sums : NULL, sizes, places};
    if (!status)
        status = sagoi_gather_parts(at->ckpt->team, groups->mine, at->sums, at->owned * 8, &parts);
    sagoi_free_received(at->ckpt->team, sizes);
    sagoi_free_received(at->ckpt->team, places);
    return status;
}

/* ---- All together ---- */

/* The part is published, unless the directory was lost meanwhile. */
static sago_status end_part(together *at) {
    sago_ckpt *ckpt = at->ckpt;
    if (!at->saving->job)
        return SAGO_OK;
    sago_status status = SAGO_OK;
    if (ckpt->team->rank == 0)
        status = ckpt->local[0] ? sagoi_lease_look(&ckpt->lease) : sagoi_lease_check(&ckpt->lease);
    return status ? status : sagoi_commit_end(&at->saving->job->commit);
}

static sago_status write_all(together *at) {
    sagoi_team *team = at->ckpt->team;
    sago_status status = sagoi_agree_status(team, make_rooms(at));
    if (!status)
        status = sagoi_agree_status(team, open_data(at));
    if (!status)
        status = sagoi_agree_status(team, write_file(at));
    if (!status)
        status = sagoi_agree_status(team, exchange_edges(at));
    if (!status)
        status = sagoi_agree_status(team, gather_sums(at));
    return status ? status : end_part(at);
}

/* No thread works on the job, so its state is set here. */
static void finish_job(together *at, sago_status status) {
    sagoi_job *job = at->saving->job;
    if (!job)
        return;
    if (status && job->begun)
        sagoi_commit_abandon(&job->commit);
    if (status && !job->status) {
        job->status = status;
        sagoi_message_keep(job->message);
    }
    job->write = sagoi_ckpt_now() - job->opened;
    job->first = status ? SAGOI_JOB_FAILED : SAGOI_JOB_DONE;
    if (status)
        job->global = SAGOI_JOB_NONE;
    else if (job->global == SAGOI_JOB_PENDING)
        sagoi_background_drain(at->ckpt->background, job);
}

sago_status sagoi_write_together(sago_ckpt *ckpt, sagoi_saving *saving) {
    together at = {.ckpt = ckpt, .saving = saving, .data = {.fd = -1}};
    describe(&at);
    sago_status status = write_all(&at);
    finish_job(&at, status);
    (void)sagoi_cfile_close(&at.data);
    free_rooms(&at);
    if (sagoi_is_broken(ckpt->team))
        return status ? status : sagoi_broken(ckpt->team);
    sagoi_message_clear();
    return SAGO_OK; /* all ranks learn of the failure when they agree on the save */
}
