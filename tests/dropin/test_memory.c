/* RUN: n=1,2 */
/* What the drop-in adds to a view of the MPI library's: at most 40 bytes a run, and for regular views at most 1
 * KiB. Every view is set twice: on a file that Sago does not take, because its name has a prefix, and on one that
 * it takes; types are made anew, since ROMIO keeps what it makes of them.  Without the drop-in both cost the same.
 * (Regular views are small ones here: of larger ones ROMIO makes gigabytes.) */
#include "dropin_check.h"
#include "memory_use.h"

enum { RUNS = 1000000, BYTES_A_RUN = 40, REGULAR_MOST = 1024, SIDE = 100 };

typedef struct cost {
    long long heap, peak;
} cost;

/* Opening and setting a view, or of a file that is open the view alone. */
static cost cost_of(const char *path, MPI_File *file, MPI_Datatype type) {
    memory_mark mark = mark_memory();
    if (*file == MPI_FILE_NULL)
        *file = open_all(path, MODE_NEW);
    OK(MPI_File_set_view(*file, 0, MPI_BYTE, type, "native", MPI_INFO_NULL));
    return (cost){heap_since(&mark), peak_since(&mark)};
}

static void irregular(void) {
    static const char *const paths[2] = {"ufs:plain", "taken"};
    MPI_File file = MPI_FILE_NULL;
    cost costs[2];
    for (int i = 0; i < 2; i++) {
        MPI_Datatype type = irregular_view(RUNS);
        costs[i] = cost_of(paths[i], &file, type);
        OK(MPI_File_close(&file));
        MPI_Type_free(&type);
    }
    long long heap = costs[1].heap - costs[0].heap, peak = costs[1].peak - costs[0].peak;
    CHECK(heap <= (long long)RUNS * BYTES_A_RUN);
    CHECK(peak <= (long long)RUNS * BYTES_A_RUN);
    CHECK(PLAIN || heap > RUNS); /* else nothing was measured */
    if (rank == 0)
        printf("%.1f bytes a run, %.1f at most; the MPI library's own: %.1f and %.1f\n", (double)heap / RUNS,
               (double)peak / RUNS, (double)costs[0].heap / RUNS, (double)costs[0].peak / RUNS);
}

/* How much more the second file's view costs than the first one's: the least of a few tries, since the MPI library
 * now and then keeps something for itself. */
static long long added_by_sago(MPI_File files[2], int which, const char **name) {
    enum { TRIES = 4 };
    long long least = INT64_MAX;
    for (int try = 0; try < TRIES; try++) {
        cost costs[2];
        for (int k = 0; k < 2; k++) {
            MPI_Datatype type = regular_view(which, SIDE, name);
            OK(MPI_File_set_view(files[k], 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
            costs[k] = cost_of(NULL, &files[k], type);
            MPI_Type_free(&type);
        }
        long long more = costs[1].heap - costs[0].heap;
        least = more < least ? more : least;
    }
    return least;
}

static void regular(void) {
    MPI_File files[2] = {open_all("ufs:plain", MODE_NEW), open_all("taken", MODE_NEW)};
    const char *name;
    for (int i = 0; i < REGULAR_VIEWS; i++) {
        long long more = added_by_sago(files, i, &name);
        if (rank == 0)
            printf("%s: %lld bytes\n", name, more);
        CHECK(PLAIN || more <= REGULAR_MOST);
    }
    for (int k = 0; k < 2; k++)
        OK(MPI_File_close(&files[k]));
}

int main(int argc, char **argv) {
    char byte = 0;
    count_exactly(argv);
    check_start(&argc, &argv);
    if (!heap_is_counted())
        return check_skip("malloc() does not tell how much is in use (a sanitizer's)");
    irregular();
    regular();
    MPI_File file = open_all("taken", MODE_NEW);
    OK(MPI_File_write_at_all(file, rank, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
    expect_stat("files", 5 * ranks);
    expect_stat("files_taken", 3 * ranks);
    return check_end();
}
