/* Looking after a directory: verifying, draining, repairing and removing steps. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/size_text.h"
#include "ckpt/drain.h"
#include "ckpt/fetch.h"
#include "ckpt/redundancy.h"
#include "move/collect.h"

static sago_status no_such_step(const sagoi_overview *overview, int64_t step) {
    for (int64_t i = 0; i < overview->n; i++)
        if (overview->views[i].step == step && sagoi_view_aside(&overview->views[i]))
            return sagoi_fail(SAGO_ERR_NO_FILE, "step %lld is damaged and set aside", (long long)step);
    return sagoi_fail(SAGO_ERR_NO_FILE, "there is no checkpoint of step %lld", (long long)step);
}

void sagoi_report_add(sago_ckpt_report *report, const char *format, ...) {
    size_t used = strlen(report->text);
    va_list args;
    va_start(args, format);
    (void)vsnprintf(report->text + used, sizeof report->text - used, format, args);
    va_end(args);
}

/* ---- Verifying ---- */

/* Global parts are divided among the ranks; local parts are read by their holders. */
static bool is_mine(const sago_ckpt *ckpt, const sagoi_item *item, int64_t writer) {
    int64_t reader = item->level == SAGO_LEVEL_GLOBAL ? writer % ckpt->team->size : item->holder;
    return reader == ckpt->team->rank;
}

/* Storage that hangs is not known to be damaged. */
static void verify_piece(sagoi_fetch *fetch, sago_level level, int64_t writer, int64_t piece) {
    const sagoi_part *part = &fetch->parts[writer];
    sagoi_poke(fetch->ckpt->team); /* as in fetch.c */
    sago_status status = sagoi_fetch_piece(fetch, level, writer, piece);
    if (!status)
        fetch->report->bytes_from[level] += sagoi_min(part->piece, part->bytes - piece * part->piece);
    else
        fetch->report->damaged[level] += status != SAGO_ERR_TIMEOUT;
}

static void verify_level(sagoi_fetch *fetch, sago_level level) {
    const sagoi_save_view *save = fetch->save;
    bool unknown =
        level == SAGO_LEVEL_GLOBAL ? fetch->overview->without_directory : fetch->overview->without_devices > 0;
    bool used = save->parts[level] > 0 || save->intent_at[level];
    for (int64_t w = 0; used && w < save->intent.nwriters; w++) {
        const sagoi_item *item = sagoi_catalog_part(&fetch->overview->catalog, save, level, w);
        if (!item) {
            fetch->report->missing[level] += !unknown && fetch->ckpt->team->rank == 0;
            continue;
        }
        for (int64_t i = 0; is_mine(fetch->ckpt, item, w) && fetch->there[w] && i < fetch->parts[w].nsums; i++)
            verify_piece(fetch, level, w, i);
    }
}

sago_status sagoi_report_sum(sago_ckpt *ckpt) {
    sago_ckpt_report *report = &ckpt->report;
    int64_t *counts[] = {report->bytes_from, report->damaged, report->missing};
    sago_status status = SAGO_OK;
    for (int i = 0; i < 3 && !status; i++)
        status = sagoi_allreduce(ckpt->team, ckpt->team->own, counts[i], SAGO_LEVEL_COUNT, MPI_INT64_T, MPI_SUM);
    return status;
}

/* Puts the result into words; an error if anything is wrong. */
static sago_status conclude(sago_ckpt *ckpt, int64_t step) {
    sago_ckpt_report *report = &ckpt->report;
    int64_t bad = 0;
    sago_status status = sagoi_report_sum(ckpt);
    if (status)
        return status;
    sagoi_report_add(report, "step %lld\n", (long long)step);
    for (int level = SAGO_LEVEL_LOCAL; level < SAGO_LEVEL_COUNT; level++) {
        if (report->bytes_from[level] + report->damaged[level] + report->missing[level] == 0)
            continue; /* nothing of the step is there, or should be */
        sagoi_report_add(report, "%s: %lld bytes good, %lld piece%s damaged, %lld part%s missing\n",
                         sago_level_string((sago_level)level), (long long)report->bytes_from[level],
                         (long long)report->damaged[level], sagoi_plural(report->damaged[level]),
                         (long long)report->missing[level], sagoi_plural(report->missing[level]));
        bad += report->damaged[level] + report->missing[level];
    }
    if (bad == 0)
        return SAGO_OK;
    return sagoi_fail(SAGO_ERR_IO, "step %lld: %lld piece%s or part%s %s damaged or missing", (long long)step,
                      (long long)bad, sagoi_plural(bad), sagoi_plural(bad), bad == 1 ? "is" : "are");
}

