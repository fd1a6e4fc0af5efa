/* RUN: n=1,4 */
/* Bad input: whatever is wrong, on one rank or on all, every rank gets the same status and a message that names
 * the fault and the rank; nobody hangs; nothing leaks; the file is as it was and can still be used. */
#include <errno.h>

#include "mpi/check.h"
#include "mpi/counted_comms.h"

enum { SIZE = 4096, PIECE = 8 };

static unsigned char content[SIZE]; /* of the file, always */
static unsigned char other[SIZE];   /* what the calls would write, were they not refused */
static const char *path;

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

static sago_status write_some(sago_file *file, MPI_Offset offset, const void *buf, MPI_Count count,
                              MPI_Datatype type) {
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
static sago_status try_view(sago_file *file, bool bad, MPI_Offset disp, MPI_Datatype etype,
                            MPI_Datatype filetype) {
    return bad ? sago_set_view(file, disp, etype, filetype) : sago_set_view(file, 64, MPI_INT, MPI_INT);
}

static sago_status negative_disp(sago_file *file, bool bad) { return try_view(file, bad, -1, MPI_BYTE, MPI_BYTE); }
static sago_status null_etype(sago_file *file, bool bad) {
    return try_view(file, bad, 0, MPI_DATATYPE_NULL, MPI_BYTE);
}
static sago_status null_filetype(sago_file *file, bool bad) {
    return try_view(file, bad, 0, MPI_BYTE, MPI_DATATYPE_NULL);
}
static sago_status uneven_filetype(sago_file *file, bool bad) {
    return try_view(file, bad, 0, MPI_DOUBLE, MPI_INT);
}

static sago_status empty_etype(sago_file *file, bool bad) {
    MPI_Datatype empty;
    MPI_Type_contiguous(0, MPI_BYTE, &empty);
    sago_status status = try_view(file, bad, 0, empty, MPI_BYTE);
    MPI_Type_free(&empty);
    return status;
}

/* Writes through a view that is fine to read through, or by itself. */
static sago_status write_through(sago_file *file, bool bad, MPI_Datatype filetype, MPI_Offset offset) {
    MPI_Type_commit(&filetype);
    CHECK_OK(sago_set_view(file, 0, MPI_BYTE, bad ? filetype : MPI_BYTE));
    MPI_Type_free(&filetype);
    return sago_write_at_all(file, bad ? offset : rank * PIECE, other, PIECE, MPI_BYTE, NULL);
}

static sago_status twice_the_same(sago_file *file, bool bad) {
    MPI_Datatype filetype;
    int lengths[2] = {4, 4}, places[2] = {0, 2};
    MPI_Type_indexed(2, lengths, places, MPI_BYTE, &filetype);
    return write_through(file, bad, filetype, 0);
}
static sago_status before_the_start(sago_file *file, bool bad) {
    MPI_Datatype filetype;
    int length = 8, start = -16;
    MPI_Type_indexed(1, &length, &start, MPI_BYTE, &filetype);
    return write_through(file, bad, filetype, 0);
}
static sago_status no_room(sago_file *file, bool bad) {
    MPI_Datatype filetype;
    MPI_Type_contiguous(0, MPI_BYTE, &filetype);
    return write_through(file, bad, filetype, 0);
}
static sago_status far_etypes(sago_file *file, bool bad) {
    CHECK_OK(sago_set_view(file, 0, bad ? MPI_DOUBLE : MPI_BYTE, bad ? MPI_DOUBLE : MPI_BYTE));
    return sago_write_at_all(file, bad ? INT64_MAX / 4 : rank * PIECE, other, PIECE, MPI_BYTE, NULL);
}
static sago_status far_tiles(sago_file *file, bool bad) {
    MPI_Datatype wide;
    MPI_Type_create_resized(MPI_BYTE, 0, (MPI_Aint)1 << 50, &wide);
    return write_through(file, bad, wide, 1 << 20);
}

/* ---- Faults of sizes ---- */

static sago_status negative_size(sago_file *file, bool bad) { return sago_set_size(file, bad ? -1 : 10); }
static sago_status lowest_size(sago_file *file, bool bad) { return sago_set_size(file, bad ? INT64_MIN : 10); }
static sago_status negative_space(sago_file *file, bool bad) {
    return sago_preallocate(file, bad ? -1 : 2 * SIZE);
}

/* ---- Faults of declarations ---- */

static sago_status declare_bad(sago_file *file, const sago_var *bad) {
    sago_series *const untouched = (sago_series *)&failures, *series = untouched;
    sago_var vars[2] = {SAGO_VAR_INIT, SAGO_VAR_INIT};
    vars[0].count = vars[1].count = PIECE;
    vars[0].offset = rank * PIECE;
    vars[1].offset = SIZE / 2 + rank * PIECE;
    if (bad)
        vars[1] = *bad;
    sago_status status = sago_declare(file, 2, vars, &series);
    CHECK(series == untouched);
    return status;
}

static sago_status var_size(sago_file *file, bool bad) {
    sago_var var = SAGO_VAR_INIT;
    var.size--;
    return declare_bad(file, bad ? &var : NULL);
}
static sago_status var_offset(sago_file *file, bool bad) {
    sago_var var = SAGO_VAR_INIT;
    var.offset = -7;
    return declare_bad(file, bad ? &var : NULL);
}
static sago_status var_count(sago_file *file, bool bad) {
    sago_var var = SAGO_VAR_INIT;
    var.count = -7;
    return declare_bad(file, bad ? &var : NULL);
}
static sago_status var_type(sago_file *file, bool bad) {
    sago_var var = SAGO_VAR_INIT;
    var.type = MPI_DATATYPE_NULL;
    return declare_bad(file, bad ? &var : NULL);
}
static sago_status var_far(sago_file *file, bool bad) {
    sago_var var = SAGO_VAR_INIT;
    var.offset = INT64_MAX - 10;
    var.count = 20;
    return declare_bad(file, bad ? &var : NULL);
}

/* One variable, or whatever else is said to be the number of them. */
static sago_status declare_number(sago_file *file, int64_t nvars, bool null_vars, bool null_series) {
    sago_series *series = NULL;
    sago_var var = SAGO_VAR_INIT;
    sago_status status = sago_declare(file, nvars, null_vars ? NULL : &var, null_series ? NULL : &series);
    CHECK(!series);
    return status;
}

static sago_status var_number(sago_file *file, bool bad) {
    return declare_number(file, bad ? -1 : 1, false, false);
}
static sago_status var_lowest(sago_file *file, bool bad) {
    return declare_number(file, bad ? INT64_MIN : 1, false, false);
}
static sago_status var_number_huge(sago_file *file, bool bad) {
    return declare_number(file, bad ? INT64_MAX / 2 : 1, false, false);
}
static sago_status null_vars(sago_file *file, bool bad) { return declare_number(file, 1, bad, false); }
static sago_status null_series(sago_file *file, bool bad) { return declare_number(file, 1, false, bad); }

/* ---- All of these ---- */

typedef struct fault {
    const char *what;
    sago_status (*call)(sago_file *file, bool bad);
    sago_status wanted;
    const char *word; /* of the message */
} fault;

static const fault faults[] = {
    {"negative offset", negative_offset, SAGO_ERR_ARG, "-1"},
    {"lowest offset", lowest_offset, SAGO_ERR_ARG, "negative"},
    {"negative offset, read", negative_offset_read, SAGO_ERR_ARG, "-1"},
    {"negative count", negative_count, SAGO_ERR_ARG, "-3"},
    {"negative count, read", negative_count_read, SAGO_ERR_ARG, "-3"},
    {"far offset", far_offset, SAGO_ERR_OVERFLOW, "9223372036854775807"},
    {"far offset, read", far_offset_read, SAGO_ERR_OVERFLOW, "9223372036854775805"},
    {"huge count", huge_count, SAGO_ERR_OVERFLOW, "elements"},
    {"null type", null_type, SAGO_ERR_TYPE, "MPI_DATATYPE_NULL"},
    {"null type, read", null_type_read, SAGO_ERR_TYPE, "MPI_DATATYPE_NULL"},
    {"null buffer", null_buffer, SAGO_ERR_ARG, "NULL"},
    {"null buffer, read", null_buffer_read, SAGO_ERR_ARG, "NULL"},
    {"null buffer of a type with gaps", null_buffer_gaps, SAGO_ERR_ARG, "NULL"},
    {"descending extents", descending, SAGO_ERR_EXTENTS, "extent 1"},
    {"overlapping extents", overlapping, SAGO_ERR_EXTENTS, "119"},
    {"overlapping extents, read", overlapping_read, SAGO_ERR_EXTENTS, "extent 1"},
    {"extent before the start", negative_start, SAGO_ERR_ARG, "negative offset -1"},
    {"negative length", negative_length, SAGO_ERR_ARG, "negative length -1"},
    {"extent past the end", far_end, SAGO_ERR_OVERFLOW, "extent 1"},
    {"long extent", long_extent, SAGO_ERR_OVERFLOW, "extent 1"},
    {"negative number of extents", negative_list, SAGO_ERR_ARG, "-1 extents"},
    {"null list", null_list, SAGO_ERR_ARG, "NULL"},
    {"null buffer of a list", null_list_buffer, SAGO_ERR_ARG, "NULL"},
    {"negative displacement", negative_disp, SAGO_ERR_ARG, "displacement -1"},
    {"null etype", null_etype, SAGO_ERR_TYPE, "MPI_DATATYPE_NULL"},
    {"null filetype", null_filetype, SAGO_ERR_TYPE, "MPI_DATATYPE_NULL"},
    {"filetype of half etypes", uneven_filetype, SAGO_ERR_TYPE, "multiple"},
    {"empty etype", empty_etype, SAGO_ERR_TYPE, "etype has no bytes"},
    {"view that writes a byte twice", twice_the_same, SAGO_ERR_EXTENTS, "twice"},
    {"view that begins before the file", before_the_start, SAGO_ERR_ARG, "negative offset -16"},
    {"view without bytes", no_room, SAGO_ERR_TYPE, "no bytes"},
    {"far etypes", far_etypes, SAGO_ERR_OVERFLOW, "etypes of 8 bytes"},
    {"far tiles", far_tiles, SAGO_ERR_OVERFLOW, "beyond"},
    {"negative size", negative_size, SAGO_ERR_ARG, "-1"},
    {"lowest size", lowest_size, SAGO_ERR_ARG, "negative"},
    {"negative space", negative_space, SAGO_ERR_ARG, "-1"},
    {"variable of wrong size", var_size, SAGO_ERR_ARG, "SAGO_VAR_INIT"},
    {"variable with a negative offset", var_offset, SAGO_ERR_ARG, "variable 1 has the negative offset -7"},
    {"variable with a negative count", var_count, SAGO_ERR_ARG, "variable 1 has the negative count -7"},
    {"variable without a type", var_type, SAGO_ERR_TYPE, "MPI_DATATYPE_NULL"},
    {"variable far away", var_far, SAGO_ERR_OVERFLOW, ""},
    {"negative number of variables", var_number, SAGO_ERR_ARG, "-1 variables"},
    {"lowest number of variables", var_lowest, SAGO_ERR_ARG, "variables"},
    {"too many variables", var_number_huge, SAGO_ERR_MEMORY, "variables"},
    {"null variables", null_vars, SAGO_ERR_ARG, "NULL"},
    {"nowhere to put the series", null_series, SAGO_ERR_ARG, "NULL"},
};

/* Ranks with the fault and ranks without: with one process all places are the same. */
static void check_fault(sago_file *file, const fault *wrong) {
    scene = wrong->what;
    for (place at = EVERYWHERE; at < (ranks > 1 ? PLACES : FIRST); at++) {
        holdings before = take_stock(file);
        EXPECT(wrong->call(file, is_faulty(at)), wrong->wanted, wrong->word, blamed(at));
        CHECK_FILE(path, content, SIZE);
        CHECK_OK(sago_set_view(file, 0, MPI_BYTE, MPI_BYTE));
        check_usable(file);
        check_stock(file, &before);
    }
}

static void test_faults(const char *hints) {
    sago_file *file = NULL;
    CHECK_OK(open_hinted(path, MPI_MODE_RDWR, hints, &file));
    check_usable(file);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        check_fault(file, &faults[i]);
    scene = "closing after all faults";
    CHECK_OK(sago_close(&file));
}

/* ---- Modes that do not allow a call ---- */

static void test_forbidden(void) {
    sago_file *file = NULL;
    unsigned char buf[PIECE] = {0};
    scene = "read-only file";
    CHECK_OK(open_hinted(path, MPI_MODE_RDONLY, "", &file));
    EXPECT(sago_write_at_all(file, 0, other, PIECE, MPI_BYTE, NULL), SAGO_ERR_MODE, "MPI_MODE_RDONLY", 0);
    EXPECT(sago_set_size(file, 0), SAGO_ERR_MODE, "MPI_MODE_RDONLY", 0);
    EXPECT(sago_preallocate(file, 2 * SIZE), SAGO_ERR_MODE, "MPI_MODE_RDONLY", 0);
    EXPECT(sago_write_at(file, 0, other, PIECE, MPI_BYTE, NULL), SAGO_ERR_MODE, "MPI_MODE_RDONLY", -1);
    CHECK_OK(sago_close(&file));
    scene = "write-only file";
    CHECK_OK(open_hinted(path, MPI_MODE_WRONLY, "", &file));
    EXPECT(sago_read_at_all(file, 0, buf, PIECE, MPI_BYTE, NULL), SAGO_ERR_MODE, "MPI_MODE_WRONLY", 0);
    EXPECT(sago_read_at(file, 0, buf, PIECE, MPI_BYTE, NULL), SAGO_ERR_MODE, "MPI_MODE_WRONLY", -1);
    CHECK_OK(sago_close(&file));
    CHECK_FILE(path, content, SIZE);
}

/* ---- Ranks that disagree on an argument ---- */

static bool odd_one(void) { return rank == ranks - 1; }

static sago_status different_size(sago_file *file) { return sago_set_size(file, SIZE - odd_one()); }
static sago_status different_space(sago_file *file) { return sago_preallocate(file, SIZE + odd_one()); }

static sago_status different_number(sago_file *file) {
    sago_series *series = NULL;
    sago_var vars[2] = {SAGO_VAR_INIT, SAGO_VAR_INIT};
    sago_status status = sago_declare(file, 1 + odd_one(), vars, &series);
    CHECK(!series);
    return status;
}

static void test_disagreements(sago_file *file) {
    holdings before = take_stock(file);
    scene = "different sizes";
    EXPECT(different_size(file), SAGO_ERR_MISMATCH, "different", -1);
    scene = "different space";
    EXPECT(different_space(file), SAGO_ERR_MISMATCH, "different", -1);
    scene = "different numbers of variables";
    EXPECT(different_number(file), SAGO_ERR_MISMATCH, "different", -1);
    check_stock(file, &before);
    CHECK_FILE(path, content, SIZE);
    check_usable(file);
}

static sago_series *declare_one(sago_file *file) {
    sago_series *series = NULL;
    sago_var var = SAGO_VAR_INIT;
    var.offset = rank * PIECE;
    var.count = PIECE;
    CHECK_OK(sago_declare(file, 1, &var, &series));
    return series;
}

static void test_series_disagreements(sago_file *file) {
    sago_series *series = declare_one(file);
    unsigned char buf[PIECE];
    scene = "different displacements";
    EXPECT(sago_series_next(series, 8 + odd_one()), SAGO_ERR_MISMATCH, "different", -1);
    scene = "one rank reads, the others write";
    if (odd_one())
        CHECK_OK(sago_series_read(series, 0, buf));
    else
        CHECK_OK(sago_series_write(series, 0, other));
    EXPECT(sago_series_complete(series), SAGO_ERR_MISMATCH, "read", -1);
    CHECK_FILE(path, content, SIZE);
    scene = "the step after";
    CHECK_OK(sago_series_next(series, 0));
    CHECK_OK(sago_series_write(series, 0, content + rank * PIECE));
    CHECK_OK(sago_series_complete(series));
    CHECK_FILE(path, content, SIZE);
    CHECK_OK(sago_series_free(&series));
}

/* ---- Ranks that are in different calls: every pair of them ---- */

typedef struct handles {
    sago_file *file;
    sago_series *series;
} handles;

static sago_status do_write(handles *use) { return sago_write_at_all(use->file, 0, other, PIECE, MPI_BYTE, NULL); }
static sago_status do_read(handles *use) {
    unsigned char buf[PIECE];
    return sago_read_at_all(use->file, 0, buf, PIECE, MPI_BYTE, NULL);
}
static sago_status do_view(handles *use) { return sago_set_view(use->file, 64, MPI_INT, MPI_INT); }
static sago_status do_sync(handles *use) { return sago_sync(use->file); }
static sago_status do_size(handles *use) { return sago_set_size(use->file, 10); }
static sago_status do_space(handles *use) { return sago_preallocate(use->file, 2 * SIZE); }
static sago_status do_next(handles *use) { return sago_series_next(use->series, 64); }
static sago_status do_free(handles *use) { return sago_series_free(&use->series); }
static sago_status do_close(handles *use) { return sago_close(&use->file); }

static sago_status do_declare(handles *use) {
    sago_series *series = NULL;
    sago_var var = SAGO_VAR_INIT;
    sago_status status = sago_declare(use->file, 1, &var, &series);
    CHECK(!series);
    return status;
}
static sago_status do_complete(handles *use) {
    CHECK_OK(sago_series_write(use->series, 0, other));
    return sago_series_complete(use->series);
}
static sago_status do_complete_nothing(handles *use) { return sago_series_complete(use->series); }

static const struct {
    const char *name;
    sago_status (*run)(handles *use);
} calls[] = {{"write", do_write},       {"read", do_read},
             {"set_view", do_view},     {"sync", do_sync},
             {"set_size", do_size},     {"preallocate", do_space},
             {"next", do_next},         {"declare", do_declare},
             {"complete", do_complete}, {"complete nothing", do_complete_nothing},
             {"free", do_free},         {"close", do_close}};
enum { CALLS = sizeof calls / sizeof *calls };

/* One rank is in `mine`, the others are in `theirs`. */
static void check_pair(handles *use, int mine, int theirs) {
    char text[64];
    (void)snprintf(text, sizeof text, "%s while the others %s", calls[mine].name, calls[theirs].name);
    scene = text;
    int call = odd_one() ? mine : theirs;
    EXPECT(calls[call].run(use), SAGO_ERR_MISMATCH, "different collective calls", -1);
    CHECK(use->file && use->series);
}

static void test_different_calls(void) {
    handles use = {0};
    CHECK_OK(open_hinted(path, MPI_MODE_RDWR, "", &use.file));
    use.series = declare_one(use.file);
    check_usable(use.file);
    holdings before = take_stock(use.file);
    for (int mine = 0; mine < CALLS; mine++)
        for (int theirs = 0; theirs < CALLS; theirs++)
            if (calls[mine].run != calls[theirs].run && !(mine / 2 == 4 && theirs / 2 == 4))
                check_pair(&use, mine, theirs);
    scene = "after all pairs of calls";
    check_stock(use.file, &before);
    CHECK_FILE(path, content, SIZE);
    check_usable(use.file);
    CHECK_OK(sago_series_free(&use.series));
    CHECK_OK(sago_close(&use.file));
}

/* ---- Opening ---- */

typedef struct bad_open {
    const char *what;
    const char *name; /* in the scratch folder, which is where we are */
    int amode;
    const char *hints;
    sago_status wanted;
    const char *word;
} bad_open;

#define CREATE (MPI_MODE_RDWR | MPI_MODE_CREATE)

/* Wrong whatever the file; on one rank only, too.  Nothing is created. */
static const bad_open bad_arguments[] = {
    {"no mode", "new", 0, "", SAGO_ERR_MODE, "exactly one"},
    {"only create", "new", MPI_MODE_CREATE, "", SAGO_ERR_MODE, "exactly one"},
    {"read and write", "new", MPI_MODE_RDONLY | MPI_MODE_WRONLY | MPI_MODE_CREATE, "", SAGO_ERR_MODE,
     "exactly one"},
    {"write and both", "new", MPI_MODE_WRONLY | CREATE, "", SAGO_ERR_MODE, "exactly one"},
    {"read-only and create", "new", MPI_MODE_RDONLY | MPI_MODE_CREATE, "", SAGO_ERR_MODE, "MPI_MODE_CREATE"},
    {"read-only and exclusive", "old", MPI_MODE_RDONLY | MPI_MODE_EXCL, "", SAGO_ERR_MODE, "MPI_MODE_EXCL"},
    {"unknown bits", "new", CREATE | 1 << 20, "", SAGO_ERR_MODE, "bits"},
    {"all bits", "new", -1, "", SAGO_ERR_MODE, "bits"},
    {"sequential", "new", CREATE | MPI_MODE_SEQUENTIAL, "", SAGO_ERR_MODE, "MPI_MODE_SEQUENTIAL"},
    {"null path", NULL, CREATE, "", SAGO_ERR_ARG, "NULL"},
    {"empty path", "", CREATE, "", SAGO_ERR_ARG, "empty"},
    {"unknown hint", "new", CREATE, "sago_memroy=1M", SAGO_ERR_HINT,
     "sago_memroy is unknown; did you mean sago_memory"},
    {"size that is none", "new", CREATE, "sago_memory=lots", SAGO_ERR_HINT,
     "sago_memory: \"lots\" is not a size from 1M"},
    {"negative size", "new", CREATE, "sago_memory=-5", SAGO_ERR_HINT, "sago_memory"},
    {"small size", "new", CREATE, "sago_memory=100K", SAGO_ERR_HINT, "from 1M"},
    {"large size", "new", CREATE, "sago_window=2G", SAGO_ERR_HINT, "to 1G"},
    {"number past 64 bits", "new", CREATE, "sago_memory=99999999999999999999", SAGO_ERR_HINT, "sago_memory"},
    {"number that is none", "new", CREATE, "sago_messages=3x", SAGO_ERR_HINT, "sago_messages"},
    {"large number", "new", CREATE, "sago_plan_cache=1025", SAGO_ERR_HINT, "to 1024"},
    {"small number", "new", CREATE, "sago_messages=0", SAGO_ERR_HINT, "from 1"},
    {"unknown choice", "new", CREATE, "sago_strategy=magic", SAGO_ERR_HINT, "aggregated"},
    {"neither on nor off", "new", CREATE, "sago_direct_io=perhaps", SAGO_ERR_HINT, "on or off"},
    {"one of two hints", "new", CREATE, "sago_window=1M sago_io=fast", SAGO_ERR_HINT, "sago_io"},
};

/* Wrong because of what is there. */
static const bad_open bad_files[] = {
    {"missing file", "new", MPI_MODE_RDWR, "", SAGO_ERR_NO_FILE, "No such file"},
    {"missing file to read", "new", MPI_MODE_RDONLY, "", SAGO_ERR_NO_FILE, "No such file"},
    {"missing folder", "nowhere/new", CREATE, "", SAGO_ERR_NO_FILE, "nowhere/new"},
    {"file for a folder", "old/new", CREATE, "", SAGO_ERR_NO_FILE, "Not a directory"},
    {"folder", "folder", MPI_MODE_RDWR, "", SAGO_ERR_BAD_FILE, "directory"},
    {"folder to read", "folder", MPI_MODE_RDONLY, "", SAGO_ERR_BAD_FILE, "directory"},
    {"folder to create", "folder", CREATE, "", SAGO_ERR_BAD_FILE, "directory"},
    {"FIFO", "fifo", MPI_MODE_RDWR, "", SAGO_ERR_BAD_FILE, "FIFO"},
    {"FIFO to read", "fifo", MPI_MODE_RDONLY, "", SAGO_ERR_BAD_FILE, "FIFO"},
    {"FIFO to write", "fifo", MPI_MODE_WRONLY, "", SAGO_ERR_BAD_FILE, "FIFO"},
    {"device", "/dev/null", MPI_MODE_RDWR, "", SAGO_ERR_BAD_FILE, "device"},
    {"link to itself", "loop", MPI_MODE_RDWR, "", SAGO_ERR_BAD_FILE, "symbolic links"},
    {"exclusive, but there", "old", CREATE | MPI_MODE_EXCL, "", SAGO_ERR_EXISTS, "File exists"},
};

/* Wrong only for a user without privileges. */
static const bad_open forbidden_files[] = {
    {"unreadable file", "secret", MPI_MODE_RDONLY, "", SAGO_ERR_ACCESS, "Permission denied"},
    {"read-only file", "old", MPI_MODE_RDWR, "", SAGO_ERR_ACCESS, "Permission denied"},
    {"read-only file to write", "old", MPI_MODE_WRONLY, "", SAGO_ERR_ACCESS, "Permission denied"},
    {"read-only file to create", "old", CREATE, "", SAGO_ERR_ACCESS, "Permission denied"},
    {"unsearchable folder", "folder/new", MPI_MODE_RDONLY, "", SAGO_ERR_ACCESS, "Permission denied"},
    {"read-only folder", "new", CREATE, "", SAGO_ERR_ACCESS, "Permission denied"},
};

static void check_open(const bad_open *wrong, bool bad, int blame) {
    sago_file *const untouched = (sago_file *)&failures, *file = untouched;
    holdings before = take_stock(NULL);
    scene = wrong->what;
    EXPECT(bad ? open_hinted(wrong->name, wrong->amode, wrong->hints, &file)
               : open_hinted("new", CREATE, "", &file),
           wrong->wanted, wrong->word, blame);
    CHECK(strncmp(sago_error_message(), "sago_open: ", strlen("sago_open: ")) == 0);
    CHECK(file == untouched);
    CHECK(access("new", F_OK) != 0 && errno == ENOENT);
    check_stock(NULL, &before);
}

static void make_files(void) {
    plain_write("old", content, SIZE);
    plain_write("secret", content, SIZE);
    if (rank == 0) {
        CHECK(chmod("old", 0444) == 0 && chmod("secret", 0) == 0);
        CHECK(mkdir("folder", 0700) == 0 && mkfifo("fifo", 0666) == 0 && symlink("loop", "loop") == 0);
    }
    meet();
}

/* Nobody, as far as files go; MPI and Sago go on as before. */
static void drop_privileges(void) {
    if (geteuid() == 0)
        CHECK(seteuid(65534) == 0);
}
static void regain_privileges(void) {
    if (getuid() == 0)
        CHECK(seteuid(0) == 0);
}

static void test_open_forbidden(void) {
    bool root = getuid() == 0;
    for (size_t i = 0; root && i < sizeof forbidden_files / sizeof *forbidden_files; i++) {
        drop_privileges();
        check_open(&forbidden_files[i], true, 0);
        regain_privileges();
    }
    if (!root || ranks == 1)
        return;
    scene = "file that one rank may not read";
    for (place at = FIRST; at < PLACES; at++) {
        sago_file *file = NULL;
        holdings before = take_stock(NULL);
        if (is_faulty(at))
            drop_privileges();
        EXPECT(open_hinted("secret", MPI_MODE_RDONLY, "", &file), SAGO_ERR_ACCESS, "Permission denied",
               blamed(at));
        regain_privileges();
        CHECK(!file);
        check_stock(NULL, &before);
    }
}

static void test_open(void) {
    sago_file *file = NULL;
    make_files();
    CHECK_OK(open_hinted(path, MPI_MODE_RDWR, "", &file)); /* what a second file needs stays for the next one */
    CHECK_OK(sago_close(&file));
    for (size_t i = 0; i < sizeof bad_arguments / sizeof *bad_arguments; i++)
        for (place at = EVERYWHERE; at < (ranks > 1 ? PLACES : FIRST); at++)
            check_open(&bad_arguments[i], is_faulty(at), blamed(at));
    for (size_t i = 0; i < sizeof bad_files / sizeof *bad_files; i++)
        check_open(&bad_files[i], true, 0);
    test_open_forbidden();
    scene = "files after all failed opens";
    CHECK_FILE("old", content, SIZE);
    CHECK_INT(plain_size("secret"), SIZE);
}

/* The environment gives defaults; what is wrong there is found when a file is opened, on the rank that has it. */
static void test_environment(void) {
    for (place at = EVERYWHERE; at < (ranks > 1 ? PLACES : FIRST); at++) {
        sago_file *file = NULL;
        scene = "wrong environment";
        if (is_faulty(at))
            setenv("SAGO_WINDOW", "tiny", 1);
        EXPECT(open_hinted("new", CREATE, "", &file), SAGO_ERR_HINT, "environment variable SAGO_WINDOW: \"tiny\"",
               blamed(at));
        if (is_faulty(at))
            setenv("SAGO_WINDOW", "1M", 1);
        scene = "different environments";
        if (at != EVERYWHERE)
            EXPECT(open_hinted("new", CREATE, "", &file), SAGO_ERR_MISMATCH, "hints", -1);
        unsetenv("SAGO_WINDOW");
        CHECK(!file && access("new", F_OK) != 0);
    }
}

/* A path that looks like what is added to a message. */
static void test_misleading_name(void) {
    sago_file *file = NULL;
    scene = "misleading name";
    EXPECT(open_hinted("new (rank 77)", MPI_MODE_RDWR, "", &file), SAGO_ERR_NO_FILE, "(rank 77): No such file", 0);
}

/* A message has room for so much; what went wrong and where must be in it. */
static void test_long_names(void) {
    char name[3 * 255 + 3];
    sago_file *file = NULL;
    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = name[255] = '\0';
    scene = "long name";
    EXPECT(open_hinted(name, MPI_MODE_RDWR, "", &file), SAGO_ERR_NO_FILE, "No such file", 0);
    name[255] = 'x';
    scene = "name too long";
    EXPECT(open_hinted(name, MPI_MODE_RDWR, "", &file), SAGO_ERR_BAD_FILE, "too long", 0);
    name[255] = name[511] = '/';
    scene = "long path";
    EXPECT(open_hinted(name, MPI_MODE_RDWR, "", &file), SAGO_ERR_NO_FILE, "No such file", 0);
}

static void test_open_disagreements(void) {
    sago_file *file = NULL;
    holdings before = take_stock(NULL);
    scene = "different paths";
    EXPECT(open_hinted(odd_one() ? "new" : "new2", CREATE, "", &file), SAGO_ERR_MISMATCH, "paths", -1);
    scene = "different modes";
    EXPECT(open_hinted("new", odd_one() ? CREATE | MPI_MODE_EXCL : CREATE, "", &file), SAGO_ERR_MISMATCH, "modes",
           -1);
    scene = "different hints";
    EXPECT(open_hinted("new", CREATE, odd_one() ? "sago_window=1M" : "", &file), SAGO_ERR_MISMATCH, "hints", -1);
    scene = "different memory"; /* of nodes; of one node the least counts */
    CHECK_OK(open_hinted("new", CREATE | MPI_MODE_DELETE_ON_CLOSE, odd_one() ? "sago_memory=2M" : "sago_memory=3M",
                         &file));
    CHECK_OK(sago_close(&file));
    scene = "nowhere to put the file, on one rank";
    for (place at = FIRST; at < PLACES; at++)
        EXPECT(open_hinted("new", CREATE, "", is_faulty(at) ? NULL : &file), SAGO_ERR_ARG, "NULL", blamed(at));
    CHECK(!file && access("new", F_OK) != 0 && access("new2", F_OK) != 0);
    check_stock(NULL, &before);
}

/* ---- What is wrong on the rank alone ---- */

#define LOCAL(call, wanted, word)                                                                                 \
    do {                                                                                                          \
        sago_status local_status = (call);                                                                        \
        const char *name = #call;                                                                                 \
        CHECK_INT(local_status, (wanted));                                                                        \
        CHECK(strncmp(sago_error_message(), name, strcspn(name, "(")) == 0);                                      \
        CHECK(strstr(sago_error_message(), (word)));                                                              \
    } while (0)

static void check_no_file(sago_file *file, const char *word) {
    sago_file *again = file;
    sago_series *series = NULL;
    MPI_Count bytes;
    MPI_Offset size;
    sago_stats stats = SAGO_STATS_INIT;
    char buf[8] = "";
    LOCAL(sago_close(&again), SAGO_ERR_HANDLE, word);
    LOCAL(sago_set_view(file, 0, MPI_BYTE, MPI_BYTE), SAGO_ERR_HANDLE, word);
    LOCAL(sago_write_at_all(file, 0, buf, 1, MPI_BYTE, &bytes), SAGO_ERR_HANDLE, word);
    LOCAL(sago_read_at_all(file, 0, buf, 1, MPI_BYTE, &bytes), SAGO_ERR_HANDLE, word);
    LOCAL(sago_write_at(file, 0, buf, 1, MPI_BYTE, &bytes), SAGO_ERR_HANDLE, word);
    LOCAL(sago_read_at(file, 0, buf, 1, MPI_BYTE, &bytes), SAGO_ERR_HANDLE, word);
    LOCAL(sago_write_extents_all(file, 0, NULL, buf), SAGO_ERR_HANDLE, word);
    LOCAL(sago_read_extents_all(file, 0, NULL, buf, &bytes), SAGO_ERR_HANDLE, word);
    LOCAL(sago_declare(file, 0, NULL, &series), SAGO_ERR_HANDLE, word);
    LOCAL(sago_sync(file), SAGO_ERR_HANDLE, word);
    LOCAL(sago_get_size(file, &size), SAGO_ERR_HANDLE, word);
    LOCAL(sago_set_size(file, 0), SAGO_ERR_HANDLE, word);
    LOCAL(sago_preallocate(file, 0), SAGO_ERR_HANDLE, word);
    LOCAL(sago_get_stats(file, &stats), SAGO_ERR_HANDLE, word);
    LOCAL(sago_get_hints(file, MPI_INFO_NULL), SAGO_ERR_HANDLE, word);
}

static void check_no_series(sago_series *series, const char *word) {
    sago_series *again = series;
    MPI_Count bytes;
    char buf[8] = "";
    LOCAL(sago_series_write(series, 0, buf), SAGO_ERR_HANDLE, word);
    LOCAL(sago_series_read(series, 0, buf), SAGO_ERR_HANDLE, word);
    LOCAL(sago_series_complete(series), SAGO_ERR_HANDLE, word);
    LOCAL(sago_series_bytes(series, &bytes), SAGO_ERR_HANDLE, word);
    LOCAL(sago_series_next(series, 0), SAGO_ERR_HANDLE, word);
    LOCAL(sago_series_free(&again), SAGO_ERR_HANDLE, word);
}

/* Only one rank calls: were it collective, it would wait for ever. */
static void test_handles(void) {
    sago_file *file = NULL, *closed;
    CHECK_OK(open_hinted(path, MPI_MODE_RDWR, "", &file));
    sago_series *series = declare_one(file), *freed = series, *left = declare_one(file);
    CHECK_OK(sago_series_free(&series));
    CHECK(!series);
    scene = "freed series";
    if (rank == 0)
        check_no_series(freed, "freed");
    closed = file;
    CHECK_OK(sago_close(&file));
    CHECK(!file);
    if (rank != 0)
        return;
    scene = "null handles";
    check_no_file(NULL, "NULL");
    check_no_series(NULL, "NULL");
    LOCAL(sago_close(NULL), SAGO_ERR_HANDLE, "NULL");
    LOCAL(sago_series_free(NULL), SAGO_ERR_HANDLE, "NULL");
    scene = "closed file";
    check_no_file(closed, "closed");
    scene = "series of a closed file";
    check_no_series(left, "freed");
}

static void test_local_arguments(sago_file *file) {
    sago_stats stats = SAGO_STATS_INIT;
    sago_series *series = declare_one(file);
    char buf[PIECE] = "";
    MPI_Count bytes = -1;
    scene = "local arguments";
    LOCAL(sago_get_size(file, NULL), SAGO_ERR_ARG, "nowhere");
    LOCAL(sago_get_hints(file, MPI_INFO_NULL), SAGO_ERR_ARG, "MPI_INFO_NULL");
    LOCAL(sago_view_run_list(file, MPI_BYTE, NULL), SAGO_ERR_ARG, "nowhere to put the type");
    LOCAL(sago_get_stats(file, NULL), SAGO_ERR_ARG, "SAGO_STATS_INIT");
    stats.size = 0;
    LOCAL(sago_get_stats(file, &stats), SAGO_ERR_ARG, "SAGO_STATS_INIT");
    stats.size = sizeof stats + 1;
    LOCAL(sago_get_stats(file, &stats), SAGO_ERR_ARG, "SAGO_STATS_INIT");
    LOCAL(sago_write_at(file, -1, buf, 1, MPI_BYTE, &bytes), SAGO_ERR_ARG, "-1");
    CHECK_INT(bytes, 0);
    LOCAL(sago_read_at(file, 0, NULL, 1, MPI_BYTE, NULL), SAGO_ERR_ARG, "NULL");
    LOCAL(sago_read_at(file, 0, buf, 1, MPI_DATATYPE_NULL, NULL), SAGO_ERR_TYPE, "MPI_DATATYPE_NULL");
    LOCAL(sago_series_write(series, 1, buf), SAGO_ERR_ARG, "variable 1 of 1");
    LOCAL(sago_series_write(series, -1, buf), SAGO_ERR_ARG, "variable -1 of 1");
    LOCAL(sago_series_write(series, 0, NULL), SAGO_ERR_ARG, "NULL");
    LOCAL(sago_series_read(series, 0, NULL), SAGO_ERR_ARG, "NULL");
    LOCAL(sago_series_bytes(series, NULL), SAGO_ERR_ARG, "nowhere");
    LOCAL(sago_delete(NULL, MPI_INFO_NULL), SAGO_ERR_ARG, "NULL");
    LOCAL(sago_delete("", MPI_INFO_NULL), SAGO_ERR_ARG, "empty");
    LOCAL(sago_delete("new", MPI_INFO_NULL), SAGO_ERR_NO_FILE, "No such file");
    LOCAL(sago_delete("folder", MPI_INFO_NULL), SAGO_ERR_BAD_FILE, "directory");
    CHECK_OK(sago_series_free(&series));
}

static void test_series_arguments(sago_file *file) {
    sago_series *series = declare_one(file);
    scene = "displacements that lead out of the file";
    EXPECT(sago_series_next(series, -1 - (ranks - 1) * PIECE), SAGO_ERR_ARG, "before the start", -1);
    EXPECT(sago_series_next(series, INT64_MIN), SAGO_ERR_ARG, "before the start", -1);
    EXPECT(sago_series_next(series, INT64_MAX), SAGO_ERR_OVERFLOW, "9223372036854775807", -1);
    scene = "next before complete";
    if (odd_one())
        CHECK_OK(sago_series_write(series, 0, content + rank * PIECE));
    EXPECT(sago_series_next(series, 8), SAGO_ERR_STATE, "completed", ranks - 1);
    CHECK_OK(sago_series_complete(series));
    CHECK_FILE(path, content, SIZE);
    CHECK_OK(sago_series_free(&series));
}

/* ---- Communicators ---- */

static void test_communicators(void) {
    sago_file *file = NULL;
    scene = "null communicator";
    LOCAL(sago_open(MPI_COMM_NULL, "new", CREATE, MPI_INFO_NULL, &file), SAGO_ERR_ARG, "MPI_COMM_NULL");
    if (ranks == 1)
        return;
    MPI_Comm half, both;
    scene = "intercommunicator";
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 5, &both);
    LOCAL(sago_open(both, "new", CREATE, MPI_INFO_NULL, &file), SAGO_ERR_ARG, "intracommunicator");
    PMPI_Comm_free(&both);
    scene = "failed open on a communicator that goes";
    int before = live_comms;
    EXPECT(sago_open(half, "nowhere/new", CREATE, MPI_INFO_NULL, &file), SAGO_ERR_NO_FILE, "No such file", -1);
    MPI_Comm_free(&half);
    CHECK_INT(live_comms, before - 1); /* what Sago kept for it went with it */
    CHECK(!file && access("new", F_OK) != 0);
}

