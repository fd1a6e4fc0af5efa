/* Owns one process that asks Slurm.  It gets no LD_PRELOAD, so that it does not run under the drop-in, and none of
 * the program's descriptors, since a launcher may wait until the last of them is closed. */
#include "ckpt/allocation.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/hints.h"

/* "2026-11-17T15:57:52" in local time, or seconds since 1970; 0: neither ("N/A"). */
static int64_t end_parse(const char *text) {
    struct tm time = {.tm_isdst = -1};
    char *rest;
    int64_t seconds = strtoll(text, &rest, 10);
    if (rest > text && (*rest == '\0' || *rest == '\n'))
        return seconds > 0 ? seconds : 0;
    const char *end = strptime(text, "%Y-%m-%dT%H:%M:%S", &time);
    if (!end || (*end != '\0' && *end != '\n'))
        return 0;
    seconds = (int64_t)mktime(&time);
    return seconds > 0 ? seconds : 0;
}

/* The environment without LD_PRELOAD; its strings belong to the environment. */
static char **quiet_environment(void) {
    size_t count = 0, kept = 0;
    while (environ[count])
        count++;
    char **quiet = calloc(count + 1, sizeof *quiet);
    for (size_t i = 0; quiet && i < count; i++)
        if (strncmp(environ[i], "LD_PRELOAD=", 11) != 0)
            quiet[kept++] = environ[i];
    return quiet;
}

#if __GLIBC_PREREQ(2, 34)
static int close_others(posix_spawn_file_actions_t *files) {
    return posix_spawn_file_actions_addclosefrom_np(files, 3);
}
#else
static int close_others(posix_spawn_file_actions_t *files) {
    (void)files;
    return 0;
}
#endif

static pid_t start(const char *job, int output, char **environment) {
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t none;
    pid_t process = 0;
    char *const command[] = {"squeue", "--noheader", "--format=%e", "--jobs", (char *)(uintptr_t)job, NULL};
    if (posix_spawn_file_actions_init(&files) != 0)
        return 0;
    bool ready = posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0) == 0 &&
                 posix_spawn_file_actions_adddup2(&files, output, 1) == 0 &&
                 posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0) == 0 &&
                 close_others(&files) == 0 && posix_spawnattr_init(&how) == 0;
    if (ready) {
        (void)sigemptyset(&none);
        (void)posix_spawnattr_setsigmask(&how, &none);
        /* A group of its own, so that it can be ended with whatever it starts. */
        (void)posix_spawnattr_setpgroup(&how, 0);
        (void)posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
        if (posix_spawnp(&process, command[0], &files, &how, command, environment) != 0)
            process = 0;
        (void)posix_spawnattr_destroy(&how);
    }
    (void)posix_spawn_file_actions_destroy(&files);
    return process;
}

static void ask(sagoi_allocation *allocation) {
    const char *job = sagoi_environment("SLURM_JOB_ID");
    char **environment = job ? quiet_environment() : NULL;
    int ends[2];
    allocation->asked = true;
    if (!environment || pipe2(ends, O_CLOEXEC) != 0) {
        free(environment);
        return;
    }
    (void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
    allocation->process = start(job, ends[1], environment);
    allocation->answer = ends[0];
    (void)close(ends[1]);
    free(environment);
    if (!allocation->process)
        (void)close(ends[0]);
}

/* The answer is complete, or no more of it will come. */
static void finish(sagoi_allocation *allocation) {
    allocation->text[allocation->length] = '\0';
    allocation->end = end_parse(allocation->text);
    sagoi_allocation_cleanup(allocation);
}

int64_t sagoi_allocation_end(sagoi_allocation *allocation) {
    if (!allocation->asked)
        ask(allocation);
    while (allocation->process) {
        int64_t room = (int64_t)sizeof allocation->text - 1 - allocation->length;
        ssize_t came = read(allocation->answer, allocation->text + allocation->length, (size_t)room);
        if (came < 0 && (errno == EAGAIN || errno == EINTR))
            break;
        if (came > 0)
            allocation->length += came;
        if (came <= 0 || came == room)
            finish(allocation);
    }
    return allocation->end;
}

void sagoi_allocation_cleanup(sagoi_allocation *allocation) {
    if (!allocation->process)
        return;
    (void)close(allocation->answer);
    (void)kill(-allocation->process, SIGKILL); /* it has answered, or is not to answer any more */
    while (waitpid(allocation->process, NULL, 0) < 0 && errno == EINTR)
        ;
    allocation->process = 0;
}
