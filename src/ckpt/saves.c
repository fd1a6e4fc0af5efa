/* A writer's thread cannot tell the other ranks that a save is done, so every collective call of Sago carries the
 * news of the oldest saves that are not decided yet.  The storage does not depend on this: only what Sago
 * remembers does, and what may be removed because of it. */
#include <stdio.h>
#include <stdlib.h>

#include "base/checked.h"
#include "ckpt/state.h"

/* ---- Lists ---- */

sagoi_saving *sagoi_saving_find(sago_ckpt *ckpt, int64_t step) {
    sagoi_saving *found = NULL;
    for (sagoi_saving *at = ckpt->saves; at; at = at->next)
        if (at->step == step)
            found = at;
    return found;
}

/* No thread works on the job any more.  If its last window never came, since a rank died, it still has files
 * open. */
static void saving_free(sagoi_saving *saving) {
    if (saving->job && saving->job->begun && saving->job->first == SAGOI_JOB_PENDING)
        sagoi_commit_abandon(&saving->job->commit);
    if (saving->job)
        free(saving->job->intent);
    free(saving->job);
    free(saving);
}

void sagoi_savings_free(sago_ckpt *ckpt) {
    for (sagoi_saving *at = ckpt->saves, *next; at; at = next) {
        next = at->next;
        saving_free(at);
    }
    ckpt->saves = NULL;
}

void sagoi_saving_forget(sago_ckpt *ckpt, int64_t step) {
    for (sagoi_saving **at = &ckpt->saves; *at;) {
        sagoi_saving *old = *at;
        if (old->step != step) {
            at = &old->next;
            continue;
        }
        *at = old->next;
        saving_free(old);
    }
}

sagoi_complete_step *sagoi_steps_find(sago_ckpt *ckpt, int64_t step) {
    for (int64_t i = 0; i < ckpt->nsteps; i++)
        if (ckpt->steps[i].step == step)
            return &ckpt->steps[i];
    return NULL;
}

sago_status sagoi_steps_reserve(sago_ckpt *ckpt, int64_t more) {
    int64_t needed = ckpt->nsteps + more, capacity = sagoi_max(2 * ckpt->steps_capacity, needed + 16);
    for (const sagoi_saving *at = ckpt->saves; at; at = at->next)
        needed++;
    if (needed <= ckpt->steps_capacity)
        return SAGO_OK;
    capacity = sagoi_max(capacity, needed);
    sagoi_complete_step *moved = realloc(ckpt->steps, (size_t)capacity * sizeof *moved);
    if (!moved)
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory for the list of steps");
    ckpt->steps = moved;
    ckpt->steps_capacity = capacity;
    return SAGO_OK;
}

void sagoi_steps_add(sago_ckpt *ckpt, int64_t step, uint64_t id_low, sago_level level) {
    sagoi_complete_step *complete = sagoi_steps_find(ckpt, step);
    if (!complete) {
        complete = &ckpt->steps[ckpt->nsteps++];
        *complete = (sagoi_complete_step){.step = step, .id_low = id_low};
    }
    complete->at[level] = true;
    complete->half_drained = complete->half_drained && !complete->at[SAGO_LEVEL_GLOBAL];
}

void sagoi_steps_remove(sago_ckpt *ckpt, int64_t step) {
    int64_t kept = 0;
    for (int64_t i = 0; i < ckpt->nsteps; i++)
        if (ckpt->steps[i].step != step)
            ckpt->steps[kept++] = ckpt->steps[i];
    ckpt->nsteps = kept;
}

/* ---- Keeping only so many ---- */

static int strength(const sagoi_complete_step *complete) {
    for (int level = SAGO_LEVEL_COUNT - 1; level > SAGO_LEVEL_MEMORY; level--)
        if (complete->at[level])
            return level;
    return 0;
}

/* The number of newer steps that are complete at the same or a safer level.  Steps that could not be restored from
 * do not count. */
static int64_t newer_ones(const sago_ckpt *ckpt, int64_t i, int at_least) {
    int64_t n = 0;
    for (int64_t j = i + 1; j < ckpt->nsteps; j++)
        n += !ckpt->steps[j].passed_over && strength(&ckpt->steps[j]) >= at_least;
    return n;
}

/* Does this rank look after the storage of the level? */
static bool looks_after(const sago_ckpt *ckpt, bool local) { return local ? ckpt->keeper : ckpt->team->rank == 0; }

static void remove_at(sago_ckpt *ckpt, sagoi_complete_step *complete, bool local) {
    complete->at[local ? SAGO_LEVEL_LOCAL : SAGO_LEVEL_GLOBAL] = false;
    if (local)
        complete->at[SAGO_LEVEL_REDUNDANT] = false;
    if (looks_after(ckpt, local))
        sagoi_background_remove(ckpt->background, local, complete->step, complete->id_low);
}

