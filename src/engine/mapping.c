#include "engine/mapping.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/checked.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

typedef enum { UNKNOWN, NO, YES } answer;

static _Atomic answer supported; /* the kernel's answer, which never changes */

static answer ask_kernel(void) {
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return UNKNOWN;
    answer known = madvise(page, 4096, MADV_POPULATE_WRITE) == 0 ? YES : errno == EINVAL ? NO : UNKNOWN;
    (void)munmap(page, 4096);
    return known;
}

bool sagoi_mapping_supported(void) {
    if (supported == UNKNOWN)
        supported = ask_kernel();
    return supported == YES;
}

void sagoi_mapping_cleanup(sagoi_mapping *mapping, sagoi_budget *budget) {
    if (mapping->base)
        (void)munmap(mapping->base, (size_t)mapping->bytes);
    sagoi_budget_free(budget, mapping->populated);
    memset(mapping, 0, sizeof *mapping);
}

/* Forgets which pages are populated if another process may have punched holes or cut the file since.  (Most often
 * another rank that goes alone has written its part; populating pages again costs little.) */
static sago_status notice_changes(sagoi_mapping *mapping, sagoi_store *store) {
    struct stat info;
    if (fstat(sagoi_store_fd(store), &info) != 0)
        return sagoi_fail_errno(errno, "fstat of a mapped file");
    bool changed = info.st_blocks < mapping->file_blocks ||
                   memcmp(&info.st_ctim, &mapping->file_changed, sizeof info.st_ctim) != 0;
    if (changed)
        memset(mapping->populated, 0, (size_t)mapping->blocks);
    return SAGO_OK;
}

void sagoi_mapping_remember(sagoi_mapping *mapping, sagoi_store *store) {
    struct stat info;
    if (!mapping->base || fstat(sagoi_store_fd(store), &info) != 0)
        return;
    mapping->file_blocks = info.st_blocks;
    mapping->file_changed = info.st_ctim;
}

sago_status sagoi_mapping_cover(sagoi_mapping *mapping, sagoi_store *store, int64_t low, int64_t high, bool write,
                                sagoi_budget *budget) {
    if (high > INT64_MAX - SAGOI_MAPPING_BLOCK)
        return sagoi_fail(SAGO_ERR_MEMORY, "no mapping reaches offset %lld", (long long)high);
    int64_t start = sagoi_round_down(low, SAGOI_MAPPING_BLOCK), end = sagoi_round_up(high, SAGOI_MAPPING_BLOCK);
    if (mapping->base && start >= mapping->off && end <= mapping->off + mapping->bytes)
        return notice_changes(mapping, store);
    sagoi_mapping_cleanup(mapping, budget);
    int64_t blocks = (end - start) / SAGOI_MAPPING_BLOCK;
    uint8_t *populated = sagoi_budget_alloc(budget, blocks);
    if (!populated)
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory to keep track of %lld mapped blocks", (long long)blocks);
    int protection = PROT_READ | (write ? PROT_WRITE : 0);
    void *base = mmap(NULL, (size_t)(end - start), protection, MAP_SHARED, sagoi_store_fd(store), start);
    if (base == MAP_FAILED) {
        char why[128];
        const char *reason = strerror_r(errno, why, sizeof why);
        sagoi_budget_free(budget, populated);
        return sagoi_fail(SAGO_ERR_MEMORY, "mapping %lld bytes of the file: %s", (long long)(end - start), reason);
    }
    *mapping = (sagoi_mapping){.base = base,
                               .off = start,
                               .bytes = end - start,
                               .in_place = !write || sagoi_store_layout(store)->in_memory,
                               .populated = populated,
                               .blocks = blocks};
    return notice_changes(mapping, store);
}

/* Finds out why pages could not be populated.  The kernel only says that an access would be a SIGBUS. */
static sago_status populate_failure(sagoi_store *store, int64_t start, int64_t end, int error) {
    int64_t size = 0;
    sago_status status = sagoi_store_size(store, &size);
    if (status)
        return status;
    if (error == ENOMEM)
        return sagoi_fail_errno(error, "bringing in bytes %lld to %lld of the file", (long long)start,
                                (long long)end);
    if (size < end)
        return sagoi_fail(SAGO_ERR_IO, "the file was cut to %lld bytes during a collective call", (long long)size);
    return sagoi_fail_errno(ENOSPC, "writing bytes %lld to %lld of the file", (long long)start, (long long)end);
}

static sago_status bring_in(const sagoi_mapping *mapping, sagoi_store *store, int64_t low, int64_t high) {
    int advice = mapping->in_place ? MADV_POPULATE_READ : MADV_POPULATE_WRITE;
    low = sagoi_round_down(low, 4096);
    while (madvise(sagoi_mapping_at(mapping, low), (size_t)(high - low), advice) != 0)
        if (errno != EINTR && errno != EAGAIN)
            return populate_failure(store, low, high, errno);
    return SAGO_OK;
}

/* Only blocks that were populated as a whole are marked. */
static void mark_populated(const sagoi_mapping *mapping, int64_t low, int64_t high) {
    int64_t block = sagoi_round_up(low - mapping->off, SAGOI_MAPPING_BLOCK) / SAGOI_MAPPING_BLOCK;
    for (; (block + 1) * SAGOI_MAPPING_BLOCK <= high - mapping->off; block++)
        mapping->populated[block] = 1;
}

/* Populates blocks that are not there yet, as many as possible by one call. */
sago_status sagoi_mapping_populate(sagoi_mapping *mapping, sagoi_store *store, int64_t start, int64_t end) {
    while (start < end) {
        int64_t block = (start - mapping->off) / SAGOI_MAPPING_BLOCK;
        bool there = mapping->populated[block];
        while (mapping->off + block * SAGOI_MAPPING_BLOCK < end && mapping->populated[block] == there)
            block++;
        int64_t stop = sagoi_min(end, mapping->off + block * SAGOI_MAPPING_BLOCK);
        sago_status status = there ? SAGO_OK : bring_in(mapping, store, start, stop);
        if (status)
            return status;
        if (!there)
            mark_populated(mapping, start, stop);
        start = stop;
    }
    return SAGO_OK;
}
