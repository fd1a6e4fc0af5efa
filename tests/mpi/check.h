/* What the MPI tests share: checks that go on after a failure, scratch files, plain reads and writes to compare
 * with, hints from text.  A program calls check_start(), makes its checks, and returns check_end() from main.
 *
 * All ranks are on one node: they meet asleep, in shared memory.  With more ranks than cores MPI's barriers, which
 * spin, would take most of the time of a test. */
#ifndef SAGO_TESTS_CHECK_H
#define SAGO_TESTS_CHECK_H

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sago/sago.h>

enum { CHECK_PATH_MAX = 512, CHECK_SKIPPED = 77, CHECK_RANKS_MAX = 64 };

/* Where the ranks meet. */
typedef struct check_place {
    pthread_barrier_t barrier;
    long long values[CHECK_RANKS_MAX];
} check_place;

static int rank, ranks, failures;
static const char *scene = ""; /* what is being tested, for the messages */
static check_place *together;

#define CHECK(condition)                                                                                          \
    do {                                                                                                          \
        if (!(condition)) {                                                                                       \
            check_failed(__FILE__, __LINE__);                                                                     \
            printf("%s\n", #condition);                                                                           \
        }                                                                                                         \
    } while (0)

/* Two integers that are to be the same, and both in the message when they are not. */
#define CHECK_INT(is, wanted)                                                                                     \
    do {                                                                                                          \
        long long check_is = (long long)(is), check_wanted = (long long)(wanted);                                 \
        if (check_is != check_wanted) {                                                                           \
            check_failed(__FILE__, __LINE__);                                                                     \
            printf("%s is %lld, not %lld\n", #is, check_is, check_wanted);                                        \
        }                                                                                                         \
    } while (0)

/* A Sago call that is to succeed. */
#define CHECK_OK(call) check_ok((call), #call, __LINE__)

static inline void check_failed(const char *file, int line) {
    failures++;
    printf("%s:%d: rank %d of %d: %s: failed: ", file, line, rank, ranks, scene);
}

static inline void check_ok(sago_status status, const char *call, int line) {
    if (status != SAGO_OK) {
        check_failed("", line);
        printf("%s: %s: %s\n", call, sago_status_string(status), sago_error_message());
    } else if (*sago_error_message()) {
        check_failed("", line);
        printf("%s: succeeded, but there is a message: %s\n", call, sago_error_message());
    }
}

/* A name in the scratch folder; the text lives until the next call but seven. */
static inline const char *scratch(const char *name) {
    static char paths[8][CHECK_PATH_MAX];
    static int next;
    const char *folder = getenv("SAGO_TEST_DIR");
    char *path = paths[next++ % 8];
    (void)snprintf(path, CHECK_PATH_MAX, "%s/%s", folder ? folder : ".", name);
    return path;
}

/* ---- Start, end, meeting ---- */

static inline void check_share(void) {
    pthread_barrierattr_t shared;
    const char *path = scratch("check.shared");
    if (rank != 0)
        MPI_Barrier(MPI_COMM_WORLD);
    int fd = open(path, O_RDWR | (rank == 0 ? O_CREAT : 0), 0600);
    if (fd < 0 || ftruncate(fd, sizeof *together) != 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    together = mmap(NULL, sizeof *together, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (together == MAP_FAILED || ranks > CHECK_RANKS_MAX)
        MPI_Abort(MPI_COMM_WORLD, 1);
    close(fd);
    if (rank == 0) {
        pthread_barrierattr_init(&shared);
        pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
        pthread_barrier_init(&together->barrier, &shared, (unsigned)ranks);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        unlink(path);
}

/* After MPI_Init_thread(), for programs that need one. */
static inline void check_ready(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    check_share();
}

static inline void check_start(int *argc, char ***argv) {
    MPI_Init(argc, argv);
    check_ready();
}

static inline void meet(void) { (void)pthread_barrier_wait(&together->barrier); }

static inline long long sum_everywhere(long long value) {
    long long sum = 0;
    together->values[rank] = value;
    meet();
    for (int i = 0; i < ranks; i++)
        sum += together->values[i];
    meet();
    return sum;
}

/* Is this number the same on all ranks? */
static inline bool same_everywhere(long long value) {
    bool same = true;
    together->values[rank] = value;
    meet();
    for (int i = 0; i < ranks; i++)
        same = same && together->values[i] == value;
    meet();
    return same;
}

/* The exit code of the program; the launcher kills whoever is left when the first has exited with one. */
static inline int check_leave(int code) {
    fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return code;
}

static inline int check_end(void) {
    long long all = sum_everywhere(failures);
    if (rank == 0 && all > 0)
        printf("%lld checks failed\n", all);
    return check_leave(all > 0);
}

static inline int check_skip(const char *reason) {
    if (rank == 0)
        printf("SKIP: %s\n", reason);
    return check_leave(CHECK_SKIPPED);
}

/* Collective.  A call failed as it should: the same status everywhere, `word` in every rank's message, and the
 * rank that is to blame (blamed < 0: none in particular). */
#define EXPECT(is, wanted, word, blamed) expect((is), (wanted), (word), (blamed), #is, __LINE__)

static inline void expect(sago_status is, sago_status wanted, const char *word, int blamed, const char *call,
                          int line) {
    char message[1024], culprit[32];
    (void)snprintf(message, sizeof message, "%s", sago_error_message());
    (void)snprintf(culprit, sizeof culprit, "(rank %d)", blamed);
    bool same = same_everywhere(is), named = strstr(message, word) && (blamed < 0 || strstr(message, culprit));
    if (same && is == wanted && named)
        return;
    check_failed("", line);
    printf("%s: %s: \"%s\"; wanted %s, with \"%s\" and %s\n", call, sago_status_string(is), message,
           sago_status_string(wanted), word, blamed < 0 ? "no rank" : culprit);
}

/* ---- Files ---- */

static inline int64_t plain_size(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 ? (int64_t)info.st_size : -1;
}

/* Collective.  Rank 0 makes the file anew with these bytes. */
static inline void plain_write(const char *path, const void *bytes, int64_t length) {
    if (rank == 0) {
        int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
        CHECK(fd >= 0 && pwrite(fd, bytes, (size_t)length, 0) == length);
        CHECK(close(fd) == 0);
    }
    meet();
}

/* Bytes read, -1 when it cannot be. */
static inline int64_t plain_read(const char *path, void *bytes, int64_t length, int64_t offset) {
    int fd = open(path, O_RDONLY);
    if (fd < 0)
        return -1;
    ssize_t count = pread(fd, bytes, (size_t)length, offset);
    close(fd);
    return count;
}

/* Collective.  The file is exactly these bytes, as every rank sees it. */
#define CHECK_FILE(path, wanted, length) check_file((path), (wanted), (length), __LINE__)

static inline void check_file(const char *path, const unsigned char *wanted, int64_t length, int line) {
    meet(); /* all have come here, so nobody is still writing */
    unsigned char *is = malloc((size_t)length + 1);
    int64_t size = plain_size(path), count = plain_read(path, is, length, 0), i = 0;
    while (i < length && i < count && is[i] == wanted[i])
        i++;
    if (size != length || count != length) {
        check_failed("", line);
        printf("%s: the file has %lld bytes, not %lld\n", path, (long long)size, (long long)length);
    } else if (i < length) {
        check_failed("", line);
        printf("%s: byte %lld is %d, not %d\n", path, (long long)i, is[i], wanted[i]);
    }
    free(is);
    meet(); /* nobody writes before all have looked */
}

/* A byte that tells its place and whose it is; never 0, which is what holes read as. */
static inline unsigned char byte_of(int64_t offset, int64_t whose) {
    uint64_t x = (uint64_t)offset * 0x9e3779b97f4a7c15u + (uint64_t)whose * 0xc2b2ae3d27d4eb4fu;
    return (unsigned char)(1 + (x >> 33) % 255);
}

/* The bytes of `whose` from offset 0 on. */
static inline void fill_bytes(void *bytes, int64_t length, int64_t whose) {
    for (int64_t i = 0; i < length; i++)
        ((unsigned char *)bytes)[i] = byte_of(i, whose);
}

/* ---- Hints, opening ---- */

/* "sago_strategy=mapped sago_map=on": an MPI_Info to be freed; MPI_INFO_NULL for "".  By PMPI: where a test has
 * MPI calls fail, this one is not meant. */
static inline MPI_Info hints_of(const char *text) {
    MPI_Info info = MPI_INFO_NULL;
    char words[1024], *rest = words, *word;
    (void)snprintf(words, sizeof words, "%s", text);
    while ((word = strsep(&rest, " "))) {
        char *value = strchr(word, '=');
        if (!value)
            continue;
        *value++ = '\0';
        if (info == MPI_INFO_NULL)
            MPI_Info_create(&info);
        PMPI_Info_set(info, word, value);
    }
    return info;
}

static inline sago_status open_hinted_in(MPI_Comm comm, const char *path, int amode, const char *hints,
                                         sago_file **file) {
    MPI_Info info = hints_of(hints);
    sago_status status = sago_open(comm, path, amode, info, file);
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
    return status;
}

static inline sago_status open_hinted(const char *path, int amode, const char *hints, sago_file **file) {
    return open_hinted_in(MPI_COMM_WORLD, path, amode, hints, file);
}

static inline sago_status ckpt_open_hinted(MPI_Comm comm, const char *dir, const char *hints, sago_ckpt **ckpt) {
    MPI_Info info = hints_of(hints);
    sago_status status = sago_ckpt_open(comm, dir, info, ckpt);
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
    return status;
}

/* A view of tiles of `tile` bytes from `first` on: of each tile this rank has `block` bytes, after those of the
 * ranks before it. */
static inline void view_tiles(sago_file *file, MPI_Offset first, int64_t block, int64_t tile) {
    MPI_Datatype piece, filetype;
    MPI_Type_contiguous((int)block, MPI_BYTE, &piece);
    MPI_Type_create_resized(piece, 0, (MPI_Aint)tile, &filetype);
    CHECK_OK(sago_set_view(file, first + block * rank, MPI_BYTE, filetype));
    MPI_Type_free(&filetype);
    MPI_Type_free(&piece);
}

/* A view of blocks that are dealt out to the ranks in turn, from the file's beginning on. */
static inline void view_turns(sago_file *file, int64_t block) { view_tiles(file, 0, block, block * ranks); }

/* Collective among the tests' ranks: the path of a scratch file that is not there. */
static inline const char *fresh(const char *name) {
    const char *path = scratch(name);
    meet();
    if (rank == 0)
        unlink(path);
    meet();
    return path;
}

/* Collective among the tests' ranks: removes a file that must be there. */
static inline void delete_file(const char *path) {
    meet();
    if (rank == 0)
        CHECK(unlink(path) == 0);
    meet();
}

/* A new file at `path`, from fresh() or not there for another reason. */
static inline sago_file *create_hinted(const char *path, const char *hints) {
    sago_file *file = NULL;
    CHECK_OK(open_hinted(path, MPI_MODE_RDWR | MPI_MODE_CREATE, hints, &file));
    return file;
}

static inline sago_stats stats_of(sago_file *file) {
    sago_stats stats = SAGO_STATS_INIT;
    CHECK_OK(sago_get_stats(file, &stats));
    return stats;
}

/* ---- Leaks ---- */

/* Descriptors of this process; -1 where the system does not tell. */
static inline int open_descriptors(void) {
    DIR *folder = opendir("/proc/self/fd");
    int count = 0;
    if (!folder)
        return -1;
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

#endif
