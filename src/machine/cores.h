/* Cores that no rank uses. */
#ifndef SAGOI_CORES_H
#define SAGOI_CORES_H

#include <sched.h>
#include <stdint.h>

/* A core that this process may use and that is not in `taken`: the one with number `which`, counted round and
 * round.  -1: there is none, or it is not known. */
int sagoi_spare_core(const cpu_set_t *taken, int64_t which);

#endif
