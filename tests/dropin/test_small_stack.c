/* RUN: n=1,4 */
/* Threads with little stack: 64 KiB is enough for Open MPI, so it is enough with Sago.  MPICH itself takes more
 * than 128 KiB where it meets other ranks. */
#include "dropin_check.h"
#include "stack.h"

enum { N = 3000, MPICH_MEETS = 160 << 10 };

static MPI_File file;
static int numbers[4 * N];

static void open_file(void) { OK(MPI_File_open(MPI_COMM_WORLD, "small-stack", MODE_NEW, MPI_INFO_NULL, &file)); }
static void close_file(void) { OK(MPI_File_close(&file)); }
static void sync_file(void) { OK(MPI_File_sync(file)); }

static void view_in_turns(int length) {
    MPI_Datatype mine = turns_of(length, MPI_INT);
    OK(MPI_File_set_view(file, (MPI_Offset)rank * length * 4, MPI_INT, mine, "native", MPI_INFO_NULL));
    MPI_Type_free(&mine);
}
static void view_short(void) { view_in_turns(3); }
static void view_long(void) { view_in_turns(400); }
static void view_flat(void) { OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL)); }

/* With a flat view all ranks write and read the same bytes. */
static void write_all(void) { OK(MPI_File_write_at_all(file, 0, numbers, N, MPI_INT, MPI_STATUS_IGNORE)); }
static void read_all(void) { OK(MPI_File_read_at_all(file, 0, numbers, N, MPI_INT, MPI_STATUS_IGNORE)); }
static void write_alone(void) { OK(MPI_File_write_at(file, 0, numbers, N, MPI_INT, MPI_STATUS_IGNORE)); }
static void read_alone(void) { OK(MPI_File_read_at(file, 0, numbers, N, MPI_INT, MPI_STATUS_IGNORE)); }

static void in_pieces(bool write) {
    MPI_Datatype pieces;
    MPI_Type_vector(N / 3, 3, 4, MPI_INT, &pieces);
    MPI_Type_commit(&pieces);
    if (write)
        OK(MPI_File_write_at_all(file, 0, numbers, 1, pieces, MPI_STATUS_IGNORE));
    else
        OK(MPI_File_read_at_all(file, 0, numbers, 1, pieces, MPI_STATUS_IGNORE));
    MPI_Type_free(&pieces);
}
static void write_pieces(void) { in_pieces(true); }
static void read_pieces(void) { in_pieces(false); }

static void behind(void) {
    MPI_Request request;
    OK(MPI_File_iwrite_at_all(file, 0, numbers, N, MPI_INT, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_File_iread_at_all(file, 0, numbers, N, MPI_INT, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void split(void) {
    OK(MPI_File_write_at_all_begin(file, 0, numbers, N, MPI_INT));
    OK(MPI_File_write_at_all_end(file, numbers, MPI_STATUS_IGNORE));
}

static void size_file(void) {
    MPI_Offset size = 0;
    OK(MPI_File_set_size(file, 1000000));
    OK(MPI_File_get_size(file, &size));
    CHECK_INT(size, 1000000);
}

/* Everything that the plain library also does with little stack. */
static void check(const char *what, void (*run)(void), bool meets) {
    long used = stack_used(run);
    long allowed = meets && !OPENMPI ? MPICH_MEETS : STACK_FAIR;
    char text[128];
    (void)snprintf(text, sizeof text, "%s takes %ld bytes of stack, not %ld at most", what, used, allowed);
    check_report(used > 0 && used <= allowed, PLAIN_MPICH, __FILE__, __LINE__, text);
}
#define CHECK_STACK(run, meets) check(#run, (run), (meets))

int main(int argc, char **argv) {
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    check_ready();
#ifdef __SANITIZE_ADDRESS__
    return check_skip("a sanitizer makes frames larger");
#endif
    if (level < MPI_THREAD_SERIALIZED)
        return check_skip("this MPI lets no other thread make calls");
    void (*const views[])(void) = {view_flat, view_short, view_long};
    for (int round = 0; round < 2; round++) {
        CHECK_STACK(open_file, true);
        for (size_t v = 0; v < sizeof views / sizeof *views; v++) {
            check("MPI_File_set_view", views[v], true);
            CHECK_STACK(write_all, false);
            CHECK_STACK(read_all, false);
            CHECK_STACK(write_alone, false);
            CHECK_STACK(read_alone, false);
            CHECK_STACK(write_pieces, false);
            CHECK_STACK(read_pieces, false);
            CHECK_STACK(behind, false);
            CHECK_STACK(split, false);
        }
        CHECK_STACK(size_file, true);
        CHECK_STACK(read_all, false);
        CHECK_STACK(sync_file, true);
        CHECK_STACK(close_file, true);
    }
    return check_end();
}
