/* Nonblocking calls: started here, run by the engine on the file's fiber, one after another.
 *
 * The i-th on a file is the i-th of every rank, so they are a queue, of which the first one runs.  Files know
 * nothing of each other: theirs go on whenever anything of this process waits. */
#ifndef SAGOI_STARTED_H
#define SAGOI_STARTED_H

#include "engine/compose.h"

struct sago_request {
    sagoi_live live;                        /* tells one that may be waited for from another */
    sago_request *next;                     /* of the same file */
    sago_file *file;                        /* until it is done */
    const char *call;                       /* the public function's name */
    sago_status (*before)(sago_file *file); /* collective; run first, on the fiber; may be NULL */
    bool dropped;                           /* nobody will ask how it went */
    _Atomic bool done;                      /* then only what follows counts */
    sago_status status;                     /* before that: what was wrong with the arguments */
    int64_t bytes;                          /* moved */
    char message[SAGOI_MESSAGE_MAX];
    sagoi_composed composed;
};

/* Local.  A request to be composed and started, or destroyed. */
sago_status sagoi_started_create(sago_file *file, const char *call, sagoi_direction direction,
                                 sago_request **request) SAGOI_CHECKED;
/* Local, never waits: puts it at the end of the file's queue.  `status` is what is wrong with its arguments, with
 * the thread's message: all ranks will get it. */
void sagoi_started_run(sago_request *request, sago_status status);
/* Once it is done. */
void sagoi_started_destroy(sago_request **request);

/* Waits until the file has none that is not done.  Collective calls begin with it. */
void sagoi_started_settle(sago_file *file);

/* A call that uses the file while some are not done: another thread must not run them meanwhile. */
void sagoi_started_hold(sago_file *file, bool *held);
void sagoi_started_release(bool held);

#endif
