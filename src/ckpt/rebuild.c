/* Bringing back data and parity that were lost with nodes, or are damaged on them: from good fragments of other
 * members of a set, in their old places or on the storage of a node that takes part.  All ranks walk through
 * the same loops, so that each message is sent and received at the same place.
 *
 * Pieces are mended in place.  A crash meanwhile leaves them as damaged as before: each piece is checked
 * whenever it is read, and the record of a lost part or parity is written only when its data is durable. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "ckpt/erasure.h"
#include "ckpt/redundancy.h"
#include "ckpt/survey.h"
#include "move/calls.h"
#include "move/collect.h"

enum {
    TAG = 900,
    TARGETS = 4 /* devices that are tried for a lost part */
};

typedef struct mend {
    sago_ckpt *ckpt;
    sagoi_fetch fetch; /* sources of data, and all parts */
    sagoi_survey survey;
    unsigned char *fragments[SAGOI_FRAGMENTS_MAX], *message, *out;
    /* the file that is being mended */
    sagoi_member_file at;
    sagoi_set set;
    int64_t member;
    int target;       /* the rank that has the file, or gets it */
    sagoi_cfile file; /* there */
    bool made;        /* the file did not exist before */
    int64_t hopeless; /* slices of which too few fragments are left */
    sago_status status;
    /* a file whose fragments this rank gives */
    sagoi_cfile source;
    sagoi_member_file source_is;
} mend;

static void note(mend *work, sago_status status) {
    if (!work->status)
        work->status = status;
}

static const sagoi_intent *intent_of(const mend *work) { return &work->fetch.save->intent; }

/* ---- Parts ---- */

/* What a parity record of the set says of a writer's part. */
static sago_status part_from_parity(mend *work, int64_t writer, const sagoi_item *item, bool *good) {
    sagoi_part *part = &work->fetch.parts[writer];
    sagoi_parity parity;
    int64_t member = intent_of(work)->writers[writer].member;
    *good = false;
    if (!item || !item->bytes)
        return SAGO_OK;
    sago_status status = sagoi_parity_decode(item->bytes, item->len, &parity);
    if (status)
        return status;
    const sagoi_parity_member *lost = member < parity.nmembers ? &parity.members[member] : NULL;
    if (lost)
        status = sagoi_part_decode(lost->part, lost->part_len, part);
    *good = lost && !status;
    if (*good && (part->writer != writer || !sagoi_part_fits(part, intent_of(work)))) {
        sagoi_part_cleanup(part);
        *good = false;
    }
    sagoi_parity_cleanup(&parity);
    return status;
}

/* Takes parts that are only in the parity of others.  Damaged ones are passed over, the same on all ranks. */
static sago_status find_lost_parts(mend *work, bool found[]) {
    const sagoi_intent *intent = intent_of(work);
    sago_status status = SAGO_OK;
    for (int64_t w = 0; w < intent->nwriters && status != SAGO_ERR_MEMORY; w++) {
        sagoi_set set;
        found[w] = work->fetch.there[w];
        sagoi_set_find(intent, intent->writers[w].set, &set);
        for (int64_t m = 0; m < set.n && !found[w] && status != SAGO_ERR_MEMORY; m++)
            status = part_from_parity(
                work, w, sagoi_catalog_parity(&work->fetch.overview->catalog, work->fetch.save, set.number, m),
                &found[w]);
    }
    if (status == SAGO_ERR_MEMORY)
        return status;
    sagoi_message_clear();
    return SAGO_OK;
}

/* ---- Fragments ---- */

/* The place of a fragment of a stripe (data from 0, parity from d on) in a file. */
static sagoi_member_file fragment_file(const sagoi_set *set, int64_t stripe, int64_t fragment) {
    bool parity = fragment >= set->d;
    int64_t member = parity ? sagoi_parity_holder(stripe, fragment - set->d, set->n)
                            : sagoi_data_holder(stripe, fragment, set->k, set->n);
    return (sagoi_member_file){set->writers[member], parity};
}

static int64_t fragment_place(const sagoi_set *set, int64_t fragment) {
    return (fragment < set->d ? fragment : fragment - set->d) * set->chunk;
}

