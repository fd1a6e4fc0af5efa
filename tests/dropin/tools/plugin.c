/* A part of a program that is loaded by loader.c, and with it the MPI library: that is nowhere before.  A
 * collective write and read, a nonblocking one, and a view. */
#include <mpi.h>
#include <string.h>

int run(void);

int run(void) {
    MPI_File file;
    MPI_Request request;
    MPI_Datatype every_other;
    int rank, wrong = 0;
    char mine[100], back[100];
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    memset(mine, 'a' + rank, sizeof mine);
    wrong += MPI_Type_vector(10, 10, 20, MPI_BYTE, &every_other);
    wrong += MPI_Type_commit(&every_other);
    wrong += MPI_File_open(MPI_COMM_WORLD, "out", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    wrong += MPI_File_set_view(file, 10 * rank, MPI_BYTE, every_other, "native", MPI_INFO_NULL);
    wrong += MPI_File_write_at_all(file, 0, mine, 100, MPI_BYTE, MPI_STATUS_IGNORE);
    wrong += MPI_File_iread_at_all(file, 0, back, 100, MPI_BYTE, &request);
    wrong += MPI_Wait(&request, MPI_STATUS_IGNORE);
    wrong += memcmp(mine, back, 100) != 0;
    wrong += MPI_File_close(&file);
    wrong += MPI_Type_free(&every_other);
    MPI_Finalize();
    return wrong != 0;
}
