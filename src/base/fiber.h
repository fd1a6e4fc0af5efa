/* Fibers: functions with a stack of their own, which go on while other code waits.
 *
 * On a fiber, code that would wait yields instead.  It goes on when the fibers are advanced: in every place of
 * the library that waits, and when the program tests or waits for a nonblocking call.  A fiber runs in the
 * thread that advances it, one at a time, so there is no parallelism and nothing to lock between fibers.
 *
 * Code that may run on a fiber or not waits like this:
 *    for (bool moved = true; !there_yet(); moved = false)
 *        if (!sagoi_give_way(moved))
 *            sleep_a_little(); */
#ifndef SAGOI_FIBER_H
#define SAGOI_FIBER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/futex.h"
#include "base/status.h"

typedef struct sagoi_fiber sagoi_fiber;

/* One lock for all fibers.  A thread holds the lock while it runs fibers, and while it changes what fibers work
 * on. */
void sagoi_fibers_lock(void);
void sagoi_fibers_unlock(void);
/* Does this thread hold the lock, on a fiber or not? */
bool sagoi_fibers_locked_here(void);

/* The memory that is counted for a stack, and the least room that a stack has.  MPI and what MPI calls run on the
 * stack, so more is mapped; the kernel gives out only the pages that are used. */
enum { SAGOI_STACK_BYTES = 512 << 10 };

/* Runs fn(arg) on a new fiber until fn waits for the first time; the caller holds the lock.  The caller counts the
 * memory of the stack, since a fiber may end in a thread that does not know the budget. */
sago_status sagoi_fiber_start(void (*fn)(void *arg), void *arg) SAGOI_CHECKED;

/* How many fibers are active, whether anything is recorded (trace/recorder.h), and whether it is recorded for a
 * report.  All are in one word, since whoever looks at the clock asks for all, and mostly there is nothing. */
enum { SAGOI_REPORTED = 1 << 29, SAGOI_RECORDED = 1 << 30 };
extern _Atomic int sagoi_unusual;
static inline bool sagoi_fibers_pending(void) {
    return (atomic_load_explicit(&sagoi_unusual, memory_order_relaxed) & (SAGOI_REPORTED - 1)) != 0;
}
static inline bool sagoi_is_recorded(void) {
    return (atomic_load_explicit(&sagoi_unusual, memory_order_relaxed) & SAGOI_RECORDED) != 0;
}
static inline bool sagoi_is_reported(void) {
    return (atomic_load_explicit(&sagoi_unusual, memory_order_relaxed) & SAGOI_REPORTED) != 0;
}
static inline bool sagoi_is_unusual(void) {
    return atomic_load_explicit(&sagoi_unusual, memory_order_relaxed) != 0;
}

/* Lets every fiber go on to where it waits next.  False: no fiber got any further, or another thread is advancing
 * them.
 */
bool sagoi_fibers_advance(void);
/* Sleeps a little, after `quiet` rounds in which nothing moved. */
void sagoi_fibers_pause(int quiet);

/* Does the caller run on a fiber? */
bool sagoi_fiber_runs(void);
static inline bool sagoi_on_fiber(void) { return sagoi_fibers_pending() && sagoi_fiber_runs(); }
/* Called on a fiber: lets the other fibers go on.  `moved`: the fiber got further since it yielded last.  If
 * `word` is not NULL, the fiber waits for *word to differ from `old`, so that a thread that goes to sleep knows
 * what to sleep on.
 */
void sagoi_fiber_yield(bool moved, sagoi_futex *word, uint32_t old);
/* Seconds in which this fiber did not run; 0 elsewhere. */
double sagoi_fiber_away(void);

/* In a loop that waits for something.  True: look again at once; false: sleep a little first. */
static inline bool sagoi_give_way(bool moved) {
    if (!sagoi_fibers_pending())
        return false;
    if (!sagoi_fiber_runs())
        return sagoi_fibers_advance();
    sagoi_fiber_yield(moved, NULL, 0);
    return true;
}

#endif
