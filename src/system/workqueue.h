/* Queues of work under one lock, each with a thread that does its work in order.  All background work of the
 * library goes through such queues: the I/O thread of a file, the two threads of a checkpoint writer, the
 * thread that renews the lock of a checkpoint directory.  The threads only do file I/O, never call MPI, and
 * block all signals.  A call that may hang for ever is handed to a thread that can be left behind
 * (system/watch.h), so these threads can all be joined.
 *
 * A child made by fork() has the memory but not the threads, and the lock may be held for ever there: in a
 * child nothing is queued, and nothing is waited for. */
#ifndef SAGOI_WORKQUEUE_H
#define SAGOI_WORKQUEUE_H

#include <stdbool.h>

#include "base/status.h"

typedef struct sagoi_workqueue sagoi_workqueue;

/* The first member of what is to be done.  The caller keeps it until it is done, unless it is `owned`. */
typedef struct sagoi_work {
    void (*run)(struct sagoi_work *work); /* called by the thread, without the lock */
    /* Called with the lock, when the work would be done next.  false: it may not begin yet, and the work behind it
     * waits, too.  NULL: it may always begin. */
    bool (*begin)(struct sagoi_work *work);
    bool owned; /* the queue owns the work, and frees it when it is done */
    int state;  /* private, as is `next` */
    struct sagoi_work *next;
} sagoi_work;

/* Something that a thread does at a certain time, unless it is busy then.  The caller keeps the alarm until the
 * queues are destroyed, which does not wait for it to ring. */
typedef struct sagoi_alarm {
    double (*ring)(void *arg); /* returns the seconds until it rings again; 0: never */
    void *arg;
} sagoi_alarm;

/* Chooses the core for a thread (-1: any).  Called when the thread starts, since finding a core can take
 * milliseconds and many threads never start. */
typedef int sagoi_core_chooser(const void *about);

/* Makes `queues` queues, numbered from 0; `name`, of at most 15 bytes, becomes the threads' name.  A thread starts
 * with the first work or alarm of its queue. */
sago_status sagoi_workqueue_create(int queues, const char *name, sagoi_workqueue **made) SAGOI_CHECKED;
/* Must be called before a thread starts. */
void sagoi_workqueue_place(sagoi_workqueue *all, sagoi_core_chooser *choose, const void *about);
/* Starts the thread of a queue, if it does not run: 0 or an errno. */
int sagoi_workqueue_start(sagoi_workqueue *all, int queue);
/* Waits for all work: first that of queue 0, which may still submit work to the others, and so on. */
void sagoi_workqueue_destroy(sagoi_workqueue **all);

/* false: there can be no thread, and nothing was queued. */
bool sagoi_workqueue_submit(sagoi_workqueue *all, int queue, sagoi_work *work) SAGOI_CHECKED;
/* Sets the queue's one alarm in place of an earlier one.  false: there can be no thread. */
bool sagoi_workqueue_alarm(sagoi_workqueue *all, int queue, sagoi_alarm *alarm, double seconds) SAGOI_CHECKED;

/* Called by a caller who has done the work because it could not be submitted. */
void sagoi_work_mark_done(sagoi_work *work);
bool sagoi_work_done(sagoi_workqueue *all, const sagoi_work *work);
/* Waits for at most `milliseconds` (0: without a limit); true: the work is done. */
bool sagoi_work_wait(sagoi_workqueue *all, const sagoi_work *work, int milliseconds);

/* The lock, for data that the threads share with their users. */
void sagoi_workqueue_lock(sagoi_workqueue *all);
void sagoi_workqueue_unlock(sagoi_workqueue *all);
/* These functions are called with the lock held.  Is any work of this queue waiting or under way? */
bool sagoi_workqueue_busy(const sagoi_workqueue *all, int queue);
/* Waits until any work is done, for at most `milliseconds`; the lock is released meanwhile. */
void sagoi_workqueue_await_news(sagoi_workqueue *all, int milliseconds);
/* Says that work which could not begin may be able to now.  Owned work for which `dropped` (may be NULL) is true
 * is freed instead of done. */
void sagoi_workqueue_recheck(sagoi_workqueue *all, int queue, bool (*dropped)(const sagoi_work *, const void *arg),
                             const void *arg);

#endif
