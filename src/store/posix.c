/* Moving a piece by pread and pwrite, and the table by which tests put faults in their place.  The table is
 * the only global of the store. */
#include <errno.h>
#include <unistd.h>

#include "store/transfer.h"

_Static_assert(sizeof(off_t) == 8, "offsets are 64 bits: compile with _FILE_OFFSET_BITS=64");

/* Each entry for itself atomic, as an I/O thread may be at work while a test changes them. */
static struct {
    _Atomic(ssize_t (*)(int, const void *, size_t, off_t)) pwrite;
    _Atomic(ssize_t (*)(int, void *, size_t, off_t)) pread;
    _Atomic(int (*)(int)) fsync;
    atomic_bool injected;
} in_force = {pwrite, pread, fsync, false};

void sagoi_store_set_calls(const sagoi_store_calls *calls) {
    atomic_store(&in_force.pwrite, calls && calls->pwrite ? calls->pwrite : pwrite);
    atomic_store(&in_force.pread, calls && calls->pread ? calls->pread : pread);
    atomic_store(&in_force.fsync, calls && calls->fsync ? calls->fsync : fsync);
    atomic_store(&in_force.injected, calls != NULL);
}

bool sagoi_calls_injected(void) { return atomic_load_explicit(&in_force.injected, memory_order_relaxed); }

int sagoi_calls_fsync(int fd) { return atomic_load(&in_force.fsync)(fd); }

/* The first vector alone: the table has no calls for several, so that tests see every run. */
static ssize_t move_one(int fd, const sagoi_piece *piece, bool write) {
    void *base = piece->iov->iov_base;
    size_t len = piece->iov->iov_len;
    return write ? atomic_load(&in_force.pwrite)(fd, base, len, piece->off)
                 : atomic_load(&in_force.pread)(fd, base, len, piece->off);
}

static ssize_t move_some(int fd, const sagoi_piece *piece, bool write) {
    if (piece->iov_count == 1 || sagoi_calls_injected())
        return move_one(fd, piece, write);
    return write ? pwritev(fd, piece->iov, piece->iov_count, piece->off)
                 : preadv(fd, piece->iov, piece->iov_count, piece->off);
}

SAGOI_OFTEN void sagoi_posix_run(sagoi_transfer *transfer, sagoi_piece *piece) {
    while (!piece->finished) {
        ssize_t moved = move_some(sagoi_piece_fd(transfer, piece), piece, transfer->write);
        int64_t result = moved < 0 ? -errno : moved;
        sagoi_count_call(transfer->store);
        sagoi_piece_step(transfer, piece, result);
    }
}