/* The number of a chunk of the current file as a fragment of its stripe. */
static int64_t own_fragment(const mend *work, int64_t chunk) {
    return work->at.parity ? work->set.d + chunk : chunk;
}

static int64_t own_stripe(const mend *work, int64_t chunk) {
    int64_t n = work->set.n;
    return work->at.parity ? ((work->member - chunk) % n + n) % n
                           : sagoi_stripe_of(work->member, chunk, work->set.k, n);
}

/* Finds d good fragments of a slice besides the wanted one; fewer: it cannot be brought back. */
static int64_t choose_fragments(const mend *work, int64_t chunk, int64_t off, int64_t from[]) {
    const sagoi_set *set = &work->set;
    int64_t n = 0, stripe = own_stripe(work, chunk);
    for (int64_t f = 0; f < set->d + set->k && n < set->d; f++) {
        int64_t place = fragment_place(set, f) + off;
        if (f != own_fragment(work, chunk) &&
            sagoi_survey_good(&work->survey, fragment_file(set, stripe, f), place, place + SAGOI_PARITY_PIECE))
            from[n++] = f;
    }
    return n;
}

static void file_name(const mend *work, sagoi_member_file file, char name[SAGOI_CKPT_FILE_NAME]) {
    const sagoi_writer_desc *writer = &intent_of(work)->writers[file.writer];
    if (file.parity)
        sagoi_parity_data_name(name, writer->set, writer->member);
    else
        sagoi_local_data_name(name, file.writer);
}

static sago_status open_source(mend *work, sagoi_member_file file) {
    char name[SAGOI_CKPT_FILE_NAME];
    const sagoi_intent *intent = intent_of(work);
    if (work->source.fd >= 0 && work->source_is.writer == file.writer && work->source_is.parity == file.parity)
        return SAGO_OK;
    (void)sagoi_cfile_close(&work->source);
    work->source_is = file;
    file_name(work, file, name);
    return sagoi_open_local(work->ckpt, intent->step, intent->id, name, SAGOI_CFILE_READ, &work->source);
}

/* Brings the contents of the holder's message to that of the target. */
static sago_status pass_message(mend *work, int holder, int64_t len) {
    sagoi_team *team = work->ckpt->team;
    sagoi_message_to message = {team->own, holder, TAG, work->message, len};
    MPI_Request request;
    if (holder == work->target || (holder != team->rank && work->target != team->rank))
        return SAGO_OK;
    message.peer = holder == team->rank ? work->target : holder;
    sago_status status = holder == team->rank ? sagoi_start_send(team, &message, &request)
                                              : sagoi_start_receive(team, &message, &request);
    return status ? status : sagoi_finish_messages(team, 1, &request);
}

/* Brings one slice of one fragment from its holder to the target; the first 8 bytes tell whether it could be
 * read. */
static void move_slice(mend *work, sagoi_member_file file, int64_t place, int64_t len, unsigned char *into) {
    int me = work->ckpt->team->rank, holder = work->survey.holder[sagoi_survey_index(file)];
    int64_t failed = 0;
    if (holder == me) {
        int64_t end = file.parity ? INT64_MAX : intent_of(work)->writers[file.writer].bytes;
        int64_t there = sagoi_max(0, sagoi_min(len, end - place)); /* behind the stream there may be anything */
        sago_status status = open_source(work, file);
        if (!status)
            status = sagoi_read_padded(&work->source, work->message + 8, there, place);
        memset(work->message + 8 + there, 0, (size_t)(len - there));
        note(work, status);
        failed = status != SAGO_OK;
        memcpy(work->message, &failed, 8);
    }
    sago_status moved = pass_message(work, holder, len + 8);
    note(work, moved);
    if (work->target == me && !moved) {
        memcpy(&failed, work->message, 8);
        memcpy(into, work->message + 8, (size_t)len);
        if (failed)
            note(work, sagoi_fail(SAGO_ERR_IO, "a fragment at rank %d cannot be read", holder));
    }
}

/* ---- One file ---- */

