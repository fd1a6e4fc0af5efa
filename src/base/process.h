/* Other processes of this machine: does one still live?  A number alone says little: it stays taken while nobody
 * has asked how its process ended, and is given to another process later. */
#ifndef SAGOI_PROCESS_H
#define SAGOI_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct sagoi_process {
    int64_t pid;
    int64_t started; /* ticks after the machine's start; 0: unknown */
} sagoi_process;

sagoi_process sagoi_process_self(void);
/* Surely gone?  For processes of this pid namespace only. */
bool sagoi_process_gone(const sagoi_process *process);

#endif
