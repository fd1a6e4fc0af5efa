/* Which holes of a write a plan takes to be worth reading and writing back. */
#include "plan/plan.h"
#include "plan/thresholds.h"
#include "situation.h"
#include "support/unit.h"

/* A request of 20 us on a way of 100 MB/s costs as much as 2,000 bytes: 1,000 that are read and written. */
static void a_hole_costs_its_bytes_twice(void **state) {
    assert_int_equal(sagoi_sieve_gap((sagoi_level){20e-6, 100e6}), 1000);
    assert_int_equal(sagoi_sieve_gap((sagoi_level){40e-6, 100e6}), 2000);
    assert_int_equal(sagoi_sieve_gap((sagoi_level){0, 100e6}), 0);
    assert_int_equal(sagoi_sieve_gap((sagoi_level){1, 1e12}), SAGOI_SIEVED_GAP_MOST);
}

static int64_t gap_of(const situation *s) {
    sagoi_plan plan;
    assert_int_equal(sagoi_plan_make(&s->machine, &s->shape, &s->target, &s->hints, &plan), SAGO_OK);
    assert_int_equal(plan.strategy, SAGOI_STRATEGY_AGGREGATED);
    assert_int_equal(plan.sieve_gap > 0, strstr(plan.reasons, "are read and written back") != NULL);
    int64_t gap = plan.sieve_gap;
    sagoi_plan_cleanup(&plan);
    return gap;
}

static void only_of_writes_with_holes_where_requests_are_dear(void **state) {
    situation s;
    situation_init(&s, 4, 2, 64 * MIB, 1000);
    s.shape.dense = false;
    s.target.stripe_unit = MIB;
    s.target.stripe_count = 4;
    s.hints.sieve = SAGOI_CHOICE_OFF;
    assert_int_equal(gap_of(&s), 0); /* unless the user allows it */
    s.hints.sieve = SAGOI_CHOICE_AUTO;
    assert_true(gap_of(&s) > 0);
    s.shape.dense = true;
    assert_int_equal(gap_of(&s), 0);
    s.shape.dense = false;
    s.shape.write = false;
    assert_int_equal(gap_of(&s), 0);
    s.shape.write = true;
    s.hints.sieve = SAGOI_CHOICE_OFF;
    assert_int_equal(gap_of(&s), 0);
    s.hints.sieve = SAGOI_CHOICE_ON; /* which asks for all of them */
    assert_int_equal(gap_of(&s), 0);
    s.hints.sieve = SAGOI_CHOICE_AUTO;
    s.target.stripe_unit = s.target.stripe_count = 0;
    assert_int_equal(gap_of(&s), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hole_costs_its_bytes_twice),
        cmocka_unit_test(only_of_writes_with_holes_where_requests_are_dear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
