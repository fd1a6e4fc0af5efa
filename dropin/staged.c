#include "staged.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <sago/device.h>

#include "atomic.h"
#include "dropin_report.h"
#include "own_calls.h"
#include "raise.h"
#include "waits.h"

/* From the first byte to the last of so many elements; 0: nothing, or no range of memory. */
static int64_t range_of(MPI_Count count, MPI_Datatype type, MPI_Count *first) {
    MPI_Count low = 0, extent = 0, length = 0, last = 0, bytes = 0;
    *first = 0;
    if (count <= 0 || type == MPI_DATATYPE_NULL || !DROPIN_DONE(MPI_Type_get_extent_x(type, &low, &extent)) ||
        !DROPIN_DONE(MPI_Type_get_true_extent_x(type, first, &length)) ||
        __builtin_mul_overflow(count - 1, extent, &last) ||
        __builtin_add_overflow(last < 0 ? -last : last, length, &bytes))
        return 0;
    *first += last < 0 ? last : 0;
    return (int64_t)bytes;
}

/* A type with addresses, for MPI_BOTTOM, may have data on either side. */
static sago_status judge(const dropin_staged *staged, bool *on_device) {
    *on_device = staged->bytes > 0 && sago_is_device_memory(staged->device);
    if (staged->bytes == 0 || (sago_is_device_memory(staged->device + staged->bytes - 1) != 0) == *on_device)
        return SAGO_OK;
    return SAGO_ERR_UNSUPPORTED;
}

static sago_status copy_to_host(dropin_staged *staged) {
    staged->host = malloc((size_t)staged->bytes);
    if (!staged->host)
        return SAGO_ERR_MEMORY;
    sago_status status = sago_device_copy(staged->host, staged->device, staged->bytes);
    if (status) {
        free(staged->host);
        staged->host = NULL;
    }
    return status;
}

static int stage(MPI_File file, dropin_staged *staged, const dropin_access *wanted) {
    MPI_Count first;
    bool on_device;
    *staged = (dropin_staged){.use = wanted->buf};
    if (!sago_has_device())
        return MPI_SUCCESS;
    staged->bytes = range_of(wanted->count, wanted->type, &first);
    staged->device = (char *)((uintptr_t)wanted->buf + (uintptr_t)first); /* numbers: MPI_BOTTOM is NULL */
    sago_status status = judge(staged, &on_device);
    if (!status && on_device)
        status = copy_to_host(staged);
    if (staged->host)
        staged->use = (void *)((uintptr_t)staged->host - (uintptr_t)first);
    return dropin_raise(file, status);
}

static int unstage(MPI_File file, dropin_staged *staged, int code, bool wrote) {
    if (!staged->host)
        return code;
    if (!code && !wrote)
        code = dropin_raise(file, sago_device_copy(staged->device, staged->host, staged->bytes));
    free(staged->host);
    return code;
}

static void begin_passing(dropin_passing *passing) {
    passing->failed = stage(passing->file, &passing->staged, passing->wanted);
    passing->began = dropin_clock();
}

dropin_passing dropin_pass(MPI_File file, const dropin_access *wanted, bool together) {
    dropin_passing passing = {.file = file, .wanted = wanted, .together = together, .lock = -1};
    begin_passing(&passing);
    return passing;
}

/* An independent call whose buffer has no copy is not made, so that none of its data moves. */
dropin_passing dropin_pass_locked(MPI_File file, const dropin_access *wanted, bool together) {
    dropin_passing passing = {.file = file, .wanted = wanted, .together = together};
    passing.alone = !together || dropin_atomic_alone(file);
    passing.lock = passing.alone ? dropin_atomic_enter(file) : -1;
    begin_passing(&passing);
    if (passing.failed && !together)
        dropin_atomic_leave(passing.lock);
    return passing;
}

int dropin_passed(dropin_passing *passing, int code) {
    dropin_count_passed(passing->file, passing->began, code, passing->wanted, passing->together);
    code = unstage(passing->file, &passing->staged, code, passing->wanted->write);
    dropin_atomic_leave(passing->lock);
    return passing->failed ? passing->failed : code;
}

/* ---- Split calls: from begin to end, of which there is one at a time on a file ---- */

typedef struct begun {
    MPI_File file;
    dropin_staged staged;
    struct begun *next;
} begun;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static begun *all_begun;

/* The MPI library may write to the copy until the end; without memory to remember the copy it is never freed. */
static int remember(MPI_File file, const dropin_staged *staged) {
    begun *made = calloc(1, sizeof *made);
    if (!made)
        return dropin_raise(file, SAGO_ERR_MEMORY);
    (void)pthread_mutex_lock(&lock);
    *made = (begun){file, *staged, all_begun};
    all_begun = made;
    (void)pthread_mutex_unlock(&lock);
    return MPI_SUCCESS;
}

int dropin_passed_begun(dropin_passing *passing, int code) {
    dropin_count_passed(passing->file, passing->began, code, passing->wanted, passing->together);
    if (code)
        free(passing->staged.host);
    else if (passing->staged.host)
        code = remember(passing->file, &passing->staged);
    return passing->failed ? passing->failed : code;
}

int dropin_passed_end(MPI_File file, int code, bool wrote) {
    dropin_staged staged = {0};
    (void)pthread_mutex_lock(&lock);
    begun **at = &all_begun;
    while (*at && (*at)->file != file)
        at = &(*at)->next;
    begun *found = *at;
    if (found) {
        *at = found->next;
        staged = found->staged;
    }
    (void)pthread_mutex_unlock(&lock);
    free(found);
    return unstage(file, &staged, code, wrote);
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

int dropin_passed_started(dropin_passing *passing, int code, MPI_Request *request) {
    MPI_Status status;
    dropin_count_passed(passing->file, passing->began, code, passing->wanted, passing->together);
    if (!passing->staged.host)
        return code;
    MPI_Count *bytes = calloc(1, sizeof *bytes);
    if (!code)
        code = dropin_waits_after_pmpi.Wait(request, &status);
    if (!code && bytes)
        (void)MPI_Get_elements_x(&status, MPI_BYTE, bytes);
    code = unstage(passing->file, &passing->staged, code, passing->wanted->write);
    if (code || !bytes || !DROPIN_DONE(MPI_Grequest_start(query, release, refuse_cancel, bytes, request)))
        free(bytes);
    else
        (void)DROPIN_DONE(MPI_Grequest_complete(*request));
    return code;
}
