/* Public calls on a whole file: size, sync, flush, statistics; and the library's version. */
#include <string.h>

#include "api/handle.h"
#include "api/reporting.h"
#include "tier/tier.h"
#include "base/checked.h"
#include "defer/defer.h"
#include "engine/nonblocking.h"

/* Collective: rank 0 changes the size of the file, or allocates its space. */
static sago_status change_size(sago_file *file, const char *call, sagoi_meeting meeting, MPI_Offset size,
                               sago_status (*change)(sagoi_store *, int64_t)) {
    sago_status status = sagoi_check_collective(file);
    if (status)
        return sagoi_done(call, NULL, status);
    status = sagoi_check_access(file, SAGOI_TO_FILE);
    if (!status && size < 0)
        status = sagoi_fail(SAGO_ERR_ARG, "the size %lld is negative", (long long)size);
    sago_status flushed = sagoi_flush(file, SAGO_FLUSH_SIZE, false);
    status = flushed ? flushed : sagoi_engine_agree(file, status, meeting, size);
    if (!status) {
        /* After a cut this rank's own writes and mapped pages say nothing about the file any more. */
        if (meeting == SAGOI_MEETING_SET_SIZE) {
            file->written_end = sagoi_min(file->written_end, size);
            file->known_end = sagoi_min(file->known_end, size);
            sagoi_mapping_cleanup(&file->mapping, &file->budget);
        }
        status = sagoi_hear_first(file->team, file->team->rank == 0 ? change(file->store, size) : SAGO_OK);
    }
    return sagoi_done(call, file->path, status);
}

sago_status sago_set_size(sago_file *file, MPI_Offset size) {
    return change_size(file, "sago_set_size", SAGOI_MEETING_SET_SIZE, size, sagoi_store_resize);
}

sago_status sago_preallocate(sago_file *file, MPI_Offset size) {
    return change_size(file, "sago_preallocate", SAGOI_MEETING_PREALLOCATE, size, sagoi_store_allocate);
}

sago_status sago_get_size(sago_file *file, MPI_Offset *size) {
    int64_t now = 0;
    sago_status status = sagoi_check_file(file);
    if (!status && !size)
        status = sagoi_fail(SAGO_ERR_ARG, "there is nowhere to put the size");
    if (!status)
        status = sagoi_flush_own(file);
    if (!status)
        status = sagoi_store_size(file->store, &now);
    if (!status)
        *size = sagoi_max(now, sagoi_tier_end(file));
    return sagoi_done("sago_get_size", NULL, status);
}

/* The file system has heard of all writes by now, and knows if another process has cut the file. */
static void take_for_synced(sago_file *file) {
    file->written_end = 0;
    file->known_end = 0;
}

sago_status sago_sync(sago_file *file) {
    sago_status status = sagoi_check_collective(file);
    if (status)
        return sagoi_done("sago_sync", NULL, status);
    double began = sagoi_report_clock(file);
    status = sagoi_flush(file, SAGO_FLUSH_SYNC, false);
    if (!status)
        status = sagoi_engine_agree(file, sagoi_check_access(file, SAGOI_TO_FILE), SAGOI_MEETING_SYNC, 0);
    if (!status)
        status = sagoi_agree_status(file->team, sagoi_sync_here(file));
    if (!status)
        take_for_synced(file);
    sagoi_report_around(SAGO_REPORT_SYNC, began);
    return sagoi_done("sago_sync", file->path, status);
}

sago_status sago_sync_own(sago_file *file) {
    sago_status status = sagoi_check_file(file);
    if (status)
        return sagoi_done("sago_sync_own", NULL, status);
    bool held;
    sagoi_nonblocking_hold(file, &held);
    if (file->tier)
        status = sagoi_fail(SAGO_ERR_STATE, "what is in local storage is moved by all ranks: sago_sync()");
    if (!status)
        status = sagoi_flush_own(file);
    if (!status)
        status = sagoi_store_sync(file->store);
    if (!status)
        take_for_synced(file);
    sagoi_nonblocking_release(held);
    return sagoi_done("sago_sync_own", file->path, status);
}

sago_status sago_synced_elsewhere(sago_file *file) {
    sago_status status = sagoi_check_file(file);
    if (status)
        return sagoi_done("sago_synced_elsewhere", NULL, status);
    bool held;
    sagoi_nonblocking_hold(file, &held);
    take_for_synced(file);
    sagoi_nonblocking_release(held);
    return sagoi_done("sago_synced_elsewhere", file->path, SAGO_OK);
}

sago_status sago_sync_local(sago_file *file) {
    sago_status status = sagoi_check_unmerged(file);
    if (status)
        return sagoi_done("sago_sync_local", NULL, status);
    if (!file->tier)
        return sago_sync(file);
    status = sagoi_engine_agree(file, SAGO_OK, SAGOI_MEETING_SYNC_LOCAL, 0);
    if (!status)
        status = sagoi_tier_sync(file);
    return sagoi_done("sago_sync_local", file->path, status);
}

/* ---- Deferred writes, moved by hand ---- */

sago_status sago_flush_all(sago_file *file) {
    sago_status status = sagoi_check_collective(file);
    if (status)
        return sagoi_done("sago_flush_all", NULL, status);
    return sagoi_done("sago_flush_all", file->path, sagoi_flush(file, SAGO_FLUSH_ASKED, false));
}

sago_status sago_flush_own(sago_file *file) {
    sago_status status = sagoi_check_file(file);
    if (status)
        return sagoi_done("sago_flush_own", NULL, status);
    return sagoi_done("sago_flush_own", file->path, sagoi_flush_own(file));
}

/* ---- Statistics and version ---- */

sago_status sago_get_stats(sago_file *file, sago_stats *stats) {
    sago_status status = sagoi_check_file(file);
    if (!status && (!stats || stats->size < sizeof stats->size || stats->size > sizeof *stats))
        status = sagoi_fail(SAGO_ERR_ARG, "the statistics' size is wrong: start from SAGO_STATS_INIT");
    if (status)
        return sagoi_done("sago_get_stats", NULL, status);
    bool held;
    sagoi_nonblocking_hold(file, &held);
    sago_stats now = file->stats;
    sagoi_nonblocking_release(held);
    now.size = stats->size;
    sagoi_count_own(file, now.flushes);
    sagoi_stats_fill(file, &now);
    now.memory_now = file->budget.used;
    memcpy(stats, &now, stats->size);
    return sagoi_done("sago_get_stats", NULL, SAGO_OK);
}

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

const char *sago_version(int *major, int *minor, int *patch) {
    if (major)
        *major = SAGO_VERSION_MAJOR;
    if (minor)
        *minor = SAGO_VERSION_MINOR;
    if (patch)
        *patch = SAGO_VERSION_PATCH;
    return TEXT(SAGO_VERSION_MAJOR) "." TEXT(SAGO_VERSION_MINOR) "." TEXT(SAGO_VERSION_PATCH);
}
