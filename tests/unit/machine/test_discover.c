/* Discovery from fabricated files: Slurm's tree, site files, descriptions, and who wins. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/discover.h"
#include "support/unit.h"

static char folder[256];

static int folder_create(void **state) {
    (void)snprintf(folder, sizeof folder, "/tmp/sago-discover-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int folder_destroy(void **state) {
    char command[300];
    (void)snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

typedef struct path_text {
    char text[512];
} path_text;

static path_text put(const char *name, const char *text) {
    path_text path;
    (void)snprintf(path.text, sizeof path.text, "%s/%s", folder, name);
    FILE *file = fopen(path.text, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    return path;
}

enum { NODES = 4 };
static const sagoi_node_name four[NODES] = {
    {.host = "n3.example.org"}, {.host = "n0"}, {.host = "n2"}, {.host = "n1"}};

static sagoi_discover_options nothing(void) {
    static char slurm[512];
    (void)snprintf(slurm, sizeof slurm, "%s/nowhere/slurm.conf", folder);
    return (sagoi_discover_options){.machine = "", .site = "none", .slurm_conf = slurm};
}

/* ---- A site's own shared object ---- */

static path_text site_with(const char *library) {
    char text[700];
    (void)snprintf(text, sizeof text, "topology_library %s\n", library);
    return put("site", text);
}

static void test_site_library(void **state) {
    static const sagoi_node_name racks[3] = {{.host = "r2n5.example.org"}, {.host = "r0n0"}, {.host = "r2n6"}};
    const char *build = getenv("SAGO_BUILD");
    char path[512];
    sagoi_surroundings found;
    int64_t place[NODES];
    sagoi_discover_options options = nothing();
    (void)snprintf(path, sizeof path, "%s/bin/examples/site_topology.so", build ? build : ".");
    path_text site = site_with(path);
    options.site = site.text;
    assert_int_equal(sagoi_discover(&options, 3, racks, &found, place), SAGO_OK);
    assert_string_equal(found.machine, "racks");
    assert_non_null(strstr(found.source, "site_topology.so"));
    assert_int_equal(found.topology.kind, SAGOI_FAT_TREE);
    assert_int_equal(place[0], 2 * 32 + 5);
    assert_int_equal(place[1], 0);
    assert_int_equal(place[2], 2 * 32 + 6);
    assert_int_equal(sagoi_topology_distance(&found.topology, place[0], place[2]), 2);
    assert_int_equal(sagoi_topology_distance(&found.topology, place[0], place[1]), 4);
    assert_int_equal(sagoi_topology_gateways(&found.topology), 64);
    assert_int_equal(sagoi_topology_gateway_nearest(&found.topology, place[2]), 2);
    /* It knows nothing of these hosts: looked for elsewhere, and flat. */
    assert_int_equal(sagoi_discover(&options, NODES, four, &found, place), SAGO_OK);
    assert_int_equal(found.topology.kind, SAGOI_FLAT);
    /* Whoever names a machine has the last word; what is named and is not there is an error. */
    options.machine = "none";
    assert_int_equal(sagoi_discover(&options, 3, racks, &found, place), SAGO_OK);
    assert_int_equal(found.topology.kind, SAGOI_FLAT);
    options.machine = "";
    (void)site_with("/nowhere/it.so");
    assert_int_equal(sagoi_discover(&options, 3, racks, &found, place), SAGO_ERR_NO_FILE);
    (void)site_with("relative.so");
    assert_int_equal(sagoi_discover(&options, 3, racks, &found, place), SAGO_ERR_ARG);
}

/* ---- NUMA domains ---- */

