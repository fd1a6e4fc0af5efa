/* Events for the trace (SAGO_TRACE): what one rank did, in a buffer of a fixed size.  When the buffer is full,
 * further events are counted and dropped.  The events of one thread are in order of time.  Any thread may add
 * events; the caller makes sure that none does while the buffer begins or ends, or is read. */
#ifndef SAGOI_EVENTS_H
#define SAGOI_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

typedef enum {
    SAGOI_EVENT_PHASE, /* `what` is a sago_phase */
    SAGOI_EVENT_CALL,  /* `what` is 1 for a write and 0 for a read */
    SAGOI_EVENT_IO,    /* a task of the I/O thread */
    SAGOI_EVENT_SENT,
    SAGOI_EVENT_RECEIVED
} sagoi_event_kind;

/* An event is small, because a call that adds one has to bring its memory into the cache. */
typedef struct sagoi_event {
    double start; /* seconds after the record began */
    union {
        double seconds; /* how long the event took; all kinds but messages have it */
        int64_t bytes;  /* size of a message */
    };
    int64_t call; /* number of the calls on the file before this one */
    int32_t round;
    int16_t file;
    int8_t kind, what;
    int32_t mine,
        peer; /* ends of a message: this rank and the other one, by their numbers among the file's ranks */
} sagoi_event;

/* Begins to record; the events of all ranks together are some millions at the most.  false: there is no memory. */
bool sagoi_events_begin(int64_t ranks);
/* The event to fill in; NULL: there is no room for it. */
sagoi_event *sagoi_events_next(void);
/* The events recorded so far; *dropped: how many events found no room. */
const sagoi_event *sagoi_events(int64_t *count, int64_t *dropped);
void sagoi_events_end(void);

#endif
