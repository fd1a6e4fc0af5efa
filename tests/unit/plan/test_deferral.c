/* When deferred calls are moved: the same on all ranks, since it follows from what they agreed on. */
/* cmocka wants these four first */
#include "plan/deferral.h"
#include "support/unit.h"

enum { PIECE = 47008, ROOM = 32 << 20 };

/* Calls until the ranks meet. */
static int64_t calls_until_due(sagoi_deferral *deferral) {
    int64_t calls = 1;
    while (!sagoi_deferral_count(deferral))
        calls++;
    return calls;
}

static void test_grows(void **state) {
    sagoi_deferral deferral;
    sagoi_deferral_init(&deferral, true);
    assert_true(sagoi_deferral_defers(&deferral));
    assert_int_equal(calls_until_due(&deferral), 16);
    sagoi_deferral_set(&deferral, PIECE, ROOM, false, true);
    assert_int_equal(calls_until_due(&deferral), 128);
    sagoi_deferral_set(&deferral, PIECE, ROOM, false, true);
    assert_int_equal(calls_until_due(&deferral), ROOM / PIECE);
    sagoi_deferral_set(&deferral, PIECE, ROOM, false, true);
    assert_int_equal(calls_until_due(&deferral), ROOM / PIECE);
}

/* A sync after a few calls says nothing about more of them. */
static void test_syncs(void **state) {
    sagoi_deferral deferral;
    sagoi_deferral_init(&deferral, true);
    for (int step = 0; step < 5; step++) {
        for (int call = 0; call < 9; call++)
            assert_false(sagoi_deferral_count(&deferral));
        sagoi_deferral_set(&deferral, PIECE, ROOM, false, false);
        assert_int_equal(deferral.every, 16);
    }
}

static void test_large_calls(void **state) {
    sagoi_deferral deferral;
    sagoi_deferral_init(&deferral, true);
    sagoi_deferral_set(&deferral, ROOM, ROOM, false, false);
    assert_false(sagoi_deferral_defers(&deferral));
    assert_int_equal(calls_until_due(&deferral), 2);
    sagoi_deferral_set(&deferral, ROOM, ROOM, false, false);
    assert_int_equal(calls_until_due(&deferral), 4);
    sagoi_deferral_set(&deferral, 1, ROOM, false, false); /* the large one is not forgotten at once */
    assert_false(sagoi_deferral_defers(&deferral));
    for (int i = 0; i < 3; i++)
        sagoi_deferral_set(&deferral, 1, ROOM, false, false);
    assert_true(sagoi_deferral_defers(&deferral));
}

static void test_harmful(void **state) {
    sagoi_deferral deferral;
    sagoi_deferral_init(&deferral, true);
    sagoi_deferral_set(&deferral, 1, ROOM, true, true);
    assert_false(sagoi_deferral_defers(&deferral));
    sagoi_deferral_set(&deferral, 1, ROOM, false, true);
    assert_true(sagoi_deferral_defers(&deferral));
}

static void test_by_itself(void **state) {
    sagoi_deferral deferral;
    sagoi_deferral_init(&deferral, false);
    assert_false(sagoi_deferral_defers(&deferral));
    assert_int_equal(calls_until_due(&deferral), 2);
    sagoi_deferral_set(&deferral, PIECE, ROOM, false, false);
    assert_int_equal(calls_until_due(&deferral), 16);
    sagoi_deferral_set(&deferral, 0, 0, false, true); /* a rank has no room at all */
    assert_false(sagoi_deferral_defers(&deferral));
}

static void test_wanted(void **state) {
    sagoi_hints hints;
    assert_int_equal(sagoi_hints_init(&hints), SAGO_OK);
    hints.defer = SAGOI_CHOICE_OFF;
    assert_false(sagoi_deferral_wanted(&hints, 4, true, false));
    hints.defer = SAGOI_CHOICE_ON;
    assert_true(sagoi_deferral_wanted(&hints, 1, true, true));
    assert_false(sagoi_deferral_wanted(&hints, 4, false, true)); /* there is nothing to put off */
    hints.tier = SAGOI_TIER_LOCAL;
    assert_false(sagoi_deferral_wanted(&hints, 1, true, true)); /* the local tier takes the writes */
    hints.tier = SAGOI_TIER_GLOBAL;
    hints.defer = SAGOI_CHOICE_AUTO;
    assert_true(sagoi_deferral_wanted(&hints, 2, true, false));
    assert_false(sagoi_deferral_wanted(&hints, 2, true, true));
    assert_false(sagoi_deferral_wanted(&hints, 1, true, false));
    hints.defer_age = 0;
    assert_false(sagoi_deferral_wanted(&hints, 2, true, false));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grows),   cmocka_unit_test(test_syncs),     cmocka_unit_test(test_large_calls),
        cmocka_unit_test(test_harmful), cmocka_unit_test(test_by_itself), cmocka_unit_test(test_wanted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
