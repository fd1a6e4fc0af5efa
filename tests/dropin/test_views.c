/* RUN: n=1,2,4 */
/* File views and memory types: nested, resized, empty, with gaps; displacements; offsets in etypes. */
#include "dropin_check.h"

enum { SIZE = 4096 };
static unsigned char model[SIZE];

/* Writes and reads back through the view; both through Sago, or the MPI library. */
static void go_through(MPI_File file, MPI_Offset offset, const void *buf, int count, MPI_Datatype type, void *back,
                       int bytes) {
    MPI_Status status;
    OK(MPI_File_write_at_all(file, offset, buf, count, type, &status));
    CHECK_INT(count_in(&status, MPI_BYTE), bytes);
    OK(MPI_File_read_at_all(file, offset, back, count, type, &status));
    CHECK_INT(count_in(&status, MPI_BYTE), bytes);
}

static void start_model(const char *path, MPI_File *file) {
    memset(model, 0, sizeof model);
    *file = open_all(path, MODE_NEW);
    OK(MPI_File_set_size(*file, SIZE));
}

/* Every rank a block of 12 ints in turn, from byte 20 on, two etypes of 8 bytes a pair. */
static void regular(void) {
    MPI_File file;
    MPI_Datatype pair, type;
    int mine[24], back[24];
    start_model("regular", &file);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    type = turns_of(6, pair);
    OK(MPI_File_set_view(file, 20 + 48 * rank, pair, type, "native", MPI_INFO_NULL));
    fill(mine, 0, sizeof mine, rank);
    memset(back, 0, sizeof back);
    go_through(file, 3, mine, 24, MPI_INT, back, 96); /* half of the first block left out */
    CHECK(memcmp(mine, back, sizeof mine) == 0);
    for (int r = 0; r < ranks; r++)
        for (int i = 0; i < 96; i++) {
            int at = i + 24;
            model[20 + 48 * r + at / 48 * 48 * ranks + at % 48] = byte_of(i, r);
        }
    OK(MPI_File_close(&file));
    CHECK_FILE("regular", model, SIZE);
    MPI_Type_free(&pair);
    MPI_Type_free(&type);
}

/* A subarray of a subarray, memory with gaps. */
static void nested(void) {
    MPI_File file;
    MPI_Datatype inner, outer, memory;
    int sizes[2] = {8, 8}, subsizes[2] = {4, 3}, starts[2] = {2, 4};
    int rows[1] = {2 * ranks}, part[1] = {2}, first[1] = {2 * rank};
    unsigned char mine[256], back[256];
    start_model("nested", &file);
    MPI_Type_create_subarray(2, sizes, subsizes, starts, MPI_ORDER_C, MPI_BYTE, &inner);
    MPI_Type_create_subarray(1, rows, part, first, MPI_ORDER_C, inner, &outer);
    MPI_Type_commit(&outer);
    MPI_Type_vector(12, 2, 10, MPI_BYTE, &memory); /* two bytes of every ten */
    MPI_Type_commit(&memory);
    fill(mine, 0, sizeof mine, rank);
    memset(back, 0, sizeof back);
    OK(MPI_File_set_view(file, 5, MPI_BYTE, outer, "native", MPI_INFO_NULL));
    go_through(file, 0, mine, 1, memory, back, 24);
    for (int i = 0; i < 112; i++)
        CHECK(back[i] == (i % 10 < 2 ? mine[i] : 0));
    for (int r = 0; r < ranks; r++)
        for (int i = 0; i < 24; i++) {
            int cell = i % 12, at = 5 + 64 * (2 * r + i / 12) + 8 * (2 + cell / 3) + 4 + cell % 3;
            model[at] = byte_of(i / 2 * 10 + i % 2, r);
        }
    OK(MPI_File_close(&file));
    CHECK_FILE("nested", model, SIZE);
    MPI_Type_free(&inner);
    MPI_Type_free(&outer);
    MPI_Type_free(&memory);
}

