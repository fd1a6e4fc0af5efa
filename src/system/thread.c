#include "system/thread.h"

#include <sched.h>
#include <signal.h>

int sagoi_thread_start(pthread_t *thread, const char *name, void *(*body)(void *), void *arg) {
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before); /* a new thread inherits its creator's mask */
    int error = pthread_create(thread, NULL, body, arg);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!error)
        (void)pthread_setname_np(*thread, name);
    return error;
}

void sagoi_thread_bind(pthread_t thread, int core) {
    cpu_set_t *set = core < 0 ? NULL : CPU_ALLOC((size_t)core + 1);
    if (!set)
        return;
    size_t bytes = CPU_ALLOC_SIZE((size_t)core + 1);
    CPU_ZERO_S(bytes, set);
    CPU_SET_S((size_t)core, bytes, set);
    (void)pthread_setaffinity_np(thread, bytes, set);
    CPU_FREE(set);
}

int sagoi_condition_init(pthread_cond_t *condition) {
    pthread_condattr_t monotonic;
    int error = pthread_condattr_init(&monotonic);
    if (error)
        return error;
    error = pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    if (!error)
        error = pthread_cond_init(condition, &monotonic);
    (void)pthread_condattr_destroy(&monotonic);
    return error;
}

double sagoi_seconds(clockid_t clock) {
    struct timespec now;
    (void)clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

struct timespec sagoi_timespec(double seconds) {
    struct timespec at = {.tv_sec = (time_t)seconds};
    at.tv_nsec = (long)(1e9 * (seconds - (double)at.tv_sec));
    return at;
}
