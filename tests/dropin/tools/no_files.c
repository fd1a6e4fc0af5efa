/* A program without MPI-IO: what it is given, and the calls that the drop-in stands in front of all the same, each
 * CALLS times between two marks for steps.c. */
#include <dirent.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>

enum { CALLS = 50 };

static int entries(const char *path) {
    DIR *folder = opendir(path);
    int count = 0;
    while (folder && readdir(folder))
        count++;
    if (folder)
        closedir(folder);
    return count;
}

#define MEASURE(call)                                                                                             \
    do {                                                                                                          \
        call; /* found by the dynamic linker */                                                                   \
        raise(SIGUSR1);                                                                                           \
        for (int i = 0; i < CALLS; i++)                                                                           \
            call;                                                                                                 \
        raise(SIGUSR1);                                                                                           \
    } while (0)

int main(int argc, char **argv) {
    MPI_Request none = MPI_REQUEST_NULL;
    MPI_Comm comm;
    int level = -1, done, index;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &level);
    signal(SIGUSR1, SIG_IGN);
    MEASURE(MPI_Wait(&none, MPI_STATUS_IGNORE));
    MEASURE(MPI_Test(&none, &done, MPI_STATUS_IGNORE));
    MEASURE(MPI_Waitall(1, &none, MPI_STATUSES_IGNORE));
    MEASURE(MPI_Testall(1, &none, &done, MPI_STATUSES_IGNORE));
    MEASURE(MPI_Waitany(1, &none, &index, MPI_STATUS_IGNORE));
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm);
    MPI_Comm_free(&comm);
    /* "." and ".." and the folder itself are the same for everybody */
    printf("level %d, threads %d, descriptors %d\n", level, entries("/proc/self/task"), entries("/proc/self/fd"));
    return MPI_Finalize();
}
