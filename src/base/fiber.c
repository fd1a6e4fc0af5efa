/* Stacks, switching between them, and the list of fibers that are under way.  The list is a global of the library,
 * since any function that waits lets all fibers go on. */
#include "base/fiber.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

enum {
    GUARD_BYTES = 64 << 10, /* bytes below a stack that cannot be accessed */
    MOST_BYTES = 64 << 20,  /* the largest stack, even if the program's stack has no limit */
    MOST_SPARE = 4,         /* stacks that are kept, with the pages that were used */
    YIELDS = 20,            /* yields of the core before the thread sleeps */
    SHORT_SLEEP_US = 100,
    LONG_SLEEP_US = 1000,
    SHORT_SLEEPS = 200
};

struct sagoi_fiber {
    ucontext_t own, caller; /* where the fiber goes on; where its caller does */
    char *stack;            /* lowest byte of the stack, above the guard */
    size_t bytes;           /* bytes of the stack */
    void (*fn)(void *arg);
    void *arg;
    bool active, moved;
    sagoi_futex *word; /* the word that the fiber waits for, if known */
    uint32_t old;
    double away, left; /* seconds without the core; time when the fiber last stopped */
    char message[SAGOI_MESSAGE_MAX];
    sagoi_fiber *next;  /* active ones */
    void *sanitizer[2]; /* the sanitizer's names of this stack and of the caller's */
    const void *caller_stack;
    size_t caller_bytes;
};

_Atomic int sagoi_unusual;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sagoi_fiber *first;
/* Fibers that have ended: a new stack costs more than a small call, until its pages are there. */
static sagoi_fiber *spare;
static int spares;
static _Thread_local sagoi_fiber *current;
static _Thread_local bool holds; /* this thread holds the lock while no fiber of it runs */

/* ---- What sanitizers must be told ---- */

#ifndef __has_feature
#define __has_feature(name) 0 /* how clang is asked */
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#include <sanitizer/common_interface_defs.h>
static void tell_create(sagoi_fiber *fiber) { (void)fiber; }
static void tell_destroy(sagoi_fiber *fiber) { (void)fiber; }
static void tell_enter(sagoi_fiber *fiber) {
    __sanitizer_start_switch_fiber(&fiber->sanitizer[1], fiber->stack, fiber->bytes);
}
static void tell_entered(sagoi_fiber *fiber) {
    __sanitizer_finish_switch_fiber(fiber->sanitizer[0], &fiber->caller_stack, &fiber->caller_bytes);
}
static void tell_leave(sagoi_fiber *fiber) {
    __sanitizer_start_switch_fiber(&fiber->sanitizer[0], fiber->caller_stack, fiber->caller_bytes);
}
static void tell_left(sagoi_fiber *fiber) { __sanitizer_finish_switch_fiber(fiber->sanitizer[1], NULL, NULL); }
#elif defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
#include <sanitizer/tsan_interface.h>
static void tell_create(sagoi_fiber *fiber) { fiber->sanitizer[0] = __tsan_create_fiber(0); }
static void tell_destroy(sagoi_fiber *fiber) { __tsan_destroy_fiber(fiber->sanitizer[0]); }
static void tell_enter(sagoi_fiber *fiber) {
    fiber->sanitizer[1] = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(fiber->sanitizer[0], 0);
}
static void tell_entered(sagoi_fiber *fiber) { (void)fiber; }
static void tell_leave(sagoi_fiber *fiber) { __tsan_switch_to_fiber(fiber->sanitizer[1], 0); }
static void tell_left(sagoi_fiber *fiber) { (void)fiber; }
#else
static void tell_create(sagoi_fiber *fiber) { (void)fiber; }
static void tell_destroy(sagoi_fiber *fiber) { (void)fiber; }
static void tell_enter(sagoi_fiber *fiber) { (void)fiber; }
static void tell_entered(sagoi_fiber *fiber) { (void)fiber; }
static void tell_leave(sagoi_fiber *fiber) { (void)fiber; }
static void tell_left(sagoi_fiber *fiber) { (void)fiber; }
#endif

/* ---- Switching.  A fiber may go on in another thread: nothing thread-local is kept across a switch. ---- */

static double now_seconds(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void leave(sagoi_fiber *fiber) {
    tell_leave(fiber);
    (void)swapcontext(&fiber->own, &fiber->caller);
    tell_entered(fiber);
}

/* The first function on every fiber. */
static void fiber_main(void) {
    sagoi_fiber *fiber = current;
    tell_entered(fiber);
    for (;;) {
        fiber->fn(fiber->arg);
        fiber->active = false;
        leave(fiber);
    }
}

/* Each fiber has an error message of its own, so it is exchanged with the thread's. */
static void exchange_messages(sagoi_fiber *fiber) {
    char outside[SAGOI_MESSAGE_MAX];
    if (sagoi_message()[0] == '\0' && fiber->message[0] == '\0')
        return; /* nearly always both are empty */
    sagoi_message_keep(outside);
    sagoi_message_set(fiber->message);
    (void)snprintf(fiber->message, sizeof fiber->message, "%s", outside);
}

/* Runs the fiber until it yields or ends. */
static void resume(sagoi_fiber *fiber) {
    exchange_messages(fiber);
    fiber->moved = true; /* unless the fiber says otherwise */
    fiber->word = NULL;
    fiber->away += now_seconds() - fiber->left;
    current = fiber;
    tell_enter(fiber);
    (void)swapcontext(&fiber->caller, &fiber->own);
    tell_left(fiber);
    current = NULL;
    fiber->left = now_seconds();
    exchange_messages(fiber);
}

bool sagoi_fiber_runs(void) { return current != NULL; }

double sagoi_fiber_away(void) { return current ? current->away : 0; }

void sagoi_fiber_yield(bool moved, sagoi_futex *word, uint32_t old) {
    sagoi_fiber *fiber = current;
    fiber->moved = moved;
    fiber->word = word;
    fiber->old = old;
    leave(fiber);
}

/* ---- Making them ---- */

void sagoi_fibers_lock(void) {
    (void)pthread_mutex_lock(&lock);
    holds = true;
}

void sagoi_fibers_unlock(void) {
    holds = false;
    (void)pthread_mutex_unlock(&lock);
}

bool sagoi_fibers_locked_here(void) { return current || holds; }

/* The size of a stack: as large as the program's own stacks.  Functions of the program run on fibers, too, for
 * instance the operation of a nonblocking reduction that the MPI library goes on with. */
static size_t wanted_bytes(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur < SAGOI_STACK_BYTES)
        return SAGOI_STACK_BYTES;
    return limit.rlim_cur > MOST_BYTES ? MOST_BYTES : (size_t)limit.rlim_cur / GUARD_BYTES * GUARD_BYTES;
}

