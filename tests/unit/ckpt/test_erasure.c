/* Any loss that the code promises to survive is survived: all of them for small sets, over the stripes of a set.
 */
#include <stdlib.h>
#include <string.h>

#include "ckpt/erasure.h"
#include "support/unit.h"

enum { LEN = 200, MOST = 12 };

static unsigned char fragments[MOST][LEN];

static void fill(int64_t d, int64_t k) {
    unsigned char *data[MOST];
    for (int64_t i = 0; i < d; i++) {
        data[i] = fragments[i];
        for (int at = 0; at < LEN; at++)
            fragments[i][at] = (unsigned char)rand();
    }
    for (int64_t j = 0; j < k; j++)
        sagoi_erasure_encode(d, k, j, data, fragments[d + j], LEN);
}

/* All ways to lose k of d + k fragments. */
static void every_loss(void **state) {
    for (int64_t k = 1; k <= 4; k++)
        for (int64_t d = 1; d + k <= 8; d++) {
            fill(d, k);
            for (unsigned lost = 0; lost < 1u << (d + k); lost++) {
                int64_t from[MOST], n = 0;
                unsigned char *some[MOST], out[LEN];
                if (__builtin_popcount(lost) > k)
                    continue;
                for (int64_t f = 0; f < d + k && n < d; f++)
                    if (!(lost >> f & 1)) {
                        from[n] = f;
                        some[n++] = fragments[f];
                    }
                for (int64_t wanted = 0; wanted < d + k; wanted++) {
                    assert_int_equal(sagoi_erasure_decode(d, k, wanted, from, some, out, LEN), SAGO_OK);
                    assert_memory_equal(out, fragments[wanted], LEN);
                }
            }
        }
}

static void xor_and_copy(void **state) {
    fill(3, 1);
    for (int at = 0; at < LEN; at++)
        assert_int_equal(fragments[3][at], fragments[0][at] ^ fragments[1][at] ^ fragments[2][at]);
    fill(1, 1);
    assert_memory_equal(fragments[1], fragments[0], LEN);
}

/* Losing k members of a set loses at most k fragments of any stripe, and every chunk has its place. */
static void placement(void **state) {
    for (int64_t n = 2; n <= 9; n++)
        for (int64_t k = 1; k < n; k++)
            for (int64_t d = 1; d <= n - k; d += n - k > 1 ? n - k - 1 : 1) {
                int seen[MOST][MOST] = {{0}};
                for (int64_t stripe = 0; stripe < n; stripe++) {
                    int at[MOST] = {0};
                    for (int64_t j = 0; j < k; j++)
                        at[sagoi_parity_holder(stripe, j, n)]++;
                    for (int64_t i = 0; i < d; i++) {
                        int64_t member = sagoi_data_holder(stripe, i, k, n);
                        at[member]++;
                        seen[member][i]++;
                        assert_int_equal(sagoi_stripe_of(member, i, k, n), stripe);
                    }
                    for (int64_t m = 0; m < n; m++)
                        assert_true(at[m] <= 1);
                }
                for (int64_t m = 0; m < n; m++)
                    for (int64_t i = 0; i < d; i++)
                        assert_int_equal(seen[m][i], 1);
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_loss), cmocka_unit_test(xor_and_copy),
                                       cmocka_unit_test(placement)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
