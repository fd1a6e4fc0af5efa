/* RUN: n=1,2,4 */
/* Nonblocking collective calls: real requests, mixed with the program's own and with blocking calls. */
#include "dropin_check.h"

enum { N = 1000 };

int main(int argc, char **argv) {
    char mine[N], more[N], back[N], token = 1, received = 0;
    MPI_Request requests[3];
    MPI_Status statuses[3];
    check_start(&argc, &argv);
    fill(mine, 0, N, rank);
    fill(more, N, N, rank);
    MPI_File file = open_all("file", MODE_NEW);
    OK(MPI_File_seek(file, N * rank, MPI_SEEK_SET));
    OK(MPI_File_iwrite_all(file, mine, N, MPI_BYTE, &requests[0]));
    CHECK_INT(position_of(file), N * (rank + 1));
    MPI_Isend(&token, 1, MPI_CHAR, (rank + 1) % ranks, 5, MPI_COMM_WORLD, &requests[1]);
    MPI_Irecv(&received, 1, MPI_CHAR, (rank + ranks - 1) % ranks, 5, MPI_COMM_WORLD, &requests[2]);
    OK(MPI_Waitall(3, requests, statuses));
    CHECK_INT(count_in(&statuses[0], MPI_BYTE), N);
    OK(MPI_File_write_at_all(file, N * (ranks + rank), more, N, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_iread_at_all(file, N * rank, back, N, MPI_BYTE, &requests[0]));
    OK(MPI_Wait(&requests[0], &statuses[0]));
    CHECK_INT(count_in(&statuses[0], MPI_BYTE), N);
    CHECK(memcmp(back, mine, N) == 0);
    OK(MPI_File_seek(file, N * (ranks + rank), MPI_SEEK_SET));
    OK(MPI_File_iread_all(file, back, N, MPI_BYTE, &requests[0]));
    int done = 0;
    while (!done)
        OK(MPI_Test(&requests[0], &done, MPI_STATUS_IGNORE));
    CHECK(memcmp(back, more, N) == 0);
    OK(MPI_File_iwrite_at_all(file, N * rank, more, N, MPI_BYTE, &requests[0]));
    OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    OK(MPI_File_read_at_all(file, N * rank, back, N, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK(memcmp(back, more, N) == 0);
    OK(MPI_File_close(&file));
    return check_end();
}
