/* Which of a node's memories the windows are in (000, VI: levels of memory).  A node may have several NUMA nodes,
 * some of them of faster memory (HBM, MCDRAM) or of larger one; hwloc knows.
 *
 * The kernel takes pages from where the thread that asks for them prefers them.  So the thread that makes a window
 * says so before, and takes it back afterwards.  It is a preference: where that memory is full, others serve. */
#ifndef SAGOI_MEMORY_KIND_H
#define SAGOI_MEMORY_KIND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* What the hint sago_memory_kind says. */
typedef enum {
    SAGOI_KIND_ANY,       /* the plan decides, else the kernel */
    SAGOI_KIND_BANDWIDTH, /* the highest bandwidth from where this process runs */
    SAGOI_KIND_LATENCY,   /* the lowest latency */
    SAGOI_KIND_CAPACITY,  /* the largest */
    SAGOI_KIND_KERNEL,    /* as the kernel likes, whatever the plan says */
    SAGOI_KIND_NODE       /* and what follows: NUMA node value - SAGOI_KIND_NODE, by the system's number */
} sagoi_memory_kind;

/* "bandwidth", "latency", "capacity", "kernel", or a number; "" is SAGOI_KIND_ANY.  SAGO_ERR_HINT. */
sago_status sagoi_memory_kind_parse(const char *text, int64_t *kind) SAGOI_CHECKED;

/* The system's number of the NUMA node that a kind means in a topology of hwloc's, NULL: this machine's; -1: there
 * is none, or all are alike. */
int64_t sagoi_memory_kind_node(void *hwloc_topology, int64_t kind);

/* Bytes of the NUMA node of most bandwidth, where the same cores have another one beside it (HBM, MCDRAM beside
 * DDR; DDR beside memory behind CXL); 0: there is none, or nobody knows which is faster. */
int64_t sagoi_memory_fast(void *hwloc_topology);

/* NUMA domains with cores of their own in a topology of hwloc's, NULL: this machine's, as far as this process may
 * use it.  Memory beside other memory of the same cores (MCDRAM, HBM) counts as one with it; at least 1. */
int64_t sagoi_numa_domains(void *hwloc_topology);

/* From here on this thread's new pages come from there, if they can; to be ended by the second.  False: there is
 * no such memory, or the system does not let us, and nothing was changed. */
bool sagoi_memory_prefer(int64_t kind);
void sagoi_memory_prefer_end(void);

#endif
