/* RUN: n=1,2,4 */
/* The shared file pointer belongs to the MPI library; collective calls neither move it nor lose what it wrote, and
 * the other way round. */
#include "dropin_check.h"

enum { N = 40 };
static char mine[N], back[N];

static long long shared_of(MPI_File file) {
    MPI_Offset at = -1;
    OK(MPI_File_get_position_shared(file, &at));
    return at;
}

/* In the order of ranks, with counts of their own, between collective calls. */
static void ordered(void) {
    MPI_File file = open_all("ordered", MODE_NEW);
    MPI_Status status;
    int length = 4 * (rank + 1), before = 2 * rank * (rank + 1), all = 2 * ranks * (ranks + 1);
    OK(MPI_File_write_at_all(file, 1000 + N * rank, mine, N, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_write_ordered(file, mine, length, MPI_BYTE, &status));
    CHECK_INT(count_in(&status, MPI_BYTE), length);
    meet();
    CHECK_INT(shared_of(file), all);
    CHECK_INT(position_of(file), 0);
    meet();
    OK(MPI_File_write_ordered_begin(file, mine, length, MPI_BYTE));
    OK(MPI_File_write_ordered_end(file, mine, &status));
    CHECK_INT(count_in(&status, MPI_BYTE), length);
    meet();
    for (int i = 0; i < 2; i++) {
        OK(MPI_File_read_at_all(file, i * all + before, back, length, MPI_BYTE, MPI_STATUS_IGNORE));
        CHECK(memcmp(back, mine, (size_t)length) == 0);
    }
    meet();
    OK(MPI_File_seek_shared(file, 1000, MPI_SEEK_SET));
    OK(MPI_File_read_ordered(file, back, N, MPI_BYTE, &status)); /* what the collective call wrote */
    CHECK(memcmp(back, mine, N) == 0);
    OK(MPI_File_close(&file));
}

/* In any order, each piece whole; a view counts etypes and starts anew. */
static void shared(void) {
    MPI_File file = open_all("shared", MODE_NEW);
    int found[64] = {0};
    OK(MPI_File_set_view(file, 8, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    CHECK_INT(shared_of(file), 0);
    meet();
    OK(MPI_File_write_shared(file, mine, N / 4, MPI_INT, MPI_STATUS_IGNORE));
    meet();
    CHECK_INT(shared_of(file), N / 4 * ranks);
    OK(MPI_File_write_at_all(file, N / 4 * (ranks + rank), mine, N / 4, MPI_INT, MPI_STATUS_IGNORE));
    meet();
    for (int r = 0; r < ranks; r++) {
        OK(MPI_File_read_at_all(file, N / 4 * r, back, N / 4, MPI_INT, MPI_STATUS_IGNORE));
        for (int whose = 0; whose < ranks; whose++)
            found[whose] += filled(back, 0, N, whose);
    }
    for (int whose = 0; whose < ranks; whose++)
        CHECK_INT(found[whose], 1);
    meet();
    OK(MPI_File_read_shared(file, back, N / 4, MPI_INT, MPI_STATUS_IGNORE)); /* some rank's, all different ones */
    int whose = 0;
    while (whose < ranks && !filled(back, 0, N, whose))
        whose++;
    CHECK(whose < ranks);
    int sum = 0;
    MPI_Allreduce(&whose, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK_INT(sum, ranks * (ranks - 1) / 2);
    CHECK_INT(position_of(file), 0);
    OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    CHECK_INT(shared_of(file), 0);
    OK(MPI_File_close(&file));
}

/* Two handles of a file have two shared pointers; nothing of them is left on the disk. */
static void handles(void) {
    MPI_File one = open_all("handles", MODE_NEW), two = open_all("handles", MPI_MODE_RDWR);
    OK(MPI_File_write_ordered(one, mine, N, MPI_BYTE, MPI_STATUS_IGNORE));
    meet();
    /* OMPIO has one a file, and ROMIO one for all that the process opens by that name within a second. */
    CHECK_INT_OR(true, shared_of(two), 0);
    OK(MPI_File_read_ordered(two, back, N, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK_OR(true, memcmp(back, mine, N) == 0);
    expect_stat("shared_pointer", 5 * ranks);
    OK(MPI_File_close(&one));
    OK(MPI_File_close(&two));
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    fill(mine, 0, N, rank);
    ordered();
    shared();
    handles();
    return check_end();
}