static bool map_stack(sagoi_fiber *fiber, size_t bytes) {
    char *memory =
        mmap(NULL, GUARD_BYTES + bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return false;
    fiber->stack = memory + GUARD_BYTES;
    fiber->bytes = bytes;
    if (mprotect(fiber->stack, bytes, PROT_READ | PROT_WRITE) == 0)
        return true;
    (void)munmap(memory, GUARD_BYTES + bytes);
    return false;
}

static void unmap_stack(const sagoi_fiber *fiber) {
    (void)munmap(fiber->stack - GUARD_BYTES, GUARD_BYTES + fiber->bytes);
}

static bool make_ready(sagoi_fiber *fiber) {
    if (getcontext(&fiber->own) != 0)
        return false;
    fiber->own.uc_stack.ss_sp = fiber->stack;
    fiber->own.uc_stack.ss_size = fiber->bytes;
    makecontext(&fiber->own, fiber_main, 0);
    tell_create(fiber);
    return true;
}

/* Makes a fiber with a new stack. */
static sago_status make(sagoi_fiber **made) {
    sagoi_fiber *fiber = calloc(1, sizeof *fiber);
    bool mapped = fiber && (map_stack(fiber, wanted_bytes()) || map_stack(fiber, SAGOI_STACK_BYTES));
    if (mapped && make_ready(fiber)) {
        *made = fiber;
        return SAGO_OK;
    }
    if (mapped)
        unmap_stack(fiber);
    free(fiber);
    return sagoi_fail(SAGO_ERR_MEMORY, "no memory for a stack of %d bytes", SAGOI_STACK_BYTES);
}

static sago_status take(sagoi_fiber **taken) {
    *taken = spare;
    if (spare) {
        spare = spare->next;
        spares--;
        return SAGO_OK;
    }
    return make(taken);
}

static void give_back(sagoi_fiber *fiber) {
    if (spares < MOST_SPARE) {
        fiber->next = spare;
        spare = fiber;
        spares++;
        return;
    }
    tell_destroy(fiber);
    unmap_stack(fiber);
    free(fiber);
}

/* ---- Running them ---- */

/* Lets a fiber go on, and takes it off the list if it ends; returns where the next fiber is. */
static sagoi_fiber **step(sagoi_fiber **at, bool *moved) {
    sagoi_fiber *fiber = *at;
    resume(fiber);
    *moved = *moved || fiber->moved;
    if (fiber->active)
        return &fiber->next;
    *at = fiber->next;
    atomic_fetch_sub(&sagoi_unusual, 1);
    give_back(fiber);
    return at;
}

sago_status sagoi_fiber_start(void (*fn)(void *arg), void *arg) {
    sagoi_fiber *fiber;
    bool moved = false;
    sago_status status = take(&fiber);
    if (status)
        return status;
    fiber->fn = fn;
    fiber->arg = arg;
    fiber->active = true;
    fiber->away = 0;
    fiber->left = now_seconds();
    fiber->message[0] = '\0';
    fiber->next = first;
    first = fiber;
    atomic_fetch_add(&sagoi_unusual, 1);
    (void)step(&first, &moved);
    return SAGO_OK;
}

bool sagoi_fibers_advance(void) {
    bool moved = false;
    if (current || pthread_mutex_trylock(&lock) != 0)
        return false;
    for (sagoi_fiber **at = &first; *at;)
        at = step(at, &moved);
    (void)pthread_mutex_unlock(&lock);
    return moved;
}

/* A word that some fiber waits for; NULL: no fiber waits for one, or another thread runs the fibers. */
static sagoi_futex *awaited_word(uint32_t *old) {
    sagoi_futex *word = NULL;
    if (pthread_mutex_trylock(&lock) != 0)
        return NULL;
    for (const sagoi_fiber *fiber = first; fiber && !word; fiber = fiber->next) {
        word = fiber->word;
        *old = fiber->old;
    }
    (void)pthread_mutex_unlock(&lock);
    return word;
}

void sagoi_fibers_pause(int quiet) {
    uint32_t old = 0;
    int64_t sleep_us = quiet < SHORT_SLEEPS ? SHORT_SLEEP_US : LONG_SLEEP_US;
    if (quiet < YIELDS) {
        (void)sched_yield();
        return;
    }
    sagoi_futex *word = awaited_word(&old);
    if (word)
        sagoi_futex_wait(word, old, sleep_us);
    else
        (void)usleep((useconds_t)sleep_us);
}
