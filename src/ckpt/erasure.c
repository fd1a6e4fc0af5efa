#include "ckpt/erasure.h"

#include <isa-l.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* How a fragment follows from the data: its coefficient of data fragment i.  ISA-L's Cauchy matrix, an entry at a
 * time, since the whole one is large. */
static unsigned char coefficient(int64_t d, int64_t k, int64_t fragment, int64_t i) {
    if (fragment < d)
        return fragment == i;
    return k == 1 ? 1 : gf_inv((unsigned char)(fragment ^ i));
}

/* out = sum of coefficient times fragment. */
static void combine(int64_t d, unsigned char *coefficients, unsigned char *const fragments[], unsigned char *out,
                    int64_t len) {
    unsigned char tables[32 * SAGOI_FRAGMENTS_MAX], *outputs[1] = {out}, *inputs[SAGOI_FRAGMENTS_MAX];
    memcpy(inputs, fragments, (size_t)d * sizeof inputs[0]);
    ec_init_tables((int)d, 1, coefficients, tables);
    ec_encode_data((int)len, (int)d, 1, tables, inputs, outputs);
}

void sagoi_erasure_encode(int64_t d, int64_t k, int64_t j, unsigned char *const data[], unsigned char *out,
                          int64_t len) {
    unsigned char coefficients[SAGOI_FRAGMENTS_MAX];
    for (int64_t i = 0; i < d; i++)
        coefficients[i] = coefficient(d, k, d + j, i);
    combine(d, coefficients, data, out, len);
}

sago_status sagoi_erasure_decode(int64_t d, int64_t k, int64_t wanted, const int64_t from[],
                                 unsigned char *const fragments[], unsigned char *out, int64_t len) {
    unsigned char coefficients[SAGOI_FRAGMENTS_MAX] = {0}; /* row `wanted` of the matrix times the inverse */
    unsigned char *some = malloc(2 * (size_t)(d * d)), *inverse = some ? some + d * d : NULL;
    if (!some)
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory to rebuild a fragment of %lld", (long long)d);
    for (int64_t i = 0; i < d; i++)
        for (int64_t j = 0; j < d; j++)
            some[i * d + j] = coefficient(d, k, from[i], j);
    bool solved = gf_invert_matrix(some, inverse, (int)d) == 0;
    for (int64_t i = 0; i < d && solved; i++)
        for (int64_t j = 0; j < d; j++)
            coefficients[i] ^= gf_mul(coefficient(d, k, wanted, j), inverse[j * d + i]);
    free(some);
    if (!solved)
        return sagoi_fail(SAGO_ERR_IO, "the fragments of a stripe do not determine the lost one");
    combine(d, coefficients, fragments, out, len);
    return SAGO_OK;
}
