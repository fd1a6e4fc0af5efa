/* O_DIRECT: a second descriptor of the same file, and which part of a run may go through it. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/checked.h"
#include "store/transfer.h"
#include "system/syscalls.h"

/* The unit of requests where the kernel does not tell what the file system needs. */
enum { USUAL_UNIT = 4096 };

/* Asks what the file system needs; false: the file system cannot do it.  Kernels before 6.1 do not tell. */
#ifdef STATX_DIOALIGN
static bool alignment_query(int fd, int64_t *offset, int64_t *memory) {
    struct statx answer;
    if (statx(fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &answer) != 0 || !(answer.stx_mask & STATX_DIOALIGN))
        return true;
    *offset = answer.stx_dio_offset_align;
    *memory = answer.stx_dio_mem_align;
    return *offset > 0 && *memory > 0;
}
#else
static bool alignment_query(int fd, int64_t *offset, int64_t *memory) {
    (void)fd, (void)offset, (void)memory;
    return true;
}
#endif

void sagoi_direct_open(sagoi_direct *direct, const sagoi_store *store) {
    int64_t unit = USUAL_UNIT, memory_unit = USUAL_UNIT;
    if (store->layout.in_memory || !alignment_query(store->fd, &unit, &memory_unit))
        return;
    /* If a page were shared by a buffered head and a direct middle, the kernel would read, change and write back
     * that page behind the direct write.  So the unit is at least a page, whatever the device would take. */
    direct->unit = sagoi_max(unit, sysconf(_SC_PAGESIZE));
    direct->memory_unit = memory_unit;
    /* The file is opened again by its descriptor, since its path may mean another file by now. */
    char self[40];
    (void)snprintf(self, sizeof self, "/proc/self/fd/%d", store->fd);
    direct->fd = sagoi_open(self, store->access | O_DIRECT, 0);
}

static bool direct_usable(const sagoi_direct *direct) {
    return direct->fd >= 0 && !atomic_load_explicit(&direct->refused, memory_order_relaxed);
}

sagoi_io_run sagoi_direct_part(const sagoi_direct *direct, const sagoi_io_run *run, int64_t end) {
    sagoi_io_run none = {0, 0, NULL};
    /* The second condition also keeps the rounding from overflowing. */
    if (!direct_usable(direct) || run->len < direct->unit)
        return none;
    int64_t first = sagoi_round_up(run->off, direct->unit);
    int64_t upto = sagoi_round_down(sagoi_min(run->off + run->len, end), direct->unit);
    if (first >= upto)
        return none;
    char *memory = run->buf + (first - run->off);
    if ((uintptr_t)memory % (uintptr_t)direct->memory_unit != 0)
        return none;
    return (sagoi_io_run){first, upto - first, memory};
}
