/* hwloc knows which cores this process is allowed to use, whatever its ranks are bound to.  Loading a topology
 * takes milliseconds, so it is done only where ranks are bound at all. */
#include "machine/cores.h"

#include <hwloc.h>
#include <stdbool.h>
#include <unistd.h>

static bool is_spare(const cpu_set_t *taken, int core) {
    return core < CPU_SETSIZE && !CPU_ISSET((size_t)core, taken);
}

static int choose(hwloc_const_cpuset_t allowed, const cpu_set_t *taken, int64_t which) {
    int64_t spare = 0;
    int core;
    for (core = hwloc_bitmap_first(allowed); core >= 0; core = hwloc_bitmap_next(allowed, core))
        spare += is_spare(taken, core);
    if (spare == 0)
        return -1;
    int64_t wanted = which % spare, seen = 0;
    for (core = hwloc_bitmap_first(allowed); core >= 0; core = hwloc_bitmap_next(allowed, core))
        if (is_spare(taken, core) && seen++ == wanted)
            return core;
    return -1;
}

int sagoi_spare_core(const cpu_set_t *taken, int64_t which) {
    hwloc_topology_t topology;
    if (CPU_COUNT(taken) >= sysconf(_SC_NPROCESSORS_ONLN) || hwloc_topology_init(&topology) != 0)
        return -1;
    int core = -1;
    if (hwloc_topology_load(topology) == 0)
        core = choose(hwloc_topology_get_allowed_cpuset(topology), taken, which);
    hwloc_topology_destroy(topology);
    return core;
}
