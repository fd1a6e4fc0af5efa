/* Racks from made-up times: found whatever order nodes have, and not where there are none. */
#include <stdlib.h>

#include "machine/racks.h"
#include "random_topology.h"
#include "support/unit.h"

enum { NODES_MOST = 64, PAIRS_MOST = NODES_MOST * NODES_MOST };

typedef struct made_up {
    int64_t nodes, racks;
    int64_t rack[NODES_MOST]; /* the truth */
    double near, far, noise;
} made_up;

static double time_of(const made_up *m, int64_t a, int64_t b) {
    double seconds = m->rack[a] == m->rack[b] ? m->near : m->far;
    return seconds * (1 + m->noise * (double)random_below(1000) / 1000);
}

/* As `sago tune` asks: a sample, then the racks' first nodes with each other. */
static int64_t look(const made_up *m, int64_t *rack, sagoi_racks *found) {
    static sagoi_pair_time pair[PAIRS_MOST];
    int64_t pairs = sagoi_racks_sample(m->nodes, pair), first[NODES_MOST], reps = 0;
    for (int64_t i = 0; i < pairs; i++)
        pair[i].seconds = time_of(m, pair[i].a, pair[i].b);
    assert_int_equal(sagoi_racks_find(m->nodes, pairs, pair, rack, found), SAGO_OK);
    if (found->racks == 1)
        return pairs;
    for (int64_t n = 0; n < m->nodes; n++)
        if (rack[n] == reps)
            first[reps++] = n;
    for (int64_t i = 0; i < reps; i++)
        for (int64_t k = 0; k < i; k++)
            pair[pairs++] = (sagoi_pair_time){first[k], first[i], time_of(m, first[k], first[i])};
    assert_int_equal(sagoi_racks_find(m->nodes, pairs, pair, rack, found), SAGO_OK);
    return pairs;
}

static void assert_truth(const made_up *m, const int64_t *rack) {
    for (int64_t a = 0; a < m->nodes; a++)
        for (int64_t b = 0; b < m->nodes; b++)
            assert_int_equal(rack[a] == rack[b], m->rack[a] == m->rack[b]);
}

/* In blocks, in turn, and shuffled. */
static void found_in_any_order(void **state) {
    int64_t rack[NODES_MOST];
    sagoi_racks found;
    for (int64_t nodes = 4; nodes <= NODES_MOST; nodes *= 2)
        for (int64_t racks = 2; racks <= nodes / 2; racks *= 2)
            for (int order = 0; order < 3; order++) {
                made_up m = {.nodes = nodes, .racks = racks, .near = 2e-6, .far = 5e-6, .noise = 0.2};
                for (int64_t n = 0; n < nodes; n++)
                    m.rack[n] = order == 0 ? n / (nodes / racks) : n % racks;
                for (int64_t n = nodes - 1; order == 2 && racks == 2 && n > 0; n--) {
                    int64_t other = random_below(n + 1), kept = m.rack[n];
                    m.rack[n] = m.rack[other];
                    m.rack[other] = kept;
                }
                int64_t pairs = look(&m, rack, &found);
                if (found.racks == 1 && order == 2)
                    continue; /* shuffled, the sample may leave a node without a near pair: flat, not wrong */
                assert_int_equal(found.racks, racks);
                assert_truth(&m, rack);
                assert_true(found.least_far >= 5e-6 && found.greatest_near <= 2.4e-6);
                assert_true(pairs <= nodes * 7 + racks * racks / 2);
            }
}

/* Alike but for noise; one slow node; one fast pair: no racks. */
static void nothing_made_up(void **state) {
    int64_t rack[NODES_MOST];
    sagoi_racks found;
    for (int64_t nodes = 2; nodes <= NODES_MOST; nodes++) {
        made_up m = {.nodes = nodes, .near = 2e-6, .far = 2e-6, .noise = 0.4};
        (void)look(&m, rack, &found);
        assert_int_equal(found.racks, 1);
        m.far = 2e-5;
        m.rack[nodes / 2] = 1; /* its own link is slow */
        (void)look(&m, rack, &found);
        assert_int_equal(found.racks, 1);
        for (int64_t n = 0; n < nodes; n++) {
            assert_int_equal(rack[n], 0);
            m.rack[n] = n; /* all far, but for one pair */
        }
        m.rack[nodes - 1] = m.rack[0];
        (void)look(&m, rack, &found);
        assert_int_equal(found.racks, 1);
    }
}

/* A few disturbed pairs do not matter; many do. */
static void disturbed(void **state) {
    sagoi_pair_time pair[PAIRS_MOST];
    int64_t rack[16];
    sagoi_racks found;
    for (int64_t wrong = 0; wrong <= 12; wrong += 3) {
        int64_t pairs = 0;
        for (int64_t a = 0; a < 16; a++)
            for (int64_t b = a + 1; b < 16; b++) {
                bool near = a / 8 == b / 8 && (pairs >= wrong || b == a + 1);
                pair[pairs++] = (sagoi_pair_time){a, b, near ? 1e-6 : 4e-6};
            }
        assert_int_equal(sagoi_racks_find(16, pairs, pair, rack, &found), SAGO_OK);
        assert_int_equal(found.racks, wrong <= 3 ? 2 : 1);
    }
    assert_int_equal(sagoi_racks_find(16, 0, pair, rack, &found), SAGO_OK);
    assert_int_equal(found.racks, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(found_in_any_order),
        cmocka_unit_test(nothing_made_up),
        cmocka_unit_test(disturbed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
