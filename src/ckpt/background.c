/* Two queues with a thread each (system/workqueue.h), since work that waits for the storage of one level must not
 * keep other work waiting.  Windows of saves come first: draining and removing give way to them between two
 * pieces. */
#include "ckpt/background.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "ckpt/clock.h"
#include "ckpt/drain.h"
#include "system/thread.h"
#include "system/workqueue.h"

typedef enum { TASK_WINDOW, TASK_DRAIN, TASK_MARK, TASK_REMOVE } task_kind;
/* Bytes that are written between two looks at the lease. */
enum { WRITE_AT_ONCE = 16 << 20 };
/* Milliseconds that a thread waits before it looks at other things again. */
enum { NAP_MS = 20 };
#define GIVE_WAY 1. /* Seconds that draining gives way, between two pieces, to windows that are being written. */

/* The queues: from memory to the first level; draining and removing. */
enum { WINDOWS, OTHERS, QUEUES };

typedef struct task {
    sagoi_work work;
    sagoi_background *background;
    task_kind kind;
    sagoi_pool_window window;
    sagoi_job *job;
    bool local;
    int64_t step;
    uint64_t id_low;
} task;

struct sagoi_background {
    sagoi_background_options options;
    sagoi_workqueue *queues; /* their lock also guards the states of jobs and the fields below */
    double cpu[QUEUES];      /* seconds that each thread has computed */
    atomic_bool stop;        /* without the lock: incomplete windows are not waited for any more */
};

static void lock(sagoi_background *background) { sagoi_workqueue_lock(background->queues); }
static void unlock(sagoi_background *background) { sagoi_workqueue_unlock(background->queues); }

/* ---- Windows ---- */

/* Keeps the first failure; called with the lock. */
static void note_failure(sagoi_job *job, sago_status status) {
    if (status && !job->status) {
        job->status = status;
        sagoi_message_keep(job->message);
    }
}

static sago_status begin_job(sagoi_background *background, sagoi_job *job) {
    bool local = background->options.local[0];
    sagoi_commit_plan plan = {.dir = local ? background->options.local : background->options.dir,
                              .global = !local,
                              .lent = true, /* pool.h */
                              .intent = job->intent_first ? job->intent : NULL,
                              .intent_len = job->intent_len,
                              .part = &job->part,
                              .place = &job->place,
                              .fence = background->options.fence};
    job->begun = true;
    return sagoi_commit_begin(&job->commit, &plan);
}

/* A lost lease fails the save, since another job owns the directory now. */
static sago_status check_lease(const sagoi_background *background) {
    return background->options.lease ? sagoi_lease_check(background->options.lease) : SAGO_OK;
}

/* A write to a node's own storage does not wait for the directory, which may hang. */
static sago_status check_first_lease(const sagoi_background *background) {
    if (!background->options.local[0] || !background->options.lease)
        return check_lease(background);
    return sagoi_lease_look(background->options.lease);
}

static sago_status write_window(sagoi_background *background, const sagoi_pool_window *window) {
    sagoi_job *job = window->job;
    int64_t chunk = sagoi_round_down(WRITE_AT_ONCE, job->part.piece);
    sago_status status = window->first ? begin_job(background, job) : SAGO_OK;
    for (int64_t done = 0; done < window->len && !status; done += chunk) {
        status = sagoi_commit_write(&job->commit, window->data + done, sagoi_min(chunk, window->len - done),
                                    window->off + done);
        if (!status)
            status = check_first_lease(background);
    }
    return status;
}

static sago_status submit(sagoi_background *background, const task *wanted);

/* Whether a step goes on to the global level was decided before, so nobody is asked. */
static void start_drain(sagoi_background *background, sagoi_job *job) {
    task wanted = {.kind = TASK_DRAIN, .job = job};
    lock(background);
    job->global = SAGOI_JOB_PENDING; /* set before the thread can set another state */
    unlock(background);
    sago_status status = submit(background, &wanted);
    if (!status)
        return;
    lock(background);
    note_failure(job, status);
    job->global = SAGOI_JOB_FAILED;
    unlock(background);
}

