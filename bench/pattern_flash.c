/* FLASH I/O: blocks of cells with guard cells, all variables of a cell together in memory, each variable a
 * region of the file.  The plotfiles are written from packed single-precision copies, of four variables. */
#include "bench/patterns.h"

enum { CHECKPOINT, PLOTFILE, CORNERS };
enum { GUARD = 4, PLOT_VARIABLES = 4 };

/* Ranks have 80, 81, 82, 80, ... blocks (80 by default).  The blocks of all ranks before `rank`. */
static int64_t blocks_before(int64_t blocks, int64_t rank) {
    return rank * blocks + rank / 3 * 3 + (rank % 3 == 2);
}

BENCH_GENERATOR(bench_make_flash) {
    bool checkpoint = params->file == CHECKPOINT;
    int64_t elem = checkpoint ? 8 : 4, side = params->side + (params->file == CORNERS), full = side + 2 * GUARD;
    int64_t variables = checkpoint ? params->variables : PLOT_VARIABLES;
    int64_t cells = side * side * side * elem; /* bytes of a block */
    int64_t first = blocks_before(params->blocks, rank), all = blocks_before(params->blocks, ranks);
    int64_t mine = blocks_before(params->blocks, rank + 1) - first;
    if (!bench_fits((double)all * (double)cells * (double)variables, why) ||
        !bench_access_init(access, variables, why))
        return false;
    for (int64_t v = 0; v < variables; v++) {
        bench_access_set(access, v, (v * all + first) * cells, bench_region_contiguous(mine * cells, elem));
        if (!checkpoint)
            continue;
        int64_t size[5] = {mine, full, full, full, variables}, sub[5] = {mine, side, side, side, 1},
                start[5] = {0, GUARD, GUARD, GUARD, v};
        access->calls[v].at = 0;
        access->calls[v].memory = bench_region_subarray(5, size, sub, start, elem);
    }
    if (checkpoint)
        access->memory = mine * full * full * full * variables * elem;
    return true;
}
