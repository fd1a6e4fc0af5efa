/* Storage with a speed limit for the checkpoints of this process. */
#ifndef BENCH_SLOW_STORAGE_H
#define BENCH_SLOW_STORAGE_H

/* Bytes a second, while no checkpoint is open; 0: as fast as it is. */
void bench_limit_storage(double rate);

#endif
