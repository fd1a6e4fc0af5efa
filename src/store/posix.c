/* Moving a piece by pread and pwrite. */
#include <errno.h>
#include <unistd.h>

#include "base/faults.h"
#include "store/transfer.h"

_Static_assert(sizeof(off_t) == 8, "offsets are 64 bits: compile with _FILE_OFFSET_BITS=64");

/* The first vector alone, for a program that wants to see every run. */
static ssize_t move_one(int fd, const sagoi_io_piece *piece, bool write) {
    void *base = piece->iov->iov_base;
    size_t len = piece->iov->iov_len;
    return write ? sagoi_fault_pwrite(fd, base, len, piece->off) : sagoi_fault_pread(fd, base, len, piece->off);
}

static ssize_t move_some(int fd, const sagoi_io_piece *piece, bool write) {
    if (piece->iov_count == 1 || sagoi_faults_in_store())
        return move_one(fd, piece, write);
    return write ? pwritev(fd, piece->iov, piece->iov_count, piece->off)
                 : preadv(fd, piece->iov, piece->iov_count, piece->off);
}

void sagoi_posix_run(sagoi_transfer *transfer, sagoi_io_piece *piece) {
    while (!piece->finished) {
        ssize_t moved = move_some(sagoi_io_piece_fd(transfer, piece), piece, transfer->write);
        int64_t result = moved < 0 ? -errno : moved;
        sagoi_count_call(transfer->store);
        if (result == piece->len) { /* as nearly always */
            transfer->bytes += result;
            piece->finished = true;
            return;
        }
        sagoi_io_piece_step(transfer, piece, result);
    }
}
