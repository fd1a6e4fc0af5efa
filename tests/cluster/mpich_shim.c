/*
 * A preload for MPICH 4.0.2 on the virtual cluster, and for nothing else.
 *
 * Over TCP with several ranks a node that release hangs in MPI_Finalize in a good part of runs, waiting
 * for connections that UCX never finishes closing; it also spins while it waits, which with more ranks
 * than cores makes a collective cost 50 ms. So: a disconnect is reported as done at once (the process is
 * about to end), and a progress call that found nothing gives the core away. With SAGO_SHIM_NAP=us in the
 * environment a rank that has found nothing many times in a row sleeps so many microseconds instead: then the
 * cores' load is that of the work, not of the waiting (sim/validate.py).
 *
 * The UCX headers are not needed for this: handles are opaque pointers.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef unsigned progress_fn(void *worker);

/* Seen from outside whatever the build's default is: that is the whole point of them. */
__attribute__((visibility("default"))) void *ucp_disconnect_nb(void *ep);
__attribute__((visibility("default"))) unsigned ucp_worker_progress(void *worker);

static progress_fn *real_progress;
static long nap;                   /* nanoseconds; 0: none */
static _Thread_local long in_vain; /* progress calls in a row */
static const long patience = 50;   /* of them, before a nap */

/* Before main, so that the pointer is set before any thread can ask for it. Programs that do not use UCX
 * (a shell that starts the real one) are preloaded too: nothing to find is not an error for them. */
__attribute__((constructor)) static void find_real_progress(void) {
    *(void **)&real_progress = dlsym(RTLD_NEXT, "ucp_worker_progress");
    const char *text = getenv("SAGO_SHIM_NAP");
    nap = text ? 1000 * strtol(text, NULL, 10) : 0;
}

void *ucp_disconnect_nb(void *ep) {
    (void)ep;
    return NULL; /* UCS_OK: completed in place */
}

unsigned ucp_worker_progress(void *worker) {
    if (!real_progress) {
        fputs("mpich_shim: ucp_worker_progress not found behind the shim\n", stderr);
        abort();
    }
    unsigned events = real_progress(worker);
    in_vain = events == 0 ? in_vain + 1 : 0;
    if (nap > 0 && in_vain > patience)
        (void)nanosleep(&(struct timespec){.tv_nsec = nap}, NULL);
    else if (events == 0)
        sched_yield();
    return events;
}