static int64_t bytes_of_file(const mend *work) {
    return work->at.parity ? work->set.k * work->set.chunk : intent_of(work)->writers[work->at.writer].bytes;
}

static bool slice_is_good(const mend *work, int64_t chunk, int64_t off) {
    int64_t place = chunk * work->set.chunk + off;
    return place >= bytes_of_file(work) ||
           (sagoi_survey_good(&work->survey, work->at, place, place + SAGOI_PARITY_PIECE));
}

static void mend_slice(mend *work, int64_t chunk, int64_t off, int64_t len, const int64_t from[]) {
    const sagoi_set *set = &work->set;
    int64_t stripe = own_stripe(work, chunk), place = chunk * set->chunk + off;
    int64_t wanted = sagoi_min(len, bytes_of_file(work) - place);
    for (int64_t f = 0; f < set->d; f++)
        move_slice(work, fragment_file(set, stripe, from[f]), fragment_place(set, from[f]) + off, len,
                   work->fragments[f]);
    if (work->target != work->ckpt->team->rank || work->status)
        return;
    sago_status status =
        sagoi_erasure_decode(set->d, set->k, own_fragment(work, chunk), from, work->fragments, work->out, len);
    note(work, status ? status : sagoi_cfile_write(&work->file, work->out, wanted, place));
}

/* Bad fragments that can be had from the same good ones go in one message each. */
static void mend_chunk(mend *work, int64_t chunk) {
    int64_t len = SAGOI_PARITY_PIECE;
    for (int64_t off = 0; off < work->set.chunk; off += len) {
        int64_t from[SAGOI_FRAGMENTS_MAX] = {0}, next[SAGOI_FRAGMENTS_MAX] = {0}, d = work->set.d;
        len = SAGOI_PARITY_PIECE;
        if (slice_is_good(work, chunk, off))
            continue;
        if (choose_fragments(work, chunk, off, from) < d) {
            work->hopeless++;
            continue;
        }
        while (len < SAGOI_PARITY_SLICE && off + len < work->set.chunk && !slice_is_good(work, chunk, off + len) &&
               choose_fragments(work, chunk, off + len, next) == d &&
               memcmp(from, next, (size_t)d * sizeof from[0]) == 0)
            len += SAGOI_PARITY_PIECE;
        mend_slice(work, chunk, off, len, from);
    }
}

/* ---- At the target ---- */

static sago_status save_folder_path(const mend *work, char path[SAGOI_CKPT_PATH]) {
    return sagoi_save_path(path, work->ckpt->local, intent_of(work)->step, intent_of(work)->id, NULL);
}

static bool is_lost(const mend *work) { return work->survey.holder[sagoi_survey_index(work->at)] < 0; }

static sago_status open_target(mend *work) {
    char path[SAGOI_CKPT_PATH], name[SAGOI_CKPT_FILE_NAME];
    const sagoi_intent *intent = intent_of(work);
    const sagoi_item *record = work->fetch.save->intent_item;
    sago_status status = save_folder_path(work, path);
    if (!status && is_lost(work)) {
        sagoi_wire_out bytes = {.bytes = record->bytes, .len = record->len};
        status = sagoi_found_adopt(&work->ckpt->fence, work->ckpt->local, intent->step, intent->id.low);
        if (!status)
            status = sagoi_cdir_make(path);
        if (!status)
            status = sagoi_cdir_sync(work->ckpt->local);
        if (!status)
            status = sagoi_fence_publish(&work->ckpt->fence, intent->id.low, path, SAGOI_INTENT_NAME, &bytes);
    }
    file_name(work, work->at, name);
    if (!status &&
        sagoi_open_local(work->ckpt, intent->step, intent->id, name, SAGOI_CFILE_CREATE, &work->file) == SAGO_OK) {
        work->made = true;
        return SAGO_OK;
    }
    sagoi_message_clear();
    return status
               ? status
               : sagoi_open_local(work->ckpt, intent->step, intent->id, name, SAGOI_CFILE_OVERWRITE, &work->file);
}

