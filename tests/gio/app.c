/* For test_preload.sh: says who opened a file, and what PnetCDF would be told. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef WITHOUT_GIO
#include <mpi.h>

static const char *who(void) { return "nobody"; }
#else
#include <gio.h>

static const char *who(void) {
    GIO_File file = GIO_FILE_NULL;
    int code = GIO_open(MPI_COMM_WORLD, "file", O_CREAT | O_RDWR, MPI_INFO_NULL, &file);
    if (code == GIO_NOERR && GIO_close(&file) == GIO_NOERR)
        return "Sago";
    return code == GIO_EFSTYPE && GIO_strerrno(code) ? "GIO" : "nobody";
}
#endif

int main(int argc, char **argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const char *opened = who(), *hints = getenv("PNETCDF_HINTS");
    if (rank == 0)
        printf("opened by %s, hints '%s'\n", opened, hints ? hints : "");
    MPI_Finalize();
    return 0;
}
