/* Parity of the steps on the nodes, which is exchanged inside of Sago's calls, since the writers' threads never
 * call MPI. */
#include "ckpt/redundancy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "ckpt/erasure.h"
#include "ckpt/fetch.h"
#include "move/calls.h"
#include "move/collect.h"

enum { TAG_PART = 500, TAG_SLICE = 1000 };

/* ---- Sets ---- */

/* A file may say anything, so an impossible set counts as none. */
static bool set_is_sound(const sagoi_set *set, int64_t largest) {
    for (int64_t m = 0; m < set->n; m++)
        if (set->writers[m] < 0)
            return false;
    return set->d >= 1 && set->k >= 1 && set->d + set->k <= set->n && largest <= SAGOI_STREAM_MOST;
}

void sagoi_set_find(const sagoi_intent *intent, int64_t number, sagoi_set *set) {
    int64_t largest = 0;
    bool sound = number >= 0;
    *set = (sagoi_set){.number = number, .k = intent->parity};
    for (int64_t m = 0; m < SAGOI_SETS_LARGEST; m++)
        set->writers[m] = -1;
    for (int64_t w = 0; w < intent->nwriters && sound; w++) {
        const sagoi_writer_desc *writer = &intent->writers[w];
        if (writer->set != number)
            continue;
        sound = writer->member < SAGOI_SETS_LARGEST && set->writers[writer->member] < 0;
        if (!sound)
            break;
        set->writers[writer->member] = w;
        set->n = sagoi_max(set->n, writer->member + 1);
        largest = sagoi_max(largest, writer->bytes);
    }
    set->d = intent->data == 1 ? 1 : set->n - set->k;
    if (sound && set_is_sound(set, largest))
        set->chunk = sagoi_round_up(sagoi_div_up(largest, set->d), SAGOI_PARITY_PIECE);
    else
        set->n = 0;
}

sago_status sagoi_open_local(const sago_ckpt *ckpt, int64_t step, sagoi_id id, const char *name,
                             sagoi_cfile_mode mode, sagoi_cfile *file) {
    char path[SAGOI_CKPT_PATH];
    sago_status status = sagoi_save_path(path, ckpt->local, step, id, name);
    return status ? status : sagoi_cfile_open(path, mode, file);
}

sago_status sagoi_read_padded(sagoi_cfile *file, unsigned char *data, int64_t len, int64_t off) {
    int64_t got = 0;
    sago_status status = sagoi_cfile_read(file, data, len, off, &got);
    if (!status)
        memset(data + got, 0, (size_t)(len - got));
    return status;
}

/* ---- One writer's part of an exchange ---- */

typedef struct exchange {
    sago_ckpt *ckpt;
    sagoi_saving *saving;
    sagoi_set set;
    int64_t me; /* member */
    sagoi_cfile data, parity;
    sagoi_parity record;
    /* Lengths of the members' part records; the number behind SAGOI_SETS_LARGEST of them is this member's. */
    int64_t *lengths;
    char *part; /* this member's part record */
    int64_t part_len;
    unsigned char *send, *receive, *out; /* d slices; k * d slices; one slice */
    MPI_Request *requests;
    int nrequests;
    sago_status status; /* this rank's status; the exchange goes on, so that no rank waits in vain */
} exchange;

static void note(exchange *work, sago_status status) {
    if (!work->status)
        work->status = status;
}

static sagoi_message_to message_to(const exchange *work, void *data, int64_t len, int64_t member, int64_t tag) {
    return (sagoi_message_to){work->ckpt->groups.writers, (int)work->set.writers[member], (int)tag, data, len};
}

static void start_send(exchange *work, void *data, int64_t len, int64_t member, int64_t tag) {
    sagoi_message_to message = message_to(work, data, len, member, tag);
    note(work, sagoi_start_send(work->ckpt->team, &message, &work->requests[work->nrequests++]));
}

static void start_receive(exchange *work, void *data, int64_t len, int64_t member, int64_t tag) {
    sagoi_message_to message = message_to(work, data, len, member, tag);
    note(work, sagoi_start_receive(work->ckpt->team, &message, &work->requests[work->nrequests++]));
}

/* false: the team is broken, and nothing more comes. */
static bool finish_messages(exchange *work) {
    sago_status status = sagoi_finish_messages(work->ckpt->team, work->nrequests, work->requests);
    work->nrequests = 0;
    note(work, status);
    return status == SAGO_OK;
}

