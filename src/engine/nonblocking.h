/* Nonblocking calls: started here, run by the engine on the file's fiber, one after another.
 *
 * The i-th nonblocking call on a file is the same call on every rank, so the calls of a file are a queue, and only
 * the first call of the queue runs.  Files know nothing of each other: the queues of all files go on whenever this
 * process waits for anything.
 *
 * With sago_nonblocking=apart no rank needs another one: the ranks come together for a call (move/convene.h), or
 * each rank serves its part of the call alone. */
#ifndef SAGOI_NONBLOCKING_H
#define SAGOI_NONBLOCKING_H

#include "engine/compose.h"

struct sago_request {
    sagoi_live live;    /* tells a request that may be waited for from one that is gone */
    sago_request *next; /* the next request in the file's queue */
    sago_file *file;    /* NULL when the call is done */
    const char *call;   /* the public function's name */
    sagoi_lone_part part;
    int64_t number;     /* number of the call on its file, from 1 */
    bool at_once;       /* the call runs on its caller's stack, and must not wait for other ranks to come */
    double tested;      /* when sago_test() last looked, seconds */
    bool dropped;       /* the caller has no handle, so nobody will ask how the call went */
    _Atomic bool done;  /* when this is true, only the status, the bytes and the message count */
    sago_status status; /* how the call went; before the call is done: what was wrong with its arguments */
    int64_t bytes;      /* that this rank moved */
    char message[SAGOI_MESSAGE_MAX];
    sagoi_composed composed;
    /* The call is one run that this rank moves alone: `piece` counts, and nothing is composed.  (A composed call
     * may have the method SAGOI_METHOD_PIECE, too.) */
    bool is_piece;
    sagoi_lone_run piece;
};

/* Local.  Makes a request, which is then composed and started, or destroyed.  A call whose request finds no memory
 * is counted all the same, since the other ranks count theirs. */
sago_status sagoi_nonblocking_create(sago_file *file, const char *call, sagoi_direction direction,
                                     sago_request **request) SAGOI_CHECKED;
/* Makes a request in the caller's memory.  The caller keeps that memory until the call is done, and does not
 * destroy the request. */
void sagoi_nonblocking_init(sago_request *request, sago_file *file, const char *call, sagoi_direction direction);
/* Local, never waits.  Puts the request at the end of the file's queue.  `wrong` is what is wrong with the call's
 * arguments, explained by the thread's message; all ranks will get both. */
void sagoi_nonblocking_run(sago_request *request, sago_status wrong);
/* Runs a request whose file has an empty queue, and which waits for no other rank: the call is done on return. */
void sagoi_nonblocking_run_at_once(sago_request *request, sago_status wrong);
/* Frees a request whose call is done. */
void sagoi_nonblocking_destroy(sago_request **request);

/* Waits until all nonblocking calls of the file are done.  Collective calls begin with this. */
void sagoi_nonblocking_finish(sago_file *file);

/* Waits until no other thread runs fibers.  A file that is about to go has no call left, but another thread may
 * still be finishing the last one. */
void sagoi_nonblocking_end(void);

/* Around a call that uses the file while nonblocking calls are not done: another thread must not run those calls
 * meanwhile. */
void sagoi_nonblocking_hold(sago_file *file, bool *held);
void sagoi_nonblocking_release(bool held);

#endif
