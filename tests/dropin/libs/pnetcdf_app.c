/* PnetCDF: fixed and record variables, blocking and nonblocking, subarrays with strides, lists of subarrays,
 * buffers described by MPI datatypes, header changes in between, ranks with nothing to do. */
#include <pnetcdf.h>

#include "app.h"

enum { N0 = 10, N1 = 21, N2 = 34, STEPS = 4, LISTED = 997 };

#define OK(call) REQUIRE((call) == NC_NOERR)

/* How a variable is cut for writing and for reading. */
typedef struct variable_shape {
    const char *name;
    app_box (*cut_write)(const app_world *, int64_t, int64_t, int64_t, int);
    int along_write;
    app_box (*cut_read)(const app_world *, int64_t, int64_t, int64_t, int);
    int along_read;
    bool nonblocking; /* in one call together with the others that are */
} variable_shape;

static const variable_shape shapes[] = {
    {"rows", app_slab, 0, app_slab, 2, false},         {"columns", app_slab, 2, app_comb, 1, false},
    {"comb", app_comb, 2, app_slab, 0, false},         {"rows_later", app_slab, 0, app_slab, 1, true},
    {"columns_later", app_slab, 2, app_slab, 0, true}, {"comb_later", app_comb, 1, app_comb, 2, true},
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };
enum { RECORD_A = SHAPES, RECORD_B, RECORD_C, LIST, LATE, VARIABLES };

typedef struct dataset {
    int id;
    int variable[VARIABLES];
} dataset;

/* ---- Boxes ---- */

typedef struct offsets {
    MPI_Offset start[3], count[3], stride[3];
} offsets;

static offsets offsets_of(const app_box *box) {
    offsets at;
    for (int i = 0; i < 3; i++) {
        at.start[i] = box->start[i];
        at.count[i] = box->count[i];
        at.stride[i] = box->stride[i];
    }
    return at;
}

static void box_write(const dataset *set, int variable, const app_box *box) {
    offsets at = offsets_of(box);
    int32_t *values = app_box_fill(box, variable);
    OK(ncmpi_put_vars_int_all(set->id, set->variable[variable], at.start, at.count, at.stride, values));
    free(values);
}

static void box_read(const dataset *set, int variable, const app_box *box) {
    offsets at = offsets_of(box);
    int32_t *values = app_buffer(app_box_volume(box) * (int64_t)sizeof *values);
    OK(ncmpi_get_vars_int_all(set->id, set->variable[variable], at.start, at.count, at.stride, values));
    REQUIRE(app_box_check(box, variable, values));
}

/* ---- Fixed variables ---- */

static app_box shape_box(const app_world *app, int s, bool write) {
    return write ? shapes[s].cut_write(app, N0, N1, N2, shapes[s].along_write)
                 : shapes[s].cut_read(app, N0, N1, N2, shapes[s].along_read);
}

static void fixed_write(const app_world *app, const dataset *set) {
    int32_t *values[SHAPES] = {NULL};
    int requests[SHAPES], statuses[SHAPES], pending = 0;
    for (int s = 0; s < SHAPES; s++) {
        app_box box = shape_box(app, s, true);
        offsets at = offsets_of(&box);
        if (!shapes[s].nonblocking) {
            box_write(set, s, &box);
            continue;
        }
        values[s] = app_box_fill(&box, s);
        OK(ncmpi_iput_vars_int(set->id, set->variable[s], at.start, at.count, at.stride, values[s],
                               &requests[pending++]));
    }
    OK(ncmpi_wait_all(set->id, pending, requests, statuses));
    for (int i = 0; i < pending; i++)
        OK(statuses[i]);
    for (int s = 0; s < SHAPES; s++)
        free(values[s]);
}

