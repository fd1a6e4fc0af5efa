/* The limit comes in where tests put their faults (system/faults.h); nothing ever fails here. */
#include "bench/slow_storage.h"

#include <errno.h>
#include <time.h>

#include "system/faults.h"
#include "bench/world.h"

static double limit; /* bytes a second */
static double ready; /* when the storage has taken what it was given */

void bench_limit_storage(double rate) {
    limit = rate;
    ready = 0;
}

bool sagoi_faults_active(void) { return limit > 0; }

/* A write returns when the storage would have taken it. */
void sagoi_fault_after(const sagoi_file_op *op) {
    if (limit <= 0 || op->kind != SAGOI_OP_WRITE)
        return;
    double now = bench_now();
    ready = (ready > now ? ready : now) + (double)op->len / limit;
    struct timespec until = {.tv_sec = (time_t)ready, .tv_nsec = (long)(1e9 * (ready - (double)(time_t)ready))};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) {
    }
}
