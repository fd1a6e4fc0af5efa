/* RUN: n=2,4 timeout=60 */
/* One rank closes a file that has only just been opened, alone: that rank waits for nobody, the others are told in
 * their next collective call instead of waiting for ever, and files are opened as ever, also before the others
 * have closed it, or know. */
#include "check.h"
#include "fake_nodes.h"

static void write_one(sago_file *file, sago_status wanted) {
    char byte = 'x';
    CHECK_INT(sago_write_at_all(file, rank, &byte, 1, MPI_BYTE, NULL), wanted);
}

static void closed_by(MPI_Comm comm, int who) {
    const int amode = MPI_MODE_RDWR | MPI_MODE_CREATE;
    sago_file *file = NULL, *next = NULL;
    CHECK_OK(sago_open(comm, scratch("alone"), amode, MPI_INFO_NULL, &file));
    meet(); /* else the others' opening may fail, too */
    if (rank == who) {
        CHECK_OK(sago_close_alone(&file));
        CHECK(!file);
    }
    meet(); /* the rank has returned, whatever the others do */
    if (rank != who) {
        write_one(file, SAGO_ERR_PEER);
        CHECK_INT(sago_close(&file), SAGO_ERR_PEER);
        CHECK(!file);
    }
    meet();
    CHECK_OK(sago_open(comm, scratch("next"), amode, MPI_INFO_NULL, &next));
    write_one(next, SAGO_OK);
    CHECK_OK(sago_close(&next));
}

/* The next file is opened while the others have this one, before they can know (`unaware`), or when they do. */
static void opened_before_closed(MPI_Comm comm, int who, bool unaware) {
    const int amode = MPI_MODE_RDWR | MPI_MODE_CREATE;
    sago_file *file = NULL, *next = NULL, *last = NULL;
    CHECK_OK(sago_open(comm, scratch("alone"), amode, MPI_INFO_NULL, &file));
    meet();
    if (rank == who && unaware)
        usleep(50000);
    if (rank == who)
        CHECK_OK(sago_close_alone(&file));
    else if (!unaware)
        write_one(file, SAGO_ERR_PEER);
    CHECK_OK(sago_open(comm, scratch("next"), amode, MPI_INFO_NULL, &next));
    write_one(next, SAGO_OK);
    if (rank != who)
        CHECK_INT(sago_close(&file), SAGO_ERR_PEER);
    write_one(next, SAGO_OK);
    CHECK_OK(sago_open(comm, scratch("last"), amode, MPI_INFO_NULL, &last));
    CHECK_OK(sago_close(&next));
    write_one(last, SAGO_OK);
    CHECK_OK(sago_close(&last));
}

int main(int argc, char **argv) {
    static const int nodes[] = {0, 1, 2}; /* ranks on each; 0: all are on one */
    check_start(&argc, &argv);
    for (int i = 0; i < 3; i++)
        for (int who = 0; who < ranks; who += ranks - 1) {
            MPI_Comm comm;
            fake_node_ranks = nodes[i];
            MPI_Comm_dup(MPI_COMM_WORLD, &comm);
            closed_by(comm, who);
            opened_before_closed(comm, who, false);
            opened_before_closed(comm, who, true);
            MPI_Comm_free(&comm);
        }
    CHECK_INT(sago_close_alone(NULL), SAGO_ERR_HANDLE);
    return check_end();
}
