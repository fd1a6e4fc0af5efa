/* RUN: n=2,4 */
/* Between nodes, a file that another process cuts after a sync: what a rank wrote before no longer counts. */
#include <fcntl.h>
#include <unistd.h>

#include "mpi/check.h"
#include "mpi/fake_nodes.h"

enum { LENGTH = 1000, CUT = 600, PIECE = 2 };

/* As the drop-in does, whose MPI library has a descriptor of its own. */
static sago_status sync_by_another(const char *path, sago_file *file) {
    int fd = open(path, O_RDONLY);
    CHECK(fd >= 0 && fsync(fd) == 0);
    (void)close(fd);
    return sago_synced_elsewhere(file);
}

static void cut(bool elsewhere) {
    char buf[LENGTH];
    const char *path = fresh("cut");
    sago_file *file = NULL;
    MPI_Datatype piece, view;
    MPI_Count moved = 0;
    memset(buf, 1, LENGTH);
    CHECK_OK(sago_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    if (rank == 0)
        CHECK_OK(sago_write_at(file, 0, buf, LENGTH, MPI_BYTE, &moved));
    CHECK_OK(elsewhere ? sync_by_another(path, file) : sago_sync(file));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        CHECK(truncate(path, CUT) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(elsewhere ? sync_by_another(path, file) : sago_sync(file));
    MPI_Type_contiguous(PIECE, MPI_BYTE, &piece);
    MPI_Type_create_resized(piece, 0, (MPI_Aint)PIECE * ranks, &view);
    MPI_Type_commit(&view);
    CHECK_OK(sago_set_view(file, (MPI_Offset)PIECE * rank, MPI_BYTE, view));
    memset(buf, 7, LENGTH);
    CHECK_OK(sago_read_at_all(file, 0, buf, LENGTH / ranks, MPI_BYTE, &moved));
    CHECK(moved == CUT / ranks);
    CHECK(buf[LENGTH / ranks - 1] == 7);
    CHECK_OK(sago_close(&file));
    MPI_Type_free(&piece);
    MPI_Type_free(&view);
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    fake_node_ranks = 1;
    cut(false);
    cut(true);
    CHECK_INT(sago_synced_elsewhere(NULL), SAGO_ERR_HANDLE);
    return check_end();
}
