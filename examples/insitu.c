/* In-situ analysis through local storage: of the ranks that share a directory, some simulate and write, the others
 * read what was written there and analyse it.  Whoever produces and whoever consumes always see the same storage,
 * wherever the program runs: on a node's own disk, a rack's burst buffer or a global file system.
 *
 *   mpiexec -n 8 insitu [DIRECTORY]        default: the current directory
 *
 * A rank that shares the directory with nobody does both. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <sago/sago.h>

enum { STEPS = 3, CELLS = 10000 };

static void check(sago_status status) {
    if (status == SAGO_OK)
        return;
    fprintf(stderr, "%s\n", sago_error_message());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* The field of this step, 1 + step everywhere: its mean is known. */
static void simulate(int step, double field[CELLS]) {
    for (int i = 0; i < CELLS; i++)
        field[i] = 1 + step;
}

int main(int argc, char **argv) {
    static double field[CELLS];
    const char *dir = argc > 1 ? argv[1] : ".";
    char path[4096];
    MPI_Comm near;
    int rank, ranks, near_rank, near_ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);

    check(sago_comm_split_storage(MPI_COMM_WORLD, dir, SAGO_STORAGE_AUTO, rank, &near));
    MPI_Comm_rank(near, &near_rank);
    MPI_Comm_size(near, &near_ranks);

    /* The first half produces; consumer k of the other half reads what producer k wrote (the last one what is
     * left). */
    int producers = (near_ranks + 1) / 2, first_consumer = near_ranks > 1 ? producers : 0;
    int consumers = near_ranks - first_consumer;
    int first_rank = rank; /* names the neighbourhood, where several share one path */
    MPI_Bcast(&first_rank, 1, MPI_INT, 0, near);
    snprintf(path, sizeof path, "%s/insitu-%d.dat", dir, first_rank);

    sago_file *file;
    double sum = 0;
    check(sago_open(near, path, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file));
    for (int step = 0; step < STEPS; step++) {
        /* All of the neighbourhood call; producers bring data, then consumers take it. */
        int writes = near_rank < producers, cells = writes ? CELLS : 0;
        if (writes)
            simulate(step, field);
        check(sago_write_at_all(file, (MPI_Offset)near_rank * (MPI_Offset)sizeof field, field, cells, MPI_DOUBLE,
                                NULL));
        for (int base = 0; base < producers; base += consumers) {
            int from = base + near_rank - first_consumer;
            int reads = near_rank >= first_consumer && from < producers;
            MPI_Offset at = (MPI_Offset)(reads ? from : 0) * (MPI_Offset)sizeof field;
            check(sago_read_at_all(file, at, field, reads ? CELLS : 0, MPI_DOUBLE, NULL));
            for (int i = 0; reads && i < CELLS; i++)
                sum += field[i];
        }
    }
    check(sago_close(&file));

    double all = 0;
    int writers = near_rank < producers, all_writers = 0;
    MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&writers, &all_writers, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    int wrong = rank == 0 && all != (double)all_writers * CELLS * (STEPS * (STEPS + 1) / 2);
    if (rank == 0)
        printf("%d ranks, %d of them producers; mean of the field %.1f%s\n", ranks, all_writers,
               all / (double)all_writers / CELLS / STEPS, wrong ? ": WRONG" : "");
    MPI_Comm_free(&near);
    MPI_Finalize();
    return wrong;
}
