/* RUN: n=1,2,4 */
/* Datatypes of every making as views: written, read back, and the file compared with what MPI_Unpack() makes of
 * the same types in memory.  Big ones too: extents beyond 2 and 4 GiB, a hundred thousand blocks. */
#include "dropin_check.h"

enum { IMAGE = 1 << 20 };

/* `tiles` tiles of the view through collective calls, in two parts of unequal length; takes over the type. */
static void go_through(const char *path, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype, int tiles) {
    int size, unit, at = 0;
    MPI_Aint lower, extent;
    MPI_Status status;
    MPI_Type_commit(&filetype);
    MPI_Type_size(filetype, &size);
    MPI_Type_size(etype, &unit);
    MPI_Type_get_extent(filetype, &lower, &extent);
    int bytes = size * tiles, first = bytes / unit / 3 * unit;
    char *mine = malloc((size_t)bytes + 1), *back = calloc(1, (size_t)bytes + 1);
    unsigned char *image = calloc(1, IMAGE), *all = calloc(1, IMAGE);
    fill(mine, 0, bytes, rank);
    for (int i = 0; i < tiles; i++)
        MPI_Unpack(mine, bytes, &at, image + disp + i * extent, 1, filetype, MPI_COMM_WORLD);
    MPI_Allreduce(image, all, IMAGE, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD);
    MPI_File file = open_all(path, MODE_NEW);
    OK(MPI_File_set_size(file, IMAGE));
    OK(MPI_File_set_view(file, disp, etype, filetype, "native", MPI_INFO_NULL));
    MPI_Type_free(&filetype); /* the file keeps it */
    OK(MPI_File_write_all(file, mine, first, MPI_BYTE, &status));
    CHECK_INT(count_in(&status, MPI_BYTE), first);
    OK(MPI_File_write_all(file, mine + first, bytes - first, MPI_BYTE, &status));
    CHECK_INT(position_of(file), bytes / unit);
    OK(MPI_File_read_at_all(file, 0, back, bytes, MPI_BYTE, &status));
    CHECK_INT(count_in(&status, MPI_BYTE), bytes);
    CHECK(memcmp(mine, back, (size_t)bytes) == 0);
    OK(MPI_File_close(&file));
    CHECK_FILE(path, all, IMAGE);
    free(mine);
    free(back);
    free(image);
    free(all);
}

/* Arrays dealt out over a grid of processes, by blocks and in turn, in both orders. */
static void arrays(void) {
    static const int ways[][2] = {{MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_BLOCK},
                                  {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_CYCLIC},
                                  {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK}};
    int sizes[2] = {35, 46}, grid[2] = {0, 0};
    MPI_Dims_create(ranks, 2, grid);
    for (int i = 0; i < 6; i++) {
        int how[2] = {ways[i / 2][0], ways[i / 2][1]}, block[2];
        char name[32];
        MPI_Datatype type;
        for (int d = 0; d < 2; d++)
            block[d] = how[d] == MPI_DISTRIBUTE_CYCLIC ? 3 - d : MPI_DISTRIBUTE_DFLT_DARG;
        MPI_Type_create_darray(ranks, rank, 2, sizes, how, block, grid, i % 2 ? MPI_ORDER_C : MPI_ORDER_FORTRAN,
                               MPI_DOUBLE, &type);
        (void)snprintf(name, sizeof name, "darray-%d", i);
        go_through(name, 24, MPI_DOUBLE, type, 2);
    }
}

