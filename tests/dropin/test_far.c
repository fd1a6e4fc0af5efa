/* RUN: n=1,3 */
/* Collective calls up to the last offset there is, 2^63 - 2, blocking and not, by offset and by view, where the
 * file system has files that large (those in memory do). */
#include <fcntl.h>

#include "dropin_check.h"

enum { N = 1000 };

static bool is_allowed(void) {
    int fd = open("probe", O_RDWR | O_CREAT, 0600);
    bool allowed = fd >= 0 && pwrite(fd, "x", 1, INT64_MAX - 1) == 1;
    if (fd >= 0)
        (void)close(fd);
    meet();
    (void)unlink("probe");
    return allowed;
}

/* All ranks' bytes from `first` on, one rank after another. */
static void check_there(const char *name, int64_t first, int step) {
    char is[N], wanted[N];
    meet();
    int fd = open(name, O_RDONLY);
    for (int r = 0; r < ranks; r++) {
        fill(wanted, step, N, r);
        CHECK_INT(pread(fd, is, N, first + (int64_t)r * N), N);
        CHECK(memcmp(is, wanted, N) == 0);
    }
    (void)close(fd);
    meet();
}

static void access_at(const char *name, int64_t first, bool by_view) {
    char mine[N], back[N];
    MPI_File file = open_all(name, MODE_NEW);
    MPI_Offset at = first + (int64_t)rank * N;
    MPI_Request request;
    if (by_view) {
        OK(MPI_File_set_view(file, at, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
        at = 0;
    }
    fill(mine, 1, N, rank);
    OK(MPI_File_write_at_all(file, at, mine, N, MPI_BYTE, MPI_STATUS_IGNORE));
    check_there(name, first, 1);
    fill(mine, 2, N, rank);
    OK(MPI_File_iwrite_at_all(file, at, mine, N, MPI_BYTE, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    check_there(name, first, 2);
    OK(MPI_File_read_at_all(file, at, back, N, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK(memcmp(mine, back, N) == 0);
    OK(MPI_File_close(&file));
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    if (!is_allowed())
        return check_skip("files of this file system end before the last offset");
    access_at("half", (int64_t)1 << 62, false);
    access_at("half by view", (int64_t)1 << 62, true);
    access_at("last", INT64_MAX - (int64_t)ranks * N, false);
    access_at("last by view", INT64_MAX - (int64_t)ranks * N, true);
    return check_end();
}
