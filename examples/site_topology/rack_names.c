/* A site whose hosts are called r3n17: rack 3, node 17.  The racks have a switch each, joined by one above them.
 *
 *     cc -shared -fPIC -o sago_topology.so rack_names.c         and in the site file
 *     topology_library /opt/site/lib/sago_topology.so */
#include <stdio.h>
#include <stdlib.h>

#include <sago/topology.h>

enum { RACKS = 64, NODES = 32 }; /* NODES: nodes of one rack */

char *sago_site_topology(int version, int64_t nhosts, const char *const hosts[]) {
    char *text = NULL;
    size_t length = 0;
    FILE *out = version == SAGO_TOPOLOGY_VERSION ? open_memstream(&text, &length) : NULL;
    if (!out)
        return NULL;
    fprintf(out,
            "name racks\ntopology fat-tree %d %d\nlevel 0 latency 1us bandwidth 12GB/s\n"
            "level 1 latency 1.5us bandwidth 24GB/s\nranks-per-node 1\nmemory 64GiB\n"
            "io latency 20us bandwidth 5GB/s\ngateways at 0 every %d count %d\n",
            RACKS, NODES, NODES, RACKS); /* the first node of each rack leads to the storage */
    for (int64_t i = 0; i < nhosts; i++) {
        int rack, node, end = 0;
        if (sscanf(hosts[i], "r%dn%d%n", &rack, &node, &end) != 2 || rack < 0 || rack >= RACKS || node < 0 ||
            node >= NODES) {
            fclose(out);
            free(text);
            return NULL; /* not one of ours */
        }
        fprintf(out, "hosts %.*s at %d\n", end, hosts[i], rack * NODES + node);
    }
    fclose(out);
    return text;
}