/* Made of each other: indexed blocks of vectors of structs; bounds moved; markers. */
static void nested(void) {
    MPI_Datatype pair, rows, spread, type;
    int lengths[2] = {1, 2}, places[3] = {0, 4, 6};
    MPI_Aint where[2] = {0, 6};
    MPI_Datatype parts[2] = {MPI_INT, MPI_SHORT};
    MPI_Type_create_struct(2, lengths, where, parts, &pair); /* bytes 0-3 and 6-9 */
    MPI_Type_create_resized(pair, 0, 12, &rows);
    MPI_Type_vector(3, 2, 4, rows, &spread);
    MPI_Type_create_indexed_block(3, 1, places, spread, &type);
    MPI_Type_free(&rows);
    MPI_Type_create_resized(type, 0, 2000 * ranks, &rows);
    go_through("nested", 2000 * rank + 4, MPI_SHORT, rows, 3);
    MPI_Type_free(&pair);
    MPI_Type_free(&spread);
    MPI_Type_free(&type);
}

/* Strides in bytes that are no multiple of anything, and many blocks of unequal length. */
static void irregular(void) {
    enum { BLOCKS = 20000 };
    MPI_Datatype type, bounded;
    MPI_Type_create_hvector(50, 3, 61 * ranks, MPI_SHORT, &type);
    MPI_Type_create_resized(type, 0, 50 * 61 * ranks, &bounded);
    MPI_Type_free(&type);
    go_through("hvector", 61 * rank + 1, MPI_SHORT, bounded, 3);
    int *lengths = malloc(BLOCKS * sizeof *lengths), *places = malloc(BLOCKS * sizeof *places), at = 0;
    for (int i = 0; i < BLOCKS; i++) { /* a turn of every rank: 1 to 5 bytes, and a byte that is nobody's */
        lengths[i] = 1 + i * 7 % 5;
        places[i] = at + rank * (lengths[i] + 1);
        at += ranks * (lengths[i] + 1);
    }
    MPI_Type_indexed(BLOCKS, lengths, places, MPI_BYTE, &type);
    go_through("indexed", 3, MPI_BYTE, type, 1);
    free(lengths);
    free(places);
}

/* Memory as it comes: backwards, below its own start, with a gap behind. */
static void memory(void) {
    MPI_Datatype back_to_front, shifted, moved;
    MPI_Status status;
    unsigned char mine[400], back[400] = {0}, model[4096] = {0};
    fill(mine, 0, sizeof mine, rank);
    MPI_Type_create_hvector(10, 4, -12, MPI_BYTE, &back_to_front); /* 4 bytes at 0, -12, -24, ... */
    MPI_Type_commit(&back_to_front);
    MPI_Type_create_resized(MPI_INT, -2, 9, &shifted);
    MPI_Type_contiguous(5, shifted, &moved);
    MPI_Type_commit(&moved);
    MPI_File file = open_all("memory", MODE_NEW);
    OK(MPI_File_write_at_all(file, 60 * rank, mine + 200, 1, back_to_front, &status));
    CHECK_INT(count_in(&status, MPI_BYTE), 40);
    OK(MPI_File_write_at_all(file, 60 * rank + 40, mine + 10, 1, moved, &status));
    CHECK_INT(count_in(&status, MPI_BYTE), 20);
    OK(MPI_File_read_at_all(file, 60 * rank, back + 200, 1, back_to_front, &status));
    for (int i = 0; i < 10; i++)
        CHECK(memcmp(back + 200 - 12 * i, mine + 200 - 12 * i, 4) == 0 && back[204 - 12 * i] == 0);
    OK(MPI_File_close(&file));
    for (int r = 0; r < ranks; r++)
        for (int i = 0; i < 60; i++)
            model[60 * r + i] = byte_of(i < 40 ? 200 - 12 * (i / 4) + i % 4 : 10 + 9 * ((i - 40) / 4) + i % 4, r);
    CHECK_FILE("memory", model, 60 * ranks);
    MPI_Type_free(&back_to_front);
    MPI_Type_free(&shifted);
    MPI_Type_free(&moved);
}

/* As HDF5 describes chunks: very many types, each made of others.  4 runs of 3 bytes at 5 in each of them, at
 * places that are no multiple of anything; even ones come before the odd ones. */
enum { CHUNKS = 100, CHUNK_BYTES = 12, CHUNK_SPAN = 37 };

