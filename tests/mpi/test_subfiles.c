/* RUN: n=1,4 */
/* Files that are kept in several: what one set of ranks wrote others find, with other hints or none; each call
 * works or fails alike on all ranks.  (Random programs on such files are the oracle's.) */
#include "check.h"

enum { BLOCK = 4096, SIZE = 23 * BLOCK + 100 };

static unsigned char content[SIZE], back[SIZE];

static bool is_directory(const char *path) {
    struct stat is;
    return stat(path, &is) == 0 && S_ISDIR(is.st_mode);
}

static bool exists(const char *path) {
    struct stat is;
    return stat(path, &is) == 0;
}

/* The value of a hint that is in force. */
static long long hint_of(sago_file *file, const char *key) {
    MPI_Info info;
    char value[MPI_MAX_INFO_VAL + 1] = "";
    int found = 0;
    MPI_Info_create(&info);
    CHECK_OK(sago_get_hints(file, info));
    MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &found);
    MPI_Info_free(&info);
    return found ? atoll(value) : -1; /* "auto" is 0 */
}

static sago_file *create(const char *path, const char *hints) {
    sago_file *file = NULL;
    CHECK_OK(open_hinted(path, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL, hints, &file));
    return file;
}

/* Every rank its stretch of the content. */
static sago_extent stretch(int of, int all) {
    int64_t first = (int64_t)SIZE * of / all, end = (int64_t)SIZE * (of + 1) / all;
    return (sago_extent){first, end - first};
}

static void write_content(sago_file *file) {
    sago_extent mine = stretch(rank, ranks);
    CHECK_OK(sago_write_extents_all(file, 1, &mine, content + mine.offset));
}

static void check_content(MPI_Comm comm, const char *path, const char *hints) {
    sago_file *file = NULL;
    MPI_Offset size = -1;
    MPI_Count bytes = -1;
    sago_extent all = {0, SIZE};
    CHECK_OK(open_hinted_in(comm, path, MPI_MODE_RDONLY, hints, &file));
    memset(back, 0xEE, sizeof back);
    CHECK_OK(sago_get_size(file, &size));
    CHECK_INT(size, SIZE);
    CHECK_OK(sago_read_extents_all(file, 1, &all, back, &bytes));
    CHECK_INT(bytes, SIZE);
    CHECK(memcmp(back, content, SIZE) == 0);
    memset(back, 0xEE, sizeof back);
    CHECK_OK(sago_read_at(file, 0, back, SIZE, MPI_BYTE, &bytes));
    CHECK(memcmp(back, content, SIZE) == 0);
    CHECK_OK(sago_close(&file));
}

/* Written by all, read by all, by each alone, and by all in another order; with other hints, with none. */
static void test_found_again(void) {
    MPI_Comm reversed;
    char path[CHECK_PATH_MAX];
    (void)snprintf(path, sizeof path, "%s", scratch("again"));
    scene = "found again";
    sago_file *file = create(path, "sago_subfiles=5 sago_subfile_block=4K");
    CHECK_INT(hint_of(file, "sago_subfiles"), 5);
    write_content(file);
    CHECK_OK(sago_sync(file));
    CHECK_OK(sago_close(&file));
    CHECK(is_directory(path));
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
    check_content(MPI_COMM_WORLD, path, "sago_subfiles=3 sago_strategy=aggregated");
    check_content(MPI_COMM_WORLD, path, "sago_window=8K sago_strategy=aggregated");
    check_content(MPI_COMM_SELF, path, "sago_strategy=direct");
    check_content(reversed, path, "");
    MPI_Comm_free(&reversed);
    meet();
    CHECK_OK(open_hinted(path, MPI_MODE_RDWR | MPI_MODE_CREATE, "sago_subfiles=2", &file)); /* stays as it is */
    CHECK_INT(hint_of(file, "sago_subfiles"), 5);
    CHECK_OK(sago_close(&file));
    EXPECT(open_hinted(path, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL, "sago_subfiles=2", &file),
           SAGO_ERR_EXISTS, "", 0);
    meet();
    if (rank == 0)
        CHECK_OK(sago_delete(path, MPI_INFO_NULL));
    meet();
    CHECK(!exists(path));
}

static void test_nonblocking(void) {
    char path[CHECK_PATH_MAX];
    sago_request *request[2] = {NULL, NULL};
    (void)snprintf(path, sizeof path, "%s", scratch("nonblocking"));
    scene = "nonblocking";
    sago_file *file = create(path, "sago_subfiles=3 sago_subfile_block=8K");
    sago_extent mine = stretch(rank, ranks), theirs = stretch((rank + 1) % ranks, ranks);
    CHECK_OK(sago_iwrite_extents_all(file, 1, &mine, content + mine.offset, &request[0]));
    CHECK_OK(sago_iread_extents_all(file, 1, &theirs, back, &request[1]));
    for (int i = 0; i < 2; i++)
        CHECK_OK(sago_wait(&request[i], NULL));
    CHECK(memcmp(back, content + theirs.offset, (size_t)theirs.length) == 0);
    CHECK_OK(sago_close(&file));
    check_content(MPI_COMM_WORLD, path, "");
    meet();
    CHECK_OK(open_hinted(path, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, "", &file));
    CHECK_OK(sago_close(&file));
    CHECK(!exists(path));
}

