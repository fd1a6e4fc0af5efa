/* Coordinates of nodes that libraries in the process tell: uTofu's and PMIx's functions, made up (fake_fabric.c).
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/discover.h"
#include "machine/fabric.h"
#include "support/unit.h"

enum { DATA_ARRAY = 39, COORD = 47, GEOMETRY = 53 };

static struct {
    void (*tofu)(int status, const uint32_t *coords);
    void (*pmix)(int type, size_t dims, const uint32_t *coords);
    long (*released)(void);
} fake;

static const uint32_t somewhere[8] = {3, 20, 7, 1, 2, 0, 5, 6};

static int load(void **state) {
    char path[1024];
    sagoi_node_name name = {.host = "n0"};
    assert_false(sagoi_fabric_ask(&name)); /* nothing is in the process, or it knows nothing */
    (void)snprintf(path, sizeof path, "%s/tests/libfake_fabric.so", getenv("SAGO_BUILD"));
    void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    static const char *const names[] = {"fake_fabric_tofu", "fake_fabric_pmix", "fake_fabric_released"};
    void *functions[3];
    if (!library) {
        printf("%s\n", dlerror());
        return -1;
    }
    for (int i = 0; i < 3; i++)
        functions[i] = dlsym(library, names[i]);
    memcpy(&fake, functions, sizeof functions);
    return setenv("PMIX_NAMESPACE", "job@1", 1) || setenv("PMIX_RANK", "3", 1);
}

static void tofu_tells(void **state) {
    sagoi_node_name name = {.host = "n0"};
    fake.tofu(-1, somewhere);
    assert_false(sagoi_fabric_ask(&name));
    assert_int_equal(name.dimensions, 0);
    fake.tofu(0, somewhere);
    assert_true(sagoi_fabric_ask(&name));
    assert_int_equal(name.teller, SAGOI_TOLD_BY_TOFU);
    assert_int_equal(name.dimensions, 6);
    for (int i = 0; i < 6; i++)
        assert_int_equal(name.coordinate[i], somewhere[i]);
    fake.tofu(-1, somewhere);
}

static void pmix_tells(void **state) {
    static const int kinds[] = {COORD, DATA_ARRAY, GEOMETRY};
    for (int i = 0; i < 3; i++)
        for (size_t dimensions = 0; dimensions < 10; dimensions++) {
            sagoi_node_name name = {.host = "n0"};
            long before = fake.released();
            fake.pmix(kinds[i], dimensions, somewhere);
            assert_int_equal(sagoi_fabric_ask(&name), dimensions > 0 && dimensions <= 8);
            assert_int_equal(fake.released(), before + 1);
            assert_int_equal(name.dimensions, dimensions > 8 ? 0 : (int64_t)dimensions);
            for (int64_t k = 0; k < name.dimensions; k++)
                assert_int_equal(name.coordinate[k], somewhere[k]);
        }
    sagoi_node_name name = {.host = "n0"};
    static const char *const wrong[] = {"4", "", "x", "3x"};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(setenv("PMIX_RANK", wrong[i], 1), 0);
        assert_false(sagoi_fabric_ask(&name));
    }
    assert_int_equal(setenv("PMIX_RANK", "3", 1), 0);
    fake.pmix(0, 0, somewhere);
    assert_false(sagoi_fabric_ask(&name));
}

static sago_status discover(int64_t nodes, const sagoi_node_name *name, sagoi_surroundings *found,
                            int64_t *place) {
    sagoi_discover_options options = {.machine = "", .site = "none", .slurm_conf = "/nowhere/slurm.conf"};
    return sagoi_discover(&options, nodes, name, found, place);
}

/* Hops are the sum of differences, whichever corner of the network the job is in; no way leads around. */
static void places(void **state) {
    static const int64_t at[5][6] = {
        {20, 3, 1, 0, 0, 0}, {21, 3, 1, 1, 2, 1}, {20, 9, 1, 0, 1, 0}, {23, 3, 0, 0, 0, 1}, {20, 3, 1, 1, 0, 0}};
    sagoi_node_name name[5];
    sagoi_surroundings found;
    int64_t place[5];
    memset(name, 0, sizeof name);
    for (int i = 0; i < 5; i++) {
        (void)snprintf(name[i].host, sizeof name[i].host, "n%d", i);
        name[i].teller = SAGOI_TOLD_BY_TOFU;
        name[i].dimensions = 6;
        memcpy(name[i].coordinate, at[i], sizeof at[i]);
    }
    assert_int_equal(discover(5, name, &found, place), SAGO_OK);
    assert_string_equal(found.source, "coordinates of Tofu");
    assert_int_equal(found.topology.kind, SAGOI_TORUS);
    for (int a = 0; a < 5; a++)
        for (int b = 0; b < 5; b++) {
            int64_t hops = 0;
            for (int i = 0; i < 6; i++)
                hops += llabs(at[a][i] - at[b][i]);
            assert_int_equal(sagoi_topology_distance(&found.topology, place[a], place[b]), hops);
        }
    name[2].teller = SAGOI_TOLD_BY_PMIX; /* others speak of something else */
    assert_int_equal(discover(5, name, &found, place), SAGO_OK);
    assert_int_equal(found.topology.kind, SAGOI_FLAT);
    name[2].teller = SAGOI_TOLD_BY_TOFU;
    memcpy(name[2].coordinate, at[0], sizeof at[0]); /* two at one place: flat */
    assert_int_equal(discover(5, name, &found, place), SAGO_OK);
    assert_int_equal(found.topology.kind, SAGOI_FLAT);
    for (int i = 0; i < 5; i++)
        assert_int_equal(place[i], i);
    name[2].coordinate[0] = UINT32_MAX; /* a box that no machine fills */
    assert_int_equal(discover(5, name, &found, place), SAGO_OK);
    assert_int_equal(found.topology.kind, SAGOI_FLAT);
    assert_string_equal(sagoi_message(), "");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(tofu_tells), cmocka_unit_test(pmix_tells),
                                       cmocka_unit_test(places)};
    return cmocka_run_group_tests(tests, load, NULL);
}
