#include "machine/site_library.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include <sago/topology.h>

typedef char *site_topology_fn(int version, int64_t nhosts, const char *const hosts[]);

/* It stays loaded: what it has started, and what it keeps, is its own business. */
static sago_status load(const char *path, site_topology_fn **function) {
    if (path[0] != '/')
        return sagoi_fail(SAGO_ERR_ARG, "topology_library %s: the path is not absolute", path);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *found = library ? dlsym(library, "sago_site_topology") : NULL;
    if (!found) {
        const char *why = dlerror();
        return sagoi_fail(SAGO_ERR_NO_FILE, "topology_library %s: %.300s", path,
                          why ? why : "it has no function sago_site_topology");
    }
    memcpy(function, &found, sizeof *function); /* ISO C has no cast for it */
    return SAGO_OK;
}

sago_status sagoi_site_library_ask(const char *path, int64_t nodes, const sagoi_node_name *name,
                                   sagoi_description *description, bool *known) {
    site_topology_fn *ask = NULL;
    *known = false;
    sago_status status = load(path, &ask);
    if (status)
        return status;
    const char **hosts = calloc((size_t)nodes, sizeof *hosts);
    if (!hosts)
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory for the names of %lld nodes", (long long)nodes);
    for (int64_t n = 0; n < nodes; n++)
        hosts[n] = name[n].host;
    char *text = ask(SAGO_TOPOLOGY_VERSION, nodes, hosts);
    free(hosts);
    if (!text)
        return SAGO_OK;
    status = sagoi_description_parse(path, text, (int64_t)strlen(text), description);
    free(text);
    *known = !status;
    return status;
}