/* Local storage before the subfiles. */
static void test_tier(void) {
    char path[CHECK_PATH_MAX], text[CHECK_PATH_MAX + 100];
    (void)snprintf(path, sizeof path, "%s", scratch("tier"));
    (void)snprintf(text, sizeof text, "sago_tier=local sago_local_dirs=%s sago_subfiles=2 sago_subfile_block=4K",
                   getenv("SAGO_TEST_DIR"));
    scene = "tier";
    sago_file *file = create(path, text);
    write_content(file);
    CHECK_OK(sago_close(&file));
    check_content(MPI_COMM_WORLD, path, "");
    meet();
    if (rank == 0)
        CHECK_OK(sago_delete(path, MPI_INFO_NULL));
    meet();
}

/* One file where one is asked for, or comes out: one node, a number of 1. */
static void test_plain(void) {
    const char *const hints[] = {"sago_subfiles=1", "sago_subfiles=node", "sago_subfiles=auto"};
    char path[CHECK_PATH_MAX];
    (void)snprintf(path, sizeof path, "%s", scratch("plain"));
    scene = "plain";
    for (int i = 0; i < 3; i++) {
        sago_file *file = create(path, hints[i]);
        CHECK(exists(path) && !is_directory(path));
        CHECK_INT(hint_of(file, "sago_subfiles"), 0);
        CHECK_OK(sago_close(&file));
        delete_file(path);
    }
}

static void test_bad(void) {
    char path[CHECK_PATH_MAX], part[CHECK_PATH_MAX + 20], byte = 1;
    sago_file *file = NULL;
    MPI_Count bytes;
    (void)snprintf(path, sizeof path, "%s", scratch("bad"));
    scene = "bad";
    int mode = MPI_MODE_RDWR | MPI_MODE_CREATE;
    EXPECT(open_hinted(path, mode, "sago_subfiles=several", &file), SAGO_ERR_HINT, "sago_subfiles", -1);
    EXPECT(open_hinted(path, mode, "sago_subfiles=gateway sago_machine=none", &file), SAGO_ERR_HINT, "gateway",
           -1);
    EXPECT(open_hinted(path, mode, "sago_subfiles=2 sago_subfile_block=1K", &file), SAGO_ERR_HINT, "4K", -1);
    EXPECT(open_hinted("/nowhere/file", mode, "sago_subfiles=2", &file), SAGO_ERR_NO_FILE, "", 0);
    CHECK(!exists(path));
    /* A subfile is lost while the file is open, and is still lost when it is opened again. */
    file = create(path, "sago_subfiles=3 sago_subfile_block=4K");
    write_content(file);
    (void)snprintf(part, sizeof part, "%s/part.00001", path);
    meet();
    if (rank == 0)
        CHECK(unlink(part) == 0);
    meet();
    sago_extent mine = {rank, 1};
    EXPECT(sago_read_extents_all(file, 1, &mine, &byte, &bytes), SAGO_ERR_BAD_FILE, "part.00001", -1);
    CHECK_OK(sago_close(&file));
    CHECK_OK(open_hinted(path, MPI_MODE_RDWR, "", &file));
    EXPECT(sago_write_extents_all(file, 1, &mine, &byte), SAGO_ERR_BAD_FILE, "part.00001", -1);
    EXPECT(sago_set_size(file, 0), SAGO_ERR_BAD_FILE, "part.00001", 0);
    CHECK_OK(sago_close(&file));
    /* A description that is damaged. */
    (void)snprintf(part, sizeof part, "%s/sago-subfiles", path);
    meet();
    if (rank == 0)
        CHECK(truncate(part, 20) == 0);
    meet();
    EXPECT(open_hinted(path, MPI_MODE_RDWR, "", &file), SAGO_ERR_BAD_FILE, "damaged", 0);
    meet();
    if (rank == 0) {
        CHECK(sago_delete(path, MPI_INFO_NULL) == SAGO_ERR_BAD_FILE);
        CHECK(unlink(part) == 0);
        (void)snprintf(part, sizeof part, "%s/part.00000", path);
        CHECK(unlink(part) == 0);
        (void)snprintf(part, sizeof part, "%s/part.00002", path);
        CHECK(unlink(part) == 0 && rmdir(path) == 0);
    }
    meet();
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    for (int64_t i = 0; i < SIZE; i++)
        content[i] = byte_of(i, 7);
    int descriptors = open_descriptors();
    test_found_again();
    test_nonblocking();
    test_tier();
    test_plain();
    test_bad();
    CHECK_INT(open_descriptors(), descriptors);
    return check_end();
}
