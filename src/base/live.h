/* Which handles are open.  The memory of a closed handle was given back, so its address may be compared, but
 * nothing there may be read. */
#ifndef SAGOI_LIVE_H
#define SAGOI_LIVE_H

#include <stdbool.h>

/* Part of what the handle points to. */
typedef struct sagoi_live {
    struct sagoi_live *next;
} sagoi_live;

void sagoi_live_add(sagoi_live *one);
void sagoi_live_remove(sagoi_live *one); /* fine if the handle was never added */
/* Looks at the address only, not at the memory there. */
bool sagoi_live_has(const sagoi_live *one);

#endif
