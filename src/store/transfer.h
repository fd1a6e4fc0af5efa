/* Inside src/store/ only: what an open file is made of, and how runs become system calls.
 *
 *   run       what the caller asked for: file range and memory
 *   piece     one system call's worth: a range of the file, the memory it goes to or comes from, a descriptor;
 *             runs that are neighbours in the file share one
 *   transfer  one sagoi_store_write() or sagoi_store_read()
 *
 * transfer.c cuts runs into pieces, keeps their state, and moves them; uring.c moves many at a time. */
#ifndef SAGOI_TRANSFER_H
#define SAGOI_TRANSFER_H

#include <stdatomic.h>
#include <sys/uio.h>

#include "store/store.h"

typedef struct sagoi_uring sagoi_uring;
typedef struct sagoi_subfile_store sagoi_subfile_store;

/* The second descriptor, opened with O_DIRECT.  What lies in whole units of the file, in memory that is a
 * multiple of memory_unit, goes there. */
typedef struct sagoi_direct {
    int fd;              /* -1: none */
    int64_t unit;        /* bytes, at least a page */
    int64_t memory_unit; /* bytes */
    atomic_bool refused; /* the kernel said EINVAL once: buffered from then on */
} sagoi_direct;

struct sagoi_store {
    sagoi_subfile_store *subfiles; /* NULL: one plain file.  With them fd is -1, and uring and direct are theirs */
    sagoi_store_service service;   /* write != NULL: somebody else has the file open, and fd is -1 */
    int fd;
    int access;         /* O_RDONLY, O_WRONLY or O_RDWR */
    sagoi_uring *uring; /* NULL: none */
    atomic_llong system_calls, bytes_written, bytes_read, runs;
    sagoi_direct direct;
    sagoi_layout layout;
    char *name;            /* the path as messages show it: a very long one only by its end */
    atomic_int sync_error; /* errno of the first fsync that failed; 0: none has */
};

/* Invariant: len is the sum of the lengths of iov[0..iov_count). */
typedef struct sagoi_io_piece {
    struct iovec *iov; /* what is left of it */
    int iov_count;
    int64_t off, len;
    bool direct;   /* by the O_DIRECT descriptor */
    bool finished; /* moved, or at the end of the file, or failed */
} sagoi_io_piece;

typedef struct sagoi_transfer {
    sagoi_store *store;
    bool write;
    int64_t direct_end; /* O_DIRECT only below this offset */
    int64_t bytes;      /* moved so far */
    sago_status status; /* of the first failure; nothing new is begun after it */
} sagoi_transfer;

/* Moves all runs; the result is in the transfer. */
void sagoi_transfer_runs(sagoi_transfer *transfer, const sagoi_io_run *runs, int64_t n);

/* Takes note of what a system call said of a piece: bytes moved, or -errno.  The piece is finished after it,
 * or to be tried again as it now is. */
void sagoi_io_piece_step(sagoi_transfer *transfer, sagoi_io_piece *piece, int64_t result);
int sagoi_io_piece_fd(const sagoi_transfer *transfer, const sagoi_io_piece *piece);

static inline void sagoi_count_call(sagoi_store *store) {
    (void)atomic_fetch_add_explicit(&store->system_calls, 1, memory_order_relaxed);
}

/* uring.c: NULL when the kernel does not let us. */
sagoi_uring *sagoi_uring_create(void);
void sagoi_uring_destroy(sagoi_uring **uring);
bool sagoi_uring_usable(const sagoi_uring *uring);
/* Moves what it can, many pieces at a time; what it leaves unfinished is for POSIX calls.  Nothing of
 * this transfer is in flight when it returns. */
void sagoi_uring_run(sagoi_uring *uring, sagoi_transfer *transfer, sagoi_io_piece *pieces, int n);

/* subfile_store.c: files that are kept in several. */
bool sagoi_subfile_store_are_at(const char *path);
/* Makes them if the options want that and nothing is there; *made: it did. */
sago_status sagoi_subfile_store_make(const char *path, const sagoi_store_options *options, bool *made)
    SAGOI_CHECKED;
sago_status sagoi_subfile_store_open(sagoi_store *store, const char *path, const sagoi_store_options *options)
    SAGOI_CHECKED;
sago_status sagoi_subfile_store_close(sagoi_subfile_store **subfiles); /* fine where there are none */
void sagoi_subfile_store_count(sagoi_subfile_store *subfiles, sagoi_store_counts *counts);
/* As far as every `every`-th subfile from `first` on tells. */
sago_status sagoi_subfile_store_size(sagoi_store *store, int64_t first, int64_t every, int64_t *size)
    SAGOI_CHECKED;
/* Each subfile gets its share of a new size. */
sago_status sagoi_subfile_store_change(sagoi_store *store, int64_t size,
                                       sago_status (*change)(sagoi_store *, int64_t)) SAGOI_CHECKED;
sago_status sagoi_subfile_store_sync(sagoi_subfile_store *subfiles) SAGOI_CHECKED;
sago_status sagoi_subfile_store_move(sagoi_store *store, bool write, const sagoi_io_run *runs, int64_t n,
                                     int64_t *bytes) SAGOI_CHECKED;

/* direct_io.c: fd is -1 afterwards if this file cannot be had so. */
void sagoi_direct_open(sagoi_direct *direct, const sagoi_store *store);
/* The part of the run, up to file offset `end`, that may go by O_DIRECT; len 0 if there is none. */
sagoi_io_run sagoi_direct_part(const sagoi_direct *direct, const sagoi_io_run *run, int64_t end);

#endif
