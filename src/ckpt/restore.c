/* Restoring from whatever is there into what is protected now.  Arrays are boxes of a global index space: a stored
 * block and a block in memory share what they have in common, whichever rank wrote it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/grow.h"
#include "ckpt/fetch.h"

/* A piece of this rank's memory that a stored block has data for. */
typedef struct target {
    sagoi_overlap region;
    char *memory;
    int64_t writer;
} target;

typedef struct restoring {
    sago_ckpt *ckpt;
    sagoi_fetch fetch;
    target *targets; /* by writer */
    int64_t n, capacity;
    int64_t *first;     /* for each writer: index of its first target; nwriters + 1 numbers */
    sago_status failed; /* a copy to memory of a device has failed */
} restoring;

/* ---- Does it fit? ---- */

static const sagoi_array_desc *stored_array(const sagoi_intent *intent, const char *name, int64_t *index) {
    for (int64_t i = 0; i < intent->narrays; i++)
        if (strcmp(intent->arrays[i].name, name) == 0) {
            *index = i;
            return &intent->arrays[i];
        }
    return NULL;
}

static void shape_text(const sagoi_array_desc *desc, char *text, size_t capacity) {
    static const char *const kinds[] = {"array", "local data", "shared data"};
    int at = snprintf(text, capacity, "%s of %s", kinds[desc->kind], desc->type);
    if (desc->kind == SAGO_CKPT_SHARED)
        (void)snprintf(text, capacity, "shared data of %lld bytes", (long long)desc->bytes);
    for (int64_t i = 0; i < desc->ndims && at > 0 && at < (int)capacity; i++)
        at += snprintf(text + at, capacity - (size_t)at, "%s%lld", i ? " x " : ", ", (long long)desc->global[i]);
}

static bool same_shape(const sagoi_array_desc *a, const sagoi_array_desc *b) {
    if (a->kind != b->kind || a->element != b->element || strcmp(a->type, b->type) != 0 || a->ndims != b->ndims)
        return false;
    if (a->kind == SAGO_CKPT_SHARED && a->bytes != b->bytes)
        return false;
    return memcmp(a->global, b->global, (size_t)a->ndims * sizeof a->global[0]) == 0;
}

static sago_status check_entry(const sago_ckpt *ckpt, const sagoi_save_view *save, const sagoi_array_desc *desc) {
    char now[128], then[128];
    int64_t index;
    const sagoi_array_desc *stored = stored_array(&save->intent, desc->name, &index);
    if (!stored)
        return sagoi_fail(SAGO_ERR_MISMATCH, "step %lld has nothing called \"%s\"", (long long)save->step,
                          desc->name);
    if (!same_shape(desc, stored)) {
        shape_text(desc, now, sizeof now);
        shape_text(stored, then, sizeof then);
        return sagoi_fail(SAGO_ERR_MISMATCH, "\"%s\" is %s, but was saved as %s", desc->name, now, then);
    }
    if (desc->kind == SAGO_CKPT_LOCAL && save->intent.ranks != ckpt->team->size)
        return sagoi_fail(
            SAGO_ERR_MISMATCH,
            "\"%s\" is the data of each of %lld ranks, and there are %d: unprotect it to restore the rest",
            desc->name, (long long)save->intent.ranks, ckpt->team->size);
    return SAGO_OK;
}

static sago_status check_dataset(const sago_ckpt *ckpt, const sagoi_save_view *save) {
    sago_status status = SAGO_OK;
    for (int64_t i = 0; i < ckpt->data.n && !status; i++)
        status = check_entry(ckpt, save, &ckpt->data.entries[i].desc);
    return status;
}

/* ---- Targets ---- */

static sago_status add_target(restoring *work, const target *new) {
    if (new->region.bytes == 0)
        return SAGO_OK;
    if (!sagoi_grow((void **)&work->targets, work->n, &work->capacity, sizeof *work->targets))
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory to restore so many blocks");
    work->targets[work->n++] = *new;
    sagoi_fetch_want(&work->fetch, new->writer, new->region.stream_off, new->region.stream_end);
    return SAGO_OK;
}