static int chunk_place(int chunk) {
    return (chunk * 2 < CHUNKS ? 2 * chunk : 2 * chunk - CHUNKS + 1) * CHUNK_SPAN;
}

static MPI_Datatype chunks_new(void) {
    MPI_Datatype parts[CHUNKS], element, rows, all;
    int lengths[CHUNKS];
    MPI_Aint places[CHUNKS];
    for (int i = 0; i < CHUNKS; i++) {
        MPI_Type_contiguous(3, MPI_BYTE, &element);
        MPI_Type_create_hvector(4, 1, 5, element, &rows);
        MPI_Type_create_resized(rows, 0, 100 + i, &parts[i]);
        MPI_Type_free(&element);
        MPI_Type_free(&rows);
        lengths[i] = 1;
        places[i] = chunk_place(i);
    }
    MPI_Type_create_struct(CHUNKS, lengths, places, parts, &all);
    for (int i = 0; i < CHUNKS; i++)
        MPI_Type_free(&parts[i]);
    MPI_Type_commit(&all);
    return all;
}

/* Where byte `at` of the data lies. */
static int chunk_byte(int at) { return chunk_place(at / CHUNK_BYTES) + at % CHUNK_BYTES / 3 * 5 + at % 3; }

/* Read back whole, or as much as there is; what lies between stays. */
static void chunks_check(MPI_File file, MPI_Datatype type, int bytes) {
    unsigned char back[CHUNKS * CHUNK_SPAN], wanted[CHUNKS * CHUNK_SPAN];
    MPI_Status status;
    memset(back, 0xee, sizeof back);
    memset(wanted, 0xee, sizeof wanted);
    for (int i = 0; i < bytes; i++)
        wanted[chunk_byte(i)] = byte_of(chunk_byte(i), rank);
    OK(MPI_File_read_at_all(file, (ranks - 1 - rank) * CHUNKS * CHUNK_BYTES, back, 1, type, &status));
    bool known = PLAIN && bytes < CHUNKS * CHUNK_BYTES; /* MPICH and OMPIO read zeroes behind the end */
    CHECK_INT_OR(known, count_in(&status, MPI_BYTE), bytes);
    CHECK_OR(known, memcmp(back, wanted, sizeof back) == 0);
}

/* Types that come once, and the same one again; the file's last bytes are missing, which are rank 0's. */
static void chunks(void) {
    enum { BYTES = CHUNKS * CHUNK_BYTES, MISSING = 100 };
    unsigned char mine[CHUNKS * CHUNK_SPAN], *model = calloc((size_t)ranks, BYTES);
    MPI_Datatype type = chunks_new(), other;
    fill(mine, 0, sizeof mine, rank);
    MPI_File file = open_all("chunks", MODE_NEW);
    for (int again = 0; again < 2; again++) {
        OK(MPI_File_write_at_all(file, (ranks - 1 - rank) * BYTES, mine, 1, type, MPI_STATUS_IGNORE));
        other = chunks_new();
        chunks_check(file, other, BYTES);
        chunks_check(file, other, BYTES);
        MPI_Type_free(&other);
    }
    OK(MPI_File_set_size(file, ranks * BYTES - MISSING));
    other = chunks_new();
    chunks_check(file, other, rank == 0 ? BYTES - MISSING : BYTES);
    OK(MPI_File_close(&file));
    for (int r = 0; r < ranks; r++)
        for (int i = 0; i < BYTES; i++)
            model[(ranks - 1 - r) * BYTES + i] = byte_of(chunk_byte(i), r);
    CHECK_FILE("chunks", model, ranks * BYTES - MISSING);
    MPI_Type_free(&other);
    MPI_Type_free(&type);
    free(model);
}

