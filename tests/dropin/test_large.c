/* RUN: n=2 timeout=240 */
/* RUN-LONG: n=2 2200 */
/* The calls with MPI_Count, and much in one call: test_large [MIB], so many of a rank. */
#include <sys/mman.h>

#include "dropin_check.h"

enum { MIB = 1 << 20 };

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
    OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    OK(MPI_File_write_ordered_c(file, mine, N, MPI_BYTE, &status));
    CHECK_INT(count_in(&status, MPI_BYTE), N);
    expect_stat("shared_pointer", ranks);
    OK(MPI_File_close(&file));
}
#else
static void counted_calls(void) {}
#endif

/* Elements of 1 MiB, and as many of them as asked for. */
static void much(int mib) {
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

/* ---- Just over 2 GiB in one call of one rank; the other one has a byte ---- */

static const MPI_Count over = ((MPI_Count)2 << 30) + MIB;
static const MPI_Offset before = 4096; /* where it starts: behind the other rank's */

/* From 1 MiB of memory that is written again and again. */
static void write_over(void) {
    MPI_File file = open_all("over", MODE_NEW);
    MPI_Datatype block, type;
    MPI_Status status;
    MPI_Count moved = 0;
    char *mib = malloc(MIB), back[64];
    fill(mib, 0, MIB, rank);
    MPI_Type_contiguous(MIB, MPI_BYTE, &block);
    MPI_Type_create_hvector((int)(over / MIB), 1, 0, block, &type);
    MPI_Type_commit(&type);
    OK(rank == 0 ? MPI_File_write_at_all(file, 0, mib, 1, MPI_BYTE, &status)
                 : MPI_File_write_at_all(file, before, mib, 1, type, &status));
    MPI_Get_elements_x(&status, MPI_BYTE, &moved);
    CHECK_INT_OR(PLAIN, moved, rank == 0 ? 1 : over);
    meet();
    CHECK_INT_OR(PLAIN, plain_size("over"), before + over);
    for (MPI_Offset at = 0; at < over; at += over / 7) {
        long long in = at % (MIB - 64);
        OK(MPI_File_read_at(file, before + at / MIB * MIB + in, back, 64, MPI_BYTE, MPI_STATUS_IGNORE));
        CHECK_OR(PLAIN, filled(back, in, 64, 1));
    }
    meet();
    OK(MPI_File_close(&file));
    MPI_Type_free(&block);
    MPI_Type_free(&type);
    free(mib);
}

/* A hole with a few bytes in it. */
static void read_over(void) {
    MPI_File file = open_all("over", MPI_MODE_RDWR);
    MPI_Datatype block;
    MPI_Status status;
    MPI_Count moved = 0;
    char some[64], *large = NULL;
    MPI_Type_contiguous(MIB, MPI_BYTE, &block);
    MPI_Type_commit(&block);
    OK(MPI_File_set_size(file, 0));
    OK(MPI_File_set_size(file, before + over));
    for (int i = 0; i <= 4 && rank == 0; i++) {
        fill(some, i, 64, 9);
        OK(MPI_File_write_at(file, before + (over - 64) / 4 * i, some, 64, MPI_BYTE, MPI_STATUS_IGNORE));
    }
    OK(MPI_File_sync(file));
    meet();
    if (rank > 0)
        large =
            mmap(NULL, (size_t)over, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    OK(rank == 0 ? MPI_File_read_at_all(file, before, some, 1, MPI_BYTE, &status)
                 : MPI_File_read_at_all(file, before, large, (int)(over / MIB), block, &status));
    MPI_Get_elements_x(&status, MPI_BYTE, &moved);
    CHECK_INT_OR(PLAIN, moved, rank == 0 ? 1 : over);
    for (int i = 0; i <= 4 && rank > 0; i++)
        CHECK_OR(PLAIN, filled(large + (over - 64) / 4 * i, i, 64, 9) && large[(over - 64) / 5 * i + 100] == 0);
    if (rank > 0)
        (void)munmap(large, (size_t)over);
    MPI_Type_free(&block);
    OK(MPI_File_close(&file));
    meet();
    if (rank == 0)
        (void)unlink("over");
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    counted_calls();
    write_over();
    read_over();
    much(argc > 1 ? atoi(argv[1]) : 20);
    return check_end();
}
