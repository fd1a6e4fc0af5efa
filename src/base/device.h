/* Memory of a GPU: whether a buffer is in it, and copies to and from it.
 *
 * Nothing is needed when Sago is built: the runtime is asked that the program itself has loaded (CUDA's driver,
 * which every CUDA runtime loads; HIP; Level Zero), and while there is none the question costs one look at how
 * many libraries were loaded so far.  Memory that both sides can use (managed, shared, pinned) is no device memory
 * here.
 *
 * Copies are made in the calling thread, which is always one of the application's. */
#ifndef SAGOI_DEVICE_H
#define SAGOI_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* How a runtime's memory is asked about and copied. */
typedef struct sagoi_device {
    const char *name;
    bool (*is_device)(const void *memory);
    /* Complete when it returns.  false: *why says what the runtime says. */
    bool (*copy)(void *to, const void *from, int64_t bytes, const void *memory, const char **why);
} sagoi_device;

/* Is there any runtime? */
bool sagoi_device_is_there(void);

/* The runtime whose memory it is; NULL: the host's. */
const sagoi_device *sagoi_device_of(const void *memory);

/* Between host memory and the device's; one of them is `memory`. */
sago_status sagoi_device_copy(const sagoi_device *device, void *to, const void *from, int64_t bytes,
                              const void *memory) SAGOI_CHECKED;

#endif
