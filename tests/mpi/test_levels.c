/* RUN: n=2,3 */
/* Ranks that asked MPI for different levels of threads open files together: which of Sago's teams a file gets is
 * decided alike on all of them. */
#include "mpi/check.h"

enum { FILES = 4 };

int main(int argc, char **argv) {
    /* The launchers' variables: MPI is not there yet to say who this is. */
    const char *number = getenv("PMI_RANK") ? getenv("PMI_RANK") : getenv("OMPI_COMM_WORLD_RANK");
    int level = number && atoi(number) == 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, provided;
    sago_file *files[FILES] = {NULL};
    MPI_Init_thread(&argc, &argv, level, &provided);
    check_ready();
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < FILES; i++) {
            char name[16];
            int64_t mine = rank + i, back = 0;
            (void)snprintf(name, sizeof name, "data-%d", i);
            CHECK_OK(sago_open(MPI_COMM_WORLD, scratch(name), MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL,
                               &files[i]));
            CHECK_OK(sago_write_at_all(files[i], rank * 8, &mine, sizeof mine, MPI_BYTE, NULL));
            CHECK_OK(sago_read_at_all(files[i], rank * 8, &back, sizeof back, MPI_BYTE, NULL));
            CHECK(back == mine);
        }
        for (int i = 0; i < FILES; i++)
            CHECK_OK(sago_close(&files[i]));
    }
    return check_end();
}
