/* A save: one agreement, then every rank copies its arrays into the node's pool; the writers' threads do the rest.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#include "base/checked.h"
#include "ckpt/redundancy.h"
#include "move/calls.h"

/* Bytes beside the data, for records and for the file system itself. */
enum { SPACE_SLACK = 1 << 20 };
enum { MAX_STEP = SAGOI_MAX_FREE_TO_USE, MAX_CHANGED = MAX_STEP + 2, MAX_BUSY }; /* the step is a claim */
enum { SUM_ID_LOW, SUM_ID_HIGH, SUM_TIME };

/* ---- Before ---- */

static sago_status check_space_of(const sago_ckpt *ckpt, sago_level level, int64_t needed) {
    const char *dir = sagoi_level_dir(ckpt, level);
    int64_t room = 0;
    char damaged[96] = "";
    sago_status status = sagoi_path_free_space(dir, &room);
    if (ckpt->aside[level] > 0)
        (void)snprintf(damaged, sizeof damaged, "; damaged steps that are set aside there have %lld",
                       (long long)ckpt->aside[level]);
    if (!status && room < needed)
        status = sagoi_fail(SAGO_ERR_NO_SPACE, "%s has %lld bytes left, and the checkpoint needs %lld%s", dir,
                            (long long)room, (long long)needed, damaged);
    return status;
}

static bool goes_global(const sago_ckpt *ckpt) {
    int64_t every = ckpt->hints.ckpt_global_every;
    return !ckpt->local[0] || (every > 0 && (ckpt->nsaves + 1) % every == 0);
}

static bool goes_redundant(const sago_ckpt *ckpt) {
    int64_t every = ckpt->hints.ckpt_redundant_every;
    return ckpt->local[0] && ckpt->layout.intent.parity > 0 && every > 0 && (ckpt->nsaves + 1) % every == 0;
}

/* Bytes that the writers of this node will hold for others. */
static int64_t parity_bytes(const sago_ckpt *ckpt) {
    const sagoi_groups *groups = &ckpt->groups;
    int64_t bytes = 0;
    for (int64_t w = groups->first_on_node; w < groups->first_on_node + groups->on_node; w++) {
        sagoi_set set;
        sagoi_set_find(&ckpt->layout.intent, ckpt->layout.intent.writers[w].set, &set);
        bytes += set.k * set.chunk;
    }
    return bytes;
}

/* The first rank that sees a directory checks whether there is room for all parts.  A directory that does not
 * answer does not keep a step from the nodes; a later call reports that the step came no further. */
static sago_status check_space(const sago_ckpt *ckpt) {
    sago_status status = SAGO_OK;
    if (ckpt->team->rank == 0 && goes_global(ckpt))
        status = check_space_of(ckpt, SAGO_LEVEL_GLOBAL, ckpt->layout.total + SPACE_SLACK);
    if (status == SAGO_ERR_TIMEOUT && ckpt->local[0]) {
        sagoi_message_clear();
        status = SAGO_OK;
    }
    if (!status && ckpt->local[0] && ckpt->team->local_rank == 0) {
        status =
            check_space_of(ckpt, SAGO_LEVEL_LOCAL, ckpt->layout.node_bytes + parity_bytes(ckpt) + SPACE_SLACK);
    }
    return status;
}

/* A step that could not be restored from may be saved again. */
static bool gives_way(const sagoi_complete_step *complete) { return complete && complete->passed_over; }

/* Collective: sets the step aside, since its name is needed. */
static sago_status set_aside(sago_ckpt *ckpt, int64_t step) {
    const sagoi_complete_step *complete = sagoi_steps_find(ckpt, step);
    sago_status status = SAGO_OK;
    if (!gives_way(complete))
        return SAGO_OK;
    for (int level = SAGO_LEVEL_LOCAL; level < SAGO_LEVEL_COUNT && !status; level++) {
        bool mine = level == SAGO_LEVEL_GLOBAL
                        ? ckpt->team->rank == 0
                        : level == SAGO_LEVEL_LOCAL && ckpt->local[0] && ckpt->holder == ckpt->team->rank;
        sagoi_save_name save = {sagoi_level_dir(ckpt, level), step, complete->id_low, &ckpt->fence};
        if (mine)
            status = sagoi_save_note(&save, SAGOI_BAD_DATA_NAME); /* its records may say otherwise */
        if (mine && !status)
            status = sagoi_save_rename(&save, SAGOI_FOLDER_STEP, SAGOI_FOLDER_DAMAGED);
        /* Storage that hangs may keep the old save: of two saves of a step the newer one counts. */
        if (status == SAGO_ERR_NO_FILE || status == SAGO_ERR_TIMEOUT) {
            sagoi_message_clear();
            status = SAGO_OK;
        }
    }
    status = sagoi_agree_status(ckpt->team, status);
    if (status)
        return status;
    sagoi_steps_remove(ckpt, step);
    sagoi_saving_forget(ckpt, step);
    return sagoi_recount_damaged(ckpt);
}