static sago_status publish_record(const mend *work, const char *name, const sagoi_wire_out *record) {
    char path[SAGOI_CKPT_PATH];
    sago_status status = save_folder_path(work, path);
    if (!status)
        status = sagoi_fence_publish(&work->ckpt->fence, intent_of(work)->id.low, path, name, record);
    return status ? status : sagoi_cdir_sync(path);
}

/* Compares the file with its sums (or makes them, if there are none yet); *mended counts bytes that were bad and
 * are good now. */
static sago_status sum_file(mend *work, uint64_t *sums, bool has_sums, int64_t *mended) {
    int64_t piece = sagoi_survey_piece(&work->survey, work->at), bytes = bytes_of_file(work);
    char *data = malloc((size_t)piece);
    sago_status status = data ? SAGO_OK : sagoi_fail(SAGO_ERR_MEMORY, "no memory to check what was rebuilt");
    for (int64_t i = 0; data && i * piece < bytes; i++) {
        int64_t len = sagoi_min(piece, bytes - i * piece), got = 0;
        if (sagoi_survey_good(&work->survey, work->at, i * piece, i * piece + len))
            continue;
        bool good = !sagoi_cfile_read(&work->file, data, len, i * piece, &got) && got == len;
        uint64_t sum = sagoi_piece_sum(data, got);
        if (!good || (has_sums && sum != sums[i]))
            status = sagoi_fail(SAGO_ERR_IO, "piece %lld of writer %lld could not be rebuilt", (long long)i,
                                (long long)work->at.writer);
        else
            *mended += len;
        if (!has_sums)
            sums[i] = sum;
    }
    free(data);
    return status;
}

static sago_status finish_data(mend *work) {
    char name[SAGOI_CKPT_FILE_NAME];
    const sagoi_part *part = &work->fetch.parts[work->at.writer];
    sagoi_wire_out record = {0};
    int64_t mended = 0;
    sago_status status = sum_file(work, part->sums, true, &mended), synced = sagoi_cfile_sync(&work->file);
    if (!status)
        status = synced;
    if (!status && is_lost(work)) {
        sagoi_part_name(name, work->at.writer);
        sagoi_part_encode(part, &record);
        status = publish_record(work, name, &record);
    }
    free(record.bytes);
    if (!status || !is_lost(work))
        work->ckpt->report.bytes_from[SAGO_LEVEL_REDUNDANT] += mended;
    return status;
}

/* A new record for parity of which none is left. */
static sago_status describe_parity(const mend *work, sagoi_parity *record) {
    const sagoi_set *set = &work->set;
    *record = (sagoi_parity){.id = intent_of(work)->id, .step = intent_of(work)->step, .set = set->number};
    record->member = work->member;
    record->data = set->d;
    record->parity = set->k;
    record->chunk = set->chunk;
    record->piece = SAGOI_PARITY_PIECE;
    record->nsums = set->k * set->chunk / SAGOI_PARITY_PIECE;
    record->sums = calloc((size_t)record->nsums + 1, sizeof *record->sums);
    record->members = calloc((size_t)set->n, sizeof *record->members);
    for (int64_t m = 0; record->members && m < set->n; m++) {
        sagoi_wire_out part = {0};
        sagoi_part_encode(&work->fetch.parts[set->writers[m]], &part);
        record->members[m] = (sagoi_parity_member){set->writers[m], part.len, part.bytes};
        record->nmembers += !part.failed;
    }
    if (record->sums && record->nmembers == set->n)
        return SAGO_OK;
    record->nmembers = record->members ? set->n : 0; /* for the cleanup */
    return sagoi_fail(SAGO_ERR_MEMORY, "no memory for a parity record");
}

static sago_status finish_parity(mend *work) {
    char name[SAGOI_CKPT_FILE_NAME];
    sagoi_parity record = {0};
    sagoi_wire_out out = {0};
    int64_t mended = 0;
    const sagoi_item *item =
        sagoi_catalog_parity(&work->fetch.overview->catalog, work->fetch.save, work->set.number, work->member);
    bool lost = is_lost(work);
    if (lost && work->hopeless > 0)
        return sagoi_fail(SAGO_ERR_IO, "too much of redundancy set %lld is lost", (long long)work->set.number);
    sago_status status =
        lost ? describe_parity(work, &record) : sagoi_parity_decode(item->bytes, item->len, &record);
    if (!status)
        status = sum_file(work, record.sums, !lost, &mended);
    if (!status)
        status = sagoi_cfile_sync(&work->file);
    if (!status && lost) {
        sagoi_parity_name(name, work->set.number, work->member);
        sagoi_parity_encode(&record, &out);
        status = publish_record(work, name, &out);
    }
    free(out.bytes);
    sagoi_parity_cleanup(&record);
    return status;
}

