/* Sums over sets of places against the double loop of the definition. */
#include <math.h>
#include <stdlib.h>

#include "random_topology.h"
#include "machine/sums.h"
#include "support/unit.h"

enum { MACHINES = 300 };

static void assert_near(double a, double b) { assert_true(fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b))); }

/* bytes[place], -1: no member */
static void compare(const sagoi_topology *t, sagoi_sums *sums, const int64_t *bytes) {
    int64_t members = 0, all = 0;
    for (int64_t a = 0; a < t->places; a++) {
        double latency = 0, transfer = 0;
        for (int64_t i = 0; i < t->places; i++) {
            if (bytes[i] < 0 || i == a)
                continue;
            latency += sagoi_topology_latency(t, i, a);
            transfer += (double)bytes[i] / sagoi_topology_bandwidth(t, i, a);
        }
        assert_near(sagoi_sums_latency(sums, a), latency);
        assert_near(sagoi_sums_transfer(sums, a), transfer);
        assert_near(sagoi_sums_cost(sums, a), latency + transfer);
        members += bytes[a] >= 0;
        all += bytes[a] >= 0 ? bytes[a] : 0;
    }
    assert_int_equal(sagoi_sums_members(sums), members);
    assert_int_equal(sagoi_sums_bytes(sums), all);
}

static void fill(const sagoi_topology *t, sagoi_sums *sums, int64_t *bytes) {
    for (int64_t a = 0; a < t->places; a++)
        bytes[a] = -1;
    int64_t adds = random_below(2 * t->places);
    for (int64_t i = 0; i < adds; i++) {
        int64_t place = random_below(t->places), more = one_in(4) ? 0 : random_below(INT64_C(1) << 36);
        sagoi_sums_add(sums, place, more);
        bytes[place] = (bytes[place] < 0 ? 0 : bytes[place]) + more;
    }
}

static void test_random(void **state) {
    for (int i = 0; i < MACHINES; i++) {
        sagoi_topology t = random_topology();
        int64_t *bytes = malloc((size_t)t.places * sizeof *bytes);
        sagoi_sums *sums;
        assert_int_equal(sagoi_sums_create(&t, &sums), SAGO_OK);
        for (int round = 0; round < 3; round++) {
            fill(&t, sums, bytes);
            compare(&t, sums, bytes);
            sagoi_sums_clear(sums);
        }
        sagoi_sums_destroy(sums);
        free(bytes);
    }
}

/* More bytes than a number holds: they stop there, and no sum turns negative. */
static void test_overflow(void **state) {
    sagoi_topology t;
    sagoi_sums *sums;
    sagoi_topology_flat(&t, 3);
    assert_int_equal(sagoi_sums_create(&t, &sums), SAGO_OK);
    for (int64_t place = 0; place < 3; place++)
        sagoi_sums_add(sums, place, INT64_MAX - 5);
    assert_int_equal(sagoi_sums_bytes(sums), INT64_MAX);
    for (int64_t place = 0; place < 3; place++)
        assert_true(sagoi_sums_cost(sums, place) >= 0);
    sagoi_sums_destroy(sums);
}

/* 16,384 members and as many candidates: a loop over pairs would be 268 million steps, and the test would be seen
 * to be slow.  Checked at a few places against the single loop. */
static void test_large(void **state) {
    sagoi_topology t = {.kind = SAGOI_TORUS, .dimensions = 5, .extent = {8, 8, 16, 8, 2}, .direct = false};
    for (int k = 0; k < 5; k++)
        t.level[k] = (sagoi_level){1e-6, 1.8e9 + 1e8 * (k % 3)};
    t.inside = t.io = t.level[0];
    assert_int_equal(sagoi_topology_complete(&t), SAGO_OK);
    assert_int_equal(t.places, 16384);
    sagoi_sums *sums;
    assert_int_equal(sagoi_sums_create(&t, &sums), SAGO_OK);
    for (int64_t a = 0; a < t.places; a++)
        sagoi_sums_add(sums, a, a * 1000);
    double least = INFINITY;
    for (int64_t a = 0; a < t.places; a++)
        least = fmin(least, sagoi_sums_cost(sums, a));
    for (int64_t a = 0; a < t.places; a += 4001) {
        double cost = 0;
        for (int64_t i = 0; i < t.places; i++)
            if (i != a)
                cost += sagoi_topology_latency(&t, i, a) + (double)(i * 1000) / sagoi_topology_bandwidth(&t, i, a);
        assert_near(cost, sagoi_sums_cost(sums, a));
        assert_true(least <= cost * (1 + 1e-9));
    }
    sagoi_sums_destroy(sums);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_overflow),
        cmocka_unit_test(test_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
