/* Where a job runs: the network, the place of each node in it, and what the site file says.
 *
 * Sources are asked in this order: the hint sago_machine; the site file's machine; its topology_library;
 * Slurm's topology.conf; the addresses that Slurm gave the nodes, or else the names of Cray's components;
 * coordinates of Tofu, or by PMIx; the racks of the site file.  If none answers, the network is flat.  A source
 * that somebody named must be right, and anything else is an error; a source that was only found is left out if
 * it makes no sense.  No MPI here: engine/job_network.c asks the nodes and tells all ranks. */
#ifndef SAGOI_DISCOVER_H
#define SAGOI_DISCOVER_H

#include "machine/description.h"
#include "machine/machine.h"
#include "machine/site.h"
#include "machine/slurm.h"

typedef struct sagoi_discover_options {
    const char *machine;    /* the hint sago_machine: name, path, "none", or "" */
    const char *site;       /* the hint sago_site: path, "none", or "" */
    const char *slurm_conf; /* path of slurm.conf, whose folder has topology.conf; NULL: the usual path */
} sagoi_discover_options;

/* Has no pointers, so that it can be sent. */
typedef struct sagoi_surroundings {
    sagoi_topology topology;
    sagoi_tuned tuned;
    bool assumed;  /* nobody has said how fast the network is, so the figures are those of a common cluster */
    double stream; /* bytes a second of one stream to the storage, from the site file; 0: not given */
    char machine[SAGOI_NAME_MAX];         /* name of the description; "": none */
    char source[SAGOI_PATH_MAX];          /* where the topology comes from, for people to read */
    char local_dirs[SAGOI_SITE_TEXT_MAX]; /* candidates for local storage, as the site file or else the description
                                             names them */
} sagoi_surroundings;

/* place[n] becomes the place of node n. */
sago_status sagoi_discover(const sagoi_discover_options *options, int64_t nodes, const sagoi_node_name *name,
                           sagoi_surroundings *found, int64_t *place) SAGOI_CHECKED;

/* Loads a description by its name, from the folder of the shipped ones, or by its path (which has a slash, or ends
 * in .sago). */
sago_status sagoi_machine_load(const char *name, sagoi_description *description) SAGOI_CHECKED;

/* Tells what is wrong with the site file and the description that SAGO_SITE and SAGO_MACHINE name, if they name
 * any. */
void sagoi_check_surroundings(void (*tell)(const char *said));

/* Finds this node's name and, if Slurm tells it, address. */
void sagoi_node_name_ask(sagoi_node_name *name);

enum { SAGOI_NUMA_NAMED = 16, SAGOI_NICS_NAMED = 8 };

/* A network interface, and the NUMA domain that it is next to; -1: not known. */
typedef struct sagoi_nic {
    char name[24];
    int64_t numa;
} sagoi_nic;

/* The cores, packages, NUMA domains and network interfaces that this process may use, by hwloc. */
typedef struct sagoi_inside {
    int64_t cores, packages, numa, nics;
    int64_t numa_cores[SAGOI_NUMA_NAMED]; /* cores of each of the first NUMA domains */
    sagoi_nic nic[SAGOI_NICS_NAMED];      /* the first interfaces */
} sagoi_inside;
sagoi_inside sagoi_inside_ask(void);

#endif
