/* When the batch system will end the job, if the environment does not tell, as it does not under Slurm
 * before 23.02, Flux, LSF and PBS: their own commands are asked once, in a process that nobody waits for. */
#ifndef SAGOI_ALLOCATION_H
#define SAGOI_ALLOCATION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct sagoi_allocation {
    bool asked;
    pid_t process; /* the process that asks; 0: none, or it has answered */
    int answer;    /* descriptor of the answer */
    int64_t (*parse)(const char *text);
    char text[256];
    int64_t length; /* bytes of the answer so far */
    int64_t end;    /* seconds since 1970; 0: not known */
} sagoi_allocation;

/* The end of the job as far as it is known now; the first call asks.  Local, and never waits.  A struct of zeros
 * has not asked. */
int64_t sagoi_allocation_end(sagoi_allocation *allocation);
/* Ends the process, if it has not answered. */
void sagoi_allocation_cleanup(sagoi_allocation *allocation);

#endif
