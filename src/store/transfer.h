/* Inside src/store/ only: what an open file is made of, and how runs become system calls.
 *
 *   run       what the caller asked for: a range of the file, and memory
 *   piece     what one system call moves: a range of the file, the memory for it, a descriptor; runs that are
 *             neighbours in the file share a piece
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

/* The second descriptor, opened with O_DIRECT.  Whole units of the file go through it, if their memory is a
 * multiple of memory_unit. */
typedef struct sagoi_direct {
    int fd;              /* -1: none */
    int64_t unit;        /* bytes, at least a page */
    int64_t memory_unit; /* bytes */
    atomic_bool refused; /* the kernel has answered EINVAL once, so everything is buffered from then on */
} sagoi_direct;

struct sagoi_store {
    /* NULL: one plain file.  With subfiles fd is -1, and uring and direct belong to their stores. */
    sagoi_subfile_store *subfiles;
    sagoi_store_service service; /* write != NULL: another library has the file open, and fd is -1 */
    int fd;
    int access;         /* O_RDONLY, O_WRONLY or O_RDWR */
    sagoi_uring *uring; /* NULL: none */
    atomic_llong system_calls, bytes_written, bytes_read, runs;
    sagoi_direct direct;
    sagoi_layout layout;
    char *name;            /* the path as messages show it: of a very long one only the end */
    atomic_int sync_error; /* errno of the first fsync() that failed; 0: none has */
};

/* Invariant: len is the sum of the lengths of iov[0..iov_count). */
typedef struct sagoi_io_piece {
    struct iovec *iov; /* the part of the piece that is not moved yet */
    int iov_count;
    int64_t off, len;
    bool direct;   /* goes through the O_DIRECT descriptor */
    bool finished; /* moved completely, or up to the end of the file, or failed */
} sagoi_io_piece;

typedef struct sagoi_transfer {
    sagoi_store *store;
    bool write;
    int64_t direct_end; /* O_DIRECT only below this offset */
    int64_t bytes;      /* moved so far */
    sago_status status; /* status of the first failure, after which no further piece is begun */
} sagoi_transfer;

/* Moves all runs; the result is in the transfer. */
void sagoi_transfer_runs(sagoi_transfer *transfer, const sagoi_io_run *runs, int64_t n);

/* Takes note of what a system call returned for a piece: bytes moved, or -errno.  Afterwards the piece is
 * finished, or has to be tried again as it is then. */
void sagoi_io_piece_step(sagoi_transfer *transfer, sagoi_io_piece *piece, int64_t result);
int sagoi_io_piece_fd(const sagoi_transfer *transfer, const sagoi_io_piece *piece);

static inline void sagoi_count_call(sagoi_store *store) {
    (void)atomic_fetch_add_explicit(&store->system_calls, 1, memory_order_relaxed);
}

/* In uring.c; NULL: the kernel does not allow a ring. */
sagoi_uring *sagoi_uring_create(void);
void sagoi_uring_destroy(sagoi_uring **uring);
bool sagoi_uring_usable(const sagoi_uring *uring);
/* Moves what it can, many pieces at a time.  Unfinished pieces are left to POSIX calls; none is in flight when the
 * function returns. */
void sagoi_uring_run(sagoi_uring *uring, sagoi_transfer *transfer, sagoi_io_piece *pieces, int n);

/* In subfile_store.c: files that are kept in several. */
bool sagoi_subfile_store_are_at(const char *path);
/* Makes the subfiles if the options want that and nothing is there; *made: it did. */
sago_status sagoi_subfile_store_make(const char *path, const sagoi_store_options *options, bool *made)
    SAGOI_CHECKED;
sago_status sagoi_subfile_store_open(sagoi_store *store, const char *path, const sagoi_store_options *options)
    SAGOI_CHECKED;
sago_status sagoi_subfile_store_close(sagoi_subfile_store **subfiles); /* fine with NULL */
void sagoi_subfile_store_count(sagoi_subfile_store *subfiles, sagoi_store_counts *counts);
/* The size as far as every `every`-th subfile from `first` on tells. */
sago_status sagoi_subfile_store_size(sagoi_store *store, int64_t first, int64_t every, int64_t *size)
    SAGOI_CHECKED;
/* Gives each subfile its share of a new size. */
sago_status sagoi_subfile_store_change(sagoi_store *store, int64_t size,
                                       sago_status (*change)(sagoi_store *, int64_t)) SAGOI_CHECKED;
sago_status sagoi_subfile_store_sync(sagoi_subfile_store *subfiles) SAGOI_CHECKED;
sago_status sagoi_subfile_store_move(sagoi_store *store, bool write, const sagoi_io_run *runs, int64_t n,
                                     int64_t *bytes) SAGOI_CHECKED;

/* In direct_io.c; fd is -1 afterwards if this file cannot be opened with O_DIRECT. */
void sagoi_direct_open(sagoi_direct *direct, const sagoi_store *store);
/* The part of the run, up to the file offset `end`, that may go by O_DIRECT; len 0: there is none. */
sagoi_io_run sagoi_direct_part(const sagoi_direct *direct, const sagoi_io_run *run, int64_t end);

#endif