static sago_status does_not_answer(int64_t step) {
    return sagoi_fail(SAGO_ERR_TIMEOUT,
                      "step %lld: nothing wrong was found where it can be read, but some storage does not answer",
                      (long long)step);
}

/* Checks parity, and concludes: of parts that could not be read, nobody knows whether they are good. */
static sago_status verify_rest(sagoi_fetch *fetch) {
    sago_ckpt *ckpt = fetch->ckpt;
    sagoi_message_clear();
    sago_status status = sagoi_agree_status(ckpt->team, sagoi_redundancy_verify(fetch));
    sagoi_agreement hung = {.max = {fetch->hung}};
    if (!status)
        status = sagoi_agree(ckpt->team, &hung, NULL, NULL, NULL);
    if (status)
        return status;
    sagoi_message_clear();
    sagoi_overview_tell(ckpt, fetch->overview);
    status = conclude(ckpt, fetch->save->step);
    return status || !hung.max[0] ? status : does_not_answer(fetch->save->step);
}

sago_status sagoi_verify(sago_ckpt *ckpt, int64_t step) {
    sagoi_overview overview;
    ckpt->report = (sago_ckpt_report)SAGO_CKPT_REPORT_INIT;
    sago_status status = sagoi_saves_await_all(ckpt);
    if (!status)
        status = sagoi_overview_of_reachable(ckpt, step, &overview);
    if (status)
        return status;
    sagoi_fetch fetch = {.ckpt = ckpt, .overview = &overview, .report = &ckpt->report};
    fetch.save = sagoi_overview_save(&overview, step);
    fetch.hung = overview.partial;
    if (fetch.save)
        status = sagoi_fetch_init(&fetch);
    else
        status = overview.partial ? does_not_answer(step) : no_such_step(&overview, step);
    status = sagoi_agree_status(ckpt->team, status);
    if (!status) {
        verify_level(&fetch, SAGO_LEVEL_LOCAL);
        verify_level(&fetch, SAGO_LEVEL_GLOBAL);
        status = verify_rest(&fetch);
    }
    if (fetch.save)
        sagoi_fetch_cleanup(&fetch);
    sagoi_overview_cleanup(&overview);
    return status;
}

/* ---- Draining ---- */

/* Mends a part that is at both levels: pieces that are damaged at `to` are taken from the other level, if they are
 * intact there.  Only checked pieces are written, so nothing gets worse. */
static sago_status mend_level(sagoi_fetch *fetch, int64_t writer, sago_level to) {
    sago_level from = to == SAGO_LEVEL_GLOBAL ? SAGO_LEVEL_LOCAL : SAGO_LEVEL_GLOBAL;
    const sagoi_part *part = &fetch->parts[writer];
    int64_t base = to == SAGO_LEVEL_GLOBAL ? fetch->save->intent.writers[writer].base : 0;
    sagoi_cfile file = {.fd = -1};
    sago_status status = SAGO_OK, missing = SAGO_OK;
    for (int64_t i = 0; i < part->nsums && !status; i++) {
        if (sagoi_fetch_piece(fetch, to, writer, i) == SAGO_OK)
            continue;
        if (sagoi_fetch_piece(fetch, from, writer, i) != SAGO_OK) {
            missing = SAGO_ERR_IO;
            continue;
        }
        if (file.fd < 0)
            status = sagoi_fetch_open_data(fetch, to, writer, SAGOI_CFILE_OVERWRITE, &file);
        if (!status)
            status = sagoi_cfile_write(&file, fetch->piece, sagoi_min(part->piece, part->bytes - i * part->piece),
                                       base + i * part->piece);
    }
    if (!status && file.fd >= 0)
        status = sagoi_cfile_sync(&file);
    (void)sagoi_cfile_close(&file);
    if (!status && missing)
        return sagoi_fail(missing,
                          "pieces of writer %lld of step %lld are intact neither on its node nor in the directory",
                          (long long)writer, (long long)part->step);
    if (!status)
        sagoi_message_clear();
    return status;
}

