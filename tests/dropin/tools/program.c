/* Three collective calls, one in atomic mode, and two independent ones; on every rank. */
#include <mpi.h>
#include <string.h>

int main(int argc, char **argv) {
    MPI_File file;
    int rank, wrong = 0;
    char mine[100], back[100];
    MPI_Offset at;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    memset(mine, 'a' + rank, sizeof mine);
    wrong += MPI_File_open(MPI_COMM_WORLD, "out", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    wrong += MPI_File_write_at_all(file, 200 * rank, mine, 100, MPI_BYTE, MPI_STATUS_IGNORE);
    wrong += MPI_File_write_at(file, 200 * rank + 100, mine, 100, MPI_BYTE, MPI_STATUS_IGNORE);
    wrong += MPI_File_seek(file, 200 * rank, MPI_SEEK_SET);
    wrong += MPI_File_read_all(file, back, 100, MPI_BYTE, MPI_STATUS_IGNORE);
    wrong += memcmp(mine, back, 100) != 0;
    wrong += MPI_File_read(file, back, 100, MPI_BYTE, MPI_STATUS_IGNORE);
    wrong += memcmp(mine, back, 100) != 0;
    wrong += MPI_File_get_position(file, &at);
    wrong += at != 200 * rank + 200;
    wrong += MPI_File_set_atomicity(file, 1);
    wrong += MPI_File_write_at_all(file, 200 * rank, mine, 100, MPI_BYTE, MPI_STATUS_IGNORE);
    wrong += MPI_File_close(&file);
    MPI_Finalize();
    return wrong != 0;
}