/* ---- All together ---- */

/* Members of a set must not share a storage device.  So the target is where the member's other file is, or a
 * device that the set does not use, if there is one. */
static int choose_target(const mend *work) {
    const int *holder = work->survey.holder;
    int64_t index = sagoi_survey_index(work->at), other = index ^ 1;
    if (holder[index] >= 0)
        return holder[index];
    if (holder[other] >= 0)
        return holder[other];
    for (int64_t i = 0; i < work->ckpt->domains; i++) {
        int device = work->ckpt->holders[(work->member + i) % work->ckpt->domains];
        bool used = false;
        for (int64_t m = 0; m < work->set.n; m++)
            used = used || holder[2 * work->set.writers[m]] == device ||
                   holder[2 * work->set.writers[m] + 1] == device;
        if (!used)
            return device;
    }
    return work->ckpt->holders[work->at.writer % work->ckpt->domains];
}

static bool needs_mending(const mend *work) {
    return is_lost(work) || !sagoi_survey_good(&work->survey, work->at, 0, bytes_of_file(work));
}

/* A file that could not be made whole stays as it was, except for mended pieces. */
static void discard_made(mend *work) {
    char path[SAGOI_CKPT_PATH];
    (void)snprintf(path, sizeof path, "%s", work->file.path);
    (void)sagoi_cfile_close(&work->file);
    if (work->made)
        sagoi_fence_discard(&work->ckpt->fence, intent_of(work)->id.low, path);
}

/* Called at the chosen target; *done: the file is whole there. */
static sago_status mend_there(mend *work, bool *done) {
    sagoi_team *team = work->ckpt->team;
    sagoi_agreement agreed = {0};
    sagoi_member_file file = work->at;
    work->status = SAGO_OK;
    work->hopeless = 0;
    work->made = false;
    bool here = work->target == team->rank;
    if (here)
        note(work, open_target(work));
    for (int64_t i = 0; i < (file.parity ? work->set.k : work->set.d); i++)
        mend_chunk(work, i);
    if (here && !work->status)
        note(work, file.parity ? finish_parity(work) : finish_data(work));
    agreed.max[0] = work->status != SAGO_OK;
    sago_status status = sagoi_agree(team, &agreed, NULL, NULL, NULL);
    if (here && (work->status || status))
        discard_made(work);
    (void)sagoi_cfile_close(&work->file);
    if (status)
        return status;
    sagoi_message_clear();
    *done = agreed.max[0] == 0;
    if (!*done)
        return SAGO_OK;
    int64_t index = sagoi_survey_index(file), first = work->survey.first[index];
    work->survey.holder[index] = work->target;
    memset(work->survey.bad + first, 0, (size_t)(work->survey.first[index + 1] - first));
    return SAGO_OK;
}

/* The device after this one. */
static int next_target(const mend *work) {
    const sago_ckpt *ckpt = work->ckpt;
    int64_t i = 0;
    while (i < ckpt->domains - 1 && ckpt->holders[i] != work->target)
        i++;
    return ckpt->holders[(i + 1) % ckpt->domains];
}

/* If a device cannot take back what it has lost (it is full, read-only, or another file has the name), the step
 * need not be lost: two members then share a device. */
static sago_status mend_file(mend *work, sagoi_member_file file) {
    sago_status status = SAGO_OK;
    bool done = false;
    work->at = file;
    sagoi_set_find(intent_of(work), intent_of(work)->writers[file.writer].set, &work->set);
    work->member = intent_of(work)->writers[file.writer].member;
    if (work->set.n == 0 || !needs_mending(work))
        return SAGO_OK;
    int64_t tries = is_lost(work) ? sagoi_min(TARGETS, work->ckpt->domains) : 1;
    work->target = choose_target(work);
    work->hopeless = 0;
    for (int64_t i = 0; i < tries && !done && !status && work->hopeless == 0; i++) {
        if (i > 0)
            work->target = next_target(work);
        status = mend_there(work, &done);
    }
    return status;
}

