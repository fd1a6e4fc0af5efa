/* From runs to pieces: joins neighbouring runs, separates parts that O_DIRECT can take, hands batches to io_uring
 * or to POSIX calls, and keeps the state of a piece when a call moves less than asked or fails. */
#include "store/transfer.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "system/faults.h"
#include "system/syscalls.h"

enum {
    /* A piece cannot have more vectors than a batch, so never more than the kernel takes. */
    BATCH_PIECES = 256,
    BATCH_VECTORS = 1024,
    /* As many as fit the stack of any thread: enough for few runs, and what there is without memory. */
    FEW = 24,
    PARTS = 3 /* a run becomes so many pieces at most */
};
_Static_assert((int)BATCH_VECTORS <= IOV_MAX, "a piece must fit one system call");

typedef struct batch {
    int pieces, vectors; /* used */
    int most_pieces, most_vectors;
    sagoi_io_piece *piece;
    struct iovec *vector;
} batch;

/* What is pointed to is not cleared, since only the parts in use are read. */
typedef struct few_pieces {
    sagoi_io_piece piece[FEW];
    struct iovec vector[FEW];
} few_pieces;

typedef struct many_pieces {
    sagoi_io_piece piece[BATCH_PIECES];
    struct iovec vector[BATCH_VECTORS];
} many_pieces;

int sagoi_io_piece_fd(const sagoi_transfer *transfer, const sagoi_io_piece *piece) {
    return piece->direct ? transfer->store->direct.fd : transfer->store->fd;
}

static void piece_advance(sagoi_io_piece *piece, int64_t bytes) {
    piece->off += bytes;
    piece->len -= bytes;
    while (piece->iov_count > 0 && bytes >= (int64_t)piece->iov->iov_len) {
        bytes -= (int64_t)piece->iov->iov_len;
        piece->iov++;
        piece->iov_count--;
    }
    if (piece->iov_count > 0 && bytes > 0) {
        piece->iov->iov_base = (char *)piece->iov->iov_base + bytes;
        piece->iov->iov_len -= (size_t)bytes;
    }
}

/* Reports the failure that is noticed first, where several pieces are in flight. */
static void piece_fail(sagoi_transfer *transfer, sagoi_io_piece *piece, int error) {
    piece->finished = true;
    if (transfer->status != SAGO_OK)
        return;
    transfer->status =
        sagoi_fail_errno(error, "%s of %lld bytes at offset %lld of %s", transfer->write ? "write" : "read",
                         (long long)piece->len, (long long)piece->off, transfer->store->name);
}

void sagoi_io_piece_step(sagoi_transfer *transfer, sagoi_io_piece *piece, int64_t result) {
    if (result == -EINTR)
        return;
    if (result == -EINVAL && piece->direct) {
        atomic_store(&transfer->store->direct.refused, true);
        piece->direct = false;
        return;
    }
    if (result < 0) {
        piece_fail(transfer, piece, (int)-result);
        return;
    }
    if (result == 0 && transfer->write) {
        /* No file system should do this; trying again might never end. */
        piece_fail(transfer, piece, ENOSPC);
        return;
    }
    transfer->bytes += result;
    piece_advance(piece, result);
    /* A short transfer may end anywhere, for instance at the end of the file. */
    if (piece->direct && piece->off % transfer->store->direct.unit != 0)
        piece->direct = false;
    piece->finished = result == 0 || piece->len == 0;
}

/* Returns bytes, or -errno. */
static int64_t move_some(const sagoi_transfer *transfer, const sagoi_io_piece *piece) {
    int fd = sagoi_io_piece_fd(transfer, piece);
    const char *path = transfer->store->name;
    ssize_t moved = transfer->write ? sagoi_pwrite(fd, path, piece->iov, piece->iov_count, piece->off)
                                    : sagoi_pread(fd, path, piece->iov, piece->iov_count, piece->off);
    return moved < 0 ? -errno : moved;
}

/* Finishes the piece by POSIX calls. */
static void posix_run(sagoi_transfer *transfer, sagoi_io_piece *piece) {
    while (!piece->finished) {
        int64_t result = move_some(transfer, piece);
        sagoi_count_call(transfer->store);
        if (result == piece->len) { /* nearly always one call moves everything */
            transfer->bytes += result;
            piece->finished = true;
            return;
        }
        sagoi_io_piece_step(transfer, piece, result);
    }
}

static bool uring_pays(const sagoi_store *store, const batch *todo) {
    return todo->pieces > 1 && sagoi_uring_usable(store->uring) && !sagoi_faults_active();
}

