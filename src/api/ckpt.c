/* The public calls for checkpoints: checks of arguments, handles, and calls that are too small for a file in
 * src/ckpt/. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/handle.h"
#include "api/reporting.h"
#include "ckpt/setup.h"
#include "ckpt/state.h"

static sago_status check_ckpt(const sago_ckpt *ckpt) {
    if (!ckpt)
        return sagoi_fail(SAGO_ERR_HANDLE, "the checkpoint is NULL");
    if (!sagoi_live_has(&ckpt->live))
        return sagoi_fail(SAGO_ERR_HANDLE, "the checkpoint is closed, or none of Sago's");
    return SAGO_OK;
}

/* Ends every call.  Without a handle the message names the call only. */
static sago_status done(const char *call, const sago_ckpt *ckpt, sago_status status) {
    return sagoi_done(call, ckpt && sagoi_live_has(&ckpt->live) ? ckpt->dir : NULL, status);
}

const char *sago_level_string(sago_level level) {
    static const char *const names[SAGO_LEVEL_COUNT] = {"memory", "local", "redundant", "global"};
    return (int)level >= 0 && level < SAGO_LEVEL_COUNT ? names[level] : "unknown level";
}

/* Ranks that name different steps would wait for each other in different places, so the ranks compare their
 * steps. */
static sago_status agree_on_step(const sago_ckpt *ckpt, sago_status status, int64_t step) {
    enum { MAX_VERDICT, MAX_STEP };
    sagoi_agreement agreed = {0};
    sagoi_agreement_claim(&agreed, MAX_STEP, step);
    status = sagoi_agree_with(ckpt->team, status, &agreed);
    if (status || sagoi_agreement_is_equal(&agreed, MAX_STEP))
        return status;
    return sagoi_fail(SAGO_ERR_MISMATCH, "ranks gave different steps: %lld and %lld",
                      (long long)agreed.max[MAX_STEP], (long long)sagoi_agreement_least(&agreed, MAX_STEP));
}

/* Begins the collective calls on a step. */
static sago_status check_step(const sago_ckpt *ckpt, int64_t step) {
    sago_status status = check_ckpt(ckpt);
    return status ? status : agree_on_step(ckpt, SAGO_OK, step);
}

/* ---- Opening and closing ---- */

static sago_status agree_arguments(const sago_ckpt *ckpt, sago_status status, bool *reported) {
    enum { MAX_VERDICT, MAX_DIR, MAX_HINTS = MAX_DIR + 2 }; /* both are claims */
    enum { SUM_UNREPORTED };
    sagoi_agreement agreed = {0};
    sagoi_agreement_claim(&agreed, MAX_DIR, sagoi_positive_hash(ckpt->dir, (int64_t)strlen(ckpt->dir)));
    sagoi_agreement_claim(&agreed, MAX_HINTS, sagoi_positive_hash(&ckpt->hints, sizeof ckpt->hints));
    agreed.sum[SUM_UNREPORTED] = !sagoi_report_wanted();
    status = sagoi_agree_with(ckpt->team, status, &agreed);
    *reported = !status && agreed.sum[SUM_UNREPORTED] == 0;
    if (status)
        return status;
    if (!sagoi_agreement_is_equal(&agreed, MAX_DIR))
        return sagoi_fail(SAGO_ERR_MISMATCH, "ranks gave different directories");
    if (!sagoi_agreement_is_equal(&agreed, MAX_HINTS))
        return sagoi_fail(SAGO_ERR_MISMATCH, "ranks gave different hints");
    return SAGO_OK;
}

static sago_status take_arguments(sago_ckpt *ckpt, const char *dir, MPI_Info info, sago_ckpt **opened) {
    if (!dir || !*dir)
        return sagoi_fail(SAGO_ERR_ARG, "the directory is %s", dir ? "empty" : "NULL");
    if (strlen(dir) + 256 > sizeof ckpt->dir)
        return sagoi_fail(SAGO_ERR_BAD_FILE, "the name of the directory is too long");
    if (!opened)
        return sagoi_fail(SAGO_ERR_ARG, "there is nowhere to put the checkpoint: the last argument is NULL");
    (void)snprintf(ckpt->dir, sizeof ckpt->dir, "%s", dir);
    return sagoi_take_hints(&ckpt->hints, info);
}

