/* `sago ckpt export`: arrays of a step as files that other programs read.
 *
 * All ranks work together: each restores a part of an array, a slab at a time, and the slabs are written to one
 * file by collective writes, so memory does not grow with the array. */
#include <endian.h>
#include <inttypes.h>
#include <sago/sago.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/ckpt.h"
#include "tools/vtk.h"

enum { SLAB_BYTES = 32 << 20, PATH_ROOM = 4096 };

/* An array to be exported. */
typedef struct field {
    sago_ckpt_info info;
    const vtk_type *type;
    int file; /* arrays of one shape share a file (vtk, vti) */
} field;

typedef struct export {
    ckpt_command *command;
    int64_t step;
    int nfields, nfiles;
    field *fields;
    int64_t done, bytes; /* for showing progress */
}
export;

static bool refuse(const export *e, const char *name, const char *why) {
    if (e->command->speaks)
        fprintf(stderr, "sago ckpt export: %s: %s\n", name, why);
    return false;
}

/* ---- What is exported ---- */

static bool is_wanted(const ckpt_command *c, const char *name) {
    for (int i = 0; i < c->narrays; i++)
        if (strcmp(c->arrays[i], name) == 0)
            return true;
    return c->narrays == 0;
}

static const char *why_not(const ckpt_command *c, const field *f) {
    if (f->info.kind != SAGO_CKPT_ARRAY)
        return "it is a value that all ranks or one rank keep, not an array";
    if (!f->type)
        return "its element type has no name";
    if (strcmp(c->format, "raw") != 0 && f->info.ndims > 3)
        return "it has more than 3 dimensions (--format raw takes it)";
    return f->info.bytes == 0 ? "it is empty" : NULL;
}

static bool same_shape(const sago_ckpt_info *a, const sago_ckpt_info *b) {
    return a->ndims == b->ndims && memcmp(a->global, b->global, (size_t)a->ndims * sizeof a->global[0]) == 0;
}

static void add_field(export *e, const field *f) {
    e->fields[e->nfields] = *f;
    e->fields[e->nfields].file = e->nfiles;
    for (int i = 0; i < e->nfields; i++)
        if (same_shape(&e->fields[i].info, &f->info))
            e->fields[e->nfields].file = e->fields[i].file;
    e->nfiles += e->fields[e->nfields].file == e->nfiles;
    e->nfields++;
    e->bytes += f->info.bytes;
}

/* Chooses all arrays that can be exported, or those that were asked for, all of which must be possible. */
static bool choose_fields(export *e, int64_t count) {
    ckpt_command *c = e->command;
    int found = 0;
    e->fields = calloc((size_t)count + 1, sizeof *e->fields);
    for (int64_t i = 0; e->fields && i < count; i++) {
        field f = {.info = SAGO_CKPT_INFO_INIT};
        if (sago_ckpt_inquire_index(c->ckpt, e->step, i, &f.info))
            return ckpt_complain(c);
        if (!is_wanted(c, f.info.name))
            continue;
        found++;
        f.type = vtk_type_find(f.info.type);
        const char *why = why_not(c, &f);
        if (!why)
            add_field(e, &f);
        else if (c->narrays > 0)
            return refuse(e, f.info.name, why);
        else if (c->speaks)
            printf("the variable %s is left out: %s\n", f.info.name, why);
    }
    if (found < c->narrays)
        return refuse(e, c->dir, "not all arrays that were asked for are in this step (see sago ckpt show)");
    return e->nfields > 0 || refuse(e, c->dir, "there is nothing to export in this step");
}

/* ---- Files ---- */

static void name_file(const export *e, int number, const char *suffix, char path[PATH_ROOM]) {
    char prefix[PATH_ROOM / 2];
    snprintf(prefix, sizeof prefix, "step-%" PRId64, e->step);
    if (e->command->output)
        snprintf(prefix, sizeof prefix, "%s", e->command->output);
    if (number == 0)
        snprintf(path, PATH_ROOM, "%s.%s", prefix, suffix);
    else
        snprintf(path, PATH_ROOM, "%s-%d.%s", prefix, number + 1, suffix);
}

static bool open_output(const export *e, const char *path, sago_file **file) {
    const ckpt_command *c = e->command;
    int mode = MPI_MODE_CREATE | MPI_MODE_WRONLY | (c->force ? 0 : MPI_MODE_EXCL);
    sago_status status = sago_open(MPI_COMM_WORLD, path, mode, MPI_INFO_NULL, file);
    if (status == SAGO_ERR_EXISTS)
        return refuse(e, path, "is there already; --force overwrites it");
    if (!status)
        status = sago_set_size(*file, 0);
    return status == SAGO_OK || ckpt_complain(c);
}

