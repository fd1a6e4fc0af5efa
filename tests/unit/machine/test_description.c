/* Machine descriptions: what is shipped, what is refused and where, and parse(write(x)) == x. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "machine/description.h"
#include "support/description_text.h"
#include "gateway_targets.h"
#include "random_topology.h"
#include "support/unit.h"

static sago_status parse(const char *text, sagoi_description *d) {
    return sagoi_description_parse("m", text, (int64_t)strlen(text), d);
}

/* ---- What is shipped ---- */

static void shipped(const char *name, sagoi_description *d) {
    char path[1024];
    const char *source = getenv("SAGO_SOURCE");
    (void)snprintf(path, sizeof path, "%s/machines/%s.sago", source ? source : ".", name);
    if (sagoi_description_read(path, d) != SAGO_OK)
        fail_msg("%s", sagoi_message());
    assert_string_equal(d->name, name);
}

static void test_mira(void **state) {
    sagoi_description d;
    shipped("mira", &d);
    const sagoi_topology *t = &d.topology;
    assert_int_equal(t->kind, SAGOI_TORUS);
    assert_int_equal(t->dimensions, 5);
    assert_int_equal(d.nodes, 49152);
    assert_true(t->level[3].bandwidth == 1.8e9 && t->io.bandwidth == 1.8e9);
    assert_int_equal(sagoi_topology_gateways(t), 2 * 49152 / 128);
    for (int64_t pset = 0; pset < 384; pset++) { /* two bridge nodes each, which serve it and nobody else */
        int64_t bridge = sagoi_topology_gateway_nearest(t, 128 * pset + 77);
        assert_int_equal(sagoi_topology_gateway_place(t, bridge) / 128, pset);
        assert_true(sagoi_topology_gateway_serves(t, 2 * pset, 128 * pset + 127));
        assert_false(sagoi_topology_gateway_serves(t, 2 * pset, (128 * pset + 128) % 49152));
    }
    sagoi_description_cleanup(&d);
    shipped("mira-1024", &d);
    assert_int_equal(d.topology.places, 1024);
    assert_int_equal(sagoi_topology_gateways(&d.topology), 16);
    sagoi_description_cleanup(&d);
}

static void test_theta(void **state) {
    sagoi_description d;
    shipped("theta", &d);
    const sagoi_topology *t = &d.topology;
    assert_int_equal(t->kind, SAGOI_DRAGONFLY);
    assert_int_equal(t->places, 9 * 96 * 4);
    assert_int_equal(d.tier[1].targets, 56);
    assert_int_equal(sagoi_topology_gateways(t), 56 * 7); /* of each OSS */
    for (int64_t g = 0; g < 56 * 7; g++)
        assert_true(gateway_leads(t, g, g / 7) && !gateway_leads(t, g, (g / 7 + 1) % 56));
    assert_false(sagoi_topology_maps_targets(t)); /* at places nobody knows */
    assert_true(sagoi_topology_store_cost(t, 100, 1e9) == 0);
    int64_t most = 0;
    for (int64_t a = 0; a < t->places; a++)
        most = sagoi_topology_distance(t, 5, a) > most ? sagoi_topology_distance(t, 5, a) : most;
    assert_true(t->message == 3e-6 && t->writer == 115e6);
    assert_int_equal(most - 2, 3); /* hops between routers, without the links of the nodes themselves */
    assert_true(sagoi_topology_bandwidth(t, 0, 4) == 5.25e9 && sagoi_topology_bandwidth(t, 0, 384) == 4.7e9);
    sagoi_description_cleanup(&d);
}

static void test_today(void **state) {
    sagoi_description d;
    shipped("frontier", &d);
    assert_int_equal(d.nodes, 9408);
    assert_int_equal(d.topology.numa, 4);
    assert_int_equal(sagoi_topology_distance(&d.topology, 0, 128), 5);
    sagoi_description_cleanup(&d);
    shipped("fugaku", &d);
    assert_int_equal(d.nodes, 158976);
    sagoi_description_cleanup(&d);
    shipped("frontera", &d);
    assert_int_equal(d.nodes, 8008);
    assert_int_equal(sagoi_topology_distance(&d.topology, 0, 44), 4);
    sagoi_description_cleanup(&d);
}

