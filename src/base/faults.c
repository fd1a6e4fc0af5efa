/* No faults: what the library does outside of tests.  The functions are weak, so that a program which is linked
 * with some of its own replaces those. */
#include "base/faults.h"

#include <unistd.h>

#define REPLACEABLE __attribute__((weak))

REPLACEABLE int sagoi_fault_before(const sagoi_file_op *op, int64_t *len) {
    (void)op, (void)len;
    return 0;
}

REPLACEABLE void sagoi_fault_after(const sagoi_file_op *op) { (void)op; }

REPLACEABLE void sagoi_fault_look(const sagoi_file_op *op) { (void)op; }

REPLACEABLE int sagoi_fault_probe(const char *operation) {
    (void)operation;
    return 0;
}

REPLACEABLE bool sagoi_faults_in_store(void) { return false; }

REPLACEABLE ssize_t sagoi_fault_pwrite(int fd, const void *buf, size_t len, off_t off) {
    return pwrite(fd, buf, len, off);
}

REPLACEABLE ssize_t sagoi_fault_pread(int fd, void *buf, size_t len, off_t off) {
    return pread(fd, buf, len, off);
}

REPLACEABLE int sagoi_fault_fsync(int fd) { return fsync(fd); }

REPLACEABLE double sagoi_fault_clock(void) { return 0; }