/* The site file may say where the nodes' own storage is, and the places of the nodes decide which ranks write. */
static sago_status look_around(sago_ckpt *ckpt) {
    const sagoi_job_network *network;
    sago_status status = sagoi_job_network_ask(ckpt->team, &ckpt->hints, &network);
    if (status)
        return status;
    sagoi_job_network_fill(network, &ckpt->hints);
    ckpt->topology = &network->found.topology;
    ckpt->place = network->place;
    return SAGO_OK;
}

static sago_status open_ckpt(MPI_Comm comm, const char *dir, MPI_Info info, sago_ckpt **opened) {
    sagoi_team *team = NULL;
    void *handle = NULL;
    sago_status status = sagoi_handle_create(comm, sizeof(sago_ckpt), &team, &handle);
    if (status)
        return status;
    sago_ckpt *ckpt = handle;
    ckpt->team = team;
    ckpt->groups.mine = ckpt->groups.writers = ckpt->groups.same_file = MPI_COMM_NULL;
    ckpt->open_store = sagoi_open_on_store;
    ckpt->journal.fd = -1;
    ckpt->report = (sago_ckpt_report)SAGO_CKPT_REPORT_INIT;
    bool reported = false;
    status = agree_arguments(ckpt, take_arguments(ckpt, dir, info, opened), &reported);
    sagoi_path_fix(ckpt->dir);
    team->patience = status ? 0 : ckpt->hints.patience;
    if (!status)
        status = sagoi_team_need_own(ckpt->team);
    if (!status)
        status = look_around(ckpt);
    if (!status)
        status = sagoi_ckpt_set_up(ckpt);
    if (status) {
        sagoi_ckpt_tear_down(ckpt);
        free(ckpt);
        return status;
    }
    if (reported)
        sagoi_report_join(comm, team);
    sagoi_live_add(&ckpt->live);
    *opened = ckpt;
    return SAGO_OK;
}

sago_status sago_ckpt_open(MPI_Comm comm, const char *dir, MPI_Info hints, sago_ckpt **ckpt) {
    sago_status status = sagoi_check_library();
    if (!status)
        sagoi_report_environment();
    if (!status)
        status = sagoi_check_comm(comm);
    if (!status)
        status = open_ckpt(comm, dir, hints, ckpt);
    return sagoi_done("sago_ckpt_open", dir, status);
}

sago_status sago_ckpt_close(sago_ckpt **ckpt) {
    if (!ckpt)
        return done("sago_ckpt_close", NULL, sagoi_fail(SAGO_ERR_HANDLE, "the pointer to the checkpoint is NULL"));
    sago_status status = check_ckpt(*ckpt);
    if (status)
        return done("sago_ckpt_close", NULL, status);
    sago_ckpt *closing = *ckpt;
    *ckpt = NULL;
    status = done("sago_ckpt_close", closing, sagoi_ckpt_finish(closing));
    sagoi_live_remove(&closing->live);
    sagoi_ckpt_tear_down(closing);
    free(closing);
    return status;
}

/* ---- What is saved ---- */

sago_status sago_ckpt_protect(sago_ckpt *ckpt, const char *name, MPI_Datatype element, int ndims,
                              const int64_t global[], int64_t nblocks, const sago_block blocks[]) {
    sagoi_array_arguments given = {name, element, ndims, global, nblocks, blocks};
    sago_status status = check_ckpt(ckpt);
    return done("sago_ckpt_protect", ckpt, status ? status : sagoi_dataset_add_array(&ckpt->data, &given));
}

sago_status sago_ckpt_protect_local(sago_ckpt *ckpt, const char *name, void *data, int64_t bytes) {
    sago_status status = check_ckpt(ckpt);
    return done("sago_ckpt_protect_local", ckpt,
                status ? status : sagoi_dataset_add_bytes(&ckpt->data, name, SAGO_CKPT_LOCAL, data, bytes));
}

sago_status sago_ckpt_protect_shared(sago_ckpt *ckpt, const char *name, void *data, int64_t bytes) {
    sago_status status = check_ckpt(ckpt);
    return done("sago_ckpt_protect_shared", ckpt,
                status ? status : sagoi_dataset_add_bytes(&ckpt->data, name, SAGO_CKPT_SHARED, data, bytes));
}

sago_status sago_ckpt_unprotect(sago_ckpt *ckpt, const char *name) {
    sago_status status = check_ckpt(ckpt);
    return done("sago_ckpt_unprotect", ckpt, status ? status : sagoi_dataset_remove(&ckpt->data, name));
}

