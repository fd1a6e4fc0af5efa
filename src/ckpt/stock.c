/* What happens to the saves in a directory when it is opened.
 *
 * A save that never was complete is the rest of an interrupted save, and is removed.  A save that was complete
 * once, or may have been, and is not any more, is damaged: its folders are set aside under another name, under
 * which nothing takes them for a checkpoint and only the user removes them.  When the missing parts have come
 * back (a node that was away), the folders get their name back.  What could not be read is left alone. */
#include <stdio.h>
#include <stdlib.h>

#include "base/checked.h"
#include "ckpt/state.h"

/* ---- What is known ---- */

static int by_age(const void *a, const void *b) {
    const sagoi_save_view *x = *(const sagoi_save_view *const *)a, *y = *(const sagoi_save_view *const *)b;
    int order = sagoi_view_age_order(x, y);
    return order ? order : x->step < y->step ? -1 : x->step > y->step;
}

/* What a drain has left that was interrupted, or has failed. */
static bool is_half_drained(const sagoi_save_view *view) {
    int64_t saw = view->saw[SAGO_LEVEL_GLOBAL];
    bool there = view->intent_at[SAGO_LEVEL_GLOBAL] || (saw & (SAGOI_SAW_PART | SAGOI_SAW_INTERRUPTED));
    return there && !view->complete[SAGO_LEVEL_GLOBAL] &&
           !(saw &
             (SAGOI_SAW_MARK | SAGOI_SAW_DAMAGE | SAGOI_SAW_BAD_DATA | SAGOI_SAW_UNREADABLE | SAGOI_SAW_ASIDE));
}

static void remember_step(sago_ckpt *ckpt, const sagoi_save_view *view) {
    for (int level = SAGO_LEVEL_LOCAL; level < SAGO_LEVEL_COUNT; level++)
        if (view->complete[level])
            sagoi_steps_add(ckpt, view->step, view->id_low, (sago_level)level);
    sagoi_complete_step *complete = sagoi_steps_find(ckpt, view->step);
    if (complete && complete->id_low == view->id_low)
        complete->half_drained = is_half_drained(view);
}

/* Of what cannot be looked at nothing is removed. */
sago_status sagoi_recall_drain(sago_ckpt *ckpt, int64_t step) {
    sagoi_overview overview;
    sagoi_complete_step *complete = sagoi_steps_find(ckpt, step);
    if (!complete || complete->at[SAGO_LEVEL_GLOBAL])
        return SAGO_OK;
    complete->half_drained = false;
    sago_status status = sagoi_overview_make(ckpt, step, &overview);
    for (int64_t i = 0; !status && i < overview.n; i++) {
        const sagoi_save_view *view = &overview.views[i];
        if (view->step != step || view->id_low != complete->id_low)
            continue;
        complete->half_drained = is_half_drained(view);
        complete->at[SAGO_LEVEL_GLOBAL] = view->complete[SAGO_LEVEL_GLOBAL];
    }
    sagoi_overview_cleanup(&overview);
    return status;
}

static sago_status remember(sago_ckpt *ckpt, const sagoi_overview *overview) {
    const sagoi_save_view **views = calloc((size_t)overview->n + 1, sizeof *views);
    sago_status status = sagoi_steps_reserve(ckpt, overview->n);
    if (!status && !views)
        status = sagoi_fail(SAGO_ERR_MEMORY, "no memory for the list of steps");
    for (int64_t i = 0; i < overview->n && !status; i++)
        views[i] = &overview->views[i];
    if (!status)
        qsort(views, (size_t)overview->n, sizeof *views, by_age);
    for (int64_t i = 0; i < overview->n && !status; i++)
        remember_step(ckpt, views[i]);
    free(views);
    return status;
}

/* ---- One folder ---- */

typedef enum { LEAVE, MARK, SET_ASIDE, TAKE_BACK, REMOVE } action;

static bool marks(const sagoi_save_view *view, int64_t level) {
    return view->complete[level] || (level == SAGO_LEVEL_LOCAL && view->complete[SAGO_LEVEL_REDUNDANT]);
}

