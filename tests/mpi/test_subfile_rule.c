/* RUN: n=4 1 */
/* RUN: n=4 2 */
/* Files in subfiles whose blocks the first write decides: until then the file is empty to everybody, one rule is
 * made however many try, and whoever opened the file before finds it. */

#include "check.h"
#include "fake_nodes.h"
#include "mpi/hint_of.h"

enum { PAGE = 4096, PART = 3 * PAGE, SIZE = 4 * PART };

static unsigned char content[2 * SIZE], back[2 * SIZE];

static bool has(const char *path, const char *name) {
    char whole[CHECK_PATH_MAX + 40];
    struct stat is;
    (void)snprintf(whole, sizeof whole, "%s/%s", path, name);
    return stat(whole, &is) == 0;
}

static long long bytes_of_part(const char *path, int k) {
    char part[CHECK_PATH_MAX + 20];
    struct stat is;
    (void)snprintf(part, sizeof part, "%s/part.%05d", path, k);
    return stat(part, &is) == 0 ? (long long)is.st_size : -1;
}

static sago_file *create(const char *path, const char *more) {
    sago_file *file = NULL;
    char hints[200];
    (void)snprintf(hints, sizeof hints, "sago_subfiles=node sago_window=64K %s", more);
    CHECK_OK(open_hinted(path, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL, hints, &file));
    CHECK_INT(hint_of(file, "sago_subfiles"), ranks / fake_node_ranks);
    CHECK_INT(hint_of(file, "sago_subfile_block"), 0);
    CHECK(!has(path, "sago-subfiles"));
    meet(); /* before anybody writes */
    return file;
}

static void end(sago_file **file, const char *path) {
    CHECK_OK(sago_close(file));
    meet();
    if (rank == 0)
        CHECK_OK(sago_delete(path, MPI_INFO_NULL));
    meet();
    struct stat is;
    CHECK(stat(path, &is) != 0);
}

static void write_parts(sago_file *file, int64_t from) {
    sago_extent mine = {from + rank * PART, PART};
    CHECK_OK(sago_write_extents_all(file, 1, &mine, content + mine.offset));
}

static void check_bytes(sago_file *file, int64_t size) {
    MPI_Offset is = -1;
    MPI_Count bytes = -1;
    sago_extent all = {0, size};
    memset(back, 0xEE, sizeof back);
    CHECK_OK(sago_get_size(file, &is));
    CHECK_INT(is, size);
    CHECK_OK(sago_read_extents_all(file, 1, &all, back, &bytes));
    CHECK_INT(bytes, size);
    CHECK(memcmp(back, content, (size_t)size) == 0);
}

/* Empty to all; then every node's data in its own subfile, in the next step of that size, too. */
static void test_first_write(void) {
    char path[CHECK_PATH_MAX], byte;
    int nodes = ranks / fake_node_ranks;
    MPI_Offset size = -1;
    MPI_Count bytes = -1;
    sago_stats stats = SAGO_STATS_INIT;
    (void)snprintf(path, sizeof path, "%s", scratch("rule-first"));
    scene = "first write";
    sago_file *file = create(path, "sago_strategy=aggregated"), *other = NULL;
    CHECK_OK(sago_get_size(file, &size));
    CHECK_INT(size, 0);
    CHECK_OK(sago_read_at_all(file, 0, &byte, 1, MPI_BYTE, &bytes));
    CHECK_INT(bytes, 0);
    CHECK_OK(sago_set_size(file, 0)); /* is of no size already */
    CHECK(!has(path, "sago-subfiles"));
    CHECK_OK(open_hinted(path, MPI_MODE_RDONLY, "", &other)); /* before there is a rule */
    CHECK_INT(hint_of(other, "sago_subfiles"), nodes);
    write_parts(file, 0);
    CHECK_INT(hint_of(file, "sago_subfile_block"), SIZE / nodes);
    CHECK_OK(sago_get_stats(file, &stats));
    CHECK(strstr(stats.decision, "crossing") == NULL);
    meet();
    for (int k = 0; k < nodes; k++)
        CHECK_INT(bytes_of_part(path, k), SIZE / nodes);
    check_bytes(other, SIZE);
    CHECK_INT(hint_of(other, "sago_subfile_block"), SIZE / nodes);
    write_parts(file, SIZE);
    meet();
    for (int k = 0; k < nodes; k++)
        CHECK_INT(bytes_of_part(path, k), 2 * SIZE / nodes);
    check_bytes(other, 2 * SIZE);
    CHECK_OK(sago_close(&other));
    end(&file, path);
}

/* Later steps of another size are right all the same, and the reasons tell that they cross. */
static void test_other_sizes(void) {
    char path[CHECK_PATH_MAX];
    sago_stats stats = SAGO_STATS_INIT;
    (void)snprintf(path, sizeof path, "%s", scratch("rule-sizes"));
    scene = "other sizes";
    sago_file *file = create(path, "sago_strategy=aggregated");
    write_parts(file, 0);
    sago_extent mine = {SIZE + rank * (PART - 100), PART - 100};
    CHECK_OK(sago_write_extents_all(file, 1, &mine, content + mine.offset));
    CHECK_OK(sago_get_stats(file, &stats));
    CHECK(strstr(stats.decision, "crossing: the data of") != NULL);
    check_bytes(file, SIZE + ranks * (PART - 100));
    end(&file, path);
}

