/* Meshes that all ranks write together.  Each array of the file is one collective write or several, of at most a
 * chunk of each rank; rank 0 writes the text between the arrays. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sago/mesh.h>

#include "api/handle.h"
#include "base/checked.h"
#include "base/hash.h"
#include "mesh/mesh_file.h"
#include "move/collect.h"

/* Bytes of a mesh that a rank writes in one call, so that its copy stays small. */
enum { CHUNK = 4 << 20 };
/* A field with more components is taken for a mistake. */
enum { COMPONENTS_MOST = 1024 };
enum { POINTS, CELLS, CORNERS, COUNTS };
_Static_assert((int)SAGOI_MESH_VTU == (int)SAGO_MESH_VTU && (int)SAGOI_MESH_AT_CELLS == (int)SAGO_MESH_AT_CELLS,
               "the same numbers");

struct sago_mesh {
    sagoi_live live;
    sago_file *file;
    sagoi_mesh_form form;
    sagoi_mesh_part part;
    bool has_points, has_cells;
    sagoi_mesh_field *fields;
    sago_status status; /* of a local call that failed; the ranks learn of it at the end */
    char message[SAGOI_MESSAGE_MAX];
};

static sago_status check_mesh(const sago_mesh *mesh) {
    if (!mesh || !sagoi_live_has(&mesh->live))
        return sagoi_fail(SAGO_ERR_HANDLE, "the mesh is %s", mesh ? "ended, or none of Sago's" : "NULL");
    return SAGO_OK;
}

/* Ends a local call on a mesh.  After a failure the mesh cannot be used any more. */
static sago_status local_done(const char *call, sago_mesh *mesh, sago_status status) {
    bool is_open = mesh && sagoi_live_has(&mesh->live);
    status = sagoi_done(call, is_open ? mesh->file->path : NULL, status);
    if (status && is_open && !mesh->status) {
        mesh->status = status;
        sagoi_message_keep(mesh->message);
    }
    return status;
}

static sago_status type_of(MPI_Datatype type, const sagoi_mesh_type **found) {
    const struct {
        MPI_Datatype type;
        bool real, negative;
        int64_t bytes;
    } types[] = {{MPI_FLOAT, true, true, 4},
                 {MPI_DOUBLE, true, true, 8},
                 {MPI_INT, false, true, 4},
                 {MPI_INT8_T, false, true, 1},
                 {MPI_UINT8_T, false, false, 1},
                 {MPI_INT16_T, false, true, 2},
                 {MPI_UINT16_T, false, false, 2},
                 {MPI_INT32_T, false, true, 4},
                 {MPI_UINT32_T, false, false, 4},
                 {MPI_INT64_T, false, true, 8},
                 {MPI_UINT64_T, false, false, 8},
                 {MPI_REAL, true, true, 4},
                 {MPI_DOUBLE_PRECISION, true, true, 8},
                 {MPI_INTEGER, false, true, 4}};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (type != MPI_DATATYPE_NULL && types[i].type == type) {
            *found = sagoi_mesh_type_find(types[i].real, types[i].negative, types[i].bytes);
            return SAGO_OK;
        }
    return sagoi_fail(SAGO_ERR_TYPE, "meshes have no numbers of this type");
}

static sago_status check_memory(const void *memory, int64_t needed) {
    if (needed > 0 && !memory)
        return sagoi_fail(SAGO_ERR_ARG, "an array is NULL");
    if (needed > 0 && sago_is_device_memory(memory))
        return sagoi_fail(SAGO_ERR_UNSUPPORTED,
                          "an array is in a device's memory; meshes are written from the host's");
    return SAGO_OK;
}

/* ---- Beginning ---- */

