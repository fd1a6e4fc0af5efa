#include "trace/events.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"

enum { MOST = 1 << 16, LEAST = 256, OF_ALL_RANKS = 4 << 20 };

static struct {
    sagoi_event *events; /* NULL: off */
    int64_t room, count, dropped;
} buffer;

bool sagoi_events_begin(int64_t ranks) {
    int64_t room = sagoi_max(LEAST, sagoi_min(MOST, OF_ALL_RANKS / sagoi_max(1, ranks)));
    buffer.events = malloc((size_t)room * sizeof *buffer.events);
    if (buffer.events) /* written once, so that no call of the program has to wait for a page */
        memset(buffer.events, 0, (size_t)room * sizeof *buffer.events);
    buffer.room = buffer.events ? room : 0;
    buffer.count = buffer.dropped = 0;
    return buffer.events != NULL;
}

void sagoi_events_add(const sagoi_event *event) {
    if (buffer.count == buffer.room)
        buffer.dropped++;
    else
        buffer.events[buffer.count++] = *event;
}

const sagoi_event *sagoi_events(int64_t *count, int64_t *dropped) {
    *count = buffer.count;
    *dropped = buffer.dropped;
    return buffer.events;
}

void sagoi_events_end(void) {
    free(buffer.events);
    buffer.events = NULL;
    buffer.room = buffer.count = 0;
}
