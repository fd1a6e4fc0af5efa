/* What the kernel counts: bytes on the wire, memory of processes. */
#ifndef BENCH_COUNTERS_H
#define BENCH_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "bench/world.h"

/* Is there an interface to watch (SAGO_CLUSTER_IFACE)? */
bool bench_wire_known(void);
/* Bytes that the node's interface has sent, on rank 0 also those of the storage targets; 0 on all but one rank of
 * a node. */
int64_t bench_wire_sent(const bench_world *world);

/* A thread on one rank of each node that watches the memory of all the node's ranks: the sum of their PSS without
 * mappings of `path`.  The thread never calls MPI. */
typedef struct bench_watch bench_watch;
bench_watch *bench_watch_create(const bench_world *world, const char *path); /* collective; NULL: no memory */
/* Local: the current sum becomes the base, and watching starts. */
void bench_watch_start(bench_watch *watch);
/* Collective: ends watching, and returns the largest rise above the base on any node, in bytes. */
int64_t bench_watch_destroy(const bench_world *world, bench_watch *watch);

#endif
