/* File I/O that the background thread of a file does while the rank moves the next window: in the order it was
 * submitted.  The thread is a queue of system/workqueue.h. */
#ifndef SAGOI_IO_TASK_H
#define SAGOI_IO_TASK_H

#include "store/store.h"
#include "system/workqueue.h"

typedef enum { SAGOI_TASK_WRITE, SAGOI_TASK_READ } sagoi_task_kind;

/* Filled by the caller, who keeps it until it has waited for it (sagoi_work_wait()).  A read of one run leaves
 * what lies past the end of the file zero. */
typedef struct sagoi_task {
    sagoi_work work;
    sagoi_task_kind kind;
    sagoi_store *store;
    const sagoi_io_run *runs; /* `nruns` of them, read as sagoi_store_read() does; NULL: one, as follows */
    int64_t nruns;
    char *buf;
    int64_t off, len;
    const uint64_t *marks; /* writes: as sagoi_store_write_marked(); NULL: everything */
    sagoi_sieve sieve;
    /* of the thread, valid after waiting */
    int64_t bytes; /* of runs that were read: how many came */
    sago_status status;
    char message[SAGOI_MESSAGE_MAX];
    double began, seconds; /* by the clock that never goes back */
} sagoi_task;

/* Does a task here and now; sagoi_work_wait() then has nothing to wait for. */
void sagoi_task_do(sagoi_task *task);

/* Hands over a task to the only queue of `thread`.  If no thread can be had the task is done here and now. */
void sagoi_task_submit(sagoi_workqueue *thread, sagoi_task *task);

#endif
