/* Faults that a test puts in the place of system calls, for the whole process (base/faults.h). */
#ifndef TESTS_INJECT_H
#define TESTS_INJECT_H

#include "base/faults.h"

typedef struct file_hooks {
    /* As sagoi_fault_before, _after and _look; NULL: nothing happens. */
    int (*before)(void *arg, const sagoi_file_op *op, int64_t *len);
    void (*after)(void *arg, const sagoi_file_op *op);
    void (*looks)(void *arg, const sagoi_file_op *op);
    void *arg;
} file_hooks;

/* While no background thread works; NULL: none. */
void inject_file_hooks(const file_hooks *hooks);

/* Called before each file operation of a probe; not 0: the operation fails with that errno. */
typedef int (*probe_hook)(const char *operation, void *arg);
void inject_probe_hook(probe_hook hook, void *arg);

/* Instead of the system calls of every store. */
typedef struct store_calls {
    ssize_t (*pwrite)(int fd, const void *buf, size_t len, off_t off);
    ssize_t (*pread)(int fd, void *buf, size_t len, off_t off);
    int (*fsync)(int fd);
} store_calls;
void inject_store_calls(const store_calls *calls); /* NULL: the real ones */

/* Both clocks of checkpoints go forward by so much at once. */
void inject_clock_shift(double seconds);

#endif
