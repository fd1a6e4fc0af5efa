/* At what distance the runs of a request repeat. */
#include "base/checked.h"
#include "extent/pattern.h"

/* One tile: the repetitions of a train, or of the outermost loop. */
static sagoi_period period_in_tile(const sagoi_pattern *pattern) {
    const sagoi_period none = {0, 0};
    if (pattern->nloops > 0) {
        const sagoi_loop *outer = &pattern->loops[pattern->nloops - 1];
        bool even = outer->length == outer->count && outer->stride > 0;
        return even ? (sagoi_period){outer->stride, outer->high - pattern->low} : none;
    }
    const sagoi_piece *piece = pattern->pieces;
    bool train = pattern->npieces == 1 && piece->len > 0 && piece->count > 1 && piece->stride > 0;
    return train ? (sagoi_period){piece->stride, piece->len} : none;
}

sagoi_period sagoi_extents_period(const sagoi_extents *extents) {
    const sagoi_pattern *pattern = extents->pattern;
    const sagoi_period none = {0, 0};
    if (pattern->npieces == 0 || pattern->permuted || !pattern->sorted || extents->begin % pattern->bytes != 0)
        return none;
    sagoi_period found = extents->end - extents->begin > pattern->bytes
                             ? (sagoi_period){extents->extent, pattern->high - pattern->low}
                             : period_in_tile(pattern);
    return found.length > 0 && found.length <= found.bytes ? found : none;
}
