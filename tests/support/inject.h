/* Faults that a test puts in the place of system calls, for the whole process (system/faults.h). */
#ifndef TESTS_INJECT_H
#define TESTS_INJECT_H

#include "system/faults.h"

/* Does the operation change what is on the storage? */
static inline bool op_changes(sagoi_op_kind kind) {
    return kind != SAGOI_OP_OPEN && kind != SAGOI_OP_READ && kind < SAGOI_OP_CLOSE;
}

typedef struct file_hooks {
    /* As sagoi_fault_before and _after; NULL: nothing happens. */
    int (*before)(void *arg, const sagoi_file_op *op, int64_t *len);
    void (*after)(void *arg, const sagoi_file_op *op);
    /* Before a look at a name, or at all names of a directory; may take its time. */
    void (*looks)(void *arg, const sagoi_file_op *op);
    void *arg;
    bool all; /* before and after see calls that only ask, too */
} file_hooks;

/* They stay where they are while they are in force.  NULL: none. */
void inject_file_hooks(const file_hooks *hooks);

/* Both clocks of checkpoints go forward by so much at once. */
void inject_clock_shift(double seconds);

#endif
