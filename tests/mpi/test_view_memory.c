/* RUN: n=1,2 */
/* What opening a file and setting a view costs: at most 40 bytes a run, also while it is being done, and for
 * regular views at most 1 KiB, whatever their size. */
#include "check.h"
#include "memory_use.h"

enum { RUNS = 1000000, BYTES_A_RUN = 40, REGULAR_MOST = 1024, SIDE = 1000 };

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

int main(int argc, char **argv) {
    count_exactly(argv);
    check_start(&argc, &argv);
    irregular();
    regular();
    return check_end();
}
