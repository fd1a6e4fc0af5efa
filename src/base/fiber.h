/* Fibers: functions with a stack of their own, that go on while others wait.
 *
 * What would wait on a fiber yields instead, and goes on when somebody advances the fibers: every place of the
 * library that waits, and whoever tests or waits for a nonblocking call.  A fiber runs in the thread that advances
 * it, one at a time, so there is no parallelism and nothing to lock between them.
 *
 * Where the same code may run on a fiber or not, it waits like this:
 *     for (bool moved = true; !there_yet(); moved = false)
 *         if (!sagoi_give_way(moved))
 *             sleep_a_little(); */
#ifndef SAGOI_FIBER_H
#define SAGOI_FIBER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/futex.h"
#include "base/status.h"

typedef struct sagoi_fiber sagoi_fiber;

/* One lock for all fibers: held while they run, and by whoever changes what they work on. */
void sagoi_fibers_lock(void);
void sagoi_fibers_unlock(void);
/* Does this thread have it, in a fiber or not? */
bool sagoi_fibers_locked_here(void);

/* What is counted for a stack, and the least that it has.  MPI runs on it, and what MPI calls; more is mapped, but
 * touched only as far as it is used. */
enum { SAGOI_STACK_BYTES = 512 << 10 };

/* With the lock: runs fn(arg) until it waits for the first time.  Its stack is the caller's to count, for as long
 * as the budget is: a fiber ends in whatever thread lets it go on. */
sago_status sagoi_fiber_start(void (*fn)(void *arg), void *arg) SAGOI_CHECKED;

/* How many are active, and whether what happens is recorded (trace/recorder.h): one word, since whoever looks at
 * the clock asks for both, and mostly there is neither. */
enum { SAGOI_RECORDED = 1 << 30 };
extern _Atomic int sagoi_unusual;
static inline bool sagoi_fibers_pending(void) {
    return (atomic_load_explicit(&sagoi_unusual, memory_order_relaxed) & (SAGOI_RECORDED - 1)) != 0;
}
static inline bool sagoi_is_recorded(void) {
    return (atomic_load_explicit(&sagoi_unusual, memory_order_relaxed) & SAGOI_RECORDED) != 0;
}
static inline bool sagoi_is_unusual(void) {
    return atomic_load_explicit(&sagoi_unusual, memory_order_relaxed) != 0;
}

/* Lets every fiber go on to where it waits next.  False: none got any further, or another thread is at it. */
bool sagoi_fibers_advance(void);
/* Sleeps a little, after `quiet` rounds in which nothing moved. */
void sagoi_fibers_pause(int quiet);

/* Does the caller run on a fiber? */
bool sagoi_fiber_runs(void);
static inline bool sagoi_on_fiber(void) { return sagoi_fibers_pending() && sagoi_fiber_runs(); }
/* On a fiber: lets the others go on.  `moved`: it got further since it yielded last.  It waits for *word to be
 * another than `old`, if word is not NULL: so whoever sleeps knows what to sleep on. */
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
