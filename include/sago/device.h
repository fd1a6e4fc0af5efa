/* Memory of a GPU.  All calls of Sago take buffers in it, and stage them through host memory; these are for
 * those who hand buffers on to others, who may not.  Needs no MPI header. */
#ifndef SAGO_DEVICE_H
#define SAGO_DEVICE_H

#include <stdint.h>

#include <sago/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Is this in memory that only a device can use?  Asked of CUDA, HIP or Level Zero, if the program has loaded them;
 * memory that the host can use as well (managed, shared, pinned) is not. */
int sago_is_device_memory(const void *memory);

/* Has the program loaded one of those at all?  While it has not, nothing is. */
int sago_has_device(void);

/* Copies between host and device memory, either way; complete when it returns.  SAGO_ERR_IO, in the runtime's
 * words. */
sago_status sago_device_copy(void *to, const void *from, int64_t bytes);

#ifdef __cplusplus
}
#endif

#endif
