/* RUN: n=1,4 */
/* What sago_sync_local() made durable is found by the next job that opens the file: bit for bit, on any number of
 * ranks; never over newer data unless it is told to; damaged or missing parts are errors.
 *
 *   test_tier_found                      a crash is a copy of all files, put back when the handle is closed
 *   test_tier_found leave FILE DIR SEED  writes, syncs locally, and every rank dies by kill -9
 *   test_tier_found take FILE DIR SEED RANKS   after that, with RANKS ranks then
 *   test_tier_found leave-drained FILE DIR     the same while data is drained in the background
 *   test_tier_found take-drained FILE DIR RANKS
 *
 * On the virtual cluster DIR is a node's or a rack's own; scripts/test_tier_kill.sh and cluster/test_tier_nodes.sh
 * make them die. */
#include "check.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/stat.h>

#include "tier/tier_record.h"
#include "store/store.h"
#include "support/inject.h"
#include "support/random.h"

enum { SIZE = 100000, SYNCED = 5, PIECES = 30, BLOCK = 7, BLOCKS = 300 };

static unsigned char model[SIZE + 1000];
static int64_t model_end;

/* ---- What the job that dies writes, and what must be there then ---- */

static void model_put(int64_t offset, int64_t length, int64_t whose) {
    for (int64_t i = offset; i < offset + length; i++)
        model[i] = byte_of(i, whose);
    if (length > 0 && offset + length > model_end)
        model_end = offset + length;
}

/* Pieces dealt out at random, some to nobody; `file` NULL: only the model. */
static void do_extents(sago_file *file, uint64_t *seed, int64_t whose, int writers) {
    static unsigned char data[SIZE];
    sago_extent mine[PIECES];
    int64_t n = 0, bytes = 0, at = (int64_t)(next_random(seed) % (SIZE / 3));
    for (int i = 0; i < PIECES; i++) {
        int owner = (int)(next_random(seed) % (uint64_t)(writers + 1));
        int64_t length = (int64_t)(next_random(seed) % 2000);
        if (owner < writers)
            model_put(at, length, whose);
        if (file && owner == rank) {
            mine[n++] = (sago_extent){at, length};
            for (int64_t k = 0; k < length; k++)
                data[bytes++] = byte_of(at + k, whose);
        }
        at += length;
    }
    if (file)
        CHECK_OK(sago_write_extents_all(file, n, mine, data));
}

/* Short blocks in turn through a view, with a hole after each round. */
static void do_view(sago_file *file, uint64_t *seed, int64_t whose, int writers) {
    int64_t disp = (int64_t)(next_random(seed) % 3000), lap = (int64_t)BLOCK * writers + 3;
    unsigned char data[BLOCK * BLOCKS];
    for (int64_t i = 0; i < BLOCKS; i++)
        for (int r = 0; r < writers; r++) {
            model_put(disp + i * lap + (int64_t)r * BLOCK, BLOCK, whose);
            for (int64_t k = 0; r == rank && k < BLOCK; k++)
                data[i * BLOCK + k] = byte_of(disp + i * lap + (int64_t)r * BLOCK + k, whose);
        }
    if (!file)
        return;
    MPI_Datatype one, turns;
    MPI_Type_contiguous(BLOCK, MPI_BYTE, &one);
    MPI_Type_create_resized(one, 0, (MPI_Aint)lap, &turns);
    MPI_Type_commit(&turns);
    CHECK_OK(sago_set_view(file, disp + (int64_t)BLOCK * rank, one, turns));
    CHECK_OK(sago_write_at_all(file, 0, data, BLOCK * BLOCKS, MPI_BYTE, NULL));
    MPI_Type_free(&one);
    MPI_Type_free(&turns);
}

/* Each rank by itself. */
static void do_alone(sago_file *file, uint64_t *seed, int64_t whose, int writers) {
    int64_t from = (int64_t)(next_random(seed) % (SIZE / 4));
    unsigned char data[100];
    for (int r = 0; r < writers; r++)
        model_put(from + (int64_t)r * 100, 100, whose);
    if (!file)
        return;
    for (int64_t k = 0; k < 100; k++)
        data[k] = byte_of(from + (int64_t)rank * 100 + k, whose);
    CHECK_OK(sago_set_view(file, 0, MPI_BYTE, MPI_BYTE));
    CHECK_OK(sago_write_at(file, from + (int64_t)rank * 100, data, 100, MPI_BYTE, NULL));
}

static void model_start(void) {
    memset(model, 0, sizeof model);
    model_end = 0;
    model_put(0, SIZE / 2, 100);
}

