/* RUN: n=4 */
/* Windows are in the memory that the hint sago_memory_kind names, or else in the one that the plan wants (000, VI:
 * movement between levels of memory).  hwloc is shown a machine with fast memory that is not there, so where pages
 * would be bound is recorded instead, and what is bound when the windows are made. */
#include <errno.h>
#include <sys/syscall.h>

#include <hwloc.h>

#include "mpi/check.h"
#include "mpi/fake_nodes.h"

enum { NODE_RANKS = 2, RUN = 1000, TURNS = 200, NOWHERE = -1, NOT_MADE = -2 };

static int bound = NOWHERE, made_at;

int hwloc_set_membind(hwloc_topology_t topology, hwloc_const_bitmap_t set, hwloc_membind_policy_t policy,
                      int flags) {
    (void)topology, (void)flags;
    bound = policy == HWLOC_MEMBIND_BIND ? hwloc_bitmap_first(set) : NOWHERE;
    return 0;
}

/* Of shared memory: the system's own function for files, too. */
int posix_fallocate(int fd, off_t from, off_t bytes) {
    char link[32], name[CHECK_PATH_MAX] = "";
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    if (readlink(link, name, sizeof name - 1) > 0 && strstr(name, "memfd:sago") && bytes >= RUN * TURNS)
        made_at = bound;
    return syscall(SYS_fallocate, fd, 0, from, bytes) == 0 ? 0 : errno;
}

/* Node 0 has 2 GiB, node 1 beside it has 1 GiB of memory that is called HBM. */
static void show_machine(void) {
    char path[CHECK_PATH_MAX + 16];
    hwloc_topology_t topology;
    (void)snprintf(path, sizeof path, "%s.%d", scratch("machine.xml"), rank);
    CHECK(hwloc_topology_init(&topology) == 0);
    CHECK(hwloc_topology_set_synthetic(topology,
                                       "[numa(memory=2147483648)] [numa(memory=1073741824)] core:4 pu:1") == 0);
    CHECK(hwloc_topology_load(topology) == 0);
    hwloc_get_obj_by_type(topology, HWLOC_OBJ_NUMANODE, 1)->subtype = strdup("HBM");
    CHECK(hwloc_topology_export_xml(topology, path, 0) == 0);
    hwloc_topology_destroy(topology);
    CHECK(setenv("HWLOC_XMLFILE", path, 1) == 0);
}

static void write_with(const char *kind, int wanted) {
    static unsigned char data[TURNS * RUN];
    sago_extent extents[TURNS];
    sago_file *file = NULL;
    char hints[160];
    scene = kind;
    for (int64_t i = 0; i < TURNS; i++)
        extents[i] = (sago_extent){.offset = (i * ranks + rank) * RUN, .length = RUN};
    (void)snprintf(hints, sizeof hints, "sago_strategy=aggregated sago_aggregators=2 sago_window=128K %s", kind);
    made_at = NOT_MADE;
    CHECK_OK(open_hinted(fresh("windows"), MPI_MODE_RDWR | MPI_MODE_CREATE, hints, &file));
    CHECK_OK(sago_write_extents_all(file, TURNS, extents, data));
    CHECK_OK(sago_close(&file));
    CHECK_INT(bound, NOWHERE);
    if (rank % NODE_RANKS == 0) /* makes them */
        CHECK_INT(made_at, wanted);
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    show_machine();
    fake_node_ranks = NODE_RANKS;
    write_with("sago_memory_kind=bandwidth", 1);
    write_with("sago_memory_kind=capacity", 0);
    write_with("sago_memory_kind=1", 1);
    write_with("sago_memory_kind=kernel", NOWHERE);
    write_with("", 1); /* by the plan: they take less than an eighth of it */
    return check_end();
}
