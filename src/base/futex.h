/* Sleeping until a word of memory changes; processes may share the word. */
#ifndef SAGOI_FUTEX_H
#define SAGOI_FUTEX_H

#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* A sleeper is counted, so that the kernel is called only if there is a sleeper to be woken.  (A process that dies
 * asleep stays counted, which costs no more than that call.) */
typedef struct sagoi_futex {
    _Atomic uint32_t value;
    _Atomic uint32_t sleepers;
} sagoi_futex;

/* Returns when the value is not `old`, when another thread wakes the caller, after that time, or for no reason. */
static inline void sagoi_futex_wait(sagoi_futex *word, uint32_t old, int64_t microseconds) {
    struct timespec time = {microseconds / 1000000, microseconds % 1000000 * 1000};
    (void)atomic_fetch_add(&word->sleepers, 1); /* must come before the kernel looks at the value */
    (void)syscall(SYS_futex, &word->value, FUTEX_WAIT, old, &time, NULL, 0);
    (void)atomic_fetch_sub(&word->sleepers, 1);
}

/* Called after the value was changed.  It adds 0 rather than reading: then either this addition comes after a
 * sleeper's own and sees it, or the sleeper's comes later and the kernel sees the new value. */
static inline void sagoi_futex_wake(sagoi_futex *word) {
    if (atomic_fetch_add(&word->sleepers, 0) > 0)
        (void)syscall(SYS_futex, &word->value, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

#endif
