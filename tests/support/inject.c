#include "support/inject.h"

#include <stdatomic.h>
#include <stddef.h>

/* ---- Files ---- */

static const file_hooks *_Atomic hooks_now;

void inject_file_hooks(const file_hooks *hooks) { atomic_store(&hooks_now, hooks); }

bool sagoi_faults_active(void) { return atomic_load_explicit(&hooks_now, memory_order_relaxed) != NULL; }

int sagoi_fault_before(const sagoi_file_op *op, int64_t *len) {
    const file_hooks *hooks = atomic_load(&hooks_now);
    if (hooks && hooks->looks && (op->kind == SAGOI_OP_STAT || op->kind == SAGOI_OP_LIST))
        hooks->looks(hooks->arg, op);
    bool told = hooks && (op->kind < SAGOI_OP_CLOSE || hooks->all);
    return told && hooks->before ? hooks->before(hooks->arg, op, len) : 0;
}

void sagoi_fault_after(const sagoi_file_op *op) {
    const file_hooks *hooks = atomic_load(&hooks_now);
    if (hooks && hooks->after && (op->kind < SAGOI_OP_CLOSE || hooks->all))
        hooks->after(hooks->arg, op);
}

/* ---- Clocks ---- */

static _Atomic int64_t shift; /* nanoseconds */

void inject_clock_shift(double seconds) { atomic_fetch_add(&shift, (int64_t)(seconds * 1e9)); }

double sagoi_fault_clock(void) { return 1e-9 * (double)atomic_load(&shift); }