/* ---- What is refused, and where ---- */

#define HEAD "name x\nranks-per-node 2\nmemory 1GiB\n"
#define LEVEL "level all latency 1us bandwidth 1GB/s\n"

static const struct {
    const char *text, *says;
} wrong[] = {
    {"", "m:0: name is missing"},
    {"name x\nranks-per-node 2\nmemory 1GiB\n# end\n", "m:4: topology is missing"},
    {HEAD "topology flat 4\n", "m:4: level 0 is missing"},
    {HEAD "topology torus 4 4\nlevel 0 latency 1us bandwidth 1GB/s\n", "m:5: level 1 is missing"},
    {HEAD "topology dragonfly groups 2 columns 2 nodes 2\nlevel node latency 1us bandwidth 1GB/s\n",
     "m:5: level row is missing"},
    {HEAD "topology flat 4\nlevel 0 bandwidth 1GB/s\n", "m:5: level: latency is missing"},
    {HEAD "topology flat 4\nlevel 0 latency 1us bandwidth 0GB/s\n", "m:5: level: bandwidth '0GB/s' is not"},
    {HEAD "topology flat 4\nlevel 0 latency -1us bandwidth 1GB/s\n", "m:5: level: latency '-1us' is not"},
    {HEAD "topology flat 4\nlevel 0 latency 1us bandwidth 1e400GB/s\n", "m:5: level: bandwidth"},
    {HEAD "topology flat 4\nlevel 0 latency nanus bandwidth 1GB/s\n", "m:5: level: latency"},
    {HEAD "topology flat 4\nlevel 0 latency 1us latency 1us bandwidth 1GB/s\n", "m:5: level: latency twice"},
    {HEAD "topology flat 4\nlevel 0 latency 1us bandwidth 1GB/s color red\n", "m:5: level: unknown field 'color'"},
    {HEAD "topology flat 4\nlevel 0 latency 1us bandwidth\n", "m:5: level: bandwidth without a value"},
    {HEAD "topology flat 4\nlevel 3 latency 1us bandwidth 1GB/s\n"
          "level 0 latency 1us bandwidth 1GB/s\n",
     "m:6: level 3 is given, but there are only 1"},
    {HEAD "topology flat 4\n" LEVEL LEVEL, "m:6: level 0 is given already"},
    {HEAD "topology flat 4\nlevel 0 latency 1us bandwidth 1GB/s links 2\n", "m:5: level 0: links are counted"},
    {HEAD "topology fat-tree 2 2\nlevel all latency 1us bandwidth 1GB/s links 2\n",
     "m:5: level 0: links are counted"},
    {HEAD "topology flat 4\n" LEVEL "topology flat 4\n", "m:6: topology is given already"},
    {HEAD "topology flat 4\n" LEVEL "colour red\n", "m:6: unknown key 'colour'"},
    {HEAD "topology flat 4\n" LEVEL "gateways at 0 count 4 targets 3\n",
     "m:6: gateways: 4 of them cannot lead to 3 targets"},
    {HEAD "topology flat 4\n" LEVEL "gateways at 0 from 3\n", "m:6: gateways: 1 of them cannot lead to 0 targets"},
    {HEAD "topology flat 4\n" LEVEL "gateways at 0 targets -1\n", "m:6: gateways: targets '-1' is not"},
    {HEAD "topology flat 4\n" LEVEL "gateways count 2 targets 2\n", "m:6: gateways are 'at PLACE"},
    {HEAD "topology flat 4\n" LEVEL "numa 0\n", "m:6: numa: '0' is not a number from 1 to 1024"},
    {HEAD "topology flat 4\n" LEVEL "numa 2\nnuma 2\n", "m:7: numa is given already"},
    {HEAD "topology flat 4\n" LEVEL "memory-level\n",
     "m:6: memory-level takes a name of less than 16 characters first"},
    {HEAD "topology flat 4\n" LEVEL "memory-level hbm size 0 bandwidth 1GB/s\n",
     "m:6: memory-level hbm has no bytes"},
    {HEAD "topology flat 4\n" LEVEL
          "memory-level hbm size 1G bandwidth 1GB/s\nmemory-level hbm size 1G bandwidth 1GB/s\n",
     "m:7: memory-level hbm is given already"},
    {HEAD "topology flat 0\n", "m:4: topology: '0' is not an extent"},
    {HEAD "topology flat -4\n", "m:4: topology: '-4' is not an extent"},
    {HEAD "topology flat 99999999999999999999\n", "m:4: topology: '99999999999999999999' is not an extent"},
    {HEAD "topology torus 4000000 4000000 4000000\n", "m:4: topology: extents must be above zero"},
    {HEAD "topology torus\n", "m:4: topology torus takes 1 to 8 extents"},
    {HEAD "topology ring 4\n", "m:4: topology 'ring' is none of"},
    {HEAD "topology dragonfly groups 2 rows 2 columns 2 nodes 2\n" LEVEL, "m:5: a dragonfly without direct links"},
    {HEAD "topology flat 4\n" LEVEL "ranks 9\n", "m:6: 9 ranks are not 4 nodes with 2 ranks each"},
    {HEAD "topology flat 4\n" LEVEL "nodes 5\n", "m:6: 5 nodes do not fit 4 places"},
    {HEAD "topology flat 4\n" LEVEL "gateways at 4\n", "m:6: gateways: 1 places from 4"},
    {HEAD "topology flat 4\n" LEVEL "gateways count 3\n", "m:6: gateways are 'at PLACE"},
    {HEAD "topology flat 4\n" LEVEL "gateways at 1 count 2 unknown\n", "m:6: gateways are 'at PLACE"},
    {HEAD "topology flat 4\n" LEVEL "link at 1 bandwidth 0B/s\n", "m:6: link: bandwidth '0B/s'"},
    {HEAD "topology flat 4\n" LEVEL "link at 9 bandwidth 1B/s\n", "m:6: link: 1 places from 9"},
    {HEAD "topology flat 4\n" LEVEL "tier a shared us\n", "m:6: tier: shared 'us' is not node, rack or all"},
    {HEAD "topology flat 4\n" LEVEL "tier a shared rack\n", "m:6: tier: 'block N'"},
    {HEAD "topology flat 4\n" LEVEL "tier a shared all\ntier a shared all\n", "m:7: tier a is given already"},
    {HEAD "topology flat 4\n" LEVEL "hosts n[0-9]\n", "m:6: hosts from place 0 on do not fit 4 places"},
    {HEAD "topology flat 4\n" LEVEL "hosts n[3-1]\n", "m:6: a range of hosts is"},
    {HEAD "topology flat 4\n" LEVEL "hosts n[1\n", "m:6: '[' without ']'"},
    {HEAD "topology flat 4\n" LEVEL "hosts n$\n", "m:6: '$' in a host name"},
    {HEAD "memory 2GiB\n", "m:4: memory is given already"},
    {"name x\nranks-per-node 2\nmemory 0\n", "m:3: memory takes a size above zero"},
    {"name x\nranks-per-node 0\n", "m:2: ranks-per-node: '0' is not a number from 1"},
    {"name a\x01z\n", "m:1: a character of code 1"},
    {HEAD "topology switches\n" LEVEL, "m:5: topology switches without a switch"},
    {HEAD "topology flat 4\n" LEVEL "switch a hosts n1\n", "m:6: lines 'switch' need"},
    {HEAD "topology switches\n" LEVEL "switch a switches b\nswitch b switches a\n",
     "m:6: switch a: it is above itself"},
    {HEAD "topology switches\n" LEVEL "switch a switches a\n", "m:6: switch a: it is above itself"},
    {HEAD "topology switches\n" LEVEL "switch a switches b\n", "m:6: switch a: no such switch below it: b"},
    {HEAD "topology switches\n" LEVEL "switch a hosts n1\nswitch a hosts n2\n",
     "m:7: switch a is on line 6 already"},
};