/* A few bytes, gigabytes apart: the file is nearly all hole. */
static void far_apart(void) {
    enum { N = 3 };
    const MPI_Aint stride = (MPI_Aint)5 << 30;
    MPI_File file = open_all("far", MODE_NEW);
    MPI_Datatype one, type;
    MPI_Status status;
    MPI_Offset size = -1;
    double mine[N] = {rank + 0.5, rank + 1.5, rank + 2.5}, back[N] = {0}, alone = 0;
    MPI_Type_contiguous(1, MPI_DOUBLE, &one);
    MPI_Type_create_resized(one, 0, stride, &type);
    MPI_Type_commit(&type);
    OK(MPI_File_set_view(file, ((MPI_Offset)3 << 30) + 8 * rank, MPI_DOUBLE, type, "native", MPI_INFO_NULL));
    OK(MPI_File_write_at_all(file, 0, mine, N, MPI_DOUBLE, &status));
    CHECK_INT(count_in(&status, MPI_DOUBLE), N);
    OK(MPI_File_read_at_all(file, 0, back, N, MPI_DOUBLE, &status));
    CHECK(memcmp(mine, back, sizeof mine) == 0);
    meet();
    OK(MPI_File_get_size(file, &size));
    CHECK_INT(size, ((MPI_Offset)3 << 30) + 2 * stride + 8 * ranks);
    OK(MPI_File_set_view(file, 0, MPI_DOUBLE, MPI_DOUBLE, "native", MPI_INFO_NULL));
    OK(MPI_File_read_at(file, (((MPI_Offset)3 << 30) + 2 * stride) / 8 + rank, &alone, 1, MPI_DOUBLE, &status));
    CHECK(alone == mine[2]);
    OK(MPI_File_close(&file));
    MPI_Type_free(&one);
    MPI_Type_free(&type);
    struct stat info = {0};
    CHECK_OR(PLAIN_MPICH, stat("far", &info) == 0 && info.st_blocks < 4096); /* of 512 bytes */
    meet();
    if (rank == 0)
        (void)unlink("far");
}

