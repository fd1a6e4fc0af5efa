/* A tool after Sago, through which rank 1 cannot open "refused": without asking the MPI library, so that the other
 * ranks are left in there, or (-DAFTER) when the MPI library has opened the file on all ranks. */
#include <mpi.h>
#include <string.h>

int MPI_File_open(MPI_Comm comm, const char *path, int amode, MPI_Info info, MPI_File *file) {
    int rank, refused;
    MPI_Comm_rank(comm, &rank);
    refused = rank == 1 && strcmp(path, "refused") == 0;
#ifndef AFTER
    if (refused)
        return MPI_ERR_IO;
#endif
    int code = PMPI_File_open(comm, path, amode, info, file);
    return refused ? MPI_ERR_IO : code;
}
