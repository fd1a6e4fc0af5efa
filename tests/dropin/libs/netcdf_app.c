/* netCDF-4 in parallel, which is HDF5 underneath: contiguous and chunked variables, a dimension that grows,
 * subarrays with strides, a compressed variable, a switch from collective to independent access. */
#include <netcdf.h>
#include <netcdf_par.h>

#include "app.h"

enum { N0 = 11, N1 = 23, N2 = 32, STEPS = 4 };

#define OK(call) REQUIRE((call) == NC_NOERR)

typedef struct variable_shape {
    const char *name;
    size_t chunk[3]; /* {0}: contiguous */
    app_box (*cut_write)(const app_world *, int64_t, int64_t, int64_t, int);
    int along_write;
    app_box (*cut_read)(const app_world *, int64_t, int64_t, int64_t, int);
    int along_read;
    bool compressed, independent;
} variable_shape;

static const variable_shape shapes[] = {
    {"rows", {0}, app_slab, 0, app_slab, 2, false, false},
    {"columns", {0}, app_slab, 2, app_comb, 1, false, false},
    {"comb", {0}, app_comb, 2, app_slab, 0, false, false},
    {"chunked", {4, 6, 9}, app_slab, 1, app_slab, 2, false, false},
    {"chunked_comb", {11, 6, 9}, app_comb, 1, app_slab, 0, false, false},
    {"compressed", {4, 8, 8}, app_slab, 2, app_slab, 1, true, false},
    {"independent", {0}, app_slab, 1, app_comb, 2, false, true},
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };
enum { GROWING = SHAPES, LATE, VARIABLES };

typedef struct dataset {
    int id;
    int variable[VARIABLES];
} dataset;

/* ---- Boxes ---- */

typedef struct offsets {
    size_t start[3], count[3];
    ptrdiff_t stride[3];
} offsets;

static offsets offsets_of(const app_box *box) {
    offsets at;
    for (int i = 0; i < 3; i++) {
        at.start[i] = (size_t)box->start[i];
        at.count[i] = (size_t)box->count[i];
        at.stride[i] = (ptrdiff_t)box->stride[i];
    }
    return at;
}

static void box_write(const dataset *set, int variable, const app_box *box) {
    offsets at = offsets_of(box);
    int32_t *values = app_box_fill(box, variable);
    OK(nc_put_vars_int(set->id, set->variable[variable], at.start, at.count, at.stride, values));
    free(values);
}

static void box_read(const dataset *set, int variable, const app_box *box) {
    offsets at = offsets_of(box);
    int32_t *values = app_buffer(app_box_volume(box) * (int64_t)sizeof *values);
    OK(nc_get_vars_int(set->id, set->variable[variable], at.start, at.count, at.stride, values));
    REQUIRE(app_box_check(box, variable, values));
}

static void access_set(const dataset *set, int variable) {
    bool independent = variable < SHAPES && shapes[variable].independent;
    OK(nc_var_par_access(set->id, set->variable[variable], independent ? NC_INDEPENDENT : NC_COLLECTIVE));
}

/* ---- The growing variable ---- */

static app_box step_box(const app_world *app, int64_t step, int along) {
    app_box box = app_slab(app, 1, N1, N2, along);
    box.dims[0] = STEPS;
    box.start[0] = step;
    return box;
}

static void growing_write(const app_world *app, const dataset *set, int64_t first, int64_t last) {
    for (int64_t step = first; step < last; step++) {
        app_box box = step_box(app, step, 1 + (int)(step % 2));
        box_write(set, GROWING, &box);
    }
}

/* ---- The file ---- */

static void define_variable(dataset *set, int s, const int dims[3]) {
    const variable_shape *shape = &shapes[s];
    OK(nc_def_var(set->id, shape->name, NC_INT, 3, dims, &set->variable[s]));
    OK(nc_def_var_chunking(set->id, set->variable[s], shape->chunk[0] ? NC_CHUNKED : NC_CONTIGUOUS,
                           shape->chunk[0] ? shape->chunk : NULL));
    if (shape->compressed)
        OK(nc_def_var_deflate(set->id, set->variable[s], 1, 1, 4));
}

static void define(dataset *set) {
    int dims[3], time;
    size_t chunk[3] = {2, 7, 8};
    OK(nc_def_dim(set->id, "time", NC_UNLIMITED, &time));
    OK(nc_def_dim(set->id, "z", N0, &dims[0]));
    OK(nc_def_dim(set->id, "y", N1, &dims[1]));
    OK(nc_def_dim(set->id, "x", N2, &dims[2]));
    for (int s = 0; s < SHAPES; s++)
        define_variable(set, s, dims);
    int growing[3] = {time, dims[1], dims[2]};
    OK(nc_def_var(set->id, "growing", NC_INT, 3, growing, &set->variable[GROWING]));
    OK(nc_def_var_chunking(set->id, set->variable[GROWING], NC_CHUNKED, chunk));
    OK(nc_put_att_text(set->id, NC_GLOBAL, "title", 9, "a test of"));
    OK(nc_enddef(set->id));
}

/* After a second opening: another variable, and the rest of the steps. */
static void add(const app_world *app) {
    dataset set;
    int dims[3];
    OK(nc_open_par(app->path, NC_WRITE, MPI_COMM_WORLD, MPI_INFO_NULL, &set.id));
    OK(nc_inq_varid(set.id, "growing", &set.variable[GROWING]));
    access_set(&set, GROWING);
    growing_write(app, &set, STEPS - 1, STEPS);
    OK(nc_redef(set.id));
    OK(nc_inq_dimid(set.id, "z", &dims[0]));
    OK(nc_inq_dimid(set.id, "y", &dims[1]));
    OK(nc_inq_dimid(set.id, "x", &dims[2]));
    OK(nc_def_var(set.id, "late", NC_DOUBLE, 3, dims, &set.variable[LATE])); /* converted */
    OK(nc_enddef(set.id));
    access_set(&set, LATE);
    app_box box = app_slab(app, N0, N1, N2, 1);
    box_write(&set, LATE, &box);
    OK(nc_close(set.id));
}

static void file_write(const app_world *app) {
    dataset set;
    OK(nc_create_par(app->path, NC_CLOBBER | NC_NETCDF4, MPI_COMM_WORLD, MPI_INFO_NULL, &set.id));
    define(&set);
    for (int s = 0; s < SHAPES; s++) {
        app_box box = shapes[s].cut_write(app, N0, N1, N2, shapes[s].along_write);
        access_set(&set, s);
        box_write(&set, s, &box);
        box_read(&set, s, &box);
    }
    access_set(&set, GROWING);
    growing_write(app, &set, 0, STEPS - 1);
    OK(nc_sync(set.id));
    OK(nc_close(set.id));
    add(app);
}

static void file_read(const app_world *app) {
    dataset set;
    OK(nc_open_par(app->path, NC_NOWRITE, MPI_COMM_WORLD, MPI_INFO_NULL, &set.id));
    for (int v = 0; v < VARIABLES; v++) {
        const char *name = v < SHAPES ? shapes[v].name : v == GROWING ? "growing" : "late";
        app_box box = v == GROWING ? app_slab(app, STEPS, N1, N2, 2) : app_slab(app, N0, N1, N2, 0);
        if (v < SHAPES)
            box = shapes[v].cut_read(app, N0, N1, N2, shapes[v].along_read);
        OK(nc_inq_varid(set.id, name, &set.variable[v]));
        access_set(&set, v);
        box_read(&set, v, &box);
    }
    OK(nc_close(set.id));
}

int main(int argc, char **argv) { return app_main(argc, argv, file_write, file_read); }
