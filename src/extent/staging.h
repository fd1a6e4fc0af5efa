/* Device memory on its way through the host's memory.  The copies of copy.h see the bytes of a request's stream
 * in a chunk of host memory of bounded size, which is fetched from the device, or flushed to it, as the walk
 * goes on. */
#ifndef SAGOI_STAGING_H
#define SAGOI_STAGING_H

#include "base/budget.h"
#include "base/device.h"
#include "extent/copy.h"

/* If the memory is a device's, gives it a staging of at most `bytes` bytes of its stream; `memory->base` may be
 * NULL only if there are no bytes.  SAGO_ERR_MEMORY. */
sago_status sagoi_staging_add(sagoi_memory *memory, int64_t bytes, sagoi_budget *budget) SAGOI_CHECKED;
/* Frees it; fine on NULL. */
void sagoi_staging_destroy(sagoi_staging *staging);

/* Called after all copies: flushes what was read to the device, and tells whether every copy of the runtime's
 * succeeded. */
sago_status sagoi_staging_finish(sagoi_staging *staging) SAGOI_CHECKED;

/* As in copy.h, for memory that has a staging. */
void sagoi_staged_span(const sagoi_span *span, char *file_base, int64_t file_off, const sagoi_memory *memory,
                       sagoi_direction direction);
void sagoi_staged_stream(char *place, int64_t pos, int64_t bytes, const sagoi_memory *memory,
                         sagoi_direction direction);

/* The first byte of the caller's memory, which tells the device. */
const char *sagoi_memory_first(const sagoi_memory *memory);

#endif