/* Writes a window; the last one commits or cleans up.  The slot is free as soon as its bytes are written. */
static void do_window(sagoi_background *background, const sagoi_pool_window *window) {
    sagoi_job *job = window->job;
    sagoi_message_clear();
    bool whole = sagoi_pool_await(background->options.pool, window->number, background->options.group_size,
                                  &background->stop);
    if (window->first)
        job->opened = sagoi_ckpt_now();
    lock(background);
    if (!whole)
        note_failure(job, sagoi_fail(SAGO_ERR_STATE, "the job ended before all ranks had copied their data"));
    note_failure(job, sagoi_pool_check(background->options.pool, window->number));
    sago_status before = job->status;
    unlock(background);
    sago_status status = before ? SAGO_OK : write_window(background, window);
    sagoi_pool_done(background->options.pool, window->number);
    if (!before && !status && window->last)
        status = sagoi_commit_end(&job->commit);
    lock(background);
    note_failure(job, status);
    bool failed = job->status != SAGO_OK;
    unlock(background);
    if (!window->last)
        return;
    if (failed && job->begun)
        sagoi_commit_abandon(&job->commit);
    lock(background);
    job->queue = job->opened - job->submitted;
    job->write = sagoi_ckpt_now() - job->opened;
    job->first = failed ? SAGOI_JOB_FAILED : SAGOI_JOB_DONE;
    bool drain = !failed && job->global == SAGOI_JOB_PENDING;
    if (failed)
        job->global = SAGOI_JOB_NONE;
    unlock(background);
    if (drain)
        start_drain(background, job);
}

/* ---- Draining and removing ---- */

/* Called between two pieces of a drain: urgent work goes first.  A first level that hangs is no reason to wait. */
static sago_status between_pieces(void *arg) {
    sagoi_background *background = arg;
    double begin = sagoi_ckpt_now();
    lock(background);
    while (sagoi_workqueue_busy(background->queues, WINDOWS) && sagoi_ckpt_now() - begin < GIVE_WAY)
        sagoi_workqueue_await_news(background->queues, NAP_MS);
    unlock(background);
    return check_lease(background);
}

static void do_drain(sagoi_background *background, sagoi_job *job) {
    double begin = sagoi_ckpt_now();
    sagoi_message_clear();
    sagoi_drain_plan plan = {.from = background->options.local,
                             .to = background->options.dir,
                             .intent = job->intent_global ? job->intent : NULL,
                             .intent_len = job->intent_len,
                             .place = &job->place,
                             .fence = background->options.fence,
                             .step = job->step,
                             .id = job->id,
                             .writer = job->part.writer,
                             .rate = background->options.rate,
                             .pause = between_pieces,
                             .pause_arg = background};
    sago_status status = sagoi_drain_part(&plan);
    lock(background);
    note_failure(job, status);
    job->drain = sagoi_ckpt_now() - begin;
    job->global = status ? SAGOI_JOB_FAILED : SAGOI_JOB_DONE;
    unlock(background);
}

/* On the nodes a trace stays until the next removal.  By then the other nodes have come as far, or the job has
 * died; whoever opens the directory next then knows why some folders are left. */
static sago_status remove_save(const sagoi_save_name *save, bool local) {
    sago_status status = sagoi_save_remove(save, SAGOI_FOLDER_STEP, local);
    return !status && local ? sagoi_traces_remove(save->fence, save->dir, save) : status;
}

/* A folder that cannot be removed or marked now is removed or marked when the directory is opened next.  A job
 * that has lost the lock removes nothing, since another job may count on it. */
static void do_folder(sagoi_background *background, const task *at) {
    sagoi_save_name save = {at->local ? background->options.local : background->options.dir, at->step, at->id_low,
                            background->options.fence};
    sago_status status = check_lease(background);
    if (!status)
        status = at->kind == TASK_MARK ? sagoi_save_note(&save, SAGOI_MARK_NAME) : remove_save(&save, at->local);
    if (status)
        sagoi_message_clear();
}

static void do_task(sagoi_work *work) {
    task *at = (task *)work;
    sagoi_background *background = at->background;
    if (at->kind == TASK_WINDOW)
        do_window(background, &at->window);
    else if (at->kind == TASK_DRAIN)
        do_drain(background, at->job);
    else
        do_folder(background, at);
    double cpu = sagoi_seconds(CLOCK_THREAD_CPUTIME_ID);
    lock(background);
    background->cpu[at->kind == TASK_WINDOW ? WINDOWS : OTHERS] = cpu;
    unlock(background);
}

/* ---- The threads ---- */

/* A window of a held job waits, and so do those behind it. */
static bool begin_window(sagoi_work *work) {
    sagoi_job *job = ((task *)work)->window.job;
    if (job->held)
        return false;
    job->started = true;
    return true;
}

static int core_wanted(const void *core) { return *(const int *)core; }

