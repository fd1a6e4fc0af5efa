/* One lock guards all queues; each queue has a condition for new work, and all share one for finished work. */
#include "system/workqueue.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "system/thread.h"

enum { WORK_NEW, WORK_WAITING, WORK_DONE }; /* values of sagoi_work.state, which the lock guards */

typedef struct queue {
    sagoi_workqueue *all;
    sagoi_work *first, *last; /* work that waits; first == NULL: none */
    bool busy;                /* the thread is busy with work that it has taken from the queue */
    sagoi_alarm *alarm;       /* NULL: no alarm is set */
    double rings;             /* when the alarm rings, in seconds */
    bool running, stop;
    pthread_cond_t came;
    pthread_t thread; /* if running */
} queue;

struct sagoi_workqueue {
    pthread_mutex_t lock;
    pthread_cond_t done;
    const char *name;
    sagoi_core_chooser *choose; /* NULL: the threads run where their creator may */
    const void *about;          /* for it */
    pid_t creator;
    int queues;
    queue queue[];
};

static bool in_child(const sagoi_workqueue *all) { return getpid() != all->creator; }

static double now(void) { return sagoi_seconds(CLOCK_MONOTONIC); }

void sagoi_workqueue_lock(sagoi_workqueue *all) { (void)pthread_mutex_lock(&all->lock); }
void sagoi_workqueue_unlock(sagoi_workqueue *all) { (void)pthread_mutex_unlock(&all->lock); }

/* ---- The thread; all of these with the lock ---- */

static bool begins(sagoi_work *work) { return work && (!work->begin || work->begin(work)); }

static void do_first(queue *from) {
    sagoi_work *work = from->first;
    bool owned = work->owned;
    from->first = work->next;
    from->busy = true;
    sagoi_workqueue_unlock(from->all);
    work->run(work);
    if (owned)
        free(work);
    sagoi_workqueue_lock(from->all);
    from->busy = false;
    if (!owned)
        work->state = WORK_DONE; /* from here on the caller may free the work */
    (void)pthread_cond_broadcast(&from->all->done);
}

static void ring(queue *at) {
    sagoi_alarm *alarm = at->alarm;
    at->alarm = NULL;
    sagoi_workqueue_unlock(at->all);
    double again = alarm->ring(alarm->arg);
    sagoi_workqueue_lock(at->all);
    if (again > 0 && !at->alarm) {
        at->alarm = alarm;
        at->rings = now() + again;
    }
}

/* Waits until there may be something to do. */
static void await_work(queue *at) {
    if (!at->alarm) {
        (void)pthread_cond_wait(&at->came, &at->all->lock);
        return;
    }
    struct timespec until = sagoi_timespec(at->rings);
    (void)pthread_cond_timedwait(&at->came, &at->all->lock, &until);
}

static void *thread_main(void *argument) {
    queue *own = argument;
    sagoi_workqueue_lock(own->all);
    while (own->first || !own->stop) {
        if (begins(own->first))
            do_first(own);
        else if (own->alarm && now() >= own->rings)
            ring(own);
        else
            await_work(own);
    }
    sagoi_workqueue_unlock(own->all);
    return NULL;
}

/* ---- Beginning and ending ---- */

static void destroy(sagoi_workqueue *all) {
    for (int i = 0; i < all->queues; i++)
        (void)pthread_cond_destroy(&all->queue[i].came);
    (void)pthread_cond_destroy(&all->done);
    (void)pthread_mutex_destroy(&all->lock);
    free(all);
}

sago_status sagoi_workqueue_create(int queues, const char *name, sagoi_workqueue **made) {
    sagoi_workqueue *all = calloc(1, sizeof *all + (size_t)queues * sizeof all->queue[0]);
    if (!all)
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory for the thread %s", name);
    all->name = name;
    all->creator = getpid();
    (void)pthread_mutex_init(&all->lock, NULL);
    int error = sagoi_condition_init(&all->done);
    for (; !error && all->queues < queues; all->queues++) {
        all->queue[all->queues].all = all;
        error = sagoi_condition_init(&all->queue[all->queues].came);
        if (error)
            break;
    }
    if (error) {
        destroy(all);
        return sagoi_fail_errno(error, "a condition of the thread %s", name);
    }
    *made = all;
    return SAGO_OK;
}

