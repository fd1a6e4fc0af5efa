/* How a site tells Sago of a network that neither a description nor the batch system tells: by a shared object of
 * its own, named in the site file (sago-site(5)):
 *
 *     topology_library /opt/site/lib/sago_topology.so
 *
 * Rank 0 of a job loads it when its first file is opened, unless the hint sago_machine or the site file names a
 * machine, and calls its one function.  examples/site_topology is one.  Needs no MPI, and nothing of Sago's
 * library. */
#ifndef SAGO_TOPOLOGY_H
#define SAGO_TOPOLOGY_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SAGO_TOPOLOGY_VERSION 1

/* To be defined by the shared object.  `version`: SAGO_TOPOLOGY_VERSION of the Sago that calls; `hosts`: the nodes
 * of the job, as they call themselves.  Returns a machine's description as text (sago-machine(5)), which Sago
 * gives to free(): the kind of network and its extents, which make distances; latencies and bandwidths of its
 * levels; gateways; and lines `hosts` that say where each of the job's nodes is.  NULL: nothing is known, and Sago
 * looks elsewhere.  A text that is no description, or lacks a host, is an error of the open that asked. */
char *sago_site_topology(int version, int64_t nhosts, const char *const hosts[]);

#ifdef __cplusplus
}
#endif

#endif
