/* Does another process of this machine still live?  Its number alone does not tell: the number stays taken until
 * the parent asks how the process ended, and later belongs to another process. */
#ifndef SAGOI_PROCESS_H
#define SAGOI_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct sagoi_process {
    int64_t pid;
    int64_t started; /* ticks after the machine's start; 0: unknown */
} sagoi_process;

sagoi_process sagoi_process_self(void);
/* Is the process gone for certain?  For processes of this pid namespace only. */
bool sagoi_process_gone(const sagoi_process *process);

#endif
