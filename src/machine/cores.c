/* hwloc knows which cores this process may use, whatever its ranks are bound to.  Loading a topology takes
 * milliseconds, so it is loaded only where ranks are bound, and once in a process. */
#include "machine/cores.h"

#include <hwloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

static pthread_once_t asked = PTHREAD_ONCE_INIT;
static cpu_set_t allowed;   /* empty: not known */
static _Atomic long online; /* 0: not asked yet, since asking reads a file */

static void ask_allowed(void) {
    hwloc_topology_t topology;
    int core;
    if (hwloc_topology_init(&topology) != 0)
        return;
    if (hwloc_topology_load(topology) == 0) {
        hwloc_const_cpuset_t set = hwloc_topology_get_allowed_cpuset(topology);
        for (core = hwloc_bitmap_first(set); core >= 0 && core < CPU_SETSIZE; core = hwloc_bitmap_next(set, core))
            CPU_SET((size_t)core, &allowed);
    }
    hwloc_topology_destroy(topology);
}

static bool is_spare(const cpu_set_t *taken, int core) {
    return CPU_ISSET((size_t)core, &allowed) && !CPU_ISSET((size_t)core, taken);
}

int sagoi_spare_core(const cpu_set_t *taken, int64_t which) {
    if (online == 0)
        online = sysconf(_SC_NPROCESSORS_ONLN);
    if (CPU_COUNT(taken) >= online)
        return -1;
    (void)pthread_once(&asked, ask_allowed);
    int64_t spare = 0, seen = 0;
    for (int core = 0; core < CPU_SETSIZE; core++)
        spare += is_spare(taken, core);
    for (int core = 0; spare > 0 && core < CPU_SETSIZE; core++)
        if (is_spare(taken, core) && seen++ == which % spare)
            return core;
    return -1;
}
