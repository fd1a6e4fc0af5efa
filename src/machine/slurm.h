/* What Slurm knows of the network: topology.conf of its tree plugin, and the address that each node of a job has
 * in SLURM_TOPOLOGY_ADDR. */
#ifndef SAGOI_SLURM_H
#define SAGOI_SLURM_H

#include "machine/hostlist.h"
#include "machine/text.h"
#include "machine/topology.h"

enum { SAGOI_ADDRESS_MAX = 256 };

/* What is asked of a node's leader. */
typedef struct sagoi_node_name {
    char host[SAGOI_HOST_MAX];
    char address[SAGOI_ADDRESS_MAX]; /* "top.leaf.host", or "" */
} sagoi_node_name;

/* Both set kind, dimensions, extent and places of the topology and add the hosts with their places; levels are
 * left alone.  SAGO_ERR_ARG for what cannot be understood. */
sago_status sagoi_slurm_parse(const char *source, const char *bytes, int64_t length, sagoi_topology *topology,
                              sagoi_hostlist *hosts) SAGOI_CHECKED;
sago_status sagoi_slurm_read(const char *path, sagoi_topology *topology, sagoi_hostlist *hosts) SAGOI_CHECKED;
/* Makes a tree of the addresses of all nodes. */
sago_status sagoi_slurm_addresses(int64_t nodes, const sagoi_node_name *name, sagoi_topology *topology,
                                  sagoi_hostlist *hosts) SAGOI_CHECKED;

#endif
