/* The list of open handles: one of the few globals of the library, since a stale handle leads nowhere else.  Files
 * may be used by several threads, each its own, so it has a lock. */
#include "base/live.h"

#include <pthread.h>
#include <stddef.h>

#include "base/often.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sagoi_live *first;

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
    (void)pthread_mutex_unlock(&lock);
}

SAGOI_OFTEN bool sagoi_live_has(const sagoi_live *one) {
    (void)pthread_mutex_lock(&lock);
    const sagoi_live *at = first;
    while (at && at != one)
        at = at->next;
    (void)pthread_mutex_unlock(&lock);
    return at != NULL;
}
