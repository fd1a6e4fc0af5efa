/* The background thread of one file: does file I/O while the rank moves the next window.
 * It never calls MPI, blocks all signals, and does its tasks in the order they were started. */
#ifndef SAGOI_IOTHREAD_H
#define SAGOI_IOTHREAD_H

#include "store/store.h"

typedef struct sagoi_iothread sagoi_iothread;

typedef enum { SAGOI_TASK_WRITE, SAGOI_TASK_READ } sagoi_task_kind;

/* Filled by the caller, who keeps it until it has waited for it.  A read of one run leaves what lies past the end
 * of the file zero. */
typedef struct sagoi_task {
    sagoi_task_kind kind;
    sagoi_store *store;
    const sagoi_io_run *runs; /* `nruns` of them, read as sagoi_store_read() does; NULL: one, as follows */
    int64_t nruns;
    char *buf;
    int64_t off, len;
    const uint64_t *marks; /* writes: as sagoi_store_write_marked(); NULL: everything */
    sagoi_sieve sieve;
    /* of the thread, valid after waiting */
    sago_status status;
    char message[SAGOI_MESSAGE_MAX];
    double began, seconds;   /* by the clock that never goes back */
    int state;               /* private */
    struct sagoi_task *next; /* private */
} sagoi_task;

/* Something to be done by the thread at a time, if it is not busy then; the caller keeps it until the thread is
 * destroyed, which does not wait for it to ring. */
typedef struct sagoi_alarm {
    double (*ring)(void *arg); /* returns after how many seconds to ring again; 0: not */
    void *arg;
} sagoi_alarm;

/* The thread itself starts with the first task. */
sago_status sagoi_iothread_create(sagoi_iothread **thread) SAGOI_CHECKED;
/* Waits for all tasks. */
void sagoi_iothread_destroy(sagoi_iothread **thread);

/* The core the thread is to run on (a number of the kernel's; -1: where its creator may), asked for when the
 * thread starts, since finding one can take milliseconds and many threads never start.  Before the first task. */
typedef int sagoi_core_chooser(const void *about);
void sagoi_iothread_place(sagoi_iothread *thread, sagoi_core_chooser *choose, const void *about);

/* Does a task here and now; sagoi_iothread_wait() then has nothing to wait for. */
void sagoi_task_do(sagoi_task *task);

/* Hands over a task.  If no thread can be had the task is done here and now. */
void sagoi_iothread_start(sagoi_iothread *thread, sagoi_task *task);
/* Sets the thread's one alarm, in place of any that is set.  False: no thread can be had. */
bool sagoi_iothread_alarm(sagoi_iothread *thread, sagoi_alarm *alarm, double seconds) SAGOI_CHECKED;
/* Has it been done? */
bool sagoi_iothread_done(sagoi_iothread *thread, sagoi_task *task);
/* Waits at most `milliseconds` (0: as long as it takes); true when the task is done. */
bool sagoi_iothread_wait(sagoi_iothread *thread, sagoi_task *task, int milliseconds);

#endif
