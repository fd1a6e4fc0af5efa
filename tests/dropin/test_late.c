/* RUN: n=1,3 */
/* Files of one rank, which Sago opens at the first call that it serves: whatever happens between, that call finds
 * the file that the program opened, and a file without such a call has one descriptor, as with the MPI library
 * alone. */
#include <dirent.h>

#include "dropin_check.h"

enum { N = 100 };
static char mine[N], back[N];

static const char *name_of(const char *what) {
    static char name[64];
    (void)snprintf(name, sizeof name, "%s-%d", what, rank);
    return name;
}

/* How many descriptors of this process are the file's. */
static int descriptors_of(const struct stat *file) {
    DIR *folder = opendir("/proc/self/fd");
    int count = 0;
    for (const struct dirent *entry; folder && (entry = readdir(folder));) {
        char path[300];
        struct stat found;
        (void)snprintf(path, sizeof path, "/proc/self/fd/%s", entry->d_name);
        count += stat(path, &found) == 0 && found.st_dev == file->st_dev && found.st_ino == file->st_ino;
    }
    if (folder)
        closedir(folder);
    return count;
}

static void write_and_read(MPI_File file, int place) {
    memset(back, 0, N);
    OK(MPI_File_write_at_all(file, N * place, mine, N, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_read_at_all(file, N * place, back, N, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK(memcmp(mine, back, N) == 0);
}

static void write_other(const char *name) {
    FILE *other = fopen(name, "w");
    CHECK(other && fputs("other", other) >= 0 && fclose(other) == 0);
}

/* Exactly `count` times what mine[] has. */
static void check_own(const char *name, int count) {
    FILE *in = fopen(name, "r");
    CHECK_INT(plain_size(name), (long long)N * count);
    for (int i = 0; i < count; i++)
        CHECK(in && fread(back, 1, N, in) == N && memcmp(mine, back, N) == 0);
    if (in)
        fclose(in);
}

static void descriptors(void) {
    struct stat info;
    MPI_File file = open_in(MPI_COMM_SELF, name_of("few"), MODE_NEW);
    CHECK(stat(name_of("few"), &info) == 0);
    CHECK_INT(descriptors_of(&info), 1);
    OK(MPI_File_write_at(file, 0, mine, N, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK_INT(descriptors_of(&info), 1);
    write_and_read(file, 1);
    CHECK_INT(descriptors_of(&info), with_sago ? 2 : 1);
    OK(MPI_File_close(&file));
    CHECK_INT(descriptors_of(&info), 0);
    check_own(name_of("few"), 2);
    file = open_in(MPI_COMM_SELF, name_of("few"), MPI_MODE_RDONLY); /* closed without any call */
    OK(MPI_File_close(&file));
    CHECK_INT(descriptors_of(&info), 0);
}

static void renamed(void) {
    char before[64];
    (void)snprintf(before, sizeof before, "%s", name_of("before"));
    MPI_File file = open_in(MPI_COMM_SELF, before, MODE_NEW);
    CHECK(rename(before, name_of("after")) == 0);
    write_other(before);
    write_and_read(file, 0);
    OK(MPI_File_close(&file));
    CHECK_INT(plain_size(before), 5);
    check_own(name_of("after"), 1);
}

static void removed(void) {
    const char *name = name_of("removed");
    MPI_File file = open_in(MPI_COMM_SELF, name, MODE_NEW);
    CHECK(unlink(name) == 0);
    write_and_read(file, 3);
    MPI_Offset size = 0;
    OK(MPI_File_get_size(file, &size));
    CHECK_INT(size, 4 * N);
    OK(MPI_File_close(&file));
    CHECK_INT(plain_size(name), -1);
}

static void elsewhere(void) {
    const char *folder = name_of("folder");
    CHECK(mkdir(folder, 0777) == 0);
    MPI_File file = open_in(MPI_COMM_SELF, "here", MODE_NEW);
    CHECK(chdir(folder) == 0);
    write_other("here");
    write_and_read(file, rank);
    OK(MPI_File_close(&file));
    CHECK_INT(plain_size("here"), 5);
    CHECK(chdir("..") == 0);
}

static void modes(void) {
    const char *name = name_of("modes");
    MPI_File file = open_in(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_WRONLY);
    OK(MPI_File_write_at_all(file, 0, mine, N, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
    check_own(name, 1);
    file = open_in(MPI_COMM_SELF, name, MPI_MODE_RDONLY);
    memset(back, 0, N);
    OK(MPI_File_read_at_all(file, 0, back, N, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK(memcmp(mine, back, N) == 0);
    OK(MPI_File_close(&file));
    file = open_in(MPI_COMM_SELF, name, MPI_MODE_RDWR | MPI_MODE_APPEND);
    OK(MPI_File_write_all(file, mine, N, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
    check_own(name, 2);
    file = open_in(MPI_COMM_SELF, name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    write_and_read(file, 5);
    OK(MPI_File_close(&file));
    CHECK_INT(plain_size(name), -1);
}

/* The program's communicator and hints are gone, and the pointer was moved by the MPI library. */
static void freed(void) {
    MPI_Comm own;
    MPI_Info info;
    MPI_File file;
    MPI_Comm_dup(MPI_COMM_SELF, &own);
    MPI_Info_create(&info);
    MPI_Info_set(info, "cb_buffer_size", "65536");
    OK(MPI_File_open(own, name_of("freed"), MODE_NEW, info, &file));
    MPI_Info_free(&info);
    MPI_Comm_free(&own);
    OK(MPI_File_write(file, mine, N, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_seek(file, N, MPI_SEEK_CUR));
    OK(MPI_File_write_all(file, mine, N, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK_INT(position_of(file), 3 * N);
    OK(MPI_File_write_at(file, N, mine, N, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
    check_own(name_of("freed"), 3);
}

/* The first call is another one than a blocking one that moves data. */
static void first_calls(void) {
    MPI_Request request;
    MPI_Status status;
    const char *name = name_of("first");
    MPI_File file = open_in(MPI_COMM_SELF, name, MODE_NEW);
    OK(MPI_File_iwrite_at_all(file, 0, mine, N, MPI_BYTE, &request));
    OK(MPI_Wait(&request, &status));
    CHECK_INT(count_in(&status, MPI_BYTE), N);
    OK(MPI_File_close(&file));
    file = open_in(MPI_COMM_SELF, name, MPI_MODE_RDWR);
    OK(MPI_File_write_at_all_begin(file, N, mine, N, MPI_BYTE));
    OK(MPI_File_write_at_all_end(file, mine, &status));
    OK(MPI_File_close(&file));
    check_own(name, 2);
    file = open_in(MPI_COMM_SELF, name, MPI_MODE_RDWR);
    OK(MPI_File_set_size(file, N));
    OK(MPI_File_close(&file));
    check_own(name, 1);
    file = open_in(MPI_COMM_SELF, name, MPI_MODE_RDWR);
    OK(MPI_File_set_view(file, N, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    write_and_read(file, 0);
    OK(MPI_File_close(&file));
    check_own(name, 2);
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    fill(mine, 0, N, 1);
    descriptors();
    renamed();
    removed();
    elsewhere();
    modes();
    freed();
    first_calls();
    return check_end();
}
