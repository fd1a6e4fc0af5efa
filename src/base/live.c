/* The list of open handles: one of the few globals of the library, since nothing else tells a stale handle from an
 * open one.  Several threads may use files, so the list has a lock. */
#include "base/live.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum { SEEN = 64 }; /* places; the shift in place_of() has to fit this number */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sagoi_live *first;
/* Open handles that were asked for, each at its place: so most calls need neither the lock nor a walk over the
 * list.  Changed under the lock. */
static _Atomic(const sagoi_live *) seen[SEEN];

static _Atomic(const sagoi_live *) *place_of(const sagoi_live *one) {
    return &seen[(uintptr_t)one / 64 * 0x9E3779B97F4A7C15 >>
                 58]; /* 2^64 / golden ratio spreads regular addresses */
}

void sagoi_live_add(sagoi_live *one) {
    (void)pthread_mutex_lock(&lock);
    one->next = first;
    first = one;
    (void)pthread_mutex_unlock(&lock);
}

void sagoi_live_remove(sagoi_live *one) {
    (void)pthread_mutex_lock(&lock);
    for (sagoi_live **at = &first; *at; at = &(*at)->next)
        if (*at == one) {
            *at = one->next;
            break;
        }
    const sagoi_live *gone = one;
    (void)atomic_compare_exchange_strong(place_of(one), &gone, NULL);
    (void)pthread_mutex_unlock(&lock);
}

static bool look_for(const sagoi_live *one) {
    (void)pthread_mutex_lock(&lock);
    const sagoi_live *at = first;
    while (at && at != one)
        at = at->next;
    if (at)
        atomic_store(place_of(one), one);
    (void)pthread_mutex_unlock(&lock);
    return at != NULL;
}

bool sagoi_live_has(const sagoi_live *one) {
    return (one && atomic_load_explicit(place_of(one), memory_order_acquire) == one) || look_for(one);
}
