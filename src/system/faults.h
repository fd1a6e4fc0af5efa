/* The one place where tests, and `sago bench`, come between the library and the operating system: to record
 * what the library does, to make calls fail, or to slow them down.
 *
 * The library's own versions of these functions (faults.c) are weak and change nothing.  A program that is linked
 * with the library's objects and with versions of its own replaces them: tests/support/inject.c, and
 * bench/slow_storage.c.  libsago.so does not export them.  ARCHITECTURE.md ("Files and threads") says why. */
#ifndef SAGOI_FAULTS_H
#define SAGOI_FAULTS_H

#include "system/syscalls.h"

/* Does a test or bench watch?  If so, each transfer of an open file moves one run by a call of its own. */
bool sagoi_faults_active(void);

/* Called before a system call: returns an errno to fail with, or 0; *len may be reduced to make a write or read
 * short. */
int sagoi_fault_before(const sagoi_file_op *op, int64_t *len);
/* Called after a call that succeeded, with what was really done. */
void sagoi_fault_after(const sagoi_file_op *op);

/* Seconds that a test adds to the clocks of checkpoints. */
double sagoi_fault_clock(void);

#endif
