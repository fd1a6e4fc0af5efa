/* RUN: n=2,4 sago_strategy=auto */
/* RUN: n=2,4 sago_strategy=aggregated */
/* RUN: n=4 sago_strategy=direct */
/* Between nodes, planned reads: what is known of the file's end needs no question, until it may be wrong, and a
 * file that is cut or grows elsewhere is read up to its end all the same. */
#include "mpi/check.h"
#include "mpi/fake_nodes.h"
#include "mpi/fake_stripes.h"

enum { PIECE = 10, ROUNDS = 100, UNTOUCHED = 0x5a };

static const char *const fake_layout = "stripe_unit=65536 stripe_count=2 object_size=65536 pool=p";
static const char *hints, *path;
static sago_file *file;
static MPI_Datatype view;
static int questions;

/* Takes the place of the C library's, in Sago too. */
int fstat(int fd, struct stat *info) {
    questions++;
    return fstatat(fd, "", info, AT_EMPTY_PATH);
}

static char byte_at(int64_t offset) { return (char)(offset * 7 % 251); }

static int64_t whole(void) { return (int64_t)PIECE * ROUNDS * ranks; }

static int64_t place_of(int64_t i) { return (i / PIECE * ranks + rank) * PIECE + i % PIECE; }

static void write_all(void) {
    char buffer[PIECE * ROUNDS];
    for (int64_t i = 0; i < PIECE * ROUNDS; i++)
        buffer[i] = byte_at(place_of(i));
    CHECK_OK(sago_write_at_all(file, 0, buffer, PIECE * ROUNDS, MPI_BYTE, NULL));
}

/* Reads all that this rank has in a file of `size` bytes; returns how often this rank asked for the size. */
static int read_all(int64_t size) {
    char buffer[PIECE * ROUNDS];
    MPI_Count bytes = -1;
    int64_t there = 0, before = questions;
    memset(buffer, UNTOUCHED, sizeof buffer);
    CHECK_OK(sago_read_at_all(file, 0, buffer, PIECE * ROUNDS, MPI_BYTE, &bytes));
    int asked = (int)(questions - before);
    for (int64_t i = 0; i < PIECE * ROUNDS; i++) {
        bool is_there = place_of(i) < size;
        there += is_there;
        CHECK(!is_there || buffer[i] == byte_at(place_of(i)));
        CHECK(is_there || buffer[i] == (char)UNTOUCHED);
    }
    CHECK_INT(bytes, there);
    return asked;
}

static void meanwhile(void (*work)(int64_t), int64_t argument) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        work(argument);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void cut(int64_t size) { CHECK(truncate(path, size) == 0); }

static void grow(int64_t from) {
    int fd = open(path, O_WRONLY);
    for (int64_t i = from; i < whole(); i++) {
        char byte = byte_at(i);
        CHECK(pwrite(fd, &byte, 1, i) == 1);
    }
    CHECK(close(fd) == 0);
}

static void open_new(const char *name) {
    path = fresh(name);
    file = create_hinted(path, hints);
    CHECK_OK(sago_set_view(file, (MPI_Offset)PIECE * rank, MPI_BYTE, view));
    write_all();
}

/* A plan that lets each rank read its own runs has nobody who would notice an early end, and asks.  So does the
 * first read of a shape, whose aggregators could not keep back what they have read. */
static void check_asked(int asked) {
    bool direct = strcmp(hints, "sago_strategy=direct") == 0;
    CHECK_INT(asked > 0, direct);
}

static void test_known(void) {
    scene = "the end is known";
    open_new("known");
    CHECK(read_all(whole()) > 0);
    check_asked(read_all(whole()));
    CHECK_OK(sago_sync(file));
    CHECK(read_all(whole()) == 1);
    check_asked(read_all(whole()));
    CHECK_OK(sago_close(&file));
}

static void test_past_end(void) {
    scene = "past the end";
    open_new("past");
    const int64_t half = whole() / 2 + 3;
    CHECK_OK(sago_set_size(file, half));
    for (int i = 0; i < 2; i++)
        CHECK(read_all(half) > 0);
    write_all();
    check_asked(read_all(whole()));
    CHECK_OK(sago_close(&file));
}

static void test_cut(void) {
    scene = "cut elsewhere";
    open_new("cut");
    const int64_t half = whole() / 2 + 3;
    (void)read_all(whole());
    meanwhile(cut, half); /* without a sync: the count is right nevertheless */
    (void)read_all(half);
    (void)read_all(half);
    meanwhile(grow, half);
    CHECK_OK(sago_sync(file));
    (void)read_all(whole());
    meanwhile(cut, half);
    CHECK_OK(sago_sync(file));
    (void)read_all(half);
    meanwhile(grow, half);
    (void)read_all(whole());
    meanwhile(cut, 0);
    (void)read_all(0);
    CHECK_OK(sago_close(&file));
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    hints = argc > 1 ? argv[1] : "";
    fake_node_ranks = 1;
    MPI_Datatype piece;
    MPI_Type_contiguous(PIECE, MPI_BYTE, &piece);
    MPI_Type_create_resized(piece, 0, (MPI_Aint)PIECE * ranks, &view);
    MPI_Type_commit(&view);
    test_known();
    test_past_end();
    test_cut();
    MPI_Type_free(&piece);
    MPI_Type_free(&view);
    return check_end();
}
