/* A site's own shared object that describes the network (sago/topology.h). */
#ifndef SAGOI_SITE_LIBRARY_H
#define SAGOI_SITE_LIBRARY_H

#include "machine/description.h"
#include "machine/slurm.h"

/* *answered: it had an answer, and the description is to be cleaned up.  What was named must be right:
 * SAGO_ERR_NO_FILE for what cannot be loaded or has no such function, SAGO_ERR_ARG for an answer that is no
 * description. */
sago_status sagoi_site_library_ask(const char *path, int64_t nodes, const sagoi_node_name *name,
                                   sagoi_description *description, bool *answered) SAGOI_CHECKED;

#endif