static void test_refusals(void **state) {
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        sagoi_description d;
        memset(&d, 7, sizeof d);
        if (parse(wrong[i].text, &d) != SAGO_ERR_ARG)
            fail_msg("accepted: %s", wrong[i].text);
        if (strncmp(sagoi_message(), wrong[i].says, strlen(wrong[i].says)) != 0)
            fail_msg("says '%s', not '%s'", sagoi_message(), wrong[i].says);
    }
    sagoi_description d;
    assert_int_equal(sagoi_description_read("/nonexistent.sago", &d), SAGO_ERR_NO_FILE);
    assert_int_equal(sagoi_description_read("/dev/zero", &d), SAGO_ERR_BAD_FILE);
}

/* ---- Switch by switch ---- */

static void test_switches(void **state) {
    static const char text[] = HEAD LEVEL "topology switches\n"
                                          "switch top switches leaf[0-1]\n"
                                          "switch leaf0 hosts a[08-10],x  # three and one\n"
                                          "switch leaf1 hosts b1\n";
    sagoi_description d;
    if (parse(text, &d) != SAGO_OK)
        fail_msg("%s", sagoi_message());
    assert_int_equal(d.topology.kind, SAGOI_FAT_TREE);
    assert_int_equal(d.topology.dimensions, 2);
    assert_int_equal(d.topology.places, 8);
    assert_int_equal(d.nodes, 5);
    assert_int_equal(sagoi_hostlist_find(&d.hosts, "a10"), 2);
    assert_int_equal(sagoi_hostlist_find(&d.hosts, "x"), 3);
    assert_int_equal(sagoi_hostlist_find(&d.hosts, "b1.example.org"), 4);
    assert_int_equal(sagoi_hostlist_find(&d.hosts, "a8"), -1);
    assert_int_equal(sagoi_hostlist_find(&d.hosts, "a010"), -1);
    assert_int_equal(sagoi_description_place(&d, 3), 3);
    assert_int_equal(sagoi_description_place(&d, 4), 4);
    assert_int_equal(sagoi_topology_distance(&d.topology, 0, 4), 4);
    sagoi_description_cleanup(&d);
}

