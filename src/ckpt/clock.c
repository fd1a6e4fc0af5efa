#include "ckpt/clock.h"

#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

static _Atomic int64_t shift; /* nanoseconds */

static double seconds_of(clockid_t clock) {
    struct timespec now;
    (void)clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * ((double)now.tv_nsec + (double)atomic_load(&shift));
}

double sagoi_ckpt_now(void) { return seconds_of(CLOCK_MONOTONIC); }

double sagoi_ckpt_date(void) { return seconds_of(CLOCK_REALTIME); }

void sagoi_clock_shift(double seconds) { atomic_fetch_add(&shift, (int64_t)(seconds * 1e9)); }
