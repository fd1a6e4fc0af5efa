/* A preload for tests under MPICH with more ranks than cores.  MPICH spins while it waits, so that a rank that has
 * nothing to do keeps those that have from running: a collective call then costs 50 ms.  With this, a progress call
 * that found nothing gives the core away, as Open MPI does with mpi_yield_when_idle.
 *
 * The UCX headers are not needed for this: handles are opaque pointers. */
#include <dlfcn.h>
#include <sched.h>
#include <stdlib.h>

typedef unsigned progress_fn(void *worker);

__attribute__((visibility("default"))) unsigned ucp_worker_progress(void *worker);

static progress_fn *real_progress;

/* Before main, so that the pointer is set before any thread can ask for it.  Programs without UCX are preloaded
 * too: nothing to find is not an error for them. */
__attribute__((constructor)) static void find_real_progress(void) {
    *(void **)&real_progress = dlsym(RTLD_NEXT, "ucp_worker_progress");
}

unsigned ucp_worker_progress(void *worker) {
    if (!real_progress)
        abort();
    unsigned events = real_progress(worker);
    if (events == 0)
        (void)sched_yield();
    return events;
}
