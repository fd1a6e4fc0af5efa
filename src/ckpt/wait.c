/* Waiting for a step to reach a level, and what it took. */
#include <stdlib.h>
#include <string.h>

#include "ckpt/state.h"
#include "move/collect.h"

/* Returns the failure of this save. */
static sago_status tell(sagoi_saving *saving) {
    saving->told = true;
    sagoi_message_set(saving->message);
    return saving->status;
}

static sago_status wait_first(sago_ckpt *ckpt, sagoi_saving *saving) {
    sago_status status = sagoi_saves_progress(ckpt);
    while (!status && !saving->decided)
        status = sagoi_saves_wait(ckpt);
    return !status && saving->failed ? tell(saving) : status;
}

static sago_status wait_global(sago_ckpt *ckpt, sagoi_saving *saving) {
    sago_status status = SAGO_OK;
    if (!ckpt->local[0])
        return SAGO_OK; /* it was the first level */
    if (!saving->to_global) {
        saving->to_global = true;
        saving->journalled = false;
        if (saving->job)
            sagoi_background_drain(ckpt->background, saving->job);
    }
    while (!status && !saving->global_decided)
        status = sagoi_saves_wait(ckpt);
    return !status && saving->stats.level < SAGO_LEVEL_GLOBAL ? tell(saving) : status;
}

/* Has the save become too old for the nodes, and was not to go further before?  Its removal may be under way, and
 * what is brought further now would be the newest step in the list. */
static bool is_retired(sago_ckpt *ckpt, const sagoi_saving *saving) {
    const sagoi_complete_step *complete = sagoi_steps_find(ckpt, saving->step);
    bool kept = complete && complete->id_low == saving->id.low && complete->at[SAGO_LEVEL_LOCAL];
    return !kept && !sagoi_saving_open(saving);
}

/* If the save has failed before, that is the reason. */
static sago_status refuse_retired(sagoi_saving *saving, sago_level level) {
    if (saving->status)
        return tell(saving);
    return sagoi_fail(SAGO_ERR_NO_FILE,
                      "step %lld was removed from the nodes before it was to be at level %s, since newer ones are "
                      "kept (sago_ckpt_keep_local)",
                      (long long)saving->step, sago_level_string(level));
}

static sago_status wait_levels(sago_ckpt *ckpt, sagoi_saving *saving, sago_level level) {
    sago_status status = level > SAGO_LEVEL_MEMORY ? wait_first(ckpt, saving) : SAGO_OK;
    if (status || level <= SAGO_LEVEL_LOCAL || !ckpt->local[0])
        return status;
    if (saving->stats.level >= (int)level)
        return SAGO_OK; /* what the nodes had of it may be gone by now */
    if (is_retired(ckpt, saving))
        return refuse_retired(saving, level);
    if (level == SAGO_LEVEL_REDUNDANT && ckpt->layout.intent.parity == 0 && !saving->to_global)
        return sagoi_fail(SAGO_ERR_UNSUPPORTED, "there is no redundancy: hint sago_ckpt_redundancy");
    if (level == SAGO_LEVEL_REDUNDANT && ckpt->layout.intent.parity > 0)
        return sagoi_redundancy_wait(ckpt, saving);
    return wait_global(ckpt, saving);
}

/* Old saves are forgotten on the way. */
static sago_status wait_saving(sago_ckpt *ckpt, sagoi_saving *saving, sago_level level) {
    saving->awaited = true;
    sago_status status = wait_levels(ckpt, saving, level);
    saving->awaited = false;
    return status;
}

sago_status sagoi_wait_for(sago_ckpt *ckpt, int64_t step, sago_level level) {
    enum { MAX_STEP = 1, MAX_LEVEL = 3 };
    sagoi_agreement agreed = {0};
    sago_status status = SAGO_OK;
    sagoi_agreement_claim(&agreed, MAX_STEP, step);
    sagoi_agreement_claim(&agreed, MAX_LEVEL, level);
    if ((int)level < 0 || level >= SAGO_LEVEL_COUNT)
        status = sagoi_fail(SAGO_ERR_ARG, "there is no such level: %d", (int)level);
    status = sagoi_agree_with(ckpt->team, status, &agreed);
    if (!status && (!sagoi_agreement_is_equal(&agreed, MAX_STEP) || !sagoi_agreement_is_equal(&agreed, MAX_LEVEL)))
        status = sagoi_fail(SAGO_ERR_MISMATCH, "ranks wait for different steps or levels");
    if (status)
        return status;
    sagoi_saving *saving = sagoi_saving_find(ckpt, step);
    if (saving)
        return wait_saving(ckpt, saving, level);
    const sagoi_complete_step *complete = sagoi_steps_find(ckpt, step);
    for (int at = level; complete && at < SAGO_LEVEL_COUNT; at++)
        if (complete->at[at])
            return SAGO_OK;
    return sagoi_fail(SAGO_ERR_NO_FILE, "step %lld was not saved by this job, or not at level %s", (long long)step,
                      sago_level_string(level));
}

