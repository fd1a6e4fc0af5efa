/* Stripes from extended attributes: the first byte says whose.  Whatever comes, the answer is a layout that can
 * be. */
#include <stdint.h>
#include <stdlib.h>

#include "store/stripes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int truth) {
    if (!truth)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    sagoi_stripes found;
    char value[SAGOI_STRIPES_VALUE_MAX];
    if (size == 0)
        return 0;
    const void *rest = data + 1;
    int64_t bytes = (int64_t)size - 1;
    switch (data[0]) {
    case 'c':
        found = sagoi_stripes_of_ceph(rest, bytes);
        break;
    case 'g':
        found = sagoi_stripes_of_gluster(rest, bytes);
        break;
    default:
        found = sagoi_stripes_of_lustre(rest, bytes);
    }
    require(found.unit >= 0 && found.unit % 512 == 0 && found.count >= 0 && found.count <= 65536);
    require(found.unit > 0 || found.count == 0);
    require(sagoi_stripes_to_lustre(found, value) <= SAGOI_STRIPES_VALUE_MAX);
    require(sagoi_stripes_to_ceph(found, value) < SAGOI_STRIPES_VALUE_MAX);
    return 0;
}