static sago_status drain_writer(sagoi_fetch *fetch, int64_t writer) {
    const sago_ckpt *ckpt = fetch->ckpt;
    const sagoi_save_view *save = fetch->save;
    if (sagoi_catalog_part(&fetch->overview->catalog, save, SAGO_LEVEL_GLOBAL, writer))
        return mend_level(fetch, writer, SAGO_LEVEL_GLOBAL);
    sagoi_drain_plan plan = {.from = ckpt->local,
                             .to = ckpt->dir,
                             .place = &save->intent.writers[writer],
                             .fence = &ckpt->fence,
                             .step = save->step,
                             .id = save->intent.id,
                             .writer = writer,
                             .rate = ckpt->hints.ckpt_rate};
    return sagoi_drain_part(&plan);
}

/* Rank 0 first puts the intent there, if it is missing. */
static sago_status drain_intent(const sagoi_fetch *fetch) {
    char path[SAGOI_CKPT_PATH];
    const sagoi_item *intent = fetch->save->intent_item;
    if (fetch->ckpt->team->rank != 0 || fetch->save->intent_at[SAGO_LEVEL_GLOBAL])
        return SAGO_OK;
    const sagoi_fence *fence = &fetch->ckpt->fence;
    sagoi_wire_out record = {.bytes = intent->bytes, .len = intent->len};
    sago_status status = sagoi_save_path(path, fetch->ckpt->dir, fetch->save->step, fetch->save->intent.id, NULL);
    if (!status)
        status = sagoi_found_adopt(fence, fetch->ckpt->dir, fetch->save->step, fetch->save->intent.id.low);
    if (!status)
        status = sagoi_cdir_make(path);
    if (!status)
        status = sagoi_cdir_sync(fetch->ckpt->dir);
    if (!status)
        status = sagoi_fence_publish(fence, fetch->save->intent.id.low, path, SAGOI_INTENT_NAME, &record);
    return status ? status : sagoi_cdir_sync(path);
}

static bool holds(const sagoi_fetch *fetch, int64_t writer) {
    const sagoi_item *item = sagoi_catalog_part(&fetch->overview->catalog, fetch->save, SAGO_LEVEL_LOCAL, writer);
    return item && item->holder == fetch->ckpt->team->rank && fetch->there[writer];
}

/* Every part must be somewhere, since a drained step has to be complete. */
static sago_status check_parts(const sagoi_fetch *fetch) {
    for (int64_t w = 0; w < fetch->save->intent.nwriters; w++)
        if (!fetch->there[w])
            return sagoi_fail(SAGO_ERR_IO,
                              "step %lld: the part of writer %lld is neither on the nodes nor in the directory, "
                              "and cannot be rebuilt",
                              (long long)fetch->save->step, (long long)w);
    return SAGO_OK;
}

/* Drains the parts that this rank holds; parts that are there already are mended. */
static sago_status drain_mine(sagoi_fetch *fetch) {
    sago_status status = check_parts(fetch);
    if (!status)
        status = sagoi_steps_reserve(fetch->ckpt, 1);
    if (!status)
        status = drain_intent(fetch);
    for (int64_t w = 0; w < fetch->save->intent.nwriters && !status; w++)
        if (holds(fetch, w))
            status = drain_writer(fetch, w);
    return status;
}

/* Collective: looks for the step in all storage, lets `work` handle it, and agrees on the outcome.  *id_low: which
 * save of the step it was. */
