/* Parity over fragments of equal length, by ISA-L: with d data and k parity fragments, any d of them bring back
 * the others.  One parity fragment is the XOR of the data; more are a Cauchy code.  No files, no MPI.
 *
 * In a set of n members, stripe s has its parity fragment j at member (s + j) mod n, and its data fragment i at
 * member (s + k + i) mod n.  So member m gives chunk i of its stream to stripe (m - k - i) mod n, and holds k
 * parity fragments. If k members are lost, each stripe lacks k fragments. */
#ifndef SAGOI_CKPT_ERASURE_H
#define SAGOI_CKPT_ERASURE_H

#include <stdint.h>

#include "base/status.h"

enum { SAGOI_FRAGMENTS_MAX = 128 }; /* d + k */

static inline int64_t sagoi_parity_holder(int64_t stripe, int64_t j, int64_t n) { return (stripe + j) % n; }
static inline int64_t sagoi_data_holder(int64_t stripe, int64_t i, int64_t k, int64_t n) {
    return (stripe + k + i) % n;
}
static inline int64_t sagoi_stripe_of(int64_t member, int64_t i, int64_t k, int64_t n) {
    return ((member - k - i) % n + n) % n;
}

/* Computes parity fragment j from d data fragments. */
void sagoi_erasure_encode(int64_t d, int64_t k, int64_t j, unsigned char *const data[], unsigned char *out,
                          int64_t len);

/* Computes fragment `wanted` from d others: `from` says which; fragments are numbered from 0 (data) and from d
 * (parity).  Needs memory for two matrices of d * d bytes.  SAGO_ERR_IO: the fragments do not determine it (never
 * with d different ones). */
sago_status sagoi_erasure_decode(int64_t d, int64_t k, int64_t wanted, const int64_t from[],
                                 unsigned char *const fragments[], unsigned char *out, int64_t len) SAGOI_CHECKED;

#endif