/* What was set can be asked for. */
static void asked(void) {
    MPI_File file = open_all("asked", MODE_NEW);
    MPI_Datatype type = turns_of(3, MPI_INT), etype, filetype;
    MPI_Offset disp = -1, at = -1;
    MPI_Aint lower, extent;
    char datarep[MPI_MAX_DATAREP_STRING];
    int size = -1;
    OK(MPI_File_set_view(file, 100 + 12 * rank, MPI_INT, type, "native", MPI_INFO_NULL));
    OK(MPI_File_get_view(file, &disp, &etype, &filetype, datarep));
    CHECK_INT(disp, 100 + 12 * rank);
    CHECK(strcmp(datarep, "native") == 0);
    MPI_Type_size(filetype, &size);
    MPI_Type_get_extent(filetype, &lower, &extent);
    CHECK(size == 12 && extent == 12 * ranks);
    OK(MPI_File_get_byte_offset(file, 4, &at));
    CHECK_INT(at, 100 + 12 * rank + 12 * ranks + 4);
    OK(MPI_File_get_type_extent(file, MPI_INT, &extent));
    CHECK_INT(extent, 4);
    OK(MPI_File_write_all(file, (int[]){1, 2, 3, 4}, 4, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
    MPI_Type_free(&filetype);
    MPI_Type_free(&type);
}

/* Ints that are wrapped one by one, two of every three, from this rank's share of the file on. */
enum { WRAPPED = 200 };

static int wrapped_place(int i) { return i + i / 2; }

static MPI_Datatype wrapped_new(bool commit) {
    MPI_Datatype parts[WRAPPED], one, all;
    int lengths[WRAPPED];
    MPI_Aint places[WRAPPED];
    for (int i = 0; i < WRAPPED; i++) {
        MPI_Type_vector(1, 1, 1, MPI_INT, &one);
        MPI_Type_create_resized(one, 0, 100 + i, &parts[i]);
        MPI_Type_free(&one);
        lengths[i] = 1;
        places[i] = 4 * wrapped_place(i);
    }
    MPI_Type_create_struct(WRAPPED, lengths, places, parts, &one);
    for (int i = 0; i < WRAPPED; i++)
        MPI_Type_free(&parts[i]);
    MPI_Type_create_resized(one, 0, 8 * WRAPPED, &all);
    MPI_Type_free(&one);
    if (commit)
        MPI_Type_commit(&all);
    return all;
}

/* The view's filetype, as the program gets it: so many ints in the same places. */
static void wrapped_asked(MPI_File file) {
    MPI_Datatype etype, filetype;
    MPI_Offset disp;
    MPI_Status status = {0};
    MPI_Aint lower, extent;
    char datarep[MPI_MAX_DATAREP_STRING];
    int from[2 * WRAPPED], packed[WRAPPED], place = 0, ints = -1;
    OK(MPI_File_get_view(file, &disp, &etype, &filetype, datarep));
    MPI_Type_get_extent(filetype, &lower, &extent);
    CHECK(lower == 0 && extent == 8 * WRAPPED);
    MPI_Status_set_elements(&status, MPI_BYTE, 4 * WRAPPED);
    MPI_Get_elements(&status, filetype, &ints);
    CHECK_INT(ints, WRAPPED);
    for (int i = 0; i < 2 * WRAPPED; i++)
        from[i] = i;
    OK(MPI_Pack(from, 1, filetype, packed, (int)sizeof packed, &place, MPI_COMM_SELF));
    for (int i = 0; i < WRAPPED; i++)
        CHECK_INT(packed[i], wrapped_place(i));
    MPI_Type_free(&filetype);
}

/* A view of very many types, whose independent calls are the MPI library's; changed, and set again. */
static void wrapped(void) {
    MPI_File file = open_all("wrapped", MODE_NEW);
    MPI_Datatype type = wrapped_new(true), raw = wrapped_new(false);
    int mine[2 * WRAPPED], back[2 * WRAPPED];
    fill(mine, 0, sizeof mine, rank);
    MPI_Offset start = (MPI_Offset)rank * 16 * WRAPPED;
    const bool known = PLAIN && OPENMPI; /* a rank's call returns while OMPIO's aggregator still writes its data */
    for (int again = 0; again < 2; again++) {
        OK(MPI_File_set_view(file, start, MPI_INT, type, "native", MPI_INFO_NULL));
        OK(MPI_File_write_at_all(file, 0, mine, WRAPPED + 7, MPI_INT, MPI_STATUS_IGNORE));
        OK(MPI_File_write_at(file, WRAPPED + 7, mine + WRAPPED + 7, WRAPPED - 7, MPI_INT, MPI_STATUS_IGNORE));
        memset(back, 0, sizeof back);
        OK(MPI_File_read_at(file, 3, back, 2 * WRAPPED - 3, MPI_INT, MPI_STATUS_IGNORE));
        CHECK_OR(known, memcmp(back, mine + 3, sizeof back - 12) == 0);
        if (!OPENMPI) /* which does not look at it */
            FAILS(MPI_File_set_view(file, start, MPI_INT, raw, "native", MPI_INFO_NULL), MPI_ERR_TYPE);
        wrapped_asked(file);
        MPI_Offset at = -1;
        OK(MPI_File_get_byte_offset(file, WRAPPED + 4, &at));
        CHECK_INT(at, start + 8 * WRAPPED + 4 * wrapped_place(4));
        OK(MPI_File_set_view(file, start, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
        OK(MPI_File_read_at(file, 2 * WRAPPED + wrapped_place(4), back, 1, MPI_INT, MPI_STATUS_IGNORE));
        CHECK_INT_OR(known, back[0], mine[WRAPPED + 4]);
    }
    MPI_Type_free(&raw);
    MPI_Type_free(&type);
    OK(MPI_File_close(&file));
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    arrays();
    nested();
    irregular();
    memory();
    chunks();
    far_apart();
    asked();
    wrapped();
    return check_end();
}
