#include "staged.h"

#include <stdlib.h>
#include <string.h>

#include <sago/device.h>

#include "raise.h"
#include "waits.h"

/* From the first byte to the last of so many elements; 0: nothing, or no range of memory. */
static int64_t range_of(MPI_Count count, MPI_Datatype type, MPI_Count *first) {
    MPI_Count low = 0, extent = 0, length = 0, bytes = 0;
    *first = 0;
    if (count <= 0 || type == MPI_DATATYPE_NULL || MPI_Type_get_extent_x(type, &low, &extent) != MPI_SUCCESS ||
        MPI_Type_get_true_extent_x(type, first, &length) != MPI_SUCCESS || extent < 0 ||
        __builtin_mul_overflow(count - 1, extent, &bytes) || __builtin_add_overflow(bytes, length, &bytes))
        return 0;
    return (int64_t)bytes;
}

int dropin_stage(MPI_File file, dropin_staged *staged, const void *buf, MPI_Count count, MPI_Datatype type) {
    MPI_Count first;
    *staged = (dropin_staged){.use = (void *)(uintptr_t)buf};
    if (!buf || !sago_is_device_memory(buf))
        return MPI_SUCCESS;
    staged->bytes = range_of(count, type, &first);
    if (staged->bytes == 0)
        return MPI_SUCCESS;
    staged->device = (char *)staged->use + first;
    staged->host = malloc((size_t)staged->bytes);
    if (!staged->host)
        return dropin_raise(file, SAGO_ERR_MEMORY);
    sago_status status = sago_device_copy(staged->host, staged->device, staged->bytes);
    if (status) {
        free(staged->host);
        return dropin_raise(file, status);
    }
    staged->use = staged->host - first;
    return MPI_SUCCESS;
}

int dropin_unstage(MPI_File file, dropin_staged *staged, int code, bool wrote) {
    if (!staged->host)
        return code;
    if (!code && !wrote)
        code = dropin_raise(file, sago_device_copy(staged->device, staged->host, staged->bytes));
    free(staged->host);
    return code;
}

/* ---- A request that is complete ---- */

static int query(void *arg, MPI_Status *status) {
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    (void)MPI_Status_set_elements_x(status, MPI_BYTE, *(MPI_Count *)arg);
    (void)MPI_Status_set_cancelled(status, 0);
    return MPI_SUCCESS;
}

static int release(void *arg) {
    free(arg);
    return MPI_SUCCESS;
}

static int refuse_cancel(void *arg, int complete) {
    (void)arg, (void)complete;
    return MPI_SUCCESS;
}

int dropin_unstage_started(MPI_File file, dropin_staged *staged, int code, bool wrote, MPI_Request *request) {
    MPI_Status status;
    if (!staged->host)
        return code;
    MPI_Count *bytes = calloc(1, sizeof *bytes);
    if (!code)
        code = dropin_waits()->Wait(request, &status);
    if (!code && bytes)
        (void)MPI_Get_elements_x(&status, MPI_BYTE, bytes);
    code = dropin_unstage(file, staged, code, wrote);
    if (code || !bytes || MPI_Grequest_start(query, release, refuse_cancel, bytes, request) != MPI_SUCCESS)
        free(bytes);
    else
        (void)MPI_Grequest_complete(*request);
    return code;
}