static sago_status mend_init(mend *work) {
    bool enough = true;
    work->file.fd = work->source.fd = -1;
    work->message = malloc(SAGOI_PARITY_SLICE + 8);
    work->out = malloc(SAGOI_PARITY_SLICE);
    for (int64_t f = 0; f < SAGOI_FRAGMENTS_MAX && f < intent_of(work)->nwriters; f++) {
        work->fragments[f] = malloc(SAGOI_PARITY_SLICE);
        enough = enough && work->fragments[f];
    }
    if (!enough || !work->message || !work->out)
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory to rebuild a part");
    return sagoi_fetch_init(&work->fetch);
}

static void mend_cleanup(mend *work) {
    (void)sagoi_cfile_close(&work->source);
    sagoi_survey_cleanup(&work->survey);
    sagoi_fetch_cleanup(&work->fetch);
    sagoi_free_received(work->ckpt->team, work->message);
    free(work->out);
    for (int64_t f = 0; f < SAGOI_FRAGMENTS_MAX; f++)
        free(work->fragments[f]);
}

/* A step that was never encoded has no parity to be mended. */
static bool has_parity(const mend *work) {
    for (int64_t w = 0; w < intent_of(work)->nwriters; w++)
        if (work->survey.holder[2 * w + 1] >= 0)
            return true;
    return false;
}

static sago_status mend_all(mend *work, sagoi_mending what) {
    int64_t n = intent_of(work)->nwriters;
    bool *found = calloc((size_t)n, sizeof *found); /* the writers' part records */
    sago_status status = mend_init(work);
    if (!status && !found)
        status = sagoi_fail(SAGO_ERR_MEMORY, "no memory to rebuild a part");
    if (!status)
        status = find_lost_parts(work, found);
    status = sagoi_agree_status(work->ckpt->team, status);
    if (!status)
        status = sagoi_survey_make(&work->survey, &work->fetch);
    bool all_found = true;
    for (int64_t w = 0; w < n && !status; w++) {
        all_found = all_found && found[w];
        if (found[w])
            status = mend_file(work, (sagoi_member_file){w, false});
    }
    bool encoded = what == SAGOI_MEND_ALL && all_found && !status && has_parity(work);
    for (int64_t w = 0; w < n && !status && encoded; w++)
        status = mend_file(work, (sagoi_member_file){w, true});
    free(found);
    mend_cleanup(work);
    return status;
}

sago_status sagoi_mend(sago_ckpt *ckpt, int64_t step, uint64_t id_low, sagoi_mending what) {
    sagoi_overview overview;
    sagoi_agreement able = {.max = {!ckpt->local[0] || ckpt->hints.ckpt_read_only}};
    sago_status status = sagoi_agree(ckpt->team, &able, NULL, NULL, NULL);
    if (status || able.max[0])
        return status;
    status = sagoi_overview_of_reachable(ckpt, step, &overview);
    if (status)
        return status;
    mend work = {.ckpt = ckpt};
    sago_ckpt_report ignored = SAGO_CKPT_REPORT_INIT;
    const sagoi_save_view *save = sagoi_overview_of_id(&overview, step, id_low);
    work.fetch = (sagoi_fetch){.ckpt = ckpt, .overview = &overview, .save = save, .report = &ignored};
    bool useful = save && save->intent.parity > 0 && save->parts[SAGO_LEVEL_LOCAL] > 0;
    if (useful && what == SAGOI_MEND_LOST)
        useful = save->parts[SAGO_LEVEL_LOCAL] < save->intent.nwriters &&
                 (save->complete[SAGO_LEVEL_REDUNDANT] || !save->complete[SAGO_LEVEL_GLOBAL]);
    if (useful)
        status = mend_all(&work, what);
    sagoi_overview_cleanup(&overview);
    return status;
}