/* ---- Written and read again ---- */

static void random_name(char *name, int64_t capacity) {
    int64_t length = 1 + random_below(capacity - 1);
    for (int64_t i = 0; i < length; i++)
        name[i] = "abcxyz-_.09"[random_below(11)];
    name[length] = '\0';
}

static void random_hosts(sagoi_description *d) {
    for (int64_t i = random_below(4); i > 0; i--) {
        char text[64];
        int64_t low = random_below(200), first = random_below(d->topology.places);
        int64_t most = d->topology.places - first, high = low + random_below(most);
        (void)snprintf(text, sizeof text, one_in(2) ? "h[%03lld-%03lld]-ib" : "h%lldx%lld", (long long)low,
                       (long long)high);
        assert_int_equal(sagoi_hostlist_add(&d->hosts, text), SAGO_OK);
        d->hosts.range[d->hosts.ranges - 1].first = first;
    }
}

static sagoi_description random_description(void) {
    sagoi_description d = {.topology = random_topology()};
    random_name(d.name, sizeof d.name);
    d.nodes = 1 + random_below(d.topology.places);
    d.ranks_per_node = 1 + random_below(128);
    d.cores = 1 + random_below(128);
    d.memory = 1 + random_below(one_in(2) ? 1000 : INT64_C(1) << 45);
    d.tiers = random_below(4);
    for (int64_t i = 0; i < d.tiers; i++) {
        sagoi_tier *tier = &d.tier[i];
        random_name(tier->name, 20);
        tier->name[0] = (char)('a' + i);
        if (one_in(2))
            (void)snprintf(tier->path, sizeof tier->path, "/some/where%lld", (long long)i);
        tier->sharing = (sagoi_sharing)random_below(3);
        tier->rack = tier->sharing == SAGOI_SHARED_RACK ? 1 + random_below(9) : 0;
        tier->capacity = random_below(INT64_C(1) << 50);
        tier->bandwidth = one_in(2) ? 0 : 1e9 / 3 * (double)(1 + random_below(1000));
        tier->targets = random_below(60);
        tier->locks = one_in(2) ? 0 : random_below(INT64_C(1) << 30);
    }
    d.topology.level[0].latency = one_in(2) ? 1e-6 : (double)random_below(1 << 30) / 3e12;
    random_hosts(&d);
    return d;
}

