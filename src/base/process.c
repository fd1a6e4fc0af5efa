#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    FIELDS_TO_START = 19
}; /* fields of /proc/PID/stat from the state, which follows the name, to the starting time */

/* Reads state and starting time; false: /proc does not tell. */
static bool ask_proc(int64_t pid, char *state, int64_t *started) {
    char path[40], text[1024];
    (void)snprintf(path, sizeof path, "/proc/%lld/stat", (long long)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (fd >= 0)
        (void)close(fd);
    text[got > 0 ? got : 0] = '\0';
    const char *at = strrchr(text, ')'); /* the name may contain any character */
    if (!at || at[1] != ' ' || !at[2])
        return false;
    *state = at[2];
    at += 2;
    for (int i = 0; i < FIELDS_TO_START && at; i++) {
        at = strchr(at, ' ');
        at = at ? at + 1 : NULL;
    }
    *started = at ? strtoll(at, NULL, 10) : 0;
    return true;
}

sagoi_process sagoi_process_self(void) {
    sagoi_process self = {.pid = getpid()};
    char state;
    if (!ask_proc(self.pid, &state, &self.started))
        self.started = 0;
    return self;
}

bool sagoi_process_gone(const sagoi_process *process) {
    char state;
    int64_t started;
    if (kill((pid_t)process->pid, 0) != 0 && errno == ESRCH)
        return true;
    if (!ask_proc(process->pid, &state, &started))
        return false;
    if (state == 'Z' || state == 'X')
        return true;
    return process->started > 0 && started > 0 && started != process->started;
}
