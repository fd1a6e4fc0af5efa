#include "ckpt/dataset.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/grow.h"
#include "base/hash.h"
#include "mpi/types.h"

static void protected_cleanup(sagoi_protected *entry) {
    free(entry->boxes);
    free(entry->data);
}

void sagoi_dataset_cleanup(sagoi_dataset *set) {
    for (int64_t i = 0; i < set->n; i++)
        protected_cleanup(&set->entries[i]);
    free(set->entries);
    *set = (sagoi_dataset){0};
}

/* ---- Names ---- */

static sago_status check_name(const char *name) {
    if (!name || !*name)
        return sagoi_fail(SAGO_ERR_ARG, "the name is %s", name ? "empty" : "NULL");
    size_t len = strnlen(name, SAGO_CKPT_NAME_MAX);
    if (len == SAGO_CKPT_NAME_MAX)
        return sagoi_fail(SAGO_ERR_ARG, "the name \"%.32s...\" has more than %d bytes", name,
                          SAGO_CKPT_NAME_MAX - 1);
    if (!sagoi_array_name_fits(name))
        return sagoi_fail(SAGO_ERR_ARG, "the name \"%s\" has a slash or a control character", name);
    return SAGO_OK;
}

/* The place of the name, or the place where it belongs. */
static int64_t find_place(const sagoi_dataset *set, const char *name, bool *found) {
    int64_t i = 0;
    while (i < set->n && strcmp(set->entries[i].desc.name, name) < 0)
        i++;
    *found = i < set->n && strcmp(set->entries[i].desc.name, name) == 0;
    return i;
}

/* Takes over what the entry owns, even on failure. */
static sago_status insert(sagoi_dataset *set, sagoi_protected *entry) {
    bool found;
    int64_t place = find_place(set, entry->desc.name, &found);
    sago_status status = SAGO_OK;
    if (found)
        status = sagoi_fail(SAGO_ERR_EXISTS, "\"%s\" is protected already", entry->desc.name);
    if (!status && !sagoi_grow((void **)&set->entries, set->n, &set->capacity, sizeof *set->entries))
        status = sagoi_fail(SAGO_ERR_MEMORY, "no memory to protect \"%s\"", entry->desc.name);
    if (status) {
        protected_cleanup(entry);
        return status;
    }
    memmove(&set->entries[place + 1], &set->entries[place], (size_t)(set->n - place) * sizeof *set->entries);
    set->entries[place] = *entry;
    set->n++;
    set->changed = true;
    return SAGO_OK;
}

sago_status sagoi_dataset_remove(sagoi_dataset *set, const char *name) {
    bool found = false;
    int64_t place = name ? find_place(set, name, &found) : 0;
    if (!found)
        return sagoi_fail(SAGO_ERR_ARG, "nothing called \"%.64s\" is protected", name ? name : "(NULL)");
    protected_cleanup(&set->entries[place]);
    set->n--;
    memmove(&set->entries[place], &set->entries[place + 1], (size_t)(set->n - place) * sizeof *set->entries);
    set->changed = true;
    return SAGO_OK;
}

/* ---- Types ---- */

typedef struct type_row {
    MPI_Datatype type;
    const char *kind;
} type_row;

static const type_row type_rows[] = {
    {MPI_DOUBLE, "float"},
    {MPI_FLOAT, "float"},
    {MPI_INT, "int"},
    {MPI_INT8_T, "int"},
    {MPI_INT16_T, "int"},
    {MPI_INT32_T, "int"},
    {MPI_INT64_T, "int"},
    {MPI_SHORT, "int"},
    {MPI_LONG, "int"},
    {MPI_LONG_LONG, "int"},
    {MPI_SIGNED_CHAR, "int"},
    {MPI_CHAR, "int"},
    {MPI_UNSIGNED, "uint"},
    {MPI_UINT8_T, "uint"},
    {MPI_UINT16_T, "uint"},
    {MPI_UINT32_T, "uint"},
    {MPI_UINT64_T, "uint"},
    {MPI_UNSIGNED_SHORT, "uint"},
    {MPI_UNSIGNED_LONG, "uint"},
    {MPI_UNSIGNED_LONG_LONG, "uint"},
    {MPI_UNSIGNED_CHAR, "uint"},
    {MPI_BYTE, "uint"},
    {MPI_C_FLOAT_COMPLEX, "complex"},
    {MPI_C_DOUBLE_COMPLEX, "complex"},
    {MPI_AINT, "int"},
    {MPI_OFFSET, "int"},
    {MPI_COUNT, "int"},
    /* Fortran's */
    {MPI_REAL, "float"},
    {MPI_DOUBLE_PRECISION, "float"},
    {MPI_INTEGER, "int"},
#ifdef MPI_REAL4 /* types with a size are macros, which Open MPI without Fortran does not have */
    {MPI_REAL4, "float"},
    {MPI_REAL8, "float"},
    {MPI_INTEGER1, "int"},
    {MPI_INTEGER2, "int"},
    {MPI_INTEGER4, "int"},
    {MPI_INTEGER8, "int"},
#endif
    {MPI_COMPLEX, "complex"},
    {MPI_DOUBLE_COMPLEX, "complex"},
    {MPI_CHARACTER, "uint"},
};

