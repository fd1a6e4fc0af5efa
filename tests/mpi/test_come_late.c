/* RUN: n=2,3 */
/* A rank makes, replaces or removes a file just before it opens it with the others, who have come earlier: all
 * open the file that is there when all have come. */
#include <fcntl.h>
#include <unistd.h>

#include "mpi/check.h"

static void make(const char *name) {
    int fd = open(scratch(name), O_CREAT | O_EXCL | O_WRONLY, 0666);
    CHECK(fd >= 0 && close(fd) == 0);
}

/* The others are in sago_open() by then, most of the time. */
static bool comes_late(void) {
    enum { LATE_US = 50000 };
    meet();
    if (rank == ranks - 1)
        (void)usleep(LATE_US);
    return rank == ranks - 1;
}

static sago_status open_it(int amode, sago_file **file) {
    return sago_open(MPI_COMM_WORLD, scratch("file"), amode, MPI_INFO_NULL, file);
}

/* What every rank writes is in one file, the one that has the name. */
static void check_common(sago_file *file) {
    char byte = (char)('a' + rank);
    CHECK_OK(sago_write_at_all(file, rank, &byte, 1, MPI_BYTE, NULL));
    CHECK_OK(sago_close(&file));
    meet();
    CHECK_INT(plain_size(scratch("file")), ranks);
}

int main(int argc, char **argv) {
    sago_file *file = NULL;
    check_start(&argc, &argv);
    if (comes_late())
        make("file");
    CHECK_OK(open_it(MPI_MODE_RDWR, &file));
    check_common(file);
    if (comes_late()) {
        make("other");
        CHECK(rename(scratch("other"), scratch("file")) == 0);
    }
    CHECK_OK(open_it(MPI_MODE_RDWR, &file));
    check_common(file);
    if (comes_late())
        CHECK(unlink(scratch("file")) == 0);
    CHECK(open_it(MPI_MODE_RDWR, &file) == SAGO_ERR_NO_FILE);
    return check_end();
}
