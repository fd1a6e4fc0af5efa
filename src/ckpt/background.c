/* Two queues under one lock: windows of saves come first, draining and removing give way to them between pieces.
 */
#include "ckpt/background.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/checked.h"
#include "ckpt/clock.h"
#include "ckpt/drain.h"

typedef enum { TASK_WINDOW, TASK_DRAIN, TASK_MARK, TASK_REMOVE } task_kind;
enum { WRITE_AT_ONCE = 16 << 20 }; /* then the lease is looked at */

typedef struct task {
    task_kind kind;
    sagoi_window window;
    sagoi_job *job;
    bool local;
    int64_t step;
    uint64_t id_low;
    struct task *next;
} task;

typedef struct queue {
    task *first, *last;
} queue;

struct sagoi_background {
    sagoi_background_options options;
    pthread_mutex_t lock;
    pthread_cond_t work, news;
    queue windows, others;
    bool busy; /* with a task */
    atomic_bool stop;
    double cpu;
    pthread_t thread;
};

/* CPU seconds of the calling thread. */
static double cpu_seconds(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static struct timespec after_ms(int milliseconds) {
    struct timespec at;
    (void)clock_gettime(CLOCK_MONOTONIC, &at);
    int64_t nanoseconds = at.tv_nsec + (int64_t)milliseconds * 1000000;
    at.tv_sec += nanoseconds / 1000000000;
    at.tv_nsec = nanoseconds % 1000000000;
    return at;
}

static void push(queue *to, task *new) {
    new->next = NULL;
    if (to->first)
        to->last->next = new;
    else
        to->first = new;
    to->last = new;
}

static void lock(sagoi_background *background) { (void)pthread_mutex_lock(&background->lock); }
static void unlock(sagoi_background *background) { (void)pthread_mutex_unlock(&background->lock); }

/* ---- Windows ---- */

/* Only the first failure counts; under the lock. */
static void note_failure(sagoi_job *job, sago_status status) {
    if (status && !job->status) {
        job->status = status;
        (void)snprintf(job->message, sizeof job->message, "%s", sagoi_message());
    }
}

static sago_status begin_job(sagoi_background *background, sagoi_job *job) {
    bool local = background->options.local[0];
    sagoi_commit_plan plan = {.dir = local ? background->options.local : background->options.dir,
                              .global = !local,
                              .intent = job->intent_first ? job->intent : NULL,
                              .intent_len = job->intent_len,
                              .part = &job->part,
                              .place = &job->place};
    job->begun = true;
    return sagoi_commit_begin(&job->commit, &plan);
}

/* A lost lease fails the save: another job owns the directory now. */
static sago_status check_lease(const sagoi_background *background) {
    return background->options.lease ? sagoi_lease_check(background->options.lease) : SAGO_OK;
}

static sago_status write_window(sagoi_background *background, const sagoi_window *window) {
    sagoi_job *job = window->job;
    int64_t chunk = sagoi_round_down(WRITE_AT_ONCE, job->part.piece);
    sago_status status = window->first ? begin_job(background, job) : SAGO_OK;
    for (int64_t done = 0; done < window->len && !status; done += chunk) {
        status = sagoi_commit_write(&job->commit, window->data + done, sagoi_min(chunk, window->len - done),
                                    window->off + done);
        if (!status)
            status = check_lease(background);
    }
    return status;
}

static sago_status submit(sagoi_background *background, const task *wanted);

/* Nobody needs to be asked: a step that is to go on goes on. */
static void start_drain(sagoi_background *background, sagoi_job *job) {
    task wanted = {.kind = TASK_DRAIN, .job = job};
    lock(background);
    job->global = SAGOI_JOB_PENDING; /* before the thread can say otherwise */
    unlock(background);
    sago_status status = submit(background, &wanted);
    if (!status)
        return;
    lock(background);
    note_failure(job, status);
    job->global = SAGOI_JOB_FAILED;
    unlock(background);
}

/* The last window commits, or cleans up.  The slot is free as soon as its bytes are written. */
static void do_window(sagoi_background *background, const sagoi_window *window) {
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
    (void)pthread_cond_broadcast(&background->news);
    unlock(background);
    if (drain)
        start_drain(background, job);
}

/* ---- Draining and removing ---- */

static task *take(sagoi_background *background, bool windows_only);

/* Between the pieces of a drain: what is urgent goes first. */
static sago_status between_pieces(void *arg) {
    sagoi_background *background = arg;
    for (;;) {
        lock(background);
        task *urgent = take(background, true);
        unlock(background);
        if (!urgent)
            break;
        do_window(background, &urgent->window);
        free(urgent);
    }
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
    (void)pthread_cond_broadcast(&background->news);
    unlock(background);
}

/* On the nodes a trace stays until the next removal: then the others have gone as far as this one, or the job has
 * died, and who opens the directory next knows why they have not. */
static sago_status remove_save(const sagoi_save_name *save, bool local) {
    sago_status status = sagoi_save_remove(save, SAGOI_FOLDER_STEP, local);
    return !status && local ? sagoi_traces_remove(save->dir, save) : status;
}

/* What cannot be removed now goes when the directory is opened next, what cannot be marked is marked then.  Who
 * has lost the lock removes nothing: another job may count on it. */
static void do_folder(sagoi_background *background, const task *at) {
    sagoi_save_name save = {at->local ? background->options.local : background->options.dir, at->step, at->id_low};
    sago_status status = check_lease(background);
    if (!status)
        status = at->kind == TASK_MARK ? sagoi_save_note(&save, SAGOI_MARK_NAME) : remove_save(&save, at->local);
    if (status)
        sagoi_message_clear();
}

static void do_task(sagoi_background *background, task *at) {
    if (at->kind == TASK_WINDOW)
        do_window(background, &at->window);
    else if (at->kind == TASK_DRAIN)
        do_drain(background, at->job);
    else
        do_folder(background, at);
    free(at);
}

/* ---- The thread ---- */

/* The next task that may be done, out of its queue; under the lock. */
static task *take(sagoi_background *background, bool windows_only) {
    task *first = background->windows.first;
    if (first && !first->window.job->held) {
        background->windows.first = first->next;
        first->window.job->started = true;
        return first;
    }
    first = windows_only ? NULL : background->others.first;
    if (first)
        background->others.first = first->next;
    return first;
}

static bool nothing_queued(const sagoi_background *background) {
    return !background->windows.first && !background->others.first;
}

static void *thread_main(void *arg) {
    sagoi_background *background = arg;
    lock(background);
    for (;;) {
        task *at = take(background, false);
        if (!at && nothing_queued(background) && atomic_load(&background->stop))
            break;
        if (!at) {
            (void)pthread_cond_wait(&background->work, &background->lock);
            continue;
        }
        background->busy = true;
        unlock(background);
        do_task(background, at);
        lock(background);
        background->busy = false;
        background->cpu = cpu_seconds();
        (void)pthread_cond_broadcast(&background->news);
    }
    unlock(background);
    return NULL;
}

static void place_thread(sagoi_background *background) {
    cpu_set_t set;
    if (background->options.core < 0 || background->options.core >= CPU_SETSIZE)
        return;
    CPU_ZERO(&set);
    CPU_SET((size_t)background->options.core, &set);
    (void)pthread_setaffinity_np(background->thread, sizeof set, &set);
}

static int start_thread(sagoi_background *background) {
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&background->thread, NULL, thread_main, background);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!error) {
        (void)pthread_setname_np(background->thread, "sago-ckpt");
        place_thread(background);
    }
    return error;
}