/* What comes before a collective write in which all nodes have data fixes the default. */
static void test_default(void) {
    char path[CHECK_PATH_MAX];
    (void)snprintf(path, sizeof path, "%s", scratch("rule-default"));
    for (int way = 0; way < 4; way++) {
        const char *const scenes[] = {"a rank alone", "set_size", "preallocate", "one node has data"};
        scene = scenes[way];
        sago_file *file = create(path, "");
        if (way == 0 && rank == 1)
            CHECK_OK(sago_write_at(file, 0, content, 1, MPI_BYTE, NULL));
        if (way == 1)
            CHECK_OK(sago_set_size(file, 1));
        if (way == 2)
            CHECK_OK(sago_preallocate(file, 1));
        sago_extent little = {0, 1};
        if (way == 3)
            CHECK_OK(sago_write_extents_all(file, rank == 0, &little, content));
        meet();
        CHECK(has(path, "sago-subfiles"));
        write_parts(file, 0);
        CHECK_INT(hint_of(file, "sago_subfile_block"), 64 << 10);
        check_bytes(file, SIZE);
        end(&file, path);
    }
}

/* Two handles of half of the ranks each, opened before there is a rule, write at once: one of them makes it. */
static void test_two_handles(void) {
    char path[CHECK_PATH_MAX];
    (void)snprintf(path, sizeof path, "%s", scratch("rule-two"));
    scene = "two handles";
    for (int turn = 0; turn < 10; turn++) {
        sago_file *file = create(path, ""), *half = NULL;
        MPI_Comm comm;
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comm);
        CHECK_OK(sago_open(comm, path, MPI_MODE_RDWR, MPI_INFO_NULL, &half));
        meet();
        sago_extent mine = {rank * PART, PART};
        CHECK_OK(sago_write_extents_all(half, 1, &mine, content + mine.offset));
        CHECK_OK(sago_close(&half));
        meet();
        check_bytes(file, SIZE);
        CHECK(!has(path, "sago-subfiles.new"));
        MPI_Comm_free(&comm);
        end(&file, path);
    }
}

/* Declared variables, one after another in the file: each is spread over all subfiles. */
static void test_declared(void) {
    char path[CHECK_PATH_MAX];
    int nodes = ranks / fake_node_ranks;
    (void)snprintf(path, sizeof path, "%s", scratch("rule-declared"));
    scene = "declared";
    sago_file *file = create(path, "");
    sago_series *series = NULL;
    sago_var variables[2];
    for (int v = 0; v < 2; v++)
        variables[v] = (sago_var){sizeof(sago_var), v * SIZE + rank * PART, PART, MPI_BYTE, MPI_DATATYPE_NULL};
    CHECK_OK(sago_declare(file, 2, variables, &series));
    CHECK(!has(path, "sago-subfiles"));
    for (int v = 0; v < 2; v++)
        CHECK_OK(sago_series_write(series, v, content + variables[v].offset));
    CHECK_OK(sago_series_complete(series));
    CHECK_INT(hint_of(file, "sago_subfile_block"), SIZE / nodes);
    meet();
    for (int k = 0; k < nodes; k++)
        CHECK_INT(bytes_of_part(path, k), 2 * SIZE / nodes);
    CHECK_OK(sago_series_free(&series));
    check_bytes(file, 2 * SIZE);
    end(&file, path);
}

/* Deferred, nonblocking, through local storage. */
static void test_other_ways(void) {
    char path[CHECK_PATH_MAX], tier[CHECK_PATH_MAX + 60];
    (void)snprintf(path, sizeof path, "%s", scratch("rule-ways"));
    (void)snprintf(tier, sizeof tier, "sago_tier=local sago_local_dirs=%s", getenv("SAGO_TEST_DIR"));
    const char *const hints[] = {"sago_defer=on", "sago_nonblocking=apart", tier, ""};
    for (int way = 0; way < 4; way++) {
        scene = hints[way];
        sago_file *file = create(path, hints[way]);
        sago_request *request = NULL;
        sago_extent mine = {rank * PART, PART};
        if (way % 2 == 1) {
            CHECK_OK(sago_iwrite_extents_all(file, 1, &mine, content + mine.offset, &request));
            CHECK_OK(sago_wait(&request, NULL));
        } else {
            write_parts(file, 0);
        }
        CHECK_OK(sago_sync(file));
        check_bytes(file, SIZE);
        end(&file, path);
    }
}

/* A description that is lost, and one of another number of subfiles, are errors, not an empty file. */
static void test_damaged(void) {
    char path[CHECK_PATH_MAX], name[CHECK_PATH_MAX + 40], other[CHECK_PATH_MAX + 40];
    sago_file *file = NULL;
    MPI_Offset size;
    (void)snprintf(path, sizeof path, "%s", scratch("rule-damaged"));
    (void)snprintf(name, sizeof name, "%s/sago-subfiles", path);
    (void)snprintf(other, sizeof other, "%s.other", path);
    scene = "damaged";
    file = create(path, "");
    write_parts(file, 0);
    CHECK_OK(sago_close(&file));
    meet();
    if (rank == 0)
        CHECK(rename(name, other) == 0);
    meet();
    CHECK_OK(open_hinted(path, MPI_MODE_RDWR, "", &file));
    CHECK(sago_get_size(file, &size) == SAGO_ERR_BAD_FILE);
    sago_extent mine = {rank, 1};
    EXPECT(sago_write_extents_all(file, 1, &mine, content), SAGO_ERR_BAD_FILE, "missing", -1);
    meet();
    if (rank == 0)
        CHECK(rename(other, name) == 0);
    meet();
    check_bytes(file, SIZE);
    end(&file, path);
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    fake_node_ranks = atoi(argv[1]);
    for (int64_t i = 0; i < 2 * SIZE; i++)
        content[i] = byte_of(i, 7);
    int descriptors = open_descriptors();
    test_first_write();
    test_other_sizes();
    test_default();
    test_two_handles();
    test_declared();
    test_other_ways();
    test_damaged();
    CHECK_INT(open_descriptors(), descriptors);
    return check_end();
}