sago_status sago_mesh_begin(MPI_Comm comm, const char *path, sago_mesh_format format, MPI_Info hints,
                            sago_mesh **mesh) {
    sago_file *file = NULL;
    sago_status status =
        sagoi_open_for("sago_mesh_begin", comm, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, hints, &file);
    if (status)
        return status;
    sago_mesh *made = calloc(1, sizeof *made);
    if (!mesh || (format != SAGO_MESH_VTK && format != SAGO_MESH_VTU))
        status = sagoi_fail(SAGO_ERR_ARG, "there is nowhere to put the mesh, or no such format");
    else if (!made)
        status = sagoi_fail(SAGO_ERR_MEMORY, "no memory for a mesh");
    status = sagoi_agree_status(file->team, status);
    if (!status)
        status = sagoi_team_need_own(file->team);
    if (!status)
        status = sago_set_size(file, 0);
    status = sagoi_done("sago_mesh_begin", path, status);
    if (status) {
        char why[SAGOI_MESSAGE_MAX];
        sagoi_message_keep(why);
        free(made);
        (void)sago_close(&file);
        sagoi_message_set(why);
        return status;
    }
    made->file = file;
    made->form.format = (sagoi_mesh_format)format;
    sagoi_live_add(&made->live);
    *mesh = made;
    return SAGO_OK;
}

/* ---- What it consists of ---- */

static sago_status take_points(sago_mesh *mesh, int64_t npoints, MPI_Datatype type, const void *xyz) {
    const sagoi_mesh_type *coordinates;
    sago_status status = check_mesh(mesh);
    if (!status && mesh->has_points)
        status = sagoi_fail(SAGO_ERR_STATE, "the mesh has its points already");
    if (!status && (npoints < 0 || npoints > INT64_MAX / 64))
        status = sagoi_fail(SAGO_ERR_ARG, "%lld points", (long long)npoints);
    if (!status)
        status = check_memory(xyz, npoints);
    if (!status && type != MPI_FLOAT && type != MPI_DOUBLE && type != MPI_REAL && type != MPI_DOUBLE_PRECISION)
        status = sagoi_fail(SAGO_ERR_TYPE, "coordinates are MPI_FLOAT or MPI_DOUBLE");
    if (!status)
        status = type_of(type, &coordinates);
    if (status)
        return status;
    mesh->form.coordinates = coordinates;
    mesh->part.npoints = npoints;
    mesh->part.xyz = xyz;
    mesh->has_points = true;
    return SAGO_OK;
}

sago_status sago_mesh_points(sago_mesh *mesh, int64_t npoints, MPI_Datatype type, const void *xyz) {
    return local_done("sago_mesh_points", mesh, take_points(mesh, npoints, type, xyz));
}

static sago_status take_cells(sago_mesh *mesh, const sagoi_mesh_part *given) {
    sago_status status = check_mesh(mesh);
    if (!status && mesh->has_cells)
        status = sagoi_fail(SAGO_ERR_STATE, "the mesh has its cells already");
    if (!status && (given->ncells < 0 || given->ncells > INT64_MAX / 64))
        status = sagoi_fail(SAGO_ERR_ARG, "%lld cells", (long long)given->ncells);
    if (!status)
        status = check_memory(given->offsets, given->ncells);
    if (!status)
        status = check_memory(given->kinds, given->ncells);
    int64_t ncorners = !status && given->ncells > 0 ? given->offsets[given->ncells] : 0;
    if (!status && (ncorners < 0 || ncorners > INT64_MAX / 64))
        status = sagoi_fail(SAGO_ERR_ARG, "%lld corners", (long long)ncorners);
    if (!status)
        status = check_memory(given->corners, ncorners);
    if (status)
        return status;
    mesh->part.ncells = given->ncells;
    mesh->part.ncorners = ncorners;
    mesh->part.offsets = given->offsets;
    mesh->part.corners = given->corners;
    mesh->part.kinds = given->kinds;
    mesh->has_cells = true;
    return SAGO_OK;
}

sago_status sago_mesh_cells(sago_mesh *mesh, int64_t ncells, const int64_t offsets[], const int64_t corners[],
                            const int32_t kinds[]) {
    sagoi_mesh_part given = {.ncells = ncells, .offsets = offsets, .corners = corners, .kinds = kinds};
    return local_done("sago_mesh_cells", mesh, take_cells(mesh, &given));
}

