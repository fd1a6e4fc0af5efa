/* Patterns of equal blocks, dealt out by a rule: contiguous, interleaved, mpi-io-test, ior-hard, checkerboard. */
#include "bench/patterns.h"

BENCH_GENERATOR(bench_make_contiguous) {
    if (!bench_fits((double)params->bytes * (double)ranks, why) || !bench_access_init(access, 1, why))
        return false;
    bench_access_set(access, 0, rank * params->bytes, bench_region_contiguous(params->bytes, 1));
    return true;
}

/* Transfer j of segment i: offset i*ranks*block + rank*block + j*transfer; call j does all segments. */
BENCH_GENERATOR(bench_make_interleaved) {
    int64_t block = params->block, transfer = params->transfer;
    if (block % transfer)
        return bench_refuse(why, "--block %lld is no multiple of --transfer %lld", (long long)block,
                            (long long)transfer);
    if (!bench_fits((double)block * (double)params->segments * (double)ranks, why) ||
        !bench_access_init(access, block / transfer, why))
        return false;
    for (int64_t j = 0; j < block / transfer; j++)
        bench_access_set(access, j, rank * block + j * transfer,
                         bench_region_vector(params->segments, transfer, ranks * block, 1));
    return true;
}

BENCH_GENERATOR(bench_make_mpi_io_test) {
    int64_t block = params->block;
    if (!bench_fits((double)block * (double)params->blocks * (double)ranks, why) ||
        !bench_access_init(access, 1, why))
        return false;
    bench_access_set(access, 0, rank * block, bench_region_contiguous(block, 1));
    access->steps = params->blocks;
    access->step_bytes = ranks * block;
    return true;
}

/* Piece j of rank r lies at (j * ranks + r) * block; a call moves the next `runs` pieces of a rank. */
BENCH_GENERATOR(bench_make_ior_hard) {
    int64_t block = params->block, together = params->runs;
    if (params->blocks % together)
        return bench_refuse(why, "--blocks %lld is no multiple of --runs %lld", (long long)params->blocks,
                            (long long)together);
    if (!bench_fits((double)block * (double)params->blocks * (double)ranks, why) ||
        !bench_access_init(access, 1, why))
        return false;
    bench_access_set(access, 0, rank * block,
                     together == 1 ? bench_region_contiguous(block, 1)
                                   : bench_region_vector(together, block, ranks * block, 1));
    access->steps = params->blocks / together;
    access->step_bytes = ranks * block * together;
    access->synced = true;
    return true;
}

/* Block 2k belongs to rank k mod ranks, block 2k + 1 to no rank. */
BENCH_GENERATOR(bench_make_checkerboard) {
    int64_t block = params->block, written = params->blocks * ranks;
    if (!bench_fits(2.0 * (double)block * (double)written, why) || !bench_access_init(access, 1, why))
        return false;
    if (rank == ranks)
        bench_access_set(access, 0, block, bench_region_vector(written - 1, block, 2 * block, 1));
    else
        bench_access_set(access, 0, 2 * rank * block,
                         bench_region_vector(params->blocks, block, 2 * ranks * block, 1));
    return true;
}
