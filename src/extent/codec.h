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

/* Decodes one train (pos = 0) from [in, stop); NULL: the code is broken. */
const uint8_t *sagoi_code_get(const uint8_t *in, const uint8_t *stop, sagoi_span *train, int64_t *end);

#endif
