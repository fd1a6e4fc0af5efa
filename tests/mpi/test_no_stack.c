/* RUN: n=2,4 */
/* A nonblocking call for which rank 0 has no memory for a stack, while the others do: with a local tier, and with
 * deferred writes and one-sided movement, where it first moves what is elsewhere. */
#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "mpi/check.h"
#include "mpi/fake_nodes.h"

enum { PIECE = 100, PIECES = 40, N = PIECE * PIECES };

static char first[N], second[N];

/* In the place of the C library's: stacks are the only thing that is mapped so. */
void *mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset) {
    if (rank == 0 && together && (flags & MAP_STACK) && (flags & MAP_NORESERVE)) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    long address = syscall(SYS_mmap, at, bytes, protection, flags, fd, offset);
    return (void *)address; /* NOLINT: that is what it is */
}

static void check_whole(const char *path) {
    unsigned char *wanted = calloc(2, (size_t)N * ranks);
    for (int half = 0; half < 2; half++)
        for (int i = 0; i < N; i++)
            for (int r = 0; r < ranks; r++)
                wanted[half * N * ranks + (i / PIECE * ranks + r) * PIECE + i % PIECE] = byte_of(i, r + half * 50);
    CHECK_FILE(path, wanted, (int64_t)2 * N * ranks);
    free(wanted);
}

static void without_stack(const char *name, const char *hints) {
    sago_file *file = NULL;
    sago_request *request = NULL;
    MPI_Datatype piece, turns;
    scene = name;
    CHECK_OK(open_hinted(scratch(name), MPI_MODE_CREATE | MPI_MODE_RDWR, hints, &file));
    MPI_Type_contiguous(PIECE, MPI_BYTE, &piece);
    MPI_Type_create_resized(piece, 0, (MPI_Aint)PIECE * ranks, &turns);
    MPI_Type_commit(&turns);
    CHECK_OK(sago_set_view(file, (MPI_Offset)PIECE * rank, MPI_BYTE, turns));
    CHECK_OK(sago_write_at_all(file, 0, first, N, MPI_BYTE, NULL)); /* which stays where it is */
    CHECK_OK(sago_iwrite_at_all(file, N, second, N, MPI_BYTE, &request));
    CHECK_OK(sago_wait(&request, NULL));
    CHECK_OK(sago_close(&file));
    check_whole(scratch(name));
    MPI_Type_free(&turns);
    MPI_Type_free(&piece);
}

int main(int argc, char **argv) {
    char tier[1024];
    check_start(&argc, &argv);
    for (int i = 0; i < N; i++) {
        first[i] = (char)byte_of(i, rank);
        second[i] = (char)byte_of(i, rank + 50);
    }
    (void)snprintf(tier, sizeof tier, "sago_tier=local sago_local_dirs=%s", getenv("SAGO_TEST_DIR"));
    without_stack("plain", "sago_strategy=aggregated");
    without_stack("apart", "sago_strategy=aggregated sago_nonblocking=apart");
    without_stack("tier", tier);
    fake_node_ranks = 1;
    without_stack("rma", "sago_strategy=aggregated sago_move=rma sago_defer=on");
    without_stack("rma-apart", "sago_strategy=aggregated sago_move=rma sago_defer=on sago_nonblocking=apart");
    return check_end();
}
