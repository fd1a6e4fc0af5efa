/* Declared I/O: three arrays of a simulation's particles are announced once, then written step after step.
 * Sago plans and moves them together; the second step moves no metadata.
 *
 *     mpiexec -n 4 declared [FILE] */
#include <sago/sago.h>

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { PARTICLES = 1000, STEPS = 2 }; /* PARTICLES: particles of one rank */

static double position[PARTICLES][3], position_back[PARTICLES][3];
static float mass[PARTICLES], mass_back[PARTICLES];
static int64_t id[PARTICLES], id_back[PARTICLES];

static void check(sago_status status) {
    if (status == SAGO_OK)
        return;
    fprintf(stderr, "%s\n", sago_error_message());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void compute(int rank, int step) {
    for (int i = 0; i < PARTICLES; i++) {
        for (int axis = 0; axis < 3; axis++)
            position[i][axis] = rank + 0.001 * i + 10.0 * axis + 100.0 * step;
        mass[i] = (float)(i + step);
        id[i] = (int64_t)rank * PARTICLES + i;
    }
}

static int same(void) {
    return memcmp(position, position_back, sizeof position) == 0 && memcmp(mass, mass_back, sizeof mass) == 0 &&
           memcmp(id, id_back, sizeof id) == 0;
}

int main(int argc, char **argv) {
    const char *path = argc > 1 ? argv[1] : "declared.dat";
    int rank, ranks, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);

    /* A step in the file: all positions, then all masses, then all ids; each rank's part in order of ranks. */
    MPI_Offset masses = (MPI_Offset)sizeof position * ranks;
    MPI_Offset ids = masses + (MPI_Offset)sizeof mass * ranks;
    MPI_Offset step_bytes = ids + (MPI_Offset)sizeof id * ranks;
    sago_var vars[3] = {SAGO_VAR_INIT, SAGO_VAR_INIT, SAGO_VAR_INIT};
    vars[0].offset = (MPI_Offset)sizeof position * rank;
    vars[0].count = 3 * PARTICLES;
    vars[0].type = MPI_DOUBLE;
    vars[1].offset = masses + (MPI_Offset)sizeof mass * rank;
    vars[1].count = PARTICLES;
    vars[1].type = MPI_FLOAT;
    vars[2].offset = ids + (MPI_Offset)sizeof id * rank;
    vars[2].count = PARTICLES;
    vars[2].type = MPI_INT64_T;

    sago_file *file;
    sago_series *series;
    check(sago_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file));
    check(sago_declare(file, 3, vars, &series));
    for (int step = 0; step < STEPS; step++) {
        compute(rank, step);
        if (step > 0)
            check(sago_series_next(series, step * step_bytes));
        check(sago_series_write(series, 0, position));
        check(sago_series_write(series, 1, mass));
        check(sago_series_write(series, 2, id));
        check(sago_series_complete(series)); /* the arrays may change again */
    }
    for (int step = 0; step < STEPS; step++) {
        check(sago_series_next(series, step * step_bytes));
        check(sago_series_read(series, 0, position_back));
        check(sago_series_read(series, 1, mass_back));
        check(sago_series_read(series, 2, id_back));
        check(sago_series_complete(series));
        compute(rank, step);
        wrong |= !same();
    }
    check(sago_series_free(&series));
    check(sago_close(&file));

    printf("rank %d: %s\n", rank, wrong ? "WRONG: read back something else" : "read back what it wrote");
    MPI_Finalize();
    return wrong;
}