/* What the nodes show counts, of the one with most, unless a description says it. */
static void test_numa(void **state) {
    sagoi_node_name shown[NODES];
    sagoi_surroundings found;
    int64_t place[NODES];
    sagoi_discover_options options = nothing();
    memcpy(shown, four, sizeof shown);
    assert_int_equal(sagoi_discover(&options, NODES, shown, &found, place), SAGO_OK);
    assert_int_equal(found.topology.numa, 0);
    for (int n = 0; n < NODES; n++)
        shown[n].numa = n == 2 ? 8 : 2;
    assert_int_equal(sagoi_discover(&options, NODES, shown, &found, place), SAGO_OK);
    assert_int_equal(found.topology.numa, 8);
    path_text machine = put("m.sago", "name m\ntopology flat 4\nlevel all latency 1us bandwidth 1GB/s\n"
                                      "ranks-per-node 2\nmemory 1GiB\nnuma 3\n");
    options.machine = machine.text;
    assert_int_equal(sagoi_discover(&options, NODES, shown, &found, place), SAGO_OK);
    assert_int_equal(found.topology.numa, 3);
}

/* Fast memory counts where all nodes show some, the least of them, unless a description has levels. */
static void test_memory_levels(void **state) {
    sagoi_node_name shown[NODES];
    sagoi_surroundings found;
    int64_t place[NODES];
    sagoi_discover_options options = nothing();
    memcpy(shown, four, sizeof shown);
    for (int n = 0; n < NODES; n++) {
        assert_int_equal(sagoi_discover(&options, NODES, shown, &found, place), SAGO_OK);
        assert_int_equal(found.topology.memory_levels, 0);
        shown[n].fast = (n == 1 ? 8 : 16) << 20;
    }
    assert_int_equal(sagoi_discover(&options, NODES, shown, &found, place), SAGO_OK);
    assert_int_equal(found.topology.memory_levels, 1);
    assert_int_equal(found.topology.memory_level[0].size, 8 << 20);
    path_text machine = put("l.sago", "name m\ntopology flat 4\nlevel all latency 1us bandwidth 1GB/s\n"
                                      "ranks-per-node 2\nmemory 1GiB\nmemory-level ddr size 1GiB bandwidth 9GB/s\n"
                                      "memory-level hbm size 64MiB bandwidth 40GB/s\n");
    options.machine = machine.text;
    assert_int_equal(sagoi_discover(&options, NODES, shown, &found, place), SAGO_OK);
    assert_int_equal(found.topology.memory_levels, 2);
    assert_string_equal(found.topology.memory_level[1].name, "hbm");
    assert_int_equal(found.topology.memory_level[1].size, 64 << 20);
    assert_true(found.topology.memory_level[1].bandwidth == 40e9);
}

/* ---- Slurm's tree ---- */

static const char tree[] = "# two leaves\nSwitchName=leaf0 Nodes=n[0-1]\nSwitchName=leaf1 Nodes=n[2-3],n7\n"
                           "SwitchName=top Switches=leaf[0-1] LinkSpeed=100\n";

/* What was measured of the network: in a tree that Slurm tells each level has its own figures, too. */
static void test_slurm_figures(void **state) {
    static const struct {
        const char *site;
        double near, far, bandwidth; /* the latencies; of far nodes */
    } cases[] = {
        {"network latency 2us bandwidth 4GB/s\n", 2e-6, 4e-6, 4e9},
        {"network latency 2us bandwidth 4GB/s\nbetween_racks latency 6us bandwidth 1GB/s\n", 2e-6, 6e-6, 1e9},
        {"network latency 2us bandwidth 4GB/s\nbetween_racks latency 6us bandwidth 8GB/s\n", 2e-6, 6e-6, 4e9}};
    sagoi_surroundings found;
    int64_t place[NODES];
    (void)put("topology.conf", tree);
    path_text slurm = put("slurm.conf", "");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sagoi_discover_options options = nothing();
        path_text site = put("site", cases[i].site);
        options.slurm_conf = slurm.text;
        options.site = site.text;
        assert_int_equal(sagoi_discover(&options, NODES, four, &found, place), SAGO_OK);
        const sagoi_topology *t = &found.topology;
        assert_int_equal(sagoi_topology_distance(t, place[1], place[3]), 2);
        assert_int_equal(sagoi_topology_distance(t, place[1], place[0]), 4);
        assert_true(fabs(sagoi_topology_latency(t, place[1], place[3]) - cases[i].near) < 1e-9);
        assert_true(fabs(sagoi_topology_latency(t, place[1], place[0]) - cases[i].far) < 1e-9);
        assert_true(sagoi_topology_bandwidth(t, place[1], place[3]) == 4e9);
        assert_true(sagoi_topology_bandwidth(t, place[1], place[0]) == cases[i].bandwidth);
        assert_int_equal(sagoi_topology_uplinks(t, 1), cases[i].bandwidth < 4e9 ? 1 : t->extent[1]);
    }
}

