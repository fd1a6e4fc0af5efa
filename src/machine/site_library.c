#include "machine/site_library.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include <sago/topology.h>

typedef char *site_topology_fn(int version, int64_t nhosts, const char *const hosts[]);

typedef union symbol {
    void *address;
    site_topology_fn *ask; /* ISO C has no cast for it */
} symbol;

/* The library stays loaded: what it has started, and what it keeps, is its own business. */
static symbol load(const char *path) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    return (symbol){library ? dlsym(library, "sago_site_topology") : NULL};
}

static sago_status say_missing(const char *path) {
    const char *why = dlerror();
    return sagoi_fail(SAGO_ERR_NO_FILE, "topology_library %s: %.300s", path,
                      why ? why : "it has no function sago_site_topology");
}

sago_status sagoi_site_library_ask(const char *path, int64_t nodes, const sagoi_node_name *name,
                                   sagoi_description *description, bool *answered) {
    *answered = false;
    if (path[0] != '/')
        return sagoi_fail(SAGO_ERR_ARG, "topology_library %s: the path is not absolute", path);
    symbol found = load(path);
    if (!found.address)
        return say_missing(path);
    const char **hosts = calloc((size_t)nodes, sizeof *hosts);
    if (!hosts)
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory for the names of %lld nodes", (long long)nodes);
    for (int64_t n = 0; n < nodes; n++)
        hosts[n] = name[n].host;
    char *text = found.ask(SAGO_TOPOLOGY_VERSION, nodes, hosts);
    free(hosts);
    if (!text)
        return SAGO_OK;
    sago_status status = sagoi_description_parse(path, text, (int64_t)strlen(text), description);
    free(text);
    *answered = !status;
    return status;
}
