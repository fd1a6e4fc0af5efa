/* Bringing back the parts that were lost with their nodes: from the data and the parity of the other members of
 * their sets, onto the storage of a node that is here.  Every rank walks through the same loops, so that each
 * message is sent and received at the same place. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "ckpt/erasure.h"
#include "ckpt/redundancy.h"

enum { TAG = 900 };

/* One lost writer. */
typedef struct rebuild {
    sago_ckpt *ckpt;
    const sagoi_overview *overview;
    const sagoi_save_view *save;
    sagoi_set set;
    int64_t member, target; /* target: the rank that gets it */
    sagoi_parity parity;    /* of any member that is there */
    sagoi_part part;        /* of the lost one, from the parity record */
    sagoi_cfile file;       /* at the target */
    unsigned char *fragments[SAGOI_FRAGMENTS_MAX], *message, *out;
    sago_status status; /* this rank's; messages go on */
} rebuild;

static void note(rebuild *work, sago_status status) {
    if (!work->status)
        work->status = status;
}

/* A parity record of the set that is whole. */
static sago_status find_parity(rebuild *work) {
    for (int64_t m = 0; m < work->set.n; m++) {
        const sagoi_item *item = sagoi_catalog_parity(&work->overview->catalog, work->save, work->set.number, m);
        if (!item || !item->bytes || sagoi_parity_decode(item->bytes, item->len, &work->parity))
            continue;
        const sagoi_parity *parity = &work->parity;
        bool fits = parity->nmembers == work->set.n && parity->data == work->set.d &&
                    parity->parity == work->set.k && parity->chunk == work->set.chunk &&
                    parity->data + parity->parity <= SAGOI_FRAGMENTS_MAX;
        const sagoi_parity_member *lost = &parity->members[work->member];
        if (fits && !sagoi_part_decode(lost->part, lost->part_len, &work->part) &&
            sagoi_part_fits(&work->part, &work->save->intent) &&
            work->part.writer == work->set.writers[work->member])
            return SAGO_OK;
        sagoi_part_cleanup(&work->part);
        sagoi_parity_cleanup(&work->parity);
    }
    return sagoi_fail(SAGO_ERR_IO, "step %lld: no parity of set %lld can be used to bring back writer %lld",
                      (long long)work->save->step, (long long)work->set.number,
                      (long long)work->set.writers[work->member]);
}

/* A fragment of a stripe (data from 0, parity from d on): who can read it; NULL: nobody. */
static const sagoi_item *fragment_item(const rebuild *work, int64_t stripe, int64_t fragment) {
    const sagoi_set *set = &work->set;
    const sagoi_catalog *catalog = &work->overview->catalog;
    if (fragment < set->d) {
        int64_t member = sagoi_data_holder(stripe, fragment, set->k, set->n);
        return sagoi_catalog_part(catalog, work->save, SAGO_LEVEL_LOCAL, set->writers[member]);
    }
    return sagoi_catalog_parity(catalog, work->save, set->number,
                                sagoi_parity_holder(stripe, fragment - set->d, set->n));
}

static sago_status open_fragment(const rebuild *work, const sagoi_item *item, sagoi_cfile *file) {
    char name[SAGOI_CKPT_FILE_NAME];
    if (item->kind == SAGOI_ITEM_PART)
        sagoi_local_data_name(name, item->index);
    else
        sagoi_parity_data_name(name, item->index, item->member);
    return sagoi_open_local(work->ckpt, work->save->step, work->save->intent.id, name, SAGOI_CFILE_READ, file);
}

/* One slice of one fragment, from whoever has it to the target; the first 8 bytes tell whether it could be read.
 */
static void move_slice(rebuild *work, const sagoi_item *item, sagoi_cfile *file, int64_t place, int64_t len,
                       unsigned char *into) {
    int me = work->ckpt->team->rank;
    int64_t failed = 0;
    if (item->holder == me) {
        sago_status status = file->fd >= 0 ? SAGO_OK : open_fragment(work, item, file);
        if (!status)
            status = sagoi_read_padded(file, work->message + 8, len, place);
        note(work, status);
        failed = status != SAGO_OK;
        memcpy(work->message, &failed, 8);
        if (work->target != me)
            (void)MPI_Send(work->message, (int)len + 8, MPI_BYTE, (int)work->target, TAG, work->ckpt->team->all);
    } else if (work->target == me) {
        (void)MPI_Recv(work->message, (int)len + 8, MPI_BYTE, (int)item->holder, TAG, work->ckpt->team->all,
                       MPI_STATUS_IGNORE);
    }
    if (work->target == me) {
        memcpy(&failed, work->message, 8);
        memcpy(into, work->message + 8, (size_t)len);
        if (failed)
            note(work, sagoi_fail(SAGO_ERR_IO, "a fragment at rank %lld cannot be read", (long long)item->holder));
    }
}

