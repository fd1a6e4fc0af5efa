/* The time, as checkpoints see it: tests may set their clocks ahead. */
#ifndef SAGOI_CKPT_CLOCK_H
#define SAGOI_CKPT_CLOCK_H

#include "system/faults.h"
#include "system/thread.h"

/* Seconds that never go back. */
static inline double sagoi_ckpt_now(void) { return sagoi_seconds(CLOCK_MONOTONIC) + sagoi_fault_clock(); }
/* Seconds since 1970. */
static inline double sagoi_ckpt_date(void) { return sagoi_seconds(CLOCK_REALTIME) + sagoi_fault_clock(); }

#endif
