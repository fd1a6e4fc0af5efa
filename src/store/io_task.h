/* File I/O that a file's background thread does, in order, while the rank moves the next window.  The thread is a
 * queue of system/workqueue.h. */
#ifndef SAGOI_IO_TASK_H
#define SAGOI_IO_TASK_H

#include "store/store.h"
#include "system/workqueue.h"

typedef enum { SAGOI_TASK_WRITE, SAGOI_TASK_READ } sagoi_task_kind;

/* The caller fills a task, and keeps it until it has waited for it (sagoi_work_wait()).  When one run is read,
 * bytes past the end of the file become zero. */
typedef struct sagoi_task {
    sagoi_work work;
    sagoi_task_kind kind;
    sagoi_store *store;
    const sagoi_io_run *runs; /* `nruns` runs, read as sagoi_store_read() does; NULL: one run, which follows */
    int64_t nruns;
    char *buf;
    int64_t off, len;
    const uint64_t *marks; /* when writing: as for sagoi_store_write_marked(); NULL: every byte */
    sagoi_sieve sieve;
    /* The thread sets these fields, which are valid after waiting. */
    int64_t bytes; /* bytes that a read brought */
    sago_status status;
    char message[SAGOI_MESSAGE_MAX];
    double began, seconds; /* by a clock that never goes back */
} sagoi_task;

/* Does a task at once, in this thread; sagoi_work_wait() then has nothing to wait for. */
void sagoi_task_do(sagoi_task *task);

/* Hands a task to the only queue of `thread`.  If no thread can be started, the task is done at once. */
void sagoi_task_submit(sagoi_workqueue *thread, sagoi_task *task);

#endif
