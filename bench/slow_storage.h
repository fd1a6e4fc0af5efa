/* Storage with a speed limit for the checkpoints of a node. */
#ifndef BENCH_SLOW_STORAGE_H
#define BENCH_SLOW_STORAGE_H

#include "bench/world.h"

/* Collective.  Bytes a second of all ranks of a node together, to be set while no checkpoint is open; 0: no
 * limit. */
void bench_limit_storage(const bench_world *world, double rate);

#endif
