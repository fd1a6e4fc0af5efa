/* The library's own versions of the hooks, which change nothing.  They are weak, so that versions in a program
 * replace them. */
#include "system/faults.h"

#define REPLACEABLE __attribute__((weak))

REPLACEABLE bool sagoi_faults_active(void) { return false; }

REPLACEABLE int sagoi_fault_before(const sagoi_file_op *op, int64_t *len) {
    (void)op, (void)len;
    return 0;
}

REPLACEABLE void sagoi_fault_after(const sagoi_file_op *op) { (void)op; }

REPLACEABLE double sagoi_fault_clock(void) { return 0; }