static sago_status with_step(sago_ckpt *ckpt, int64_t step, sago_status (*work)(sagoi_fetch *), uint64_t *id_low) {
    sagoi_overview overview;
    sago_status status = sagoi_overview_make(ckpt, step, &overview);
    if (status)
        return status;
    sago_ckpt_report ignored = SAGO_CKPT_REPORT_INIT;
    sagoi_fetch fetch = {.ckpt = ckpt, .overview = &overview, .report = &ignored};
    fetch.save = sagoi_overview_save(&overview, step);
    status = fetch.save ? sagoi_fetch_init(&fetch) : no_such_step(&overview, step);
    if (!status)
        status = work(&fetch);
    status = sagoi_agree_status(ckpt->team, status);
    *id_low = fetch.save ? fetch.save->id_low : 0;
    if (fetch.save)
        sagoi_fetch_cleanup(&fetch);
    sagoi_overview_cleanup(&overview);
    return status;
}

/* The list of steps learns how far a step has come to the directory.  The failure before it is what is told. */
static sago_status recall_drain(sago_ckpt *ckpt, int64_t step, sago_status before) {
    char why[SAGOI_MESSAGE_MAX];
    sagoi_message_keep(why);
    sago_status status = sagoi_recall_drain(ckpt, step);
    if (!before)
        return status;
    sagoi_message_set(why);
    return before;
}

/* A save whose drain the thread has given up. */
static sagoi_saving *given_up(sago_ckpt *ckpt, int64_t step) {
    sagoi_saving *saving = sagoi_saving_find(ckpt, step);
    bool again = saving && !saving->failed && saving->global_decided && saving->stats.level < SAGO_LEVEL_GLOBAL;
    return again ? saving : NULL;
}

/* It is in the directory after all. */
static void make_up(sagoi_saving *saving) {
    saving->status = SAGO_OK;
    saving->stats.level = SAGO_LEVEL_GLOBAL;
    saving->journalled = false;
}

static sago_status drain_found(sago_ckpt *ckpt, int64_t step) {
    uint64_t id_low;
    sago_status status = with_step(ckpt, step, drain_mine, &id_low);
    if (status)
        return status;
    sagoi_steps_add(ckpt, step, id_low, SAGO_LEVEL_GLOBAL);
    if (ckpt->team->rank == 0)
        sagoi_background_mark(ckpt->background, false, step, id_low);
    return SAGO_OK;
}

static sago_status refuse_read_only(const sago_ckpt *ckpt) {
    return ckpt->hints.ckpt_read_only ? sagoi_fail(SAGO_ERR_MODE, "the directory was opened for reading only")
                                      : SAGO_OK;
}

/* A step that is not in the list may be about to be removed, since newer ones are kept.  What is still there of it
 * would be drained, be the newest step of the list, and be removed all the same.  Ranks meet afterwards, in
 * sagoi_mend(). */
static void await_removals(sago_ckpt *ckpt, int64_t step) {
    while (ckpt->background && !sagoi_steps_find(ckpt, step) && sagoi_background_wait(ckpt->background))
        sagoi_poke(ckpt->team);
}

sago_status sagoi_drain(sago_ckpt *ckpt, int64_t step) {
    sago_status status = refuse_read_only(ckpt);
    if (status)
        return status;
    sagoi_saving *again = given_up(ckpt, step);
    if (sagoi_saving_find(ckpt, step) && !again)
        return sagoi_wait_for(ckpt, step, SAGO_LEVEL_GLOBAL);
    await_removals(ckpt, step);
    status = sagoi_mend(ckpt, step, SAGOI_NEWEST_SAVE, SAGOI_MEND_LOST);
    if (!status)
        status = drain_found(ckpt, step);
    if (status == SAGO_ERR_IO) {
        status = sagoi_mend(ckpt, step, SAGOI_NEWEST_SAVE, SAGOI_MEND_DAMAGED);
        if (!status)
            status = drain_found(ckpt, step);
    }
    if (!status && again)
        make_up(again);
    return status ? recall_drain(ckpt, step, status) : SAGO_OK;
}

/* ---- Repairing ---- */

