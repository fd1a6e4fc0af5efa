/* Events for the trace (SAGO_TRACE): what one rank did, one after the other, in a buffer of a fixed size.  When it
 * is full, what comes is counted and dropped.  The caller sees to it that one thread at a time is here. */
#ifndef SAGOI_EVENTS_H
#define SAGOI_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

typedef enum {
    SAGOI_EVENT_PHASE, /* what: sago_phase */
    SAGOI_EVENT_CALL,  /* what: 1 a write, 0 a read */
    SAGOI_EVENT_IO,    /* in the I/O thread */
    SAGOI_EVENT_SENT,
    SAGOI_EVENT_RECEIVED
} sagoi_event_kind;

/* Small, since whoever adds one must bring it into a cache. */
typedef struct sagoi_event {
    double start; /* since 1970 */
    union {
        double seconds; /* of what is no message */
        int64_t bytes;  /* of a message */
    };
    int64_t call; /* number of the file's calls before it */
    int32_t round;
    int16_t file;
    int8_t kind, what;
    int32_t mine, peer; /* messages: this rank and the other, as the file numbers them */
} sagoi_event;

/* So many that all ranks together have some millions; false without memory. */
bool sagoi_events_begin(int64_t ranks);
void sagoi_events_add(const sagoi_event *event);
/* Those there are; *dropped: for which there was no room. */
const sagoi_event *sagoi_events(int64_t *count, int64_t *dropped);
void sagoi_events_end(void);

#endif