static sago_status load_own_part(exchange *work) {
    char name[SAGOI_CKPT_FILE_NAME], path[SAGOI_CKPT_PATH];
    sagoi_part_name(name, work->set.writers[work->me]);
    sago_status status = sagoi_save_path(path, work->ckpt->local, work->saving->step, work->saving->id, name);
    return status ? status : sagoi_cfile_load(path, SAGOI_RECORD_MOST, &work->part, &work->part_len);
}

/* Tells every member how long the others' part records are, and makes room for them. */
static sago_status exchange_lengths(exchange *work) {
    int64_t n = work->set.n;
    bool enough = true;
    work->lengths[SAGOI_SETS_LARGEST] = work->part_len;
    for (int64_t m = 0; m < n; m++) {
        start_receive(work, &work->lengths[m], 8, m, TAG_PART);
        start_send(work, &work->lengths[SAGOI_SETS_LARGEST], 8, m, TAG_PART);
    }
    if (!finish_messages(work))
        return work->status;
    for (int64_t m = 0; m < n; m++) {
        char *room = malloc((size_t)work->lengths[m] + 1);
        work->record.members[m] = (sagoi_parity_member){work->set.writers[m], work->lengths[m], room};
        enough = enough && room;
    }
    return enough ? work->status : sagoi_fail(SAGO_ERR_MEMORY, "no memory for the parts of a redundancy set");
}

/* Gives every member the part records of all members, since they are lost with a member, too. */
static void exchange_parts(exchange *work) {
    for (int64_t m = 0; m < work->set.n; m++) {
        const sagoi_parity_member *member = &work->record.members[m];
        start_receive(work, member->part, member->part_len, m, TAG_PART + 1);
        start_send(work, work->part, work->part_len, m, TAG_PART + 1);
    }
    (void)finish_messages(work);
}

/* Sends slices of this member's chunks to the holders of their stripes' parity. */
static void send_slices(exchange *work, int64_t off, int64_t len) {
    const sagoi_set *set = &work->set;
    for (int64_t i = 0; i < set->d; i++) {
        unsigned char *slice = work->send + i * SAGOI_PARITY_SLICE;
        int64_t stripe = sagoi_stripe_of(work->me, i, set->k, set->n);
        if (work->data.fd >= 0)
            note(work, sagoi_read_padded(&work->data, slice, len, i * set->chunk + off));
        for (int64_t j = 0; j < set->k; j++)
            start_send(work, slice, len, sagoi_parity_holder(stripe, j, set->n), TAG_SLICE + stripe * set->k + j);
    }
}

static void receive_slices(exchange *work, int64_t len) {
    const sagoi_set *set = &work->set;
    for (int64_t j = 0; j < set->k; j++)
        for (int64_t i = 0; i < set->d; i++) {
            int64_t stripe = ((work->me - j) % set->n + set->n) % set->n;
            start_receive(work, work->receive + (j * set->d + i) * SAGOI_PARITY_SLICE, len,
                          sagoi_data_holder(stripe, i, set->k, set->n), TAG_SLICE + stripe * set->k + j);
        }
}

static void encode_slices(exchange *work, int64_t off, int64_t len) {
    const sagoi_set *set = &work->set;
    for (int64_t j = 0; j < set->k; j++) {
        unsigned char *data[SAGOI_FRAGMENTS_MAX];
        int64_t place = j * set->chunk + off;
        for (int64_t i = 0; i < set->d; i++)
            data[i] = work->receive + (j * set->d + i) * SAGOI_PARITY_SLICE;
        sagoi_erasure_encode(set->d, set->k, j, data, work->out, len);
        if (work->parity.fd >= 0)
            note(work, sagoi_cfile_write(&work->parity, work->out, len, place));
        for (int64_t at = 0; at < len; at += SAGOI_PARITY_PIECE)
            work->record.sums[(place + at) / SAGOI_PARITY_PIECE] =
                sagoi_piece_sum(work->out + at, SAGOI_PARITY_PIECE);
    }
}

