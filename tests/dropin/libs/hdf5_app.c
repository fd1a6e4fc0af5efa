/* Parallel HDF5: layouts, selections, collective metadata, datasets that grow; what a simulation writes, and more.
 * Everything that HDF5 can do collectively is collective, but for one dataset that is not. */
#include <hdf5.h>

#include "app.h"

enum { N0 = 12, N1 = 30, N2 = 26, STEPS = 3, SMALL = 12 };

/* Every dataset: how it is laid out, cut, and moved. */
typedef struct dataset_shape {
    const char *name;
    hsize_t chunk[3]; /* {0}: contiguous */
    app_box (*cut_write)(const app_world *, int64_t, int64_t, int64_t, int);
    int along_write;
    app_box (*cut_read)(const app_world *, int64_t, int64_t, int64_t, int);
    int along_read;
    H5FD_mpio_chunk_opt_t chunk_mode; /* one call for all chunks, or one each */
    bool compressed, independent;
} dataset_shape;

#define BY_ITSELF H5FD_MPIO_CHUNK_DEFAULT
static const dataset_shape shapes[] = {
    {"rows", {0}, app_slab, 0, app_slab, 1, BY_ITSELF, false, false},
    {"columns", {0}, app_slab, 2, app_slab, 0, BY_ITSELF, false, false},
    {"comb", {0}, app_comb, 2, app_comb, 1, BY_ITSELF, false, false},
    {"independent", {0}, app_slab, 1, app_comb, 2, BY_ITSELF, false, true},
    {"chunked", {5, 7, 8}, app_slab, 1, app_comb, 2, BY_ITSELF, false, false},
    {"chunked-one", {5, 7, 8}, app_comb, 1, app_slab, 2, H5FD_MPIO_CHUNK_ONE_IO, false, false},
    {"chunked-many", {4, 30, 26}, app_comb, 1, app_slab, 0, H5FD_MPIO_CHUNK_MULTI_IO, false, false},
    {"compressed", {3, 10, 13}, app_slab, 2, app_slab, 1, BY_ITSELF, true, false},
};
enum { SHAPES = sizeof shapes / sizeof shapes[0], VARIABLE_GROWING = 100, VARIABLE_POINTS, VARIABLE_SMALL };

#define OK(call) REQUIRE((call) >= 0)

/* ---- Property lists ---- */

static hid_t transfer_create(bool collective, H5FD_mpio_chunk_opt_t chunk_mode) {
    hid_t list = H5Pcreate(H5P_DATASET_XFER);
    OK(list);
    OK(H5Pset_dxpl_mpio(list, collective ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT));
    if (chunk_mode != BY_ITSELF)
        OK(H5Pset_dxpl_mpio_chunk_opt(list, chunk_mode));
    return list;
}

/* Times of creation would make every file another one. */
static hid_t dataset_create_list(const hsize_t chunk[3], bool compressed) {
    int32_t fill = -1;
    hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    OK(list);
    OK(H5Pset_obj_track_times(list, 0));
    OK(H5Pset_fill_value(list, H5T_NATIVE_INT32, &fill));
    if (chunk[0])
        OK(H5Pset_chunk(list, 3, chunk));
    if (compressed) {
        OK(H5Pset_shuffle(list));
        OK(H5Pset_deflate(list, 4));
    }
    return list;
}

static hid_t access_create(void) {
    hid_t list = H5Pcreate(H5P_FILE_ACCESS);
    OK(list);
    OK(H5Pset_fapl_mpio(list, MPI_COMM_WORLD, MPI_INFO_NULL));
    OK(H5Pset_all_coll_metadata_ops(list, 1));
    OK(H5Pset_coll_metadata_write(list, 1));
    return list;
}

/* ---- Boxes ---- */

static hid_t space_of_box(hid_t dataset, const app_box *box) {
    hid_t space = H5Dget_space(dataset);
    hsize_t start[3], stride[3], count[3];
    OK(space);
    for (int i = 0; i < 3; i++) {
        start[i] = (hsize_t)box->start[i];
        stride[i] = (hsize_t)box->stride[i];
        count[i] = (hsize_t)box->count[i];
    }
    if (app_box_volume(box) == 0)
        OK(H5Sselect_none(space));
    else
        OK(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, stride, count, NULL));
    return space;
}

