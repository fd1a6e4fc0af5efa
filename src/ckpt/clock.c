#include "ckpt/clock.h"

#include <time.h>

#include "system/faults.h"

static double seconds_of(clockid_t clock) {
    struct timespec now;
    (void)clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec + sagoi_fault_clock();
}

double sagoi_ckpt_now(void) { return seconds_of(CLOCK_MONOTONIC); }

double sagoi_ckpt_date(void) { return seconds_of(CLOCK_REALTIME); }
