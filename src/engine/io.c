/* Tasks of the file's I/O thread, and waiting for them. */
#include "base/fiber.h"
#include "engine/engine.h"
#include "trace/recorder.h"

void sagoi_task_begin(sago_file *file, sagoi_task *task, sagoi_worker worker) {
    if (worker == SAGOI_BY_THREAD)
        sagoi_task_submit(file->thread, task);
    else
        sagoi_task_do(task);
}

/* A fiber gives up the thread while it waits. */
static void wait_on_fiber(sago_file *file, sagoi_task *task) {
    sagoi_team *team = file->team;
    for (bool moved = true; !sagoi_work_done(file->thread, &task->work); moved = false)
        sagoi_fiber_yield((team->idle && team->idle(team->idle_arg)) || moved, NULL, 0);
}

sago_status sagoi_task_finish(sago_file *file, sagoi_task *task) {
    sagoi_team *team = file->team;
    if (sagoi_on_fiber())
        wait_on_fiber(file, task);
    while (!sagoi_work_wait(file->thread, &task->work, 1))
        if (!sagoi_give_way(false) && !(team->idle && team->idle(team->idle_arg)))
            sagoi_poke(team);
    if (__builtin_expect(sagoi_is_recorded(), 0))
        sagoi_recorder_io(&file->stats, task->began, task->seconds);
    if (task->status)
        sagoi_message_set(task->message);
    return task->status;
}
