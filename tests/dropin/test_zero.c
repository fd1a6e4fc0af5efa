/* RUN: n=1,2,4 */
/* Zero counts: ranks with nothing to do still take part, in every kind of call; their status says 0, their buffer
 * is not looked at, and their pointer stays. */
#include "dropin_check.h"

enum { N = 24, ROUNDS = 3 };
static char mine[N], back[N];

/* Who has something to do in this round: one rank, all but one, nobody. */
static bool busy(int round) { return round == 0 ? rank == ranks - 1 : round == 1 ? rank != 0 : false; }

static void check_moved(const MPI_Status *status, int bytes) {
    CHECK_INT(count_in(status, MPI_BYTE), bytes);
    CHECK_INT(count_in(status, MPI_INT), bytes / 4);
}

static void blocking(void) {
    MPI_File file = open_all("blocking", MODE_NEW);
    MPI_Status status;
    for (int round = 0; round < ROUNDS; round++) {
        int bytes = busy(round) ? N : 0;
        MPI_Offset at = N * (ranks * round + rank);
        OK(MPI_File_write_at_all(file, at, bytes ? mine : NULL, bytes, MPI_BYTE, &status));
        check_moved(&status, bytes);
        OK(MPI_File_seek(file, at, MPI_SEEK_SET));
        OK(MPI_File_write_all(file, bytes ? mine : NULL, bytes / 4, MPI_INT, &status));
        check_moved(&status, bytes);
        CHECK_INT(position_of(file), at + bytes);
        memset(back, 7, N);
        OK(MPI_File_read_at_all(file, at, bytes ? back : NULL, bytes, MPI_BYTE, &status));
        check_moved(&status, bytes);
        CHECK(bytes ? memcmp(mine, back, N) == 0 : back[0] == 7);
        OK(MPI_File_seek(file, at, MPI_SEEK_SET));
        OK(MPI_File_read_all(file, back, bytes, MPI_BYTE, &status));
        check_moved(&status, bytes);
        CHECK_INT(position_of(file), at + bytes);
        meet();
    }
    OK(MPI_File_close(&file));
}

static void split(void) {
    MPI_File file = open_all("split", MODE_NEW);
    MPI_Status status;
    for (int round = 0; round < ROUNDS; round++) {
        int bytes = busy(round) ? N : 0;
        MPI_Offset at = N * (ranks * round + rank);
        OK(MPI_File_write_at_all_begin(file, at, mine, bytes, MPI_BYTE));
        OK(MPI_File_write_at_all_end(file, mine, &status));
        check_moved(&status, bytes);
        OK(MPI_File_read_at_all_begin(file, at, back, bytes, MPI_BYTE));
        OK(MPI_File_read_at_all_end(file, back, &status));
        check_moved(&status, bytes);
        CHECK(bytes == 0 || memcmp(mine, back, N) == 0);
        meet();
    }
    OK(MPI_File_close(&file));
}

/* Views whose tiles have empty parts in front, between and behind: vectors and structs with counts of 0. */
static void empty_parts(void) {
    MPI_File file = open_all("parts", MODE_NEW);
    MPI_Datatype inner, type;
    MPI_Status status;
    int lengths[5] = {0, 2, 0, 1, 0}, places[5] = {0, 1, 5, 6, 9};
    unsigned char model[4096] = {0};
    MPI_Type_indexed(5, lengths, places, MPI_INT, &inner);
    MPI_Type_create_resized(inner, 0, 40 * ranks, &type);
    MPI_Type_commit(&type);
    OK(MPI_File_set_size(file, 80 * ranks));
    OK(MPI_File_set_view(file, 40 * rank, MPI_INT, type, "native", MPI_INFO_NULL));
    OK(MPI_File_write_at_all(file, 0, mine, 6, MPI_INT, &status)); /* two tiles */
    check_moved(&status, N);
    memset(back, 0, N);
    OK(MPI_File_read_at_all(file, 0, back, 6, MPI_INT, &status));
    CHECK(memcmp(mine, back, N) == 0);
    OK(MPI_File_close(&file));
    static const int where[3] = {4, 8, 24};
    for (int r = 0; r < ranks; r++)
        for (int i = 0; i < N; i++)
            model[40 * r + i / 12 * 40 * ranks + where[i / 4 % 3] + i % 4] = byte_of(i, r);
    CHECK_FILE("parts", model, 80 * ranks);
    MPI_Type_free(&inner);
    MPI_Type_free(&type);
}

/* Elements without bytes, as many as one likes; and memory whose parts are empty. */
static void empty_elements(void) {
    MPI_File file = open_all("elements", MODE_NEW);
    MPI_Datatype empty, memory;
    MPI_Status status;
    int lengths[3] = {0, 8, 0};
    MPI_Aint places[3] = {100, 4, 0};
    MPI_Type_vector(0, 3, 5, MPI_INT, &empty);
    MPI_Type_commit(&empty);
    MPI_Type_create_hindexed(3, lengths, places, MPI_BYTE, &memory);
    MPI_Type_commit(&memory);
    OK(MPI_File_write_at_all(file, 5, mine, 1000, empty, &status));
    CHECK_INT_OR(PLAIN_MPICH, count_in(&status, MPI_BYTE), 0); /* MPICH leaves the status alone */
    meet();
    CHECK_INT(plain_size("elements"), 0);
    meet();
    OK(MPI_File_write_at_all(file, 8 * rank, mine, rank % 2 ? 0 : 1, memory, &status));
    CHECK_INT(count_in(&status, MPI_BYTE), rank % 2 ? 0 : 8);
    meet();
    if (rank % 2 == 0) {
        OK(MPI_File_read_at(file, 8 * rank, back, 8, MPI_BYTE, &status));
        CHECK(memcmp(back, mine + 4, 8) == 0);
    }
    OK(MPI_File_close(&file));
    MPI_Type_free(&empty);
    MPI_Type_free(&memory);
}

/* A call that moves nothing leaves the file as it was: no byte, no size. */
static void size_stays(void) {
    MPI_File file = open_all("size", MODE_NEW);
    OK(MPI_File_write_at_all(file, 1000000, mine, 0, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_seek(file, 5000, MPI_SEEK_SET));
    OK(MPI_File_write_all(file, mine, 0, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_read_all(file, back, 0, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
    meet();
    CHECK_INT(plain_size("size"), 0);
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    fill(mine, 0, N, rank);
    blocking();
    split();
    empty_parts();
    empty_elements();
    size_stays();
    return check_end();
}
