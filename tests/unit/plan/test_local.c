/* Local aggregators: the formula of paper 001, IV-A, against a naive reading of it. */
#include "plan/plan.h"
#include "support/unit.h"

enum { MOST = 64 };

/* As the paper says it, with ceilings and floors counted out. */
static int64_t naive_aggregator(int64_t q, int64_t c, int64_t i) {
    int64_t e = q, ceiling = 0, floor = 0;
    while (e >= c)
        e -= c;
    while (ceiling * c < q)
        ceiling++;
    while ((floor + 1) * c <= q)
        floor++;
    return i < e ? ceiling * i : ceiling * e + floor * (i - e);
}

static void formula(void **state) {
    for (int64_t q = 1; q <= MOST; q++)
        for (int64_t c = 1; c <= q; c++) {
            for (int64_t i = 0; i < c; i++)
                assert_int_equal(sagoi_local_aggregator(q, c, i), naive_aggregator(q, c, i));
            assert_int_equal(sagoi_local_aggregator(q, c, 0), 0);
            assert_int_equal(sagoi_local_aggregator(q, c, c), q);
        }
}

/* Groups are not empty, differ by one rank at most, and each rank is in the one of the aggregator before it. */
static void groups(void **state) {
    for (int64_t q = 1; q <= MOST; q++)
        for (int64_t c = 1; c <= q; c++)
            for (int64_t i = 0; i < c; i++) {
                int64_t begin = sagoi_local_aggregator(q, c, i), end = sagoi_local_aggregator(q, c, i + 1);
                assert_true(end - begin == q / c || end - begin == q / c + 1);
                for (int64_t rank = begin; rank < end; rank++)
                    assert_int_equal(sagoi_local_group(q, c, rank), i);
            }
}

static void slots_are_different_ranks(void **state) {
    for (int64_t q = 1; q <= MOST; q++)
        for (int64_t slots = 1; slots <= q; slots++)
            for (int64_t slot = 0; slot < slots; slot++) {
                int64_t rank = sagoi_slot_rank(q, slots, slot);
                assert_true(rank >= 0 && rank < q);
                assert_true(slot == 0 || rank > sagoi_slot_rank(q, slots, slot - 1));
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formula),
        cmocka_unit_test(groups),
        cmocka_unit_test(slots_are_different_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
