/* An open file as the engine sees it: reads and writes of runs, by POSIX calls or io_uring, buffered or with
 * O_DIRECT.  Never calls MPI; every function may run in the I/O thread.  Short transfers and EINTR are handled in
 * src/store/ only. */
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
    int flags;               /* flags of open(2): O_RDWR, O_CREAT, O_EXCL, ...; O_CLOEXEC is added */
    mode_t mode;             /* mode of a new file, before the umask */
    bool uring;              /* use io_uring for many runs, if the kernel allows it */
    bool direct_io;          /* use O_DIRECT for aligned parts, where the file system allows it */
    sagoi_stripes stripes;   /* stripes of a new file; 0: as the file system likes */
    sagoi_subfiles subfiles; /* subfiles of a new file; an existing file stays as it was made */
    bool ruled_later;        /* the block of `subfiles` is a default: the first write makes the rule */
} sagoi_store_options;

/* Counts for the statistics. */
typedef struct sagoi_store_counts {
    int64_t system_calls, bytes_written, bytes_read, runs;
} sagoi_store_counts;

/* A run between memory and file. */
typedef struct sagoi_io_run {
    int64_t off, len;
    char *buf;
} sagoi_io_run;

/* Opens a file.  A failure has the status that follows from the errno.  SAGO_ERR_BAD_FILE: the path is a
 * directory, or has no offsets (a FIFO, a socket); this function does not hang on such a path. */
sago_status sagoi_store_open(const char *path, const sagoi_store_options *options, sagoi_store **store)
    SAGOI_CHECKED;
/* A file that the caller has open and writes to.  `write` writes one run, and `sync` makes durable what this
 * process has written; both may be called in any thread.  Such a store can only be written to, synced and
 * closed. */
typedef struct sagoi_store_service {
    sago_status (*write)(void *arg, const sagoi_io_run *run);
    sago_status (*sync)(void *arg);
    void *arg;
} sagoi_store_service;
sago_status sagoi_store_serve(const char *name, const sagoi_store_service *service, sagoi_store **store)
    SAGOI_CHECKED;

sago_status sagoi_store_close(sagoi_store **store); /* reports what close(2) reports; always frees */

/* Removes a file, with its subfiles if there are some.  SAGO_ERR_BAD_FILE: a directory that Sago has not made. */
sago_status sagoi_store_remove(const char *path) SAGOI_CHECKED;

/* The descriptor, for mapping the file; -1: the file has subfiles, or is a sagoi_store_service. */
int sagoi_store_fd(const sagoi_store *store);
/* The rule of the subfiles.  NULL: one plain file, or the rule is not made yet, or this rank does not know it. */
const sagoi_subfiles *sagoi_store_subfiles(const sagoi_store *store);
int64_t sagoi_store_subfile_count(const sagoi_store *store); /* with or without a rule; 0: one plain file */
/* Makes the rule of a file that has none, with this block; 0: with the default block.  If another rank has made a
 * rule meanwhile, that rule is taken.  Every write to a file without a rule makes one with the default block. */
sago_status sagoi_store_make_rule(sagoi_store *store, int64_t block) SAGOI_CHECKED;
/* Takes the rule that another rank has made or found. */
sago_status sagoi_store_take_rule(sagoi_store *store, int64_t block) SAGOI_CHECKED;
const sagoi_layout *sagoi_store_layout(const sagoi_store *store);
/* Replaces what the file system told this rank of stripes and blocks by what it told another rank. */
void sagoi_store_set_stripes(sagoi_store *store, int64_t block, int64_t lock_unit, sagoi_stripes stripes,
                             int64_t first);
/* Says that several nodes see the file, so that the file system does not belong to this kernel alone, whatever its
 * kind. */
void sagoi_store_set_shared(sagoi_store *store);
sagoi_store_counts sagoi_store_counters(const sagoi_store *store);

sago_status sagoi_store_size(sagoi_store *store, int64_t *size) SAGOI_CHECKED;
/* What a look at a file tells.  `lookers` processes share the subfiles among them; a plain file is looked at by
 * the first process alone, and has the size 0 for the others. */
typedef struct sagoi_look {
    int64_t size;
    bool sparse; /* the file has fewer blocks than its size needs */
} sagoi_look;
sago_status sagoi_store_look(sagoi_store *store, int64_t looker, int64_t lookers, sagoi_look *look) SAGOI_CHECKED;
sago_status sagoi_store_resize(sagoi_store *store, int64_t size) SAGOI_CHECKED; /* ftruncate */
sago_status sagoi_store_allocate(sagoi_store *store, int64_t size)
    SAGOI_CHECKED; /* allocates real space for [0, size), and makes a shorter file that long */
/* Fsync(); a failure is never retried.  Of subfiles: those that this process wrote. */
sago_status sagoi_store_sync(sagoi_store *store) SAGOI_CHECKED;

/* Writes the runs, which must ascend and not overlap: every byte of them, and no other. */
sago_status sagoi_store_write(sagoi_store *store, const sagoi_io_run *runs, int64_t n) SAGOI_CHECKED;

/* Reads the runs; memory for bytes past the end of the file stays as it was.  *bytes (may be NULL): how many there
 * were. */
sago_status sagoi_store_read(sagoi_store *store, const sagoi_io_run *runs, int64_t n, int64_t *bytes)
    SAGOI_CHECKED;

/* Which holes are read and written back, so that one large write takes the place of many small ones.  A write by
 * anybody else into such a hole meanwhile is lost, so the caller must know that there is none. */
typedef struct sagoi_sieve {
    int64_t gap;  /* holes of at most so many bytes; 0: none */
    int64_t runs; /* only where at least so many runs become one */
} sagoi_sieve;

/* Writes the marked bytes of buf[0..len), which stands for the file from `off` on, as the fewest runs.  A byte is
 * marked if its bit in `marks` is set (bit i%64 of word i/64); marks == NULL: every byte is.  Where holes are
 * sieved, their bytes in buf are overwritten. */
sago_status sagoi_store_write_marked(sagoi_store *store, char *buf, int64_t off, int64_t len,
                                     const uint64_t *marks, sagoi_sieve sieve) SAGOI_CHECKED;

#endif
