/* How one file is kept in several: its blocks go to the subfiles in turn.
 *
 * The rule is fixed when the file is created.  So the place of a byte depends on its offset alone, not on which
 * rank wrote it or when: any rank finds the byte, and a later write replaces an earlier one.  Block b of the
 * file is block b / count of subfile b mod count. */
#ifndef SAGOI_SUBFILES_H
#define SAGOI_SUBFILES_H

#include "base/checked.h"

typedef struct sagoi_subfiles {
    int64_t count; /* 2 to SAGOI_SUBFILES_MAX; 0: one plain file */
    int64_t block; /* bytes, a multiple of SAGOI_SUBFILE_UNIT */
} sagoi_subfiles;

enum { SAGOI_SUBFILES_MAX = 65536, SAGOI_SUBFILE_UNIT = 4096 };
/* Keeps a lap of blocks through all subfiles below 2^57 bytes. */
#define SAGOI_SUBFILE_BLOCK_MAX (INT64_C(1) << 40)

static inline bool sagoi_subfiles_valid(const sagoi_subfiles *rule) {
    return rule->count >= 2 && rule->count <= SAGOI_SUBFILES_MAX && rule->block > 0 &&
           rule->block <= SAGOI_SUBFILE_BLOCK_MAX && rule->block % SAGOI_SUBFILE_UNIT == 0;
}

/* The subfile that holds a byte, and the byte's offset there. */
static inline int64_t sagoi_subfile_of(const sagoi_subfiles *rule, int64_t off) {
    return off / rule->block % rule->count;
}
static inline int64_t sagoi_subfile_offset(const sagoi_subfiles *rule, int64_t off) {
    return off / rule->block / rule->count * rule->block + off % rule->block;
}

/* Bytes that a subfile holds of a file of `size` bytes. */
static inline int64_t sagoi_subfile_share(const sagoi_subfiles *rule, int64_t subfile, int64_t size) {
    int64_t lap = rule->count * rule->block, remainder = size % lap - subfile * rule->block;
    return size / lap * rule->block + sagoi_max(0, sagoi_min(remainder, rule->block));
}

/* Where the file ends if it ends in this subfile, which has so many bytes; false: past the largest offset. */
static inline bool sagoi_subfile_end(const sagoi_subfiles *rule, int64_t subfile, int64_t bytes, int64_t *end) {
    *end = 0;
    if (bytes == 0)
        return true;
    int64_t block = (bytes - 1) / rule->block, start;
    return !sagoi_mul(block, rule->count * rule->block, &start) &&
           !sagoi_add(start, subfile * rule->block + (bytes - 1) % rule->block + 1, end);
}

#endif