static sago_status exchange_init(exchange *work) {
    const sagoi_set *set = &work->set;
    sagoi_parity *record = &work->record;
    int64_t most = sagoi_max(set->d * set->k * 2, 2 * set->n);
    *record =
        (sagoi_parity){.id = work->saving->id, .step = work->saving->step, .set = set->number, .data = set->d};
    record->member = work->me;
    record->parity = set->k;
    record->chunk = set->chunk;
    record->piece = SAGOI_PARITY_PIECE;
    record->nsums = set->k * set->chunk / SAGOI_PARITY_PIECE;
    record->nmembers = set->n;
    record->sums = calloc((size_t)record->nsums + 1, sizeof *record->sums);
    record->members = calloc((size_t)set->n, sizeof *record->members);
    work->lengths = calloc(SAGOI_SETS_LARGEST + 1, sizeof *work->lengths);
    work->requests = calloc((size_t)most, sizeof *work->requests);
    work->send = calloc((size_t)set->d, SAGOI_PARITY_SLICE);
    work->receive = calloc((size_t)(set->d * set->k), SAGOI_PARITY_SLICE);
    work->out = calloc(1, SAGOI_PARITY_SLICE);
    bool enough = record->sums && record->members && work->lengths && work->requests && work->send &&
                  work->receive && work->out;
    return enough ? load_own_part(work) : sagoi_fail(SAGO_ERR_MEMORY, "no memory to work out parity");
}

static void open_files(exchange *work) {
    char name[SAGOI_CKPT_FILE_NAME];
    sagoi_local_data_name(name, work->set.writers[work->me]);
    note(work,
         sagoi_open_local(work->ckpt, work->saving->step, work->saving->id, name, SAGOI_CFILE_READ, &work->data));
    sagoi_parity_data_name(name, work->set.number, work->me);
    note(work, sagoi_open_local(work->ckpt, work->saving->step, work->saving->id, name, SAGOI_CFILE_OVERWRITE,
                                &work->parity));
}

/* Parity of damaged data would bring back damaged data. */
static sago_status check_own_data(exchange *work) {
    const sagoi_parity_member *mine = &work->record.members[work->me];
    sagoi_part part;
    sago_status status = sagoi_part_decode(mine->part, mine->part_len, &part);
    char *piece = status ? NULL : malloc((size_t)part.piece);
    if (!status && !piece)
        status = sagoi_fail(SAGO_ERR_MEMORY, "no memory to check a writer's data");
    for (int64_t i = 0; !status && i < part.nsums; i++) {
        int64_t len = sagoi_min(part.piece, part.bytes - i * part.piece), got = 0;
        status = sagoi_cfile_read(&work->data, piece, len, i * part.piece, &got);
        if (!status && sagoi_piece_sum(piece, got) != part.sums[i])
            status = sagoi_fail(SAGO_ERR_IO,
                                "piece %lld of writer %lld of step %lld is damaged: no parity is made of it",
                                (long long)i, (long long)part.writer, (long long)part.step);
    }
    free(piece);
    sagoi_part_cleanup(&part);
    return status;
}

/* Published only when all members have what they need: parity of wrong data must never count as right. */
static sago_status publish(exchange *work) {
    char name[SAGOI_CKPT_FILE_NAME], path[SAGOI_CKPT_PATH];
    sagoi_wire_out out = {0};
    sago_status status = sagoi_cfile_sync(&work->parity);
    sagoi_parity_name(name, work->set.number, work->me);
    sagoi_parity_encode(&work->record, &out);
    if (!status)
        status = sagoi_save_path(path, work->ckpt->local, work->saving->step, work->saving->id, NULL);
    if (!status)
        status = sagoi_fence_publish(&work->ckpt->fence, work->saving->id.low, path, name, &out);
    free(out.bytes);
    return status ? status : sagoi_cdir_sync(path);
}

static void exchange_cleanup(exchange *work) {
    const sagoi_team *team = work->ckpt->team;
    (void)sagoi_cfile_close(&work->data);
    (void)sagoi_cfile_close(&work->parity);
    if (!sagoi_is_broken(team)) /* otherwise messages may still come into it */
        sagoi_parity_cleanup(&work->record);
    sagoi_free_received(team, work->lengths);
    sagoi_free_received(team, work->part);
    sagoi_free_received(team, work->send);
    sagoi_free_received(team, work->receive);
    free(work->requests);
    free(work->out);
}

static void exchange_slices(exchange *work) {
    for (int64_t off = 0; off < work->set.chunk; off += SAGOI_PARITY_SLICE) {
        int64_t len = sagoi_min(SAGOI_PARITY_SLICE, work->set.chunk - off);
        receive_slices(work, len);
        send_slices(work, off, len);
        if (!finish_messages(work))
            return;
        encode_slices(work, off, len);
    }
}