/* Collective.  The file as it is before: half of it written, so that holes show. */
static void make_file(const char *path) {
    model_start();
    plain_write(path, model, model_end);
}

/* Two local syncs; then a call that nobody made durable. */
static void do_steps(sago_file *file, uint64_t seed, int writers) {
    for (int step = 1; step <= SYNCED; step++) {
        uint64_t kind = next_random(&seed) % 5;
        (kind == 0 ? do_view : kind == 1 ? do_alone : do_extents)(file, &seed, step, writers);
        if (file && (step == 2 || step == SYNCED))
            CHECK_OK(sago_sync_local(file));
    }
    if (file) {
        static unsigned char more[1000];
        sago_extent mine = {SIZE + 10 * (int64_t)rank, 10};
        CHECK_OK(sago_write_extents_all(file, 1, &mine, more));
    }
}

static void hints_for(char text[700], const char *dir, const char *found) {
    (void)snprintf(text, 700, "sago_tier=local sago_local_dirs=%s sago_tier_found=%s", dir, found);
}

/* Of the tier's, in a directory; and beside the file. */
static int names_left(const char *dir, const char *part) {
    DIR *stream = opendir(dir);
    int count = 0;
    for (struct dirent *entry = stream ? readdir(stream) : NULL; entry; entry = readdir(stream))
        count += strstr(entry->d_name, part) != NULL;
    if (stream)
        closedir(stream);
    return count;
}

/* ---- A real death ---- */

static void leave(const char *path, const char *dir, uint64_t seed) {
    char text[700];
    sago_file *file = NULL;
    hints_for(text, dir, "safe");
    make_file(path);
    CHECK_OK(open_hinted(path, MPI_MODE_RDWR, text, &file));
    do_steps(file, seed, ranks);
    if (sum_everywhere(failures) == 0)
        (void)kill(getpid(), SIGKILL);
}

static void take(const char *path, const char *dir, uint64_t seed, int writers) {
    char text[700], folder[CHECK_PATH_MAX];
    sago_file *file = NULL;
    hints_for(text, dir, "safe");
    model_start();
    do_steps(NULL, seed, writers);
    CHECK(names_left(dir, ".record") > 0);
    meet();
    CHECK_OK(open_hinted(path, MPI_MODE_RDWR, text, &file));
    CHECK_FILE(path, model, model_end);
    if (file)
        CHECK_OK(sago_close(&file));
    (void)snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path), path);
    CHECK_INT(names_left(dir, ".sago-tier-"), 0);
    CHECK_INT(names_left(folder, ".sago-tier"), 0);
}

/* The same while data is drained in the background: it is all there, but as with any merge that was interrupted
 * nobody can tell whether others wrote to the file since, so one has to insist. */
enum { DRAINED = 300000 };
static unsigned char drained[DRAINED];

static void leave_drained(const char *path, const char *dir) {
    char text[760], safe[700];
    sago_file *file = NULL;
    sago_extent mine = {rank * (int64_t)DRAINED, DRAINED};
    hints_for(safe, dir, "safe");
    (void)snprintf(text, sizeof text, "%s sago_tier_drain=background sago_window=64K", safe);
    make_file(path);
    CHECK_OK(open_hinted(path, MPI_MODE_RDWR, text, &file));
    for (int64_t i = 0; i < DRAINED; i++)
        drained[i] = byte_of(i, rank);
    CHECK_OK(sago_write_extents_all(file, 1, &mine, drained));
    CHECK_OK(sago_sync_local(file));
    if (sum_everywhere(failures) == 0)
        (void)kill(getpid(), SIGKILL);
}

static void take_drained(const char *path, const char *dir, int writers) {
    char text[700];
    sago_file *file = NULL;
    hints_for(text, dir, "safe");
    EXPECT(open_hinted(path, MPI_MODE_RDWR, text, &file), SAGO_ERR_STATE, "interrupted", -1);
    hints_for(text, dir, "merge");
    CHECK_OK(open_hinted(path, MPI_MODE_RDWR, text, &file));
    for (int writer = 0; file && writer < writers; writer++) {
        sago_extent theirs = {writer * (int64_t)DRAINED, DRAINED};
        CHECK_OK(sago_read_extents_all(file, 1, &theirs, drained, NULL));
        for (int64_t i = 0; i < DRAINED; i++)
            if (drained[i] != byte_of(i, writer)) {
                CHECK_INT(i, -1);
                break;
            }
    }
    if (file)
        CHECK_OK(sago_close(&file));
    CHECK_INT(names_left(dir, ".sago-tier-"), 0);
}

