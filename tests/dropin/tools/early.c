/* Opens a file before MPI_Init, or after MPI_Finalize: an error of the program's.  early early|late */
#include <mpi.h>
#include <string.h>

int main(int argc, char **argv) {
    MPI_File file;
    if (argc > 1 && strcmp(argv[1], "late") == 0) {
        MPI_Init(&argc, &argv);
        MPI_Finalize();
    }
    return MPI_File_open(MPI_COMM_WORLD, "out", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file) != 0;
}
