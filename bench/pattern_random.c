/* Runs of random length and owner; some belong to nobody, so the file has holes.  Every rank draws all runs and
 * keeps its own. */
#include "bench/patterns.h"

/* Half of a draw: dividing 32 bits takes less time than dividing 64, and `sago plan` draws all runs once for each
 * rank. */
static int64_t remainder_of(uint64_t half, uint64_t by) {
    return by <= UINT32_MAX ? (int64_t)((uint32_t)half % (uint32_t)by) : (int64_t)half;
}

BENCH_GENERATOR(bench_make_random) {
    int64_t all = params->runs * ranks, offset = 0;
    if (!bench_fits((double)params->runs * (double)ranks * (double)params->length, why))
        return false;
    uint64_t state = (uint64_t)params->seed;
    bench_run_list list = {0};
    for (int64_t i = 0; i < all && !list.failed; i++) {
        uint64_t draw = bench_random(&state);
        int64_t length = 1 + remainder_of(draw >> 32, (uint64_t)params->length);
        /* The last run is never a hole, so the file ends with it. */
        int64_t owner = i == all - 1 ? 0 : remainder_of(draw & 0xffffffffu, (uint64_t)ranks + 1);
        if (owner == rank)
            bench_run_list_add(&list, offset, length);
        offset += length;
    }
    return bench_access_of_list(access, &list, 1, why);
}