/* hindexed of subarrays: MPICH 4.0.2 flattens it wrongly (mpich#7169). */
static void indexed_arrays(void) {
    MPI_File file;
    MPI_Datatype array, type;
    int sizes[1] = {16}, subsizes[1] = {4}, starts[1] = {8}, lengths[2] = {1, 1};
    MPI_Aint places[2] = {64 * rank, 64 * ranks + 64 * rank + 16};
    unsigned char mine[8], back[8] = {0};
    start_model("indexed", &file);
    MPI_Type_create_subarray(1, sizes, subsizes, starts, MPI_ORDER_C, MPI_BYTE, &array);
    MPI_Type_create_hindexed(2, lengths, places, array, &type);
    MPI_Type_commit(&type);
    fill(mine, 0, sizeof mine, rank);
    OK(MPI_File_set_view(file, 0, MPI_BYTE, type, "native", MPI_INFO_NULL));
    go_through(file, 0, mine, 8, MPI_BYTE, back, 8);
    CHECK(memcmp(mine, back, sizeof mine) == 0);
    for (int r = 0; r < ranks; r++)
        for (int i = 0; i < 8; i++)
            model[64 * r + 8 + i % 4 + i / 4 * (64 * ranks + 16)] = byte_of(i, r);
    OK(MPI_File_close(&file));
    CHECK_FILE_OR(PLAIN_MPICH, "indexed", model, SIZE);
    MPI_Type_free(&array);
    MPI_Type_free(&type);
}

/* Ranks with nothing to do: no elements, elements without bytes, a filetype without bytes. */
static void nothing(void) {
    MPI_File file;
    MPI_Datatype empty;
    MPI_Status status;
    char mine[10], back[10];
    start_model("nothing", &file);
    MPI_Type_contiguous(0, MPI_INT, &empty);
    MPI_Type_commit(&empty);
    fill(mine, 0, sizeof mine, rank);
    OK(MPI_File_write_at_all(file, 10 * rank, mine, rank % 2 ? 0 : 10, MPI_BYTE, &status));
    CHECK_INT(count_in(&status, MPI_BYTE), rank % 2 ? 0 : 10);
    OK(MPI_File_write_at_all(file, 0, mine, 3, empty, &status));
    CHECK_INT_OR(PLAIN_MPICH, count_in(&status, MPI_BYTE), 0); /* MPICH leaves the status alone */
    OK(MPI_File_write_all(file, NULL, 0, MPI_DOUBLE, &status));
    CHECK_INT(count_in(&status, MPI_DOUBLE), 0);
    memset(back, 7, sizeof back);
    OK(MPI_File_read_at_all(file, 10 * rank, back, rank % 2 ? 0 : 10, MPI_BYTE, &status));
    CHECK_INT(count_in(&status, MPI_BYTE), rank % 2 ? 0 : 10);
    CHECK(rank % 2 ? back[0] == 7 : memcmp(mine, back, 10) == 0);
    for (int r = 0; r < ranks; r += 2)
        fill(model + 10 * r, 0, 10, r);
    OK(MPI_File_close(&file));
    CHECK_FILE("nothing", model, SIZE);
    MPI_Type_free(&empty);
}

/* Structs with markers, memory of extent 0, and the same view set twice. */
static void resized(void) {
    MPI_File file;
    MPI_Datatype one, bounded, same;
    int lengths[2] = {1, 3};
    MPI_Aint places[2] = {4, 16};
    MPI_Datatype types[2] = {MPI_INT, MPI_SHORT};
    unsigned char mine[40], back[40] = {0};
    start_model("resized", &file);
    MPI_Type_create_struct(2, lengths, places, types, &one);
    MPI_Type_create_resized(one, 0, 24 * ranks, &bounded);
    MPI_Type_commit(&bounded);
    MPI_Type_create_resized(MPI_BYTE, 0, 0, &same); /* every element is the same byte */
    MPI_Type_commit(&same);
    fill(mine, 0, sizeof mine, rank);
    for (int twice = 0; twice < 2; twice++)
        OK(MPI_File_set_view(file, 24 * rank, MPI_BYTE, bounded, "native", MPI_INFO_NULL));
    go_through(file, 0, mine, 40, MPI_BYTE, back, 40);
    CHECK(memcmp(mine, back, sizeof mine) == 0);
    OK(MPI_File_write_at_all(file, 40, mine, 10, same, MPI_STATUS_IGNORE));
    for (int r = 0; r < ranks; r++)
        for (int i = 0; i < 50; i++) {
            int at = i % 10 < 4 ? 4 + i % 10 : 12 + i % 10;
            model[24 * r + i / 10 * 24 * ranks + at] = byte_of(i < 40 ? i : 0, r);
        }
    OK(MPI_File_close(&file));
    CHECK_FILE("resized", model, SIZE);
    MPI_Type_free(&one);
    MPI_Type_free(&bounded);
    MPI_Type_free(&same);
}

/* A tile of which ROMIO moves the data by the lower bound. */
static MPI_Datatype moved_tile(MPI_Aint bound) {
    const MPI_Aint places[2] = {16, 60};
    const int lengths[2] = {4, 8};
    MPI_Datatype runs, tile;
    MPI_Type_create_hindexed(2, lengths, places, MPI_BYTE, &runs);
    MPI_Type_create_resized(runs, bound, 128 * ranks, &tile);
    MPI_Type_free(&runs);
    return tile;
}

