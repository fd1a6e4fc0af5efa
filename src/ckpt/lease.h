/* The lock of a checkpoint directory: a small record that its owner renews.  Not every file system has locks that
 * hold between nodes, and a killed job cannot unlock: a lease that was not renewed for its time is void.
 *
 * That a lease is void is a guess about somebody else's clock, disk and luck, and may be wrong.  So it only says
 * who may try: who gets the directory is decided by one name that one job can make, and a job that was replaced
 * without knowing does no harm (ckpt/generation.h).
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

#include "ckpt/generation.h"
#include "system/workqueue.h"

typedef struct sagoi_lease {
    sagoi_fence fence; /* the directory and the generation that this job has */
    sagoi_id owner;    /* random */
    int64_t seconds;
    bool taken;             /* what follows is in use */
    pthread_mutex_t lock;   /* what follows */
    pthread_cond_t renewal; /* has ended */
    bool held;
    bool renewing; /* somebody is, without the lock */
    int64_t renewals;
    double renewed;          /* when, by the monotonic clock */
    sagoi_workqueue *keeper; /* the thread */
    sagoi_alarm alarm;       /* of it */
} sagoi_lease;

/* Of directories from before there were generations. */
#define SAGOI_OLD_LOCK_NAME "lock"

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

/* Is this lock in that directory?  Then it is the lease's own, by whatever name. */
bool sagoi_lease_is_in(const sagoi_lease *lease, const char *dir);

/* Is a directory from before there were generations in use by a job that knows none?  SAGO_ERR_BUSY: yes. */
sago_status sagoi_lease_check_old(const char *dir, int64_t seconds) SAGOI_CHECKED;

/* The parts of taking, for tests: `is_void` guesses instead of looking at clocks and processes; no thread. */
typedef bool (*sagoi_lease_guess)(void *arg, int64_t generation);
sago_status sagoi_lease_claim(sagoi_lease *lease, sagoi_lease_guess is_void, void *arg) SAGOI_CHECKED;
void sagoi_lease_release(sagoi_lease *lease); /* says in the lock that it is free */

#endif