static action choose(const sagoi_save_view *view, const sagoi_item *folder) {
    bool aside = (folder->index & SAGOI_SAW_ASIDE) != 0;
    if (sagoi_view_saw(view) & SAGOI_SAW_UNREADABLE)
        return LEAVE;
    if (folder->index & SAGOI_SAW_COPY)
        return LEAVE;
    if (!aside && (view->saw[folder->level] & SAGOI_SAW_REMOVED) && !view->complete[folder->level])
        return REMOVE; /* as on another node; of a complete save nobody has removed anything */
    if (folder->index & SAGOI_SAW_LATE)
        return LEAVE; /* it may be a copy that was put back */
    if (view->whole && aside)
        return TAKE_BACK;
    if (view->whole)
        return marks(view, folder->level) && !(folder->index & SAGOI_SAW_MARK) ? MARK : LEAVE;
    if (aside)
        return LEAVE;
    return sagoi_view_past(view) == SAGOI_NEVER_COMPLETE ? REMOVE : SET_ASIDE;
}

/* A folder that cannot be marked, renamed or removed stays as it is, and is looked at again the next time. */
static sago_status act(const sagoi_save_name *save, action what, bool *changed) {
    sago_status status = SAGO_OK;
    switch (what) {
    case MARK:
        status = sagoi_save_note(save, SAGOI_MARK_NAME);
        break;
    case SET_ASIDE:
        status = sagoi_save_rename(save, SAGOI_FOLDER_STEP, SAGOI_FOLDER_DAMAGED);
        break;
    case TAKE_BACK:
        status = sagoi_save_rename(save, SAGOI_FOLDER_DAMAGED, SAGOI_FOLDER_STEP);
        break;
    case REMOVE:
        return sagoi_save_tidy(save, SAGOI_FOLDER_STEP);
    default:
        return SAGO_OK;
    }
    if (status)
        sagoi_message_clear();
    *changed = *changed || (!status && what != MARK);
    return SAGO_OK;
}

static const sagoi_save_view *view_of(const sagoi_overview *overview, const sagoi_item *item) {
    const sagoi_save_view *view = overview->views;
    while (view->step != item->step || view->id_low != item->id_low)
        view++;
    return view;
}

static sago_status tidy(const sago_ckpt *ckpt, const sagoi_overview *overview, bool *changed) {
    sago_status status = SAGO_OK;
    for (int64_t i = 0; i < overview->catalog.n && !status; i++) {
        const sagoi_item *item = &overview->catalog.items[i];
        if (item->kind != SAGOI_ITEM_FOLDER || item->holder != ckpt->team->rank ||
            (item->index & SAGOI_SAW_REMOVED))
            continue;
        const sagoi_save_view *view = view_of(overview, item);
        sagoi_save_name save = {sagoi_level_dir(ckpt, item->level), item->step, item->id_low, &ckpt->fence};
        status = act(&save, choose(view, item), changed);
    }
    return status;
}

/* Called when all ranks have removed what others had removed before them. */
static sago_status remove_traces(const sago_ckpt *ckpt) {
    sago_status status = ckpt->team->rank == 0 ? sagoi_traces_remove(&ckpt->fence, ckpt->dir, NULL) : SAGO_OK;
    if (!status && ckpt->local[0] && ckpt->holder == ckpt->team->rank)
        status = sagoi_traces_remove(&ckpt->fence, ckpt->local, NULL);
    return status;
}

/* Collective; the overview is made anew if folders got other names. */
static sago_status tidy_all(sago_ckpt *ckpt, sagoi_overview *overview) {
    sagoi_agreement renamed = {0};
    bool changed = false;
    sago_status status = sagoi_agree_status(ckpt->team, tidy(ckpt, overview, &changed));
    if (!status)
        status = sagoi_agree_status(ckpt->team, remove_traces(ckpt));
    renamed.max[0] = changed;
    if (!status)
        status = sagoi_agree(ckpt->team, &renamed, NULL, NULL, NULL);
    if (status || renamed.max[0] == 0)
        return status;
    sagoi_overview_cleanup(overview);
    return sagoi_overview_make(ckpt, SAGOI_NO_STEP, overview);
}

/* ---- Whose saves count ---- */

/* The saves of earlier owners that are there and stay.  Each directory gets the whole list, since parts that one
 * directory lacks may come back to it from another one. */