static void fixed_read(const app_world *app, const dataset *set) {
    int32_t *values[SHAPES] = {NULL};
    app_box boxes[SHAPES];
    int requests[SHAPES], statuses[SHAPES], pending = 0;
    for (int s = 0; s < SHAPES; s++) {
        boxes[s] = shape_box(app, s, false);
        offsets at = offsets_of(&boxes[s]);
        if (!shapes[s].nonblocking) {
            box_read(set, s, &boxes[s]);
            continue;
        }
        values[s] = app_buffer(app_box_volume(&boxes[s]) * (int64_t)sizeof *values[s]);
        OK(ncmpi_iget_vars_int(set->id, set->variable[s], at.start, at.count, at.stride, values[s],
                               &requests[pending++]));
    }
    OK(ncmpi_wait_all(set->id, pending, requests, statuses));
    for (int s = 0; s < SHAPES; s++)
        if (shapes[s].nonblocking)
            REQUIRE(app_box_check(&boxes[s], s, values[s]));
}

/* ---- Record variables: their records take turns in the file ---- */

static app_box record_box(const app_world *app, int64_t step, int along) {
    app_box box = app_slab(app, 1, N1, N2, along);
    box.dims[0] = STEPS;
    box.start[0] = step;
    return box;
}

/* A by a call each step; B and C buffered, all steps together at the end. */
static void records_write(const app_world *app, const dataset *set) {
    int requests[2 * STEPS], statuses[2 * STEPS], pending = 0;
    OK(ncmpi_buffer_attach(set->id, 2 * STEPS * N1 * N2 * (MPI_Offset)sizeof(double)));
    for (int64_t step = 0; step < STEPS; step++) {
        app_box box = record_box(app, step, 1);
        box_write(set, RECORD_A, &box);
        for (int variable = RECORD_B; variable <= RECORD_C; variable++) {
            box = record_box(app, step, variable == RECORD_B ? 2 : 1);
            offsets at = offsets_of(&box);
            int32_t *values = app_box_fill(&box, variable);
            OK(ncmpi_bput_vara_int(set->id, set->variable[variable], at.start, at.count, values,
                                   &requests[pending++]));
            memset(values, 0, (size_t)app_box_volume(&box) * sizeof *values);
            free(values);
        }
    }
    OK(ncmpi_wait_all(set->id, pending, requests, statuses));
    OK(ncmpi_buffer_detach(set->id));
}

static void records_read(const app_world *app, const dataset *set) {
    for (int variable = RECORD_A; variable <= RECORD_C; variable++) {
        app_box box = app_slab(app, STEPS, N1, N2, variable % 3);
        box_read(set, variable, &box);
    }
}

/* ---- A list of places in one call ---- */

static MPI_Offset list_of(const app_world *app, MPI_Offset (*starts)[1], MPI_Offset **pointers) {
    MPI_Offset count = 0;
    for (MPI_Offset i = 0; i < LISTED; i++) {
        MPI_Offset place = i * 389 % LISTED; /* a permutation: the length is a prime */
        if (i % app->ranks != app->rank)
            continue;
        starts[count][0] = place;
        pointers[count] = starts[count];
        count++;
    }
    return count;
}

/* In memory every value has a gap behind it, which a datatype leaves out. */
static void list_move(const app_world *app, const dataset *set, bool write) {
    MPI_Offset(*starts)[1] = app_buffer(LISTED * (int64_t)sizeof *starts);
    MPI_Offset **pointers = app_buffer(LISTED * (int64_t)sizeof *pointers);
    MPI_Offset count = list_of(app, starts, pointers);
    int32_t *values = app_buffer(2 * LISTED * (int64_t)sizeof *values);
    MPI_Datatype gapped;
    MPI_Type_vector((int)count, 1, 2, MPI_INT, &gapped);
    MPI_Type_commit(&gapped);
    for (MPI_Offset i = 0; write && i < count; i++)
        values[2 * i] = app_value(LIST, starts[i][0]);
    if (write)
        OK(ncmpi_put_varn_all(set->id, set->variable[LIST], (int)count, pointers, NULL, values, 1, gapped));
    else
        OK(ncmpi_get_varn_all(set->id, set->variable[LIST], (int)count, pointers, NULL, values, 1, gapped));
    for (MPI_Offset i = 0; i < count; i++)
        REQUIRE(values[2 * i] == app_value(LIST, starts[i][0]));
    MPI_Type_free(&gapped);
    free(values);
    free(pointers);
    free(starts);
}

