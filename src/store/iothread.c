/* The background thread: a queue under one lock, two conditions (work came, a task was done).  A child made by
 * fork() has the memory but not the thread, and may find the lock held for ever: there, tasks are done on
 * the spot and nothing is waited for. */
#include "store/iothread.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TASK_NEW, TASK_WAITING, TASK_DONE }; /* sagoi_task.state, under the lock */

struct sagoi_iothread {
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    sagoi_task *first, *last; /* to do, the one being done included; first == NULL: nothing */
    sagoi_alarm *alarm;       /* NULL: none is set */
    double rings;             /* when, seconds */
    bool running, stop;
    sagoi_core_chooser *choose; /* where it is to run; NULL: where its creator may */
    const void *about;          /* for it */
    pthread_t id;               /* if running */
    pid_t creator;
};

static bool in_child(const sagoi_iothread *thread) { return getpid() != thread->creator; }

static double now_seconds(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static sago_status task_read(sagoi_task *task) {
    sagoi_io_run run = {task->off, task->len, task->buf};
    int64_t bytes = 0;
    sago_status status = sagoi_store_read(task->store, &run, 1, &bytes);
    if (status == SAGO_OK)
        memset(task->buf + bytes, 0, (size_t)(task->len - bytes));
    return status;
}

static sago_status task_runs(const sagoi_task *task) {
    return task->kind == SAGOI_TASK_WRITE ? sagoi_store_write(task->store, task->runs, task->nruns)
                                          : sagoi_store_read(task->store, task->runs, task->nruns, NULL);
}

/* Everything but the state, which is the lock's. */
static void task_do(sagoi_task *task) {
    double begin = now_seconds();
    sagoi_message_clear();
    if (task->runs)
        task->status = task_runs(task);
    else if (task->kind == SAGOI_TASK_WRITE)
        task->status =
            sagoi_store_write_marked(task->store, task->buf, task->off, task->len, task->marks, task->sieve);
    else
        task->status = task_read(task);
    task->message[0] = '\0';
    if (task->status)
        (void)snprintf(task->message, sizeof task->message, "%s", sagoi_message());
    task->began = begin;
    task->seconds = now_seconds() - begin;
}

void sagoi_task_do(sagoi_task *task) {
    task_do(task);
    task->state = TASK_DONE;
}

/* All of these with the lock. */
static void do_first(sagoi_iothread *thread) {
    sagoi_task *task = thread->first;
    (void)pthread_mutex_unlock(&thread->lock);
    task_do(task);
    (void)pthread_mutex_lock(&thread->lock);
    thread->first = task->next;
    task->state = TASK_DONE; /* from here on the caller may free it */
    (void)pthread_cond_broadcast(&thread->done);
}

static void ring(sagoi_iothread *thread) {
    sagoi_alarm *alarm = thread->alarm;
    thread->alarm = NULL;
    (void)pthread_mutex_unlock(&thread->lock);
    double again = alarm->ring(alarm->arg);
    (void)pthread_mutex_lock(&thread->lock);
    if (again > 0 && !thread->alarm) {
        thread->alarm = alarm;
        thread->rings = now_seconds() + again;
    }
}

/* Until there may be something to do. */
static void await_work(sagoi_iothread *thread) {
    if (!thread->alarm) {
        (void)pthread_cond_wait(&thread->work, &thread->lock);
        return;
    }
    struct timespec at = {.tv_sec = (time_t)thread->rings};
    at.tv_nsec = (long)(1e9 * (thread->rings - (double)at.tv_sec));
    (void)pthread_cond_timedwait(&thread->work, &thread->lock, &at);
}

static void *thread_main(void *argument) {
    sagoi_iothread *thread = argument;
    (void)pthread_mutex_lock(&thread->lock);
    while (thread->first || !thread->stop) {
        if (thread->first)
            do_first(thread);
        else if (thread->alarm && now_seconds() >= thread->rings)
            ring(thread);
        else
            await_work(thread);
    }
    (void)pthread_mutex_unlock(&thread->lock);
    return NULL;
}

static sago_status conditions_init(sagoi_iothread *thread) {
    pthread_condattr_t monotonic; /* a wait must not end early or late because somebody set the clock */
    int error = pthread_condattr_init(&monotonic);
    if (error)
        return sagoi_fail_errno(error, "condition of an I/O thread");
    error = pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    if (!error)
        error = pthread_cond_init(&thread->done, &monotonic);
    if (!error)
        error = pthread_cond_init(&thread->work, &monotonic);
    (void)pthread_condattr_destroy(&monotonic);
    return error ? sagoi_fail_errno(error, "condition of an I/O thread") : SAGO_OK;
}

sago_status sagoi_iothread_create(sagoi_iothread **thread) {
    sagoi_iothread *created = calloc(1, sizeof *created);
    if (!created)
        return sagoi_fail_errno(ENOMEM, "memory of an I/O thread");
    sago_status status = conditions_init(created);
    if (status != SAGO_OK) {
        free(created);
        return status;
    }
    (void)pthread_mutex_init(&created->lock, NULL);
    created->creator = getpid();
    *thread = created;
    return SAGO_OK;
}

void sagoi_iothread_destroy(sagoi_iothread **thread) {
    if (!thread || !*thread)
        return;
    sagoi_iothread *ending = *thread;
    *thread = NULL;
    if (!in_child(ending)) {
        (void)pthread_mutex_lock(&ending->lock);
        ending->stop = true;
        (void)pthread_cond_signal(&ending->work);
        (void)pthread_mutex_unlock(&ending->lock);
        if (ending->running)
            (void)pthread_join(ending->id, NULL);
        (void)pthread_cond_destroy(&ending->work);
        (void)pthread_cond_destroy(&ending->done);
        (void)pthread_mutex_destroy(&ending->lock);
    }
    free(ending);
}

/* Best effort: a core that is not allowed leaves the thread where it is. */
static void thread_bind(const sagoi_iothread *thread) {
    int core = thread->choose ? thread->choose(thread->about) : -1;
    cpu_set_t *set = core < 0 ? NULL : CPU_ALLOC((size_t)core + 1);
    if (!set)
        return;
    size_t bytes = CPU_ALLOC_SIZE((size_t)core + 1);
    CPU_ZERO_S(bytes, set);
    CPU_SET_S((size_t)core, bytes, set);
    (void)pthread_setaffinity_np(thread->id, bytes, set);
    CPU_FREE(set);
}

void sagoi_iothread_place(sagoi_iothread *thread, sagoi_core_chooser *choose, const void *about) {
    thread->choose = choose;
    thread->about = about;
}

/* The thread takes over our signal mask: the application's signals are the application's threads'. */
static bool thread_ensure(sagoi_iothread *thread) {
    if (thread->running)
        return true;
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    thread->running = pthread_create(&thread->id, NULL, thread_main, thread) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (thread->running) {
        (void)pthread_setname_np(thread->id, "sago-io");
        thread_bind(thread);
    }
    return thread->running;
}

void sagoi_iothread_start(sagoi_iothread *thread, sagoi_task *task) {
    task->next = NULL;
    task->state = TASK_NEW;
    if (in_child(thread) || !thread_ensure(thread)) {
        task_do(task);
        task->state = TASK_DONE;
        return;
    }
    (void)pthread_mutex_lock(&thread->lock);
    task->state = TASK_WAITING;
    if (thread->first)
        thread->last->next = task;
    else
        thread->first = task;
    thread->last = task;
    (void)pthread_cond_signal(&thread->work);
    (void)pthread_mutex_unlock(&thread->lock);
}

bool sagoi_iothread_alarm(sagoi_iothread *thread, sagoi_alarm *alarm, double seconds) {
    if (in_child(thread) || !thread_ensure(thread))
        return false;
    (void)pthread_mutex_lock(&thread->lock);
    thread->alarm = alarm;
    thread->rings = now_seconds() + seconds;
    (void)pthread_cond_signal(&thread->work);
    (void)pthread_mutex_unlock(&thread->lock);
    return true;
}

bool sagoi_iothread_done(sagoi_iothread *thread, sagoi_task *task) {
    if (in_child(thread))
        return task->state == TASK_DONE;
    (void)pthread_mutex_lock(&thread->lock);
    bool done = task->state == TASK_DONE;
    (void)pthread_mutex_unlock(&thread->lock);
    return done;
}

static struct timespec deadline_after(int milliseconds) {
    struct timespec at;
    (void)clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_sec += milliseconds / 1000;
    at.tv_nsec += (long)(milliseconds % 1000) * 1000000;
    if (at.tv_nsec >= 1000000000) {
        at.tv_nsec -= 1000000000;
        at.tv_sec++;
    }
    return at;
}

bool sagoi_iothread_wait(sagoi_iothread *thread, sagoi_task *task, int milliseconds) {
    if (in_child(thread))
        return task->state == TASK_DONE;
    struct timespec deadline = deadline_after(milliseconds);
    (void)pthread_mutex_lock(&thread->lock);
    int result = 0;
    while (task->state == TASK_WAITING && result == 0)
        result = milliseconds > 0 ? pthread_cond_timedwait(&thread->done, &thread->lock, &deadline)
                                  : pthread_cond_wait(&thread->done, &thread->lock);
    bool done = task->state == TASK_DONE;
    (void)pthread_mutex_unlock(&thread->lock);
    return done;
}