static sago_status list_found(const sagoi_overview *overview, sagoi_found *found) {
    sago_status status = SAGO_OK;
    for (int64_t i = 0; i < overview->catalog.n && !status; i++) {
        const sagoi_item *item = &overview->catalog.items[i];
        if (item->kind == SAGOI_ITEM_FOLDER && !(item->index & (SAGOI_SAW_REMOVED | SAGOI_SAW_LATE)) &&
            choose(view_of(overview, item), item) != REMOVE)
            status = sagoi_found_add(found, item->step, item->id_low);
    }
    return status;
}

static sago_status write_down(const sago_ckpt *ckpt, const char *dir, const sagoi_found *found) {
    sago_status status = sagoi_found_store(&ckpt->fence, dir, found);
    return status ? status : sagoi_fence_tidy(&ckpt->fence, dir);
}

/* From here on nothing counts that an earlier owner still writes (ckpt/generation.h). */
static sago_status shut_out_earlier_owners(const sago_ckpt *ckpt, const sagoi_overview *overview) {
    sagoi_found found = {0};
    sago_status status = list_found(overview, &found);
    if (!status && ckpt->team->rank == 0)
        status = write_down(ckpt, ckpt->dir, &found);
    if (!status && ckpt->local[0] && ckpt->holder == ckpt->team->rank)
        status = write_down(ckpt, ckpt->local, &found);
    sagoi_found_cleanup(&found);
    return status;
}

/* ---- What is set aside ---- */

static void count_damaged(sago_ckpt *ckpt, const sagoi_overview *overview) {
    ckpt->stats.damaged = ckpt->stats.damaged_bytes = 0;
    ckpt->aside[SAGO_LEVEL_LOCAL] = ckpt->aside[SAGO_LEVEL_GLOBAL] = 0;
    for (int64_t i = 0; i < overview->n; i++) {
        ckpt->stats.damaged += sagoi_view_damaged(&overview->views[i]);
        ckpt->stats.damaged_bytes += overview->views[i].aside_bytes;
    }
    for (int64_t i = 0; i < overview->catalog.n; i++) {
        const sagoi_item *item = &overview->catalog.items[i];
        if (item->kind == SAGOI_ITEM_FOLDER && (item->level == SAGO_LEVEL_GLOBAL || item->holder == ckpt->holder))
            ckpt->aside[item->level] += item->member;
    }
}

sago_status sagoi_recount_damaged(sago_ckpt *ckpt) {
    sagoi_overview overview;
    sago_status status = sagoi_overview_make(ckpt, SAGOI_NO_STEP, &overview);
    if (!status)
        count_damaged(ckpt, &overview);
    sagoi_overview_cleanup(&overview);
    return status;
}

/* Reports on the opening, with a line in the journal for each save. */
static void tell(sago_ckpt *ckpt, const sagoi_overview *overview) {
    for (int64_t i = 0; i < overview->n; i++) {
        const sagoi_save_view *view = &overview->views[i];
        char lack[256];
        if (!sagoi_view_damaged(view))
            continue;
        sagoi_view_lack(view, lack, sizeof lack);
        sagoi_report_add(&ckpt->report, "step %lld is damaged, %s: %s\n", (long long)view->step,
                         sagoi_view_aside(view) ? "set aside" : "and is where it was", lack);
        sagoi_journal_damaged(ckpt, view->step, view->aside_bytes, lack);
    }
}

sago_status sagoi_take_stock(sago_ckpt *ckpt) {
    sagoi_overview overview;
    sago_status status = sagoi_overview_make(ckpt, SAGOI_NO_STEP, &overview);
    if (!status && !ckpt->hints.ckpt_read_only)
        status = tidy_all(ckpt, &overview);
    if (!status && !ckpt->hints.ckpt_read_only)
        status = sagoi_agree_status(ckpt->team, shut_out_earlier_owners(ckpt, &overview));
    if (!status)
        status = remember(ckpt, &overview);
    if (!status) {
        count_damaged(ckpt, &overview);
        tell(ckpt, &overview);
    }
    sagoi_overview_cleanup(&overview);
    return sagoi_agree_status(ckpt->team, status);
}
