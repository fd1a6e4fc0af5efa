/* RUN: n=2 */
/* RUN-LONG: n=2 2200 */
/* The calls with MPI_Count, and much in one call: test_large [MIB], so many of a rank. */
#include "dropin_check.h"

#if MPI_VERSION >= 4
static void counted_calls(void) {
    enum { N = 1000 };
    char mine[N], back[N];
    fill(mine, 0, N, rank);
    MPI_File file = open_all("counted", MODE_NEW);
    MPI_Status status;
    MPI_Offset here = (MPI_Offset)N * rank;
    OK(MPI_File_write_at_all_c(file, here, mine, N, MPI_BYTE, &status));
    CHECK_INT(count_in(&status, MPI_BYTE), N);
    OK(MPI_File_read_at_all_c(file, here, back, N, MPI_BYTE, &status));
    CHECK(memcmp(mine, back, N) == 0);
    OK(MPI_File_seek(file, here, MPI_SEEK_SET));
    OK(MPI_File_write_all_c(file, mine, N / 2, MPI_BYTE, &status));
    CHECK_INT(position_of(file), here + N / 2);
    OK(MPI_File_write_c(file, mine + N / 2, N / 4, MPI_BYTE, &status));
    OK(MPI_File_read_all_c(file, back, N / 4, MPI_BYTE, &status));
    CHECK(memcmp(mine + 3 * N / 4, back, N / 4) == 0);
    CHECK_INT(position_of(file), here + N);
    OK(MPI_File_write_at_all_begin_c(file, here, mine, N, MPI_BYTE));
    OK(MPI_File_write_at_all_end(file, mine, &status));
    CHECK_INT(count_in(&status, MPI_BYTE), N);
    OK(MPI_File_seek(file, here, MPI_SEEK_SET));
    OK(MPI_File_read_all_begin_c(file, back, N, MPI_BYTE));
    OK(MPI_File_read_all_end(file, back, &status));
    CHECK(memcmp(mine, back, N) == 0);
    FAILS(MPI_File_write_at_all_c(file, here, mine, -1, MPI_BYTE, &status), MPI_ERR_COUNT);
    OK(MPI_File_close(&file));
}
#else
static void counted_calls(void) {}
#endif

/* Elements of 1 MiB, and as many of them as asked for. */
static void much(int mib) {
    enum { MIB = 1 << 20 };
    MPI_File file = open_all("much", MODE_NEW);
    MPI_Datatype type;
    MPI_Status status;
    MPI_Count bytes = (MPI_Count)mib * MIB, moved = 0;
    char *large = malloc((size_t)bytes);
    MPI_Type_contiguous(MIB, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    CHECK(large != NULL);
    for (MPI_Count i = 0; i < bytes; i += 4096)
        fill(large + i, i, 16, rank);
    OK(MPI_File_write_at_all(file, bytes * rank, large, mib, type, &status));
    MPI_Get_elements_x(&status, MPI_BYTE, &moved);
    CHECK_INT_OR(PLAIN, moved, bytes);
    CHECK_INT_OR(PLAIN, count_in(&status, type), mib);
    memset(large, 0, (size_t)bytes);
    OK(MPI_File_read_at_all(file, bytes * rank, large, mib, type, &status));
    bool right = true;
    for (MPI_Count i = 0; i < bytes; i += 4096)
        right = right && filled(large + i, i, 16, rank);
    CHECK_OR(PLAIN, right);
    MPI_Type_free(&type);
    free(large);
    OK(MPI_File_close(&file));
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    counted_calls();
    much(argc > 1 ? atoi(argv[1]) : 20);
    return check_end();
}
