/* RUN: n=1,2,4 */
/* Atomic mode: what several ranks write to the same place in one call is wholly one rank's, also through views
 * with gaps; the mode is per file, can be switched, and both modes see each other's data.  Such calls are the MPI
 * library's, with Sago too; OMPIO is not atomic, but made so in independent calls, by which collective ones go. */
#include "dropin_check.h"

enum { N = 3000, ROUNDS = 10 };
static unsigned char mine[N], back[N];

static int mode_of(MPI_File file) {
    int flag = -1;
    OK(MPI_File_get_atomicity(file, &flag));
    return flag;
}

/* Whose bytes are these?  -1: not all of one rank. */
static int owner_of(const unsigned char *bytes) {
    for (int r = 0; r < ranks; r++)
        if (filled(bytes, 0, N, r))
            return r;
    return -1;
}

static void contiguous(void) {
    MPI_File file = open_all("contiguous", MODE_NEW);
    CHECK_INT(mode_of(file), 0);
    OK(MPI_File_set_atomicity(file, 1));
    CHECK_INT(mode_of(file), 1);
    for (int round = 0; round < ROUNDS; round++) {
        OK(MPI_File_write_at_all(file, 100, mine, N, MPI_BYTE, MPI_STATUS_IGNORE));
        meet();
        OK(MPI_File_read_at_all(file, 100, back, N, MPI_BYTE, MPI_STATUS_IGNORE));
        CHECK_OR(PLAIN_OPENMPI, owner_of(back) >= 0);
        meet();
    }
    OK(MPI_File_close(&file));
}

/* The same places, three bytes of every ten. */
static void strided(void) {
    MPI_File file = open_all("strided", MODE_NEW);
    MPI_Datatype type;
    MPI_Type_vector(N / 3, 3, 10, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    OK(MPI_File_set_view(file, 7, MPI_BYTE, type, "native", MPI_INFO_NULL));
    OK(MPI_File_set_atomicity(file, 1));
    OK(MPI_File_write_at_all(file, 0, mine, N, MPI_BYTE, MPI_STATUS_IGNORE));
    meet();
    OK(MPI_File_read_at_all(file, 0, back, N, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK_OR(PLAIN_OPENMPI, owner_of(back) >= 0);
    meet();
    OK(MPI_File_close(&file));
    MPI_Type_free(&type);
}

/* Rank 0 writes while the others read, in as many pieces: they find all of the old bytes or all of the new. */
static void independent(const char *name, bool has_name) {
    MPI_File file = open_all(name, MODE_NEW);
    MPI_Datatype type;
    unsigned char bytes[N] = {0};
    MPI_Type_vector(N, 1, 2, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    OK(MPI_File_set_view(file, 0, MPI_BYTE, type, "native", MPI_INFO_NULL));
    OK(MPI_File_write_at_all(file, 0, bytes, rank == 0 ? N : 0, MPI_BYTE, MPI_STATUS_IGNORE));
    if (rank == 0 && !has_name)
        CHECK(unlink(name) == 0);
    meet();
    OK(MPI_File_set_atomicity(file, 1));
    for (int round = 1; round <= ROUNDS; round++) {
        memset(bytes, rank == 0 ? round : 0xff, N);
        meet();
        if (rank == 0)
            OK(MPI_File_write_at(file, 0, bytes, N, MPI_BYTE, MPI_STATUS_IGNORE));
        else
            OK(MPI_File_read_at(file, 0, bytes, N, MPI_BYTE, MPI_STATUS_IGNORE));
        CHECK_OR(PLAIN_OPENMPI,
                 memcmp(bytes, bytes + 1, N - 1) == 0 && bytes[0] >= round - 1 && bytes[0] <= round);
        meet();
    }
    OK(MPI_File_close(&file));
    MPI_Type_free(&type);
}

/* Without it, then with it, then without: pointers and data go on. */
static void switched(void) {
    MPI_File file = open_all("switched", MODE_NEW), other = open_all("switched", MPI_MODE_RDWR);
    int part = N / 3;
    OK(MPI_File_seek(file, N * rank, MPI_SEEK_SET));
    OK(MPI_File_write_all(file, mine, part, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_set_atomicity(file, 1));
    CHECK_INT(mode_of(other), 0);
    CHECK_INT(position_of(file), N * rank + part);
    OK(MPI_File_write_all(file, mine + part, part, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_set_atomicity(file, 0));
    CHECK_INT(position_of(file), N * rank + 2 * part);
    OK(MPI_File_write_all(file, mine + 2 * part, part, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_sync(file));
    meet();
    OK(MPI_File_sync(other));
    OK(MPI_File_read_at_all(other, N * rank, back, N, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK(memcmp(mine, back, N) == 0);
    expect_stat("atomic", (2 * ROUNDS + 2 + 1) * ranks);
    OK(MPI_File_close(&other));
    OK(MPI_File_close(&file));
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    fill(mine, 0, N, rank);
    contiguous();
    strided();
    independent("independent", true);
    independent("removed", false);
    switched();
    return check_end();
}
