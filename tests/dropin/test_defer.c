/* RUN: n=1,2,4 */
/* Deferred writes.  The hint means nothing to the MPI libraries, and nothing that a program may rely on: every
 * call finds in the file what the standard says it finds.  With Sago the file shows that the data did wait. */
#include "dropin_check.h"

enum { N = 64, TOGETHER = 3 };
static char mine[N], back[N];
static char whole[64 * N];

static MPI_File open_deferring(MPI_Comm comm, const char *path) {
    MPI_File file = MPI_FILE_NULL;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "sago_defer", "on");
    OK(MPI_File_open(comm, path, MODE_NEW, info, &file));
    MPI_Info_free(&info);
    return file;
}

/* Block `row` of every rank; the file as it is to be is in `whole`.  No rank alone: that is left to the library.
 */
static void write_row(MPI_File file, int row) {
    MPI_Status status;
    for (int owner = 0; owner < ranks; owner++)
        fill(whole + (row * ranks + owner) * N, row * N, N, owner);
    fill(mine, row * N, N, rank);
    OK(MPI_File_write_at_all(file, (row * ranks + rank) * N, mine, N, MPI_BYTE, &status));
    CHECK_INT(count_in(&status, MPI_BYTE), N);
    memset(mine, 0, N);
}

/* Collective: with Sago the file has grown to `rows` rows only. */
static void check_waits(const char *path, int rows) {
    meet();
    if (with_sago && ranks > 1)
        CHECK_INT(plain_size(path), rows * ranks * N);
    meet();
}

#define CHECK_ROWS(path, rows) CHECK_FILE(path, whole, (rows)*ranks *N)

/* ---- Collective calls after which all of it is there ---- */

static void settled(void) {
    MPI_File file = open_deferring(MPI_COMM_WORLD, "settled");
    MPI_Status status;
    write_row(file, 0);
    write_row(file, 1);
    check_waits("settled", 0);
    OK(MPI_File_sync(file));
    CHECK_ROWS("settled", 2);
    write_row(file, 2);
    OK(MPI_File_read_at_all(file, (2 * ranks + (rank + 1) % ranks) * N, back, N, MPI_BYTE, &status));
    CHECK_INT(count_in(&status, MPI_BYTE), N);
    CHECK(filled(back, 2 * N, N, (rank + 1) % ranks));
    CHECK_ROWS("settled", 3);
    write_row(file, 3);
    OK(MPI_File_set_atomicity(file, 1));
    CHECK_ROWS("settled", 4);
    OK(MPI_File_set_atomicity(file, 0));
    write_row(file, 4);
    OK(MPI_File_preallocate(file, N));
    CHECK_ROWS("settled", 5);
    write_row(file, 5);
    OK(MPI_File_set_size(file, 4 * ranks * N));
    CHECK_ROWS("settled", 4);
    write_row(file, 4);
    OK(MPI_File_seek_shared(file, 0, MPI_SEEK_END));
    CHECK_ROWS("settled", 5);
    write_row(file, 5);
    OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    check_waits("settled", 5);
    write_row(file, 6);
    OK(MPI_File_close(&file));
    CHECK_ROWS("settled", 7);
}

/* A view that is not for Sago: what follows is the library's, and comes after. */
static void other_representation(void) {
#ifdef OMPI_MAJOR_VERSION /* which takes it for native, if at all */
    expect_stat("representation", 0);
#else
    MPI_File file = open_deferring(MPI_COMM_WORLD, "representation");
    write_row(file, 0);
    check_waits("representation", 0);
    if (MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "external32", MPI_INFO_NULL) == MPI_SUCCESS) {
        CHECK_ROWS("representation", 1);
        write_row(file, 0);
        CHECK_ROWS("representation", 1);
    }
    OK(MPI_File_close(&file));
    expect_stat("representation", -1);
#endif
}

/* ---- Independent calls of one rank, the others knowing nothing ---- */

