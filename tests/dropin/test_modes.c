/* RUN: n=1,2,4 */
/* Access modes: what they let through, what the file looks like afterwards, and what can be asked of a handle. */
#include <fcntl.h>

#include "dropin_check.h"

enum { N = 50 };
static char mine[N], back[N];

static void write_part(MPI_File file, int place) {
    OK(MPI_File_write_at_all(file, N * place, mine, N, MPI_BYTE, MPI_STATUS_IGNORE));
}

static int mode_of(MPI_File file) {
    int amode = -1;
    OK(MPI_File_get_amode(file, &amode));
    return amode;
}

/* The handle remembers how it was opened, and who opened it; the file gets the permissions the process gives. */
static void asked(void) {
    static const int modes[] = {MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_MODE_RDONLY, MPI_MODE_WRONLY,
                                MPI_MODE_RDWR | MPI_MODE_APPEND, MPI_MODE_WRONLY | MPI_MODE_UNIQUE_OPEN};
    mode_t mask = umask(027);
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        MPI_File file = open_all("asked", modes[i]);
        MPI_Group group, world;
        int same;
        CHECK_INT(mode_of(file), modes[i]);
        OK(MPI_File_get_group(file, &group));
        MPI_Comm_group(MPI_COMM_WORLD, &world);
        MPI_Group_compare(group, world, &same);
        CHECK_INT(same, MPI_IDENT);
        MPI_Group_free(&group);
        MPI_Group_free(&world);
        if (modes[i] != MPI_MODE_RDONLY)
            write_part(file, rank);
        if (!(modes[i] & MPI_MODE_WRONLY)) {
            memset(back, 0, N);
            OK(MPI_File_read_at_all(file, N * rank, back, N, MPI_BYTE, MPI_STATUS_IGNORE));
            CHECK(memcmp(mine, back, N) == 0);
        }
        OK(MPI_File_close(&file));
        CHECK(file == MPI_FILE_NULL);
        meet();
    }
    struct stat info = {0};
    (void)umask(mask);
    CHECK(stat("asked", &info) == 0);
    CHECK_INT(info.st_mode & 0777, 0640);
    CHECK_INT(info.st_size, N * ranks);
}

/* Opening creates, keeps or refuses, and never cuts. */
static void created(void) {
    MPI_File file;
    CHECK(MPI_File_open(MPI_COMM_WORLD, "no/such/folder", MODE_NEW, MPI_INFO_NULL, &file) != MPI_SUCCESS);
    FAILS(MPI_File_open(MPI_COMM_WORLD, "created", MPI_MODE_RDWR, MPI_INFO_NULL, &file), MPI_ERR_NO_SUCH_FILE);
    CHECK(MPI_File_open(MPI_COMM_WORLD, "created", MPI_MODE_RDONLY | MPI_MODE_CREATE, MPI_INFO_NULL, &file) !=
          MPI_SUCCESS);
    meet();
    file = open_all("created", MODE_NEW | MPI_MODE_EXCL);
    CHECK_INT(plain_size("created"), 0);
    meet();
    write_part(file, rank);
    OK(MPI_File_close(&file));
    meet();
    FAILS(MPI_File_open(MPI_COMM_WORLD, "created", MODE_NEW | MPI_MODE_EXCL, MPI_INFO_NULL, &file),
          MPI_ERR_FILE_EXISTS);
    file = open_all("created", MODE_NEW);
    CHECK_INT(plain_size("created"), N * ranks);
    OK(MPI_File_close(&file));
    CHECK(MPI_File_open(MPI_COMM_WORLD, ".", MPI_MODE_RDWR, MPI_INFO_NULL, &file) != MPI_SUCCESS);
    meet();
}

/* Appending: the pointer starts at the end, offsets count from the start, and calls may write anywhere. */
static void appended(void) {
    MPI_File file = open_all("created", MPI_MODE_RDWR | MPI_MODE_APPEND);
    CHECK_INT(position_of(file), N * ranks);
    meet();
    OK(MPI_File_seek(file, N * rank, MPI_SEEK_CUR));
    OK(MPI_File_write_all(file, mine, N, MPI_BYTE, MPI_STATUS_IGNORE));
    meet();
    OK(MPI_File_read_at_all(file, N * rank, back, N, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK(memcmp(mine, back, N) == 0);
    OK(MPI_File_seek(file, -N * (ranks - rank), MPI_SEEK_END));
    CHECK_INT(position_of(file), N * (ranks + rank));
    OK(MPI_File_read_all(file, back, N, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK(memcmp(mine, back, N) == 0);
    OK(MPI_File_close(&file));
    meet();
    CHECK_INT(plain_size("created"), 2 * N * ranks);
}

/* Sequential files know the shared pointer only. */
static void sequential(void) {
    MPI_File file = open_all("sequential", MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL);
    OK(MPI_File_write_ordered(file, mine, N, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_write_ordered(file, mine, N, MPI_BYTE, MPI_STATUS_IGNORE));
#ifdef MPICH_VERSION /* Open MPI does not refuse them */
    FAILS(MPI_File_write_at_all(file, 0, mine, N, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_UNSUPPORTED_OPERATION);
#endif
    OK(MPI_File_close(&file));
    meet();
    FILE *in = fopen("sequential", "r");
    for (int i = 0; i < 2 * ranks; i++)
        CHECK(in && fread(back, 1, N, in) == N && filled(back, 0, N, i % ranks));
    if (in)
        fclose(in);
    meet();
    expect_stat("files", 10 * ranks);
    expect_stat("files_taken", 9 * ranks);
    expect_stat("sequential", -1);
    expect_stat("shared_pointer", -1);
}

/* Gone when the last handle with the mode is closed, also with data just written, and only then. */
static void deleted(void) {
    MPI_File file = open_all("deleted", MODE_NEW | MPI_MODE_DELETE_ON_CLOSE);
    write_part(file, rank);
    OK(MPI_File_sync(file));
    CHECK_INT(plain_size("deleted") > 0, 1);
    meet();
    OK(MPI_File_close(&file));
    meet();
    CHECK_INT(plain_size("deleted"), -1);
    FAILS(MPI_File_delete("deleted", MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE);
    meet();
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    fill(mine, 0, N, rank);
    asked();
    created();
    appended();
    deleted();
    sequential();
    return check_end();
}
