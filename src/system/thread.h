/* What all threads of the library have in common: how they start, where they run, and the clock that they wait by.
 */
#ifndef SAGOI_THREAD_H
#define SAGOI_THREAD_H

#include <pthread.h>
#include <time.h>

/* Starts a thread; returns 0 or an errno.  The thread blocks all signals, since the application's signals are for
 * the application's threads. */
int sagoi_thread_start(pthread_t *thread, const char *name, void *(*body)(void *), void *arg);

/* Binds a thread to one core (the kernel's number; -1: any core that its creator may use).  Best effort: for a
 * core that is not allowed the thread stays where it is. */
void sagoi_thread_bind(pthread_t thread, int core);

/* Makes a condition whose timed waits go by CLOCK_MONOTONIC, so that no wait ends early or late because the clock
 * was set.  Returns 0 or an errno. */
int sagoi_condition_init(pthread_cond_t *condition);

double sagoi_seconds(clockid_t clock);
/* A time of sagoi_seconds() in the form that pthread_cond_timedwait() takes. */
struct timespec sagoi_timespec(double seconds);

#endif
