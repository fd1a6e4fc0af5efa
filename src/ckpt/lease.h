/* The lock of a checkpoint directory: a small record that its owner renews.  Not every file system has locks that
 * hold between nodes, and a killed job cannot unlock: a lease that was not renewed for its time is void.  Ages are
 * taken from the file system's own clock (the time stamps of two of its files), so clocks may differ between
 * nodes.  A process that is known to be dead on this very machine loses its lease at once. */
#ifndef SAGOI_CKPT_LEASE_H
#define SAGOI_CKPT_LEASE_H

#include "ckpt/files.h"
#include "ckpt/record.h"

typedef struct sagoi_lease {
    char dir[SAGOI_CKPT_PATH];
    sagoi_id owner; /* random */
    int64_t seconds;
    bool held;
    double renewed; /* when, by the monotonic clock */
} sagoi_lease;

#define SAGOI_LEASE_NAME "lock"

/* SAGO_ERR_BUSY: somebody else has it; the message says who. */
sago_status sagoi_lease_take(sagoi_lease *lease, const char *dir, int64_t seconds) SAGOI_CHECKED;
/* Renews it if a third of its time is over.  SAGO_ERR_BUSY: it was lost (this process must have slept long). */
sago_status sagoi_lease_renew(sagoi_lease *lease) SAGOI_CHECKED;
void sagoi_lease_give_back(sagoi_lease *lease);

#endif