static void test_slurm_conf(void **state) {
    sagoi_surroundings found;
    int64_t place[NODES];
    path_text conf = put("topology.conf", tree);
    sagoi_discover_options options = nothing();
    path_text slurm = put("slurm.conf", "");
    options.slurm_conf = slurm.text;
    assert_int_equal(sagoi_discover(&options, NODES, four, &found, place), SAGO_OK);
    assert_string_equal(found.source, conf.text);
    assert_int_equal(found.topology.kind, SAGOI_FAT_TREE);
    assert_int_equal(found.topology.places, 6);
    assert_int_equal(place[0], 4);
    assert_int_equal(place[1], 0);
    assert_int_equal(place[2], 3);
    assert_int_equal(place[3], 1);
    assert_int_equal(sagoi_topology_distance(&found.topology, place[1], place[3]), 2);
    assert_int_equal(sagoi_topology_distance(&found.topology, place[1], place[0]), 4);
    /* Found, but not understood: left out. */
    (void)put("topology.conf", "SwitchName=a Switches=b\nSwitchName=b Switches=a\n");
    assert_int_equal(sagoi_discover(&options, NODES, four, &found, place), SAGO_OK);
    assert_int_equal(found.topology.kind, SAGOI_FLAT);
    for (int n = 0; n < NODES; n++)
        assert_int_equal(place[n], n);
    /* Understood, but of other hosts. */
    (void)put("topology.conf", "SwitchName=a Nodes=m[0-9]\n");
    assert_int_equal(sagoi_discover(&options, NODES, four, &found, place), SAGO_OK);
    assert_int_equal(found.topology.kind, SAGOI_FLAT);
    assert_int_equal(place[3], 3);
}

static void assert_slurm_says(const char *text, const char *says) {
    sagoi_topology t = {.places = 0};
    sagoi_hostlist hosts = {0};
    assert_int_equal(sagoi_slurm_parse("t", text, (int64_t)strlen(text), &t, &hosts), SAGO_ERR_ARG);
    if (strncmp(sagoi_message(), says, strlen(says)) != 0)
        fail_msg("says '%s', not '%s'", sagoi_message(), says);
    sagoi_hostlist_cleanup(&hosts);
}

static void test_slurm_refusals(void **state) {
    assert_slurm_says("", "t:0: no switch");
    assert_slurm_says("SwitchName=a Nodes=n1\nSwitchName=a Nodes=n2\n", "t:2: switch a is on line 1 already");
    assert_slurm_says("SwitchName=a Switches=b\nSwitchName=b Switches=a\n", "t:1: switch a: it is above itself");
    assert_slurm_says("SwitchName=a Switches=zz\n", "t:1: switch a: no such switch below it: zz");
    assert_slurm_says("SwitchName=a\n", "t:1: a switch needs");
    assert_slurm_says("SwitchName=a Nodes=n1 Switches=b\n", "t:1: a switch needs");
    assert_slurm_says("\nSwitchName=a Nodes=n[2-1]\n", "t:2: a range of hosts");
    assert_slurm_says("SwitchName=a Nodes=n[1-9999999]\nSwitchName=b Nodes=m1\n",
                      "t:2: the switches make more than");
    assert_slurm_says("Switch a\n", "t:1: 'Switch' is no KEY=VALUE");
}