static void test_before_init(void) {
    sago_file *file = NULL;
    ranks = 1;
    scene = "before MPI_Init";
    LOCAL(sago_open(MPI_COMM_WORLD, "new", CREATE, MPI_INFO_NULL, &file), SAGO_ERR_STATE, "not initialized");
}

int main(int argc, char **argv) {
    sago_file *file = NULL;
    test_before_init();
    check_start(&argc, &argv);
    const char *folder = getenv("SAGO_TEST_DIR");
    CHECK(!folder || chdir(folder) == 0);
    path = scratch("file");
    for (int64_t i = 0; i < SIZE; i++) {
        content[i] = byte_of(i, 1);
        other[i] = byte_of(i, 2);
    }
    plain_write(path, content, SIZE);
    test_faults("");
    test_faults("sago_strategy=aggregated");
    test_forbidden();
    CHECK_OK(open_hinted(path, MPI_MODE_RDWR, "", &file));
    check_usable(file);
    test_series_arguments(file);
    if (ranks > 1) {
        test_disagreements(file);
        test_series_disagreements(file);
        test_different_calls();
    }
    test_open();
    test_long_names();
    test_environment();
    test_misleading_name();
    if (ranks > 1)
        test_open_disagreements();
    test_communicators();
    test_local_arguments(file);
    CHECK_OK(sago_close(&file));
    test_handles();
    return check_end();
}
