/* steps PROGRAM [ARGUMENTS]: runs it, and counts the instructions it executes between pairs of SIGUSR1 that it
 * raises, one line a pair on stderr; a count, where a time would be noise.  Ends as the program does. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs on until the next SIGUSR1, which is swallowed; false: the program has ended. */
static int run_until_mark(pid_t child, int *status, long *steps) {
    int pass = 0;
    for (;;) {
        if (ptrace(steps ? PTRACE_SINGLESTEP : PTRACE_CONT, child, NULL, (void *)(long)pass) != 0 ||
            waitpid(child, status, 0) < 0 || WIFEXITED(*status) || WIFSIGNALED(*status))
            return 0;
        pass = WSTOPSIG(*status);
        if (pass == SIGUSR1)
            return 1;
        if (pass == SIGTRAP) {
            pass = 0;
            if (steps)
                ++*steps;
        }
    }
}

int main(int argc, char **argv) {
    pid_t child = argc > 1 ? fork() : -1;
    int status = 0;
    if (child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0)
            (void)execvp(argv[1], argv + 1);
        _exit(126);
    }
    if (child < 0 || waitpid(child, &status, 0) < 0)
        return 125;
    for (long steps = 0; run_until_mark(child, &status, NULL) && run_until_mark(child, &status, &steps); steps = 0)
        fprintf(stderr, "steps %ld\n", steps);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
