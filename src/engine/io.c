/* Tasks of the file's I/O thread: handing them over and waiting for them. */
#include "base/fiber.h"
#include "engine/engine.h"
#include "trace/recorder.h"

void sagoi_task_begin(sago_file *file, sagoi_task *task, sagoi_worker worker) {
    if (worker == SAGOI_BY_THREAD)
        sagoi_task_submit(file->thread, task);
    else
        sagoi_task_do(task);
}

/* Waits on a fiber, which gives up the thread meanwhile. */
static void wait_on_fiber(sago_file *file, sagoi_task *task) {
    sagoi_team *team = file->team;
    for (bool moved = true; !sagoi_work_done(file->thread, &task->work); moved = false)
        sagoi_fiber_yield((team->idle && team->idle(team->idle_arg)) || moved, NULL, 0);
}

sago_status sagoi_move_runs(sago_file *file, sagoi_direction direction, const sagoi_io_run *runs, int64_t n,
                            int64_t *bytes) {
    const bool reported = sagoi_is_reported();
    const double start = reported ? sagoi_clock() : 0;
    sago_status status = direction == SAGOI_TO_FILE ? sagoi_store_write(file->store, runs, n)
                                                    : sagoi_store_read(file->store, runs, n, bytes);
    if (__builtin_expect(reported, 0))
        sagoi_record_request(file, runs, n, sagoi_clock() - start);
    return status;
}

static void record_task(sago_file *file, const sagoi_task *task) {
    const sagoi_io_run window = {.off = task->off, .len = task->len};
    sagoi_recorder_io(&file->stats, task->began, task->seconds);
    sagoi_record_request(file, task->runs ? task->runs : &window, task->runs ? task->nruns : 1, task->seconds);
}

sago_status sagoi_task_finish(sago_file *file, sagoi_task *task) {
    sagoi_team *team = file->team;
    if (sagoi_on_fiber())
        wait_on_fiber(file, task);
    while (!sagoi_work_wait(file->thread, &task->work, 1))
        if (!sagoi_give_way(false) && !(team->idle && team->idle(team->idle_arg)))
            sagoi_poke(team);
    if (__builtin_expect(sagoi_is_recorded(), 0))
        record_task(file, task);
    if (task->status)
        sagoi_message_set(task->message);
    return task->status;
}
