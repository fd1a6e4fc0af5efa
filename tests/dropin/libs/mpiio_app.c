/* MPI-IO itself, as the libraries use it: views of subarrays, calls with explicit offsets, in one file. */
#include "app.h"

enum { N0 = 16, N1 = 25, N2 = 40, VARIABLES = 3 };

#define OK(call) REQUIRE((call) == MPI_SUCCESS)

static const int64_t variable_bytes = (int64_t)N0 * N1 * N2 * (int64_t)sizeof(int32_t);

static void view_set(MPI_File file, int variable, const app_box *box) {
    int sizes[3], counts[3], starts[3];
    MPI_Datatype type = MPI_INT;
    for (int i = 0; i < 3; i++) {
        sizes[i] = (int)box->dims[i];
        counts[i] = (int)box->count[i];
        starts[i] = (int)box->start[i];
    }
    if (app_box_volume(box) > 0) {
        OK(MPI_Type_create_subarray(3, sizes, counts, starts, MPI_ORDER_C, MPI_INT, &type));
        OK(MPI_Type_commit(&type));
    }
    OK(MPI_File_set_view(file, variable * variable_bytes, MPI_INT, type, "native", MPI_INFO_NULL));
    if (type != MPI_INT)
        OK(MPI_Type_free(&type));
}

static void file_write(const app_world *app) {
    MPI_File file;
    OK(MPI_File_open(MPI_COMM_WORLD, app->path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file));
    OK(MPI_File_set_size(file, 0));
    for (int v = 0; v < VARIABLES; v++) {
        app_box box = app_slab(app, N0, N1, N2, v);
        int32_t *values = app_box_fill(&box, v);
        view_set(file, v, &box);
        if (v == 1)
            OK(MPI_File_write_at_all(file, 0, values, (int)app_box_volume(&box), MPI_INT, MPI_STATUS_IGNORE));
        else
            OK(MPI_File_write_all(file, values, (int)app_box_volume(&box), MPI_INT, MPI_STATUS_IGNORE));
        free(values);
    }
    OK(MPI_File_close(&file));
}

static void file_read(const app_world *app) {
    MPI_File file;
    OK(MPI_File_open(MPI_COMM_WORLD, app->path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    for (int v = 0; v < VARIABLES; v++) {
        app_box box = app_slab(app, N0, N1, N2, 2 - v);
        int32_t *values = app_buffer(app_box_volume(&box) * (int64_t)sizeof *values);
        view_set(file, v, &box);
        OK(MPI_File_read_at_all(file, 0, values, (int)app_box_volume(&box), MPI_INT, MPI_STATUS_IGNORE));
        REQUIRE(app_box_check(&box, v, values));
    }
    OK(MPI_File_close(&file));
}

int main(int argc, char **argv) { return app_main(argc, argv, file_write, file_read); }
