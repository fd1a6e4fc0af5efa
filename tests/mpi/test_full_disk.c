/* RUN: n=1,4 */
/* A full disk: all ranks learn it from their status, none by SIGBUS; no byte outside the call's extents changes;
 * and when there is space again the same call works.
 *
 * The disk is a tmpfs of 4 MiB.  Once all ranks stand in it, it is unmounted lazily: it stays theirs, and goes
 * when the last of them does, however that ends. */
#include <errno.h>
#include <sys/mount.h>
#include <sys/statvfs.h>

#include "mpi/check.h"
#include "store/store.h"
#include "support/inject.h"

enum { MIB = 1 << 20, DISK = 4 * MIB, OLD = 700001, CELL = 1000 };

static const char *const strategies[] = {"",
                                         "sago_strategy=direct",
                                         "sago_strategy=direct sago_io=uring",
                                         "sago_strategy=mapped",
                                         "sago_strategy=aggregated",
                                         "sago_strategy=aggregated sago_window=64K",
                                         "sago_strategy=aggregated sago_io=uring",
                                         "sago_strategy=aggregated sago_direct_io=on"};
enum { STRATEGIES = sizeof strategies / sizeof *strategies };

static unsigned char before[DISK]; /* what the file is: only the first OLD bytes of it are not 0 */
static unsigned char after[DISK];  /* what the calls write */

/* ---- The disk ---- */

static int64_t space_left(void) {
    struct statvfs disk;
    return statvfs(".", &disk) == 0 ? (int64_t)disk.f_bavail * (int64_t)disk.f_bsize : -1;
}

/* false: there is none to be had, and errno says why. */
static bool enter_disk(void) {
    const char *folder = scratch("disk");
    int error = 0;
    if (rank == 0 && (mkdir(folder, 0700) != 0 || mount("sago-test", folder, "tmpfs", 0, "size=4m") != 0))
        error = errno;
    error = (int)sum_everywhere(error);
    if (!error && (chdir(folder) != 0 || space_left() > DISK || space_left() <= 0))
        error = errno ? errno : EXDEV;
    bool entered = sum_everywhere(error) == 0;
    if (rank == 0)
        (void)umount2(folder, MNT_DETACH);
    errno = error;
    return entered;
}

/* Leaves so much of the disk free, or frees all of it again. */
static void set_space(int64_t left) {
    meet();
    if (rank == 0) {
        unlink("filler");
        int fd = open("filler", O_WRONLY | O_CREAT, 0600);
        int64_t taken = left < 0 ? 0 : space_left() - left;
        CHECK(fd >= 0 && taken >= 0);
        CHECK(taken == 0 || posix_fallocate(fd, 0, taken) == 0);
        close(fd);
    }
    meet();
}

/* ---- A write that does not fit ---- */

/* The ranks' cells in turn, `gap` bytes between them, from `first` on; `cells` of each rank. */
typedef struct shape {
    int64_t first, gap, cells;
} shape;

static int64_t cell_start(const shape *cells, int64_t i) { return cells->first + i * (CELL + cells->gap); }
static int64_t shape_end(const shape *cells) { return cell_start(cells, cells->cells * ranks - 1) + CELL; }

static sago_status write_cells(sago_file *file, const shape *cells) {
    sago_extent *list = calloc((size_t)cells->cells, sizeof *list);
    unsigned char *data = malloc((size_t)cells->cells * CELL);
    for (int64_t i = 0; i < cells->cells; i++) {
        list[i] = (sago_extent){cell_start(cells, i * ranks + rank), CELL};
        memcpy(data + i * CELL, after + list[i].offset, CELL);
    }
    sago_status status = sago_write_extents_all(file, cells->cells, list, data);
    free(list);
    free(data);
    return status;
}

/* Is the byte one that the call writes? */
static bool is_written(const shape *cells, int64_t offset) {
    int64_t at = offset - cells->first;
    return at >= 0 && offset < shape_end(cells) && at % (CELL + cells->gap) < CELL;
}

/* Outside the cells the file is what it was; inside, each byte is the old or the new (`done`: the new). */
static void look_at_bytes(const shape *cells, bool done) {
    int64_t size = plain_size("data"), end = shape_end(cells) > OLD ? shape_end(cells) : OLD;
    unsigned char *is = malloc((size_t)size + 1);
    CHECK(size >= OLD && size <= end);
    CHECK(!done || size == end);
    CHECK_INT(plain_read("data", is, size, 0), size);
    for (int64_t i = 0; i < size; i++) {
        bool inside = is_written(cells, i), kept = is[i] == before[i];
        if (!(inside && is[i] == after[i]) && !(kept && !(done && inside))) {
            CHECK_INT(i, -1); /* this byte is wrong */
            break;
        }
    }
    free(is);
}

static void check_bytes(const shape *cells, bool done) {
    meet();
    if (rank == 0)
        look_at_bytes(cells, done);
    meet();
}