/* ---- A crash as a copy ---- */

static const char *dir;           /* SAGO_TEST_DIR: of the local files, and of the file */
static char path[CHECK_PATH_MAX]; /* the file */
static struct timespec times[2];  /* of the file, when it crashed */

static void run(const char *format, ...) {
    char command[2000];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(command, sizeof command, format, arguments);
    va_end(arguments);
    CHECK_INT(system(command), 0);
}

/* Collective, rank 0 does it: the names of what a job would leave. */
static void save_state(void) {
    struct stat is;
    meet();
    if (rank == 0) {
        run("mkdir %s/saved && cp %s/.sago-tier-* %s/.found.sago-tier %s/saved/", dir, dir, dir, dir);
        CHECK(stat(path, &is) == 0);
        times[0] = is.st_atim;
        times[1] = is.st_mtim;
    }
    meet();
}

/* The file itself stays the same one. */
static void restore_state(void) {
    static unsigned char before[SIZE];
    for (int64_t i = 0; i < SIZE / 2; i++)
        before[i] = byte_of(i, 100);
    meet();
    plain_write(path, before, SIZE / 2);
    if (rank == 0) {
        run("cp %s/saved/.[!.]* %s/", dir, dir);
        CHECK(utimensat(AT_FDCWD, path, times, 0) == 0);
    }
    meet();
}

static sago_status open_found(const char *found, int amode, sago_file **file) {
    char text[700];
    hints_for(text, dir, found);
    return open_hinted(path, amode, text, file);
}

/* A job that syncs locally and dies; what it left is in `saved`, and put in place. */
static void crash(uint64_t seed) {
    sago_file *file = NULL;
    make_file(path);
    CHECK_OK(open_found("safe", MPI_MODE_RDWR, &file));
    do_steps(file, seed, ranks);
    save_state();
    CHECK_OK(sago_close(&file));
    CHECK_INT(names_left(dir, ".sago-tier"), 0);
    model_start();
    do_steps(NULL, seed, ranks);
    restore_state();
}

static void forget_state(void) {
    meet();
    if (rank == 0)
        run("rm -rf %s/saved %s/.sago-tier-* %s/.found.sago-tier", dir, dir, dir);
    meet();
}

static void expect_merged(void) {
    CHECK_FILE(path, model, model_end);
    CHECK_INT(names_left(dir, ".sago-tier"), 0);
    meet();
}

/* On all ranks, on fewer, and for reading only. */
static void test_ranks(void) {
    char text[700];
    sago_file *file = NULL;
    scene = "ranks";
    hints_for(text, dir, "safe");
    for (int some = 1; some <= ranks; some++) {
        MPI_Comm comm;
        restore_state();
        MPI_Comm_split(MPI_COMM_WORLD, rank < some ? 0 : MPI_UNDEFINED, ranks - rank, &comm);
        MPI_Info info = hints_of(text);
        if (comm != MPI_COMM_NULL) {
            CHECK_OK(sago_open(comm, path, MPI_MODE_RDWR, info, &file));
            CHECK_OK(sago_close(&file));
            MPI_Comm_free(&comm);
        }
        MPI_Info_free(&info);
        expect_merged();
    }
    restore_state();
    CHECK_OK(open_found("safe", MPI_MODE_RDONLY, &file));
    static unsigned char back[SIZE + 1000];
    sago_extent all = {0, SIZE + 1000};
    MPI_Count bytes = 0;
    CHECK_OK(sago_read_extents_all(file, 1, &all, back, &bytes));
    CHECK_INT(bytes, model_end);
    CHECK(memcmp(back, model, (size_t)model_end) == 0);
    CHECK_OK(sago_close(&file));
    expect_merged();
}