static sago_status take_field(sago_mesh *mesh, sagoi_mesh_field *given, const char *name, MPI_Datatype type) {
    sago_status status = check_mesh(mesh);
    if (!status && (!name || !*name || strlen(name) >= sizeof given->name))
        status = sagoi_fail(SAGO_ERR_ARG, "a field needs a name of at most %d bytes", (int)sizeof given->name - 1);
    if (!status && given->place != SAGOI_MESH_AT_POINTS && given->place != SAGOI_MESH_AT_CELLS)
        status = sagoi_fail(SAGO_ERR_ARG, "fields are at points or at cells");
    if (!status && (given->components < 1 || given->components > COMPONENTS_MOST))
        status = sagoi_fail(SAGO_ERR_ARG, "%lld components", (long long)given->components);
    if (!status)
        status = type_of(type, &given->type);
    if (!status && given->data)
        status = check_memory(given->data, 1);
    if (status)
        return status;
    (void)snprintf(given->name, sizeof given->name, "%s", name);
    sagoi_mesh_field *moved = realloc(mesh->fields, (size_t)(mesh->form.nfields + 1) * sizeof *moved);
    if (!moved)
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory for a field");
    mesh->fields = moved;
    moved[mesh->form.nfields++] = *given;
    return SAGO_OK;
}

sago_status sago_mesh_field(sago_mesh *mesh, sago_mesh_place place, const char *name, MPI_Datatype type,
                            int components, const void *data) {
    sagoi_mesh_field given = {.place = (sagoi_mesh_place)place, .components = components, .data = data};
    return local_done("sago_mesh_field", mesh, take_field(mesh, &given, name, type));
}

/* ---- Writing ---- */

/* A hash of what must be equal on all ranks. */
static int64_t form_hash(const sagoi_mesh_form *form) {
    char text[512];
    int length = snprintf(text, sizeof text, "%d %s %lld", (int)form->format, form->coordinates->xml,
                          (long long)form->nfields);
    sagoi_hash hash = sagoi_hash_bytes(text, length, (sagoi_hash){0, 0});
    for (int64_t i = 0; i < form->nfields; i++) {
        const sagoi_mesh_field *field = &form->fields[i];
        length = snprintf(text, sizeof text, "%d %s %lld %s", (int)field->place, field->type->xml,
                          (long long)field->components, field->name);
        hash = sagoi_hash_bytes(text, length, hash);
    }
    return (int64_t)(hash.low >> 1);
}

static sago_status check_whole(sago_mesh *mesh) {
    const sagoi_mesh_part *part = &mesh->part;
    if (mesh->status)
        return sagoi_fail(mesh->status, "%s", mesh->message);
    if (!mesh->has_points)
        return sagoi_fail(SAGO_ERR_STATE, "sago_mesh_points() was not called");
    for (int64_t i = 0; i < mesh->form.nfields; i++) {
        bool needed = (mesh->fields[i].place == SAGOI_MESH_AT_POINTS ? part->npoints : part->ncells) > 0;
        if (needed && !mesh->fields[i].data)
            return sagoi_fail(SAGO_ERR_ARG, "field \"%s\" is NULL", mesh->fields[i].name);
    }
    return sagoi_mesh_part_check(part);
}

static sago_status agree_form(sago_mesh *mesh) {
    sago_status status = check_whole(mesh);
    mesh->form.fields = mesh->fields;
    return sagoi_agree_equal(mesh->file->team, status, mesh->has_points ? form_hash(&mesh->form) : 0,
                             "ranks gave different fields, formats or types of coordinates");
}

/* Counts of the ranks before this one, and of all ranks. */
typedef struct mesh_counts {
    int64_t before[COUNTS];
    sagoi_mesh_part all;
} mesh_counts;