/* ---- Saving and restoring ---- */

sago_status sago_ckpt_save(sago_ckpt *ckpt, int64_t step) {
    sago_status status = check_ckpt(ckpt);
    return done("sago_ckpt_save", ckpt, status ? status : sagoi_save(ckpt, step));
}

sago_status sago_ckpt_progress(sago_ckpt *ckpt) {
    sago_status status = check_ckpt(ckpt);
    if (!status)
        status = sagoi_saves_progress(ckpt);
    return done("sago_ckpt_progress", ckpt, status ? status : sagoi_redundancy_advance(ckpt));
}

sago_status sago_ckpt_restore(sago_ckpt *ckpt, int64_t step) {
    sago_status status = check_step(ckpt, step);
    return done("sago_ckpt_restore", ckpt, status ? status : sagoi_restore(ckpt, step));
}

sago_status sago_ckpt_restore_latest(sago_ckpt *ckpt, int64_t *step) {
    sago_status status = check_ckpt(ckpt);
    if (status)
        return done("sago_ckpt_restore_latest", NULL, status);
    if (!step)
        status = sagoi_fail(SAGO_ERR_ARG, "there is nowhere to put the step");
    status = sagoi_agree_status(ckpt->team, status);
    return done("sago_ckpt_restore_latest", ckpt, status ? status : sagoi_restore_latest(ckpt, step));
}

sago_status sago_ckpt_wait(sago_ckpt *ckpt, int64_t step, sago_level level) {
    sago_status status = check_ckpt(ckpt);
    return done("sago_ckpt_wait", ckpt, status ? status : sagoi_wait_for(ckpt, step, level));
}

sago_status sago_ckpt_verify(sago_ckpt *ckpt, int64_t step) {
    sago_status status = check_step(ckpt, step);
    return done("sago_ckpt_verify", ckpt, status ? status : sagoi_verify(ckpt, step));
}

sago_status sago_ckpt_drain(sago_ckpt *ckpt, int64_t step) {
    sago_status status = check_step(ckpt, step);
    return done("sago_ckpt_drain", ckpt, status ? status : sagoi_drain(ckpt, step));
}

sago_status sago_ckpt_repair(sago_ckpt *ckpt, int64_t step) {
    sago_status status = check_step(ckpt, step);
    return done("sago_ckpt_repair", ckpt, status ? status : sagoi_repair(ckpt, step));
}

sago_status sago_ckpt_remove(sago_ckpt *ckpt, int64_t step) {
    sago_status status = check_step(ckpt, step);
    return done("sago_ckpt_remove", ckpt, status ? status : sagoi_remove(ckpt, step));
}

sago_status sago_ckpt_remove_damaged(sago_ckpt *ckpt, int64_t step) {
    sago_status status = check_step(ckpt, step);
    return done("sago_ckpt_remove_damaged", ckpt, status ? status : sagoi_remove_damaged(ckpt, step));
}

sago_status sago_ckpt_due(sago_ckpt *ckpt, int *due, int *leave) {
    sago_status status = check_ckpt(ckpt);
    if (status)
        return done("sago_ckpt_due", NULL, status);
    int is_due = 0, is_leaving = 0;
    status = sagoi_is_due(ckpt, &is_due, &is_leaving);
    if (!status && due)
        *due = is_due;
    if (!status && leave)
        *leave = is_leaving;
    return done("sago_ckpt_due", ckpt, status);
}

/* ---- What is there ---- */

/* Reads what can be read where some storage does not answer; the overview names what was left out. */
static sago_status look(sago_ckpt *ckpt, int64_t step, sagoi_overview *overview) {
    sago_status status = sagoi_overview_of_reachable(ckpt, step, overview);
    if (!status && overview->partial) {
        ckpt->report = (sago_ckpt_report)SAGO_CKPT_REPORT_INIT;
        sagoi_overview_tell(ckpt, overview);
    }
    return status;
}

/* While some storage does not answer, nobody knows that there is no step. */
static sago_status nothing_seen(const sagoi_overview *overview) {
    return overview->partial ? sagoi_fail(SAGO_ERR_TIMEOUT,
                                          "there is none where it can be read, and some storage does not answer")
                             : SAGO_OK;
}

