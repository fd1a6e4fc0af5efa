/* The runs of a block of a row-major array: rows along the last axis, repeated along the axes before it. */
#include "base/checked.h"
#include "extent/pattern.h"

enum { AXES_MAX = 8 };
_Static_assert((int)AXES_MAX == (int)SAGOI_AXES_MAX, "as many as blocks have");

static sago_status check_axis(const sagoi_slab *slab, int d) {
    int64_t shape = slab->shape[d], start = slab->start ? slab->start[d] : 0, count = slab->count[d], end;
    if (shape < 0 || start < 0 || count < 0)
        return sagoi_fail(SAGO_ERR_ARG, "axis %d has a negative extent, start or count (%lld, %lld, %lld)", d,
                          (long long)shape, (long long)start, (long long)count);
    if (sagoi_add(start, count, &end) || end > shape)
        return sagoi_fail(SAGO_ERR_ARG, "axis %d: elements %lld to %lld of %lld", d, (long long)start,
                          (long long)start + count - 1, (long long)shape);
    return SAGO_OK;
}

/* Measures the bytes from one index to the next along each axis, and where the block begins. */
static sago_status measure(const sagoi_slab *slab, int64_t stride[], int64_t *first) {
    int64_t bytes = slab->element, away;
    *first = 0;
    for (int d = slab->axes - 1; d >= 0; d--) {
        sago_status status = check_axis(slab, d);
        if (status)
            return status;
        stride[d] = bytes;
        if (sagoi_mul(bytes, slab->shape[d], &bytes) || bytes > SAGOI_OFFSET_MAX)
            return sagoi_fail(SAGO_ERR_OVERFLOW, "an array of more than %lld bytes", (long long)SAGOI_OFFSET_MAX);
        away = slab->start ? slab->start[d] * stride[d] : 0; /* less than the bytes of all elements */
        *first += away;
    }
    return SAGO_OK;
}

static bool is_empty(const sagoi_slab *slab) {
    for (int d = 0; d < slab->axes; d++)
        if (slab->count[d] == 0)
            return true;
    return false;
}

/* Replaces `part` by its repetition along an axis. */
static sago_status repeat(sagoi_pattern *part, int64_t count, int64_t stride) {
    sagoi_pattern whole;
    sagoi_pattern_init(&whole, part->budget);
    sagoi_pattern_add_repeated(&whole, part, 0, count, stride);
    sago_status status = sagoi_pattern_finish(&whole);
    sagoi_pattern_cleanup(part);
    *part = whole;
    return status;
}

sago_status sagoi_pattern_of_slab(sagoi_pattern *pattern, const sagoi_slab *slab, int64_t *first) {
    int64_t stride[AXES_MAX];
    if (slab->axes < 1 || slab->axes > AXES_MAX)
        return sagoi_fail(SAGO_ERR_ARG, "%d dimensions, not 1 to %d", slab->axes, AXES_MAX);
    sago_status status = measure(slab, stride, first);
    if (status)
        return status;
    if (!is_empty(slab))
        sagoi_pattern_add(pattern, 0, slab->count[slab->axes - 1] * slab->element);
    status = sagoi_pattern_finish(pattern);
    for (int d = slab->axes - 2; d >= 0 && !status && pattern->bytes > 0; d--)
        status = repeat(pattern, slab->count[d], stride[d]);
    return status;
}