/* "float64": the kind of number and its bits; "opaque" if there is no such name. */
static sago_status describe_type(MPI_Datatype type, sagoi_array_desc *desc) {
    int64_t size = 0;
    sago_status status = sagoi_element_bytes(type, &size);
    if (status)
        return status;
    if (size > INT32_MAX)
        return sagoi_fail(SAGO_ERR_TYPE, "the element type has %lld bytes, too many", (long long)size);
    (void)snprintf(desc->type, sizeof desc->type, "opaque");
    for (size_t i = 0; i < sizeof type_rows / sizeof type_rows[0]; i++)
        if (type == type_rows[i].type) {
            (void)snprintf(desc->type, sizeof desc->type, "%s%d", type_rows[i].kind, (int)size * 8);
            break;
        }
    desc->element = size;
    return SAGO_OK;
}

/* ---- Arrays ---- */

static sago_status describe_shape(const sagoi_array_arguments *given, sagoi_array_desc *desc) {
    if (given->ndims < 1 || given->ndims > SAGO_CKPT_DIMS_MAX)
        return sagoi_fail(SAGO_ERR_ARG, "\"%s\" has %d dimensions, not 1 to %d", desc->name, given->ndims,
                          SAGO_CKPT_DIMS_MAX);
    if (!given->global)
        return sagoi_fail(SAGO_ERR_ARG, "\"%s\": the global shape is NULL", desc->name);
    desc->ndims = given->ndims;
    desc->bytes = desc->element;
    for (int i = 0; i < given->ndims; i++) {
        desc->global[i] = given->global[i];
        if (given->global[i] < 0)
            return sagoi_fail(SAGO_ERR_ARG, "\"%s\": the global shape has %lld elements in dimension %d",
                              desc->name, (long long)given->global[i], i);
        if (sagoi_mul(desc->bytes, desc->global[i], &desc->bytes))
            return sagoi_fail(SAGO_ERR_OVERFLOW, "\"%s\" has more than 2^63 bytes", desc->name);
    }
    return SAGO_OK;
}

/* One dimension of a block. */
static sago_status check_extent(const sagoi_array_desc *desc, const sagoi_box *box, int64_t block, int64_t i) {
    int64_t end;
    if (box->start[i] < 0 || box->count[i] < 0 || sagoi_add(box->start[i], box->count[i], &end) ||
        end > desc->global[i])
        return sagoi_fail(SAGO_ERR_ARG,
                          "\"%s\", block %lld: %lld elements from %lld in dimension %lld, which has %lld",
                          desc->name, (long long)block, (long long)box->count[i], (long long)box->start[i],
                          (long long)i, (long long)desc->global[i]);
    if (box->mem_start[i] < 0 || sagoi_add(box->mem_start[i], box->count[i], &end) || end > box->mem_shape[i])
        return sagoi_fail(
            SAGO_ERR_ARG,
            "\"%s\", block %lld: %lld elements from %lld in dimension %lld of memory, which has %lld", desc->name,
            (long long)block, (long long)box->count[i], (long long)box->mem_start[i], (long long)i,
            (long long)box->mem_shape[i]);
    return SAGO_OK;
}