static void make_data(void) { plain_write("data", before, OLD); }

/* Fails for want of space, then, with space, succeeds: with the same open file and the same plan. */
static void test_collective(const char *hints, int64_t gap, int64_t left) {
    sago_file *file = NULL;
    shape cells = {300007, gap, 2400 / ranks}; /* 2.4 MB of cells */
    make_data();
    CHECK_OK(open_hinted("data", MPI_MODE_RDWR, hints, &file));
    int descriptors = open_descriptors();
    set_space(left);
    for (int i = 0; i < 2; i++) { /* the plan is new, then known */
        EXPECT(write_cells(file, &cells), SAGO_ERR_NO_SPACE, "No space left", -1);
        CHECK(strstr(sago_error_message(), "(rank "));
    }
    check_bytes(&cells, false);
    int64_t memory = stats_of(file).memory_now;
    EXPECT(write_cells(file, &cells), SAGO_ERR_NO_SPACE, "No space left", -1);
    CHECK_INT(stats_of(file).memory_now, memory);
    CHECK_INT(open_descriptors(), descriptors);
    set_space(-1);
    CHECK_OK(write_cells(file, &cells));
    CHECK_OK(sago_close(&file));
    check_bytes(&cells, true);
}

/* What fits exactly goes, on a disk that was full before and is after. */
static void test_overwrite(const char *hints) {
    sago_file *file = NULL;
    shape cells = {1000, 0, 600 / ranks};
    make_data();
    CHECK_OK(open_hinted("data", MPI_MODE_RDWR, hints, &file));
    set_space(0);
    CHECK_OK(write_cells(file, &cells));
    CHECK_OK(sago_close(&file));
    meet();
    for (int64_t i = 0; i < OLD; i += 997) {
        unsigned char byte = 0;
        CHECK_INT(plain_read("data", &byte, 1, i), 1);
        CHECK_INT(byte, (is_written(&cells, i) ? after : before)[i]);
    }
    set_space(-1);
}

/* ---- Other errors of the disk ---- */

static int injected; /* the errno that calls above this offset fail with; 0: none */
static const int64_t bad_from = OLD / 2;

static int fail(void *arg, const sagoi_file_op *op, int64_t *len) {
    (void)arg, (void)len;
    bool moves = op->kind == SAGOI_OP_WRITE || op->kind == SAGOI_OP_READ;
    return op->kind == SAGOI_OP_SYNC || (moves && op->off + op->len > bad_from) ? injected : 0;
}

static const file_hooks failing = {.before = fail};

/* Whichever rank's call it is that the kernel refuses, all ranks are told; and afterwards all is well. */
static void test_errors(const char *hints) {
    static unsigned char back[OLD];
    sago_file *file = NULL;
    shape cells = {1000, 100, 600 / ranks};
    make_data();
    CHECK_OK(open_hinted("data", MPI_MODE_RDWR, hints, &file));
    inject_file_hooks(&failing);
    injected = EIO;
    EXPECT(write_cells(file, &cells), SAGO_ERR_IO, strerror(EIO), -1);
    CHECK(strstr(sago_error_message(), "(rank "));
    check_bytes(&cells, false);
    EXPECT(sago_read_at_all(file, 0, back, OLD, MPI_BYTE, NULL), SAGO_ERR_IO, strerror(EIO), -1);
    injected = EDQUOT;
    EXPECT(write_cells(file, &cells), SAGO_ERR_QUOTA, strerror(EDQUOT), -1);
    check_bytes(&cells, false);
    injected = 0;
    CHECK_OK(write_cells(file, &cells));
    CHECK_OK(sago_read_at_all(file, 0, back, OLD, MPI_BYTE, NULL));
    CHECK(back[1000] == after[1000] && back[OLD - 1] == (is_written(&cells, OLD - 1) ? after : before)[OLD - 1]);
    CHECK_OK(sago_sync(file));
    injected = EIO;
    EXPECT(sago_sync(file), SAGO_ERR_IO, strerror(EIO), 0);
    injected = 0;
    EXPECT(sago_sync(file), SAGO_ERR_IO, "failed before", 0); /* the data may be lost: that stays so */
    inject_file_hooks(NULL);
    CHECK_OK(sago_close(&file));
}

/* ---- Other calls ---- */

static void test_sizes(void) {
    sago_file *file = NULL;
    MPI_Offset size = -1;
    make_data();
    CHECK_OK(open_hinted("data", MPI_MODE_RDWR, "", &file));
    EXPECT(sago_preallocate(file, 2 * DISK), SAGO_ERR_NO_SPACE, "No space left", 0);
    CHECK_OK(sago_get_size(file, &size));
    CHECK_INT(size, OLD);
    CHECK_OK(sago_set_size(file, 2 * DISK)); /* a hole takes no space */
    CHECK_OK(sago_set_size(file, OLD));
    CHECK_OK(sago_preallocate(file, DISK / 2));
    CHECK_OK(sago_close(&file));
    CHECK_INT(plain_size("data"), DISK / 2);
    meet();
}