static void test_slurm_addresses(void **state) {
    sagoi_node_name named[NODES] = {{.host = "n0", .address = "top.s1.n0"},
                                    {.host = "n1", .address = "top.s0.n1"},
                                    {.host = "n2", .address = "top.s1.n2"},
                                    {.host = "n3", .address = "top.s10.n3"}};
    sagoi_surroundings found;
    int64_t place[NODES];
    sagoi_discover_options options = nothing();
    assert_int_equal(sagoi_discover(&options, NODES, named, &found, place), SAGO_OK);
    assert_string_equal(found.source, "SLURM_TOPOLOGY_ADDR");
    assert_int_equal(found.topology.kind, SAGOI_FAT_TREE);
    for (int a = 0; a < NODES; a++)
        for (int b = 0; b < NODES; b++) {
            int64_t hops = a == b ? 0 : a + b == 2 && a != b && a != 1 ? 2 : 4;
            assert_int_equal(sagoi_topology_distance(&found.topology, place[a], place[b]), hops);
        }
    named[2].address[0] = '\0'; /* one node without: nothing is made of the others */
    assert_int_equal(sagoi_discover(&options, NODES, named, &found, place), SAGO_OK);
    assert_int_equal(found.topology.kind, SAGOI_FLAT);
}

static void assert_job(const char *nodes, const char *tasks, int64_t hosts, int64_t most) {
    sagoi_slurm_job job;
    assert_int_equal(sagoi_slurm_job_parse(nodes, tasks, &job), SAGO_OK);
    assert_int_equal(job.hosts.hosts, hosts);
    assert_int_equal(job.tasks, most);
    sagoi_slurm_job_cleanup(&job);
}

static void test_slurm_job(void **state) {
    sagoi_slurm_job job;
    static const char *const wrong[] = {"",     "x",     "0",  "2(x3",   "2(3)", "2(x0)",
                                        "2,,3", "2,",    "-1", "2 (x3)", "2x3",  "99999999999999999999",
                                        "2(x)", "2(x3)z"};
    assert_job("n[1-3,7]", "2(x3),1", 4, 2);
    assert_job("login1", "16", 1, 16);
    assert_job("nid[00008-00011],gpu2", "4,8(x2),4(x2)", 5, 8);
    assert_job("n[1-3]", NULL, 3, 0);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(sagoi_slurm_job_parse("n1", wrong[i], &job), SAGO_ERR_ARG);
    assert_int_equal(sagoi_slurm_job_parse("", NULL, &job), SAGO_ERR_ARG);
    assert_int_equal(sagoi_slurm_job_parse("n[3-1]", NULL, &job), SAGO_ERR_ARG);
}

/* Slurm's name of a node counts where the host's is not one of the job's. */
static void test_slurm_names(void **state) {
    assert_string_equal(sagoi_slurm_node("n[1-4]", "ip-10-0-0-7", "n2"), "n2");
    assert_string_equal(sagoi_slurm_node("n[1-4]", "n3", "n2"), "n3"); /* copied from another node */
    assert_string_equal(sagoi_slurm_node("n[1-4]", "n3.site.org", "n2"), "n3.site.org");
    assert_string_equal(sagoi_slurm_node("n[1-4]", "other", "n9"), "other");
    assert_string_equal(sagoi_slurm_node("n[", "other", "n1"), "other");
    assert_string_equal(sagoi_slurm_node(NULL, "other", "n1"), "other");
    assert_string_equal(sagoi_slurm_node("n[1-4]", "other", NULL), "other");
    sagoi_node_name name;
    assert_int_equal(setenv("SLURM_JOB_NODELIST", "rack[1-2]node[1-9]", 1) | setenv("SLURMD_NODENAME", "gpu7", 1),
                     0);
    sagoi_node_name_ask(&name); /* a list that is not understood here */
    assert_string_not_equal(name.host, "gpu7");
    assert_int_equal(setenv("SLURM_JOB_NODELIST", "gpu[7-8]", 1), 0);
    sagoi_node_name_ask(&name);
    assert_string_equal(name.host, "gpu7");
    assert_int_equal(unsetenv("SLURM_JOB_NODELIST") | unsetenv("SLURMD_NODENAME"), 0);
}