static void read_own(MPI_File file, int row, int way) {
    MPI_Request request;
    MPI_Status status;
    MPI_Offset at = (row * ranks + rank) * N;
    memset(back, 0, N);
    if (way == 0)
        OK(MPI_File_read_at(file, at, back, N, MPI_BYTE, &status));
    if (way == 1) {
        OK(MPI_File_iread_at(file, at, back, N, MPI_BYTE, &request));
        OK(MPI_Wait(&request, &status));
    }
    if (way == 2 || way == 3)
        OK(MPI_File_seek(file, at, MPI_SEEK_SET));
    if (way == 2)
        OK(MPI_File_read(file, back, N, MPI_BYTE, &status));
    if (way == 3) {
        OK(MPI_File_iread(file, back, N, MPI_BYTE, &request));
        OK(MPI_Wait(&request, &status));
    }
    CHECK_INT(count_in(&status, MPI_BYTE), N);
    CHECK(filled(back, row * N, N, rank));
}

/* Written by the rank itself over what it has deferred. */
static void write_own(MPI_File file, int row, int way) {
    MPI_Request request;
    MPI_Offset at = (row * ranks + rank) * N + 10;
    if (way == 0)
        OK(MPI_File_write_at(file, at, "later", 5, MPI_BYTE, MPI_STATUS_IGNORE));
    if (way == 1) {
        OK(MPI_File_iwrite_at(file, at, "later", 5, MPI_BYTE, &request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    if (way == 2) {
        OK(MPI_File_seek(file, at, MPI_SEEK_SET));
        OK(MPI_File_write(file, "later", 5, MPI_BYTE, MPI_STATUS_IGNORE));
    }
    if (way == 3) {
        OK(MPI_File_seek(file, at, MPI_SEEK_SET));
        OK(MPI_File_iwrite(file, "later", 5, MPI_BYTE, &request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
}

static void alone(int who) {
    MPI_File file = open_deferring(MPI_COMM_WORLD, "alone");
    int row = 0;
    for (int way = 0; way < 4; way++, row++) {
        write_row(file, row);
        if (rank == who)
            read_own(file, row, way);
        meet();
    }
    for (int way = 0; way < 4; way++, row++) {
        write_row(file, row);
        if (rank == who)
            write_own(file, row, way);
        memcpy(whole + (row * ranks + who) * N + 10, "later", 5);
    }
    OK(MPI_File_close(&file));
    CHECK_ROWS("alone", row);
}

static void sizes(void) {
    MPI_File file = open_deferring(MPI_COMM_WORLD, "sizes");
    MPI_Offset size = -1;
    write_row(file, 0);
    if (rank == ranks - 1) {
        OK(MPI_File_get_size(file, &size));
        CHECK_INT(size, ranks * N);
    }
    OK(MPI_File_sync(file));
    write_row(file, 1);
    if (rank == ranks - 1) {
        OK(MPI_File_seek(file, -N, MPI_SEEK_END));
        CHECK_INT(position_of(file), (2 * ranks - 1) * N);
    }
    OK(MPI_File_close(&file));
    CHECK_ROWS("sizes", 2);
}

/* Whoever removes the file's name has its own data written, and finds it under the file's other name. */
static void deleted(void) {
    MPI_File file = open_deferring(MPI_COMM_WORLD, "deleted");
    if (rank == 0)
        CHECK(link("deleted", "deleted.other") == 0);
    write_row(file, 0);
    check_waits("deleted.other", 0);
    if (rank == ranks - 1)
        OK(MPI_File_delete("deleted", MPI_INFO_NULL));
    meet();
    CHECK_INT(plain_size("deleted.other"), ranks * N); /* the last rank's part ends it */
    OK(MPI_File_close(&file));
    CHECK_ROWS("deleted.other", 1);
    meet();
    if (rank == 0)
        unlink("deleted.other");
}

/* Nonblocking and ordered collective calls, which the library may serve: each rank's own data comes before. */
static void collective(void) {
    MPI_File file = open_deferring(MPI_COMM_WORLD, "collective");
    MPI_Request request;
    write_row(file, 0);
    OK(MPI_File_iread_at_all(file, rank * N, back, N, MPI_BYTE, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(filled(back, 0, N, rank));
    write_row(file, 1);
    fill(mine, N, N, rank + 50);
    OK(MPI_File_iwrite_at_all(file, (ranks + rank) * N, mine, N, MPI_BYTE, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    for (int owner = 0; owner < ranks; owner++)
        fill(whole + (ranks + owner) * N, N, N, owner + 50);
    OK(MPI_File_write_ordered(file, mine, N, MPI_BYTE, MPI_STATUS_IGNORE));
    for (int owner = 0; owner < ranks; owner++)
        fill(whole + owner * N, N, N, owner + 50);
    OK(MPI_File_close(&file));
    CHECK_ROWS("collective", 2);
    expect_stat("nonblocking", -1);
    expect_stat("shared_pointer", ranks);
}

/* Several variables through views, each rank's pieces in turn; one byte by two ranks in different calls. */
static void variables(void) {
    MPI_File file = open_deferring(MPI_COMM_WORLD, "variables");
    MPI_Datatype turns = turns_of(4, MPI_BYTE);
    memset(whole, 0, sizeof whole);
    for (int v = 0; v < TOGETHER; v++) {
        fill(mine, 0, 16, v * 10 + rank);
        OK(MPI_File_set_view(file, v * 16 * ranks + 4 * rank, MPI_BYTE, turns, "native", MPI_INFO_NULL));
        OK(MPI_File_write_all(file, mine, 8, MPI_BYTE, MPI_STATUS_IGNORE));
        OK(MPI_File_write_all_begin(file, mine + 8, 8, MPI_BYTE));
        OK(MPI_File_write_all_end(file, mine + 8, MPI_STATUS_IGNORE));
        for (int owner = 0; owner < ranks; owner++)
            for (int i = 0; i < 16; i++)
                whole[v * 16 * ranks + (i / 4 * ranks + owner) * 4 + i % 4] = (char)byte_of(i, v * 10 + owner);
    }
    check_waits("variables", 0);
    OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    char one = (char)(rank == 0 ? 1 : 0), two = (char)(rank == ranks - 1 ? 2 : 0);
    OK(MPI_File_write_at_all(file, 3, &one, rank == 0, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_sync(file)); /* which MPI asks for between different ranks' */
    OK(MPI_File_write_at_all(file, 3, &two, rank == ranks - 1, MPI_BYTE, MPI_STATUS_IGNORE));
    whole[3] = 2;
    OK(MPI_File_close(&file));
    CHECK_FILE("variables", whole, TOGETHER * 16 * ranks);
    MPI_Type_free(&turns);
}

/* One rank's file: pieces may wait, whole blocks are the library's. */
static void own_file(void) {
    char path[32];
    (void)snprintf(path, sizeof path, "own-%d", rank);
    MPI_File file = open_deferring(MPI_COMM_SELF, path);
    MPI_Datatype pairs;
    MPI_Type_vector(4, 2, 4, MPI_BYTE, &pairs);
    MPI_Type_commit(&pairs);
    OK(MPI_File_set_view(file, 0, MPI_BYTE, pairs, "native", MPI_INFO_NULL));
    OK(MPI_File_write_all(file, "abcdefgh", 8, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    OK(MPI_File_write_all(file, "012", 3, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_read_at_all(file, 0, back, 14, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK_OR(PLAIN_MPICH, memcmp(back, "012\0cd\0\0ef\0\0gh", 14) == 0); /* ROMIO fills the holes */
    OK(MPI_File_close(&file));
    MPI_Type_free(&pairs);
    if (ranks > 1)
        expect_stat("alone", 2 * ranks);
}

/* A call that is refused is no business of the calls behind it. */
static void refused(void) {
    MPI_File file = open_deferring(MPI_COMM_WORLD, "refused");
    write_row(file, 0);
    FAILS_OR(PLAIN_OPENMPI, MPI_File_write_at_all(file, -5, mine, N, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_ARG);
    FAILS(MPI_File_write_at_all(file, 0, mine, -1, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_COUNT);
    FAILS(MPI_File_write_at_all(file, 0, mine, 1, MPI_DATATYPE_NULL, MPI_STATUS_IGNORE), MPI_ERR_TYPE);
    write_row(file, 1);
    OK(MPI_File_sync(file));
    OK(MPI_File_close(&file));
    CHECK_ROWS("refused", 2);
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    if (PLAIN_OPENMPI) { /* no hint there, and ranks that do not meet in collective calls: nothing to be tested */
        if (rank == 0)
            puts("SKIP: OMPIO's ranks do not wait for each other, so calls of different ranks have no order");
        MPI_Finalize();
        return 77;
    }
    settled();
    refused();
    other_representation();
    alone(0);
    alone(ranks - 1);
    sizes();
    deleted();
    collective();
    variables();
    own_file();
    return check_end();
}