/* Closes the file; removes it if it is not complete. */
static bool close_output(const export *e, const char *path, sago_file **file, bool ok) {
    if (*file && sago_close(file) && ok)
        ok = ckpt_complain(e->command);
    if (e->command->speaks && !ok)
        unlink(path);
    else if (e->command->speaks)
        printf("%s\n", path);
    return ok;
}

/* Rank 0 writes a text; returns the offset behind it. */
static bool write_text(const export *e, sago_file *file, const char *text, size_t length, int64_t *offset) {
    size_t mine = e->command->rank == 0 ? length : 0;
    sago_status status = sago_write_at_all(file, *offset, text, (MPI_Count)mine, MPI_BYTE, NULL);
    *offset += (int64_t)length;
    return status == SAGO_OK || ckpt_complain(e->command);
}

/* ---- Data ---- */

static void reverse_bytes(char *data, int64_t bytes, int64_t size) {
    for (char *number = data; number < data + bytes; number += size)
        for (int64_t low = 0, high = size - 1; low < high; low++, high--) {
            char kept = number[low];
            number[low] = number[high];
            number[high] = kept;
        }
}

/* Restores the rows [first, first + rows) of an array on this rank; all ranks call this together. */
static sago_status restore_rows(const export *e, const field *f, int64_t first, int64_t rows, char *data) {
    sago_ckpt *ckpt = e->command->ckpt;
    const sago_ckpt_info *info = &f->info;
    int64_t start[SAGO_CKPT_DIMS_MAX] = {first}, count[SAGO_CKPT_DIMS_MAX];
    memcpy(count, info->global, sizeof count);
    count[0] = rows;
    sago_block block = {.start = start, .count = count, .data = data};
    sago_status status =
        sago_ckpt_protect(ckpt, info->name, f->type->mpi, info->ndims, info->global, rows > 0, &block);
    if (!status)
        status = sago_ckpt_restore(ckpt, e->step);
    if (!status)
        status = sago_ckpt_unprotect(ckpt, info->name);
    return status;
}

