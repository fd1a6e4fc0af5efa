/* The one place where tests, and `sago bench`, come between the library and the operating system: to record what
 * it does, to make it fail, or to slow it down.
 *
 * The library calls these functions and has none of the faults: its own versions (faults.c) do what the system
 * does. A program that is linked with versions of its own, like tests/support/inject.c, replaces them. */
#ifndef SAGOI_FAULTS_H
#define SAGOI_FAULTS_H

#include "system/syscalls.h"

/* Does anybody look?  While somebody does, each transfer of an open file moves one run, by a call of its own. */
bool sagoi_faults_active(void);

/* Before a system call: an errno to fail with, or 0; *len may be cut to make a write or read short. */
int sagoi_fault_before(const sagoi_file_op *op, int64_t *len);
/* After it succeeded, with what was really done. */
void sagoi_fault_after(const sagoi_file_op *op);

/* By how many seconds the clocks of checkpoints are ahead. */
double sagoi_fault_clock(void);

#endif