/* One rank alone: the others do not even hear of it. */
static void test_independent(void) {
    sago_file *file = NULL;
    unsigned char *data = calloc(1, DISK);
    MPI_Count bytes = -1;
    make_data();
    CHECK_OK(open_hinted("data", MPI_MODE_RDWR, "", &file));
    if (rank == ranks - 1) {
        CHECK_INT(sago_write_at(file, OLD, data, DISK, MPI_BYTE, &bytes), SAGO_ERR_NO_SPACE);
        CHECK(strstr(sago_error_message(), "No space left"));
        CHECK_INT(bytes, 0);
    }
    CHECK_OK(sago_set_size(file, OLD));
    CHECK_OK(sago_write_at_all(file, OLD + rank, data, 1, MPI_BYTE, &bytes));
    CHECK_INT(bytes, 1);
    CHECK_OK(sago_close(&file));
    CHECK_INT(plain_size("data"), OLD + ranks);
    free(data);
    meet();
}

static void test_series(const char *hints) {
    sago_file *file = NULL;
    sago_series *series = NULL;
    sago_var var = SAGO_VAR_INIT;
    MPI_Count bytes = -1;
    var.count = 2 * MIB / ranks;
    var.offset = OLD + rank * var.count;
    unsigned char *data = malloc((size_t)var.count);
    memset(data, 9, (size_t)var.count);
    make_data();
    CHECK_OK(open_hinted("data", MPI_MODE_RDWR, hints, &file));
    CHECK_OK(sago_declare(file, 1, &var, &series));
    set_space(MIB);
    CHECK_OK(sago_series_write(series, 0, data));
    EXPECT(sago_series_complete(series), SAGO_ERR_NO_SPACE, "No space left", -1);
    CHECK_OK(sago_series_bytes(series, &bytes));
    CHECK_INT(bytes, 0);
    set_space(-1);
    CHECK_OK(sago_series_write(series, 0, data)); /* the step again */
    CHECK_OK(sago_series_complete(series));
    CHECK_OK(sago_series_bytes(series, &bytes));
    CHECK_INT(bytes, var.count);
    CHECK_OK(sago_close(&file));
    CHECK_INT(plain_size("data"), OLD + var.count * ranks);
    free(data);
    meet();
}

/* Pages that were mapped once and are not there any more: the file was cut, by Sago or by another program, and may
 * have grown again, to as many blocks as before in another place. */
static void test_pages_gone(bool by_other, bool grown) {
    sago_file *file = NULL;
    int64_t share = MIB / ranks;
    unsigned char *data = malloc(MIB);
    memset(data, 5, MIB);
    plain_write("data", data, 0);
    CHECK_OK(open_hinted("data", MPI_MODE_RDWR, "sago_strategy=mapped", &file));
    CHECK_OK(sago_write_at_all(file, rank * share, data, share, MPI_BYTE, NULL));
    if (!by_other)
        CHECK_OK(sago_set_size(file, 0));
    meet();
    if (rank == 0) {
        int fd = open("data", O_WRONLY);
        CHECK(!by_other || ftruncate(fd, 0) == 0);
        CHECK(!grown || pwrite(fd, data, MIB, MIB) == MIB);
        close(fd);
    }
    set_space(0);
    EXPECT(sago_write_at_all(file, rank * share, data, share, MPI_BYTE, NULL), SAGO_ERR_NO_SPACE, "No space left",
           -1);
    set_space(-1);
    CHECK_OK(sago_write_at_all(file, rank * share, data, share, MPI_BYTE, NULL));
    CHECK_OK(sago_close(&file));
    free(data);
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    if (!enter_disk()) {
        char why[256];
        (void)snprintf(why, sizeof why, "no small file system can be mounted: %s", strerror(errno));
        return check_skip(why);
    }
    for (int64_t i = 0; i < DISK; i++) {
        before[i] = i < OLD ? byte_of(i, 1) : 0;
        after[i] = byte_of(i, 2);
    }
    for (int i = 0; i < STRATEGIES; i++) {
        scene = strategies[i];
        test_collective(strategies[i], 0, MIB);
        test_collective(strategies[i], 300, MIB / 2);
        test_collective(strategies[i], 300, 0);
        test_overwrite(strategies[i]);
        test_series(strategies[i]);
    }
    for (int i = 0; i < STRATEGIES; i++) {
        scene = strategies[i];
        if (*scene && !strstr(scene, "mapped")) /* which makes no such calls, but for one */
            test_errors(scene);
    }
    scene = "sizes";
    test_sizes();
    scene = "independent";
    test_independent();
    scene = "pages cut off by sago_set_size";
    test_pages_gone(false, false);
    test_pages_gone(false, true);
    scene = "pages cut off by another program";
    test_pages_gone(true, false);
    test_pages_gone(true, true);
    return check_end();
}
