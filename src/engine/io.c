/* Tasks of the file's I/O thread, and waiting for them. */
#include "base/fiber.h"
#include "engine/engine.h"
#include "trace/recorder.h"

/* Waking the thread, and being woken by it, takes as long as a file system in memory takes for some of these. */
enum { SOON_IN_MEMORY = 4 << 20, SOON_LOCAL = 64 << 10 };

SAGOI_OFTEN bool sagoi_io_is_soon(const sago_file *file, int64_t bytes) {
    const sagoi_layout *layout = sagoi_store_layout(file->store);
    return bytes <= (layout->in_memory ? SOON_IN_MEMORY : layout->local ? SOON_LOCAL : 0);
}

static int64_t bytes_of(const sagoi_task *task) {
    int64_t bytes = task->len;
    for (int64_t i = 0; i < task->nruns; i++)
        bytes += task->runs[i].len;
    return bytes;
}

SAGOI_OFTEN void sagoi_task_begin(sago_file *file, sagoi_task *task, bool meanwhile) {
    if (meanwhile || (sagoi_on_fiber() && !sagoi_io_is_soon(file, bytes_of(task))))
        sagoi_iothread_start(file->thread, task);
    else
        sagoi_task_do(task);
}

static void wait_on_fiber(sago_file *file, sagoi_task *task) {
    sagoi_team *team = file->team;
    for (bool moved = true; !sagoi_iothread_done(file->thread, task); moved = false)
        sagoi_fiber_yield((team->idle && team->idle(team->idle_arg)) || moved, NULL, 0);
}

SAGOI_OFTEN sago_status sagoi_task_finish(sago_file *file, sagoi_task *task) {
    sagoi_team *team = file->team;
    if (sagoi_on_fiber())
        wait_on_fiber(file, task);
    while (!sagoi_iothread_wait(file->thread, task, 1))
        if (!sagoi_give_way(false) && !(team->idle && team->idle(team->idle_arg)))
            sagoi_poke(team);
    if (__builtin_expect(sagoi_is_recorded(), 0))
        sagoi_recorder_io(&file->stats, task->began, task->seconds);
    if (task->status)
        sagoi_message_set(task->message);
    return task->status;
}
