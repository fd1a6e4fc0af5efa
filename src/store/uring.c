/* Moving many pieces at a time by io_uring.  A store has one ring, and one thread at a time uses it: a thread that
 * finds it taken makes POSIX calls instead of waiting.  Only READV and WRITEV are used, which every kernel with
 * io_uring has, so no feature has to be probed. */
#include <errno.h>
#include <liburing.h>
#include <pthread.h>
#include <stdlib.h>

#include "store/transfer.h"

/* Pieces that are in flight at once. */
enum { DEPTH = 64 };

struct sagoi_uring {
    struct io_uring ring;
    pthread_mutex_t lock;
    atomic_bool broken; /* the ring has failed, and is never used again */
};

/* One pass over the pieces of one descriptor.  in_flight counts entries that were put into the ring and have not
 * come back; the kernel has not yet taken io_uring_sq_ready() of them. */
typedef struct pass {
    struct io_uring *ring;
    sagoi_transfer *transfer;
    sagoi_io_piece *pieces;
    int n, next; /* next: the piece to begin next */
    bool direct; /* which descriptor's pieces this pass moves */
    unsigned in_flight;
    bool failed; /* the ring has failed, not a piece, so no further piece is begun */
} pass;

sagoi_uring *sagoi_uring_create(void) {
    sagoi_uring *uring = calloc(1, sizeof *uring);
    if (!uring)
        return NULL;
    if (io_uring_queue_init(DEPTH, &uring->ring, 0) != 0) {
        free(uring);
        return NULL;
    }
    (void)pthread_mutex_init(&uring->lock, NULL);
    return uring;
}

void sagoi_uring_destroy(sagoi_uring **uring) {
    if (!*uring)
        return;
    if (!atomic_load(&(*uring)->broken))
        io_uring_queue_exit(&(*uring)->ring);
    (void)pthread_mutex_destroy(&(*uring)->lock);
    free(*uring);
    *uring = NULL;
}

bool sagoi_uring_usable(const sagoi_uring *uring) { return uring && !atomic_load(&uring->broken); }

static void pass_queue(pass *p, sagoi_io_piece *piece) {
    /* There is a free entry, since the ring has as many as may be in flight. */
    struct io_uring_sqe *entry = io_uring_get_sqe(p->ring);
    int fd = sagoi_io_piece_fd(p->transfer, piece);
    if (p->transfer->write)
        io_uring_prep_writev(entry, fd, piece->iov, (unsigned)piece->iov_count, (uint64_t)piece->off);
    else
        io_uring_prep_readv(entry, fd, piece->iov, (unsigned)piece->iov_count, (uint64_t)piece->off);
    io_uring_sqe_set_data(entry, piece);
    p->in_flight++;
}

static bool pass_goes_on(const pass *p) { return !p->failed && p->transfer->status == SAGO_OK; }

static void pass_fill(pass *p) {
    for (; p->next < p->n && p->in_flight < DEPTH && pass_goes_on(p); p->next++)
        if (p->pieces[p->next].direct == p->direct && !p->pieces[p->next].finished)
            pass_queue(p, &p->pieces[p->next]);
}

/* EAGAIN means that the kernel will not wait here: the piece stays unfinished, and POSIX calls do it later. */
static void pass_completed(pass *p, sagoi_io_piece *piece, int result) {
    p->in_flight--;
    if (result == -EAGAIN)
        return;
    sagoi_io_piece_step(p->transfer, piece, result);
    if (!piece->finished && pass_goes_on(p))
        pass_queue(p, piece);
}

static void pass_reap(pass *p) {
    struct io_uring_cqe *entry;
    while (io_uring_peek_cqe(p->ring, &entry) == 0) {
        sagoi_io_piece *piece = io_uring_cqe_get_data(entry);
        int result = entry->res;
        io_uring_cqe_seen(p->ring, entry);
        pass_completed(p, piece, result);
    }
}

/* Waits for any piece to come back, without handing over more; returns 0 or -errno. */
static int pass_wait(pass *p) {
    struct io_uring_cqe *entry;
    sagoi_count_call(p->transfer->store);
    return io_uring_wait_cqe(p->ring, &entry);
}

/* While there is more to begin, this waits for half of the pieces in flight, so that the device always has work
 * and one call moves many pieces. */
static void pass_submit(pass *p) {
    unsigned wait = p->next < p->n ? (p->in_flight + 1) / 2 : p->in_flight;
    int result = io_uring_submit_and_wait(p->ring, wait);
    sagoi_count_call(p->transfer->store);
    if (result >= 0 || result == -EINTR)
        return;
    bool busy = result == -EAGAIN || result == -EBUSY;
    bool kernel_has_some = p->in_flight > io_uring_sq_ready(p->ring);
    if (busy && kernel_has_some)
        (void)pass_wait(p);
    else
        p->failed = true;
}

/* The ring has failed: whatever the kernel has taken must come back before its memory may be used again. */
static void pass_drain(pass *p) {
    unsigned untaken = io_uring_sq_ready(p->ring);
    while (p->in_flight > untaken) {
        int result = pass_wait(p);
        if (result == -EINTR || result == -EAGAIN)
            continue;
        if (result < 0)
            return; /* the ring's descriptor itself is gone, and with it every way to wait */
        pass_reap(p);
    }
}

static bool pass_run(pass *p) {
    pass_fill(p);
    while (p->in_flight > 0 && !p->failed) {
        pass_submit(p);
        pass_reap(p);
        pass_fill(p);
    }
    if (p->failed)
        pass_drain(p);
    return !p->failed;
}

void sagoi_uring_run(sagoi_uring *uring, sagoi_transfer *transfer, sagoi_io_piece *pieces, int n) {
    if (pthread_mutex_trylock(&uring->lock) != 0)
        return;
    /* Buffered pieces go first: while a direct write is under way, no page near it may be dirty in the page cache,
     * or the kernel reports an I/O error at the next fsync(). */
    for (int direct = 0; direct < 2 && sagoi_uring_usable(uring); direct++) {
        pass p = {.ring = &uring->ring, .transfer = transfer, .pieces = pieces, .n = n, .direct = direct};
        if (!pass_run(&p)) {
            /* Entries that the kernel never took point to this call's memory, so the ring has to go. */
            io_uring_queue_exit(&uring->ring);
            atomic_store(&uring->broken, true);
        }
    }
    (void)pthread_mutex_unlock(&uring->lock);
}