/* In memory with a border around, as of ghost cells: values, selected in a wider box. */
static hid_t memory_of_box(const app_box *box, int64_t border, int64_t *volume) {
    hsize_t dims[3], start[3], count[3];
    *volume = 1;
    for (int i = 0; i < 3; i++) {
        dims[i] = (hsize_t)(box->count[i] + 2 * border);
        start[i] = (hsize_t)border;
        count[i] = (hsize_t)box->count[i];
        *volume *= (int64_t)dims[i];
    }
    if (app_box_volume(box) == 0) {
        hsize_t one = 1;
        hid_t none = H5Screate_simple(1, &one, NULL);
        OK(none);
        OK(H5Sselect_none(none));
        return none;
    }
    hid_t space = H5Screate_simple(3, dims, NULL);
    OK(space);
    OK(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL));
    return space;
}

/* Between values one after another and the wider box. */
static void border_copy(const app_box *box, int64_t border, int32_t *wide, int32_t *values, bool out) {
    int64_t w1 = box->count[1] + 2 * border, w2 = box->count[2] + 2 * border;
    for (int64_t i = 0; i < app_box_volume(box); i++) {
        int64_t x = i % box->count[2], y = i / box->count[2] % box->count[1],
                z = i / box->count[2] / box->count[1];
        int32_t *place = &wide[((z + border) * w1 + y + border) * w2 + x + border];
        if (out)
            *place = values[i];
        else
            values[i] = *place;
    }
}

/* HDF5 fills chunks and takes them over from other ranks with nothing but barriers in between, where MPI demands a
 * sync: who defers writes has to ask for it. */
static void chunks_sync(hid_t dataset) {
    hid_t list = H5Dget_create_plist(dataset);
    OK(list);
    if (getenv("APP_SYNC") && H5Pget_layout(list) == H5D_CHUNKED)
        OK(H5Fflush(dataset, H5F_SCOPE_GLOBAL));
    OK(H5Pclose(list));
}

static void box_write(hid_t dataset, const app_box *box, int64_t border, int32_t variable, hid_t transfer) {
    int64_t volume;
    hid_t file = space_of_box(dataset, box), memory = memory_of_box(box, border, &volume);
    int32_t *values = app_box_fill(box, variable), *wide = app_buffer(volume * (int64_t)sizeof *wide);
    border_copy(box, border, wide, values, true);
    chunks_sync(dataset);
    OK(H5Dwrite(dataset, H5T_NATIVE_INT32, memory, file, transfer, wide));
    chunks_sync(dataset);
    free(wide);
    free(values);
    OK(H5Sclose(memory));
    OK(H5Sclose(file));
}

static void box_read(hid_t dataset, const app_box *box, int64_t border, int32_t variable, hid_t transfer) {
    int64_t volume;
    hid_t file = space_of_box(dataset, box), memory = memory_of_box(box, border, &volume);
    int32_t *values = app_buffer(app_box_volume(box) * (int64_t)sizeof *values);
    int32_t *wide = app_buffer(volume * (int64_t)sizeof *wide);
    OK(H5Dread(dataset, H5T_NATIVE_INT32, memory, file, transfer, wide));
    border_copy(box, border, wide, values, false);
    REQUIRE(app_box_check(box, variable, values));
    free(wide);
    OK(H5Sclose(memory));
    OK(H5Sclose(file));
}

/* ---- The table of shapes ---- */