/* ---- The site file, and descriptions ---- */

#define MACHINE                                                                                                   \
    "name x\ntopology torus 2 3\nlevel all latency 1us bandwidth 1GB/s\nranks-per-node 2\nmemory 1GiB\n"

static void test_site(void **state) {
    sagoi_surroundings found;
    int64_t place[NODES];
    sagoi_discover_options options = nothing();
    path_text machine = put("x.sago", MACHINE "hosts n[0-5]\n");
    char text[2048];
    (void)snprintf(text, sizeof text,
                   "machine %s\nsago_local_dirs /a:/b\nsago_aggregators_per_node 4\nsago_domain_write "
                   "32M\nsago_domain_read 128M\n"
                   "sago_group_size 1G\nsago_host_memory 5M\nio latency 1ms bandwidth 2GB/s\nlink n2,n7 bandwidth "
                   "100Mbit/s\n",
                   machine.text);
    path_text site = put("site", text);
    options.site = site.text;
    assert_int_equal(sagoi_discover(&options, NODES, four, &found, place), SAGO_OK);
    assert_string_equal(found.machine, "x");
    assert_string_equal(found.local_dirs, "/a:/b");
    assert_int_equal(found.tuned.aggregators_per_node, 4);
    assert_int_equal(found.tuned.domain_write, 32 << 20);
    assert_int_equal(found.tuned.domain_read, 128 << 20);
    assert_int_equal(found.tuned.group, 1 << 30);
    assert_int_equal(found.tuned.least_memory, 5 << 20);
    assert_true(found.topology.io.bandwidth == 2e9);
    assert_int_equal(place[0], 3);
    assert_true(sagoi_topology_bandwidth(&found.topology, 2, 3) == 12.5e6);
    assert_true(sagoi_topology_bandwidth(&found.topology, 1, 3) == 1e9);
    /* Storage that not all share, as described, unless the site file says it. */
    path_text tiers = put("z.sago", MACHINE "tier all shared all path /all\ntier ssd shared node path /ssd\n"
                                            "tier none shared node\ntier rack shared rack block 2 path /rack\n");
    sagoi_discover_options described = nothing();
    described.machine = tiers.text;
    assert_int_equal(sagoi_discover(&described, NODES, four, &found, place), SAGO_OK);
    assert_string_equal(found.local_dirs, "/ssd:/rack");
    described.site = site.text;
    assert_int_equal(sagoi_discover(&described, NODES, four, &found, place), SAGO_OK);
    assert_string_equal(found.local_dirs, "/a:/b");
    /* The hint wins over the site file. */
    path_text other = put("y.sago", MACHINE);
    options.machine = other.text;
    assert_int_equal(sagoi_discover(&options, NODES, four, &found, place), SAGO_OK);
    assert_int_equal(place[0], 0);
    options.machine = "none";
    assert_int_equal(sagoi_discover(&options, NODES, four, &found, place), SAGO_OK);
    assert_int_equal(found.topology.kind, SAGOI_FLAT);
    assert_int_equal(found.tuned.aggregators_per_node, 4);
}

static void assert_discover_fails(const sagoi_discover_options *options, sago_status with, const char *says) {
    sagoi_surroundings found;
    int64_t place[NODES];
    assert_int_equal(sagoi_discover(options, NODES, four, &found, place), with);
    if (!strstr(sagoi_message(), says))
        fail_msg("'%s' does not say '%s'", sagoi_message(), says);
}