static sago_status find_latest(sago_ckpt *ckpt, sago_level at_least, int64_t *step) {
    sagoi_overview overview;
    int64_t found = -1;
    sago_status status = look(ckpt, SAGOI_NO_STEP, &overview);
    if (status)
        return status;
    for (int64_t i = 0; i < overview.n; i++) /* ascending */
        if (sagoi_view_complete(&overview.views[i], at_least < SAGO_LEVEL_LOCAL ? SAGO_LEVEL_LOCAL : at_least))
            found = overview.views[i].step;
    if (found < 0)
        status = nothing_seen(&overview);
    if (!status)
        *step = found;
    sagoi_overview_cleanup(&overview);
    return status;
}

sago_status sago_ckpt_latest(sago_ckpt *ckpt, sago_level at_least, int64_t *step) {
    sago_status status = check_ckpt(ckpt);
    if (status)
        return done("sago_ckpt_latest", NULL, status);
    if (!step || (int)at_least < 0 || at_least >= SAGO_LEVEL_COUNT)
        status = sagoi_fail(SAGO_ERR_ARG, step ? "there is no such level" : "there is nowhere to put the step");
    status = sagoi_agree_status(ckpt->team, status);
    return done("sago_ckpt_latest", ckpt, status ? status : find_latest(ckpt, at_least, step));
}

static sago_ckpt_step describe_step(const sagoi_save_view *view) {
    sago_ckpt_step step = {.step = view->step,
                           .time = view->intent.time,
                           .files = view->intent.files,
                           .writers = view->intent.nwriters,
                           .ranks = view->intent.ranks,
                           .arrays = view->intent.narrays,
                           .save_id = {view->id_low, view->intent.id.high},
                           .damaged = sagoi_view_damaged(view),
                           .late = sagoi_view_late(view)};
    step.bytes = view->intent_item ? sagoi_intent_bytes(&view->intent) : 0;
    for (int level = 0; level < SAGO_LEVEL_COUNT; level++) {
        step.complete[level] = view->complete[level];
        step.parts[level] = view->parts[level];
    }
    return step;
}

sago_status sago_ckpt_list(sago_ckpt *ckpt, int64_t *count, sago_ckpt_step steps[]) {
    sagoi_overview overview;
    sago_status status = check_ckpt(ckpt);
    if (status)
        return done("sago_ckpt_list", NULL, status);
    if (!count || *count < 0 || (*count > 0 && !steps))
        status = sagoi_fail(SAGO_ERR_ARG, "the room for steps is NULL or negative");
    status = sagoi_agree_status(ckpt->team, status);
    if (!status)
        status = look(ckpt, SAGOI_NO_STEP, &overview);
    if (status)
        return done("sago_ckpt_list", ckpt, status);
    status = overview.n == 0 ? nothing_seen(&overview) : SAGO_OK;
    for (int64_t i = 0; i < overview.n && i < *count; i++)
        steps[i] = describe_step(&overview.views[i]);
    if (!status)
        *count = overview.n;
    sagoi_overview_cleanup(&overview);
    return done("sago_ckpt_list", ckpt, status);
}

/* Bytes of this rank's local data, from the part that has the data. */
static sago_status local_bytes(const sagoi_overview *overview, const sagoi_save_view *view, int64_t array,
                               int rank, int64_t *bytes) {
    *bytes = 0;
    for (int64_t i = 0; i < overview->catalog.n; i++) {
        const sagoi_item *item = &overview->catalog.items[i];
        sagoi_part part;
        if (item->kind != SAGOI_ITEM_PART || item->step != view->step || item->id_low != view->id_low)
            continue;
        sago_status status = sagoi_part_decode(item->bytes, item->len, &part);
        if (status)
            return status;
        for (int64_t b = 0; b < part.nblocks; b++)
            if (part.blocks[b].array == array && part.blocks[b].rank == rank)
                *bytes = part.blocks[b].bytes;
        sagoi_part_cleanup(&part);
    }
    return SAGO_OK;
}

static sago_status describe_array(const sago_ckpt *ckpt, const sagoi_overview *overview,
                                  const sagoi_save_view *view, int64_t index, sago_ckpt_info *info) {
    const sagoi_array_desc *desc = &view->intent.arrays[index];
    sago_ckpt_info full = {.kind = (sago_ckpt_kind)desc->kind,
                           .element_size = desc->element,
                           .ndims = (int)desc->ndims,
                           .bytes = desc->bytes,
                           .ranks = view->intent.ranks};
    size_t room = info->size < sizeof full ? info->size : sizeof full;
    full.size = info->size;
    memcpy(full.name, desc->name, sizeof full.name);
    memcpy(full.type, desc->type, sizeof full.type);
    memcpy(full.global, desc->global, sizeof full.global);
    if (desc->kind == SAGO_CKPT_LOCAL) {
        sago_status status = local_bytes(overview, view, index, ckpt->team->rank, &full.bytes);
        if (status)
            return status;
    }
    memcpy(info, &full, room);
    return SAGO_OK;
}