static void shape_write(const app_world *app, hid_t group, int s) {
    const dataset_shape *shape = &shapes[s];
    hsize_t dims[3] = {N0, N1, N2};
    hid_t space = H5Screate_simple(3, dims, NULL), list = dataset_create_list(shape->chunk, shape->compressed);
    hid_t transfer = transfer_create(!shape->independent, shape->chunk_mode);
    hid_t dataset = H5Dcreate2(group, shape->name, H5T_STD_I32LE, space, H5P_DEFAULT, list, H5P_DEFAULT);
    OK(dataset);
    app_box box = shape->cut_write(app, N0, N1, N2, shape->along_write);
    box_write(dataset, &box, s % 3, s, transfer);
    box_read(dataset, &box, 0, s, transfer);
    OK(H5Dclose(dataset));
    OK(H5Pclose(transfer));
    OK(H5Pclose(list));
    OK(H5Sclose(space));
}

static void shape_read(const app_world *app, hid_t group, int s) {
    const dataset_shape *shape = &shapes[s];
    hid_t transfer = transfer_create(!shape->independent, shape->chunk_mode);
    hid_t dataset = H5Dopen2(group, shape->name, H5P_DEFAULT);
    OK(dataset);
    app_box box = shape->cut_read(app, N0, N1, N2, shape->along_read);
    box_read(dataset, &box, (s + 1) % 2, s, transfer);
    OK(H5Dclose(dataset));
    OK(H5Pclose(transfer));
}

/* ---- A dataset that grows step by step ---- */

static app_box step_box(const app_world *app, int64_t step, bool comb) {
    app_box box = (comb ? app_comb : app_slab)(app, 1, N1, N2, comb ? 2 : 1);
    box.dims[0] = STEPS + 1;
    box.start[0] = step;
    return box;
}

/* Step by step by one more along the first dimension; the last step after the file was opened again. */
static void growing_write(const app_world *app, hid_t dataset, int64_t first, int64_t last) {
    hid_t transfer = transfer_create(true, BY_ITSELF);
    for (int64_t step = first; step < last; step++) {
        hsize_t dims[3] = {(hsize_t)step + 1, N1, N2};
        OK(H5Dset_extent(dataset, dims));
        app_box box = step_box(app, step, step % 2);
        box_write(dataset, &box, 0, VARIABLE_GROWING, transfer);
    }
    OK(H5Pclose(transfer));
}

static hid_t growing_create(hid_t group) {
    hsize_t dims[3] = {0, N1, N2}, most[3] = {H5S_UNLIMITED, N1, N2}, chunk[3] = {2, 10, 9};
    hid_t space = H5Screate_simple(3, dims, most), list = dataset_create_list(chunk, false);
    hid_t dataset = H5Dcreate2(group, "growing", H5T_STD_I32LE, space, H5P_DEFAULT, list, H5P_DEFAULT);
    OK(dataset);
    OK(H5Pclose(list));
    OK(H5Sclose(space));
    return dataset;
}

static void growing_read(const app_world *app, hid_t group) {
    hid_t transfer = transfer_create(true, BY_ITSELF), dataset = H5Dopen2(group, "growing", H5P_DEFAULT);
    OK(dataset);
    for (int64_t step = 0; step <= STEPS; step++) {
        app_box box = step_box(app, step, step % 2 == 0);
        box_read(dataset, &box, 1, VARIABLE_GROWING, transfer);
    }
    OK(H5Dclose(dataset));
    OK(H5Pclose(transfer));
}

/* ---- Points, and a union of boxes ---- */

enum { POINTS_LENGTH = 1999 };

/* Every third place of the dataset belongs to a point, dealt out among the ranks in no order at all. */
static int64_t points_of(const app_world *app, hsize_t *points) {
    int64_t count = 0;
    for (int64_t i = 0; i < POINTS_LENGTH; i++) {
        int64_t place = i * 613 % POINTS_LENGTH; /* a permutation: the length is a prime */
        if (place % 3 == 0 && i % app->ranks == app->rank)
            points[count++] = (hsize_t)place;
    }
    return count;
}

/* The places that are left, a stretch each, as the union of two combs.  Returns how many, in the selection's
 * order. */
