/* Rank 1 cannot open a file that the other ranks can: refused abort|tell.  It ends the job; or it tells the
 * others, whose next collective call on the file waits for nobody. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
    MPI_File file;
    char byte = 'x';
    int rank, failed, failures = 0, class = MPI_SUCCESS;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        (void)close(creat("refused", 0666));
    MPI_Barrier(MPI_COMM_WORLD);
    failed = MPI_File_open(MPI_COMM_WORLD, "refused", MPI_MODE_RDWR, MPI_INFO_NULL, &file) != MPI_SUCCESS;
    if (failed && strcmp(argv[1], "abort") == 0)
        MPI_Abort(MPI_COMM_WORLD, 41);
    MPI_Allreduce(&failed, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (!failed)
        MPI_Error_class(MPI_File_write_at_all(file, rank, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE), &class);
    printf("rank %d: %s, %d failed, then %s\n", rank, failed ? "failed" : "opened", failures,
           class == MPI_SUCCESS ? "nothing" : "an error");
    fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    _exit(0); /* the MPI library's own end would wait for its file */
}
