/* Which NUMA node a kind of memory means: on machines that are described to hwloc, and on this one. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <hwloc.h>

#include "machine/memory_kind.h"
#include "support/unit.h"

static hwloc_topology_t described(const char *text) {
    hwloc_topology_t topology;
    assert_int_equal(hwloc_topology_init(&topology), 0);
    assert_int_equal(hwloc_topology_set_synthetic(topology, text), 0);
    assert_int_equal(hwloc_topology_load(topology), 0);
    return topology;
}

static hwloc_obj_t numa(hwloc_topology_t topology, unsigned i) {
    return hwloc_get_obj_by_type(topology, HWLOC_OBJ_NUMANODE, i);
}

/* As a node of Theta: much memory, and 16 GiB of faster one. */
static void two_kinds(void **state) {
    hwloc_topology_t topology = described("[numa(memory=206158430208)] [numa(memory=17179869184)] core:8 pu:1");
    hwloc_obj_t large = numa(topology, 0), fast = numa(topology, 1);
    assert_int_equal(sagoi_memory_kind_node(topology, SAGOI_KIND_CAPACITY), large->os_index);
    assert_int_equal(sagoi_memory_kind_node(topology, SAGOI_KIND_BANDWIDTH), -1); /* nobody has said */
    fast->subtype = strdup("MCDRAM");                                             /* hwloc frees it */
    assert_int_equal(sagoi_memory_kind_node(topology, SAGOI_KIND_BANDWIDTH), fast->os_index);
    struct hwloc_location from = {.type = HWLOC_LOCATION_TYPE_CPUSET,
                                  .location = {.cpuset = hwloc_get_root_obj(topology)->cpuset}};
    assert_int_equal(hwloc_memattr_set_value(topology, HWLOC_MEMATTR_ID_BANDWIDTH, large, &from, 0, 90000), 0);
    assert_int_equal(hwloc_memattr_set_value(topology, HWLOC_MEMATTR_ID_BANDWIDTH, fast, &from, 0, 80000), 0);
    assert_int_equal(hwloc_memattr_set_value(topology, HWLOC_MEMATTR_ID_LATENCY, large, &from, 0, 130), 0);
    assert_int_equal(hwloc_memattr_set_value(topology, HWLOC_MEMATTR_ID_LATENCY, fast, &from, 0, 150), 0);
    assert_int_equal(sagoi_memory_kind_node(topology, SAGOI_KIND_BANDWIDTH),
                     large->os_index); /* figures beat names */
    assert_int_equal(hwloc_memattr_set_value(topology, HWLOC_MEMATTR_ID_BANDWIDTH, fast, &from, 0, 400000), 0);
    assert_int_equal(sagoi_memory_kind_node(topology, SAGOI_KIND_BANDWIDTH), fast->os_index);
    assert_int_equal(sagoi_memory_kind_node(topology, SAGOI_KIND_LATENCY), large->os_index);
    assert_int_equal(sagoi_memory_kind_node(topology, SAGOI_KIND_NODE + 1), 1);
    assert_int_equal(sagoi_memory_kind_node(topology, SAGOI_KIND_NODE + 9), -1);
    assert_int_equal(sagoi_memory_kind_node(topology, SAGOI_KIND_ANY), -1);
    hwloc_topology_destroy(topology);
}

/* HBM beside DDR is fast memory, DDR beside memory behind CXL is, and what nobody can tell apart is not. */
static void fast_memory(void **state) {
    static const char *const one = "[numa(memory=137438953472)] core:8 pu:1";
    static const char *const both = "[numa(memory=137438953472)] [numa(memory=68719476736)] core:8 pu:1";
    static const char *const sockets = "package:2 [numa(memory=1073741824)] core:4 pu:2";
    hwloc_topology_t topology = described(one);
    assert_int_equal(sagoi_memory_fast(topology), 0);
    hwloc_topology_destroy(topology);
    topology = described(sockets); /* another socket's memory is not beside it */
    numa(topology, 1)->subtype = strdup("HBM");
    assert_int_equal(sagoi_memory_fast(topology), 0);
    hwloc_topology_destroy(topology);
    topology = described(both);
    assert_int_equal(sagoi_memory_fast(topology), 0);
    numa(topology, 1)->subtype = strdup("HBM");
    assert_int_equal(sagoi_memory_fast(topology), INT64_C(68719476736));
    struct hwloc_location from = {.type = HWLOC_LOCATION_TYPE_CPUSET,
                                  .location = {.cpuset = hwloc_get_root_obj(topology)->cpuset}};
    assert_int_equal(
        hwloc_memattr_set_value(topology, HWLOC_MEMATTR_ID_BANDWIDTH, numa(topology, 0), &from, 0, 90), 0);
    assert_int_equal(
        hwloc_memattr_set_value(topology, HWLOC_MEMATTR_ID_BANDWIDTH, numa(topology, 1), &from, 0, 40), 0);
    assert_int_equal(sagoi_memory_fast(topology), INT64_C(137438953472));
    hwloc_topology_destroy(topology);
}

