/* Regions as MPI datatypes. */
#include "bench/region_mpi.h"

#include <limits.h>
#include <stdlib.h>

static MPI_Datatype element_type(int64_t bytes) {
    return bytes == 8 ? MPI_DOUBLE : bytes == 4 ? MPI_FLOAT : bytes == 2 ? MPI_SHORT : MPI_BYTE;
}

static bool list_type(const bench_region *region, MPI_Datatype elem, MPI_Datatype *type) {
    int *lengths = malloc(((size_t)region->count + 1) * sizeof *lengths);
    MPI_Aint *offsets = malloc(((size_t)region->count + 1) * sizeof *offsets);
    bool ok = lengths && offsets;
    for (int64_t i = 0; ok && i < region->count; i++) {
        lengths[i] = (int)(region->runs[i].length / region->elem);
        offsets[i] = (MPI_Aint)region->runs[i].offset;
    }
    if (ok)
        MPI_Type_create_hindexed((int)region->count, lengths, offsets, elem, type);
    free(lengths);
    free(offsets);
    return ok;
}

static void subarray_type(const bench_region *region, MPI_Datatype elem, MPI_Datatype *type) {
    int size[BENCH_DIMS_MAX], sub[BENCH_DIMS_MAX], start[BENCH_DIMS_MAX];
    for (int d = 0; d < region->dims; d++) {
        size[d] = (int)region->size[d];
        sub[d] = (int)region->sub[d];
        start[d] = (int)region->start[d];
    }
    MPI_Type_create_subarray(region->dims, size, sub, start, MPI_ORDER_C, elem, type);
}

/* All parts have the same origin. */
static bool parts_type(const bench_region *region, MPI_Datatype elem, MPI_Datatype *type) {
    MPI_Datatype *types = malloc((size_t)region->count * sizeof *types);
    MPI_Aint *offsets = calloc((size_t)region->count, sizeof *offsets);
    int *ones = malloc((size_t)region->count * sizeof *ones);
    bool ok = types && offsets && ones;
    for (int64_t p = 0; ok && p < region->count; p++) {
        subarray_type(&region->parts[p], elem, &types[p]);
        ones[p] = 1;
    }
    if (ok) {
        MPI_Type_create_struct((int)region->count, ones, offsets, types, type);
        for (int64_t p = 0; p < region->count; p++)
            MPI_Type_free(&types[p]);
    }
    free(types);
    free(offsets);
    free(ones);
    return ok;
}

/* `extent` > 0: the distance of the next copy. */
static bool region_type(const bench_region *region, int64_t extent, MPI_Datatype *type) {
    MPI_Datatype elem = element_type(region->elem);
    bool ok = true;
    if (region->count == 0) /* some libraries divide by a filetype's size */
        MPI_Type_dup(elem, type);
    else if (region->kind == BENCH_VECTOR)
        MPI_Type_create_hvector((int)region->count, (int)(region->length / region->elem), (MPI_Aint)region->stride,
                                elem, type);
    else if (region->kind == BENCH_SUBARRAY)
        subarray_type(region, elem, type);
    else if (region->kind == BENCH_LIST)
        ok = list_type(region, elem, type);
    else
        ok = parts_type(region, elem, type);
    if (ok && extent > 0) {
        MPI_Datatype resized;
        MPI_Type_create_resized(*type, 0, (MPI_Aint)extent, &resized);
        MPI_Type_free(type);
        *type = resized;
    }
    if (ok)
        MPI_Type_commit(type);
    return ok;
}

/* Memory within MPI-IO's int counts: more elements are counted in blocks. */
static bool contiguous_memory(bench_mpi_call *out, int64_t elements, char *why) {
    enum { BLOCK = 4096 };
    if (elements <= INT_MAX) {
        out->count = (int)elements;
        out->memory = out->etype; /* predefined, as in most programs */
        return true;
    }
    if (elements % BLOCK || elements / BLOCK > INT_MAX)
        return bench_refuse(why, "%lld elements in one call: use a multiple of %d, or fewer", (long long)elements,
                            BLOCK);
    out->count = (int)(elements / BLOCK);
    MPI_Type_contiguous(BLOCK, out->etype, &out->memory);
    return MPI_Type_commit(&out->memory) == MPI_SUCCESS;
}

static bool call_make(const bench_call *call, int64_t extent, bench_mpi_call *out, char *why) {
    if (call->file.count > INT_MAX || call->memory.count > INT_MAX)
        return bench_refuse(why, "more than %d runs in one call", INT_MAX);
    out->etype = element_type(call->file.elem);
    out->bytes = bench_region_bytes(&call->file);
    out->etypes = out->bytes / call->file.elem;
    bool ok = true;
    if (call->memory.kind == BENCH_CONTIGUOUS) {
        ok = contiguous_memory(out, out->etypes, why);
    } else {
        out->count = 1;
        ok = region_type(&call->memory, 0, &out->memory) || bench_refuse(why, "out of memory");
    }
    if (ok && call->file.kind != BENCH_CONTIGUOUS)
        ok = region_type(&call->file, extent, &out->filetype) || bench_refuse(why, "out of memory");
    return ok;
}

bench_mpi_call *bench_mpi_calls_create(const bench_access *access, char *why) {
    bench_mpi_call *calls = calloc((size_t)access->ncalls + 1, sizeof *calls);
    if (!calls) {
        bench_refuse(why, "out of memory");
        return NULL;
    }
    for (int64_t i = 0; i < access->ncalls; i++)
        calls[i].filetype = calls[i].memory = MPI_DATATYPE_NULL;
    for (int64_t i = 0; i < access->ncalls; i++)
        if (!call_make(&access->calls[i], access->steps > 1 ? access->step_bytes : 0, &calls[i], why)) {
            bench_mpi_calls_destroy(calls, access->ncalls);
            return NULL;
        }
    return calls;
}

void bench_mpi_calls_destroy(bench_mpi_call *calls, int64_t count) {
    for (int64_t i = 0; calls && i < count; i++) {
        if (calls[i].filetype != MPI_DATATYPE_NULL)
            MPI_Type_free(&calls[i].filetype);
        if (calls[i].memory != MPI_DATATYPE_NULL && calls[i].memory != calls[i].etype)
            MPI_Type_free(&calls[i].memory);
    }
    free(calls);
}