/* Somebody has written to the file since: an error, unless the user decides. */
static void test_newer(void) {
    static unsigned char before[SIZE];
    sago_file *file = NULL;
    scene = "newer";
    for (int64_t i = 0; i < SIZE / 2; i++)
        before[i] = byte_of(i, 100);
    before[5] = 77;
    for (int merge = 0; merge < 2; merge++) {
        restore_state();
        plain_write(path, before, SIZE / 2);
        EXPECT(open_found("safe", MPI_MODE_RDWR, &file), SAGO_ERR_STATE, "sago tier merge --force", -1);
        EXPECT(open_found("safe", MPI_MODE_RDONLY, &file), SAGO_ERR_STATE, "sago tier rm", -1);
        CHECK_FILE(path, before, SIZE / 2);
        CHECK_INT(names_left(dir, ".sago-tier"), 3);
        meet();
        CHECK_OK(open_found(merge ? "merge" : "drop", MPI_MODE_RDWR, &file));
        CHECK_OK(sago_close(&file));
        CHECK_INT(names_left(dir, ".sago-tier"), 0);
        CHECK_INT(plain_size(path), merge ? model_end : SIZE / 2);
        meet();
    }
    if (rank == 0)
        CHECK(unlink(path) == 0); /* another file of that name */
    meet();
    restore_state();
    EXPECT(open_found("safe", MPI_MODE_RDWR, &file), SAGO_ERR_STATE, "not what it was", -1);
    if (rank == 0)
        CHECK_OK(sago_delete(path, MPI_INFO_NULL)); /* and what was left of it is not wanted any more */
    meet();
    CHECK_INT(names_left(dir, ".found.sago-tier"), 0);
    make_file(path);
    CHECK_OK(open_found("safe", MPI_MODE_RDWR, &file));
    CHECK_OK(sago_close(&file));
    CHECK_FILE(path, model, SIZE / 2);
    forget_state();
}

/* ---- Damage ---- */

static void find_names(char record[CHECK_PATH_MAX + 300], char local[CHECK_PATH_MAX + 300]) {
    DIR *stream = opendir(dir);
    for (struct dirent *entry = stream ? readdir(stream) : NULL; entry; entry = readdir(stream))
        if (strncmp(entry->d_name, SAGOI_TIER_PREFIX, strlen(SAGOI_TIER_PREFIX)) == 0)
            (void)snprintf(strstr(entry->d_name, SAGOI_TIER_RECORD) ? record : local, CHECK_PATH_MAX + 300,
                           "%s/%s", dir, entry->d_name);
    if (stream)
        closedir(stream);
}

static void flip(const char *name, int64_t at) {
    unsigned char byte = 0;
    int fd = open(name, O_RDWR);
    CHECK(fd >= 0 && pread(fd, &byte, 1, at) == 1);
    byte ^= 0x20;
    CHECK(pwrite(fd, &byte, 1, at) == 1);
    CHECK(close(fd) == 0);
}

static void test_damage(void) {
    static const struct {
        const char *what, *word;
        sago_status status;
    } cases[] = {{"record", "checksum", SAGO_ERR_IO},
                 {"claim", "checksum", SAGO_ERR_IO},
                 {"no record", "not in sight", SAGO_ERR_NO_FILE},
                 {"no local file", "No such file", SAGO_ERR_NO_FILE},
                 {"local file cut", "bytes of", SAGO_ERR_IO},
                 {"empty record", "not a record", SAGO_ERR_IO}};
    for (int i = 0; i < 6; i++) {
        char record[CHECK_PATH_MAX + 300] = "", local[CHECK_PATH_MAX + 300] = "", claim[CHECK_PATH_MAX + 40];
        sago_file *file = NULL;
        static unsigned char before[SIZE];
        scene = cases[i].what;
        for (int64_t k = 0; k < SIZE / 2; k++)
            before[k] = byte_of(k, 100);
        restore_state();
        (void)snprintf(claim, sizeof claim, "%s/.found.sago-tier", dir);
        find_names(record, local);
        meet();
        if (rank == 0 && i < 2)
            flip(i == 0 ? record : claim, 60);
        if (rank == 0 && (i == 2 || i == 3))
            CHECK(unlink(i == 2 ? record : local) == 0);
        if (rank == 0 && i >= 4)
            CHECK(truncate(i == 4 ? local : record, i == 4 ? 1000 : 0) == 0);
        meet();
        EXPECT(open_found("safe", MPI_MODE_RDWR, &file), cases[i].status, cases[i].word, -1);
        CHECK_FILE(path, before, SIZE / 2);
        if (i != 1) { /* a claim that cannot be read says not what to drop */
            CHECK_OK(open_found("drop", MPI_MODE_RDWR, &file));
            CHECK_OK(sago_close(&file));
        }
        meet();
        if (rank == 0)
            run("rm -f %s/.sago-tier-* %s/.found.sago-tier", dir, dir);
        meet();
    }
}

/* ---- Merging that fails or is interrupted ---- */

/* Of the file itself; the claim beside it is written. */
static int refuse_write(void *arg, const sagoi_file_op *op, int64_t *len) {
    (void)arg, (void)len;
    return op->kind == SAGOI_OP_WRITE && strcmp(op->path, path) == 0 ? ENOSPC : 0;
}

