/* Which of a node's memories the windows are in (000, VI: levels of memory).  A node may have several NUMA
 * nodes, some with faster memory (HBM, MCDRAM) or larger memory; hwloc knows them.
 *
 * The kernel takes pages from the memory that the asking thread prefers.  So a thread that makes a window sets
 * its preference before, and resets it afterwards.  Where that memory is full, the kernel uses other memory. */
#ifndef SAGOI_MEMORY_KIND_H
#define SAGOI_MEMORY_KIND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* What the hint sago_memory_kind says. */
typedef enum {
    SAGOI_KIND_ANY,       /* the memory that the plan says; if it says none, the kernel chooses */
    SAGOI_KIND_BANDWIDTH, /* the memory with the highest bandwidth from where this process runs */
    SAGOI_KIND_LATENCY,   /* the memory with the lowest latency */
    SAGOI_KIND_CAPACITY,  /* the largest memory */
    SAGOI_KIND_KERNEL,    /* the kernel chooses, whatever the plan says */
    SAGOI_KIND_NODE /* this value and those above it: NUMA node value - SAGOI_KIND_NODE, by the system's number */
} sagoi_memory_kind;

/* Parses "bandwidth", "latency", "capacity", "kernel", or a number; "" is SAGOI_KIND_ANY.  SAGO_ERR_HINT. */
sago_status sagoi_memory_kind_parse(const char *text, int64_t *kind) SAGOI_CHECKED;

/* The system's number of the NUMA node that a kind means, in a topology of hwloc's (NULL: this machine's); -1:
 * there is none, or all are alike. */
int64_t sagoi_memory_kind_node(void *hwloc_topology, int64_t kind);

/* Bytes of the NUMA node with most bandwidth, if its cores have another one beside it (HBM or MCDRAM beside DDR;
 * DDR beside memory behind CXL); 0: there is none, or it is not known which is faster. */
int64_t sagoi_memory_fast(void *hwloc_topology);

/* The number of NUMA domains with cores of their own in a topology of hwloc's (NULL: this machine's), as far as
 * this process may use them; at least 1.  Memory beside other memory of the same cores (MCDRAM, HBM) counts as one
 * with it. */
int64_t sagoi_numa_domains(void *hwloc_topology);

/* From here on new pages of this thread come from that memory, if possible; sagoi_memory_prefer_end() ends that.
 * false: there is no such memory, or the system does not allow it, and nothing was changed. */
bool sagoi_memory_prefer(int64_t kind);
void sagoi_memory_prefer_end(void);

#endif
