#include "trace/events.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"

enum { MOST = 1 << 16, LEAST = 256, OF_ALL_RANKS = 4 << 20 };

static struct {
    sagoi_event *events; /* NULL: off */
    int64_t room;
    _Atomic int64_t asked; /* events that there were, with those that found no room */
} buffer;

bool sagoi_events_begin(int64_t ranks) {
    int64_t room = sagoi_max(LEAST, sagoi_min(MOST, OF_ALL_RANKS / sagoi_max(1, ranks)));
    buffer.events = malloc((size_t)room * sizeof *buffer.events);
    if (buffer.events) /* written once, so that no call of the program has to wait for a page */
        memset(buffer.events, 0, (size_t)room * sizeof *buffer.events);
    buffer.room = buffer.events ? room : 0;
    buffer.asked = 0;
    return buffer.events != NULL;
}

sagoi_event *sagoi_events_next(void) {
    int64_t number = atomic_fetch_add_explicit(&buffer.asked, 1, memory_order_relaxed);
    return number < buffer.room ? &buffer.events[number] : NULL;
}

const sagoi_event *sagoi_events(int64_t *count, int64_t *dropped) {
    const int64_t asked = atomic_load(&buffer.asked);
    *count = sagoi_min(asked, buffer.room);
    *dropped = asked - *count;
    return buffer.events;
}

void sagoi_events_end(void) {
    free(buffer.events);
    buffer.events = NULL;
    buffer.room = 0;
    buffer.asked = 0;
}
