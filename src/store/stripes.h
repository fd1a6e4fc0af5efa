/* What file systems say of stripes, read from their extended attributes.  The functions are pure, their input
 * may be any bytes, and a value that makes no sense means "not striped".
 *
 *   Lustre   lustre.lov, a binary struct of the file system's user interface: plain (v1, v3) or composite
 *   Ceph     ceph.file.layout, "stripe_unit=1048576 stripe_count=2 object_size=4194304 pool=data"
 *   Gluster  trusted.glusterfs.shard.block-size, eight bytes, big end first, on volumes with shards */
#ifndef SAGOI_STRIPES_H
#define SAGOI_STRIPES_H

#include <stdint.h>

typedef struct sagoi_stripes {
    int64_t unit;  /* bytes; 0: not striped */
    int64_t count; /* storage targets that the stripes go to in turn; 0: not known */
} sagoi_stripes;

/* Of a composite layout the last part counts, since most of a large file lies there. */
sagoi_stripes sagoi_stripes_of_lustre(const void *value, int64_t bytes);
/* The number of the target that has the first stripe, plus 1, if the other targets follow in order; 0: they do
 * not, or it is not known, as for files whose layout has several parts. */
int64_t sagoi_stripes_first_of_lustre(const void *value, int64_t bytes);
/* Where stripe_count is 1 the objects count: they go to targets that the layout does not name. */
sagoi_stripes sagoi_stripes_of_ceph(const char *value, int64_t bytes);
sagoi_stripes sagoi_stripes_of_gluster(const void *value, int64_t bytes);

/* The value for a file that is to have these stripes: returns its bytes, 0 if there can be no such stripes.  A
 * field that is 0 is left to the file system. */
enum { SAGOI_STRIPES_VALUE_MAX = 128 };
int64_t sagoi_stripes_to_lustre(sagoi_stripes wanted, char value[SAGOI_STRIPES_VALUE_MAX]);
int64_t sagoi_stripes_to_ceph(sagoi_stripes wanted, char value[SAGOI_STRIPES_VALUE_MAX]);

#endif
