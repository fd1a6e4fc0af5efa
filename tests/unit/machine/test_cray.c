/* Names of Cray's components: what they say, what is none, and the tree that a job's nodes make. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "machine/cray.h"
#include "machine/discover.h"
#include "support/unit.h"

static bool address_of(const char *cname, char *address) {
    return sagoi_cray_address(cname, (int64_t)strlen(cname), "nid00012", address, SAGOI_ADDRESS_MAX);
}

static void names(void **state) {
    char address[SAGOI_ADDRESS_MAX];
    assert_true(address_of("c1-0c2s7n3\n", address));
    assert_string_equal(address, "c1-0.2.7.nid00012");
    assert_true(address_of("c3-10c2s15n0", address));
    assert_string_equal(address, "c3-10.2.15.nid00012");
    static const char *const wrong[] = {"",
                                        "c",
                                        "c1",
                                        "c1-0",
                                        "c1-0c2",
                                        "c1-0c2s7",
                                        "c1-0c2s7n",
                                        "c1-0c2s7n3x",
                                        "x1000c0s0b0n0",
                                        "c-1-0c2s7n3",
                                        "c1-0c2s7n99999",
                                        "c1 -0c2s7n3",
                                        "C1-0c2s7n3",
                                        "c1-0c2s7n3 x",
                                        "c1-0c2s7n3\nc",
                                        "c1-0c99999999999999999999s7n3"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(address_of(wrong[i], address));
    const char *host = "nid00012.site.org"; /* dots divide an address */
    assert_false(sagoi_cray_address("c1-0c2s7n3", 10, host, address, sizeof address));
    assert_false(sagoi_cray_address("c1-0c2s7n3", 10, "nid00012", address, 8));
}

/* Whatever the bytes are: no crash, and nothing past the end is read. */
static void any_bytes(void **state) {
    char address[SAGOI_ADDRESS_MAX];
    uint64_t seed = 1;
    for (int i = 0; i < 20000; i++) {
        static const char letters[] = "c-sn0123456789\n x.";
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        size_t length = (size_t)(seed >> 40) % 24;
        char *bytes = malloc(length + 1); /* exactly as long, for sanitizers */
        assert_non_null(bytes);
        for (size_t k = 0; k < length; k++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            bytes[k] = (seed >> 60) == 0 ? (char)(seed >> 40) : letters[(seed >> 40) % (sizeof letters - 1)];
        }
        char *exact = realloc(bytes, length ? length : 1);
        if (sagoi_cray_address(exact, (int64_t)length, "n1", address, sizeof address))
            assert_true(strlen(address) < 40);
        free(exact);
    }
}

static void files(void **state) {
    char root[] = "/tmp/sago-cray-XXXXXX", path[256], address[SAGOI_ADDRESS_MAX], command[300];
    assert_non_null(mkdtemp(root));
    assert_false(sagoi_cray_ask(root, "n1", address, sizeof address));
    (void)snprintf(path, sizeof path, "%s/proc", root);
    assert_int_equal(mkdir(path, 0755), 0);
    (void)snprintf(path, sizeof path, "%s/proc/cray_xt", root);
    assert_int_equal(mkdir(path, 0755), 0);
    (void)snprintf(path, sizeof path, "%s/proc/cray_xt/cname", root);
    static const char *const texts[] = {"c0-0c1s2n3\n", "nonsense\n", ""};
    for (int i = 0; i < 4; i++) {
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        for (int k = 0; k < (i == 3 ? 1000 : 1); k++)
            assert_true(fputs(i == 3 ? "c0-0c1s2n3" : texts[i], file) >= 0);
        assert_int_equal(fclose(file), 0);
        assert_int_equal(sagoi_cray_ask(root, "n1", address, sizeof address), i == 0);
    }
    (void)snprintf(command, sizeof command, "rm -rf '%s'", root);
    assert_int_equal(system(command), 0);
}

/* Two cabinets: a blade is nearer than a chassis, that nearer than the cabinet. */
static void tree_of_nodes(void **state) {
    static const char *const cnames[] = {"c0-0c0s0n0", "c0-0c0s0n1", "c0-0c0s3n0", "c0-0c2s3n0", "c1-0c0s0n0"};
    sagoi_node_name name[5];
    sagoi_surroundings found;
    int64_t place[5];
    memset(name, 0, sizeof name);
    for (int i = 0; i < 5; i++) {
        (void)snprintf(name[i].host, sizeof name[i].host, "nid%05d", i);
        name[i].teller = SAGOI_TOLD_BY_CRAY;
        assert_true(sagoi_cray_address(cnames[i], (int64_t)strlen(cnames[i]), name[i].host, name[i].address,
                                       sizeof name[i].address));
    }
    sagoi_discover_options options = {.machine = "", .site = "none", .slurm_conf = "/nowhere/slurm.conf"};
    assert_int_equal(sagoi_discover(&options, 5, name, &found, place), SAGO_OK);
    assert_string_equal(found.source, "/proc/cray_xt/cname");
    assert_int_equal(found.topology.kind, SAGOI_FAT_TREE);
    for (int i = 1; i < 5; i++)
        assert_int_equal(sagoi_topology_distance(&found.topology, place[0], place[i]), 2 * i);
    name[3].address[0] = 0; /* one does not know: flat */
    assert_int_equal(sagoi_discover(&options, 5, name, &found, place), SAGO_OK);
    assert_int_equal(found.topology.kind, SAGOI_FLAT);
    (void)snprintf(name[3].address, sizeof name[3].address, "top.s0.nid00003"); /* Slurm's among them */
    name[3].teller = SAGOI_TOLD_BY_SLURM;
    assert_int_equal(sagoi_discover(&options, 5, name, &found, place), SAGO_OK);
    assert_int_equal(found.topology.kind, SAGOI_FLAT);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(names), cmocka_unit_test(any_bytes),
                                       cmocka_unit_test(files), cmocka_unit_test(tree_of_nodes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
