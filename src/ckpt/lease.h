/* The lock of a checkpoint directory: a small record that its owner renews.  Not every file system has locks
 * that hold between nodes, and a killed job cannot unlock; so a lease that was not renewed for its time is
 * void.
 *
 * To call a lease void is a guess about another job's clock, disk and luck, and may be wrong.  So it only says
 * which job may try: the directory goes to the job that makes a name which only one job can make, and a job
 * that was replaced without knowing it does no harm (ckpt/generation.h).
 *
 * The age of a lease is the difference between the time stamps of two files of the directory, so that clocks
 * need not agree if the server makes the stamps.  If the nodes make them (Lustre), they may be wrong by as much
 * as the clocks differ: a lease that looks old, or comes from the future, is watched for a while before it is
 * taken over.  A lease whose process is known to be dead on this machine is void at once.
 *
 * A thread renews the lease, whatever the writers wait for, since a sync may take longer than a lease. */
#ifndef SAGOI_CKPT_LEASE_H
#define SAGOI_CKPT_LEASE_H

#include <pthread.h>

#include "ckpt/generation.h"
#include "system/workqueue.h"

typedef struct sagoi_lease {
    sagoi_fence fence; /* the directory, and this job's generation */
    sagoi_id owner;    /* random */
    int64_t seconds;
    bool taken;             /* the fields below are in use */
    pthread_mutex_t lock;   /* guards the fields below */
    pthread_cond_t renewal; /* has ended */
    bool held;
    bool renewing; /* a thread renews the lease now, without the lock */
    int64_t renewals;
    double renewed;          /* time of the last renewal, by the monotonic clock */
    sagoi_workqueue *keeper; /* the thread */
    sagoi_alarm alarm;       /* of it */
} sagoi_lease;

/* For directories from before there were generations. */
#define SAGOI_OLD_LOCK_NAME "lock"

/* Takes the directory.  SAGO_ERR_BUSY: another job has it, as the message says.  The lease is renewed from now on,
 * and has to be given back; a lease of all zeros may be given back, too. */
sago_status sagoi_lease_take(sagoi_lease *lease, const char *dir, int64_t seconds) SAGOI_CHECKED;
/* Gives the owner a generation that is as high as this one, before it has made anything with its own; that takes
 * some calls for each generation between the two.  SAGO_ERR_BUSY: the directory was lost meanwhile. */
sago_status sagoi_lease_raise(sagoi_lease *lease, int64_t generation) SAGOI_CHECKED;
/* Does this job still own the directory?  Renews the lease if a third of its time is over.  SAGO_ERR_BUSY: it was
 * lost (this process must have slept long, or the directory was out of reach).  Any thread may ask. */
sago_status sagoi_lease_check(sagoi_lease *lease) SAGOI_CHECKED;
/* The same for work outside of the directory: that the lease cannot be renewed is no reason to stop, only that it
 * was lost; and the caller does not wait for the thread that renews it. */
sago_status sagoi_lease_look(sagoi_lease *lease) SAGOI_CHECKED;
void sagoi_lease_give_back(sagoi_lease *lease);

/* Is this lock in that directory?  Then it is the lease's own, by whatever name. */
bool sagoi_lease_is_in(const sagoi_lease *lease, const char *dir);

/* Does a job that knows no generations use a directory from before there were any?  SAGO_ERR_BUSY: yes. */
sago_status sagoi_lease_check_old(const char *dir, int64_t seconds) SAGOI_CHECKED;

/* The parts of taking, for tests: `is_void` decides instead of clocks and processes; there is no thread. */
typedef bool (*sagoi_lease_guess)(void *arg, int64_t generation);
sago_status sagoi_lease_claim(sagoi_lease *lease, sagoi_lease_guess is_void, void *arg) SAGOI_CHECKED;
void sagoi_lease_release(sagoi_lease *lease); /* writes into the lock that it is free */

#endif