/* d fragments of the stripe that are there; fewer: it cannot be rebuilt. */
static int64_t choose_fragments(const rebuild *work, int64_t stripe, int64_t from[], const sagoi_item *items[]) {
    int64_t n = 0;
    for (int64_t f = 0; f < work->set.d + work->set.k && n < work->set.d; f++) {
        const sagoi_item *item = fragment_item(work, stripe, f);
        if (!item)
            continue;
        from[n] = f;
        items[n++] = item;
    }
    return n;
}

/* Where a fragment's bytes are in the file of who has it. */
static int64_t fragment_offset(const rebuild *work, int64_t fragment) {
    return (fragment < work->set.d ? fragment : fragment - work->set.d) * work->set.chunk;
}

static void rebuild_chunk(rebuild *work, int64_t i) {
    const sagoi_set *set = &work->set;
    int64_t stripe = sagoi_stripe_of(work->member, i, set->k, set->n), from[SAGOI_FRAGMENTS_MAX] = {0};
    const sagoi_item *items[SAGOI_FRAGMENTS_MAX] = {NULL};
    sagoi_cfile files[SAGOI_FRAGMENTS_MAX];
    if (choose_fragments(work, stripe, from, items) < set->d) {
        note(work, sagoi_fail(SAGO_ERR_IO,
                              "step %lld: too much of redundancy set %lld is lost to bring back writer %lld",
                              (long long)work->save->step, (long long)set->number,
                              (long long)set->writers[work->member]));
        return;
    }
    for (int64_t f = 0; f < SAGOI_FRAGMENTS_MAX; f++)
        files[f].fd = -1;
    for (int64_t off = 0; off < set->chunk; off += SAGOI_PARITY_SLICE) {
        int64_t len = sagoi_min(SAGOI_PARITY_SLICE, set->chunk - off), place = i * set->chunk + off;
        for (int64_t f = 0; f < set->d; f++)
            move_slice(work, items[f], &files[f], fragment_offset(work, from[f]) + off, len, work->fragments[f]);
        int64_t wanted = sagoi_min(len, work->part.bytes - place);
        if (work->target != work->ckpt->team->rank || wanted <= 0 || work->status)
            continue;
        if (sagoi_erasure_decode(set->d, set->k, i, from, work->fragments, work->out, len))
            note(work, sagoi_cfile_write(&work->file, work->out, wanted, place));
        else
            note(work, sagoi_fail(SAGO_ERR_IO, "the fragments of a stripe do not determine the lost one"));
    }
    for (int64_t f = 0; f < set->d; f++)
        (void)sagoi_cfile_close(&files[f]);
}

/* ---- At the target ---- */

static sago_status make_place(rebuild *work) {
    char folder[SAGOI_CKPT_FILE_NAME], path[SAGOI_CKPT_PATH], name[SAGOI_CKPT_FILE_NAME];
    sagoi_save_folder(folder, work->save->step, work->save->intent.id);
    if (!sagoi_path_join(path, work->ckpt->local, folder))
        return sagoi_fail(SAGO_ERR_BAD_FILE, "%s: the path is too long", work->ckpt->local);
    sago_status status = sagoi_cdir_make(path);
    if (!status)
        status = sagoi_cdir_sync(work->ckpt->local);
    if (!status)
        status = sagoi_cfile_publish(path, SAGOI_INTENT_NAME, work->save->intent_item->bytes,
                                     work->save->intent_item->len);
    sagoi_local_data_name(name, work->part.writer);
    return status ? status
                  : sagoi_open_local(work->ckpt, work->save->step, work->save->intent.id, name,
                                     SAGOI_CFILE_OVERWRITE, &work->file);
}

