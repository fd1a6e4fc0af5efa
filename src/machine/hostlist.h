/* Names of hosts as Slurm writes them: "nid[00008-00011,00020],login1".
 *
 * They are kept as ranges and never expanded, so that a machine of 158,976 nodes is one line. */
#ifndef SAGOI_HOSTLIST_H
#define SAGOI_HOSTLIST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

enum { SAGOI_HOST_MAX = 128, SAGOI_HOST_RANGES_MAX = 1 << 16 };

/* A prefix, numbers from low to high of at least `width` digits, a suffix; low = -1: one name without a number. */
typedef struct sagoi_host_range {
    char prefix[SAGOI_HOST_MAX], suffix[SAGOI_HOST_MAX];
    int64_t low, high;
    int64_t width;
    int64_t first; /* number of the first host in the list, or whatever the owner makes of it (a place) */
} sagoi_host_range;

typedef struct sagoi_hostlist {
    int64_t ranges, capacity;
    sagoi_host_range *range; /* owned */
    int64_t hosts;
} sagoi_hostlist;

/* Appends names.  The message says what is wrong, not where.  After a failure the list may have grown. */
sago_status sagoi_hostlist_add(sagoi_hostlist *list, const char *text) SAGOI_CHECKED;
void sagoi_hostlist_cleanup(sagoi_hostlist *list);

static inline int64_t sagoi_host_range_hosts(const sagoi_host_range *range) {
    return range->low < 0 ? 1 : range->high - range->low + 1;
}

/* range->first + the position within the range, or -1.  A name with a domain ("n1.site.org") is also found by its
 * first part. */
int64_t sagoi_hostlist_find(const sagoi_hostlist *list, const char *name);
/* The name of the host with that number; false: there is none, or it does not fit. */
bool sagoi_hostlist_name(const sagoi_hostlist *list, int64_t number, char *name, int64_t capacity);
/* "nid[00008-00011]": a range as text. */
void sagoi_host_range_format(const sagoi_host_range *range, char *text, int64_t capacity);

#endif
