/* RUN: n=1,2,4 */
/* The individual file pointer: moved by collective and independent calls alike, never by explicit offsets. */
#include "dropin_check.h"

enum { BLOCK = 8 };

/* Ranks take turns of two ints; the pointer counts ints. */
static void mixed(void) {
    MPI_File file = open_all("mixed", MODE_NEW);
    MPI_Datatype type = turns_of(2, MPI_INT);
    int mine[BLOCK], back[3 * BLOCK];
    fill(mine, 0, sizeof mine, rank);
    OK(MPI_File_set_view(file, 8 * rank, MPI_INT, type, "native", MPI_INFO_NULL));
    CHECK_INT(position_of(file), 0);
    OK(MPI_File_write_all(file, mine, BLOCK, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_INT(position_of(file), BLOCK);
    OK(MPI_File_write_at_all(file, 2 * BLOCK, mine, BLOCK, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_INT(position_of(file), BLOCK);
    OK(MPI_File_write(file, mine, BLOCK, MPI_INT,
                      MPI_STATUS_IGNORE)); /* independent: goes on where write_all ended */
    CHECK_INT(position_of(file), 2 * BLOCK);
    OK(MPI_File_write_all(file, mine, rank % 2 ? 0 : 1, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_INT(position_of(file), 2 * BLOCK + (rank % 2 ? 0 : 1));
    OK(MPI_File_sync(file));
    meet();
    OK(MPI_File_seek(file, 3, MPI_SEEK_SET));
    OK(MPI_File_read_all(file, back, 2, MPI_INT, MPI_STATUS_IGNORE));
    CHECK(memcmp(back, mine + 3, 8) == 0);
    OK(MPI_File_seek(file, -1, MPI_SEEK_CUR));
    OK(MPI_File_read(file, back, 2, MPI_INT, MPI_STATUS_IGNORE));
    CHECK(memcmp(back, mine + 4, 8) == 0);
    CHECK_INT(position_of(file), 6);
    OK(MPI_File_read_all(file, back, 2, MPI_INT, MPI_STATUS_IGNORE));
    CHECK(memcmp(back, mine + 6, 8) == 0);
    OK(MPI_File_read_at_all(file, 0, back, 3 * BLOCK, MPI_INT, MPI_STATUS_IGNORE));
    for (int i = 0; i < 3; i++)
        CHECK(memcmp(back + i * BLOCK, mine, i == 2 ? 4 : sizeof mine) == 0);
    CHECK_INT(position_of(file), BLOCK);
    MPI_Offset bytes = -1;
    OK(MPI_File_get_byte_offset(file, position_of(file), &bytes));
    CHECK_INT(bytes, 8 * rank + BLOCK / 2 * 8 * ranks);
    /* a new view starts anew */
    OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    CHECK_INT(position_of(file), 0);
    OK(MPI_File_close(&file));
    MPI_Type_free(&type);
}

/* The file is read to its end in steps, as loops do; a short read moves the pointer by what was asked for. */
static void to_the_end(void) {
    MPI_File file = open_all("end", MODE_NEW);
    char bytes[64];
    MPI_Status status;
    int sum = 0, got;
    OK(MPI_File_set_size(file, 100));
    for (int step = 0; step < 4; step++) {
        OK(MPI_File_read_all(file, bytes, 40, MPI_BYTE, &status));
        got = count_in(&status, MPI_BYTE);
        CHECK_INT_OR(PLAIN, got, step < 2 ? 40 : step == 2 ? 20 : 0);
        CHECK_INT_OR(PLAIN_MPICH && ranks == 1, position_of(file), 40 * (step + 1));
        sum += got;
    }
    CHECK_INT_OR(PLAIN, sum, 100);
    OK(MPI_File_close(&file));
}

/* Another size than the etype's: pointers count etypes, data bytes. */
static void etypes(void) {
    MPI_File file = open_all("etypes", MODE_NEW);
    MPI_Datatype six;
    char mine[48], back[48];
    MPI_Type_contiguous(6, MPI_CHAR, &six);
    MPI_Type_commit(&six);
    fill(mine, 0, sizeof mine, rank);
    OK(MPI_File_set_view(file, 1000 * rank, six, six, "native", MPI_INFO_NULL));
    OK(MPI_File_write_all(file, mine, 3, MPI_DOUBLE, MPI_STATUS_IGNORE)); /* 24 bytes: 4 etypes */
    CHECK_INT(position_of(file), 4);
    OK(MPI_File_write_all(file, mine + 24, 2, six, MPI_STATUS_IGNORE));
    CHECK_INT(position_of(file), 6);
    OK(MPI_File_seek(file, 1, MPI_SEEK_SET));
    OK(MPI_File_read_all(file, back, 5, six, MPI_STATUS_IGNORE));
    CHECK_INT(position_of(file), 6);
    CHECK(memcmp(back, mine + 6, 30) == 0);
    OK(MPI_File_close(&file));
    MPI_Type_free(&six);
}

static void append(void) {
    char mine[10], all[1000];
    MPI_File file = open_all("append", MODE_NEW);
    memset(mine, 'a', sizeof mine);
    if (rank == 0)
        OK(MPI_File_write(file, mine, 10, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
    meet();
    file = open_all("append", MPI_MODE_WRONLY | MPI_MODE_APPEND);
    CHECK_INT(position_of(file), 10);
    OK(MPI_File_seek(file, 10 * rank, MPI_SEEK_CUR));
    memset(mine, 'b' + rank, sizeof mine);
    OK(MPI_File_write_all(file, mine, 10, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK_INT(position_of(file), 20 + 10 * rank);
    OK(MPI_File_write_at_all(file, 5, mine, rank == 0 ? 2 : 0, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
    memset(all, 'a', 10);
    memset(all + 5, 'b', 2);
    for (int r = 0; r < ranks; r++)
        memset(all + 10 + 10 * r, 'b' + r, 10);
    CHECK_FILE("append", all, 10 + 10 * ranks);
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    mixed();
    to_the_end();
    etypes();
    append();
    return check_end();
}
