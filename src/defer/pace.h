/* When writes that were put off are moved: at call numbers that all ranks compute alike from what they agreed on
 * at the last move, without a message in between.  A pure function of those facts. */
#ifndef SAGOI_PACE_H
#define SAGOI_PACE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct sagoi_pace {
    int64_t every;   /* calls are moved together; 1: calls are not put off */
    int64_t since;   /* calls since the last move, or since it was last decided not to put off */
    int64_t wait;    /* with every == 1: calls until the next look */
    int64_t longest; /* the wait after that, if it is in vain */
    int64_t largest; /* bytes of a call, as agreed; forgotten by halves */
} sagoi_pace;

/* `eager`: calls are put off from the first one on, else once they have been seen to be small. */
void sagoi_pace_init(sagoi_pace *pace, bool eager);

static inline bool sagoi_pace_defers(const sagoi_pace *pace) { return pace->every > 1; }
/* Counts a call.  True: the ranks meet and agree on the facts, after this call, or before it if calls are not
 * deferred. */
bool sagoi_pace_count(sagoi_pace *pace);

/* The ranks have met and agreed on these facts: `largest` is the most bytes of a call, of any rank; `room` is the
 * space for them on the rank that has least; `harmful` says that some rank wrote runs by itself which should have
 * been gathered; `due` says that the ranks met because so many calls were made. */
void sagoi_pace_meet(sagoi_pace *pace, int64_t largest, int64_t room, bool harmful, bool due);

#endif
