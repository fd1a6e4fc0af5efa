/* Memory of a GPU.  All calls of Sago take buffers in such memory, and stage them through host memory.  The calls
 * below are for layers that hand buffers on to libraries which cannot use them.  This header needs no MPI header.
 */
#ifndef SAGO_DEVICE_H
#define SAGO_DEVICE_H

#include <stdint.h>

#include <sago/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Is this address in memory that only a device can use?  CUDA, HIP or Level Zero is asked, if the program has
 * loaded it.  The answer is 0 for memory that the host can use as well (managed, shared, pinned). */
int sago_is_device_memory(const void *memory);

/* Has the program loaded CUDA, HIP or Level Zero?  While it has not, no memory is a device's. */
int sago_has_device(void);

/* Copies between host and device memory, either way; the copy is complete when the call returns.  A failure is
 * SAGO_ERR_IO, with a message in the words of the device's runtime. */
sago_status sago_device_copy(void *to, const void *from, int64_t bytes);

#ifdef __cplusplus
}
#endif

#endif
