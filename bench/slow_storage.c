/* The hooks of system/faults.h make the limit, in the place of the library's own versions; no call fails. */
#include "bench/slow_storage.h"

#include <errno.h>
#include <stdatomic.h>
#include <time.h>

#include "system/faults.h"

static double limit; /* bytes a second */
/* When the node's storage will have taken everything so far, in nanoseconds; all ranks of a node may write to
 * it. */
static _Atomic int64_t *ready;
static MPI_Win window = MPI_WIN_NULL;

void bench_limit_storage(const bench_world *world, double rate) {
    limit = rate;
    if (window != MPI_WIN_NULL)
        MPI_Win_free(&window);
    if (rate <= 0)
        return;
    MPI_Aint bytes = world->node_rank == 0 ? (MPI_Aint)sizeof *ready : 0;
    int unit;
    MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, world->node, (void *)&ready, &window);
    MPI_Win_shared_query(window, 0, &bytes, &unit, (void *)&ready);
    if (world->node_rank == 0)
        atomic_store(ready, 0);
    MPI_Barrier(world->node);
}

bool sagoi_faults_active(void) { return limit > 0; }

/* The moment at which the storage will have taken these bytes, too. */
static int64_t take(int64_t bytes) {
    int64_t now = (int64_t)(1e9 * bench_now()), before = atomic_load(ready), after;
    do {
        after = (before > now ? before : now) + (int64_t)(1e9 * (double)bytes / limit);
    } while (!atomic_compare_exchange_weak(ready, &before, after));
    return after;
}

/* A write returns when the storage would have taken it. */
void sagoi_fault_after(const sagoi_file_op *op) {
    if (limit <= 0 || op->kind != SAGOI_OP_WRITE)
        return;
    int64_t taken = take(op->len);
    struct timespec until = {.tv_sec = taken / 1000000000, .tv_nsec = taken % 1000000000};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) {
    }
}
