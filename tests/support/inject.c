#include "support/inject.h"

#include <stdatomic.h>
#include <unistd.h>

/* ---- Files of checkpoints ---- */

static const file_hooks *_Atomic hooks_now;

void inject_file_hooks(const file_hooks *hooks) { atomic_store(&hooks_now, hooks); }

int sagoi_fault_before(const sagoi_file_op *op, int64_t *len) {
    const file_hooks *hooks = atomic_load(&hooks_now);
    return hooks && hooks->before ? hooks->before(hooks->arg, op, len) : 0;
}

void sagoi_fault_after(const sagoi_file_op *op) {
    const file_hooks *hooks = atomic_load(&hooks_now);
    if (hooks && hooks->after)
        hooks->after(hooks->arg, op);
}

void sagoi_fault_look(const sagoi_file_op *op) {
    const file_hooks *hooks = atomic_load(&hooks_now);
    if (hooks && hooks->looks)
        hooks->looks(hooks->arg, op);
}

/* ---- Probes ---- */

static probe_hook probe_now;
static void *probe_arg;

void inject_probe_hook(probe_hook hook, void *arg) {
    probe_now = hook;
    probe_arg = arg;
}

int sagoi_fault_probe(const char *operation) { return probe_now ? probe_now(operation, probe_arg) : 0; }

/* ---- Stores: each entry for itself atomic, as an I/O thread may be at work while a test changes them ---- */

static struct {
    _Atomic(ssize_t (*)(int, const void *, size_t, off_t)) pwrite;
    _Atomic(ssize_t (*)(int, void *, size_t, off_t)) pread;
    _Atomic(int (*)(int)) fsync;
    atomic_bool injected;
} in_force = {pwrite, pread, fsync, false};

void inject_store_calls(const store_calls *calls) {
    atomic_store(&in_force.pwrite, calls && calls->pwrite ? calls->pwrite : pwrite);
    atomic_store(&in_force.pread, calls && calls->pread ? calls->pread : pread);
    atomic_store(&in_force.fsync, calls && calls->fsync ? calls->fsync : fsync);
    atomic_store(&in_force.injected, calls != NULL);
}

bool sagoi_faults_in_store(void) { return atomic_load_explicit(&in_force.injected, memory_order_relaxed); }

ssize_t sagoi_fault_pwrite(int fd, const void *buf, size_t len, off_t off) {
    return atomic_load(&in_force.pwrite)(fd, buf, len, off);
}

ssize_t sagoi_fault_pread(int fd, void *buf, size_t len, off_t off) {
    return atomic_load(&in_force.pread)(fd, buf, len, off);
}

int sagoi_fault_fsync(int fd) { return atomic_load(&in_force.fsync)(fd); }

/* ---- Clocks ---- */

static _Atomic int64_t shift; /* nanoseconds */

void inject_clock_shift(double seconds) { atomic_fetch_add(&shift, (int64_t)(seconds * 1e9)); }

double sagoi_fault_clock(void) { return 1e-9 * (double)atomic_load(&shift); }
