/* A 2-D array of doubles, split into blocks over the ranks, is written to one shared file as if it were one
 * array in one memory, and read back.
 *
 *     mpiexec -n 4 write_view [FILE] */
#include <sago/sago.h>

#include <stdio.h>
#include <string.h>

enum { ROWS = 96, COLUMNS = 64 }; /* size of a rank's block */

static double block[ROWS][COLUMNS], back[ROWS][COLUMNS];

static void check(sago_status status) {
    if (status == SAGO_OK)
        return;
    fprintf(stderr, "%s\n", sago_error_message());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char **argv) {
    const char *path = argc > 1 ? argv[1] : "write_view.dat";
    int rank, ranks, grid[2] = {0, 0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Dims_create(ranks, 2, grid);
    for (int i = 0; i < ROWS * COLUMNS; i++)
        block[i / COLUMNS][i % COLUMNS] = 1e6 * rank + i;

    /* Where this rank's block lies in the whole array. */
    int whole[2] = {grid[0] * ROWS, grid[1] * COLUMNS}, part[2] = {ROWS, COLUMNS};
    int start[2] = {rank / grid[1] * ROWS, rank % grid[1] * COLUMNS};
    MPI_Datatype mine;
    MPI_Type_create_subarray(2, whole, part, start, MPI_ORDER_C, MPI_DOUBLE, &mine);
    MPI_Type_commit(&mine);

    sago_file *file;
    check(sago_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file));
    check(sago_set_view(file, 0, MPI_DOUBLE, mine));
    check(sago_write_at_all(file, 0, block, ROWS * COLUMNS, MPI_DOUBLE, NULL));
    check(sago_read_at_all(file, 0, back, ROWS * COLUMNS, MPI_DOUBLE, NULL));
    check(sago_close(&file));

    int wrong = memcmp(block, back, sizeof block) != 0;
    printf("rank %d: %s\n", rank, wrong ? "WRONG: read back something else" : "read back what it wrote");
    MPI_Type_free(&mine);
    MPI_Finalize();
    return wrong;
}
