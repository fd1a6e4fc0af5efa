/* Queues of work under one lock, each with a thread that does its work in order.  Everything that the library does
 * in the background goes through here: the I/O thread of a file, the two threads of a checkpoint writer, the
 * thread that renews the lock of a checkpoint directory.  The threads do file I/O only, never call MPI, and block
 * all signals.  A call that may hang for ever is not made by such a thread itself, but handed to one that can be
 * left behind (system/watch.h); so these threads can all be joined.
 *
 * A child made by fork() has the memory but not the threads, and may find the lock held for ever: there nothing is
 * queued and nothing is waited for. */
#ifndef SAGOI_WORKQUEUE_H
#define SAGOI_WORKQUEUE_H

#include <stdbool.h>

#include "base/status.h"

typedef struct sagoi_workqueue sagoi_workqueue;

/* The first member of what is to be done; kept by the caller until it is done, unless it is `owned`. */
typedef struct sagoi_work {
    void (*run)(struct sagoi_work *work); /* by the thread, without the lock */
    /* With the lock, when the work would be done next.  False: not yet, and what is behind it waits, too.  NULL:
     * it is always done. */
    bool (*begin)(struct sagoi_work *work);
    bool owned; /* by the queue, which frees it afterwards */
    int state;  /* private, and the next one, too */
    struct sagoi_work *next;
} sagoi_work;

/* Something to be done by a thread at a time, if it is not busy then; the caller keeps it until the queues are
 * destroyed, which does not wait for it to ring. */
typedef struct sagoi_alarm {
    double (*ring)(void *arg); /* returns after how many seconds to ring again; 0: not */
    void *arg;
} sagoi_alarm;

/* The core that a thread is to run on (-1: anywhere), asked for when the thread starts, since finding one can take
 * milliseconds and many threads never start. */
typedef int sagoi_core_chooser(const void *about);

/* `queues` of them, numbered from 0; `name`, of at most 15 bytes, is the threads'.  A thread starts with the first
 * work or alarm of its queue. */
sago_status sagoi_workqueue_create(int queues, const char *name, sagoi_workqueue **made) SAGOI_CHECKED;
/* Before a thread starts. */
void sagoi_workqueue_place(sagoi_workqueue *all, sagoi_core_chooser *choose, const void *about);
/* Starts the thread of a queue if it does not run: 0 or an errno. */
int sagoi_workqueue_start(sagoi_workqueue *all, int queue);
/* Waits for all work, first that of queue 0, which may still submit some to the others, and so on. */
void sagoi_workqueue_destroy(sagoi_workqueue **all);

/* False: no thread can be had, and nothing was queued. */
bool sagoi_workqueue_submit(sagoi_workqueue *all, int queue, sagoi_work *work) SAGOI_CHECKED;
/* Sets the queue's one alarm, in place of any that is set.  False: no thread can be had. */
bool sagoi_workqueue_alarm(sagoi_workqueue *all, int queue, sagoi_alarm *alarm, double seconds) SAGOI_CHECKED;

/* Done by whoever could not submit it. */
void sagoi_work_mark_done(sagoi_work *work);
bool sagoi_work_done(sagoi_workqueue *all, const sagoi_work *work);
/* Waits at most `milliseconds` (0: as long as it takes); true when the work is done. */
bool sagoi_work_wait(sagoi_workqueue *all, const sagoi_work *work, int milliseconds);

/* The lock, for what the threads and their users share. */
void sagoi_workqueue_lock(sagoi_workqueue *all);
void sagoi_workqueue_unlock(sagoi_workqueue *all);
/* All of these with the lock held.  Is anything of this queue waiting or being done? */
bool sagoi_workqueue_busy(const sagoi_workqueue *all, int queue);
/* Until any work is done, at most `milliseconds`; gives up the lock meanwhile. */
void sagoi_workqueue_await_news(sagoi_workqueue *all, int milliseconds);
/* What could not begin may be able to now.  Owned work that `dropped` (may be NULL) says true of is freed instead
 * of done. */
void sagoi_workqueue_recheck(sagoi_workqueue *all, int queue, bool (*dropped)(const sagoi_work *, const void *arg),
                             const void *arg);

#endif
