/* Launchers give ranks a pipe, and write what comes through it to their own standard error.  So the first process
 * above this one whose standard error is no pipe shows where the output goes. */
#include "bench/progress.h"

#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

enum {
    QUIET_SECONDS = 2,
    TEXT_MAX = 160,
    TURN_NS = 250000000,
    HEAD_START_NS = 200000000,
    MAJOR_TERMINAL = 4,
    MAJOR_PTS = 136,
    PTS_MAJORS = 8
};

static struct {
    pthread_mutex_t lock;
    pthread_t thread;
    bool running, shown;
    char text[TEXT_MAX];
    time_t start;
} line = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- Where standard error ends ---- */

static bool is_terminal(const struct stat *file) {
    unsigned number = major(file->st_rdev);
    return S_ISCHR(file->st_mode) &&
           (number == MAJOR_TERMINAL || (number >= MAJOR_PTS && number < MAJOR_PTS + PTS_MAJORS));
}

static long parent_of(long process) {
    char path[64], text[512] = "";
    long parent = 0;
    (void)snprintf(path, sizeof path, "/proc/%ld/stat", process);
    FILE *file = fopen(path, "r");
    if (!file)
        return 0;
    /* Characters of the program's name. */
    const char *after = fgets(text, sizeof text, file) ? strrchr(text, ')') : NULL;
    if (!after || sscanf(after + 1, " %*c %ld", &parent) != 1)
        parent = 0;
    (void)fclose(file);
    return parent;
}

static bool look_up(void) {
    long process = getpid();
    for (int level = 0; level < 8 && process > 1; level++, process = parent_of(process)) {
        char path[64];
        struct stat file;
        (void)snprintf(path, sizeof path, "/proc/%ld/fd/2", process);
        if (stat(path, &file) != 0)
            return false;
        if (!S_ISFIFO(file.st_mode) && !S_ISSOCK(file.st_mode))
            return is_terminal(&file);
    }
    return false;
}

bool progress_is_seen(void) {
    static int seen = -1;
    if (seen < 0)
        seen = isatty(STDERR_FILENO) || look_up();
    return seen > 0;
}

/* ---- The line ---- */

static void *show_often(void *argument) {
    (void)argument;
    const struct timespec turn = {.tv_nsec = TURN_NS};
    for (bool running = true; running; (void)nanosleep(&turn, NULL)) {
        (void)pthread_mutex_lock(&line.lock);
        long seconds = (long)(time(NULL) - line.start);
        running = line.running;
        if (running && seconds > QUIET_SECONDS) {
            fprintf(stderr, "\r\033[K%s, %ld s", line.text, seconds);
            (void)fflush(stderr);
            line.shown = true;
        }
        (void)pthread_mutex_unlock(&line.lock);
    }
    return NULL;
}

/* Signals are for the thread that does the work. */
static bool start_thread(void) {
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&line.thread, NULL, show_often, NULL) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

void progress_set(const char *format, ...) {
    va_list arguments;
    if (!progress_is_seen())
        return;
    (void)pthread_mutex_lock(&line.lock);
    va_start(arguments, format);
    (void)vsnprintf(line.text, sizeof line.text, format, arguments);
    va_end(arguments);
    if (!line.running) {
        line.start = time(NULL);
        line.running = true;
        line.running = start_thread();
    }
    (void)pthread_mutex_unlock(&line.lock);
}

void progress_end(void) {
    (void)pthread_mutex_lock(&line.lock);
    bool running = line.running;
    line.running = false;
    (void)pthread_mutex_unlock(&line.lock);
    if (!running)
        return;
    (void)pthread_join(line.thread, NULL);
    if (line.shown) {
        fputs("\r\033[K", stderr);
        (void)fflush(stderr);
        if (!isatty(STDERR_FILENO)) /* a launcher passes standard output and error on in any order */
            (void)nanosleep(&(struct timespec){.tv_nsec = HEAD_START_NS}, NULL);
    }
    line.shown = false;
}