/* Inquires by name, or, with name NULL, by index. */
static sago_status inquire(sago_ckpt *ckpt, int64_t step, const char *name, int64_t index, sago_ckpt_info *info) {
    sagoi_overview overview;
    sago_status status = look(ckpt, step, &overview);
    if (status)
        return status;
    const sagoi_save_view *view = sagoi_views_find(overview.views, overview.n, step);
    for (int64_t i = 0; view && name && i < view->intent.narrays; i++)
        if (strcmp(view->intent.arrays[i].name, name) == 0)
            index = i;
    if (!view && overview.partial)
        status = nothing_seen(&overview);
    else if (!view)
        status = sagoi_fail(SAGO_ERR_NO_FILE, "there is no complete checkpoint of step %lld", (long long)step);
    else if (index < 0 || index >= view->intent.narrays)
        status = sagoi_fail(SAGO_ERR_NO_FILE, "step %lld has nothing called \"%.64s\"", (long long)step,
                            name ? name : "(beyond the last)");
    else
        status = describe_array(ckpt, &overview, view, index, info);
    sagoi_overview_cleanup(&overview);
    return sagoi_agree_status(ckpt->team, status);
}

static sago_status check_info(const sago_ckpt *ckpt, int64_t step, const sago_ckpt_info *info) {
    sago_status status = check_ckpt(ckpt);
    if (status)
        return status;
    if (!info || info->size < offsetof(sago_ckpt_info, ranks))
        status = sagoi_fail(SAGO_ERR_ARG, "the info is NULL, or its size is not set (SAGO_CKPT_INFO_INIT)");
    return agree_on_step(ckpt, status, step);
}

sago_status sago_ckpt_inquire(sago_ckpt *ckpt, int64_t step, const char *name, sago_ckpt_info *info) {
    sago_status status = check_info(ckpt, step, info);
    return done("sago_ckpt_inquire", ckpt, status ? status : inquire(ckpt, step, name ? name : "", -1, info));
}

sago_status sago_ckpt_inquire_index(sago_ckpt *ckpt, int64_t step, int64_t index, sago_ckpt_info *info) {
    sago_status status = check_info(ckpt, step, info);
    return done("sago_ckpt_inquire_index", ckpt, status ? status : inquire(ckpt, step, NULL, index, info));
}

/* ---- Statistics ---- */

sago_status sago_ckpt_get_report(sago_ckpt *ckpt, sago_ckpt_report *report) {
    sago_status status = check_ckpt(ckpt);
    if (!status && (!report || report->size < offsetof(sago_ckpt_report, text)))
        status = sagoi_fail(SAGO_ERR_ARG, "the report is NULL, or its size is not set (SAGO_CKPT_REPORT_INIT)");
    if (status)
        return done("sago_ckpt_get_report", NULL, status);
    size_t size = report->size, room = size < sizeof *report ? size : sizeof *report;
    memcpy(report, &ckpt->report, room);
    report->size = size;
    return done("sago_ckpt_get_report", ckpt, SAGO_OK);
}

sago_status sago_ckpt_get_stats(sago_ckpt *ckpt, sago_ckpt_stats *stats) {
    sago_ckpt_stats now;
    sago_status status = check_ckpt(ckpt);
    if (status)
        return done("sago_ckpt_get_stats", NULL, status);
    if (!stats || stats->size < offsetof(sago_ckpt_stats, recent))
        status =
            sagoi_fail(SAGO_ERR_ARG, "the statistics are NULL, or their size is not set (SAGO_CKPT_STATS_INIT)");
    status = sagoi_agree_status(ckpt->team, status);
    if (!status)
        status = sagoi_collect_stats(ckpt, &now);
    if (!status) {
        now.size = stats->size;
        memcpy(stats, &now, now.size < sizeof now ? now.size : sizeof now);
    }
    return done("sago_ckpt_get_stats", ckpt, status);
}
