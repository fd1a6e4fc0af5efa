#include "machine/memory_kind.h"

#include <hwloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *const words[] = {[SAGOI_KIND_BANDWIDTH] = "bandwidth",
                                    [SAGOI_KIND_LATENCY] = "latency",
                                    [SAGOI_KIND_CAPACITY] = "capacity",
                                    [SAGOI_KIND_KERNEL] = "kernel"};

enum { NODES_MOST = 4096 };

sago_status sagoi_memory_kind_parse(const char *text, int64_t *kind) {
    char *end = NULL;
    *kind = SAGOI_KIND_ANY;
    if (!*text)
        return SAGO_OK;
    for (int i = SAGOI_KIND_BANDWIDTH; i < SAGOI_KIND_NODE; i++)
        if (strcasecmp(text, words[i]) == 0) {
            *kind = i;
            return SAGO_OK;
        }
    long node = strtol(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end || node < 0 || node >= NODES_MOST)
        return sagoi_fail(SAGO_ERR_HINT,
                          "hint sago_memory_kind is \"%.64s\": it takes bandwidth, latency, capacity, kernel, or "
                          "the number of a "
                          "NUMA node",
                          text);
    *kind = SAGOI_KIND_NODE + node;
    return SAGO_OK;
}

/* ---- Which ---- */

/* Where nobody has measured: the names that hwloc gives to fast memory. */
static hwloc_obj_t fast_by_name(hwloc_topology_t topology) {
    hwloc_obj_t node = NULL;
    while ((node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node)))
        if (node->subtype && (strcmp(node->subtype, "HBM") == 0 || strcmp(node->subtype, "MCDRAM") == 0))
            return node;
    return NULL;
}

/* The largest memory; of several equal ones the first. */
static hwloc_obj_t largest(hwloc_topology_t topology) {
    hwloc_obj_t node = NULL, best = NULL;
    while ((node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node)))
        if (!best || node->attr->numanode.local_memory > best->attr->numanode.local_memory)
            best = node;
    return best;
}

/* The best memory as seen from where this process may run; in another machine's topology, from all of it. */
static hwloc_obj_t best_measured(hwloc_topology_t topology, hwloc_memattr_id_t attribute) {
    hwloc_cpuset_t cores = hwloc_bitmap_alloc();
    hwloc_obj_t best = NULL;
    if (!cores)
        return NULL;
    if (!hwloc_topology_is_thissystem(topology) || hwloc_get_cpubind(topology, cores, HWLOC_CPUBIND_PROCESS) != 0)
        hwloc_bitmap_copy(cores, hwloc_topology_get_topology_cpuset(topology));
    struct hwloc_location from = {.type = HWLOC_LOCATION_TYPE_CPUSET, .location = {.cpuset = cores}};
    if (hwloc_memattr_get_best_target(topology, attribute, &from, 0, &best, NULL) != 0)
        best = NULL;
    hwloc_bitmap_free(cores);
    return best;
}

static hwloc_obj_t choose(hwloc_topology_t topology, int64_t kind) {
    hwloc_obj_t found = NULL;
    if (kind >= SAGOI_KIND_NODE)
        return hwloc_get_numanode_obj_by_os_index(topology, (unsigned)(kind - SAGOI_KIND_NODE));
    if (kind == SAGOI_KIND_KERNEL)
        return NULL;
    if (kind == SAGOI_KIND_CAPACITY)
        return largest(topology);
    found = best_measured(topology,
                          kind == SAGOI_KIND_BANDWIDTH ? HWLOC_MEMATTR_ID_BANDWIDTH : HWLOC_MEMATTR_ID_LATENCY);
    return found || kind != SAGOI_KIND_BANDWIDTH ? found : fast_by_name(topology);
}

/* ---- This machine ---- */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static hwloc_topology_t own; /* NULL: it cannot be loaded */

static void load_own(void) {
    if (hwloc_topology_init(&own) != 0)
        own = NULL;
    else if (hwloc_topology_load(own) != 0) {
        hwloc_topology_destroy(own);
        own = NULL;
    }
}

static hwloc_topology_t this_or(void *hwloc_topology) {
    if (hwloc_topology)
        return hwloc_topology;
    (void)pthread_once(&once, load_own);
    return own;
}

int64_t sagoi_memory_kind_node(void *hwloc_topology, int64_t kind) {
    hwloc_topology_t topology = this_or(hwloc_topology);
    hwloc_obj_t node = topology && kind != SAGOI_KIND_ANY ? choose(topology, kind) : NULL;
    return node ? (int64_t)node->os_index : -1;
}

/* ---- Domains ---- */

/* Is there an earlier node with the same cores? */
static bool repeats(hwloc_topology_t topology, hwloc_obj_t node) {
    hwloc_obj_t other = NULL;
    while ((other = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, other)) && other != node)
        if (hwloc_bitmap_isequal(other->cpuset, node->cpuset))
            return true;
    return false;
}

int64_t sagoi_memory_fast(void *hwloc_topology) {
    hwloc_topology_t topology = this_or(hwloc_topology);
    hwloc_obj_t fast = topology ? choose(topology, SAGOI_KIND_BANDWIDTH) : NULL, other = NULL;
    while (fast && (other = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, other)))
        if (other != fast && hwloc_bitmap_isequal(other->cpuset, fast->cpuset))
            return (int64_t)fast->attr->numanode.local_memory;
    return 0;
}

int64_t sagoi_numa_domains(void *hwloc_topology) {
    hwloc_topology_t topology = this_or(hwloc_topology);
    hwloc_obj_t node = NULL;
    int64_t domains = 0;
    while (topology && (node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node)))
        domains += !hwloc_bitmap_iszero(node->cpuset) && !repeats(topology, node);
    return domains > 0 ? domains : 1;
}

/* ---- Preferring ---- */

/* hwloc binds as far as there is room: without HWLOC_MEMBIND_STRICT the kernel takes pages of other nodes when the
 * preferred node is full. */
bool sagoi_memory_prefer(int64_t kind) {
    int64_t number = sagoi_memory_kind_node(NULL, kind);
    hwloc_obj_t node = number < 0 ? NULL : hwloc_get_numanode_obj_by_os_index(own, (unsigned)number);
    return node && hwloc_set_membind(own, node->nodeset, HWLOC_MEMBIND_BIND,
                                     HWLOC_MEMBIND_THREAD | HWLOC_MEMBIND_BYNODESET) == 0;
}

void sagoi_memory_prefer_end(void) {
    (void)hwloc_set_membind(own, hwloc_topology_get_topology_nodeset(own), HWLOC_MEMBIND_DEFAULT,
                            HWLOC_MEMBIND_THREAD | HWLOC_MEMBIND_BYNODESET);
}