static sago_status check_save(sago_ckpt *ckpt, int64_t step) {
    if (ckpt->hints.ckpt_read_only)
        return sagoi_fail(SAGO_ERR_MODE, "the directory was opened for reading only");
    if (step < 0)
        return sagoi_fail(SAGO_ERR_ARG, "step %lld is negative", (long long)step);
    const sagoi_saving *same = sagoi_saving_find(ckpt, step);
    const sagoi_complete_step *complete = sagoi_steps_find(ckpt, step);
    /* A save that was decided and is no complete step any more was removed, since it was too old. */
    if (!gives_way(complete) && (complete || (same && !same->decided)))
        return sagoi_fail(SAGO_ERR_EXISTS, "step %lld is there already", (long long)step);
    sago_status status = sagoi_steps_reserve(ckpt, 1);
    return !status && ckpt->layout.valid && !ckpt->data.changed ? check_space(ckpt) : status;
}

/* What all ranks know when they go on. */
typedef struct save_terms {
    sagoi_id id;
    int64_t time;
    bool changed, busy;
} save_terms;

static sago_status agree_on_save(sago_ckpt *ckpt, int64_t step, sago_status status, save_terms *terms) {
    sagoi_agreement agreed = {.max = {sagoi_verdict_code(ckpt->team, status)}};
    bool decided;
    if (ckpt->team->rank == 0) {
        if (getrandom(&agreed.sum[SUM_ID_LOW], 2 * sizeof agreed.sum[0], 0) < 0)
            agreed.sum[SUM_ID_LOW] = (uint64_t)(sagoi_ckpt_now() * 1e9);
        agreed.sum[SUM_ID_LOW] = sagoi_id_low_of(ckpt->fence.generation, agreed.sum[SUM_ID_LOW]);
        /* A step may be saved again before its older save is gone, and the newer one must have a later second. */
        int64_t least = ckpt->last_date + (step <= ckpt->last_step);
        ckpt->last_date = sagoi_max(least, (int64_t)sagoi_ckpt_date());
        ckpt->last_step = step;
        agreed.sum[SUM_TIME] = (uint64_t)ckpt->last_date;
    }
    sagoi_agreement_claim(&agreed, MAX_STEP, step);
    agreed.max[MAX_CHANGED] = !ckpt->layout.valid || ckpt->data.changed;
    agreed.max[MAX_BUSY] = ckpt->layout.valid && !ckpt->together && !sagoi_pool_free(&ckpt->pool);
    sagoi_news_put(ckpt, &agreed);
    sago_status met = sagoi_agree(ckpt->team, &agreed, NULL, NULL, NULL);
    if (!met && agreed.max[SAGOI_MAX_VERDICT])
        met = sagoi_verdict(ckpt->team, agreed.max[SAGOI_MAX_VERDICT]);
    else if (!met && !sagoi_agreement_is_equal(&agreed, MAX_STEP))
        met = sagoi_fail(SAGO_ERR_MISMATCH, "ranks save different steps");
    if (met)
        return met;
    *terms = (save_terms){{agreed.sum[SUM_ID_LOW], agreed.sum[SUM_ID_HIGH]},
                          (int64_t)agreed.sum[SUM_TIME],
                          agreed.max[MAX_CHANGED] != 0,
                          agreed.max[MAX_BUSY] != 0};
    return sagoi_news_take(ckpt, &agreed, &decided);
}

/* The pool must be empty while it changes, and nothing that goes by the old layout may be waiting. */
static sago_status make_layout(sago_ckpt *ckpt) {
    sago_status status = sagoi_saves_await_first(ckpt);
    if (!status)
        status = sagoi_redundancy_advance(ckpt);
    if (status)
        return status;
    while (ckpt->background && sagoi_background_writes(ckpt->background) && !sagoi_is_broken(ckpt->team))
        (void)sagoi_background_wait(ckpt->background);
    status = sagoi_layout_make(ckpt);
    return status ? status : sagoi_agree_status(ckpt->team, check_space(ckpt));
}

/* ---- When the save before is not yet written ---- */

/* The newest save, if all its windows could be taken back: it has a window, and no writer has begun to write
 * it. */