/* Data that is no array: either all of it is wanted, or it is another rank's. */
static sago_status target_bytes(restoring *work, const sagoi_protected *entry, const sagoi_stored_block *block,
                                int64_t writer) {
    target new = {.memory = entry->data[0], .writer = writer};
    if (entry->desc.kind == SAGO_CKPT_LOCAL && block->rank != work->ckpt->team->rank)
        return SAGO_OK;
    if (block->bytes != entry->desc.bytes)
        return sagoi_fail(SAGO_ERR_MISMATCH, "\"%s\" has %lld bytes, but was saved with %lld", entry->desc.name,
                          (long long)entry->desc.bytes, (long long)block->bytes);
    sagoi_overlap_flat(&new.region, block->offset, block->bytes);
    return add_target(work, &new);
}

static sago_status target_block(restoring *work, const sagoi_protected *entry, const sagoi_stored_block *block,
                                int64_t writer) {
    sago_status status = SAGO_OK;
    sagoi_box stored;
    if (entry->desc.kind != SAGO_CKPT_ARRAY)
        return target_bytes(work, entry, block, writer);
    memcpy(stored.start, block->start, sizeof stored.start);
    memcpy(stored.count, block->count, sizeof stored.count);
    for (int64_t b = 0; b < entry->nblocks && !status; b++) {
        target new = {.memory = entry->data[b], .writer = writer};
        sagoi_cells cells = {entry->desc.ndims, entry->desc.element};
        if (sagoi_overlap_make(&new.region, cells, &stored, block->offset, &entry->boxes[b]))
            status = add_target(work, &new);
    }
    return status;
}

/* Finds the protected thing for each array of the save; NULL: none. */
static sago_status find_targets(restoring *work) {
    const sagoi_intent *intent = &work->fetch.save->intent;
    const sagoi_protected **entry_of = calloc((size_t)intent->narrays + 1, sizeof *entry_of);
    int64_t index = 0;
    work->first = calloc((size_t)intent->nwriters + 1, sizeof *work->first);
    if (!entry_of || !work->first) {
        free(entry_of);
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory to restore a checkpoint");
    }
    for (int64_t i = 0; i < work->ckpt->data.n; i++)
        if (stored_array(intent, work->ckpt->data.entries[i].desc.name, &index))
            entry_of[index] = &work->ckpt->data.entries[i];
    sago_status status = SAGO_OK;
    for (int64_t w = 0; w < intent->nwriters && !status; w++) {
        const sagoi_part *part = &work->fetch.parts[w];
        work->first[w] = work->n;
        for (int64_t i = 0; i < part->nblocks && !status; i++)
            if (entry_of[part->blocks[i].array])
                status = target_block(work, entry_of[part->blocks[i].array], &part->blocks[i], w);
        work->first[w + 1] = work->n;
    }
    free(entry_of);
    return status;
}

static void deliver(void *arg, int64_t writer, int64_t off, int64_t len, char *data) {
    restoring *work = arg;
    for (int64_t i = work->first[writer]; i < work->first[writer + 1] && !work->failed; i++) {
        const target *to = &work->targets[i];
        work->failed = sagoi_overlap_copy(&to->region, data, off, off + len, to->memory, SAGOI_FROM_FILE);
        if (work->failed)
            sagoi_report_add(&work->ckpt->report, "%s\n", sagoi_message());
    }
}

/* ---- All together ---- */

static sago_status check_parts(const sagoi_fetch *fetch) {
    int64_t missing = 0, example = 0;
    for (int64_t w = 0; w < fetch->save->intent.nwriters; w++)
        if (!fetch->there[w]) {
            missing++;
            example = w;
        }
    if (missing == 0)
        return SAGO_OK;
    return sagoi_fail(SAGO_ERR_IO,
                      "step %lld: the parts of %lld of %lld writers are missing, among them writer %lld",
                      (long long)fetch->save->step, (long long)missing, (long long)fetch->save->intent.nwriters,
                      (long long)example);
}

static void write_report(sago_ckpt *ckpt, int64_t step) {
    sago_ckpt_report *report = &ckpt->report;
    sagoi_report_add(report,
                     "step %lld: %lld bytes from the nodes, %lld rebuilt before, %lld from the directory; damaged "
                     "pieces: %lld on the nodes, %lld in the directory\n",
                     (long long)step, (long long)report->bytes_from[SAGO_LEVEL_LOCAL],
                     (long long)report->bytes_from[SAGO_LEVEL_REDUNDANT],
                     (long long)report->bytes_from[SAGO_LEVEL_GLOBAL],
                     (long long)report->damaged[SAGO_LEVEL_LOCAL], (long long)report->damaged[SAGO_LEVEL_GLOBAL]);
}

