/* The lock of a checkpoint directory: a small record that its owner renews.  Not every file system has locks that
 * hold between nodes, and a killed job cannot unlock: a lease that was not renewed for its time is void.
 *
 * Its age is the difference between the time stamps of two files of the directory, so that clocks need not agree
 * where the server makes the stamps.  Where the nodes make them (Lustre), they may be wrong by as much as the
 * clocks differ: a lease that looks old, or comes from the future, is watched for a while before it is taken over.
 * One whose process is known to be dead on this very machine is void at once.
 *
 * A thread renews it, whatever the writers wait for: a sync may take longer than a lease. */
#ifndef SAGOI_CKPT_LEASE_H
#define SAGOI_CKPT_LEASE_H

#include <pthread.h>

#include "ckpt/files.h"
#include "ckpt/record.h"

typedef struct sagoi_lease {
    char dir[SAGOI_CKPT_PATH];
    sagoi_id owner; /* random */
    int64_t seconds;
    bool taken;           /* what follows is in use */
    pthread_mutex_t lock; /* what follows */
    pthread_cond_t end;
    bool held, ending, kept; /* kept: there is a thread */
    bool renewing;           /* somebody is, without the lock */
    double renewed;          /* when, by the monotonic clock */
    pthread_t thread;
} sagoi_lease;

#define SAGOI_LEASE_NAME "lock"

/* SAGO_ERR_BUSY: somebody else has it; the message says who.  Renewed from now on.  To be given back when it was
 * taken; a lease of all zeros may be given back, too. */
sago_status sagoi_lease_take(sagoi_lease *lease, const char *dir, int64_t seconds) SAGOI_CHECKED;
/* Still ours?  Renews it if a third of its time is over.  SAGO_ERR_BUSY: it was lost (this process must have slept
 * long, or the directory was out of reach).  Any thread may ask. */
sago_status sagoi_lease_check(sagoi_lease *lease) SAGOI_CHECKED;
/* The same for who works elsewhere than in the directory: that the lease cannot be renewed is no reason to stop,
 * only that it was lost; and nobody waits for who renews it. */
sago_status sagoi_lease_look(sagoi_lease *lease) SAGOI_CHECKED;
void sagoi_lease_give_back(sagoi_lease *lease);

#endif
