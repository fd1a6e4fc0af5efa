/* Cuts between ranges of a striped file: aggregators that go on in step do not meet at its storage targets. */
#include "base/checked.h"
#include "plan/spread.h"
#include "support/unit.h"

enum { MIB = 1 << 20, TARGETS = 16, RANGES = 8, GROUPS = 2, LENGTH = 2052 };

static sagoi_plan plan;
static sagoi_draft draft;
static sagoi_hints hints;
static sagoi_group group[GROUPS];

static int set_up(void **state) {
    assert_int_equal(sagoi_hints_init(&hints), SAGO_OK);
    plan = (sagoi_plan){.write = true, .window = MIB, .ndomains = GROUPS * RANGES, .groups = GROUPS};
    for (int64_t g = 0; g < GROUPS; g++) {
        group[g].start = g * (RANGES * LENGTH + 5) * (int64_t)MIB;
        group[g].end = group[g].start + RANGES * (int64_t)LENGTH * MIB;
    }
    draft = (sagoi_draft){.plan = &plan,
                          .hints = &hints,
                          .given = &hints,
                          .group = group,
                          .stripe = MIB,
                          .align = MIB,
                          .targets = TARGETS};
    return 0;
}

/* How many ranges begin at the target where the most do; `spread` may be NULL. */
static int64_t fullest(sagoi_spread *spread, int64_t ranges) {
    int64_t there[TARGETS] = {0}, most = 0;
    for (int64_t g = 0; g < GROUPS; g++) {
        sagoi_bisection halves = {
            .start = group[g].start, .end = group[g].end, .unit = MIB, .origin = group[g].start, .leaves = ranges};
        sagoi_tree tree;
        assert_int_equal(sagoi_tree_make(&halves, &tree), SAGO_OK);
        if (spread)
            sagoi_spread_leaves(spread, &tree);
        int64_t at = group[g].start, length = (group[g].end - group[g].start) / ranges;
        for (int64_t leaf = tree.first; leaf >= 0; leaf = tree.vertex[leaf].after) {
            const sagoi_vertex *own = &tree.vertex[leaf];
            assert_int_equal(own->start, at); /* where the one before ends */
            assert_true(own->end - own->start > length - length / 4 &&
                        own->end - own->start < length + length / 4);
            most = sagoi_max(most, ++there[own->start / MIB % TARGETS]);
            at = own->end;
        }
        assert_int_equal(at, group[g].end);
        sagoi_tree_cleanup(&tree);
    }
    return most;
}

static void ranges_begin_at_different_targets(void **state) {
    sagoi_spread *spread;
    assert_true(fullest(NULL, RANGES) > 1);
    assert_int_equal(sagoi_spread_create(&draft, &spread), SAGO_OK);
    assert_non_null(spread);
    assert_int_equal(fullest(spread, RANGES), 1); /* 16 ranges, 16 targets */
    sagoi_spread_destroy(spread);
}

/* A cut is moved by a part of a range at most: short ones stay as they are. */
static void short_ranges_stay(void **state) {
    sagoi_spread *spread;
    int64_t before = fullest(NULL, 8 * LENGTH / 10);
    plan.ndomains = GROUPS * (8 * LENGTH / 10);
    assert_int_equal(sagoi_spread_create(&draft, &spread), SAGO_OK);
    assert_int_equal(fullest(spread, 8 * LENGTH / 10), before);
    sagoi_spread_destroy(spread);
}

/* Windows that are on all targets meet everywhere, and without stripes nobody knows. */
static void elsewhere_there_is_nothing_to_spread(void **state) {
    sagoi_spread *spread;
    plan.window = TARGETS * (int64_t)MIB;
    assert_int_equal(sagoi_spread_create(&draft, &spread), SAGO_OK);
    assert_null(spread);
    plan.window = MIB;
    draft.stripe = 0;
    assert_int_equal(sagoi_spread_create(&draft, &spread), SAGO_OK);
    assert_null(spread);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(ranges_begin_at_different_targets, set_up),
        cmocka_unit_test_setup(short_ranges_stay, set_up),
        cmocka_unit_test_setup(elsewhere_there_is_nothing_to_spread, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