static sago_status restore_save(sago_ckpt *ckpt, const sagoi_overview *overview, const sagoi_save_view *save) {
    restoring work = {.ckpt = ckpt};
    work.fetch = (sagoi_fetch){.ckpt = ckpt,
                               .overview = overview,
                               .save = save,
                               .deliver = deliver,
                               .arg = &work,
                               .report = &ckpt->report};
    sago_status status = check_dataset(ckpt, save);
    if (!status)
        status = sagoi_fetch_init(&work.fetch);
    if (!status)
        status = check_parts(&work.fetch);
    if (!status)
        status = find_targets(&work);
    status = sagoi_agree_status(ckpt->team, status);
    if (!status)
        status = sagoi_fetch_run(&work.fetch);
    if (!status && work.failed)
        work.failed =
            sagoi_fail(work.failed, "what was read did not get to the memory of a device: see the report");
    if (!status)
        status = sagoi_agree_status(ckpt->team, work.failed);
    sagoi_fetch_cleanup(&work.fetch);
    free(work.targets);
    free(work.first);
    return status;
}

/* What a step lacks that cannot be restored from. */
static sago_status explain(const sagoi_overview *overview, int64_t step) {
    const sagoi_save_view *view = NULL;
    char lack[256];
    for (int64_t i = 0; i < overview->n; i++)
        if (overview->views[i].step == step && (!view || overview->views[i].intent_item))
            view = &overview->views[i];
    if (!view)
        return sagoi_fail(SAGO_ERR_NO_FILE, "there is no checkpoint of step %lld", (long long)step);
    sagoi_view_lack(view, lack, sizeof lack);
    if (sagoi_view_saw(view) & SAGOI_SAW_UNREADABLE)
        return sagoi_fail(SAGO_ERR_IO, "step %lld could not be read: %s", (long long)step, lack);
    if (sagoi_view_damaged(view))
        return sagoi_fail(SAGO_ERR_IO, "step %lld is damaged%s: %s", (long long)step,
                          sagoi_view_aside(view) ? " and set aside" : "", lack);
    return sagoi_fail(SAGO_ERR_IO, "step %lld is incomplete: %s", (long long)step, lack);
}

/* Does the failure concern this step only?  Another error would meet all steps, or is the caller's. */
static bool of_this_step(sago_status status) {
    return status == SAGO_ERR_IO || status == SAGO_ERR_NO_FILE || status == SAGO_ERR_ACCESS ||
           status == SAGO_ERR_BAD_FILE || status == SAGO_ERR_TIMEOUT;
}

/* Restores one save of a step: *id_low, then the next one to be tried.  Begins the report anew, but keeps its
 * text. */
static sago_status restore_one(sago_ckpt *ckpt, int64_t step, uint64_t *id_low) {
    sagoi_overview overview;
    memset(ckpt->report.bytes_from, 0, sizeof ckpt->report.bytes_from);
    memset(ckpt->report.damaged, 0, sizeof ckpt->report.damaged);
    memset(ckpt->report.missing, 0, sizeof ckpt->report.missing);
    uint64_t wanted = *id_low;
    *id_low = SAGOI_NEWEST_SAVE;
    sago_status status = sagoi_mend(ckpt, step, wanted, SAGOI_MEND_LOST);
    if (!status)
        status = sagoi_overview_of_reachable(ckpt, step, &overview);
    if (status)
        return status;
    const sagoi_save_view *save = sagoi_views_find(overview.views, overview.n, step);
    while (save && wanted != SAGOI_NEWEST_SAVE && save->id_low != wanted)
        save = sagoi_views_next(overview.views, overview.n, save);
    const sagoi_save_view *next = save ? sagoi_views_next(overview.views, overview.n, save) : NULL;
    *id_low = next ? next->id_low : SAGOI_NEWEST_SAVE;
    if (save)
        status = restore_save(ckpt, &overview, save);
    else if (overview.partial)
        status = sagoi_fail(SAGO_ERR_TIMEOUT,
                            "step %lld is not complete where it can be read, and some storage does not answer",
                            (long long)step);
    else
        status = explain(&overview, step);
    sagoi_overview_cleanup(&overview);
    return status ? status : sagoi_report_sum(ckpt);
}

/* the message tells why */
static void tell_passed_over(sago_ckpt *ckpt, int64_t step) {
    ckpt->report.passed_over++;
    ckpt->stats.passed_over++;
    /* The other half is for the step that is restored. */
    if (strlen(ckpt->report.text) < sizeof ckpt->report.text / 2)
        sagoi_report_add(&ckpt->report, "passed over: %.200s\n", sagoi_message());
    sagoi_journal_passed_over(ckpt, step, sagoi_message());
}

