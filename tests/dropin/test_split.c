/* RUN: n=1,2,4 */
/* Split collective calls: one at a time, the status belongs to the end, other calls in between. */
#include "dropin_check.h"

enum { N = 100 };
static char mine[N], other[N], back[N];

static void four_kinds(void) {
    MPI_File file = open_all("kinds", MODE_NEW);
    MPI_Status status;
    MPI_Offset here = (MPI_Offset)N * rank, there = (MPI_Offset)N * (ranks + rank);
    OK(MPI_File_seek(file, here, MPI_SEEK_SET));
    OK(MPI_File_write_all_begin(file, mine, N, MPI_BYTE));
    CHECK_INT(position_of(file), here + N); /* the pointer moves when the call begins */
    OK(MPI_File_write_all_end(file, mine, &status));
    CHECK_INT(count_in(&status, MPI_BYTE), N);
    OK(MPI_File_write_at_all_begin(file, there, mine, N / 2, MPI_BYTE));
    OK(MPI_File_write_at(file, there + N / 2, mine + N / 2, N / 2, MPI_BYTE, MPI_STATUS_IGNORE)); /* independent */
    OK(MPI_File_write_at_all_end(file, mine, &status));
    CHECK_INT(count_in(&status, MPI_BYTE), N / 2);
    meet();
    OK(MPI_File_seek(file, there, MPI_SEEK_SET));
    memset(back, 0, N);
    OK(MPI_File_read_all_begin(file, back, N, MPI_BYTE));
    OK(MPI_File_read_all_end(file, back, &status));
    CHECK_INT(count_in(&status, MPI_BYTE), N);
    CHECK(memcmp(back, mine, N) == 0);
    CHECK_INT(position_of(file), there + N);
    memset(back, 0, N);
    OK(MPI_File_read_at_all_begin(file, here, back, N, MPI_BYTE));
    OK(MPI_File_read_at_all_end(file, back, MPI_STATUS_IGNORE));
    CHECK(memcmp(back, mine, N) == 0);
    OK(MPI_File_close(&file));
}

/* Two files at once; one ends before it is used again. */
static void two_files(void) {
    MPI_File a = open_all("first", MODE_NEW), b = open_all("second", MODE_NEW);
    MPI_Status status;
    OK(MPI_File_write_at_all_begin(a, N * rank, mine, N, MPI_BYTE));
    OK(MPI_File_write_at_all_begin(b, N * rank, other, N - 1, MPI_BYTE));
    OK(MPI_File_write_at_all_end(a, mine, &status));
    CHECK_INT(count_in(&status, MPI_BYTE), N);
    OK(MPI_File_read_at_all_begin(a, N * rank, back, N, MPI_BYTE));
    OK(MPI_File_write_at_all_end(b, other, &status));
    CHECK_INT(count_in(&status, MPI_BYTE), N - 1);
    OK(MPI_File_read_at_all_end(a, back, &status));
    CHECK(memcmp(back, mine, N) == 0);
    OK(MPI_File_close(&a));
    OK(MPI_File_close(&b));
}

/* MPI_ERR_IO as ROMIO has it, anything from OMPIO; what was begun can still be ended. */
static void misuse(void) {
    MPI_File file = open_all("misuse", MODE_NEW);
    OK(MPI_File_write_at_all_begin(file, N * rank, mine, N, MPI_BYTE));
    CHECK(MPI_File_write_all_begin(file, mine, N, MPI_BYTE) != MPI_SUCCESS);
    CHECK(MPI_File_read_at_all_begin(file, 0, back, N, MPI_BYTE) != MPI_SUCCESS);
    OK(MPI_File_write_at_all_end(file, mine, MPI_STATUS_IGNORE));
    if (!PLAIN_OPENMPI) /* crashes */
        CHECK(MPI_File_write_at_all_end(file, mine, MPI_STATUS_IGNORE) != MPI_SUCCESS);
    OK(MPI_File_close(&file));
}

/* What the MPI library has begun it must end. */
static void handed(void) {
    MPI_File file = open_all("handed", MODE_NEW);
    MPI_Status status;
    OK(MPI_File_set_atomicity(file, 1));
    OK(MPI_File_write_at_all_begin(file, N * rank, mine, N, MPI_BYTE));
    OK(MPI_File_write_at_all_end(file, mine, &status));
    CHECK_INT(count_in(&status, MPI_BYTE), N);
    OK(MPI_File_set_atomicity(file, 0));
    OK(MPI_File_read_at_all_begin(file, N * rank, back, N, MPI_BYTE));
    OK(MPI_File_read_at_all_end(file, back, &status));
    CHECK(memcmp(back, mine, N) == 0);
    expect_stat("atomic", ranks);
    OK(MPI_File_close(&file));
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    fill(mine, 0, N, rank);
    fill(other, 0, N, rank + 100);
    four_kinds();
    two_files();
    misuse();
    handed();
    return check_end();
}
