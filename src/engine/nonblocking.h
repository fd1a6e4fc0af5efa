/* Nonblocking calls: started here, run by the engine on the file's fiber, one after another.
 *
 * The i-th on a file is the i-th of every rank, so they are a queue, of which the first one runs.  Files know
 * nothing of each other: theirs go on whenever anything of this process waits.
 *
 * With sago_nonblocking=apart no rank needs another one: the ranks come together for a call (move/convene.h), or
 * each serves its part of it alone. */
#ifndef SAGOI_NONBLOCKING_H
#define SAGOI_NONBLOCKING_H

#include "engine/compose.h"

struct sago_request {
    sagoi_live live;    /* tells one that may be waited for from another */
    sago_request *next; /* of the same file */
    sago_file *file;    /* until it is done */
    const char *call;   /* the public function's name */
    sagoi_route route;
    int64_t number;     /* of the call on its file, from 1 */
    bool at_once;       /* it runs on its caller's stack: it must not wait for others to come */
    double tested;      /* when sago_test() last looked, seconds */
    bool dropped;       /* nobody will ask how it went */
    _Atomic bool done;  /* then only what follows counts */
    sago_status status; /* before that: what was wrong with the arguments */
    int64_t bytes;      /* moved */
    char message[SAGOI_MESSAGE_MAX];
    sagoi_composed composed;
    bool is_piece; /* it is one piece that this rank moves alone, instead of what is composed */
    sagoi_lone_run piece;
};

/* Local.  A request to be composed and started, or destroyed.  Where there is no memory for it the call still
 * counts, for it is one of the other ranks'. */
sago_status sagoi_nonblocking_create(sago_file *file, const char *call, sagoi_direction direction,
                                     sago_request **request) SAGOI_CHECKED;
/* The same of the caller's memory, which is not to be destroyed, but kept until it is done. */
void sagoi_nonblocking_init(sago_request *request, sago_file *file, const char *call, sagoi_direction direction);
/* Local, never waits: puts it at the end of the file's queue.  `wrong` is what is wrong with its arguments, with
 * the thread's message: all ranks will get it. */
void sagoi_nonblocking_run(sago_request *request, sago_status wrong);
/* The same, where nothing is in the queue and serving it waits for nobody: it is done on return. */
void sagoi_nonblocking_run_at_once(sago_request *request, sago_status wrong);
/* Once it is done. */
void sagoi_nonblocking_destroy(sago_request **request);

/* Waits until the file has none that is not done.  Collective calls begin with it. */
void sagoi_nonblocking_finish(sago_file *file);

/* None is left of a file that is about to go: another thread may just be finishing the last one. */
void sagoi_nonblocking_end(void);

/* A call that uses the file while some are not done: another thread must not run them meanwhile. */
void sagoi_nonblocking_hold(sago_file *file, bool *held);
void sagoi_nonblocking_release(bool held);

#endif
