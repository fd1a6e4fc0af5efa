/* HACC-IO: nine arrays of particles in memory, in three layouts of the file.  All ranks have the same number of
 * particles. */
#include "bench/patterns.h"

/* xx yy zz vx vy vz phi (floats), pid (int64), mask (uint16) */
static const int64_t field_bytes[] = {4, 4, 4, 4, 4, 4, 4, 8, 2};
enum { FIELDS = sizeof field_bytes / sizeof field_bytes[0], RECORD = 38 };

typedef enum { ARRAYS_OF_A_RANK, ARRAYS_OF_ALL, RECORDS } hacc_layout;

static bool hacc_make(const bench_params *params, int64_t rank, int64_t ranks, hacc_layout layout,
                      bench_access *access, char *why) {
    int64_t n = params->particles, before = rank * n;
    if (!bench_fits((double)n * RECORD * (double)ranks, why) || !bench_access_init(access, FIELDS, why))
        return false;
    int64_t column = 0; /* bytes of a record before this field */
    for (int f = 0; f < FIELDS; f++) {
        int64_t size = field_bytes[f];
        if (layout == RECORDS) /* fields of the file are not aligned, so they are made of bytes */
            bench_access_set(access, f, before * RECORD + column, bench_region_vector(n, size, RECORD, 1));
        else if (layout == ARRAYS_OF_ALL)
            bench_access_set(access, f, ranks * n * column + before * size,
                             bench_region_contiguous(n * size, size));
        else
            bench_access_set(access, f, before * RECORD + n * column, bench_region_contiguous(n * size, size));
        column += size;
    }
    return true;
}

BENCH_GENERATOR(bench_make_hacc_aos) { return hacc_make(params, rank, ranks, ARRAYS_OF_A_RANK, access, why); }
BENCH_GENERATOR(bench_make_hacc_soa) { return hacc_make(params, rank, ranks, ARRAYS_OF_ALL, access, why); }
BENCH_GENERATOR(bench_make_hacc_records) { return hacc_make(params, rank, ranks, RECORDS, access, why); }