/* What HWLOC_XMLFILE shows of a machine is taken for this one: of its own process, since it is loaded once. */
static void shown_by_a_file(void **state) {
    char path[] = "/tmp/sago-hbm-XXXXXX";
    int fd = mkstemp(path), status = -1;
    hwloc_topology_t topology = described("[numa(memory=2147483648)] [numa(memory=1073741824)] core:4 pu:1");
    assert_true(fd >= 0 && close(fd) == 0);
    numa(topology, 1)->subtype = strdup("HBM");
    assert_int_equal(hwloc_topology_export_xml(topology, path, 0), 0);
    hwloc_topology_destroy(topology);
    pid_t child = fork();
    if (child == 0) {
        bool right = setenv("HWLOC_XMLFILE", path, 1) == 0 && sagoi_memory_fast(NULL) == 1073741824 &&
                     sagoi_memory_kind_node(NULL, SAGOI_KIND_BANDWIDTH) == 1;
        _exit(right ? 0 : 1);
    }
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(status, 0);
}

/* Memory beside other memory of the same cores is no domain of its own. */
static void domains(void **state) {
    static const struct {
        const char *text;
        int64_t domains;
    } nodes[] = {{"core:8 pu:1", 1},
                 {"[numa(memory=206158430208)] [numa(memory=17179869184)] core:8 pu:1", 1},
                 {"package:2 [numa(memory=1073741824)] core:4 pu:2", 2},
                 {"package:1 numa:4 core:12 pu:1", 4},
                 {"package:2 group:2 [numa(memory=1048576)] [numa(memory=4096)] core:2 pu:1", 4}};
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
        hwloc_topology_t topology = described(nodes[i].text);
        assert_int_equal(sagoi_numa_domains(topology), nodes[i].domains);
        hwloc_topology_destroy(topology);
    }
    assert_true(sagoi_numa_domains(NULL) >= 1);
}

static void texts(void **state) {
    static const char *const wrong[] = {"fast", "-1", "1x", "4096", " 1"};
    int64_t kind = -1;
    assert_int_equal(sagoi_memory_kind_parse("", &kind), SAGO_OK);
    assert_int_equal(kind, SAGOI_KIND_ANY);
    assert_int_equal(sagoi_memory_kind_parse("bandwidth", &kind), SAGO_OK);
    assert_int_equal(kind, SAGOI_KIND_BANDWIDTH);
    assert_int_equal(sagoi_memory_kind_parse("capacity", &kind), SAGO_OK);
    assert_int_equal(kind, SAGOI_KIND_CAPACITY);
    assert_int_equal(sagoi_memory_kind_parse("kernel", &kind), SAGO_OK);
    assert_int_equal(kind, SAGOI_KIND_KERNEL);
    assert_int_equal(sagoi_memory_kind_node(NULL, kind), -1);
    assert_int_equal(sagoi_memory_kind_parse("3", &kind), SAGO_OK);
    assert_int_equal(kind, SAGOI_KIND_NODE + 3);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(sagoi_memory_kind_parse(wrong[i], &kind), SAGO_ERR_HINT);
}

/* Pages of shared memory are on each node of this machine that was asked for; where the system lets us. */
static void pages_are_there(void **state) {
    hwloc_topology_t topology;
    assert_int_equal(hwloc_topology_init(&topology), 0);
    assert_int_equal(hwloc_topology_load(topology), 0);
    int tried = 0;
    for (hwloc_obj_t node = NULL; (node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node));) {
        enum { BYTES = 1 << 20 };
        if (!sagoi_memory_prefer(SAGOI_KIND_NODE + (int64_t)node->os_index))
            continue;
        int fd = memfd_create("test", MFD_CLOEXEC), where = -1;
        assert_int_equal(posix_fallocate(fd, 0, BYTES), 0);
        sagoi_memory_prefer_end();
        char *base = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        assert_ptr_not_equal(base, MAP_FAILED);
        base[0] = 1;
        void *page = base;
        if (syscall(SYS_move_pages, 0, 1L, &page, NULL, &where, 0) == 0)
            assert_int_equal(where, node->os_index);
        tried++;
        munmap(base, BYTES);
        close(fd);
    }
    hwloc_topology_destroy(topology);
    if (!tried) {
        printf("SKIP: this system lets nobody choose where memory is\n");
        skip();
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(shown_by_a_file), cmocka_unit_test(two_kinds),
                                       cmocka_unit_test(fast_memory),     cmocka_unit_test(domains),
                                       cmocka_unit_test(texts),           cmocka_unit_test(pages_are_there)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
