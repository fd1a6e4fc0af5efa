/* Patterns of multi-dimensional arrays split by blocks: block3d, s3d, btio.  Row-major, z (dimension 0) slowest.
 */
#include "bench/patterns.h"

#include <stdlib.h>

enum { DOUBLE = 8 };

/* One rank's part of a dimension. */
typedef struct slice {
    int64_t start, size;
} slice;

static slice slice_of(int64_t n, int64_t parts, int64_t part) {
    slice s = {n * part / parts, n * (part + 1) / parts - n * part / parts};
    return s;
}

/* Three factors of `ranks`, as equal as possible, the largest first, as MPI_Dims_create gives them. */
static void grid_of(int64_t ranks, int64_t grid[3]) {
    int64_t best = INT64_MAX;
    grid[0] = ranks, grid[1] = grid[2] = 1;
    for (int64_t c = 1; c * c * c <= ranks; c++) {
        if (ranks % c)
            continue;
        for (int64_t b = c; b * b <= ranks / c; b++) {
            int64_t a = ranks / c / b;
            if (ranks / c % b || a - c > best)
                continue;
            best = a - c;
            grid[0] = a, grid[1] = b, grid[2] = c;
        }
    }
}

/* The one that is asked for, if it has as many ranks. */
static bool grid_asked(const bench_params *params, int64_t ranks, int64_t grid[3], char *why) {
    const int64_t *asked = params->grid;
    grid_of(ranks, grid);
    if (asked[0] * asked[1] * asked[2] == 1)
        return true;
    for (int d = 0; d < 3; d++)
        grid[d] = asked[d];
    return (double)asked[0] * (double)asked[1] * (double)asked[2] == (double)ranks ||
           bench_refuse(why, "--grid %lldx%lldx%lld is not a grid of %lld ranks", (long long)asked[0],
                        (long long)asked[1], (long long)asked[2], (long long)ranks);
}

static bool array_fits(const bench_params *params, const int64_t grid[3], double point_bytes, char *why) {
    for (int d = 0; d < 3; d++)
        if (params->dims[d] < grid[d])
            return bench_refuse(why, "--dims %lldx%lldx%lld is too small for %lldx%lldx%lld ranks",
                                (long long)params->dims[0], (long long)params->dims[1], (long long)params->dims[2],
                                (long long)grid[0], (long long)grid[1], (long long)grid[2]);
    return bench_fits(point_bytes * (double)params->dims[0] * (double)params->dims[1] * (double)params->dims[2],
                      why);
}

/* The rank's block of `components` arrays, one behind another. */
static bench_region block_of(const int64_t n[3], const int64_t grid[3], int64_t rank, int64_t components) {
    int64_t size[4] = {components}, sub[4] = {components}, start[4] = {0};
    int64_t remainder = rank;
    for (int d = 2; d >= 0; d--) {
        slice s = slice_of(n[d], grid[d], remainder % grid[d]);
        size[d + 1] = n[d];
        sub[d + 1] = s.size;
        start[d + 1] = s.start;
        remainder /= grid[d];
    }
    int skip = components == 1;
    return bench_region_subarray(4 - skip, size + skip, sub + skip, start + skip, DOUBLE);
}

BENCH_GENERATOR(bench_make_block3d) {
    int64_t grid[3];
    grid_of(ranks, grid);
    if (!array_fits(params, grid, DOUBLE, why) || !bench_access_init(access, 1, why))
        return false;
    bench_access_set(access, 0, 0, block_of(params->dims, grid, rank, 1));
    return true;
}

/* A checkpoint: mass fractions, velocity, pressure, temperature.  A step is a checkpoint. */
BENCH_GENERATOR(bench_make_s3d) {
    static const int64_t components[] = {11, 3, 1, 1};
    enum { VARIABLES = 4, ALL_COMPONENTS = 16 };
    int64_t grid[3];
    if (!grid_asked(params, ranks, grid, why) ||
        !array_fits(params, grid, (double)ALL_COMPONENTS * DOUBLE * (double)params->steps, why) ||
        !bench_access_init(access, VARIABLES, why))
        return false;
    int64_t points = params->dims[0] * params->dims[1] * params->dims[2], at = 0;
    for (int v = 0; v < VARIABLES; v++) {
        bench_access_set(access, v, at, block_of(params->dims, grid, rank, components[v]));
        at += components[v] * points * DOUBLE;
    }
    access->steps = params->steps;
    access->step_bytes = at;
    return true;
}

/* q*q ranks; the rank's cell c lies at x = (r mod q) + c, y = (r div q) - c (both mod q), z = c. */
BENCH_GENERATOR(bench_make_btio) {
    enum { COMPONENTS = 5 };
    int64_t q = 1;
    while ((q + 1) * (q + 1) <= ranks)
        q++;
    if (q * q != ranks)
        return bench_refuse(why, "btio needs a square number of ranks, not %lld: use %lld or %lld",
                            (long long)ranks, (long long)(q * q), (long long)((q + 1) * (q + 1)));
    int64_t grid[3] = {q, q, q};
    const int64_t *n = params->dims;
    if (!array_fits(params, grid, (double)COMPONENTS * DOUBLE * (double)params->steps, why) ||
        !bench_access_init(access, 1, why))
        return false;
    bench_region *cells = calloc((size_t)q, sizeof *cells);
    if (!cells)
        return bench_refuse(why, "out of memory");
    for (int64_t c = 0; c < q; c++) {
        slice z = slice_of(n[0], q, c), y = slice_of(n[1], q, (rank / q - c + q) % q),
              x = slice_of(n[2], q, (rank % q + c) % q);
        int64_t size[4] = {n[0], n[1], n[2], COMPONENTS}, sub[4] = {z.size, y.size, x.size, COMPONENTS},
                start[4] = {z.start, y.start, x.start, 0};
        cells[c] = bench_region_subarray(4, size, sub, start, DOUBLE);
    }
    bench_access_set(access, 0, 0, bench_region_parts(q, cells));
    access->steps = params->steps;
    access->step_bytes = n[0] * n[1] * n[2] * COMPONENTS * DOUBLE;
    return true;
}
