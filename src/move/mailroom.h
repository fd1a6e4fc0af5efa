/* Memory for messages.  The exchanges of a file use it in turn, since one of them runs at a time; it only grows.
 */
#ifndef SAGOI_MAILROOM_H
#define SAGOI_MAILROOM_H

#include "base/budget.h"

typedef struct sagoi_mailroom {
    char *base; /* of the budget */
    int64_t bytes;
    bool leaked; /* on purpose: the team is broken, and messages may still come */
} sagoi_mailroom;

void sagoi_mailroom_cleanup(sagoi_mailroom *room, sagoi_budget *budget); /* fine on a zeroed struct, and twice */

#endif
