#include "ckpt/erasure.h"

#include <isa-l.h>
#include <string.h>

/* d + k rows of d coefficients: how each fragment follows from the data. */
typedef struct matrix {
    unsigned char rows[SAGOI_FRAGMENTS_MAX * SAGOI_FRAGMENTS_MAX];
} matrix;

static void fill_matrix(matrix *made, int64_t d, int64_t k) {
    gf_gen_cauchy1_matrix(made->rows, (int)(d + k), (int)d);
    if (k == 1)
        memset(made->rows + d * d, 1, (size_t)d);
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
    matrix all;
    fill_matrix(&all, d, k);
    combine(d, all.rows + (d + j) * d, data, out, len);
}

bool sagoi_erasure_decode(int64_t d, int64_t k, int64_t wanted, const int64_t from[],
                          unsigned char *const fragments[], unsigned char *out, int64_t len) {
    matrix all, some, inverse;
    fill_matrix(&all, d, k);
    for (int64_t i = 0; i < d; i++)
        memcpy(some.rows + i * d, all.rows + from[i] * d, (size_t)d);
    if (gf_invert_matrix(some.rows, inverse.rows, (int)d) != 0)
        return false;
    unsigned char coefficients[SAGOI_FRAGMENTS_MAX] = {0}; /* row `wanted` of the matrix times the inverse */
    for (int64_t i = 0; i < d; i++)
        for (int64_t j = 0; j < d; j++)
            coefficients[i] ^= gf_mul(all.rows[wanted * d + j], inverse.rows[j * d + i]);
    combine(d, coefficients, fragments, out, len);
    return true;
}
