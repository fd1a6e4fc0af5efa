/* An unstructured mesh for ParaView: every rank has a strip of triangles of a bent sheet, with the height at the
 * points and the rank at the cells.  mpiexec -n 4 mesh sheet.vtu writes VTU, any other name legacy VTK. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sago/sago.h>

enum { WIDE = 40, STRIP = 10 }; /* squares across, and of a rank along */

static void check(sago_status status) {
    if (status == SAGO_OK)
        return;
    fprintf(stderr, "%s\n", sago_error_message());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Points of a grid, two triangles a square. */
static double xyz[(STRIP + 1) * (WIDE + 1)][3];
static int64_t corners[2 * STRIP * WIDE][3], offsets[2 * STRIP * WIDE + 1];
static int32_t kinds[2 * STRIP * WIDE], owner[2 * STRIP * WIDE];
static float height[(STRIP + 1) * (WIDE + 1)];

static void make_strip(int rank) {
    for (int i = 0; i <= STRIP; i++)
        for (int j = 0; j <= WIDE; j++) {
            int p = i * (WIDE + 1) + j;
            xyz[p][0] = 0.1 * (rank * STRIP + i);
            xyz[p][1] = 0.1 * j;
            xyz[p][2] = 0.1 * xyz[p][0] * (4 - xyz[p][1]) * xyz[p][1];
            height[p] = (float)xyz[p][2];
        }
    for (int c = 0; c < 2 * STRIP * WIDE; c++) {
        int square = c / 2, p = square / WIDE * (WIDE + 1) + square % WIDE, upper = c % 2;
        corners[c][0] = p + upper;
        corners[c][1] = p + WIDE + 1 + upper;
        corners[c][2] = upper ? p + WIDE + 1 : p + 1;
        offsets[c + 1] = offsets[c] + 3;
        kinds[c] = 5; /* triangle */
        owner[c] = rank;
    }
}

int main(int argc, char **argv) {
    int rank;
    sago_mesh *mesh;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const char *path = argc > 1 ? argv[1] : "sheet.vtu", *end = strrchr(path, '.');
    make_strip(rank);
    check(sago_mesh_begin(MPI_COMM_WORLD, path, end && strcmp(end, ".vtu") == 0 ? SAGO_MESH_VTU : SAGO_MESH_VTK,
                          MPI_INFO_NULL, &mesh));
    check(sago_mesh_points(mesh, (STRIP + 1) * (WIDE + 1), MPI_DOUBLE, xyz));
    check(sago_mesh_cells(mesh, 2 * STRIP * WIDE, offsets, corners[0], kinds));
    check(sago_mesh_field(mesh, SAGO_MESH_AT_POINTS, "height", MPI_FLOAT, 1, height));
    check(sago_mesh_field(mesh, SAGO_MESH_AT_CELLS, "rank", MPI_INT32_T, 1, owner));
    check(sago_mesh_end(&mesh));
    MPI_Finalize();
    return 0;
}