static sago_status run_exchange(exchange *work) {
    sagoi_team *team = work->ckpt->team;
    bool takes_part = sagoi_is_writer(work->ckpt) && work->set.n > 0;
    sago_status status = sagoi_agree_status(team, takes_part ? exchange_init(work) : SAGO_OK);
    if (!status)
        status = sagoi_agree_status(team, takes_part ? exchange_lengths(work) : SAGO_OK);
    if (status)
        return status;
    if (takes_part) {
        exchange_parts(work);
        open_files(work);
        if (work->data.fd >= 0)
            note(work, check_own_data(work));
        exchange_slices(work);
    }
    status = sagoi_agree_status(team, work->status);
    return status ? status : sagoi_agree_status(team, takes_part ? publish(work) : SAGO_OK);
}

/* By the intent of the save itself, since the present layout may be a later one. */
static sago_status find_own_set(exchange *work) {
    sagoi_intent intent;
    const sagoi_job *job = work->saving->job;
    if (!job)
        return SAGO_OK;
    sago_status status = sagoi_intent_decode(job->intent, job->intent_len, &intent);
    if (status)
        return status;
    const sagoi_writer_desc *writer = &intent.writers[work->ckpt->groups.writer];
    sagoi_set_find(&intent, writer->set, &work->set);
    work->me = writer->member;
    sagoi_intent_cleanup(&intent);
    return SAGO_OK;
}

static sago_status make_redundant(sago_ckpt *ckpt, sagoi_saving *saving) {
    double begin = sagoi_ckpt_now();
    exchange work = {.ckpt = ckpt, .saving = saving, .data = {.fd = -1}, .parity = {.fd = -1}};
    sago_status status = sagoi_agree_status(ckpt->team, find_own_set(&work));
    if (!status)
        status = run_exchange(&work);
    exchange_cleanup(&work);
    saving->stats.redundancy = sagoi_ckpt_now() - begin;
    ckpt->stats.redundancy += saving->stats.redundancy;
    if (status) { /* the step stays as it is, and sago_ckpt_wait() tells why it is not redundant */
        saving->to_redundant = false;
        saving->bare = true;
        saving->status = status;
        sagoi_message_keep(saving->message);
        ckpt->stats.failed++;
        return SAGO_OK;
    }
    saving->redundant = true;
    saving->stats.level = (int)sagoi_max(saving->stats.level, SAGO_LEVEL_REDUNDANT);
    sagoi_steps_add(ckpt, saving->step, saving->id.low, SAGO_LEVEL_REDUNDANT);
    sagoi_retain(ckpt);
    return SAGO_OK;
}

/* The steps that wait for parity, the oldest first. */
sago_status sagoi_redundancy_advance(sago_ckpt *ckpt) {
    sago_status status = SAGO_OK;
    for (sagoi_saving *at = ckpt->saves; at && !status; at = at->next)
        if (at->decided && !at->failed && at->to_redundant && !at->redundant)
            status = make_redundant(ckpt, at);
    return status;
}

sago_status sagoi_redundancy_wait(sago_ckpt *ckpt, sagoi_saving *saving) {
    if (!saving->redundant && !saving->bare)
        saving->to_redundant = true;
    sago_status status = sagoi_redundancy_advance(ckpt);
    if (status || saving->redundant)
        return status;
    saving->told = true;
    sagoi_message_set(saving->message);
    return saving->status;
}

/* ---- Which writers form sets ---- */

static sago_status too_few(const sago_ckpt *ckpt, int64_t n, int64_t needed) {
    return sagoi_fail(SAGO_ERR_UNSUPPORTED,
                      "sago_ckpt_redundancy needs %lld storage devices in a set, and there are %lld (%lld in all)",
                      (long long)needed, (long long)n, (long long)ckpt->domains);
}

/* Sets have any numbers; they get those of their first writers, so that no number is too high for the intent. */
static void number_sets(sagoi_intent *intent) {
    for (int64_t w = intent->nwriters - 1; w >= 0; w--) {
        int64_t first = 0;
        while (intent->writers[first].set != intent->writers[w].set)
            first++;
        intent->writers[w].set = first;
    }
}

/* The j-th writers of all storage devices in a neighbourhood of devices form a set; `counts` is indexed by
 * device. */