/* ---- The file ---- */

static void define(dataset *set) {
    int dims[4], listed;
    OK(ncmpi_def_dim(set->id, "time", NC_UNLIMITED, &dims[3]));
    OK(ncmpi_def_dim(set->id, "z", N0, &dims[0]));
    OK(ncmpi_def_dim(set->id, "y", N1, &dims[1]));
    OK(ncmpi_def_dim(set->id, "x", N2, &dims[2]));
    OK(ncmpi_def_dim(set->id, "place", LISTED, &listed));
    int record[3] = {dims[3], dims[1], dims[2]};
    for (int s = 0; s < SHAPES; s++)
        OK(ncmpi_def_var(set->id, shapes[s].name, NC_INT, 3, dims, &set->variable[s]));
    OK(ncmpi_def_var(set->id, "record_a", NC_INT, 3, record, &set->variable[RECORD_A]));
    OK(ncmpi_def_var(set->id, "record_b", NC_DOUBLE, 3, record, &set->variable[RECORD_B])); /* converted */
    OK(ncmpi_def_var(set->id, "record_c", NC_INT64, 3, record, &set->variable[RECORD_C]));
    OK(ncmpi_def_var(set->id, "list", NC_INT, 1, &listed, &set->variable[LIST]));
    OK(ncmpi_put_att_text(set->id, NC_GLOBAL, "title", 9, "a test of"));
}

/* One more variable when there is data already: everything behind the header moves. */
static void define_late(dataset *set) {
    int dims[3];
    OK(ncmpi_redef(set->id));
    OK(ncmpi_inq_dimid(set->id, "z", &dims[0]));
    OK(ncmpi_inq_dimid(set->id, "y", &dims[1]));
    OK(ncmpi_inq_dimid(set->id, "x", &dims[2]));
    OK(ncmpi_def_var(set->id, "late", NC_INT, 3, dims, &set->variable[LATE]));
    OK(ncmpi_put_att_text(set->id, NC_GLOBAL, "why", 4, "late"));
    OK(ncmpi_enddef(set->id));
}

/* Independently, and a second time over a part of it. */
static void late_write(const app_world *app, const dataset *set) {
    app_box box = app_slab(app, N0, N1, N2, 1);
    int32_t *values = app_box_fill(&box, LATE);
    offsets at = offsets_of(&box);
    OK(ncmpi_begin_indep_data(set->id));
    if (app_box_volume(&box) > 0)
        OK(ncmpi_put_vara_int(set->id, set->variable[LATE], at.start, at.count, values));
    OK(ncmpi_end_indep_data(set->id));
    free(values);
    box = app_comb(app, N0, N1, N2, 2);
    box_write(set, LATE, &box);
}

static void file_write(const app_world *app) {
    dataset set;
    OK(ncmpi_create(MPI_COMM_WORLD, app->path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &set.id));
    define(&set);
    OK(ncmpi_set_fill(set.id, NC_FILL, NULL));
    OK(ncmpi_enddef(set.id));
    fixed_write(app, &set);
    records_write(app, &set);
    list_move(app, &set, true);
    OK(ncmpi_sync(set.id));
    records_read(app, &set);
    define_late(&set);
    late_write(app, &set);
    OK(ncmpi_close(set.id));
}

static void file_read(const app_world *app) {
    static const char *const others[] = {"record_a", "record_b", "record_c", "list", "late"};
    dataset set;
    OK(ncmpi_open(MPI_COMM_WORLD, app->path, NC_NOWRITE, MPI_INFO_NULL, &set.id));
    for (int v = 0; v < VARIABLES; v++)
        OK(ncmpi_inq_varid(set.id, v < SHAPES ? shapes[v].name : others[v - SHAPES], &set.variable[v]));
    fixed_read(app, &set);
    records_read(app, &set);
    list_move(app, &set, false);
    app_box box = app_slab(app, N0, N1, N2, 0);
    box_read(&set, LATE, &box);
    OK(ncmpi_close(set.id));
}

int main(int argc, char **argv) { return app_main(argc, argv, file_write, file_read); }