static sago_status try_replace(sago_ckpt *ckpt, bool *replaced) {
    sagoi_saving **newest = &ckpt->saves;
    while (*newest && (*newest)->next)
        newest = &(*newest)->next;
    sagoi_saving *old = *newest;
    bool possible = old && !old->decided && ckpt->layout.part.bytes <= ckpt->pool.window;
    bool held = possible && old->job && sagoi_job_hold(ckpt->background, old->job);
    sagoi_agreement agreed = {.max = {!possible || (old->job && !held)}};
    sago_status status = sagoi_agree(ckpt->team, &agreed, NULL, NULL, NULL);
    *replaced = !status && agreed.max[0] == 0;
    if (held)
        sagoi_job_release(ckpt->background, old->job, *replaced);
    if (!*replaced)
        return status;
    ckpt->pool.next--;
    if (sagoi_is_writer(ckpt))
        sagoi_pool_take_back(&ckpt->pool);
    *newest = NULL;
    int64_t step = old->step;
    if (old->job)
        free(old->job->intent);
    free(old->job);
    free(old);
    ckpt->stats.replaced++;
    sagoi_journal_dropped(ckpt, step, "replaced");
    return sagoi_gate(ckpt->team); /* no rank counts itself before the count is 0 again */
}

static sago_status find_room(sago_ckpt *ckpt, int64_t step, const save_terms *terms) {
    bool replaced;
    if (!terms->busy || ckpt->hints.ckpt_early == SAGOI_EARLY_WAIT)
        return SAGO_OK;
    if (ckpt->hints.ckpt_early == SAGOI_EARLY_REPLACE)
        return try_replace(ckpt, &replaced);
    ckpt->stats.skipped++;
    sagoi_journal_dropped(ckpt, step, "skipped");
    return sagoi_fail(SAGO_ERR_BUSY,
                      "the step is skipped: no buffer is free while earlier ones are being written");
}

/* ---- Copying ---- */

/* A writer without memory for its job still takes part: then the save fails, and all ranks learn of that. */
static void fill_job(sago_ckpt *ckpt, sagoi_saving *saving, const save_terms *terms) {
    sagoi_job *job = saving->job;
    sagoi_intent intent = ckpt->layout.intent;
    sagoi_wire_out out = {0};
    intent.id = terms->id;
    intent.step = saving->step;
    intent.time = terms->time;
    sagoi_intent_encode(&intent, &out);
    *job = (sagoi_job){.step = saving->step,
                       .id = terms->id,
                       .intent = out.bytes,
                       .intent_len = out.len,
                       .part = ckpt->layout.part,
                       .place = intent.writers[ckpt->groups.writer],
                       .first = SAGOI_JOB_PENDING,
                       .global = saving->to_global ? SAGOI_JOB_PENDING : SAGOI_JOB_NONE};
    job->part.id = terms->id;
    job->part.step = saving->step;
    job->intent_global = ckpt->groups.writer == 0;
    job->intent_first = ckpt->local[0] ? ckpt->keeper : job->intent_global;
    if (out.failed) {
        job->status = SAGO_ERR_MEMORY;
        (void)snprintf(job->message, sizeof job->message, "no memory for the intent of a save");
    }
}

sago_status sagoi_slices_copy(const sago_ckpt *ckpt, char *to_memory, int64_t from, int64_t to) {
    sago_status status = SAGO_OK;
    for (int64_t i = 0; i < ckpt->layout.nslices && !status; i++) {
        const sagoi_slice *slice = &ckpt->layout.slices[i];
        status = sagoi_overlap_copy(&slice->region, to_memory, from, to, slice->memory, SAGOI_TO_FILE);
    }
    return status;
}

/* A copy from a device that fails makes the save fail, and all ranks learn of it as of any other failure: the
 * writer must not commit, and the other ranks count on this one. */
static void copy_window(sago_ckpt *ckpt, char *window, int64_t from, int64_t to) {
    if (sagoi_slices_copy(ckpt, window, from, to))
        sagoi_pool_spoil(&ckpt->pool, ckpt->team->rank);
}

/* Without memory for the thread's task, the rank writes the window itself, when its turn has come, since the
 * others go on filling windows and count on it. */
static sago_status hand_over(sago_ckpt *ckpt, const sagoi_pool_window *window, bool inside) {
    sago_status status = sagoi_background_window(ckpt->background, window, inside);
    if (status != SAGO_ERR_MEMORY)
        return status;
    while (sagoi_background_writes(ckpt->background) && !sagoi_is_broken(ckpt->team))
        (void)sagoi_background_wait(ckpt->background);
    sagoi_message_clear();
    status = sagoi_pool_wait(&ckpt->pool, ckpt->team, window->number, (uint32_t)ckpt->groups.size);
    return status ? status : sagoi_background_window(ckpt->background, window, true);
}