static void batch_flush(sagoi_transfer *transfer, batch *todo) {
    if (transfer->status == SAGO_OK && uring_pays(transfer->store, todo))
        sagoi_uring_run(transfer->store->uring, transfer, todo->piece, todo->pieces);
    for (int i = 0; i < todo->pieces && transfer->status == SAGO_OK; i++)
        posix_run(transfer, &todo->piece[i]);
    todo->pieces = 0;
    todo->vectors = 0;
}

static bool piece_takes(const sagoi_io_piece *piece, const sagoi_io_run *run, bool direct) {
    return piece->direct == direct && piece->off + piece->len == run->off;
}

static void batch_add(sagoi_transfer *transfer, batch *todo, const sagoi_io_run *run, bool direct) {
    if (run->len == 0)
        return;
    bool joins = todo->pieces > 0 && piece_takes(&todo->piece[todo->pieces - 1], run, direct);
    if (todo->vectors == todo->most_vectors || (!joins && todo->pieces == todo->most_pieces)) {
        batch_flush(transfer, todo);
        joins = false;
    }
    struct iovec *vector = &todo->vector[todo->vectors++];
    *vector = (struct iovec){.iov_base = run->buf, .iov_len = (size_t)run->len};
    if (!joins)
        todo->piece[todo->pieces++] = (sagoi_io_piece){.iov = vector, .off = run->off, .direct = direct};
    sagoi_io_piece *piece = &todo->piece[todo->pieces - 1];
    piece->iov_count++;
    piece->len += run->len;
}

/* Adds a run in parts: head and tail are buffered, the middle is direct. */
static void batch_add_split(sagoi_transfer *transfer, batch *todo, const sagoi_io_run *run) {
    sagoi_io_run middle = sagoi_direct_part(&transfer->store->direct, run, transfer->direct_end);
    if (middle.len == 0) {
        batch_add(transfer, todo, run, false);
        return;
    }
    int64_t before = middle.off - run->off, upto = before + middle.len;
    sagoi_io_run head = {run->off, before, run->buf};
    sagoi_io_run tail = {run->off + upto, run->len - upto, run->buf + upto};
    batch_add(transfer, todo, &head, false);
    batch_add(transfer, todo, &middle, true);
    batch_add(transfer, todo, &tail, false);
}

static bool run_continues(const sagoi_io_run *run, const sagoi_io_run *next) {
    return run->off + run->len == next->off && run->buf + run->len == next->buf;
}

/* Where O_DIRECT reads have to end.  A direct read of the block in which the file ends would fill the caller's
 * memory past that end, since devices know no half blocks. */
static int64_t direct_end(const sagoi_transfer *transfer) {
    int64_t size = 0;
    if (transfer->write || transfer->store->direct.fd < 0)
        return INT64_MAX;
    return sagoi_store_size(transfer->store, &size) == SAGO_OK ? size : 0;
}

/* Moves a single run without a batch. */
static void transfer_one(sagoi_transfer *transfer, const sagoi_io_run *run) {
    struct iovec vector = {.iov_base = run->buf, .iov_len = (size_t)run->len};
    sagoi_io_piece piece = {.iov = &vector, .iov_count = 1, .off = run->off, .len = run->len};
    if (run->len > 0)
        posix_run(transfer, &piece);
}

static void transfer_many(sagoi_transfer *transfer, const sagoi_io_run *runs, int64_t n) {
    transfer->direct_end = direct_end(transfer);
    few_pieces few;
    many_pieces *many = n > FEW / PARTS ? malloc(sizeof *many) : NULL;
    batch todo = many ? (batch){0, 0, BATCH_PIECES, BATCH_VECTORS, many->piece, many->vector}
                      : (batch){0, 0, FEW, FEW, few.piece, few.vector};
    for (int64_t i = 0; i < n && transfer->status == SAGO_OK;) {
        sagoi_io_run run = runs[i++];
        for (; i < n && run_continues(&run, &runs[i]); i++)
            run.len += runs[i].len;
        batch_add_split(transfer, &todo, &run);
    }
    batch_flush(transfer, &todo);
    free(many);
}

/* Is there nothing to gain by treating these runs together? */
static bool are_apart(const sagoi_store *store, const sagoi_io_run *runs, int64_t n) {
    for (int64_t i = 1; i < n; i++)
        if (runs[i - 1].off + runs[i - 1].len == runs[i].off)
            return false;
    return store->direct.fd < 0 && (n == 1 || !store->uring);
}

void sagoi_transfer_runs(sagoi_transfer *transfer, const sagoi_io_run *runs, int64_t n) {
    if (!are_apart(transfer->store, runs, n)) {
        transfer_many(transfer, runs, n);
        return;
    }
    for (int64_t i = 0; i < n && transfer->status == SAGO_OK; i++)
        transfer_one(transfer, &runs[i]);
}
