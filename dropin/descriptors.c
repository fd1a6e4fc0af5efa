#include "descriptors.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <unistd.h>

static _Atomic long held;

/* The system gives out the lowest free number, so at least so many descriptors are in use.  If none can be had:
 * all. */
static rlim_t in_use(rlim_t most) {
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return most;
    (void)close(fd);
    return (rlim_t)fd;
}

bool dropin_descriptor_take(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return false;
    rlim_t most = limit.rlim_cur;
    if (atomic_fetch_add(&held, 1) < (long)(most == RLIM_INFINITY ? 1 << 20 : most / 8) &&
        (most == RLIM_INFINITY || in_use(most) < most / 4 * 3))
        return true;
    atomic_fetch_sub(&held, 1);
    return false;
}

void dropin_descriptor_give_back(void) { atomic_fetch_sub(&held, 1); }
