/* Extents on the wire: (gap, length) as variable-length integers, regular runs as one train.
 *
 * A coded list is read as hostile: decoding never reads past its end nor accepts values that overflow. */
#ifndef SAGOI_CODEC_H
#define SAGOI_CODEC_H

#include "extent/pattern.h"

enum { SAGOI_CODE_MAX = 40 }; /* bytes that one run or train takes at the most */

/* Codes the runs of `span` after what ends at *end (which moves on); returns the new place in `out`.
 * `out` has room for span->count * SAGOI_CODE_MAX bytes (SAGOI_CODE_MAX for a train). */
uint8_t *sagoi_code_put(uint8_t *out, const sagoi_span *span, int64_t *end);

/* Decodes one train (pos = 0) from [in, stop); NULL if the code is broken. */
const uint8_t *sagoi_code_get(const uint8_t *in, const uint8_t *stop, sagoi_span *train, int64_t *end);

#endif
