/* RUN: n=1,3 */
/* Subfiles are not for programs that know MPI-IO only: the hint is handed over, and the file is a plain one; a
 * file that Sago's own calls have made in several is refused, not taken for something else. */
#include <fcntl.h>

#include "dropin_check.h"

static void hinted(void) {
    MPI_File file = MPI_FILE_NULL;
    MPI_Info info, used;
    char mine[100], back[100] = {0}, value[MPI_MAX_INFO_VAL + 1] = "auto";
    int found = 0;
    struct stat is;
    MPI_Info_create(&info);
    MPI_Info_set(info, "sago_subfiles", "3");
    OK(MPI_File_open(MPI_COMM_WORLD, "hinted", MODE_NEW, info, &file));
    fill(mine, 0, 100, rank);
    OK(MPI_File_write_at_all(file, 5000 * rank, mine, 100, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_read_at_all(file, 5000 * rank, back, 100, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK(memcmp(mine, back, 100) == 0);
    OK(MPI_File_get_info(file, &used));
    if (with_sago)
        MPI_Info_get(used, "sago_subfiles", MPI_MAX_INFO_VAL, value, &found);
    CHECK(strcmp(value, "auto") == 0);
    OK(MPI_File_close(&file));
    CHECK(stat("hinted", &is) == 0 && S_ISREG(is.st_mode));
    CHECK_INT(is.st_size, 5000 * (ranks - 1) + 100);
    MPI_Info_free(&used);
    MPI_Info_free(&info);
}

static void put(const char *path, const char *text) {
    int fd = open(path, O_WRONLY | O_CREAT, 0666);
    CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    (void)close(fd);
}

static void made_by_sago(void) {
    MPI_File file = MPI_FILE_NULL;
    if (rank == 0) {
        CHECK(mkdir("parted", 0777) == 0);
        put("parted/part.00000", "some");
        put("parted/part.00001", "bytes");
        put("parted/sago-subfiles", "sago subfiles 1\ncount 2\nblock 4096\nchecksum 5bfbe4327f922d2c\n");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    if (with_sago) { /* the MPI libraries alone take the directory for a file, or not */
        CHECK(MPI_File_open(MPI_COMM_WORLD, "parted", MPI_MODE_RDONLY, MPI_INFO_NULL, &file) != MPI_SUCCESS);
        CHECK(file == MPI_FILE_NULL);
        CHECK(MPI_File_open(MPI_COMM_WORLD, "parted", MPI_MODE_RDWR, MPI_INFO_NULL, &file) != MPI_SUCCESS);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        CHECK(unlink("parted/part.00000") == 0 && unlink("parted/part.00001") == 0);
        CHECK(unlink("parted/sago-subfiles") == 0 && rmdir("parted") == 0);
    }
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    hinted();
    made_by_sago();
    return check_end();
}
