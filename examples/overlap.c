/* Nonblocking writes: while one block is on its way to the file, the next one is computed.
 *
 *     mpiexec -n 4 overlap [FILE] */
#include <sago/sago.h>

#include <stdio.h>
#include <string.h>

enum { VALUES = 50000, STEPS = 6 }; /* VALUES: values of one rank */

static double block[2][VALUES], back[VALUES];

static void check(sago_status status) {
    if (status == SAGO_OK)
        return;
    fprintf(stderr, "%s\n", sago_error_message());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static double value_of(int rank, int step, int i) { return rank + 10.0 * step + 0.0001 * i; }

/* A long computation lets the writing go on now and then. */
static void compute(double *values, int rank, int step, sago_request **writing) {
    for (int i = 0; i < VALUES; i++) {
        int done;
        values[i] = value_of(rank, step, i);
        if (i % 10000 == 0)
            check(sago_test(writing, &done, NULL));
    }
}

int main(int argc, char **argv) {
    const char *path = argc > 1 ? argv[1] : "overlap.dat";
    int rank, ranks, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);

    sago_file *file;
    sago_request *writing = NULL; /* NULL is a request that is done */
    check(sago_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file));
    check(sago_set_view(file, 0, MPI_DOUBLE, MPI_DOUBLE));
    for (int step = 0; step < STEPS; step++) {
        double *values = block[step % 2]; /* the other one is Sago's until it has been waited for */
        compute(values, rank, step, &writing);
        check(sago_wait(&writing, NULL));
        MPI_Offset place = (MPI_Offset)(step * ranks + rank) * VALUES;
        check(sago_iwrite_at_all(file, place, values, VALUES, MPI_DOUBLE, &writing));
    }
    check(sago_wait(&writing, NULL));
    check(sago_read_at_all(file, (MPI_Offset)rank * VALUES, back, VALUES, MPI_DOUBLE, NULL));
    check(sago_close(&file));

    for (int i = 0; i < VALUES; i++)
        wrong += back[i] != value_of(rank, 0, i);
    if (rank == 0)
        printf("%d steps written while the next one was computed: %s\n", STEPS, wrong ? "WRONG" : "right");
    MPI_Finalize();
    return wrong != 0;
}
