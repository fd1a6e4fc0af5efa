/* System calls with a limit.  A file system whose server does not answer blocks a call for ever, and nothing ends
 * it: neither a signal nor a cancelled thread.  So what may hang is done by a thread that can be left behind.
 *
 * A directory that is watched has such threads; whoever wants something of a path in it takes one, hands it an
 * errand and waits, no longer than the directory's patience.  An errand owns all memory that it uses (or it was
 * lent memory that stays where it is), so that it can be forgotten: then thread, errand and buffer stay behind,
 * and the directory counts as stuck.  While it is, nobody may ask anything of it; it may be used again when all
 * its forgotten calls have come back.  Nothing here calls MPI. */
#ifndef SAGOI_WATCH_H
#define SAGOI_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

enum {
    SAGOI_WATCH_PATH = 1024,  /* bytes of a directory's name, the closing NUL included */
    SAGOI_ERRAND_ROOM = 4096, /* largest errand */
};

typedef struct sagoi_watch sagoi_watch;
typedef struct sagoi_runner sagoi_runner;

/* The first member of what a runner is to do. */
typedef struct sagoi_errand {
    sago_status (*run)(struct sagoi_errand *errand);
    void (*forgotten)(struct sagoi_errand *errand); /* instead of the caller, after run: gives back what was got */
    const char *what;                               /* "writing to"; a constant */
    const char *path;                               /* in the errand's own memory */
    const void *lent; /* memory of others that run looks at, and how much; NULL: none */
    int64_t lent_bytes;
} sagoi_errand;

/* Calls on `dir` and what is in it are to take no longer than `patience` seconds.  Of one directory there is one
 * watch, however often it is begun; the least patience counts. */
sago_status sagoi_watch_begin(const char *dir, int64_t patience, sagoi_watch **made) SAGOI_CHECKED;
/* No call may be under way but forgotten ones, which stay behind.  Fine with NULL. */
void sagoi_watch_end(sagoi_watch **watch);

/* A thread for a path, to be given back; NULL: nobody watches it, and the caller does it himself.
 * SAGO_ERR_TIMEOUT: the directory is stuck. */
sago_status sagoi_runner_take(const char *path, sagoi_runner **runner) SAGOI_CHECKED;
void sagoi_runner_give(sagoi_runner *runner);
/* Where the errand is to be put: SAGOI_ERRAND_ROOM bytes. */
void *sagoi_runner_room(sagoi_runner *runner);
/* Memory of the runner's own for the errand's data; NULL: there is none. */
char *sagoi_runner_buffer(sagoi_runner *runner, int64_t bytes);
/* What run returned, with its message.  *gone: it has not come back (SAGO_ERR_TIMEOUT), and the runner with its
 * room and buffer is the caller's no longer. */
sago_status sagoi_runner_go(sagoi_runner *runner, bool *gone) SAGOI_CHECKED;

/* Closes a descriptor of a directory that is stuck when it no longer is; where too many wait for that, it stays
 * open.  false: the directory is not stuck, and nothing was done. */
bool sagoi_watch_close_later(const char *path, int fd);

/* Does a forgotten call look at any of this memory? */
bool sagoi_memory_is_lent(const void *memory, int64_t bytes);

typedef struct sagoi_watch_counts {
    int64_t calls, bytes; /* forgotten, and not yet come back; memory that they hold */
    double cpu;           /* seconds of the threads */
} sagoi_watch_counts;
sagoi_watch_counts sagoi_watch_count(const sagoi_watch *watch); /* of NULL: nothing */

#endif
