/* RUN: n=1,2 */
/* What opening a file and setting a view costs: at most 40 bytes a run, also while it is being done, and for
 * regular views at most 1 KiB, whatever their size. */
#include "check.h"
#include "memory_use.h"

enum { RUNS = 1000000, BYTES_A_RUN = 40, REGULAR_MOST = 1024, SIDE = 1000 };

/* The MPI library connects ranks when they first talk, and keeps more than a megabyte for that (MPICH 4.2, UCX).
 */
static void connect_ranks(void) {
    sago_file *file;
    CHECK_OK(sago_open(MPI_COMM_WORLD, scratch("first"), MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    CHECK_OK(sago_close(&file));
}

static void irregular(void) {
    MPI_Datatype type = irregular_view(RUNS);
    sago_file *file;
    memory_mark mark = mark_memory();
    scene = "irregular view";
    CHECK_OK(
        sago_open(MPI_COMM_WORLD, scratch("irregular"), MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    CHECK_OK(sago_set_view(file, 0, MPI_BYTE, type));
    long long heap = heap_since(&mark), peak = peak_since(&mark);
    CHECK(heap <= (long long)RUNS * BYTES_A_RUN);
    CHECK(peak <= (long long)RUNS * BYTES_A_RUN);
    CHECK(heap > RUNS); /* else it is not there that it is kept, and nothing was measured */
    if (rank == 0)
        printf("%.1f bytes a run, %.1f at most\n", (double)heap / RUNS, (double)peak / RUNS);
    CHECK_OK(sago_close(&file));
    CHECK(heap_since(&mark) < RUNS);
    MPI_Type_free(&type);
}

/* The least of a few tries: the MPI library now and then keeps something for itself. */
static long long cost_of_regular(sago_file *file, int which) {
    enum { TRIES = 3 };
    long long least = INT64_MAX;
    for (int try = 0; try < TRIES; try++) {
        MPI_Datatype type = regular_view(which, SIDE, &scene);
        CHECK_OK(sago_set_view(file, 0, MPI_BYTE, MPI_BYTE));
        memory_mark mark = mark_memory();
        CHECK_OK(sago_set_view(file, 0, MPI_BYTE, type));
        long long heap = heap_since(&mark), peak = peak_since(&mark);
        CHECK(peak <= 256 << 10); /* pages of stacks and code */
        least = heap < least ? heap : least;
        MPI_Type_free(&type);
    }
    return least;
}

static void regular(void) {
    sago_file *file;
    CHECK_OK(sago_open(MPI_COMM_WORLD, scratch("regular"), MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    for (int i = 0; i < REGULAR_VIEWS; i++) {
        long long heap = cost_of_regular(file, i);
        CHECK(heap <= REGULAR_MOST);
        if (rank == 0)
            printf("%s: %lld bytes\n", scene, heap);
    }
    CHECK_OK(sago_close(&file));
}

/* The form of a type with many runs is kept with it: one copy for two views and for files opened later, used by a
 * view whose type is gone, and given back with the last of them. */
static void kept(void) {
    enum { KEPT_RUNS = 20000, MOST = 12 * KEPT_RUNS };
    sago_file *file[2];
    static char data[KEPT_RUNS], back[KEPT_RUNS];
    MPI_Count bytes = 0;
    scene = "a view's form is kept with its type";
    MPI_Datatype type = irregular_view(KEPT_RUNS);
    memory_mark mark = mark_memory();
    for (int i = 0; i < 2; i++) {
        CHECK_OK(sago_open(MPI_COMM_SELF, scratch(rank ? "kept1" : "kept0"), MPI_MODE_CREATE | MPI_MODE_RDWR,
                           MPI_INFO_NULL, &file[i]));
        CHECK_OK(sago_set_view(file[i], 0, MPI_BYTE, type));
    }
    CHECK(heap_since(&mark) > KEPT_RUNS && heap_since(&mark) < MOST); /* two copies would be 16 bytes a run */
    CHECK_OK(sago_close(&file[0]));
    CHECK(heap_since(&mark) > KEPT_RUNS);
    MPI_Type_free(&type);
    for (int i = 0; i < KEPT_RUNS; i++)
        data[i] = (char)byte_of(i, rank);
    CHECK_OK(sago_write_at_all(file[1], 0, data, sizeof data, MPI_BYTE, &bytes));
    CHECK_OK(sago_read_at_all(file[1], 0, back, sizeof back, MPI_BYTE, &bytes));
    CHECK(bytes == sizeof back && memcmp(data, back, sizeof back) == 0);
    CHECK_OK(sago_close(&file[1]));
    CHECK(heap_since(&mark) < KEPT_RUNS);
}

int main(int argc, char **argv) {
    count_exactly(argv);
    check_start(&argc, &argv);
    if (!heap_is_counted())
        return check_skip("malloc() does not tell how much is in use (a sanitizer's)");
    connect_ranks();
    irregular();
    regular();
    kept();
    return check_end();
}