sago_status sagoi_background_start(const sagoi_background_options *options, sagoi_background **made) {
    sagoi_background *background = calloc(1, sizeof *background);
    pthread_condattr_t monotonic;
    if (!background)
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory for a writer");
    background->options = *options;
    (void)pthread_mutex_init(&background->lock, NULL);
    (void)pthread_condattr_init(&monotonic);
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&background->work, &monotonic);
    (void)pthread_cond_init(&background->news, &monotonic);
    (void)pthread_condattr_destroy(&monotonic);
    int error = start_thread(background);
    if (error) {
        free(background);
        return sagoi_fail_errno(error, "starting a writer's thread");
    }
    *made = background;
    return SAGO_OK;
}

void sagoi_background_stop(sagoi_background **background) {
    sagoi_background *ending = *background;
    *background = NULL;
    if (!ending)
        return;
    lock(ending);
    atomic_store(&ending->stop, true);
    (void)pthread_cond_broadcast(&ending->work);
    unlock(ending);
    (void)pthread_join(ending->thread, NULL);
    (void)pthread_cond_destroy(&ending->work);
    (void)pthread_cond_destroy(&ending->news);
    (void)pthread_mutex_destroy(&ending->lock);
    free(ending);
}

/* ---- What the rank asks for ---- */

static sago_status submit(sagoi_background *background, const task *wanted) {
    task *new = malloc(sizeof *new);
    if (!new)
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory for a task of a writer");
    *new = *wanted;
    lock(background);
    push(new->kind == TASK_WINDOW ? &background->windows : &background->others, new);
    (void)pthread_cond_signal(&background->work);
    unlock(background);
    return SAGO_OK;
}

sago_status sagoi_background_window(sagoi_background *background, const sagoi_window *window, bool inside) {
    task wanted = {.kind = TASK_WINDOW, .window = *window};
    if (window->last)
        window->job->submitted = sagoi_ckpt_now();
    if (!inside)
        return submit(background, &wanted);
    do_window(background, window);
    return SAGO_OK;
}

void sagoi_background_drain(sagoi_background *background, sagoi_job *job) { start_drain(background, job); }

/* By the caller itself if there is no memory for a task. */
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

void sagoi_background_wait(sagoi_background *background, int milliseconds) {
    struct timespec until = after_ms(milliseconds);
    lock(background);
    if (background->busy || !nothing_queued(background))
        (void)pthread_cond_timedwait(&background->news, &background->lock, &until);
    unlock(background);
}

bool sagoi_background_idle(sagoi_background *background) {
    lock(background);
    bool idle = !background->busy && nothing_queued(background);
    unlock(background);
    return idle;
}

bool sagoi_job_hold(sagoi_background *background, sagoi_job *job) {
    lock(background);
    job->held = !job->started;
    bool held = job->held;
    unlock(background);
    return held;
}

void sagoi_job_release(sagoi_background *background, sagoi_job *job, bool drop) {
    lock(background);
    queue kept = {NULL, NULL};
    for (task *at = background->windows.first, *next; at; at = next) {
        next = at->next;
        if (drop && at->window.job == job)
            free(at);
        else
            push(&kept, at);
    }
    background->windows = kept;
    job->held = false;
    (void)pthread_cond_signal(&background->work);
    unlock(background);
}

double sagoi_background_cpu(sagoi_background *background) {
    lock(background);
    double seconds = background->cpu;
    unlock(background);
    return seconds;
}
