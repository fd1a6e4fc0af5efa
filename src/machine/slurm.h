/* What Slurm knows of a job and its network: the nodes and tasks in the job's environment, topology.conf of the
 * tree plugin, and the address that each node of a job has in SLURM_TOPOLOGY_ADDR. */
#ifndef SAGOI_SLURM_H
#define SAGOI_SLURM_H

#include "machine/hostlist.h"
#include "machine/text.h"
#include "machine/topology.h"

enum { SAGOI_ADDRESS_MAX = 256 };

/* What told a node's address or coordinates. */
typedef enum { SAGOI_TOLD_BY_SLURM, SAGOI_TOLD_BY_CRAY, SAGOI_TOLD_BY_TOFU, SAGOI_TOLD_BY_PMIX } sagoi_teller;

/* What the leader of a node is asked. */
typedef struct sagoi_node_name {
    char host[SAGOI_HOST_MAX];
    char address[SAGOI_ADDRESS_MAX]; /* "top.leaf.host", or "" */
    int64_t numa;                    /* NUMA domains; 0: not asked */
    int64_t fast;        /* bytes of memory that is faster than what lies beside it; 0: none, or not asked */
    sagoi_teller teller; /* cray.h, fabric.h */
    int64_t dimensions;  /* number of coordinates; 0: they are not known */
    int64_t coordinate[SAGOI_DIMENSIONS_MAX];
} sagoi_node_name;

/* Both functions set kind, dimensions, extent and places of the topology, and add the hosts with their places;
 * levels stay as they are.  SAGO_ERR_ARG for what cannot be understood. */
sago_status sagoi_slurm_parse(const char *source, const char *bytes, int64_t length, sagoi_topology *topology,
                              sagoi_hostlist *hosts) SAGOI_CHECKED;
sago_status sagoi_slurm_read(const char *path, sagoi_topology *topology, sagoi_hostlist *hosts) SAGOI_CHECKED;
/* Makes a tree of the addresses of all nodes. */
sago_status sagoi_slurm_addresses(int64_t nodes, const sagoi_node_name *name, sagoi_topology *topology,
                                  sagoi_hostlist *hosts) SAGOI_CHECKED;

/* ---- The job ---- */

typedef struct sagoi_slurm_job {
    sagoi_hostlist hosts;
    int64_t tasks; /* tasks on the node that has most; 0: not given */
} sagoi_slurm_job;

/* Parses SLURM_JOB_NODELIST, "n[1-4]", and SLURM_TASKS_PER_NODE, "2(x3),1", which may be NULL.  SAGO_ERR_ARG for
 * what cannot be understood. */
sago_status sagoi_slurm_job_parse(const char *nodes, const char *tasks, sagoi_slurm_job *job) SAGOI_CHECKED;
void sagoi_slurm_job_cleanup(sagoi_slurm_job *job);

/* Slurm's name of the node whose host name is `host`.  SLURMD_NODENAME (`node`) is used only if it is one of the
 * job's nodes and the host name is not, since a launcher may have copied the variable from another node.  Any
 * argument but `host` may be NULL. */
const char *sagoi_slurm_node(const char *nodes, const char *host, const char *node);

#endif
