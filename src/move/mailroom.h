/* Memory for messages.  The exchanges of a file use it in turn, since only one of them runs at a time; it never
 * shrinks. */
#ifndef SAGOI_MAILROOM_H
#define SAGOI_MAILROOM_H

#include "base/budget.h"

typedef struct sagoi_mailroom {
    char *base; /* counted in the budget */
    int64_t bytes;
    bool leaked; /* left allocated because the team is broken, and messages may still come */
} sagoi_mailroom;

void sagoi_mailroom_cleanup(sagoi_mailroom *room, sagoi_budget *budget); /* fine on a zeroed struct, and twice */

#endif
