/* When deferred writes are moved: at call numbers that all ranks compute alike from what they agreed on at the
 * last move, without a message in between.  A pure function of those facts. */
#ifndef SAGOI_DEFERRAL_H
#define SAGOI_DEFERRAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hints.h"
#include "plan/memory_share.h"

typedef struct sagoi_deferral {
    int64_t every;   /* calls that are moved together; 1: calls are not put off */
    int64_t since;   /* calls since the last move, or since the last decision not to put off */
    int64_t wait;    /* calls until the ranks look again, with every == 1 */
    int64_t longest; /* the wait after that, if the look is in vain */
    int64_t largest; /* bytes of the largest call, as agreed; halved from time to time */
} sagoi_deferral;

/* Are the writes of a file to be deferred at all?  With `auto` they are only if the delay is bounded in time, if
 * no rank can read what it wrote without a sync, and if every collective call costs round trips between nodes. */
bool sagoi_deferral_wanted(const sagoi_hints *hints, int64_t nodes, bool writable, bool readable);

/* `eager`: calls are put off from the first one on; else once they were seen to be small. */
void sagoi_deferral_init(sagoi_deferral *deferral, bool eager);

static inline bool sagoi_deferral_defers(const sagoi_deferral *deferral) { return deferral->every > 1; }
/* Counts a call.  true: the ranks have to agree on the facts, after this call; before it, if calls are not
 * deferred. */
bool sagoi_deferral_count(sagoi_deferral *deferral);

/* Called when the ranks have agreed.  `largest`: bytes of the largest call of any rank; `room`: the space of the
 * rank that has least; `harmful`: some rank wrote runs by itself which should have been gathered; `due`: the ranks
 * agreed because of the number of calls. */
void sagoi_deferral_set(sagoi_deferral *deferral, int64_t largest, int64_t room, bool harmful, bool due);

/* Has a rank that wrote so many runs by itself written what all ranks together would have gathered? */
bool sagoi_deferral_harms(int64_t runs, int64_t bytes);

/* Bytes of a node's memory that all deferred data may use: half of what the user allows (`hint`), since the other
 * half is for moving that data, or without a hint what plans may use. */
static inline int64_t sagoi_deferral_memory(int64_t hint, int64_t available) {
    return hint > 0 ? hint / 2 : sagoi_memory_usable(available);
}
/* Bytes of deferred data that a rank has room for, without a limit by the user. */
int64_t sagoi_deferral_room(int64_t nodes);

#endif
