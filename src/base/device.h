/* Memory of a GPU: whether a buffer lies there, and copies to and from it.
 *
 * Building Sago needs nothing for this.  Sago asks the runtime that the program itself has loaded (CUDA's
 * driver, which every CUDA runtime loads; HIP; Level Zero).  While there is no such runtime, the question costs
 * one look at how many libraries were loaded so far.  Memory that both sides can use (managed, shared, pinned)
 * does not count as device memory.
 *
 * Copies are made in the calling thread, which is always one of the application's. */
#ifndef SAGOI_DEVICE_H
#define SAGOI_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* The functions that ask a runtime about memory, and copy. */
typedef struct sagoi_device {
    const char *name;
    bool (*is_device)(const void *memory);
    /* The copy is complete when it returns.  false: *why is the runtime's reason. */
    bool (*copy)(void *to, const void *from, int64_t bytes, const void *memory, const char **why);
} sagoi_device;

/* Has the process loaded any runtime? */
bool sagoi_device_is_there(void);

/* The runtime that the memory belongs to; NULL: host memory. */
const sagoi_device *sagoi_device_of(const void *memory);

/* Copies between host memory and a device's; `memory` is the one that is the device's. */
sago_status sagoi_device_copy(const sagoi_device *device, void *to, const void *from, int64_t bytes,
                              const void *memory) SAGOI_CHECKED;

#endif