/* Writes the data of an array, from `offset` on. */
static bool write_data(export *e, const field *f, sago_file *file, bool big_endian, int64_t offset) {
    const ckpt_command *c = e->command;
    int64_t total = f->info.global[0], row_bytes = f->info.bytes / total;
    int64_t rows = row_bytes < SLAB_BYTES ? SLAB_BYTES / row_bytes : 1;
    char *data = malloc((size_t)(rows * row_bytes));
    int ok = data != NULL;
    MPI_Allreduce(MPI_IN_PLACE, &ok, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (!ok)
        refuse(e, f->info.name, "out of memory");
    for (int64_t round = 0; ok && round * rows * c->ranks < total; round++) {
        int64_t first = (round * c->ranks + c->rank) * rows, mine = 0;
        if (first < total)
            mine = first + rows < total ? rows : total - first;
        ckpt_progress(c, f->info.name, e->done >> 20, e->bytes >> 20);
        sago_status status = restore_rows(e, f, mine > 0 ? first : 0, mine, data);
        if (!status && big_endian && BYTE_ORDER == LITTLE_ENDIAN)
            reverse_bytes(data, mine * row_bytes, f->type->size);
        if (!status)
            status = sago_write_at_all(file, offset + first * row_bytes, data, mine * row_bytes, MPI_BYTE, NULL);
        ok = status == SAGO_OK || ckpt_complain(c);
        e->done += rows * row_bytes * c->ranks;
    }
    free(data);
    ckpt_progress(c, "", 0, 0);
    return ok;
}

/* ---- Formats ---- */

/* Legacy VTK: a header, then for each array a header and its numbers, in big-endian order. */
static bool write_legacy(export *e, int number, sago_file *file) {
    int64_t offset = 0;
    bool ok = true, first = true;
    for (int i = 0; ok && i < e->nfields; i++) {
        const field *f = &e->fields[i];
        char *text = NULL;
        size_t length = 0;
        int64_t dims[3];
        if (f->file != number)
            continue;
        FILE *out = open_memstream(&text, &length);
        vtk_dims(&f->info, dims);
        if (first)
            vtk_legacy_begin(out, e->step, dims);
        else
            putc('\n', out);
        vtk_legacy_array(out, f->info.name, f->type);
        fclose(out);
        ok = write_text(e, file, text, length, &offset) && write_data(e, f, file, true, offset);
        offset += f->info.bytes;
        first = false;
        free(text);
    }
    return ok && write_text(e, file, "\n", 1, &offset);
}

static void describe_vti(const export *e, int number, FILE *out) {
    int64_t at = 0;
    for (int i = 0; i < e->nfields; i++) {
        const field *f = &e->fields[i];
        int64_t dims[3];
        if (f->file != number)
            continue;
        vtk_dims(&f->info, dims);
        if (at == 0)
            vtk_vti_begin(out, dims);
        vtk_vti_array(out, f->info.name, f->type, at);
        at += (int64_t)sizeof(uint64_t) + f->info.bytes;
    }
    vtk_vti_data(out);
}

/* VTK ImageData: a description, then the numbers as they are in memory. */
static bool write_vti(export *e, int number, sago_file *file) {
    int64_t offset = 0;
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    describe_vti(e, number, out);
    fclose(out);
    bool ok = write_text(e, file, text, length, &offset);
    free(text);
    for (int i = 0; ok && i < e->nfields; i++) {
        const field *f = &e->fields[i];
        uint64_t bytes = htole64((uint64_t)f->info.bytes);
        if (f->file != number)
            continue;
        ok = write_text(e, file, (const char *)&bytes, sizeof bytes, &offset) &&
             write_data(e, f, file, false, offset);
        offset += f->info.bytes;
    }
    return ok && write_text(e, file, vtk_vti_end, strlen(vtk_vti_end), &offset);
}

static bool write_images(export *e, const char *suffix) {
    bool ok = true, legacy = strcmp(suffix, "vtk") == 0;
    for (int number = 0; ok && number < e->nfiles; number++) {
        char path[PATH_ROOM];
        sago_file *file = NULL;
        name_file(e, number, suffix, path);
        ok = open_output(e, path, &file);
        if (ok)
            ok = close_output(e, path, &file, legacy ? write_legacy(e, number, file) : write_vti(e, number, file));
    }
    return ok;
}

/* Describes the raw files; names in the description are relative to its own place. */
static bool write_xdmf(export *e) {
    char path[PATH_ROOM], raw[PATH_ROOM], suffix[SAGO_CKPT_NAME_MAX + 8];
    char *text = NULL;
    size_t length = 0;
    int64_t offset = 0;
    sago_file *file = NULL;
    FILE *out = open_memstream(&text, &length);
    vtk_xdmf_begin(out, e->step);
    for (int number = 0; number < e->nfiles; number++) {
        bool first = true;
        for (int i = 0; i < e->nfields; i++) {
            if (e->fields[i].file != number)
                continue;
            snprintf(suffix, sizeof suffix, "%s.raw", e->fields[i].info.name);
            name_file(e, 0, suffix, raw);
            if (first)
                vtk_xdmf_grid(out, &e->fields[i].info);
            vtk_xdmf_array(out, &e->fields[i].info, e->fields[i].type,
                           strrchr(raw, '/') ? strrchr(raw, '/') + 1 : raw);
            first = false;
        }
        vtk_xdmf_grid_end(out);
    }
    vtk_xdmf_end(out);
    fclose(out);
    name_file(e, 0, "xmf", path);
    bool ok =
        open_output(e, path, &file) && close_output(e, path, &file, write_text(e, file, text, length, &offset));
    free(text);
    return ok;
}

/* One file for each array, with nothing but its numbers. */
static bool write_raw(export *e) {
    bool ok = true;
    for (int i = 0; ok && i < e->nfields; i++) {
        char path[PATH_ROOM], suffix[SAGO_CKPT_NAME_MAX + 8];
        sago_file *file = NULL;
        snprintf(suffix, sizeof suffix, "%s.raw", e->fields[i].info.name);
        name_file(e, 0, suffix, path);
        ok = open_output(e, path, &file);
        if (ok)
            ok = close_output(e, path, &file, write_data(e, &e->fields[i], file, false, 0));
    }
    return ok && write_xdmf(e);
}

int ckpt_export(ckpt_command *c) {
    const sago_ckpt_step *step = c->nsteps > 0 ? ckpt_find(c, c->steps[0]) : ckpt_newest(c);
    if (!step) {
        if (c->nsteps == 0 && c->speaks)
            fprintf(stderr, "sago ckpt export: %s has no complete step\n", c->dir);
        return EXIT_FAILURE;
    }
    export e = {.command = c, .step = step->step};
    bool ok = choose_fields(&e, step->arrays);
    if (ok)
        ok = strcmp(c->format, "raw") == 0 ? write_raw(&e) : write_images(&e, c->format);
    free(e.fields);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