static void test_named_must_be_right(void **state) {
    sagoi_discover_options options = nothing();
    path_text small = put("small.sago", "name x\ntopology flat 3\nlevel 0 latency 1us bandwidth 1GB/s\n"
                                        "ranks-per-node 2\nmemory 1GiB\n");
    options.machine = small.text;
    assert_discover_fails(&options, SAGO_ERR_ARG, "it has 3 nodes, the job runs on 4");
    path_text others = put("others.sago", MACHINE "hosts m[0-5]\n");
    options.machine = others.text;
    assert_discover_fails(&options, SAGO_ERR_ARG, "host n3.example.org is not among its hosts");
    options.machine = "no-such-machine";
    assert_discover_fails(&options, SAGO_ERR_NO_FILE, "no-such-machine");
    options.machine = "/nowhere/x.sago";
    assert_discover_fails(&options, SAGO_ERR_NO_FILE, "/nowhere/x.sago");
    options.machine = "";
    path_text broken = put("broken", "machine\n");
    options.site = broken.text;
    assert_discover_fails(&options, SAGO_ERR_ARG, "broken:1: machine takes one word");
    options.site = "/nowhere/site";
    assert_discover_fails(&options, SAGO_ERR_NO_FILE, "/nowhere/site");
    sagoi_node_name twins[2] = {{.host = "n1"}, {.host = "n1"}};
    path_text mine = put("mine.sago", MACHINE "hosts n[0-5]\n");
    sagoi_surroundings found;
    int64_t place[2];
    options.site = "none";
    options.machine = mine.text;
    assert_int_equal(sagoi_discover(&options, 2, twins, &found, place), SAGO_ERR_ARG);
    assert_non_null(strstr(sagoi_message(), "same name"));
}

/* Racks are used where nothing else is known of the network, and where they have all nodes of the job. */
static void test_racks(void **state) {
    sagoi_surroundings found;
    int64_t place[NODES];
    sagoi_discover_options options = nothing();
    static const char text[] = "network latency 2us bandwidth 4GB/s\nbetween_racks latency 6us bandwidth 1GB/s\n"
                               "rack n0,n2\nrack n[1-1],n[3-5]\n";
    path_text site = put("site", text);
    options.site = site.text;
    assert_int_equal(sagoi_discover(&options, NODES, four, &found, place), SAGO_OK);
    assert_string_equal(found.source, "the site file's racks");
    const sagoi_topology *t = &found.topology;
    assert_int_equal(t->kind, SAGOI_FAT_TREE);
    assert_int_equal(place[1], 0); /* n0, n2, n1, n3 */
    assert_int_equal(place[2], 1);
    assert_int_equal(place[3], 4);
    assert_int_equal(place[0], 5);
    assert_true(sagoi_topology_bandwidth(t, place[1], place[2]) == 4e9);
    assert_true(sagoi_topology_bandwidth(t, place[1], place[3]) == 1e9);
    assert_int_equal(sagoi_topology_uplinks(t, 1), 1); /* that one pair of nodes fills */
    double near = sagoi_topology_latency(t, place[1], place[2]),
           far = sagoi_topology_latency(t, place[1], place[3]);
    assert_true(near > 1.9e-6 && near < 2.1e-6 && far > 5.9e-6 && far < 6.1e-6);
    static const char *const useless[] = {
        "network latency 2us bandwidth 4GB/s\nbetween_racks latency 6us bandwidth 1GB/s\nrack n0,n2\nrack n1\n",
        "network latency 2us bandwidth 4GB/s\nrack n0,n2\nrack n1,n3\n",
        "between_racks latency 6us bandwidth 1GB/s\nrack n[0-3]\n"};
    for (size_t i = 0; i < sizeof useless / sizeof *useless; i++) {
        (void)put("site", useless[i]);
        assert_int_equal(sagoi_discover(&options, NODES, four, &found, place), SAGO_OK);
        assert_int_equal(found.topology.kind, SAGOI_FLAT);
        assert_int_equal(place[3], 3);
    }
    sagoi_site read, again; /* written and read back */
    assert_int_equal(sagoi_site_read(put("read", text).text, &read), SAGO_OK);
    char *written = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&written, &length);
    sagoi_site_write(&read, out);
    assert_int_equal(fclose(out), 0);
    assert_int_equal(sagoi_site_read(put("again", written).text, &again), SAGO_OK);
    assert_true(again.racks == 2 && again.rack[1].hosts == 4 && again.between.bandwidth == 1e9);
    free(written);
    sagoi_site_cleanup(&read);
    sagoi_site_cleanup(&again);
    /* Whoever knows more has the last word. */
    (void)put("site", text);
    (void)put("topology.conf", tree);
    path_text slurm = put("slurm.conf", "");
    options.slurm_conf = slurm.text;
    assert_int_equal(sagoi_discover(&options, NODES, four, &found, place), SAGO_OK);
    assert_non_null(strstr(found.source, "topology.conf"));
}

