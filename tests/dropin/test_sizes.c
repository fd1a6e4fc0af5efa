/* RUN: n=1,2,4 */
/* Sizes: cut and extended between collective calls, by whom it may be; holes stay holes. */
#include "dropin_check.h"

enum { N = 1 << 20 };
static char *mine, *back;

static long long size_of(MPI_File file) {
    MPI_Offset size = -1;
    OK(MPI_File_get_size(file, &size));
    return size;
}

static int read_count(MPI_File file, MPI_Offset offset) {
    MPI_Status status;
    memset(back, 7, N);
    OK(MPI_File_read_at_all(file, offset, back, N, MPI_BYTE, &status));
    return count_in(&status, MPI_BYTE);
}

/* Cut to nothing and written again: large enough for every way Sago has of writing. */
static void cut(void) {
    MPI_File file = open_all("cut", MODE_NEW);
    for (int i = 0; i < 4; i++) {
        OK(MPI_File_write_at_all(file, (MPI_Offset)N * rank, mine, N, MPI_BYTE, MPI_STATUS_IGNORE));
        meet();
        CHECK_INT(size_of(file), (long long)N * ranks);
        CHECK_INT(read_count(file, (MPI_Offset)N * rank), N);
        CHECK(memcmp(mine, back, N) == 0);
        meet();
        OK(MPI_File_set_size(file, i % 2 ? 0 : N / 2));
        CHECK_INT(size_of(file), i % 2 ? 0 : N / 2);
        int left = i % 2 || rank > 0 ? 0 : N / 2;
        CHECK_INT_OR(PLAIN, read_count(file, (MPI_Offset)N * rank), left);
        CHECK(filled(back, 0, left, 0));
        CHECK_OR(PLAIN, back[left] == 7 && back[N - 1] == 7);
        meet();
    }
    OK(MPI_File_close(&file));
}

/* By another handle, and behind everybody's back. */
static void cut_by_others(void) {
    MPI_File file = open_all("others", MODE_NEW), other = open_all("others", MPI_MODE_RDWR);
    for (int i = 0; i < 3; i++) {
        OK(MPI_File_write_at_all(file, (MPI_Offset)N * rank, mine, N, MPI_BYTE, MPI_STATUS_IGNORE));
        meet();
        if (i == 0)
            OK(MPI_File_set_size(other, 100));
        else if (rank == 0)
            CHECK(truncate("others", 100) == 0);
        meet();
        CHECK_INT_OR(PLAIN, read_count(file, 50), 50);
        if (i == 2 && rank == 0)
            OK(MPI_File_write_at(other, 0, mine, 10, MPI_BYTE, MPI_STATUS_IGNORE));
        meet();
    }
    OK(MPI_File_write_at_all(file, (MPI_Offset)N * rank, mine, N, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK_INT(read_count(other, (MPI_Offset)N * rank), N);
    CHECK(memcmp(mine, back, N) == 0);
    OK(MPI_File_close(&other));
    OK(MPI_File_close(&file));
}

/* Independent writes make the file longer; the next collective read knows. */
static void extended(void) {
    MPI_File file = open_all("extended", MODE_NEW);
    OK(MPI_File_preallocate(file, 1000));
    CHECK_INT(size_of(file), 1000);
    OK(MPI_File_preallocate(file, 10));
    CHECK_INT(size_of(file), 1000);
    CHECK_INT_OR(PLAIN, read_count(file, 0), 1000);
    meet();
    if (rank == ranks - 1)
        OK(MPI_File_write_at(file, 5000, mine, 100, MPI_BYTE, MPI_STATUS_IGNORE));
    meet();
    CHECK_INT_OR(PLAIN, read_count(file, 4000), 1100);
    CHECK(back[0] == 0 && back[999] == 0 && filled(back + 1000, 0, 100, ranks - 1));
    OK(MPI_File_set_size(file, 10000));
    CHECK_INT_OR(PLAIN, read_count(file, 9000), 1000);
    OK(MPI_File_close(&file));
}

/* Between what ranks write, nothing is written: not even what stood there a moment ago. */
static void holes(void) {
    MPI_File file = open_all("holes", MODE_NEW);
    MPI_Datatype type = turns_of(16, MPI_BYTE), sparse;
    OK(MPI_File_set_size(file, 64 * 100 * ranks));
    MPI_Type_create_resized(type, 0, 64 * ranks, &sparse);
    MPI_Type_commit(&sparse);
    OK(MPI_File_set_view(file, 64 * rank, MPI_BYTE, sparse, "native", MPI_INFO_NULL));
    OK(MPI_File_write_all(file, mine, 1600, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    CHECK_INT_OR(PLAIN, read_count(file, 0), 64 * 100 * ranks);
    bool right = true;
    for (int i = 0; i < 64 * 100 * ranks; i++) {
        int whose = i / 64 % ranks, at = i / (64 * ranks) * 16 + i % 64;
        right = right && (unsigned char)back[i] == (i % 64 < 16 ? byte_of(at, whose) : 0);
    }
    CHECK(right);
    OK(MPI_File_close(&file));
    MPI_Type_free(&type);
    MPI_Type_free(&sparse);
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    mine = malloc(N);
    back = malloc(N);
    fill(mine, 0, N, rank);
    cut();
    cut_by_others();
    extended();
    holes();
    free(mine);
    free(back);
    return check_end();
}
