/* Which handles are open.  A closed one is memory that was given back: it may be compared, never looked into. */
#ifndef SAGOI_LIVE_H
#define SAGOI_LIVE_H

#include <stdbool.h>

/* Lies inside what the handle points to. */
typedef struct sagoi_live {
    struct sagoi_live *next;
} sagoi_live;

void sagoi_live_add(sagoi_live *one);
void sagoi_live_remove(sagoi_live *one); /* fine if it was never added */
/* Looks at the pointer only, not at what it points to. */
bool sagoi_live_has(const sagoi_live *one);

#endif
