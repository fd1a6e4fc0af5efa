/* Questions about memory of a GPU, for layers that hand buffers on. */
#include <sago/device.h>

#include <string.h>

#include "api/handle.h"
#include "base/device.h"

int sago_has_device(void) { return sagoi_device_is_there(); }

int sago_is_device_memory(const void *memory) { return memory && sagoi_device_of(memory) != NULL; }

sago_status sago_device_copy(void *to, const void *from, int64_t bytes) {
    sago_status status = SAGO_OK;
    const sagoi_device *device = NULL;
    const void *memory = to;
    if (bytes < 0 || (bytes > 0 && (!to || !from)))
        status = sagoi_fail(SAGO_ERR_ARG, "%lld bytes, or a NULL pointer", (long long)bytes);
    if (!status && bytes > 0 && !(device = sagoi_device_of(to))) {
        memory = from;
        device = sagoi_device_of(from);
    }
    if (device)
        status = sagoi_device_copy(device, to, from, bytes, memory);
    else if (!status && bytes > 0)
        memcpy(to, from, (size_t)bytes);
    return sagoi_done("sago_device_copy", NULL, status);
}