static sago_status count_all(sago_mesh *mesh, mesh_counts *counts) {
    sagoi_team *team = mesh->file->team;
    int64_t mine[COUNTS] = {mesh->part.npoints, mesh->part.ncells, mesh->part.ncorners};
    sago_status status = sagoi_sums_before(team, team->own, mine, COUNTS, counts->before);
    if (!status)
        status = sagoi_allreduce(team, team->own, mine, COUNTS, MPI_INT64_T, MPI_SUM);
    counts->all = (sagoi_mesh_part){.npoints = mine[POINTS], .ncells = mine[CELLS], .ncorners = mine[CORNERS]};
    return status;
}

/* Writes rank 0's text, then the numbers of all ranks, in as many calls as the rank with most numbers needs. */
static sago_status write_array(sago_mesh *mesh, const sagoi_mesh_array *array, const mesh_counts *counts,
                               char *chunk) {
    sagoi_team *team = mesh->file->team;
    sagoi_mesh_part before = {
        .npoints = counts->before[POINTS], .ncells = counts->before[CELLS], .ncorners = counts->before[CORNERS]};
    sagoi_mesh_walk walk = {.array = array,
                            .part = &mesh->part,
                            .points_before = before.npoints,
                            .corners_before = before.ncorners,
                            .swapped = sagoi_mesh_swapped(mesh->form.format)};
    int64_t at = array->at + sagoi_mesh_numbers(array, &before) * array->element;
    int64_t rounds = sagoi_div_up(sagoi_mesh_numbers(array, &mesh->part) * array->element, CHUNK);
    MPI_Count moved;
    sago_status text = SAGO_OK;
    if (team->rank == 0)
        text = sago_write_at(mesh->file, array->at - (int64_t)array->text_len, array->text,
                             (MPI_Count)array->text_len, MPI_BYTE, &moved);
    sago_status status = sagoi_agree_status(team, text);
    if (!status)
        status = sagoi_allreduce(team, team->own, &rounds, 1, MPI_INT64_T, MPI_MAX);
    for (int64_t i = 0; i < rounds && !status; i++) {
        int64_t bytes = sagoi_mesh_walk_on(&walk, chunk, CHUNK);
        status = sago_write_at_all(mesh->file, at, chunk, bytes, MPI_BYTE, &moved);
        at += bytes;
    }
    return status;
}

static sago_status write_mesh(sago_mesh *mesh, const mesh_counts *counts) {
    sagoi_team *team = mesh->file->team;
    sagoi_mesh_file file = {0};
    char *chunk = malloc(CHUNK);
    MPI_Count moved;
    sago_status status = chunk ? sagoi_mesh_file_make(&mesh->form, &counts->all, &file)
                               : sagoi_fail(SAGO_ERR_MEMORY, "no memory to write a mesh");
    status = sagoi_agree_status(team, status);
    for (int64_t i = 0; i < file.narrays && !status; i++)
        status = write_array(mesh, &file.arrays[i], counts, chunk);
    sago_status end = SAGO_OK;
    if (!status && team->rank == 0)
        end = sago_write_at(mesh->file, file.end_at, file.end, (MPI_Count)strlen(file.end), MPI_BYTE, &moved);
    if (!status)
        status = sagoi_agree_status(team, end);
    free(chunk);
    sagoi_mesh_file_cleanup(&file);
    return status;
}

sago_status sago_mesh_end(sago_mesh **mesh) {
    mesh_counts counts;
    sago_status status = mesh ? check_mesh(*mesh) : sagoi_fail(SAGO_ERR_HANDLE, "the pointer to the mesh is NULL");
    if (status)
        return sagoi_done("sago_mesh_end", NULL, status);
    sago_mesh *ending = *mesh;
    *mesh = NULL;
    status = agree_form(ending);
    if (!status)
        status = count_all(ending, &counts);
    if (!status)
        status = write_mesh(ending, &counts);
    status = sagoi_done("sago_mesh_end", ending->file->path, status);
    char why[SAGOI_MESSAGE_MAX];
    sagoi_message_keep(why);
    sago_status closed = sago_close(&ending->file);
    sagoi_live_remove(&ending->live);
    free(ending->fields);
    free(ending);
    if (!status)
        return closed;
    sagoi_message_set(why);
    return status;
}
