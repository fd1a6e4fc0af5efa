/* RUN: n=1,2 timeout=60 */
/* Files that processes open together with others that they have spawned, which may have been started without the
 * drop-in (Open MPI's launcher starts them so): nobody waits for what the others do not know of.  Files of the
 * processes that were there before are served as ever. */
#include "dropin_check.h"

enum { N = 1000, CHILDREN = 2 };
static char mine[N], back[N];

static void share(MPI_Comm comm, const char *name) {
    MPI_File file = MPI_FILE_NULL;
    int place = 0;
    MPI_Comm_rank(comm, &place);
    fill(mine, 0, N, place);
    OK(MPI_File_open(comm, name, MODE_NEW, MPI_INFO_NULL, &file));
    OK(MPI_File_write_at_all(file, (MPI_Offset)N * place, mine, N, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_read_at_all(file, (MPI_Offset)N * place, back, N, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK(memcmp(mine, back, N) == 0);
    OK(MPI_File_close(&file));
}

static int child(MPI_Comm parents) {
    MPI_Comm all;
    MPI_Intercomm_merge(parents, 1, &all);
    share(all, "all");
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&parents);
    MPI_Finalize();
    return failures > 0;
}

static void parent(MPI_Comm children) {
    MPI_Comm all;
    MPI_Intercomm_merge(children, 0, &all);
    share(all, "all");
    if (rank == 0)
        CHECK_INT(plain_size("all"), (long long)N * (ranks + CHILDREN));
    share(MPI_COMM_WORLD, "ours");
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&children);
    expect_stat("files", 2LL * ranks);
    expect_stat("files_taken", ranks);
    expect_stat("absent", 2LL * ranks);
}

int main(int argc, char **argv) {
    MPI_Comm parents, children;
    check_start(&argc, &argv);
    MPI_Comm_get_parent(&parents);
    if (parents != MPI_COMM_NULL)
        return child(parents);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, CHILDREN, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
                       MPI_ERRCODES_IGNORE) != MPI_SUCCESS)
        return check_skip("processes cannot be spawned here");
    parent(children);
    return check_end();
}
