/* Plans of named situations as text, against tests/golden/plan/.  After a change that is meant, run with
 * SAGO_GOLDEN_UPDATE=1, look at the difference and commit it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "situation.h"

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
    (void)state;
    situation_init(&s, 1, 8, 48 * MIB, 24);
    s.target.mappable = true;
    compare(&s, "one-node-tmpfs.txt", sagoi_plan_print_text);
}

/* The same on a disk, with holes. */
static void one_node_disk(void **state) {
    (void)state;
    situation_init(&s, 1, 8, 48 * MIB, 24);
    s.node[0].cores = 2;
    s.shape.dense = false;
    compare(&s, "one-node-disk.txt", sagoi_plan_print_text);
}

static void four_nodes(void **state) {
    (void)state;
    situation_init(&s, 4, 2, 200 * MIB, 24);
    compare(&s, "four-nodes.txt", sagoi_plan_print_text);
    compare(&s, "four-nodes.json", sagoi_plan_print_json);
}

/* The least that issue 2 promises to work with. */
static void little_memory(void **state) {
    (void)state;
    situation_init(&s, 4, 2, 200 * MIB, 24);
    s.shape.dense = false;
    for (int64_t n = 0; n < 4; n++)
        s.node[n].memory = 32 * MIB;
    compare(&s, "little-memory.txt", sagoi_plan_print_text);
}

static void striped(void **state) {
    (void)state;
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
    (void)state;
    situation_init(&s, 4, 2, 512 * MIB, 64 * MIB);
    compare(&s, "contiguous.txt", sagoi_plan_print_text);
}

static void rma(void **state) {
    (void)state;
    situation_init(&s, 4, 2, 200 * MIB, 1024);
    s.shape.write = false;
    s.hints.move = SAGOI_MOVE_RMA;
    s.hints.aggregators = 6;
    s.hints.window = MIB;
    compare(&s, "rma.txt", sagoi_plan_print_text);
}

static void nothing(void **state) {
    (void)state;
    situation_init(&s, 2, 2, 0, 1);
    for (int64_t n = 0; n < 2; n++)
        s.access[n] = (sagoi_node_shape){0, 0, 0, 0};
    compare(&s, "nothing.txt", sagoi_plan_print_text);
    compare(&s, "nothing.json", sagoi_plan_print_json);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_node_tmpfs),
        cmocka_unit_test(one_node_disk),
        cmocka_unit_test(four_nodes),
        cmocka_unit_test(little_memory),
        cmocka_unit_test(striped),
        cmocka_unit_test(contiguous),
        cmocka_unit_test(rma),
        cmocka_unit_test(nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