static void assert_site_says(const char *text, const char *says) {
    sagoi_site site;
    assert_int_equal(sagoi_site_read(put("s", text).text, &site), SAGO_ERR_ARG);
    const char *message = strstr(sagoi_message(), "/s:"); /* behind the folder of the file */
    if (!message || strncmp(message + 1, says, strlen(says)) != 0)
        fail_msg("says '%s', not '%s'", sagoi_message(), says);
}

static void test_site_refusals(void **state) {
    assert_site_says("speed 3\n", "s:1: unknown key 'speed'");
    assert_site_says("sago_group_size 1G\nsago_group_size 1G\n", "s:2: sago_group_size is given already");
    assert_site_says("sago_group_size 0\n", "s:1: sago_group_size takes one size above zero");
    assert_site_says("sago_group_size -1\n", "s:1: sago_group_size takes one size above zero");
    assert_site_says("sago_group_size 99999999999999999999G\n", "s:1: sago_group_size takes one size above zero");
    assert_site_says("sago_aggregators_per_node 0\n",
                     "s:1: sago_aggregators_per_node takes one number above zero");
    assert_site_says("\n\nnetwork latency 1us\n", "s:3: network is followed by");
    assert_site_says("network latency 1us bandwidth 0B/s\n", "s:1: network: '0B/s' is not a bandwidth");
    assert_site_says("rack\n", "s:1: rack is followed by HOSTS");
    assert_site_says("rack n[\n", "s:1: '[' without ']'");
    assert_site_says("between_racks latency 1us\n", "s:1: between_racks is followed by");
    assert_site_says("link n1 bandwidth x\n", "s:1: link is followed by");
    assert_site_says("link n[ bandwidth 1GB/s\n", "s:1: '[' without ']'");
}

/* What is shipped is found by name, from where this program is. */
static void test_shipped(void **state) {
    sagoi_description d;
    char path[4096];
    if (!sagoi_installed("share/sago/machines", path, sizeof path))
        assert_true(
            sagoi_installed("../share/sago/machines", path, sizeof path)); /* tests/unit/machine of a tree */
    (void)snprintf(path + strlen(path), 64, "/theta.sago");
    assert_int_equal(sagoi_machine_load(path, &d), SAGO_OK);
    sagoi_description_cleanup(&d);
}

static void test_inside(void **state) {
    sagoi_inside inside = sagoi_inside_ask();
    assert_true(inside.cores >= 1 && inside.packages >= 1 && inside.numa >= 1);
    sagoi_node_name name;
    assert_int_equal(setenv("SLURM_TOPOLOGY_ADDR", "a.b.c", 1), 0);
    sagoi_node_name_ask(&name);
    assert_string_equal(name.address, "a.b.c");
    assert_true(name.host[0] != '\0');
    assert_int_equal(unsetenv("SLURM_TOPOLOGY_ADDR"), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_site_library),    cmocka_unit_test(test_numa),
        cmocka_unit_test(test_memory_levels),   cmocka_unit_test(test_slurm_figures),
        cmocka_unit_test(test_slurm_conf),      cmocka_unit_test(test_slurm_refusals),
        cmocka_unit_test(test_slurm_addresses), cmocka_unit_test(test_slurm_job),
        cmocka_unit_test(test_slurm_names),     cmocka_unit_test(test_site),
        cmocka_unit_test(test_racks),           cmocka_unit_test(test_named_must_be_right),
        cmocka_unit_test(test_site_refusals),   cmocka_unit_test(test_shipped),
        cmocka_unit_test(test_inside),
    };
    return cmocka_run_group_tests(tests, folder_create, folder_destroy);
}