static void test_round_trip(void **state) {
    for (int i = 0; i < 500; i++) {
        sagoi_description d = random_description(), again;
        char *text = NULL;
        size_t length = 0;
        FILE *out = open_memstream(&text, &length);
        description_write(&d, out);
        assert_int_equal(fclose(out), 0);
        if (sagoi_description_parse("again", text, (int64_t)length, &again) != SAGO_OK)
            fail_msg("%s in\n%s", sagoi_message(), text);
        if (!description_equal(&d, &again))
            fail_msg("not the same:\n%s", text);
        sagoi_description_cleanup(&d);
        sagoi_description_cleanup(&again);
        free(text);
    }
}

/* Cut anywhere, a description is either right or refused: no crash, no leak. */
static void test_truncated(void **state) {
    sagoi_description d;
    char text[8192];
    char path[1024];
    (void)snprintf(path, sizeof path, "%s/machines/theta.sago",
                   getenv("SAGO_SOURCE") ? getenv("SAGO_SOURCE") : ".");
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    int64_t length = (int64_t)fread(text, 1, sizeof text, file);
    assert_int_equal(fclose(file), 0);
    for (int64_t cut = 0; cut <= length; cut++)
        if (sagoi_description_parse("cut", text, cut, &d) == SAGO_OK)
            sagoi_description_cleanup(&d);
}

static void test_values(void **state) {
    double value;
    assert_true(sagoi_parse_rate("100Mbit/s", &value) && value == 12.5e6);
    assert_true(sagoi_parse_rate("1GiB/s", &value) && value == 1073741824.);
    assert_false(sagoi_parse_rate("1GB", &value) || sagoi_parse_rate("infGB/s", &value) ||
                 sagoi_parse_rate("0x1GB/s", &value) || sagoi_parse_rate("", &value));
    assert_true(sagoi_parse_time("1.5ms", &value) && fabs(value - 0.0015) < 1e-18);
    assert_string_equal(sagoi_format_rate(1.8e9).text, "1.8GB/s");
    assert_string_equal(sagoi_format_time(4e-8).text, "40ns");
    assert_string_equal(sagoi_format_time(0).text, "0s");
    assert_string_equal(sagoi_show_time(4.0000000000000003e-07).text, "400ns"); /* to be read, not parsed again */
    assert_string_equal(sagoi_show_time(9.9999999e-7).text, "1us");
    assert_string_equal(sagoi_show_time(0.00123456).text, "1.235ms");
    assert_string_equal(sagoi_show_rate(1739130434.7826087).text, "1.739GB/s");
    assert_string_equal(sagoi_format_size(INT64_C(192) << 30).text, "192GiB");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mira),      cmocka_unit_test(test_theta),    cmocka_unit_test(test_today),
        cmocka_unit_test(test_refusals),  cmocka_unit_test(test_switches), cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_truncated), cmocka_unit_test(test_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
