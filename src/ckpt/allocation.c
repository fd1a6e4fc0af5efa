/* Owns one process that asks the batch system.  It gets no LD_PRELOAD, so that it does not run under the drop-in,
 * and none of the program's descriptors, since a launcher may wait until the last of them is closed. */
#include "ckpt/allocation.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/hints.h"

/* ---- What the batch systems answer ----
 * Each function gives the end in seconds since 1970; 0: not known, or there is none. */

static int64_t end_in(int64_t seconds) { return (int64_t)time(NULL) + seconds; }

/* A date in local time, which ends the line; 0: it is none. */
static int64_t date_parse(const char *text, const char *format) {
    struct tm date = {.tm_isdst = -1};
    const char *end = strptime(text, format, &date);
    if (!end || (*end != '\0' && *end != '\n'))
        return 0;
    int64_t seconds = (int64_t)mktime(&date);
    return seconds > 0 ? seconds : 0;
}

/* Slurm: "2026-11-17T15:57:52" in local time, or seconds since 1970; "N/A". */
static int64_t slurm_end(const char *text) {
    char *rest;
    int64_t seconds = strtoll(text, &rest, 10);
    if (rest > text && (*rest == '\0' || *rest == '\n'))
        return seconds > 0 ? seconds : 0;
    return date_parse(text, "%Y-%m-%dT%H:%M:%S");
}

/* Flux: seconds that are left; UINT_MAX where there is no limit. */
static int64_t flux_end(const char *text) {
    char *rest;
    int64_t left = strtoll(text, &rest, 10);
    return rest > text && left >= 0 && left < UINT_MAX ? end_in(left) : 0;
}

/* LSF: "1:07 L", hours and minutes that are left, rounded; "-" where there is no limit. */
static int64_t lsf_end(const char *text) {
    enum { MINUTE = 60 };
    char *rest, *last;
    int64_t hours = strtoll(text, &rest, 10);
    if (rest == text || *rest != ':' || hours < 0 || hours > INT_MAX)
        return 0;
    int64_t minutes = strtoll(rest + 1, &last, 10);
    return last > rest + 1 && minutes >= 0 && minutes < MINUTE ? end_in((hours * MINUTE + minutes) * MINUTE) : 0;
}

/* What stands behind `name` and " = " in lines of PBS; NULL: nothing. */
static const char *pbs_value(const char *text, const char *name) {
    const char *at = strstr(text, name);
    return at && strncmp(at + strlen(name), " = ", 3) == 0 ? at + strlen(name) + 3 : NULL;
}

/* PBS: when the job was started ("Thu Nov 19 23:31:00 2026") and how long it may run ("01:00:00"); Torque: seconds
 * that are left. */
static int64_t pbs_end(const char *text) {
    const char *left = pbs_value(text, "Walltime.Remaining"), *start = pbs_value(text, "stime"),
               *limit = pbs_value(text, "Resource_List.walltime");
    int hours, minutes, seconds;
    if (left && sscanf(left, "%d", &seconds) == 1)
        return seconds >= 0 ? end_in(seconds) : 0;
    int64_t began = start ? date_parse(start, "%a %b %d %H:%M:%S %Y") : 0;
    if (began == 0 || !limit || sscanf(limit, "%d:%d:%d", &hours, &minutes, &seconds) != 3)
        return 0;
    return began + (hours * INT64_C(60) + minutes) * 60 + seconds;
}

enum { WORDS = 6, JOB_MAX = 256 };

/* A batch system, by the variable that names the job, and the command that tells of the job, whose last word is
 * the name. */
static const struct batch_system {
    const char *variable;
    const char *command[WORDS];
    int64_t (*end)(const char *answer);
} systems[] = {
    {"SLURM_JOB_ID", {"squeue", "--noheader", "--format=%e", "--jobs"}, slurm_end},
    {"FLUX_JOB_ID", {"flux", "job", "timeleft"}, flux_end},
    {"LSB_JOBID", {"bjobs", "-noheader", "-o", "time_left"}, lsf_end},
    /* qstat prints pages, of which two lines are wanted. */
    {"PBS_JOBID",
     {"sh", "-c", "qstat -f \"$0\" | grep -E '^ *(Resource_List[.]walltime|stime|Walltime[.]Remaining) = '"},
     pbs_end},
};

/* The batch system whose job this is; NULL: none.  job: the job's name. */
static const struct batch_system *find_system(char job[JOB_MAX]) {
    for (size_t i = 0; i < sizeof systems / sizeof systems[0]; i++) {
        const char *name = sagoi_environment(systems[i].variable);
        const char *index = systems[i].end == lsf_end ? sagoi_environment("LSB_JOBINDEX") : NULL;
        if (!name || !name[0])
            continue;
        bool one_of_array = index && strtoll(index, NULL, 10) > 0;
        int length = snprintf(job, JOB_MAX, one_of_array ? "%s[%s]" : "%s", name, index);
        return length < JOB_MAX ? &systems[i] : NULL;
    }
    return NULL;
}

/* ---- Asking ---- */

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

static pid_t start(char *const command[], int output, char **environment) {
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t none;
    pid_t process = 0;
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
    char job[JOB_MAX], *command[WORDS + 2] = {NULL};
    const struct batch_system *system = find_system(job);
    char **environment = system ? quiet_environment() : NULL;
    int ends[2], words = 0;
    allocation->asked = true;
    if (!environment || pipe2(ends, O_CLOEXEC) != 0) {
        free(environment);
        return;
    }
    (void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
    for (; words < WORDS && system->command[words]; words++)
        command[words] = (char *)(uintptr_t)system->command[words];
    command[words] = job;
    allocation->process = start(command, ends[1], environment);
    allocation->parse = system->end;
    allocation->answer = ends[0];
    (void)close(ends[1]);
    free(environment);
    if (!allocation->process)
        (void)close(ends[0]);
}

/* The answer is complete, or no more of it will come. */
static void finish(sagoi_allocation *allocation) {
    allocation->text[allocation->length] = '\0';
    allocation->end = allocation->parse(allocation->text);
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
