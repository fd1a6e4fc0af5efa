/* RUN: n=2,4 */
/* RUN: n=2,4 nodes */
/* A nonblocking call for which rank 0 has no memory for a stack, while the others do: with a local tier, and with
 * deferred writes and one-sided movement, where it first moves what is elsewhere; on one node, or one a rank. */
#include <errno.h>
#include <sys/mman.h>

#include "mpi/check.h"
#include "mpi/fake_nodes.h"

enum { PIECE = 100, PIECES = 40, N = PIECE * PIECES };

static char first[N], second[N];
static int refused; /* stacks */

/* The linker leads Sago's calls here (--wrap): stacks are the only thing that is mapped so. */
void *__real_mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset) {
    if (rank == 0 && together && (flags & MAP_STACK) && (flags & MAP_NORESERVE)) {
        refused++;
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return __real_mmap(at, bytes, protection, flags, fd, offset);
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
    scene = name;
    CHECK_OK(open_hinted(scratch(name), MPI_MODE_CREATE | MPI_MODE_RDWR, hints, &file));
    view_turns(file, PIECE);
    CHECK_OK(sago_write_at_all(file, 0, first, N, MPI_BYTE, NULL)); /* which stays where it is */
    CHECK_OK(sago_iwrite_at_all(file, N, second, N, MPI_BYTE, &request));
    CHECK_OK(sago_wait(&request, NULL));
    CHECK_OK(sago_close(&file));
    check_whole(scratch(name));
}

/* Rank 0 says that it stays, and comes when the others have: who has no stack cannot wait for what all decide. */
static void while_staying(const char *name, const char *hints) {
    sago_file *file = NULL;
    sago_request *request = NULL;
    int there = 0;
    scene = name;
    CHECK_OK(open_hinted(scratch(name), MPI_MODE_CREATE | MPI_MODE_RDWR, hints, &file));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        (void)usleep(1500);
    for (int i = 0; rank == 0 && i < 3; i++) /* lets messages come in */
        MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
    sago_wait_begin();
    CHECK_OK(sago_iwrite_at_all(file, (MPI_Offset)N * rank, first, N, MPI_BYTE, &request));
    CHECK_OK(sago_wait(&request, NULL));
    sago_wait_end();
    CHECK_OK(sago_close(&file));
    unsigned char *wanted = malloc((size_t)N * ranks);
    for (int i = 0; i < N * ranks; i++)
        wanted[i] = byte_of(i % N, i / N);
    CHECK_FILE(scratch(name), wanted, (int64_t)N * ranks);
    free(wanted);
}

int main(int argc, char **argv) {
    char tier[1024];
    fake_node_ranks = argc > 1; /* from the beginning: nodes are remembered */
    check_start(&argc, &argv);
    for (int i = 0; i < N; i++) {
        first[i] = (char)byte_of(i, rank);
        second[i] = (char)byte_of(i, rank + 50);
    }
    (void)snprintf(tier, sizeof tier, "sago_tier=local sago_local_dirs=%s", getenv("SAGO_TEST_DIR"));
    without_stack("plain", "sago_strategy=aggregated");
    without_stack("apart", "sago_strategy=aggregated sago_nonblocking=apart");
    without_stack("tier", tier);
    without_stack("rma", "sago_strategy=aggregated sago_move=rma sago_defer=on");
    without_stack("rma-apart", "sago_strategy=aggregated sago_move=rma sago_defer=on sago_nonblocking=apart");
    for (int i = 0; i < 8; i++)
        while_staying("staying", "sago_strategy=aggregated sago_nonblocking=apart");
    CHECK(rank > 0 || refused > 0);
    return check_end();
}
