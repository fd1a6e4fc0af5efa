/* Sleeping until a word of memory changes; also between processes that share it. */
#ifndef SAGOI_FUTEX_H
#define SAGOI_FUTEX_H

#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Returns when *word is not `old`, when somebody wakes it, or after that time; or for no reason. */
static inline void sagoi_futex_wait(_Atomic uint32_t *word, uint32_t old, int64_t microseconds) {
    struct timespec time = {microseconds / 1000000, microseconds % 1000000 * 1000};
    (void)syscall(SYS_futex, word, FUTEX_WAIT, old, &time, NULL, 0);
}

static inline void sagoi_futex_wake(_Atomic uint32_t *word) {
    (void)syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

#endif
