/* Device memory on its way through the host's: the copies of copy.h see the bytes of a request's stream in a chunk
 * of host memory of bounded size, which is fetched from the device, or flushed to it, as the walk goes on. */
#ifndef SAGOI_STAGING_H
#define SAGOI_STAGING_H

#include "base/budget.h"
#include "base/device.h"
#include "extent/copy.h"

/* If the memory is a device's, gives it a staging of `bytes` of its stream, at most; `memory->base` may be NULL
 * only where there are no bytes.  SAGO_ERR_MEMORY. */
sago_status sagoi_staging_add(sagoi_memory *memory, int64_t bytes, sagoi_budget *budget) SAGOI_CHECKED;
/* Frees it; fine on NULL. */
void sagoi_staging_destroy(sagoi_staging *staging);

/* After all copies: what was read is on the device, and whether every copy of the runtime's went well. */
sago_status sagoi_staging_finish(sagoi_staging *staging) SAGOI_CHECKED;

/* As in copy.h, of memory that has one. */
void sagoi_staged_span(const sagoi_span *span, char *file_base, int64_t file_off, const sagoi_memory *memory,
                       sagoi_direction direction);
void sagoi_staged_stream(char *place, int64_t pos, int64_t bytes, const sagoi_memory *memory,
                         sagoi_direction direction);

/* Where the device is in the caller's memory: its first byte. */
const char *sagoi_memory_first(const sagoi_memory *memory);

#endif
