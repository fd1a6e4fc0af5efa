/* Files of all ranks, of some, and of each alone, in turn; and a communicator of neighbours in storage, which is
 * there with Sago only: all ranks get one, or none does. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { N = 100, NEIGHBORHOOD = 0x5a60 };
static int rank, wrong;

static void use(MPI_Comm comm, const char *name) {
    MPI_File file;
    MPI_Request request;
    int place;
    char mine[N], back[N];
    MPI_Comm_rank(comm, &place);
    memset(mine, 'a' + rank, N);
    wrong += MPI_File_open(comm, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file) != MPI_SUCCESS;
    wrong += MPI_File_write_at_all(file, N * place, mine, N, MPI_BYTE, MPI_STATUS_IGNORE) != MPI_SUCCESS;
    wrong += MPI_File_iread_at_all(file, N * place, back, N, MPI_BYTE, &request) != MPI_SUCCESS;
    wrong += MPI_Wait(&request, MPI_STATUS_IGNORE) != MPI_SUCCESS || memcmp(mine, back, N) != 0;
    wrong += MPI_File_set_size(file, 1000) != MPI_SUCCESS;
    wrong += MPI_File_close(&file) != MPI_SUCCESS;
}

int main(int argc, char **argv) {
    char name[32];
    int failed, sum = 0;
    MPI_Comm some, near = MPI_COMM_NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, 0, &some);
    for (int i = 0; i < 3; i++) {
        use(MPI_COMM_WORLD, "out");
        (void)snprintf(name, sizeof name, "some-%d", rank / 2);
        use(some, name);
        (void)snprintf(name, sizeof name, "own-%d", rank);
        use(MPI_COMM_SELF, name);
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    failed = MPI_Comm_split_type(MPI_COMM_WORLD, NEIGHBORHOOD, 0, MPI_INFO_NULL, &near) != MPI_SUCCESS;
    MPI_Allreduce(&failed, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    wrong += sum != 3;
    MPI_Comm_free(&some);
    MPI_Finalize();
    if (wrong)
        printf("rank %d: %d calls went wrong\n", rank, wrong);
    return wrong != 0;
}