static sago_status take_block(sagoi_protected *entry, const sago_block *given, int64_t block) {
    const sagoi_array_desc *desc = &entry->desc;
    sagoi_box *box = &entry->boxes[block];
    int64_t memory = desc->element;
    if (!given->start || !given->count || !given->mem_shape != !given->mem_start)
        return sagoi_fail(SAGO_ERR_ARG, "\"%s\", block %lld: a start, count, mem_shape or mem_start is NULL",
                          desc->name, (long long)block);
    for (int64_t i = 0; i < desc->ndims; i++) {
        box->start[i] = given->start[i];
        box->count[i] = given->count[i];
        box->mem_shape[i] = given->mem_shape ? given->mem_shape[i] : given->count[i];
        box->mem_start[i] = given->mem_start ? given->mem_start[i] : 0;
        sago_status status = check_extent(desc, box, block, i);
        if (status)
            return status;
        if (sagoi_mul(memory, box->mem_shape[i], &memory))
            return sagoi_fail(SAGO_ERR_OVERFLOW, "\"%s\", block %lld: its memory has more than 2^63 bytes",
                              desc->name, (long long)block);
    }
    if (!given->data && sagoi_box_bytes(box, desc) > 0)
        return sagoi_fail(SAGO_ERR_ARG, "\"%s\", block %lld: the data is NULL", desc->name, (long long)block);
    entry->data[block] = given->data;
    return SAGO_OK;
}

static sago_status allocate_blocks(sagoi_protected *entry, int64_t nblocks) {
    entry->boxes = calloc((size_t)nblocks + 1, sizeof *entry->boxes);
    entry->data = calloc((size_t)nblocks + 1, sizeof *entry->data);
    entry->nblocks = nblocks;
    if (entry->boxes && entry->data)
        return SAGO_OK;
    return sagoi_fail(SAGO_ERR_MEMORY, "no memory to protect \"%s\"", entry->desc.name);
}

sago_status sagoi_dataset_add_array(sagoi_dataset *set, const sagoi_array_arguments *given) {
    sagoi_protected entry = {.desc = {.kind = SAGO_CKPT_ARRAY}};
    sago_status status = check_name(given->name);
    if (status)
        return status;
    (void)snprintf(entry.desc.name, sizeof entry.desc.name, "%s", given->name);
    if (given->nblocks < 0 || (given->nblocks > 0 && !given->blocks))
        status = sagoi_fail(SAGO_ERR_ARG, "\"%s\": %lld blocks%s", given->name, (long long)given->nblocks,
                            given->blocks ? "" : ", and the list of them is NULL");
    if (!status)
        status = describe_type(given->element, &entry.desc);
    if (!status)
        status = describe_shape(given, &entry.desc);
    if (!status)
        status = allocate_blocks(&entry, given->nblocks);
    for (int64_t i = 0; i < given->nblocks && !status; i++)
        status = take_block(&entry, &given->blocks[i], i);
    if (status) {
        protected_cleanup(&entry);
        return status;
    }
    return insert(set, &entry);
}

sago_status sagoi_dataset_add_bytes(sagoi_dataset *set, const char *name, sago_ckpt_kind kind, void *data,
                                    int64_t bytes) {
    sagoi_protected entry = {.desc = {.kind = kind, .type = "opaque", .element = 1, .bytes = bytes}};
    sago_status status = check_name(name);
    if (status)
        return status;
    if (bytes < 0 || (bytes > 0 && !data))
        return sagoi_fail(SAGO_ERR_ARG, "\"%s\": %lld bytes at %s", name, (long long)bytes,
                          data ? "some address" : "NULL");
    (void)snprintf(entry.desc.name, sizeof entry.desc.name, "%s", name);
    status = allocate_blocks(&entry, 1);
    if (status) {
        protected_cleanup(&entry);
        return status;
    }
    entry.data[0] = data;
    return insert(set, &entry);
}

int64_t sagoi_box_bytes(const sagoi_box *box, const sagoi_array_desc *desc) {
    int64_t bytes = desc->element;
    for (int64_t i = 0; i < desc->ndims; i++)
        bytes *= box->count[i];
    return bytes;
}

uint64_t sagoi_box_cover(const int64_t *start, const int64_t *count, int64_t ndims, uint64_t key) {
    uint64_t sum = 0;
    for (uint32_t corner = 0; corner < 1u << ndims; corner++) {
        uint64_t hash = key;
        bool negative = false;
        for (int64_t i = 0; i < ndims; i++) {
            bool high = corner >> i & 1;
            hash = sagoi_mix(hash, start[i] + (high ? count[i] : 0));
            negative ^= !high;
        }
        sum += negative ? -hash : hash;
    }
    return sum;
}