/* Saves of a step that are tried; their order may change meanwhile. */
enum { SAVES_TRIED = 8 };

/* Restores the newest save of the step that can be restored. */
static sago_status restore_step(sago_ckpt *ckpt, int64_t step) {
    uint64_t id_low = SAGOI_NEWEST_SAVE;
    sago_status status = restore_one(ckpt, step, &id_low);
    for (int i = 1; i < SAVES_TRIED && of_this_step(status) && id_low != SAGOI_NEWEST_SAVE; i++) {
        tell_passed_over(ckpt, step);
        sagoi_message_clear();
        status = restore_one(ckpt, step, &id_low);
    }
    return status;
}

static void count_restore(sago_ckpt *ckpt, double begin) {
    ckpt->stats.restores++;
    ckpt->stats.restore = sagoi_ckpt_now() - begin;
}

sago_status sagoi_restore(sago_ckpt *ckpt, int64_t step) {
    double begin = sagoi_ckpt_now();
    ckpt->report = (sago_ckpt_report)SAGO_CKPT_REPORT_INIT;
    sago_status status = sagoi_saves_await_all(ckpt);
    if (status)
        return status;
    status = restore_step(ckpt, step);
    write_report(ckpt, step);
    if (!status)
        ckpt->report.step = step;
    count_restore(ckpt, begin);
    return status;
}

/* ---- The newest step that is whole ---- */

static void pass_over(sago_ckpt *ckpt, int64_t step) {
    sagoi_complete_step *complete = sagoi_steps_find(ckpt, step);
    if (complete)
        complete->passed_over = true;
    tell_passed_over(ckpt, step);
}

/* Was the save complete once, or can nobody say, since it cannot be read? */
static bool may_be_lost(const sagoi_save_view *view) {
    return view->whole || (sagoi_view_saw(view) & SAGOI_SAW_UNREADABLE) ||
           sagoi_view_past(view) == SAGOI_ONCE_COMPLETE;
}

/* Tries the steps of the overview, the newest first.  *found: the step that was restored, else -1; *lost: a step
 * that was complete once, or cannot be read, was passed over; *hung: a step may be where storage does not answer.
 */
static sago_status try_all(sago_ckpt *ckpt, const sagoi_overview *overview, int64_t *found, bool *lost,
                           bool *hung) {
    for (int64_t i = overview->n - 1; i >= 0; i--) {
        const sagoi_save_view *view = &overview->views[i];
        if (i + 1 < overview->n && view[1].step == view->step)
            continue; /* it was tried with the whole step */
        sago_status status = sagoi_views_find(overview->views, overview->n, view->step)
                                 ? restore_step(ckpt, view->step)
                                 : explain(overview, view->step);
        if (!status)
            *found = view->step;
        if (!status || !of_this_step(status))
            return status;
        *hung = *hung || status == SAGO_ERR_TIMEOUT;
        pass_over(ckpt, view->step);
        for (int64_t same = i; same >= 0 && overview->views[same].step == view->step; same--)
            *lost = *lost || may_be_lost(&overview->views[same]);
    }
    return SAGO_OK;
}

sago_status sagoi_restore_latest(sago_ckpt *ckpt, int64_t *step) {
    double begin = sagoi_ckpt_now();
    sagoi_overview overview;
    int64_t found = -1;
    bool lost = false;
    ckpt->report = (sago_ckpt_report)SAGO_CKPT_REPORT_INIT;
    sago_status status = sagoi_saves_await_all(ckpt);
    if (!status)
        status = sagoi_overview_of_reachable(ckpt, SAGOI_NO_STEP, &overview);
    if (status)
        return status;
    bool hung = overview.partial;
    sagoi_overview_tell(ckpt, &overview);
    status = try_all(ckpt, &overview, &found, &lost, &hung);
    sagoi_overview_cleanup(&overview);
    if (status)
        return status;
    if (found < 0 && hung)
        return sagoi_fail(SAGO_ERR_TIMEOUT, "no step can be read, and some storage does not answer: %.400s",
                          ckpt->report.text);
    if (found < 0 && lost)
        return sagoi_fail(SAGO_ERR_IO, "no step is whole: %.400s", ckpt->report.text);
    sagoi_message_clear();
    if (found >= 0) {
        write_report(ckpt, found);
        ckpt->report.step = found;
        count_restore(ckpt, begin);
    }
    *step = found;
    return SAGO_OK;
}
