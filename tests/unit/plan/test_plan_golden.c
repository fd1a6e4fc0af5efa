/* Plans of named situations as text, against tests/golden/plan/.  After a change that is meant, run with
 * SAGO_GOLDEN_UPDATE=1, look at the difference and commit it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "situation.h"
#include "support/unit.h"

#ifndef SAGO_SOURCE_DIR
#define SAGO_SOURCE_DIR "."
#endif

typedef void (*printer)(const sagoi_plan *, FILE *);

static void golden_path(const char *name, char path[512]) {
    const char *source = getenv("SAGO_SOURCE");
    (void)snprintf(path, 512, "%s/tests/golden/plan/%s", source ? source : SAGO_SOURCE_DIR, name);
}

static char *file_read(const char *path) {
    FILE *file = fopen(path, "r");
    if (!file)
        fail_msg("no %s", path);
    char *text = calloc(1, 65536);
    assert_non_null(text);
    size_t length = fread(text, 1, 65535, file);
    assert_true(length < 65535);
    (void)fclose(file);
    return text;
}

static void file_write(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    if (!file || fputs(text, file) < 0 || fclose(file) != 0)
        fail_msg("cannot write %s", path);
}

static void print_json(const sagoi_plan *plan, FILE *out) {
    sagoi_json json = {.out = out, .lines = 2};
    sagoi_json_open(&json, NULL, '{');
    sagoi_plan_print_json(plan, &json);
    sagoi_json_close(&json, '}');
}

static void compare(const situation *s, const char *name, printer print) {
    sagoi_plan plan;
    if (sagoi_plan_make(&s->machine, &s->shape, &s->target, &s->hints, &plan) != SAGO_OK ||
        sagoi_plan_check(&plan, &s->machine) != SAGO_OK)
        fail_msg("%s", sagoi_message());
    char path[512], *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    assert_non_null(out);
    print(&plan, out);
    assert_int_equal(fclose(out), 0);
    golden_path(name, path);
    if (getenv("SAGO_GOLDEN_UPDATE"))
        file_write(path, text);
    char *expected = file_read(path);
    assert_string_equal(text, expected);
    free(expected);
    free(text);
    sagoi_plan_cleanup(&plan);
}

static situation s;

/* 8 ranks of a workstation, e3sm-like runs, /dev/shm. */
static void one_node_tmpfs(void **state) {
    situation_init(&s, 1, 8, 48 * MIB, 24);
    s.target.mappable = true;
    compare(&s, "one-node-tmpfs.txt", sagoi_plan_print_text);
}

/* The same on a disk, with holes. */
static void one_node_disk(void **state) {
    situation_init(&s, 1, 8, 48 * MIB, 24);
    s.node[0].cores = 2;
    s.shape.dense = false;
    compare(&s, "one-node-disk.txt", sagoi_plan_print_text);
}

static void four_nodes(void **state) {
    situation_init(&s, 4, 2, 200 * MIB, 24);
    compare(&s, "four-nodes.txt", sagoi_plan_print_text);
    compare(&s, "four-nodes.json", print_json);
}

/* The least that issue 2 promises to work with. */
static void little_memory(void **state) {
    situation_init(&s, 4, 2, 200 * MIB, 24);
    s.shape.dense = false;
    for (int64_t n = 0; n < 4; n++)
        s.node[n].memory = 32 * MIB;
    compare(&s, "little-memory.txt", sagoi_plan_print_text);
}

static void striped(void **state) {
    situation_init(&s, 16, 64, 1000 * MIB, 512);
    s.target.stripe_unit = MIB;
    s.target.stripe_count = 8;
    for (int64_t n = 0; n < 16; n++) { /* behind a header */
        s.access[n].low += 3 * MIB + 100;
        s.access[n].high += 3 * MIB + 100;
    }
    compare(&s, "striped.txt", sagoi_plan_print_text);
}

static void contiguous(void **state) {
    situation_init(&s, 4, 2, 512 * MIB, 64 * MIB);
    compare(&s, "contiguous.txt", sagoi_plan_print_text);
}

static void rma(void **state) {
    situation_init(&s, 4, 2, 200 * MIB, 1024);
    s.shape.write = false;
    s.hints.move = SAGOI_MOVE_RMA;
    s.hints.aggregators = 6;
    s.hints.window = MIB;
    compare(&s, "rma.txt", sagoi_plan_print_text);
}

/* ---- Groups (004, 3.1) ---- */

/* Nodes with one range each, after one another. */
static void serial(const int64_t *bytes, int64_t nodes, int64_t ranks) {
    int64_t low = 0;
    situation_init(&s, nodes, ranks, 0, 64);
    for (int64_t n = 0; n < nodes; n++) {
        s.access[n] = (sagoi_node_shape){low, low + bytes[n], bytes[n], bytes[n] / 64};
        low += bytes[n];
    }
}

/* Figure 5: nine processes on three nodes; a group ends where the last process of a node does. */
static void groups_serial(void **state) {
    serial((const int64_t[]){100 * MIB, 60 * MIB, 80 * MIB}, 3, 3);
    s.hints.group_size = 56 * MIB;
    compare(&s, "groups-serial.txt", sagoi_plan_print_text);
}