/* Steps that are still being drained or encoded are read from the nodes. */
static bool still_needed(sago_ckpt *ckpt, int64_t step) {
    const sagoi_saving *saving = sagoi_saving_find(ckpt, step);
    return saving && !saving->failed &&
           ((saving->to_global && !saving->global_decided) || (saving->to_redundant && !saving->redundant));
}

/* The step was removed from all levels where it was complete; the rest of a drain goes with it. */
static void drop_step(sago_ckpt *ckpt, const sagoi_complete_step *complete) {
    if (complete->half_drained && looks_after(ckpt, false))
        sagoi_background_remove(ckpt->background, false, complete->step, complete->id_low);
    sagoi_steps_remove(ckpt, complete->step);
}

void sagoi_retain(sago_ckpt *ckpt) {
    for (int64_t i = 0; i < ckpt->nsteps; i++) {
        sagoi_complete_step *complete = &ckpt->steps[i];
        if (complete->passed_over)
            continue;
        int nodes = complete->at[SAGO_LEVEL_REDUNDANT] ? SAGO_LEVEL_REDUNDANT : SAGO_LEVEL_LOCAL;
        if (ckpt->hints.ckpt_keep_local > 0 && complete->at[nodes] && !still_needed(ckpt, complete->step) &&
            newer_ones(ckpt, i, nodes) >= ckpt->hints.ckpt_keep_local)
            remove_at(ckpt, complete, true);
        if (ckpt->hints.ckpt_keep_global > 0 && complete->at[SAGO_LEVEL_GLOBAL] &&
            newer_ones(ckpt, i, SAGO_LEVEL_GLOBAL) >= ckpt->hints.ckpt_keep_global)
            remove_at(ckpt, complete, false);
    }
    for (int64_t i = 0; i < ckpt->nsteps;)
        if (strength(&ckpt->steps[i]) == 0)
            drop_step(ckpt, &ckpt->steps[i]);
        else
            i++;
}

/* ---- News ---- */

static sagoi_saving *oldest_undecided(sago_ckpt *ckpt) {
    sagoi_saving *at = ckpt->saves;
    while (at && at->decided)
        at = at->next;
    return at;
}

/* Of a save that has failed on one node, other nodes may be bringing parts to the directory. */
static sagoi_saving *oldest_draining(sago_ckpt *ckpt) {
    sagoi_saving *at = ckpt->saves;
    while (at && !(at->decided && at->to_global && !at->global_decided))
        at = at->next;
    return at;
}

/* Puts the state of one job into two numbers that the ranks agree on.  If `may_fail` is false the place for a
 * message is taken, so the job's failure waits for the next agreement. */
static void put_job(sago_ckpt *ckpt, const sagoi_saving *saving, bool global, bool may_fail, int64_t *pending,
                    int64_t *failed) {
    if (!saving || !saving->job)
        return;
    sagoi_job_news news = sagoi_job_ask(ckpt->background, saving->job);
    sagoi_job_state state = global ? news.global : news.first;
    if (saving->failed && state == SAGOI_JOB_FAILED)
        return; /* that the save has failed is known */
    if (state == SAGOI_JOB_PENDING || (state == SAGOI_JOB_FAILED && !may_fail)) {
        *pending = 1;
    } else if (state == SAGOI_JOB_FAILED) {
        sagoi_message_set(news.message);
        *failed = sagoi_verdict_code(ckpt->team, news.status);
        sagoi_message_clear();
    }
}

void sagoi_news_put(sago_ckpt *ckpt, sagoi_agreement *agreement) {
    int64_t *max = agreement->max;
    max[SAGOI_MAX_PENDING] = max[SAGOI_MAX_FAILED] = 0;
    max[SAGOI_MAX_GLOBAL_PENDING] = max[SAGOI_MAX_GLOBAL_FAILED] = 0;
    put_job(ckpt, oldest_undecided(ckpt), false, max[SAGOI_MAX_VERDICT] == 0, &max[SAGOI_MAX_PENDING],
            &max[SAGOI_MAX_FAILED]);
    put_job(ckpt, oldest_draining(ckpt), true, max[SAGOI_MAX_VERDICT] == 0 && max[SAGOI_MAX_FAILED] == 0,
            &max[SAGOI_MAX_GLOBAL_PENDING], &max[SAGOI_MAX_GLOBAL_FAILED]);
}

static void take_times(sago_ckpt *ckpt, sagoi_saving *saving) {
    if (!saving->job)
        return;
    sagoi_job_news news = sagoi_job_ask(ckpt->background, saving->job);
    saving->stats.queue = news.queue;
    saving->stats.write = news.write;
    saving->stats.drain = news.drain;
}

/* Keeps the agreed failure of a save for sago_ckpt_wait() or sago_ckpt_close(). */
static void keep_failure(sago_ckpt *ckpt, sagoi_saving *saving, sago_level level, int64_t code) {
    saving->status = sagoi_verdict(ckpt->team, code);
    (void)snprintf(saving->message, sizeof saving->message, "step %lld is not at level %s: %.440s",
                   (long long)saving->step, sago_level_string(level), sagoi_message());
    sagoi_message_clear();
    ckpt->stats.failed++;
}

