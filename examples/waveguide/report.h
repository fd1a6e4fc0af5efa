/* What a run took, and the speedup model of the paper on threaded reduced-blocking I/O (its equations 1 to 7)
 * beside what was measured. */
#ifndef WAVEGUIDE_REPORT_H
#define WAVEGUIDE_REPORT_H

#include <stdint.h>

/* One stretch of a run in one mode.  Seconds of the slowest rank, unless said otherwise. */
typedef struct leg {
    const char *mode;
    int ranks;
    int64_t steps, saves;
    int64_t bytes;     /* saved, by all ranks */
    double wall;       /* from the first step to the last; the waiting at the end is not in it */
    double compute;    /* in time steps */
    double held;       /* in saves, save by save */
    double held_ranks; /* in saves, summed over all ranks */
    double write;      /* from opening files to closing them */
} leg;

/* Compute and I/O time, perceived and raw bandwidth. */
void report_leg(const leg *l);

/* The equations, for `run` against `coio` (both with checkpoints); `plain` had none. */
void report_equations(const leg *run, const leg *coio, const leg *plain);

#endif