/* ---- Statistics ---- */

enum { TIMES = 6 }; /* held, copy, queue, write, redundancy, drain */

static void put_times(double values[TIMES], const sago_ckpt_save_stats *stats) {
    const double times[TIMES] = {stats->held,  stats->copy,       stats->queue,
                                 stats->write, stats->redundancy, stats->drain};
    memcpy(values, times, sizeof times);
}

static void take_times(sago_ckpt_save_stats *stats, const double values[TIMES]) {
    stats->held = values[0];
    stats->copy = values[1];
    stats->queue = values[2];
    stats->write = values[3];
    stats->redundancy = values[4];
    stats->drain = values[5];
    stats->perceived = stats->held > 0 ? (double)stats->bytes / stats->held : 0;
    stats->raw = stats->write > 0 ? (double)stats->bytes / stats->write : 0;
}

static sago_status reduce(sago_ckpt *ckpt, double *values, int n) {
    return sagoi_allreduce(ckpt->team, ckpt->team->own, values, n, MPI_DOUBLE, MPI_MAX);
}

sago_status sagoi_save_stats_reduce(sago_ckpt *ckpt, sago_ckpt_save_stats *stats, int64_t n) {
    double values[SAGO_CKPT_RECENT][TIMES] = {{0}};
    for (int64_t i = 0; i < n; i++)
        put_times(values[i], &stats[i]);
    sago_status status = reduce(ckpt, values[0], (int)n * TIMES);
    for (int64_t i = 0; i < n && !status; i++)
        take_times(&stats[i], values[i]);
    return status;
}

/* The newest saves first. */
static int64_t list_recent(const sago_ckpt *ckpt, sago_ckpt_save_stats recent[SAGO_CKPT_RECENT]) {
    int64_t n = 0;
    for (const sagoi_saving *at = ckpt->saves; at; at = at->next) {
        memmove(&recent[1], &recent[0], (SAGO_CKPT_RECENT - 1) * sizeof recent[0]);
        recent[0] = at->stats;
        n += n < SAGO_CKPT_RECENT;
    }
    return n;
}

/* Of this rank, at all levels. */
static sagoi_watch_counts count_hung(const sago_ckpt *ckpt) {
    const sagoi_watch *const all[] = {ckpt->watched_dir, ckpt->watched_local, ckpt->watched_journal};
    sagoi_watch_counts sum = {0};
    for (int i = 0; i < 3; i++) {
        sagoi_watch_counts counts = sagoi_watch_count(all[i]);
        sum.calls += counts.calls;
        sum.bytes += counts.bytes;
        sum.cpu += counts.cpu;
    }
    return sum;
}

sago_status sagoi_collect_stats(sago_ckpt *ckpt, sago_ckpt_stats *stats) {
    sago_status status = sagoi_saves_progress(ckpt);
    if (status)
        return status;
    *stats = ckpt->stats;
    double pool = (double)ckpt->pool.segment.bytes;
    sagoi_watch_counts hung = count_hung(ckpt);
    double calls = (double)hung.calls, bytes = (double)hung.bytes;
    stats->thread_cpu = hung.cpu + (ckpt->background ? sagoi_background_cpu(ckpt->background) : 0);
    double *const times[] = {&stats->held,  &stats->copy,       &stats->queue,   &stats->write, &stats->redundancy,
                             &stats->drain, &stats->thread_cpu, &stats->restore, &pool,         &calls,
                             &bytes};
    enum { COUNT = sizeof times / sizeof times[0] };
    double values[COUNT];
    for (int i = 0; i < COUNT; i++)
        values[i] = *times[i];
    status = reduce(ckpt, values, COUNT);
    for (int i = 0; i < COUNT; i++)
        *times[i] = values[i];
    stats->pool_bytes = (int64_t)pool;
    stats->hung_calls = (int64_t)calls;
    stats->hung_bytes = (int64_t)bytes;
    stats->nrecent = list_recent(ckpt, stats->recent);
    return status ? status : sagoi_save_stats_reduce(ckpt, stats->recent, stats->nrecent);
}