static void form_sets(const sago_ckpt *ckpt, sagoi_intent *intent, int64_t *counts) {
    int64_t neighbourhoods = sagoi_max(1, ckpt->domains / ckpt->hints.ckpt_set);
    for (int64_t w = 0; w < intent->nwriters; w++)
        counts[ckpt->domain_of[w]]++;
    for (int64_t w = 0; w < intent->nwriters; w++) {
        int64_t mine = ckpt->domain_of[w], group = mine * neighbourhoods / ckpt->domains, nth = 0, member = 0;
        for (int64_t v = 0; v < w; v++)
            nth += ckpt->domain_of[v] == mine;
        for (int64_t domain = 0; domain < mine; domain++)
            member += domain * neighbourhoods / ckpt->domains == group && counts[domain] > nth;
        intent->writers[w].set = nth * neighbourhoods + group;
        intent->writers[w].member = member;
    }
    number_sets(intent);
}

static int64_t members_of(const sagoi_intent *intent, int64_t set) {
    int64_t n = 0;
    for (int64_t w = 0; w < intent->nwriters; w++)
        n += intent->writers[w].set == set;
    return n;
}

sago_status sagoi_sets_form(const sago_ckpt *ckpt, sagoi_intent *intent) {
    int64_t scheme = ckpt->hints.ckpt_redundancy, fewest = INT64_MAX;
    int64_t k = scheme >= SAGOI_REDUNDANCY_RS ? scheme - SAGOI_REDUNDANCY_RS + 1 : 1;
    if (scheme == SAGOI_REDUNDANCY_NONE)
        return SAGO_OK;
    if (!ckpt->local[0])
        return sagoi_fail(SAGO_ERR_UNSUPPORTED,
                          "sago_ckpt_redundancy needs storage of the nodes: sago_local_dirs");
    int64_t *counts = calloc((size_t)ckpt->domains, sizeof *counts);
    if (!counts)
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory for redundancy sets");
    form_sets(ckpt, intent, counts);
    free(counts);
    intent->parity = k;
    intent->data = scheme == SAGOI_REDUNDANCY_COPY ? 1 : 2;
    for (int64_t w = 0; w < intent->nwriters; w++)
        fewest = sagoi_min(fewest, members_of(intent, intent->writers[w].set));
    return fewest < k + 1 ? too_few(ckpt, fewest, k + 1) : SAGO_OK;
}

/* ---- Verifying ---- */

static sago_status verify_parity(sagoi_fetch *fetch, const sagoi_item *item, unsigned char *piece) {
    char name[SAGOI_CKPT_FILE_NAME];
    sagoi_parity parity;
    sagoi_cfile file = {.fd = -1};
    sago_status status = sagoi_parity_decode(item->bytes, item->len, &parity);
    if (status)
        return status;
    sagoi_parity_data_name(name, item->index, item->member);
    sago_status opened =
        sagoi_open_local(fetch->ckpt, item->step, fetch->save->intent.id, name, SAGOI_CFILE_READ, &file);
    for (int64_t i = 0; parity.piece == SAGOI_PARITY_PIECE && i < parity.nsums; i++) {
        int64_t got = 0;
        status = opened ? opened : sagoi_cfile_read(&file, piece, parity.piece, i * parity.piece, &got);
        fetch->hung = fetch->hung || status == SAGO_ERR_TIMEOUT;
        bool good = !status && sagoi_piece_sum(piece, got) == parity.sums[i];
        fetch->report->damaged[SAGO_LEVEL_REDUNDANT] += !good && status != SAGO_ERR_TIMEOUT;
        fetch->report->bytes_from[SAGO_LEVEL_REDUNDANT] += good ? got : 0;
    }
    sagoi_parity_cleanup(&parity);
    (void)sagoi_cfile_close(&file);
    return SAGO_OK;
}

sago_status sagoi_redundancy_verify(sagoi_fetch *fetch) {
    unsigned char *piece = malloc(SAGOI_PARITY_PIECE);
    sago_status status = piece ? SAGO_OK : sagoi_fail(SAGO_ERR_MEMORY, "no memory to check parity");
    for (int64_t i = 0; i < fetch->overview->catalog.n && !status; i++) {
        const sagoi_item *item = &fetch->overview->catalog.items[i];
        if (item->kind == SAGOI_ITEM_PARITY && item->step == fetch->save->step && item->bytes &&
            item->id_low == fetch->save->id_low && item->holder == fetch->ckpt->team->rank)
            status = verify_parity(fetch, item, piece);
    }
    free(piece);
    return status;
}