static int64_t select_union(const app_world *app, hid_t space, hsize_t *places) {
    int64_t start, many, count = 0;
    app_part(app, POINTS_LENGTH / 3, &start, &many);
    OK(H5Sselect_none(space));
    if (many == 0)
        return 0;
    hsize_t first = (hsize_t)(3 * start + 1), second = first + 1, stride = 3, length = (hsize_t)many;
    OK(H5Sselect_hyperslab(space, H5S_SELECT_SET, &first, &stride, &length, NULL));
    OK(H5Sselect_hyperslab(space, H5S_SELECT_OR, &second, &stride, &length, NULL));
    for (hsize_t i = 0; i < length; i++) {
        places[count++] = first + stride * i;
        places[count++] = second + stride * i;
    }
    return count;
}

/* Writes or checks what is selected: the values are those of the places, in the order of the selection. */
typedef struct selected {
    hid_t dataset, transfer, space;
    const hsize_t *places;
    int64_t count;
} selected;

static void selected_move(const selected *s, bool write) {
    hsize_t length = s->count > 0 ? (hsize_t)s->count : 1;
    hid_t memory = H5Screate_simple(1, &length, NULL);
    int32_t *values = app_buffer((int64_t)length * (int64_t)sizeof *values);
    OK(memory);
    if (s->count == 0)
        OK(H5Sselect_none(memory));
    for (int64_t i = 0; write && i < s->count; i++)
        values[i] = app_value(VARIABLE_POINTS, (int64_t)s->places[i]);
    chunks_sync(s->dataset);
    if (write)
        OK(H5Dwrite(s->dataset, H5T_NATIVE_INT32, memory, s->space, s->transfer, values));
    else
        OK(H5Dread(s->dataset, H5T_NATIVE_INT32, memory, s->space, s->transfer, values));
    for (int64_t i = 0; i < s->count; i++)
        REQUIRE(values[i] == app_value(VARIABLE_POINTS, (int64_t)s->places[i]));
    free(values);
    OK(H5Sclose(memory));
}

static void points_move(const app_world *app, hid_t dataset, bool write) {
    hid_t space = H5Dget_space(dataset), transfer = transfer_create(true, BY_ITSELF);
    hsize_t *points = app_buffer(POINTS_LENGTH * (int64_t)sizeof *points);
    selected s = {dataset, transfer, space, points, points_of(app, points)};
    OK(space);
    if (s.count > 0)
        OK(H5Sselect_elements(space, H5S_SELECT_SET, (size_t)s.count, points));
    else
        OK(H5Sselect_none(space));
    selected_move(&s, write);

    s.count = select_union(app, space, points);
    selected_move(&s, write);
    free(points);
    OK(H5Pclose(transfer));
    OK(H5Sclose(space));
}

static void points_write(const app_world *app, hid_t group, const char *name, hsize_t chunk) {
    hsize_t length = POINTS_LENGTH;
    int32_t fill = -1;
    hid_t space = H5Screate_simple(1, &length, NULL), list = H5Pcreate(H5P_DATASET_CREATE);
    OK(H5Pset_obj_track_times(list, 0));
    OK(H5Pset_fill_value(list, H5T_NATIVE_INT32, &fill));
    if (chunk)
        OK(H5Pset_chunk(list, 1, &chunk));
    hid_t dataset = H5Dcreate2(group, name, H5T_STD_I32LE, space, H5P_DEFAULT, list, H5P_DEFAULT);
    OK(dataset);
    points_move(app, dataset, true);
    OK(H5Dclose(dataset));
    OK(H5Pclose(list));
    OK(H5Sclose(space));
}

static void points_read(const app_world *app, hid_t group, const char *name) {
    hid_t dataset = H5Dopen2(group, name, H5P_DEFAULT);
    OK(dataset);
    points_move(app, dataset, false);
    OK(H5Dclose(dataset));
}

/* ---- Groups, attributes, small datasets of another type: metadata ---- */

static void small_name(int i, char name[32]) { snprintf(name, 32, "group-%d/small-%d", i % 4, i); }

static void small_attribute(hid_t dataset, int i) {
    hid_t scalar = H5Screate(H5S_SCALAR);
    hid_t attribute = H5Acreate2(dataset, "number", H5T_STD_I32LE, scalar, H5P_DEFAULT, H5P_DEFAULT);
    OK(attribute);
    OK(H5Awrite(attribute, H5T_NATIVE_INT, &i));
    OK(H5Aclose(attribute));
    OK(H5Sclose(scalar));
}