sago_status sagoi_background_start(const sagoi_background_options *options, sagoi_background **made) {
    sagoi_background *background = calloc(1, sizeof *background);
    if (!background)
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory for a writer");
    background->options = *options;
    sago_status status = sagoi_workqueue_create(QUEUES, "sago-ckpt", &background->queues);
    int error = 0;
    if (!status)
        sagoi_workqueue_place(background->queues, core_wanted, &background->options.core);
    for (int i = 0; i < QUEUES && !status && !error; i++)
        error = sagoi_workqueue_start(background->queues, i);
    if (status || error) {
        sagoi_workqueue_destroy(&background->queues);
        free(background);
        return status ? status : sagoi_fail_errno(error, "starting a writer's thread");
    }
    *made = background;
    return SAGO_OK;
}

void sagoi_background_stop(sagoi_background **background) {
    sagoi_background *ending = *background;
    *background = NULL;
    if (!ending)
        return;
    atomic_store(&ending->stop, true);
    sagoi_workqueue_destroy(&ending->queues);
    free(ending);
}

/* ---- What the rank asks for ---- */

static sago_status submit(sagoi_background *background, const task *wanted) {
    task *new = malloc(sizeof *new);
    if (!new)
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory for a task of a writer");
    bool window = wanted->kind == TASK_WINDOW;
    *new = *wanted;
    new->work = (sagoi_work){.run = do_task, .begin = window ? begin_window : NULL, .owned = true};
    new->background = background;
    if (sagoi_workqueue_submit(background->queues, window ? WINDOWS : OTHERS, &new->work))
        return SAGO_OK;
    free(new);
    return sagoi_fail(SAGO_ERR_STATE, "the thread of a writer is not in this process");
}

sago_status sagoi_background_window(sagoi_background *background, const sagoi_pool_window *window, bool inside) {
    task wanted = {.kind = TASK_WINDOW, .window = *window};
    if (window->last)
        window->job->submitted = sagoi_ckpt_now();
    if (!inside)
        return submit(background, &wanted);
    do_window(background, window);
    return SAGO_OK;
}

void sagoi_background_drain(sagoi_background *background, sagoi_job *job) { start_drain(background, job); }

/* Without memory for a task the caller does the work itself. */
static void submit_folder(sagoi_background *background, const task *wanted) {
    if (submit(background, wanted)) {
        sagoi_message_clear();
        do_folder(background, wanted);
    }
}

void sagoi_background_remove(sagoi_background *background, bool local, int64_t step, uint64_t id_low) {
    submit_folder(background, &(task){.kind = TASK_REMOVE, .local = local, .step = step, .id_low = id_low});
}

void sagoi_background_mark(sagoi_background *background, bool local, int64_t step, uint64_t id_low) {
    submit_folder(background, &(task){.kind = TASK_MARK, .local = local, .step = step, .id_low = id_low});
}

sagoi_job_news sagoi_job_ask(sagoi_background *background, const sagoi_job *job) {
    sagoi_job_news news = {0};
    lock(background);
    news.first = job->first;
    news.global = job->global;
    news.started = job->started;
    news.status = job->status;
    memcpy(news.message, job->message, sizeof news.message);
    news.queue = job->queue;
    news.write = job->write;
    news.drain = job->drain;
    unlock(background);
    return news;
}

bool sagoi_background_wait(sagoi_background *background) {
    lock(background);
    bool busy =
        sagoi_workqueue_busy(background->queues, WINDOWS) || sagoi_workqueue_busy(background->queues, OTHERS);
    if (busy)
        sagoi_workqueue_await_news(background->queues, NAP_MS);
    unlock(background);
    return busy;
}

bool sagoi_background_writes(sagoi_background *background) {
    lock(background);
    bool writes = sagoi_workqueue_busy(background->queues, WINDOWS);
    unlock(background);
    return writes;
}

bool sagoi_job_hold(sagoi_background *background, sagoi_job *job) {
    lock(background);
    job->held = !job->started;
    bool held = job->held;
    unlock(background);
    return held;
}

static bool is_of_job(const sagoi_work *work, const void *job) { return ((const task *)work)->window.job == job; }

void sagoi_job_release(sagoi_background *background, sagoi_job *job, bool drop) {
    lock(background);
    job->held = false;
    sagoi_workqueue_recheck(background->queues, WINDOWS, drop ? is_of_job : NULL, job);
    unlock(background);
}

double sagoi_background_cpu(sagoi_background *background) {
    lock(background);
    double seconds = background->cpu[WINDOWS] + background->cpu[OTHERS];
    unlock(background);
    return seconds;
}
