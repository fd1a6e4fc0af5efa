/* Extents on the wire: (gap, length) as variable-length integers, and regular runs as one train.
 *
 * A decoder never trusts a coded list: it never reads past the list's end, and accepts no values that overflow. */
#ifndef SAGOI_CODEC_H
#define SAGOI_CODEC_H

#include "extent/pattern.h"

enum { SAGOI_CODE_MAX = 40 }; /* bytes of a run or a train at the most */

/* Codes the runs of `span`, of which the first one follows a run that ends at *end (which moves on).  Returns the
 * place behind the code in `out`, which must have room for span->count * SAGOI_CODE_MAX bytes (SAGOI_CODE_MAX for
 * a train). */
uint8_t *sagoi_code_put(uint8_t *out, const sagoi_span *span, int64_t *end);

/* Decodes a single run whose gap and length have at most two bytes each, as most runs have; `in` has at least
 * SAGOI_CODE_SHORT bytes.  Returns the bytes of the code; 0: it is something else.  No branch depends on how many
 * bytes a number has, since that varies from run to run, and a branch that is predicted wrong costs more than a
 * short copy. */
enum { SAGOI_CODE_SHORT = 4 };
static inline int sagoi_code_short(const uint8_t *in, uint32_t *gap, uint32_t *len) {
    uint32_t first = in[0] | (uint32_t)in[1] << 8 | (uint32_t)in[2] << 16 | (uint32_t)in[3] << 24;
    uint32_t gap_long = first >> 7 & 1, second = first >> (8 << gap_long), len_long = second >> 7 & 1;
    uint32_t doubled = (second & 127) | (second >> 1 & 0x3f80 & -len_long);
    *gap = (first & 127) | (first >> 1 & 0x3f80 & -gap_long);
    *len = doubled >> 1;
    bool longer = (first & 0x8080) == 0x8080 || (second & 0x8080) == 0x8080, train = doubled & 1;
    return longer || train || doubled == 0 ? 0 : (int)(2 + gap_long + len_long);
}

/* Decodes one train (pos = 0) from [in, stop); NULL: the code is broken. */
const uint8_t *sagoi_code_get(const uint8_t *in, const uint8_t *stop, sagoi_span *train, int64_t *end);

#endif
