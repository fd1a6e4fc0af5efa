/* Slurm's topology.conf: every host that is accepted lies at a place of the tree, and is found by its name (of
 * long lists only the first are looked for). */
#include <stdint.h>
#include <stdlib.h>

#include "machine/slurm.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    sagoi_topology topology = {.places = 0};
    sagoi_hostlist hosts = {0};
    if (sagoi_slurm_parse("fuzz", (const char *)data, (int64_t)size, &topology, &hosts) == SAGO_OK)
        for (int64_t i = 0; i < hosts.ranges; i++) {
            char name[SAGOI_HOST_MAX];
            const sagoi_host_range *range = &hosts.range[i];
            if (range->first < 0 || range->first + sagoi_host_range_hosts(range) > topology.places)
                abort();
            if (i < 64 && sagoi_hostlist_name(&hosts, range->first, name, sizeof name) &&
                sagoi_hostlist_find(&hosts, name) < 0)
                abort();
        }
    sagoi_hostlist_cleanup(&hosts);
    return 0;
}
