/* The table of patterns, and what they have in common. */
#include "bench/patterns.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/spelling.h"

static const bench_pattern patterns[] = {
    {"contiguous", "each rank one contiguous piece (IOR, TAPIOCA's micro-benchmark)", "bytes=64M", false, false,
     bench_make_contiguous},
    {"interleaved", "segments of one block a rank; one call for each transfer of a block (IOR)",
     "block=64K transfer=64K segments=64", false, false, bench_make_interleaved},
    {"block3d", "3-D array of doubles split by blocks in three dimensions (coll_perf)", "dims=256x256x256", false,
     false, bench_make_block3d},
    {"s3d", "4 arrays of doubles with 11, 3, 1 and 1 components, split by blocks (S3D)",
     "dims=80x80x80 grid=1x1x1 steps=1", true, false, bench_make_s3d},
    {"btio", "diagonal multi-partition of a 3-D grid, 5 doubles a point; a square number of ranks (NAS BTIO)",
     "dims=64x64x64 steps=5", false, false, bench_make_btio},
    {"hacc-aos", "9 arrays of particles, one after another in the rank's block of the file (HACC-IO)",
     "particles=25000", true, false, bench_make_hacc_aos},
    {"hacc-soa", "9 arrays of particles, each in a region of the file of its own", "particles=25000", true, false,
     bench_make_hacc_soa},
    {"hacc-records", "9 arrays of particles, interleaved in the file to records of 38 bytes", "particles=25000",
     true, false, bench_make_hacc_records},
    {"flash", "blocks of cells, variable fastest, guard cells in memory; one region of the file a variable",
     "blocks=80 side=8 variables=24 file=checkpoint", true, false, bench_make_flash},
    {"e3sm-f", "irregular runs of 1 to c floats, ranks interleaved, one call (E3SM F case)", "c=6 runs=100000",
     false, false, bench_make_e3sm_f},
    {"e3sm-g", "irregular runs of doubles on cells, edges and vertices of a mesh, one call (E3SM G case)",
     "cells=400 levels=80", false, false, bench_make_e3sm_g},
    {"mpi-io-test", "blocks dealt out to the ranks in turn, one call a block", "block=64K blocks=64", false, false,
     bench_make_mpi_io_test},
    {"ior-hard", "small pieces dealt out to the ranks in turn, one call for `runs` of them, then a sync (IO500)",
     "block=47008 blocks=256 runs=1", false, false, bench_make_ior_hard},
    {"checkerboard", "every other block of the file, dealt out in turn: the file keeps holes",
     "block=4K blocks=1024", false, true, bench_make_checkerboard},
    {"random", "runs of random length and owner, some of them holes", "runs=20000 length=256", false, true,
     bench_make_random},
};

const bench_pattern *bench_patterns(int64_t *count) {
    *count = sizeof patterns / sizeof patterns[0];
    return patterns;
}

const bench_pattern *bench_pattern_find(const char *name, char *why) {
    sagoi_spelling spelling = {.word = name};
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
        if (strcmp(patterns[i].name, name) == 0)
            return &patterns[i];
        sagoi_spelling_offer(&spelling, patterns[i].name);
    }
    const char *meant = sagoi_spelling_guess(&spelling);
    if (strncmp(name, "-", 1) == 0)
        bench_refuse(why, "a pattern comes first, not '%s'; 'sago bench list' shows them", name);
    else if (meant)
        bench_refuse(why, "no pattern '%s'; did you mean %s?  'sago bench list' shows all", name, meant);
    else
        bench_refuse(why, "no pattern '%s'; 'sago bench list' shows them", name);
    return NULL;
}

bool bench_pattern_make(const bench_pattern *pattern, const bench_params *params, int64_t rank, int64_t ranks,
                        bench_access *access, char *why) {
    *access = (bench_access){.steps = 1};
    if (pattern->make(params, rank, ranks, access, why))
        return true;
    bench_access_cleanup(access);
    return false;
}

bool bench_refuse(char *why, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, BENCH_MESSAGE_MAX, format, arguments);
    va_end(arguments);
    return false;
}

bool bench_fits(double bytes, char *why) {
    const double most = 0x1p50;
    return bytes <= most || bench_refuse(why, "%.3g bytes in all are too much: use smaller sizes", bytes);
}

bool bench_access_init(bench_access *access, int64_t ncalls, char *why) {
    access->calls = calloc((size_t)ncalls + 1, sizeof *access->calls);
    access->ncalls = access->calls ? ncalls : 0;
    return access->calls || bench_refuse(why, "out of memory: use smaller sizes");
}

void bench_access_set(bench_access *access, int64_t i, int64_t disp, bench_region file) {
    enum { ALIGNMENT = 64 }; /* as a program's arrays would be */
    int64_t bytes = bench_region_bytes(&file);
    bench_call *call = &access->calls[i];
    call->disp = disp;
    call->file = file;
    call->at = access->memory;
    call->memory = bench_region_contiguous(bytes, file.elem);
    access->memory += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

bool bench_access_of_list(bench_access *access, bench_run_list *list, int64_t elem, char *why) {
    bool made =
        list->failed ? bench_refuse(why, "out of memory: use smaller sizes") : bench_access_init(access, 1, why);
    if (made)
        bench_access_set(access, 0, 0, bench_region_list(list, elem));
    else
        free(list->runs);
    return made;
}

void bench_access_cleanup(bench_access *access) {
    for (int64_t i = 0; i < access->ncalls; i++) {
        bench_region_cleanup(&access->calls[i].file);
        bench_region_cleanup(&access->calls[i].memory);
    }
    free(access->calls);
    *access = (bench_access){0};
}

int64_t bench_access_bytes(const bench_access *access) {
    int64_t bytes = 0;
    for (int64_t i = 0; i < access->ncalls; i++)
        bytes += bench_region_bytes(&access->calls[i].file);
    return bytes * access->steps;
}

int64_t bench_access_runs(const bench_access *access) {
    int64_t runs = 0;
    for (int64_t i = 0; i < access->ncalls; i++)
        runs += bench_region_runs(&access->calls[i].file);
    return runs * access->steps;
}

int64_t bench_access_end(const bench_access *access) {
    int64_t end = 0;
    for (int64_t i = 0; i < access->ncalls; i++) {
        int64_t low, high;
        bench_region_bounds(&access->calls[i].file, &low, &high);
        if (high > 0 && access->calls[i].disp + high > end)
            end = access->calls[i].disp + high;
    }
    return end ? end + (access->steps - 1) * access->step_bytes : 0;
}