/* Blocks of 4 MiB, dealt to four nodes in turn. */
static void groups_cyclic(void **state) {
    static int64_t histogram[4 * SAGOI_REGIONS];
    situation_init(&s, 4, 2, 128 * MIB, 1024);
    for (int64_t n = 0; n < 4; n++)
        s.access[n] = (sagoi_node_shape){n * 4 * MIB, (29 + n) * 4 * MIB, 32 * MIB, 32 * KIB};
    for (int64_t r = 0; r < SAGOI_REGIONS; r++)
        histogram[r % 4 * SAGOI_REGIONS + r] = 4 * MIB;
    sagoi_shape_regions(0, 128 * MIB, &s.shape.origin, &s.shape.region);
    s.shape.histogram = histogram;
    s.hints.group_size = 64 * MIB;
    compare(&s, "groups-cyclic.txt", sagoi_plan_print_text);
}

static void groups_interleaved(void **state) {
    situation_init(&s, 4, 2, 240 * MIB, 64);
    s.hints.group_size = 56 * MIB;
    compare(&s, "groups-interleaved.txt", sagoi_plan_print_text);
}

/* ---- Remerging (004, 3.3): Figure 8 ---- */

/* The last of four has no memory to host with: its sibling is a leaf. */
static void remerge_sibling(void **state) {
    serial((const int64_t[]){64 * MIB, 64 * MIB, 64 * MIB, 64 * MIB}, 4, 2);
    s.node[3].memory = 2 * MIB;
    s.hints.group_size = GIB;
    compare(&s, "remerge-sibling.txt", sagoi_plan_print_text);
}

/* The first of three: its sibling was split, and the leaf of it that lies nearest takes over. */
static void remerge_nearest(void **state) {
    serial((const int64_t[]){64 * MIB, 64 * MIB, 64 * MIB}, 3, 2);
    s.node[0].memory = 2 * MIB;
    s.hints.group_size = GIB;
    compare(&s, "remerge-nearest.txt", sagoi_plan_print_text);
}

/* A group of its own without a host: its neighbour's nodes aggregate for it. */
static void group_without_host(void **state) {
    serial((const int64_t[]){64 * MIB, 64 * MIB, 64 * MIB}, 3, 2);
    s.node[1].memory = 2 * MIB;
    s.hints.group_size = 64 * MIB;
    compare(&s, "group-without-host.txt", sagoi_plan_print_text);
}

/* Msg_ind: Figure 7's bisection. */
static void bisected(void **state) {
    situation_init(&s, 4, 8, 200 * MIB, 24);
    s.hints.domain_write = 32 * MIB;
    compare(&s, "bisected.txt", sagoi_plan_print_text);
}

/* Many small messages, and a dear way between switches: a third layer across the nodes of a switch. */
static void third_layer(void **state) {
    sagoi_topology topology = {.kind = SAGOI_FAT_TREE, .dimensions = 2, .extent = {4, 4}};
    topology.level[0] = (sagoi_level){1e-6, 1e10};
    topology.level[1] = (sagoi_level){1e-4, 1e10};
    topology.inside = topology.io = topology.level[0];
    assert_int_equal(sagoi_topology_complete(&topology), SAGO_OK);
    situation_init(&s, 16, 2, 16 * MIB, 24);
    s.machine.topology = &topology;
    s.node[6].memory = 8 * GIB;
    compare(&s, "third-layer.txt", sagoi_plan_print_text);
}

static void nothing(void **state) {
    situation_init(&s, 2, 2, 0, 1);
    for (int64_t n = 0; n < 2; n++)
        s.access[n] = (sagoi_node_shape){0, 0, 0, 0};
    compare(&s, "nothing.txt", sagoi_plan_print_text);
    compare(&s, "nothing.json", print_json);
}

/* 4 subfiles on 4 nodes, in blocks that come in turn; little memory cuts the windows, not the blocks. */
static void subfiles_in_turn(void **state) {
    situation_init(&s, 4, 2, 200 * MIB, 24);
    s.target.subfiles = (sagoi_subfiles){4, 16 * MIB};
    for (int64_t n = 0; n < 4; n++)
        s.node[n].memory = 32 * MIB;
    compare(&s, "subfiles-in-turn.txt", sagoi_plan_print_text);
}

/* The same with one range of the access in each: the subfile of a node's own data. */
static void subfiles_of_ranges(void **state) {
    situation_init(&s, 4, 2, 200 * MIB, 24);
    for (int64_t n = 0; n < 4; n++)
        s.access[n] = (sagoi_node_shape){n * 50 * MIB, (n + 1) * 50 * MIB, 50 * MIB, 50 * MIB / 24};
    s.target.subfiles = (sagoi_subfiles){4, 50 * MIB};
    compare(&s, "subfiles-of-ranges.txt", sagoi_plan_print_text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_node_tmpfs),
        cmocka_unit_test(one_node_disk),
        cmocka_unit_test(four_nodes),
        cmocka_unit_test(little_memory),
        cmocka_unit_test(striped),
        cmocka_unit_test(subfiles_in_turn),
        cmocka_unit_test(subfiles_of_ranges),
        cmocka_unit_test(contiguous),
        cmocka_unit_test(rma),
        cmocka_unit_test(nothing),
        cmocka_unit_test(groups_serial),
        cmocka_unit_test(groups_cyclic),
        cmocka_unit_test(groups_interleaved),
        cmocka_unit_test(remerge_sibling),
        cmocka_unit_test(remerge_nearest),
        cmocka_unit_test(group_without_host),
        cmocka_unit_test(bisected),
        cmocka_unit_test(third_layer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