/* Is the part good in the directory?  What the nodes have of it may be better, and is not written over before. */
static sago_status check_global(sagoi_fetch *fetch, int64_t writer) {
    sago_status status = SAGO_OK;
    for (int64_t i = 0; i < fetch->parts[writer].nsums && !status; i++)
        status = sagoi_fetch_piece(fetch, SAGO_LEVEL_GLOBAL, writer, i);
    return status;
}

/* Brings a part that the nodes have lost from the directory to the storage of this rank's node. */
static sago_status bring_back(sagoi_fetch *fetch, int64_t writer) {
    const sagoi_part *part = &fetch->parts[writer];
    const sagoi_save_view *save = fetch->save;
    sagoi_commit commit;
    sagoi_commit_plan plan = {.dir = fetch->ckpt->local,
                              .intent = save->intent_item->bytes,
                              .intent_len = save->intent_item->len,
                              .part = part,
                              .place = &save->intent.writers[writer],
                              .fence = &fetch->ckpt->fence};
    sago_status status = check_global(fetch, writer);
    if (!status)
        status = sagoi_found_adopt(plan.fence, plan.dir, save->step, save->id_low);
    if (status)
        return status;
    status = sagoi_commit_begin(&commit, &plan);
    for (int64_t i = 0; i < part->nsums && !status; i++) {
        int64_t off = i * part->piece;
        status = sagoi_fetch_piece(fetch, SAGO_LEVEL_GLOBAL, writer, i);
        if (!status)
            status = sagoi_commit_write(&commit, fetch->piece, sagoi_min(part->piece, part->bytes - off), off);
    }
    if (!status)
        status = sagoi_commit_end(&commit);
    if (status)
        sagoi_commit_abandon(&commit);
    return status;
}

/* Redundancy brings its own parts back; without it parts may be on any node, and are divided among them. */
static bool is_to_bring_back(const sagoi_fetch *fetch, int64_t writer) {
    const sago_ckpt *ckpt = fetch->ckpt;
    const sagoi_save_view *save = fetch->save;
    const sagoi_catalog *catalog = &fetch->overview->catalog;
    bool used = save->parts[SAGO_LEVEL_LOCAL] > 0 || save->intent_at[SAGO_LEVEL_LOCAL];
    return used && ckpt->local[0] && save->intent.parity == 0 && fetch->there[writer] &&
           ckpt->holders[writer % ckpt->domains] == ckpt->team->rank &&
           !sagoi_catalog_part(catalog, save, SAGO_LEVEL_LOCAL, writer) &&
           sagoi_catalog_part(catalog, save, SAGO_LEVEL_GLOBAL, writer);
}

/* Mends both levels from each other.  What cannot be mended stays as it is, for verifying to find. */
static sago_status mend_levels(sagoi_fetch *fetch) {
    const sagoi_save_view *save = fetch->save;
    bool used = save->parts[SAGO_LEVEL_GLOBAL] > 0 || save->intent_at[SAGO_LEVEL_GLOBAL];
    int64_t failures = used && drain_intent(fetch) != SAGO_OK;
    for (int64_t w = 0; used && w < save->intent.nwriters; w++) {
        if (is_to_bring_back(fetch, w))
            failures += bring_back(fetch, w) != SAGO_OK;
        if (!holds(fetch, w))
            continue;
        if (sagoi_catalog_part(&fetch->overview->catalog, save, SAGO_LEVEL_GLOBAL, w))
            failures += mend_level(fetch, w, SAGO_LEVEL_LOCAL) != SAGO_OK;
        failures += drain_writer(fetch, w) != SAGO_OK;
    }
    if (failures > 0)
        sagoi_message_clear();
    return SAGO_OK;
}

/* What was half drained may be in the directory as a whole now, and then is no leftover of the drain. */
static sago_status note_repaired(sago_ckpt *ckpt, int64_t step, sago_status status) {
    const sagoi_complete_step *complete = sagoi_steps_find(ckpt, step);
    if (!complete || complete->at[SAGO_LEVEL_GLOBAL])
        return status;
    status = recall_drain(ckpt, step, status);
    if (!complete->at[SAGO_LEVEL_GLOBAL])
        return status;
    sagoi_saving *again = given_up(ckpt, step);
    if (again && again->id.low == complete->id_low)
        make_up(again);
    if (ckpt->team->rank == 0)
        sagoi_background_mark(ckpt->background, false, step, complete->id_low);
    return status;
}