/* Copies this rank's part of a window; a writer also receives what the others of its group have sent. */
static sago_status fill_window(sago_ckpt *ckpt, sagoi_saving *saving, sagoi_pool_window *window) {
    bool inside = ckpt->hints.ckpt_mode != SAGOI_CKPT_THREADED;
    sago_status status = sagoi_pool_claim(&ckpt->pool, ckpt->team, &window->data);
    if (status)
        return status;
    double begin = sagoi_ckpt_now();
    copy_window(ckpt, window->data, window->off, window->off + window->len);
    if (saving->job && ckpt->groups.near < ckpt->groups.size)
        status = sagoi_far_receive(ckpt, window->data, window->off, window->off + window->len);
    saving->stats.copy += sagoi_ckpt_now() - begin;
    sagoi_pool_fill(&ckpt->pool);
    if (saving->job && inside && !status) /* here, where the death of a process is noticed */
        status = sagoi_pool_wait(&ckpt->pool, ckpt->team, window->number, (uint32_t)ckpt->groups.size);
    return saving->job && !status ? hand_over(ckpt, window, inside) : status;
}

static sago_status send_window(sago_ckpt *ckpt, sagoi_saving *saving, const sagoi_pool_window *window) {
    double begin = sagoi_ckpt_now();
    sago_status status = sagoi_far_send(ckpt, window->off, window->off + window->len);
    saving->stats.copy += sagoi_ckpt_now() - begin;
    ckpt->pool.next++;
    return status;
}

static sago_status copy_all(sago_ckpt *ckpt, sagoi_saving *saving) {
    int64_t bytes = ckpt->layout.intent.writers[ckpt->groups.writer].bytes, off = 0;
    sago_status status = SAGO_OK;
    do {
        sagoi_pool_window window = {.job = saving->job, .number = ckpt->pool.next, .off = off};
        window.len = sagoi_min(ckpt->pool.window, bytes - off);
        window.first = off == 0;
        window.last = off + window.len == bytes;
        status = ckpt->groups.away ? send_window(ckpt, saving, &window) : fill_window(ckpt, saving, &window);
        off += window.len;
    } while (off < bytes && !status);
    return status;
}

static void append(sago_ckpt *ckpt, sagoi_saving *saving) {
    sagoi_saving **at = &ckpt->saves;
    while (*at)
        at = &(*at)->next;
    *at = saving;
    ckpt->nsaves++;
    ckpt->stats.saves++;
    ckpt->stats.bytes_saved += ckpt->layout.total;
}

/* Collective writing: all ranks go on when everything is written, and know the outcome.  That the step came no
 * further than the nodes, which may be known by now, is not told here. */
static sago_status finish_together(sago_ckpt *ckpt, sagoi_saving *saving) {
    sago_status status = SAGO_OK;
    while (!saving->decided && !status)
        status = sagoi_saves_progress(ckpt);
    if (status || !saving->failed)
        return status;
    saving->told = true;
    sagoi_message_set(saving->message);
    return saving->status;
}

sago_status sagoi_save(sago_ckpt *ckpt, int64_t step) {
    double begin = sagoi_ckpt_now();
    save_terms terms;
    sagoi_saving *saving = calloc(1, sizeof *saving);
    sago_status status = check_save(ckpt, step);
    if (saving && sagoi_is_writer(ckpt))
        saving->job = calloc(1, sizeof *saving->job);
    if (!status && (!saving || (sagoi_is_writer(ckpt) && !saving->job)))
        status = sagoi_fail(SAGO_ERR_MEMORY, "no memory for a save");
    status = agree_on_save(ckpt, step, status, &terms);
    if (!status)
        status = set_aside(ckpt, step);
    if (!status)
        status = terms.changed ? make_layout(ckpt) : sagoi_redundancy_advance(ckpt);
    if (!status)
        status = find_room(ckpt, step, &terms);
    if (status) {
        free(saving ? saving->job : NULL);
        free(saving);
        return status;
    }
    saving->step = saving->stats.step = step;
    saving->id = terms.id;
    saving->to_global = ckpt->local[0] && goes_global(ckpt);
    saving->to_redundant = goes_redundant(ckpt);
    saving->stats.bytes = ckpt->layout.total;
    if (saving->job)
        fill_job(ckpt, saving, &terms);
    append(ckpt, saving);
    status = ckpt->together ? sagoi_write_together(ckpt, saving) : copy_all(ckpt, saving);
    if (!status && ckpt->hints.ckpt_mode == SAGOI_CKPT_COIO)
        status = finish_together(ckpt, saving);
    saving->stats.held = ckpt->last_held = sagoi_ckpt_now() - begin;
    ckpt->stats.held += saving->stats.held;
    ckpt->stats.copy += saving->stats.copy;
    ckpt->last_save = sagoi_ckpt_now();
    return status;
}
