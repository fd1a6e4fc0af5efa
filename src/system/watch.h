/* System calls with a time limit.  A file system whose server does not answer blocks a call for ever, and
 * neither a signal nor cancelling the thread ends it.  So a call that may hang is made by a thread that can be
 * left behind.
 *
 * A watched directory has such threads, called runners.  A caller takes a runner for a path in the directory,
 * gives it an errand, and waits no longer than the directory's patience.  An errand owns all memory that it
 * uses (apart from lent memory, which stays where it is), so it can be forgotten: then thread, errand and
 * buffer stay behind, and the directory counts as stuck.  Nobody may ask anything of a stuck directory until
 * all its forgotten calls have come back.  Nothing here calls MPI. */
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
    /* Called after `run` instead of returning to the caller: gives back what the call has got. */
    void (*forgotten)(struct sagoi_errand *errand);
    const char *what; /* such as "writing to"; a constant */
    const char *path; /* lies in the errand's own memory */
    const void *lent; /* memory of others that `run` uses, and its size; NULL: none */
    int64_t lent_bytes;
} sagoi_errand;

/* From now on calls on `dir` and on what is in it take no longer than `patience` seconds.  A directory has one
 * watch, however often it is begun; the least patience counts. */
sago_status sagoi_watch_begin(const char *dir, int64_t patience, sagoi_watch **made) SAGOI_CHECKED;
/* No call may be under way except forgotten ones, which stay behind.  Fine with NULL. */
void sagoi_watch_end(sagoi_watch **watch);

/* Takes a runner for a path, which the caller gives back; NULL: nobody watches the path, and the caller makes the
 * call itself.  SAGO_ERR_TIMEOUT: the directory is stuck. */
sago_status sagoi_runner_take(const char *path, sagoi_runner **runner) SAGOI_CHECKED;
void sagoi_runner_give(sagoi_runner *runner);
/* Where the errand is to be put: SAGOI_ERRAND_ROOM bytes. */
void *sagoi_runner_room(sagoi_runner *runner);
/* Memory of the runner's for the errand's data; NULL: there is none. */
char *sagoi_runner_buffer(sagoi_runner *runner, int64_t bytes);
/* Runs the errand, and returns what `run` returned, with its message.  *gone: the call has not come back
 * (SAGO_ERR_TIMEOUT), and the caller no longer has the runner, its room and its buffer. */
sago_status sagoi_runner_go(sagoi_runner *runner, bool *gone) SAGOI_CHECKED;

/* Closes a descriptor in a stuck directory when the directory answers again; where too many wait for that, the
 * descriptor stays open.  false: the directory is not stuck, and nothing was done. */
bool sagoi_watch_close_later(const char *path, int fd);

/* Does a forgotten call use any of this memory? */
bool sagoi_memory_is_lent(const void *memory, int64_t bytes);

typedef struct sagoi_watch_counts {
    int64_t calls, bytes; /* calls that were forgotten and have not come back; memory that they hold */
    double cpu;           /* seconds that the threads have computed */
} sagoi_watch_counts;
sagoi_watch_counts sagoi_watch_count(const sagoi_watch *watch); /* all 0 for NULL */

#endif