/* The levels come first: data that is intact only in the directory is needed for mending parity. */
sago_status sagoi_repair(sago_ckpt *ckpt, int64_t step) {
    uint64_t id_low;
    sago_status status = refuse_read_only(ckpt);
    if (status)
        return status;
    status = sagoi_saves_await_all(ckpt);
    if (!status)
        status = with_step(ckpt, step, mend_levels, &id_low);
    if (!status)
        status = sagoi_mend(ckpt, step, SAGOI_NEWEST_SAVE, SAGOI_MEND_ALL);
    if (!status)
        status = with_step(ckpt, step, mend_levels, &id_low); /* and what only redundancy had */
    if (!status)
        status = sagoi_verify(ckpt, step);
    return note_repaired(ckpt, step, status);
}

/* ---- Removing ---- */

/* Lists the folders of a step, or of all steps, that are set aside, or that are not; *found: there were any. */
static sago_status remove_folders(sago_ckpt *ckpt, const sagoi_overview *overview, int64_t step, bool aside,
                                  bool *found) {
    sago_status status = SAGO_OK;
    for (int64_t i = 0; i < overview->catalog.n && !status; i++) {
        const sagoi_item *item = &overview->catalog.items[i];
        if (item->kind != SAGOI_ITEM_FOLDER || (step != SAGOI_NO_STEP && item->step != step) ||
            (item->index & SAGOI_SAW_REMOVED) ||
            ((item->index & (SAGOI_SAW_ASIDE | SAGOI_SAW_COPY)) != 0) != aside)
            continue;
        *found = true;
        sagoi_save_name save = {sagoi_level_dir(ckpt, item->level), item->step, item->id_low, &ckpt->fence};
        if (item->holder == ckpt->team->rank)
            status = sagoi_save_remove(&save, aside ? SAGOI_FOLDER_DAMAGED : SAGOI_FOLDER_STEP,
                                       item->level == SAGO_LEVEL_LOCAL);
    }
    status = sagoi_agree_status(ckpt->team, status);
    if (!status && ckpt->local[0] && ckpt->holder == ckpt->team->rank)
        status = sagoi_traces_remove(&ckpt->fence, ckpt->local, NULL); /* all ranks have removed theirs */
    return sagoi_agree_status(ckpt->team, status);
}

/* Nothing is under way, and the contents of the storage are known. */
static sago_status begin_removing(sago_ckpt *ckpt, sagoi_overview *overview) {
    sago_status status = refuse_read_only(ckpt);
    if (!status)
        status = sagoi_saves_await_all(ckpt);
    return status ? status : sagoi_overview_make(ckpt, SAGOI_NO_STEP, overview);
}

sago_status sagoi_remove(sago_ckpt *ckpt, int64_t step) {
    sagoi_overview overview;
    bool found = false;
    sago_status status = begin_removing(ckpt, &overview);
    if (status)
        return status;
    if (step >= 0)
        status = remove_folders(ckpt, &overview, step, false, &found);
    if (!status && !found)
        status = no_such_step(&overview, step);
    sagoi_overview_cleanup(&overview);
    if (found) { /* also where some of it could not be removed: nothing may be removed because it is newer */
        sagoi_steps_remove(ckpt, step);
        sagoi_saving_forget(ckpt, step);
    }
    return status;
}

sago_status sagoi_remove_damaged(sago_ckpt *ckpt, int64_t step) {
    sagoi_overview overview;
    bool found = false;
    sago_status status = begin_removing(ckpt, &overview);
    if (status)
        return status;
    status = remove_folders(ckpt, &overview, step < 0 ? SAGOI_NO_STEP : step, true, &found);
    if (!status && !found && step >= 0)
        status = sagoi_fail(SAGO_ERR_NO_FILE, "no damaged save of step %lld is set aside", (long long)step);
    sagoi_overview_cleanup(&overview);
    return status ? status : sagoi_recount_damaged(ckpt);
}
