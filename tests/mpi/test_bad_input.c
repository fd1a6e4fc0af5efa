/* RUN: n=1,4 */
/* Bad input: whatever is wrong, on one rank or on all, every rank gets the same status and a message that names
 * the fault and the rank; nobody hangs; nothing leaks; the file is as it was and can still be used. */
#include <errno.h>

#include "mpi/check.h"

enum { SIZE = 4096, PIECE = 8 };

static unsigned char content[SIZE]; /* of the file, always */
static unsigned char other[SIZE];   /* what the calls would write, were they not refused */
static const char *path;

/* ---- Communicators that exist, for leaks ---- */

static int live_comms;

static int count_comm(int code, const MPI_Comm *made) {
    live_comms += code == MPI_SUCCESS && *made != MPI_COMM_NULL;
    return code;
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *made) { return count_comm(PMPI_Comm_dup(comm, made), made); }

int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *made) {
    return count_comm(PMPI_Comm_split(comm, color, key, made), made);
}

int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *made) {
    return count_comm(PMPI_Comm_split_type(comm, type, key, info, made), made);
}

int MPI_Comm_free(MPI_Comm *comm) {
    live_comms--;
    return PMPI_Comm_free(comm);
}

/* ---- On which ranks a fault is ---- */

typedef enum { EVERYWHERE, FIRST, LAST, PLACES } place;

static bool is_faulty(place at) {
    return at == EVERYWHERE || (at == FIRST && rank == 0) || (at == LAST && rank == ranks - 1);
}

static int blamed(place at) { return at == LAST ? ranks - 1 : 0; }

/* What must not grow. */
typedef struct holdings {
    int64_t memory;
    int descriptors, comms;
} holdings;

static holdings take_stock(sago_file *file) {
    holdings held = {file ? stats_of(file).memory_now : 0, open_descriptors(), live_comms};
    return held;
}

static void check_stock(sago_file *file, const holdings *before) {
    holdings now = take_stock(file);
    CHECK_INT(now.memory, before->memory);
    CHECK_INT(now.descriptors, before->descriptors);
    CHECK_INT(now.comms, before->comms);
}

/* The file still does what it is for. */
static void check_usable(sago_file *file) {
    unsigned char back[SIZE] = {0};
    MPI_Count bytes = -1;
    int64_t share = SIZE / ranks;
    CHECK_OK(sago_write_at_all(file, rank * share, content + rank * share, share, MPI_BYTE, &bytes));
    CHECK_INT(bytes, share);
    CHECK_OK(sago_read_at_all(file, 0, back, SIZE, MPI_BYTE, &bytes));
    CHECK_INT(bytes, SIZE);
    CHECK(memcmp(back, content, SIZE) == 0);
}

/* ---- Faults of data access: each call does the right thing unless `bad` ---- */

static sago_status write_some(sago_file *file, MPI_Offset offset, const void *buf, MPI_Count count, MPI_Datatype type) {
    MPI_Count bytes = -1;
    sago_status status = sago_write_at_all(file, offset, buf, count, type, &bytes);
    CHECK_INT(bytes, status ? 0 : PIECE);
    return status;
}

static sago_status read_some(sago_file *file, MPI_Offset offset, void *buf, MPI_Count count, MPI_Datatype type) {
    unsigned char before[SIZE];
    memcpy(before, other, sizeof before);
    MPI_Count bytes = -1;
    sago_status status = sago_read_at_all(file, offset, buf, count, type, &bytes);
    CHECK_INT(bytes, 0);
    CHECK(memcmp(before, other, sizeof before) == 0);
    return status;
}

static sago_status negative_offset(sago_file *file, bool bad) {
    return write_some(file, bad ? -1 : rank * PIECE, other, PIECE, MPI_BYTE);
}
static sago_status lowest_offset(sago_file *file, bool bad) {
    return write_some(file, bad ? INT64_MIN : rank * PIECE, other, PIECE, MPI_BYTE);
}
static sago_status negative_offset_read(sago_file *file, bool bad) {
    return read_some(file, bad ? -1 : 0, other, PIECE, MPI_BYTE);
}
static sago_status negative_count(sago_file *file, bool bad) {
    return write_some(file, rank * PIECE, other, bad ? -3 : PIECE, MPI_BYTE);
}
static sago_status negative_count_read(sago_file *file, bool bad) {
    return read_some(file, 0, other, bad ? -3 : PIECE, MPI_BYTE);
}
static sago_status far_offset(sago_file *file, bool bad) {
    return write_some(file, bad ? INT64_MAX : rank * PIECE, other, PIECE, MPI_BYTE);
}
static sago_status far_offset_read(sago_file *file, bool bad) {
    return read_some(file, bad ? INT64_MAX - 2 : 0, other, PIECE, MPI_BYTE);
}
static sago_status huge_count(sago_file *file, bool bad) {
    return write_some(file, rank * PIECE, other, bad ? INT64_MAX / 2 : 1, MPI_DOUBLE);
}
static sago_status null_type(sago_file *file, bool bad) {
    return write_some(file, rank * PIECE, other, PIECE, bad ? MPI_DATATYPE_NULL : MPI_BYTE);
}
static sago_status null_type_read(sago_file *file, bool bad) {
    return read_some(file, 0, other, PIECE, bad ? MPI_DATATYPE_NULL : MPI_BYTE);
}
static sago_status null_buffer(sago_file *file, bool bad) {
    return write_some(file, rank * PIECE, bad ? NULL : other, PIECE, MPI_BYTE);
}
static sago_status null_buffer_read(sago_file *file, bool bad) {
    return read_some(file, 0, bad ? NULL : other, PIECE, MPI_BYTE);
}

