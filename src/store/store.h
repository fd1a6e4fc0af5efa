/* One open file as the engine sees it: reads and writes of runs, by POSIX calls or io_uring, buffered or
 * O_DIRECT.  Never calls MPI; every function may run in the I/O thread.  Short transfers and EINTR are
 * handled here and nowhere else. */
#ifndef SAGOI_STORE_H
#define SAGOI_STORE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/status.h"
#include "base/subfiles.h"
#include "store/layout.h"

typedef struct sagoi_store sagoi_store;

typedef struct sagoi_store_options {
    int flags;               /* of open(2): O_RDWR, O_CREAT, O_EXCL, ...; O_CLOEXEC is added */
    mode_t mode;             /* of a new file, before the umask */
    bool uring;              /* use io_uring for many runs, if the kernel lets us */
    bool direct_io;          /* O_DIRECT for aligned parts; not possible: buffered */
    sagoi_stripes stripes;   /* wished for, if the file is made; 0: as the file system likes */
    sagoi_subfiles subfiles; /* the same; a file that is there is as it was made */
    bool ruled_later;        /* ... but their block is a default: the rule is made by the first write */
} sagoi_store_options;

/* What was done, for the statistics; counts only ever grow. */
typedef struct sagoi_store_counts {
    int64_t system_calls, bytes_written, bytes_read, runs;
} sagoi_store_counts;

/* A run between memory and file. */
typedef struct sagoi_io_run {
    int64_t off, len;
    char *buf;
} sagoi_io_run;

/* Fails with the status of the errno; a directory is SAGO_ERR_BAD_FILE; so is what cannot be positioned in
 * (a FIFO, a socket), without hanging on it. */
sago_status sagoi_store_open(const char *path, const sagoi_store_options *options, sagoi_store **store)
    SAGOI_CHECKED;
/* A file that somebody else has open and writes to: `write` puts one run there and `sync` makes what this process
 * has written durable, in any thread.  Nothing else can be done with such a store than writing, syncing and
 * closing it. */
typedef struct sagoi_store_service {
    sago_status (*write)(void *arg, const sagoi_io_run *run);
    sago_status (*sync)(void *arg);
    void *arg;
} sagoi_store_service;
sago_status sagoi_store_serve(const char *name, const sagoi_store_service *service, sagoi_store **store)
    SAGOI_CHECKED;

sago_status sagoi_store_close(sagoi_store **store); /* reports what close(2) reports; always frees */

/* With its subfiles, if it has some; SAGO_ERR_BAD_FILE for a directory that is none of ours. */
sago_status sagoi_store_remove(const char *path) SAGOI_CHECKED;

int sagoi_store_fd(const sagoi_store *store); /* for mapping; -1: kept in subfiles, or somebody else's */
/* NULL: one plain file, or the rule is not made yet, or not known here. */
const sagoi_subfiles *sagoi_store_subfiles(const sagoi_store *store);
int64_t sagoi_store_subfile_count(const sagoi_store *store); /* with or without a rule; 0: one plain file */
/* Makes the rule of a file that has none: this block, 0: the default.  If there is one by now, it is taken.  Every
 * write does so with the default. */
sago_status sagoi_store_make_rule(sagoi_store *store, int64_t block) SAGOI_CHECKED;
/* The rule that another rank has made, or found. */
sago_status sagoi_store_take_rule(sagoi_store *store, int64_t block) SAGOI_CHECKED;
const sagoi_layout *sagoi_store_layout(const sagoi_store *store);
/* Another rank's answer to what the file system says of stripes and blocks takes the place of this one's. */
void sagoi_store_set_stripes(sagoi_store *store, int64_t block, int64_t lock_unit, sagoi_stripes stripes,
                             int64_t first);
/* Several nodes see the file: whatever kind its file system is of, it is none of this kernel's own. */
void sagoi_store_set_shared(sagoi_store *store);
bool sagoi_store_uses_uring(const sagoi_store *store);
sagoi_store_counts sagoi_store_counters(const sagoi_store *store);

sago_status sagoi_store_size(sagoi_store *store, int64_t *size) SAGOI_CHECKED;
/* One of `lookers` looks, the others at other subfiles; a plain file is looked at by the first alone, and is of no
 * size to the others. */
typedef struct sagoi_look {
    int64_t size;
    bool sparse; /* fewer blocks than its size asks for */
} sagoi_look;
sago_status sagoi_store_look(sagoi_store *store, int64_t looker, int64_t lookers, sagoi_look *look) SAGOI_CHECKED;
sago_status sagoi_store_resize(sagoi_store *store, int64_t size) SAGOI_CHECKED; /* ftruncate */
sago_status sagoi_store_allocate(sagoi_store *store, int64_t size)
    SAGOI_CHECKED; /* real space for [0, size), grows the file if shorter */
sago_status sagoi_store_sync(sagoi_store *store) SAGOI_CHECKED; /* fsync; a failure is never retried.  Of
                                                                    subfiles: what this process wrote */

/* Writes the runs (ascending, not overlapping), every byte of them and no other. */
sago_status sagoi_store_write(sagoi_store *store, const sagoi_io_run *runs, int64_t n) SAGOI_CHECKED;

/* Reads the runs; what lies past the end of the file is left as it was.  *bytes (may be NULL): what was there. */
sago_status sagoi_store_read(sagoi_store *store, const sagoi_io_run *runs, int64_t n, int64_t *bytes)
    SAGOI_CHECKED;

/* Which holes are read and written back, so that one large write takes the place of many small ones.  What others
 * write into them meanwhile is lost: only for who knows that nobody does. */
typedef struct sagoi_sieve {
    int64_t gap;  /* holes of at most so many bytes; 0: none */
    int64_t runs; /* where at least so many runs become one */
} sagoi_sieve;

/* Writes those bytes of buf[0..len), which stands for the file from `off`, whose bit in `marks` is set (bit
 * i%64 of word i/64), as the fewest runs; marks == NULL: all of them.  Between them buf is written to where holes
 * are sieved. */
sago_status sagoi_store_write_marked(sagoi_store *store, char *buf, int64_t off, int64_t len,
                                     const uint64_t *marks, sagoi_sieve sieve) SAGOI_CHECKED;

#endif
