/* A process that dies in the middle: those who wait for it are told, wherever they wait; a slow one is not taken
 * for dead.  Dying is played: a rank no longer comes, and in the node's memory it has the number of a process that
 * has ended; launchers would end the others, too. */
/* RUN: n=3 */
#include <sys/wait.h>

#include "ckpt/state.h"
#include "move/control.h"
#include "mpi/check.h"

enum { BYTES = 1000 };

static unsigned char data[BYTES];

/* Every scene has a team of its own: a team whose member died stays broken. */
static sago_ckpt *open_scene(const char *mode, MPI_Comm *comm) {
    static int scenes;
    char hints[64], dir[16];
    sago_ckpt *ckpt = NULL;
    snprintf(hints, sizeof hints, "sago_ckpt_mode=%s", mode);
    snprintf(dir, sizeof dir, "ckpt%d", scenes++);
    scene = mode;
    CHECK(MPI_Comm_dup(MPI_COMM_WORLD, comm) == MPI_SUCCESS);
    CHECK_OK(ckpt_open_hinted(*comm, scratch(dir), hints, &ckpt));
    CHECK_OK(sago_ckpt_protect_local(ckpt, "data", data, sizeof data));
    return ckpt;
}

/* The last rank's process has ended; `reaped`: and its parent knows. */
static pid_t play_dead(sago_ckpt *ckpt, bool reaped) {
    siginfo_t info;
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    CHECK(pid > 0 && waitid(P_PID, (id_t)pid, &info, WEXITED | (reaped ? 0 : WNOWAIT)) == 0);
    ckpt->team->control->slots[ckpt->team->local_rank].process = (sagoi_process){.pid = pid};
    return reaped ? -1 : pid;
}

static bool is_last(void) { return rank == ranks - 1; }

static void slow_is_not_dead(const char *mode) {
    MPI_Comm comm;
    sago_ckpt *ckpt = open_scene(mode, &comm);
    if (is_last())
        usleep(800000); /* longer than they wait before they look who is alive */
    CHECK_OK(sago_ckpt_save(ckpt, 1));
    CHECK_OK(sago_ckpt_wait(ckpt, 1, SAGO_LEVEL_LOCAL));
    CHECK_OK(sago_ckpt_close(&ckpt));
    MPI_Comm_free(&comm);
}

/* The status of those who wait, and of whoever comes later; closing does not hang. */
static void told(sago_ckpt *ckpt, MPI_Comm *comm, sago_status status) {
    CHECK_INT(status, SAGO_ERR_PEER);
    CHECK_INT(sago_ckpt_wait(ckpt, 1, SAGO_LEVEL_LOCAL), SAGO_ERR_PEER);
    CHECK(strstr(sago_error_message(), "has died") != NULL);
    sago_status closed = sago_ckpt_close(&ckpt); /* fine where there was nothing left to wait for */
    CHECK(closed == SAGO_ERR_PEER || closed == SAGO_OK);
    meet();
    MPI_Comm_free(comm);
}

static void dies_before_a_save(const char *mode, bool reaped) {
    MPI_Comm comm;
    pid_t left = -1;
    sago_ckpt *ckpt = open_scene(mode, &comm);
    CHECK_OK(sago_ckpt_save(ckpt, 1));
    if (is_last())
        left = play_dead(ckpt, reaped);
    sago_status status = is_last() ? SAGO_ERR_PEER : sago_ckpt_save(ckpt, 2);
    meet();
    told(ckpt, &comm, status);
    if (left > 0)
        CHECK(waitpid(left, NULL, 0) == left);
}

/* After the agreement, before its data is copied: the writer waits for it, and writes by itself. */
static void dies_in_a_save(void) {
    MPI_Comm comm;
    sago_ckpt *ckpt = open_scene("rbio", &comm);
    CHECK_OK(sago_ckpt_save(ckpt, 1));
    CHECK_OK(sago_ckpt_wait(ckpt, 1, SAGO_LEVEL_LOCAL));
    if (is_last())
        (void)play_dead(ckpt, true);
    meet();
    sago_status status = SAGO_ERR_PEER;
    if (sagoi_is_writer(ckpt))
        status = sagoi_pool_wait(&ckpt->pool, ckpt->team, ckpt->pool.next, (uint32_t)ckpt->groups.size);
    meet();
    told(ckpt, &comm, status);
}

/* Between two windows of a save: the thread has begun to write, and the last window never comes.  Closing gives
 * back what it has open, and removes what it has written. */
static void dies_between_windows(void) {
    static unsigned char much[3 << 20];
    MPI_Comm comm;
    sago_ckpt *ckpt = open_scene("threaded sago_memory=1M", &comm);
    int before = open_descriptors();
    CHECK_OK(sago_ckpt_protect_local(ckpt, "much", much, sizeof much));
    CHECK_OK(sago_ckpt_save(ckpt, 1));
    CHECK_OK(sago_ckpt_wait(ckpt, 1, SAGO_LEVEL_LOCAL));
    CHECK(ckpt->pool.next > 2 && ckpt->layout.intent.writers[0].bytes > ckpt->pool.window);
    if (is_last()) { /* comes to the agreement, fills one window, and no more */
        MPI_Count all = ckpt->layout.intent.writers[0].bytes;
        ckpt->layout.intent.writers[0].bytes = ckpt->pool.window;
        CHECK_OK(sago_ckpt_save(ckpt, 2));
        ckpt->layout.intent.writers[0].bytes = all;
        (void)play_dead(ckpt, true);
    }
    sago_status status = is_last() ? SAGO_ERR_PEER : sago_ckpt_save(ckpt, 2);
    bool begun = sagoi_is_writer(ckpt) && sagoi_job_ask(ckpt->background, sagoi_saving_find(ckpt, 2)->job).started;
    CHECK_INT(sum_everywhere(begun), 1);
    told(ckpt, &comm, status);
    CHECK(open_descriptors() <= before);
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    slow_is_not_dead("threaded");
    slow_is_not_dead("coio");
    dies_before_a_save("threaded", true);
    dies_before_a_save("coio", false);
    dies_in_a_save();
    dies_between_windows();
    return check_end();
}