/* All by rank 0, the others taking part with nothing; doubles that become floats in the file. */
static void small_move(const app_world *app, hid_t dataset, int i, bool write) {
    double values[SMALL] = {0};
    hid_t space = H5Dget_space(dataset), transfer = transfer_create(true, BY_ITSELF);
    for (int k = 0; write && k < SMALL; k++)
        values[k] = 0.25 * (i + k);
    if (app->rank != 0)
        OK(H5Sselect_none(space));
    if (write)
        OK(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, space, space, transfer, values));
    else
        OK(H5Dread(dataset, H5T_NATIVE_DOUBLE, space, space, transfer, values));
    for (int k = 0; app->rank == 0 && k < SMALL; k++)
        REQUIRE(values[k] == 0.25 * (i + k));
    OK(H5Pclose(transfer));
    OK(H5Sclose(space));
}

static void small_write(const app_world *app, hid_t file) {
    hsize_t length = SMALL, none[3] = {0};
    char name[32];
    hid_t space = H5Screate_simple(1, &length, NULL), list = dataset_create_list(none, false);
    hid_t links = H5Pcreate(H5P_LINK_CREATE);
    OK(H5Pset_create_intermediate_group(links, 1));
    for (int i = 0; i < SMALL; i++) {
        small_name(i, name);
        hid_t dataset = H5Dcreate2(file, name, H5T_IEEE_F32BE, space, links, list, H5P_DEFAULT);
        OK(dataset);
        small_attribute(dataset, i);
        small_move(app, dataset, i, true);
        OK(H5Dclose(dataset));
    }
    OK(H5Pclose(links));
    OK(H5Pclose(list));
    OK(H5Sclose(space));
}

static void small_read(const app_world *app, hid_t file) {
    char name[32];
    for (int i = 0; i < SMALL; i++) {
        int number = -1;
        small_name(i, name);
        hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
        OK(dataset);
        hid_t attribute = H5Aopen(dataset, "number", H5P_DEFAULT);
        OK(attribute);
        OK(H5Aread(attribute, H5T_NATIVE_INT, &number));
        REQUIRE(number == i);
        small_move(app, dataset, i, false);
        OK(H5Aclose(attribute));
        OK(H5Dclose(dataset));
    }
}

/* ---- The file ---- */

/* Created, written, closed; opened again, and a little more. */
static void file_write(const app_world *app) {
    hid_t access = access_create();
    hid_t file = H5Fcreate(app->path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    OK(file);
    for (int s = 0; s < SHAPES; s++)
        shape_write(app, file, s);
    OK(H5Fflush(file, H5F_SCOPE_GLOBAL));
    hid_t growing = growing_create(file);
    growing_write(app, growing, 0, STEPS);
    OK(H5Dclose(growing));
    points_write(app, file, "points", 0);
    points_write(app, file, "points-chunked", 128);
    small_write(app, file);
    OK(H5Fclose(file));

    file = H5Fopen(app->path, H5F_ACC_RDWR, access);
    OK(file);
    growing = H5Dopen2(file, "growing", H5P_DEFAULT);
    OK(growing);
    growing_write(app, growing, STEPS, STEPS + 1);
    OK(H5Dclose(growing));
    growing_read(app, file);
    OK(H5Fclose(file));
    OK(H5Pclose(access));
}

static void file_read(const app_world *app) {
    hid_t access = access_create();
    hid_t file = H5Fopen(app->path, H5F_ACC_RDONLY, access);
    OK(file);
    for (int s = 0; s < SHAPES; s++)
        shape_read(app, file, s);
    growing_read(app, file);
    points_read(app, file, "points");
    points_read(app, file, "points-chunked");
    small_read(app, file);
    OK(H5Fclose(file));
    OK(H5Pclose(access));
}

int main(int argc, char **argv) { return app_main(argc, argv, file_write, file_read); }
