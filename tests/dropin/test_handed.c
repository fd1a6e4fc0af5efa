/* RUN: n=1,2,4 */
/* What Sago leaves to the MPI library, mixed with what it takes: both see each other's data. */
#include "dropin_check.h"

enum { N = 64 };
static char mine[N], back[N];

/* Collective and checked: `times` blocks, alternately by calls that are and are not taken. */
static void atomic(void) {
    MPI_File file = open_all("atomic", MODE_NEW);
    int flag = -1;
    OK(MPI_File_write_at_all(file, N * rank, mine, N, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_set_atomicity(file, 1));
    OK(MPI_File_get_atomicity(file, &flag));
    CHECK_INT(flag, 1);
    OK(MPI_File_read_at_all(file, N * rank, back, N, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK(memcmp(mine, back, N) == 0);
    OK(MPI_File_write_at_all(file, N * (ranks + rank), mine, N, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_write_at_all(file, N * 2 * ranks, mine, N, MPI_BYTE, MPI_STATUS_IGNORE)); /* all the same place */
    OK(MPI_File_set_atomicity(file, 0));
    OK(MPI_File_read_at_all(file, N * (ranks + rank), back, N, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK(memcmp(mine, back, N) == 0);
    OK(MPI_File_read_at_all(file, N * 2 * ranks, back, N, MPI_BYTE, MPI_STATUS_IGNORE));
    int whose = -1;
    for (int r = 0; r < ranks; r++)
        if (filled(back, 0, N, r))
            whose = r;
    CHECK(whose >= 0);
    OK(MPI_File_close(&file));
    expect_stat("atomic", 3 * ranks);
}

/* The shared pointer is the MPI library's; so are ordered calls. */
static void shared(void) {
    MPI_File file = open_all("shared", MODE_NEW);
    MPI_Status status;
    MPI_Offset at = -1;
    OK(MPI_File_write_ordered(file, mine, N, MPI_BYTE, &status));
    CHECK_INT(count_in(&status, MPI_BYTE), N);
    OK(MPI_File_write_at_all(file, N * (ranks + rank), mine, N, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_get_position_shared(file, &at));
    CHECK_INT(at, N * ranks);
    meet();
    CHECK_INT(position_of(file), 0);
    OK(MPI_File_read_ordered_begin(file, back, N, MPI_BYTE));
    OK(MPI_File_read_ordered_end(file, back, &status));
    CHECK(memcmp(mine, back, N) == 0);
    meet();
    OK(MPI_File_write_shared(file, mine, N, MPI_BYTE, MPI_STATUS_IGNORE));
    meet();
    int found[64] = {0};
    for (int r = 0; r < ranks; r++) { /* in any order, each once */
        OK(MPI_File_read_at_all(file, N * (2 * ranks + r), back, N, MPI_BYTE, MPI_STATUS_IGNORE));
        for (int whose = 0; whose < ranks; whose++)
            found[whose] += filled(back, 0, N, whose);
    }
    for (int whose = 0; whose < ranks; whose++)
        CHECK_INT(found[whose], 1);
    OK(MPI_File_close(&file));
    expect_stat("shared_pointer", 2 * ranks);
}

/* In external32 numbers are big-endian. */
static void representation(void) {
    MPI_File file = open_all("external", MODE_NEW);
    int number = 0x01020304, again = 0;
    unsigned char file_bytes[256] = {0};
    OK(MPI_File_set_view(file, 4 * rank, MPI_INT, MPI_INT, "external32", MPI_INFO_NULL));
    OK(MPI_File_write_at_all(file, 0, &number, 1, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_read_at_all(file, 0, &again, 1, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_INT(again, number);
    OK(MPI_File_set_view(file, 4 * ranks, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    OK(MPI_File_write_at_all(file, rank, &number, 1, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
    for (int i = 0; i < 4 * ranks; i++) {
        file_bytes[i] = (unsigned char)(1 + i % 4);
        file_bytes[4 * ranks + i] = (unsigned char)(4 - i % 4);
    }
    CHECK_FILE("external", file_bytes, 8 * ranks);
    expect_stat("representation", 2 * ranks);
}

/* Names with a prefix, files that are none, sequential mode. */
static void not_taken(void) {
    MPI_File file;
    OK(MPI_File_open(MPI_COMM_WORLD, "/dev/null", MPI_MODE_WRONLY, MPI_INFO_NULL, &file));
    OK(MPI_File_write_all(file, mine, N, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
    expect_stat("special_file", ranks);
    file = open_all("sequential", MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL);
    OK(MPI_File_write_shared(file, mine, N, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
    meet();
    CHECK_INT(plain_size("sequential"), N * ranks);
    file = open_all("ufs:prefixed", MODE_NEW);
    OK(MPI_File_write_at_all(file, N * rank, mine, N, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
    meet();
    CHECK_INT(plain_size(plain_size("prefixed") >= 0 ? "prefixed" : "ufs:prefixed"), N * ranks);
    expect_stat("prefix", ranks);
    expect_stat("files", 6 * ranks);
    expect_stat("files_taken", 3 * ranks);
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    fill(mine, 0, N, rank);
    atomic();
    shared();
    representation();
    not_taken();
    return check_end();
}