/* What was rebuilt is what was written, or it is not taken. */
static sago_status check_data(rebuild *work) {
    const sagoi_part *part = &work->part;
    char *piece = malloc((size_t)part->piece);
    sago_status status = piece ? SAGO_OK : sagoi_fail(SAGO_ERR_MEMORY, "no memory to check what was rebuilt");
    for (int64_t i = 0; i < part->nsums && !status; i++) {
        int64_t len = sagoi_min(part->piece, part->bytes - i * part->piece), got = 0;
        status = sagoi_cfile_read(&work->file, piece, len, i * part->piece, &got);
        if (!status && (got < len || sagoi_piece_sum(piece, len) != part->sums[i]))
            status = sagoi_fail(SAGO_ERR_IO, "step %lld: writer %lld was rebuilt from damaged data or parity",
                                (long long)part->step, (long long)part->writer);
    }
    free(piece);
    return status;
}

static sago_status publish(rebuild *work) {
    char folder[SAGOI_CKPT_FILE_NAME], path[SAGOI_CKPT_PATH], name[SAGOI_CKPT_FILE_NAME];
    const sagoi_parity_member *lost = &work->parity.members[work->member];
    sagoi_save_folder(folder, work->save->step, work->save->intent.id);
    (void)sagoi_path_join(path, work->ckpt->local, folder);
    sagoi_part_name(name, work->part.writer);
    sago_status status = check_data(work);
    if (!status)
        status = sagoi_cfile_sync(&work->file);
    if (!status)
        status = sagoi_cfile_publish(path, name, lost->part, lost->part_len);
    if (!status)
        status = sagoi_cdir_sync(path);
    if (!status)
        work->ckpt->report.bytes_from[SAGO_LEVEL_REDUNDANT] += work->part.bytes;
    return status;
}

/* ---- All together ---- */

static sago_status rebuild_init(rebuild *work) {
    bool enough = true;
    sago_status status = find_parity(work);
    if (status)
        return status;
    work->message = malloc(SAGOI_PARITY_SLICE + 8);
    work->out = malloc(SAGOI_PARITY_SLICE);
    for (int64_t f = 0; f < work->set.d; f++) {
        work->fragments[f] = malloc(SAGOI_PARITY_SLICE);
        enough = enough && work->fragments[f];
    }
    if (!enough || !work->message || !work->out)
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory to rebuild a part");
    return work->target == work->ckpt->team->rank ? make_place(work) : SAGO_OK;
}

static void rebuild_cleanup(rebuild *work) {
    (void)sagoi_cfile_close(&work->file);
    sagoi_parity_cleanup(&work->parity);
    sagoi_part_cleanup(&work->part);
    free(work->message);
    free(work->out);
    for (int64_t f = 0; f < SAGOI_FRAGMENTS_MAX; f++)
        free(work->fragments[f]);
}

static sago_status rebuild_writer(sago_ckpt *ckpt, const sagoi_overview *overview, const sagoi_save_view *save,
                                  int64_t writer) {
    rebuild work = {.ckpt = ckpt, .overview = overview, .save = save, .file = {.fd = -1}};
    sagoi_set_find(&save->intent, save->intent.writers[writer].set, &work.set);
    work.member = save->intent.writers[writer].member;
    work.target = ckpt->holders[writer % ckpt->domains];
    sago_status status = sagoi_agree_status(ckpt->team, rebuild_init(&work));
    for (int64_t i = 0; !status && i < work.set.d; i++)
        rebuild_chunk(&work, i);
    if (!status)
        status = sagoi_agree_status(ckpt->team, work.status);
    if (!status)
        status = sagoi_agree_status(ckpt->team, work.target == ckpt->team->rank ? publish(&work) : SAGO_OK);
    rebuild_cleanup(&work);
    return status;
}

sago_status sagoi_rebuild(sago_ckpt *ckpt, int64_t step) {
    sagoi_overview overview;
    sagoi_agreement able = {.max = {!ckpt->local[0] || ckpt->hints.ckpt_read_only}};
    sago_status status = sagoi_agree(ckpt->team, &able, NULL, NULL, NULL);
    if (status || able.max[0])
        return status;
    status = sagoi_overview_make(ckpt, step, &overview);
    if (status)
        return status;
    const sagoi_save_view *save = sagoi_views_find(overview.views, overview.n, step);
    bool useful = save && save->complete[SAGO_LEVEL_REDUNDANT];
    for (int64_t w = 0; useful && w < save->intent.nwriters && !status; w++)
        if (!sagoi_catalog_part(&overview.catalog, save, SAGO_LEVEL_LOCAL, w))
            status = rebuild_writer(ckpt, &overview, save, w);
    if (status && save && save->complete[SAGO_LEVEL_GLOBAL]) {
        sagoi_message_clear(); /* there is another way */
        status = SAGO_OK;
    }
    sagoi_overview_cleanup(&overview);
    return status;
}
