/* The tasks of a file's background thread.  Queue and thread are those of system/workqueue.c. */
#include "store/io_task.h"

#include <string.h>

#include "system/thread.h"

static sago_status task_read(sagoi_task *task) {
    sagoi_io_run run = {task->off, task->len, task->buf};
    sago_status status = sagoi_store_read(task->store, &run, 1, &task->bytes);
    if (status == SAGO_OK)
        memset(task->buf + task->bytes, 0, (size_t)(task->len - task->bytes));
    return status;
}

static sago_status task_runs(sagoi_task *task) {
    return task->kind == SAGOI_TASK_WRITE ? sagoi_store_write(task->store, task->runs, task->nruns)
                                          : sagoi_store_read(task->store, task->runs, task->nruns, &task->bytes);
}

static void run_task(sagoi_work *work) {
    sagoi_task *task = (sagoi_task *)work;
    double begin = sagoi_seconds(CLOCK_MONOTONIC);
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
        sagoi_message_keep(task->message);
    task->began = begin;
    task->seconds = sagoi_seconds(CLOCK_MONOTONIC) - begin;
}

void sagoi_task_do(sagoi_task *task) {
    run_task(&task->work);
    sagoi_work_mark_done(&task->work);
}

void sagoi_task_submit(sagoi_workqueue *thread, sagoi_task *task) {
    task->work = (sagoi_work){.run = run_task};
    if (!sagoi_workqueue_submit(thread, 0, &task->work))
        sagoi_task_do(task);
}