/* A tile of pairs with gaps, of which ROMIO knows nothing. */
static MPI_Datatype pairs_tile(MPI_Datatype pair) {
    MPI_Datatype pairs, tile;
    MPI_Type_contiguous(3, pair, &pairs);
    MPI_Type_create_resized(pairs, 0, 128 * ranks, &tile);
    MPI_Type_free(&pairs);
    return tile;
}

/* A view that is strange to ROMIO, on rank 0: whatever the place, all calls mean the same one.  Takes the tile
 * over.
 */
static void either_way(MPI_Datatype tile, int times) {
    enum { BYTES = 36 };
    unsigned char mine[BYTES], back[BYTES] = {0};
    MPI_Datatype type, plain = moved_tile(0);
    MPI_Type_contiguous(times, rank == 0 ? tile : plain, &type);
    MPI_Type_commit(&type);
    MPI_File file = open_all("either", MODE_NEW);
    OK(MPI_File_set_view(file, 128 * rank, MPI_BYTE, type, "native", MPI_INFO_NULL));
    for (int all = 0; all < 2; all++) {
        fill(mine, 0, sizeof mine, rank + 7 * all);
        for (int r = 0; r < ranks; r++) {
            if (!all && r == rank)
                OK(MPI_File_write_at(file, 0, mine, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
            OK(MPI_File_sync(file));
            meet();
        }
        if (all)
            OK(MPI_File_write_at_all(file, 0, mine, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
        OK(MPI_File_sync(file));
        meet();
        if (all)
            OK(MPI_File_read_at(file, 0, back, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
        else
            OK(MPI_File_read_at_all(file, 0, back, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
        CHECK(memcmp(mine, back, sizeof mine) == 0);
        meet();
    }
    OK(MPI_File_close(&file));
    MPI_Type_free(&tile);
    MPI_Type_free(&plain);
    MPI_Type_free(&type);
}

/* Very many parts, of which the first one is far from 0: this rank's own calls, which are the MPI library's, and
 * those of all ranks mean the same bytes. */
static void late_beginning(void) {
    enum { PARTS = 400, FIRST = 512, STEP = 64, BYTES = 3 * PARTS };
    static MPI_Datatype parts[PARTS];
    static MPI_Aint places[PARTS];
    static int lengths[PARTS];
    static unsigned char mine[2 * BYTES], back[2 * BYTES];
    const int sizes[2] = {4, 4}, some[2] = {1, 3}, first[2] = {0, 0};
    MPI_Datatype type;
    for (int i = 0; i < PARTS; i++) {
        MPI_Type_create_subarray(2, sizes, some, first, MPI_ORDER_C, MPI_BYTE, &parts[i]);
        lengths[i] = 1;
        places[i] = FIRST + STEP * i;
    }
    MPI_Type_create_struct(PARTS, lengths, places, parts, &type);
    MPI_Type_commit(&type);
    for (int i = 0; i < PARTS; i++)
        MPI_Type_free(&parts[i]);
    MPI_File file = open_all("late", MODE_NEW);
    OK(MPI_File_set_view(file, 4 * rank, MPI_BYTE, type, "native", MPI_INFO_NULL));
    fill(mine, 0, sizeof mine, rank);
    for (int r = 0; r < ranks; r++) { /* in turn: the MPI libraries write what is between the parts, too */
        if (r == rank)
            OK(MPI_File_write_at(file, 0, mine, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
        OK(MPI_File_sync(file));
        meet();
    }
    OK(MPI_File_write_at_all(file, BYTES, mine + BYTES, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_sync(file));
    meet();
    OK(MPI_File_sync(file));
    OK(MPI_File_read_at_all(file, 0, back, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_read_at(file, BYTES, back + BYTES, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK(memcmp(mine, back, sizeof mine) == 0);
    OK(MPI_File_close(&file));
    MPI_Type_free(&type);
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    regular();
    nested();
    indexed_arrays();
    nothing();
    resized();
    late_beginning();
    either_way(moved_tile(8), 1);
    either_way(moved_tile(16), 2);
    either_way(moved_tile(-8), 1);
    either_way(pairs_tile(MPI_SHORT_INT), 1);
    either_way(pairs_tile(MPI_DOUBLE_INT), 2);
    if (!OPENMPI)
        expect_stat("view", -1); /* left to ROMIO */
    return check_end();
}