void sagoi_workqueue_place(sagoi_workqueue *all, sagoi_core_chooser *choose, const void *about) {
    all->choose = choose;
    all->about = about;
}

int sagoi_workqueue_start(sagoi_workqueue *all, int number) {
    queue *own = &all->queue[number];
    if (in_child(all))
        return EAGAIN;
    if (own->running)
        return 0;
    int error = sagoi_thread_start(&own->thread, all->name, thread_main, own);
    own->running = !error;
    if (!error && all->choose)
        sagoi_thread_bind(own->thread, all->choose(all->about));
    return error;
}

static void end_queue(queue *ending) {
    sagoi_workqueue_lock(ending->all);
    ending->stop = true;
    (void)pthread_cond_signal(&ending->came);
    sagoi_workqueue_unlock(ending->all);
    if (ending->running)
        (void)pthread_join(ending->thread, NULL);
}

void sagoi_workqueue_destroy(sagoi_workqueue **all) {
    if (!all || !*all)
        return;
    sagoi_workqueue *ending = *all;
    bool child = in_child(ending);
    for (int i = 0; i < ending->queues && !child; i++)
        end_queue(&ending->queue[i]); /* work of other queues may still use *all */
    *all = NULL;
    if (child)
        free(ending);
    else
        destroy(ending);
}

/* ---- Work ---- */

static void push(queue *to, sagoi_work *work) {
    work->next = NULL;
    if (to->first)
        to->last->next = work;
    else
        to->first = work;
    to->last = work;
}

bool sagoi_workqueue_submit(sagoi_workqueue *all, int number, sagoi_work *work) {
    queue *to = &all->queue[number];
    work->state = WORK_NEW;
    if (sagoi_workqueue_start(all, number))
        return false;
    sagoi_workqueue_lock(all);
    work->state = WORK_WAITING;
    push(to, work);
    (void)pthread_cond_signal(&to->came);
    sagoi_workqueue_unlock(all);
    return true;
}

bool sagoi_workqueue_alarm(sagoi_workqueue *all, int number, sagoi_alarm *alarm, double seconds) {
    queue *to = &all->queue[number];
    if (sagoi_workqueue_start(all, number))
        return false;
    sagoi_workqueue_lock(all);
    to->alarm = alarm;
    to->rings = now() + seconds;
    (void)pthread_cond_signal(&to->came);
    sagoi_workqueue_unlock(all);
    return true;
}

void sagoi_work_mark_done(sagoi_work *work) { work->state = WORK_DONE; }

bool sagoi_work_done(sagoi_workqueue *all, const sagoi_work *work) {
    if (in_child(all))
        return work->state == WORK_DONE;
    sagoi_workqueue_lock(all);
    bool done = work->state == WORK_DONE;
    sagoi_workqueue_unlock(all);
    return done;
}

bool sagoi_work_wait(sagoi_workqueue *all, const sagoi_work *work, int milliseconds) {
    if (in_child(all))
        return work->state == WORK_DONE;
    struct timespec until = sagoi_timespec(now() + 1e-3 * milliseconds);
    sagoi_workqueue_lock(all);
    int result = 0;
    while (work->state == WORK_WAITING && result == 0)
        result = milliseconds > 0 ? pthread_cond_timedwait(&all->done, &all->lock, &until)
                                  : pthread_cond_wait(&all->done, &all->lock);
    bool done = work->state == WORK_DONE;
    sagoi_workqueue_unlock(all);
    return done;
}

/* ---- With the lock held by the caller ---- */

bool sagoi_workqueue_busy(const sagoi_workqueue *all, int number) {
    return all->queue[number].busy || all->queue[number].first;
}

void sagoi_workqueue_await_news(sagoi_workqueue *all, int milliseconds) {
    struct timespec until = sagoi_timespec(now() + 1e-3 * milliseconds);
    (void)pthread_cond_timedwait(&all->done, &all->lock, &until);
}

void sagoi_workqueue_recheck(sagoi_workqueue *all, int number, bool (*dropped)(const sagoi_work *, const void *),
                             const void *arg) {
    queue *own = &all->queue[number];
    sagoi_work *at = own->first;
    own->first = NULL;
    for (sagoi_work *next; at; at = next) {
        next = at->next;
        if (dropped && dropped(at, arg))
            free(at);
        else
            push(own, at);
    }
    (void)pthread_cond_signal(&own->came);
}
