/* What the planner knows of an access: roughly how many bytes of which node lie where. */
#include "base/checked.h"
#include "plan/plan.h"
#include "plan/thresholds.h"

void sagoi_shape_regions(int64_t low, int64_t high, int64_t *origin, int64_t *region) {
    int64_t size = SAGOI_SMALLEST_REGION;
    while (high > low && (high - 1) / size - low / size >= SAGOI_REGIONS)
        size *= 2;
    *region = size;
    *origin = sagoi_round_down(low, size);
}

bool sagoi_shape_stretched(const sagoi_shape *shape) {
    for (int64_t n = 0; n < shape->nodes; n++)
        if (shape->node[n].bytes != shape->node[n].high - shape->node[n].low)
            return false;
    return true;
}

/* If `bytes` bytes lie evenly in [low, high): how many of them in [start, end)? */
static double even_share(int64_t bytes, int64_t low, int64_t high, int64_t start, int64_t end) {
    start = sagoi_max(start, low);
    end = sagoi_min(end, high);
    return start < end ? (double)bytes * ((double)(end - start) / (double)(high - low)) : 0;
}

/* In a region a node's bytes count as even between the node's own first and last offset there. */
double sagoi_shape_bytes(const sagoi_shape *shape, int64_t node, int64_t start, int64_t end) {
    const sagoi_node_shape *access = &shape->node[node];
    start = sagoi_max(start, access->low);
    end = sagoi_min(end, access->high);
    if (start >= end)
        return 0;
    if (!shape->histogram)
        return even_share(access->bytes, access->low, access->high, start, end);
    int64_t first = (start - shape->origin) / shape->region, last = (end - 1 - shape->origin) / shape->region;
    double bytes = 0;
    for (int64_t r = first; r <= last; r++) {
        int64_t low = shape->origin + r * shape->region, high = sagoi_add_limited(low, shape->region);
        bytes += even_share(shape->histogram[node * SAGOI_REGIONS + r], sagoi_max(low, access->low),
                            sagoi_min(high, access->high), start, end);
    }
    return bytes;
}
