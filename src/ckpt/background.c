/* Two queues under one lock, and a thread for each: what waits for the storage of one level must not keep another
 * one waiting.  Windows of saves come first: draining and removing give way to them between pieces. */
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
enum { NAP_MS = 20 };
#define GIVE_WAY 1. /* seconds, between two pieces, to windows that are being written */

typedef struct task {
    task_kind kind;
    sagoi_pool_window window;
    sagoi_job *job;
    bool local;
    int64_t step;
    uint64_t id_low;
    struct task *next;
} task;

/* With the thread that works it off. */
typedef struct queue {
    task *first, *last;
    bool busy; /* with a task */
    double cpu;
    pthread_t thread;
} queue;

struct sagoi_background {
    sagoi_background_options options;
    pthread_mutex_t lock;
    pthread_cond_t work, news;
    queue windows, others; /* windows: to the first level; others: draining and removing */
    atomic_bool stop;
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
                              .kept = true, /* pool.h */
                              .intent = job->intent_first ? job->intent : NULL,
                              .intent_len = job->intent_len,
                              .part = &job->part,
                              .place = &job->place,
                              .fence = background->options.fence};
    job->begun = true;
    return sagoi_commit_begin(&job->commit, &plan);
}

/* A lost lease fails the save: another job owns the directory now. */
static sago_status check_lease(const sagoi_background *background) {
    return background->options.lease ? sagoi_lease_check(background->options.lease) : SAGO_OK;
}

/* What is written to a node's own storage does not wait for the directory, which may hang. */
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
    (void)pthread_cond_broadcast(&background->news);
    unlock(background);
    if (drain)
        start_drain(background, job);
}

/* ---- Draining and removing ---- */

/* Between the pieces of a drain: what is urgent goes first.  A first level that hangs is no reason to wait. */
static sago_status between_pieces(void *arg) {
    sagoi_background *background = arg;
    double begin = sagoi_ckpt_now();
    lock(background);
    while ((background->windows.busy || background->windows.first) && sagoi_ckpt_now() - begin < GIVE_WAY) {
        struct timespec until = after_ms(NAP_MS);
        (void)pthread_cond_timedwait(&background->news, &background->lock, &until);
    }
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
    (void)pthread_cond_broadcast(&background->news);
    unlock(background);
}

/* On the nodes a trace stays until the next removal: then the others have gone as far as this one, or the job has
 * died, and who opens the directory next knows why they have not. */
static sago_status remove_save(const sagoi_save_name *save, bool local) {
    sago_status status = sagoi_save_remove(save, SAGOI_FOLDER_STEP, local);
    return !status && local ? sagoi_traces_remove(save->fence, save->dir, save) : status;
}

/* What cannot be removed now goes when the directory is opened next, what cannot be marked is marked then.  Who
 * has lost the lock removes nothing: another job may count on it. */
static void do_folder(sagoi_background *background, const task *at) {
    sagoi_save_name save = {at->local ? background->options.local : background->options.dir, at->step, at->id_low,
                            background->options.fence};
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
static task *take(queue *from) {
    task *first = from->first;
    if (!first || (first->kind == TASK_WINDOW && first->window.job->held))
        return NULL;
    from->first = first->next;
    if (first->kind == TASK_WINDOW)
        first->window.job->started = true;
    return first;
}

/* Works off a queue, until it is to stop and nothing is left. */
static void work_off(sagoi_background *background, queue *from) {
    lock(background);
    for (;;) {
        task *at = take(from);
        bool done = !from->first && (from == &background->windows || !background->windows.first) &&
                    !(from == &background->others && background->windows.busy);
        if (!at && done && atomic_load(&background->stop))
            break;
        if (!at) {
            (void)pthread_cond_wait(&background->work, &background->lock);
            continue;
        }
        from->busy = true;
        unlock(background);
        do_task(background, at);
        lock(background);
        from->busy = false;
        from->cpu = cpu_seconds();
        (void)pthread_cond_broadcast(&background->news);
        (void)pthread_cond_broadcast(&background->work); /* who is to stop looks whether anything is left */
    }
    unlock(background);
}

static void *windows_main(void *arg) {
    sagoi_background *background = arg;
    work_off(background, &background->windows);
    return NULL;
}

static void *others_main(void *arg) {
    sagoi_background *background = arg;
    work_off(background, &background->others);
    return NULL;
}

static void place_thread(const sagoi_background *background, pthread_t thread) {
    cpu_set_t set;
    if (background->options.core < 0 || background->options.core >= CPU_SETSIZE)
        return;
    CPU_ZERO(&set);
    CPU_SET((size_t)background->options.core, &set);
    (void)pthread_setaffinity_np(thread, sizeof set, &set);
}

static int start_thread(sagoi_background *background, void *(*body)(void *), pthread_t *thread) {
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(thread, NULL, body, background);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!error) {
        (void)pthread_setname_np(*thread, "sago-ckpt");
        place_thread(background, *thread);
    }
    return error;
}

static void tell_to_stop(sagoi_background *background) {
    lock(background);
    atomic_store(&background->stop, true);
    (void)pthread_cond_broadcast(&background->work);
    unlock(background);
}

static void destroy(sagoi_background *background) {
    (void)pthread_cond_destroy(&background->work);
    (void)pthread_cond_destroy(&background->news);
    (void)pthread_mutex_destroy(&background->lock);
    free(background);
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
    int error = start_thread(background, windows_main, &background->windows.thread);
    if (!error) {
        error = start_thread(background, others_main, &background->others.thread);
        if (error) {
            tell_to_stop(background);
            (void)pthread_join(background->windows.thread, NULL);
        }
    }
    if (error) {
        destroy(background);
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
    tell_to_stop(ending);
    (void)pthread_join(ending->windows.thread, NULL);
    (void)pthread_join(ending->others.thread, NULL);
    destroy(ending);
}

/* ---- What the rank asks for ---- */

static sago_status submit(sagoi_background *background, const task *wanted) {
    task *new = malloc(sizeof *new);
    if (!new)
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory for a task of a writer");
    *new = *wanted;
    lock(background);
    push(new->kind == TASK_WINDOW ? &background->windows : &background->others, new);
    (void)pthread_cond_broadcast(&background->work);
    unlock(background);
    return SAGO_OK;
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

static bool at_work(const queue *at) { return at->busy || at->first; }

void sagoi_background_wait(sagoi_background *background, int milliseconds) {
    struct timespec until = after_ms(milliseconds);
    lock(background);
    if (at_work(&background->windows) || at_work(&background->others))
        (void)pthread_cond_timedwait(&background->news, &background->lock, &until);
    unlock(background);
}

bool sagoi_background_writes(sagoi_background *background) {
    lock(background);
    bool writes = at_work(&background->windows);
    unlock(background);
    return writes;
}

bool sagoi_background_idle(sagoi_background *background) {
    lock(background);
    bool idle = !at_work(&background->windows) && !at_work(&background->others);
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
    task *at = background->windows.first;
    background->windows.first = NULL;
    for (task *next; at; at = next) {
        next = at->next;
        if (drop && at->window.job == job)
            free(at);
        else
            push(&background->windows, at);
    }
    job->held = false;
    (void)pthread_cond_broadcast(&background->work);
    unlock(background);
}

double sagoi_background_cpu(sagoi_background *background) {
    lock(background);
    double seconds = background->windows.cpu + background->others.cpu;
    unlock(background);
    return seconds;
}
