/* What all threads of the library have in common: how they start, where they run, and the clock that they wait by.
 */
#ifndef SAGOI_THREAD_H
#define SAGOI_THREAD_H

#include <pthread.h>
#include <time.h>

/* 0 or an errno.  The thread blocks all signals: the application's signals are for the application's threads. */
int sagoi_thread_start(pthread_t *thread, const char *name, void *(*body)(void *), void *arg);

/* To one core (a number of the kernel's; -1: the thread stays where its creator may run).  Best effort: a core
 * that is not allowed leaves the thread where it is. */
void sagoi_thread_bind(pthread_t thread, int core);

/* A condition whose timed waits go by CLOCK_MONOTONIC: a wait must not end early or late because somebody has set
 * the clock.  0 or an errno. */
int sagoi_condition_init(pthread_cond_t *condition);

double sagoi_seconds(clockid_t clock);
/* A time of sagoi_seconds() as pthread_cond_timedwait() wants it. */
struct timespec sagoi_timespec(double seconds);

#endif