/* The global file system is full: closing fails, and what is local is kept. */
static void test_full(void) {
    char text[700];
    sago_file *file = NULL;
    uint64_t seed = 5;
    scene = "full";
    hints_for(text, dir, "safe");
    strcat(text, " sago_map=off sago_io=posix sago_strategy=direct");
    make_file(path);
    CHECK_OK(open_hinted(path, MPI_MODE_RDWR, text, &file));
    do_extents(file, &seed, 1, ranks);
    CHECK_OK(sago_sync_local(file));
    const file_hooks full = {.before = refuse_write};
    inject_file_hooks(&full);
    EXPECT(sago_close(&file), SAGO_ERR_NO_SPACE, "No space", -1);
    inject_file_hooks(NULL);
    CHECK_INT(names_left(dir, ".sago-tier"), 3);
    meet();
    EXPECT(open_found("safe", MPI_MODE_RDWR, &file), SAGO_ERR_STATE, "interrupted", -1);
    CHECK_OK(open_found("merge", MPI_MODE_RDWR, &file));
    CHECK_OK(sago_close(&file));
    expect_merged();
}

/* While a handle keeps data locally nobody else takes it. */
static void test_in_use(void) {
    sago_file *file = NULL, *other = NULL, *third = NULL;
    uint64_t seed = 9;
    scene = "in use";
    make_file(path);
    CHECK_OK(open_found("safe", MPI_MODE_RDWR, &file));
    CHECK_OK(open_found("safe", MPI_MODE_RDWR, &third));
    do_extents(file, &seed, 1, ranks);
    CHECK_OK(sago_sync_local(file));
    EXPECT(open_found("safe", MPI_MODE_RDWR, &other), SAGO_ERR_STATE, "in use", -1);
    EXPECT(open_found("drop", MPI_MODE_RDWR, &other), SAGO_ERR_STATE, "in use", -1);
    uint64_t again = 9;
    do_extents(third, &again, 1, ranks);
    EXPECT(sago_sync_local(third), SAGO_ERR_STATE, "another handle", 0);
    CHECK_OK(sago_close(&third));
    CHECK_OK(sago_close(&file));
    expect_merged();
}

/* Old files that nobody holds: the claimed one stays, the others go. */
static void test_leftovers(void) {
    char other[CHECK_PATH_MAX + 8], text[700], record[CHECK_PATH_MAX + 300] = "", local[CHECK_PATH_MAX + 300] = "";
    sago_file *file = NULL;
    scene = "leftovers";
    hints_for(text, dir, "safe");
    (void)snprintf(other, sizeof other, "%s.2", path);
    for (int claimed = 1; claimed >= 0; claimed--) {
        restore_state();
        find_names(record, local);
        meet();
        if (rank == 0) {
            run("touch -d 2020-01-01 %s %s", record, local);
            run("touch -d 2020-01-01 %s/.sago-tier-00112233-0 %s/.sago-tier-44556677-0.record", dir, dir);
            if (!claimed)
                run("rm %s/.found.sago-tier", dir);
        }
        meet();
        CHECK_OK(open_hinted(other, MPI_MODE_RDWR | MPI_MODE_CREATE, text, &file));
        CHECK_OK(sago_close(&file));
        CHECK_INT(names_left(dir, ".sago-tier-"), claimed ? 2 : 0);
        meet();
    }
    forget_state();
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    if (argc > 4 && strcmp(argv[1], "leave") == 0) {
        scene = "leave";
        leave(argv[2], argv[3], strtoull(argv[4], NULL, 10));
        return check_end();
    }
    if (argc > 5 && strcmp(argv[1], "take") == 0) {
        scene = "take";
        take(argv[2], argv[3], strtoull(argv[4], NULL, 10), atoi(argv[5]));
        return check_end();
    }
    if (argc > 3 && strcmp(argv[1], "leave-drained") == 0) {
        scene = "leave drained";
        leave_drained(argv[2], argv[3]);
        return check_end();
    }
    if (argc > 4 && strcmp(argv[1], "take-drained") == 0) {
        scene = "take drained";
        take_drained(argv[2], argv[3], atoi(argv[4]));
        return check_end();
    }
    dir = getenv("SAGO_TEST_DIR");
    (void)snprintf(path, sizeof path, "%s", scratch("found"));
    for (uint64_t seed = 1; seed <= 4 && sum_everywhere(failures) == 0; seed++) {
        scene = "crash";
        crash(seed);
        test_ranks();
        if (seed == 1) {
            test_newer();
            crash(seed + 10);
            test_damage();
            test_leftovers();
        }
        forget_state();
    }
    test_full();
    test_in_use();
    return check_end();
}