bool sagoi_saving_open(const sagoi_saving *saving) {
    return !saving->decided || (saving->to_global && !saving->global_decided) ||
           (!saving->failed && saving->to_redundant && !saving->redundant);
}

/* Forgets old saves that nobody will ask about; failures stay until they were reported. */
static void forget_old(sago_ckpt *ckpt) {
    int64_t n = 0;
    for (sagoi_saving *at = ckpt->saves; at; at = at->next)
        n++;
    for (sagoi_saving **at = &ckpt->saves; *at && n > SAGO_CKPT_RECENT; n--) {
        sagoi_saving *old = *at;
        if (sagoi_saving_open(old) || old->awaited || (old->status && !old->told)) {
            at = &old->next;
            continue;
        }
        *at = old->next;
        saving_free(old);
    }
}

static void decide_first(sago_ckpt *ckpt, sagoi_saving *saving, int64_t failure) {
    bool local = ckpt->local[0];
    sago_level level = local ? SAGO_LEVEL_LOCAL : SAGO_LEVEL_GLOBAL;
    saving->decided = true;
    take_times(ckpt, saving);
    if (failure) {
        saving->failed = true;
        saving->stats.written = -1;
        keep_failure(ckpt, saving, level, failure);
        if (looks_after(ckpt, local))
            sagoi_background_remove(ckpt->background, local, saving->step, saving->id.low);
        return;
    }
    saving->stats.written = 1;
    ckpt->stats.queue += saving->stats.queue;
    ckpt->stats.write += saving->stats.write;
    saving->stats.level = (int)level;
    sagoi_steps_add(ckpt, saving->step, saving->id.low, level);
    if (looks_after(ckpt, local))
        sagoi_background_mark(ckpt->background, local, saving->step, saving->id.low);
}

static void decide_global(sago_ckpt *ckpt, sagoi_saving *saving, int64_t failure) {
    saving->global_decided = true;
    take_times(ckpt, saving);
    if (saving->failed) { /* what came to the directory is of no use */
        if (looks_after(ckpt, false))
            sagoi_background_remove(ckpt->background, false, saving->step, saving->id.low);
        return;
    }
    if (failure) {
        sagoi_complete_step *complete = sagoi_steps_find(ckpt, saving->step);
        keep_failure(ckpt, saving, SAGO_LEVEL_GLOBAL, failure);
        if (complete && complete->id_low == saving->id.low)
            complete->half_drained = true;
        return;
    }
    ckpt->stats.drain += saving->stats.drain;
    saving->stats.level = SAGO_LEVEL_GLOBAL;
    sagoi_steps_add(ckpt, saving->step, saving->id.low, SAGO_LEVEL_GLOBAL);
    if (looks_after(ckpt, false))
        sagoi_background_mark(ckpt->background, false, saving->step, saving->id.low);
}

sago_status sagoi_news_take(sago_ckpt *ckpt, const sagoi_agreement *agreed, bool *decided) {
    sagoi_saving *first = oldest_undecided(ckpt), *draining = oldest_draining(ckpt);
    const int64_t *max = agreed->max;
    *decided = false;
    if (first && !max[SAGOI_MAX_PENDING]) {
        *decided = true;
        decide_first(ckpt, first, max[SAGOI_MAX_FAILED]);
    }
    /* the other numbers were not about a save that was decided just now */
    if (draining && !max[SAGOI_MAX_GLOBAL_PENDING]) {
        *decided = true;
        decide_global(ckpt, draining, max[SAGOI_MAX_GLOBAL_FAILED]);
    }
    if (*decided)
        sagoi_retain(ckpt);
    sago_status status = sagoi_journal_advance(ckpt);
    forget_old(ckpt);
    return status;
}

sago_status sagoi_saves_progress(sago_ckpt *ckpt) {
    bool decided = true;
    sago_status status = SAGO_OK;
    while (decided && !status && (oldest_undecided(ckpt) || oldest_draining(ckpt))) {
        sagoi_agreement agreement = {0};
        sagoi_news_put(ckpt, &agreement);
        status = sagoi_agree(ckpt->team, &agreement, NULL, NULL, NULL);
        if (!status)
            status = sagoi_news_take(ckpt, &agreement, &decided);
    }
    return status;
}

sago_status sagoi_saves_wait(sago_ckpt *ckpt) {
    if (ckpt->background)
        (void)sagoi_background_wait(ckpt->background);
    return sagoi_saves_progress(ckpt);
}

sago_status sagoi_saves_await_first(sago_ckpt *ckpt) {
    sago_status status = sagoi_saves_progress(ckpt);
    while (!status && oldest_undecided(ckpt))
        status = sagoi_saves_wait(ckpt);
    return status;
}

sago_status sagoi_saves_await_all(sago_ckpt *ckpt) {
    sago_status status = sagoi_saves_progress(ckpt);
    while (!status && (oldest_undecided(ckpt) || oldest_draining(ckpt)))
        status = sagoi_saves_wait(ckpt);
    return status;
}