/* A NULL buffer is no less NULL when its type has gaps. */
static sago_status null_buffer_gaps(sago_file *file, bool bad) {
    MPI_Datatype type;
    MPI_Type_vector(2, 4, 8, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    sago_status status = write_some(file, rank * PIECE, bad ? NULL : other, 1, type);
    MPI_Type_free(&type);
    return status;
}

/* ---- Faults of extent lists ---- */

static sago_status write_list(sago_file *file, int64_t n, const sago_extent *list, const void *buf) {
    return sago_write_extents_all(file, n, list, buf);
}

/* Two extents, the second as given. */
static sago_status write_pair(sago_file *file, bool bad, int64_t offset, int64_t length) {
    sago_extent list[2] = {{100, 20}, {200, 20}};
    if (bad)
        list[1] = (sago_extent){offset, length};
    return write_list(file, 2, list, other);
}

static sago_status descending(sago_file *file, bool bad) { return write_pair(file, bad, 40, 20); }
static sago_status overlapping(sago_file *file, bool bad) { return write_pair(file, bad, 119, 20); }
static sago_status negative_start(sago_file *file, bool bad) { return write_pair(file, bad, -1, 20); }
static sago_status negative_length(sago_file *file, bool bad) { return write_pair(file, bad, 200, -1); }
static sago_status far_end(sago_file *file, bool bad) { return write_pair(file, bad, INT64_MAX - 5, 20); }
static sago_status long_extent(sago_file *file, bool bad) { return write_pair(file, bad, 200, INT64_MAX); }

static sago_status overlapping_read(sago_file *file, bool bad) {
    sago_extent list[2] = {{100, 20}, {bad ? 110 : 200, 20}};
    unsigned char buf[40] = {0}, zeros[40] = {0};
    MPI_Count bytes = -1;
    sago_status status = sago_read_extents_all(file, 2, list, buf, &bytes);
    CHECK_INT(bytes, 0);
    CHECK(memcmp(buf, zeros, sizeof buf) == 0);
    return status;
}
static sago_status negative_list(sago_file *file, bool bad) {
    sago_extent one = {100, 20};
    return write_list(file, bad ? -1 : 1, &one, other);
}
static sago_status null_list(sago_file *file, bool bad) {
    sago_extent one = {100, 20};
    return write_list(file, 1, bad ? NULL : &one, other);
}
static sago_status null_list_buffer(sago_file *file, bool bad) {
    sago_extent one = {100, 20};
    return write_list(file, 1, &one, bad ? NULL : other);
}

/* ---- Faults of views ---- */

/* The view of all ranks stays (0, MPI_BYTE, MPI_BYTE), whatever is tried. */
static sago_status try_view(sago_file *file, bool bad, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype) {
    return bad ? sago_set_view(file, disp, etype, filetype) : sago_set_view(file, 64, MPI_INT, MPI_INT);
}

static sago_status negative_disp(sago_file *file, bool bad) { return try_view(file, bad, -1, MPI_BYTE, MPI_BYTE); }
static sago_status null_etype(sago_file *file, bool bad) {
    return try_view(file, bad, 0, MPI_DATATYPE_NULL, MPI_BYTE);
}
static sago_status null_filetype(sago_file *file, bool bad) {
    return try_view(file, bad, 0, MPI_BYTE, MPI_DATATYPE_NULL);
}
static sago_status uneven_filetype(sago_file *file, bool bad) { return try_view(file, bad, 0, MPI_DOUBLE, MPI_INT); }

static sago_status empty_etype(sago_file *file, bool bad) {
    MPI_Datatype empty;
    MPI_Type_contiguous(0, MPI_BYTE, &empty);
    sago_status status = try_view(file, bad, 0, empty, MPI_BYTE);
    MPI_Type_free(&empty);
    return status;
}

/* Writes one tile of a view that one cannot write through. */
static sago_status write_through(sago_file *file, bool bad, MPI_Datatype filetype, MPI_Offset offset) {
    CHECK_OK(sago_set_view(file, 0, MPI_BYTE, bad ? filetype : MPI_BYTE));
    sago_status status = sago_write_at_all(file, bad ? offset : rank * PIECE, other, PIECE, MPI_BYTE, NULL);
    char why[1024];
    (void)snprintf(why, sizeof why, "%s", sago_error_message());
    CHECK_OK(sago_set_view(file, 0, MPI_BYTE, MPI_BYTE));
    (void)sago_write_at_all(NULL, 0, NULL, 0, MPI_BYTE, NULL); /* not empty at least, and read again below */
    (void)why;
    return status;
}
