/* What the tests of the drop-in share.  The programs know nothing of Sago: they are run with the MPI library alone
 * and with the drop-in preloaded, with the same expectations.  Where a library is known to be wrong by itself, the
 * check says so: CHECK_OR(PLAIN_MPICH, ...).
 *
 * With the drop-in (SAGO_TEST_DROPIN is set) rank 0 reads at the end what SAGO_STATS counted: every file was taken
 * and every collective call served, except where the program said expect_stat(). */
#ifndef SAGO_TESTS_DROPIN_CHECK_H
#define SAGO_TESTS_DROPIN_CHECK_H

#include <mpi.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int rank, ranks, failures;
static bool with_sago;

#ifdef MPICH_VERSION
#define PLAIN_MPICH (!with_sago)
#define PLAIN_OPENMPI false
#define OPENMPI false
#else
#define PLAIN_MPICH false
#define PLAIN_OPENMPI (!with_sago)
#define OPENMPI true /* also with Sago, in what it leaves to the library */
#endif
#define PLAIN (!with_sago)

#define CHECK_OR(known, condition) check_report((condition), (known), __FILE__, __LINE__, #condition)
#define CHECK(condition) CHECK_OR(false, condition)
#define CHECK_INT_OR(known, is, wanted) check_int((is), (wanted), (known), __FILE__, __LINE__, #is)
#define CHECK_INT(is, wanted) CHECK_INT_OR(false, is, wanted)
/* MPI calls, by the class of their error. */
#define OK(call) check_int(check_class(call), MPI_SUCCESS, false, __FILE__, __LINE__, #call)
#define FAILS_OR(known, call, wanted) check_int(check_class(call), (wanted), (known), __FILE__, __LINE__, #call)
#define FAILS(call, wanted) FAILS_OR(false, call, wanted)

static inline void check_report(bool right, bool known, const char *file, int line, const char *what) {
    if (right)
        return;
    failures += !known;
    printf("%s:%d: rank %d of %d: %s: %s\n", file, line, rank, ranks, known ? "known failure" : "failed", what);
}

static inline void check_int(long long is, long long wanted, bool known, const char *file, int line,
                             const char *what) {
    char text[512];
    (void)snprintf(text, sizeof text, "%s is %lld, not %lld", what, is, wanted);
    check_report(is == wanted, known, file, line, text);
}

/* For what a library cannot even be asked: it would crash or hang. */
static inline bool known_to_fail(bool known, const char *what) {
    if (known && rank == 0)
        printf("known failure, not tried: %s\n", what);
    return known;
}

static inline int check_class(int code) {
    int class = MPI_SUCCESS;
    if (code != MPI_SUCCESS)
        MPI_Error_class(code, &class);
    return class;
}

/* ---- What SAGO_STATS is to say, summed over all ranks ---- */

enum { EXPECTED_MAX = 16 };
static struct {
    const char *name;
    long long value;
} expected[EXPECTED_MAX];
static int expected_count;

/* Collective calls handed to the MPI library for this reason, or "files", "files_taken", "reads", "writes"; -1:
 * any number. */
static inline void expect_stat(const char *name, long long value) {
    expected[expected_count].name = name;
    expected[expected_count++].value = value;
}

static inline const char *read_stats(void) {
    static char text[8192];
    FILE *in = fopen("stats.json", "r");
    text[0] = '\0';
    if (!in)
        return text;
    text[fread(text, 1, sizeof text - 1, in)] = '\0';
    fclose(in);
    const char *all = strstr(text, "\"all_ranks\"");
    return all ? all : "";
}

static inline long long stat_of(const char *text, const char *name) {
    char key[64];
    (void)snprintf(key, sizeof key, "\"%s\": ", name);
    const char *at = strstr(text, key);
    return at ? atoll(at + strlen(key)) : -1;
}

static inline long long wanted_stat(const char *name, long long otherwise) {
    for (int i = 0; i < expected_count; i++)
        if (strcmp(expected[i].name, name) == 0)
            return expected[i].value;
    return otherwise;
}

static inline void check_stats(void) {
    const char *text = read_stats(), *at = strstr(text, "\"handed\": {");
    CHECK(at);
    if (!at)
        return;
    long long taken = wanted_stat("files_taken", stat_of(text, "files"));
    if (taken >= 0)
        CHECK_INT(stat_of(text, "files_taken"), taken);
    static const char *const counts[] = {"files", "reads", "writes"};
    for (int i = 0; i < 3; i++)
        CHECK_INT(stat_of(text, counts[i]), wanted_stat(counts[i], stat_of(text, counts[i])));
    CHECK(stat_of(text, "reads") + stat_of(text, "writes") > 0 || wanted_stat("writes", -1) == 0);
    char name[64];
    int used;
    for (at += 11; sscanf(at, " \"%63[a-z_]\"%n", name, &used) == 1; at += strspn(at, ": 0123456789,")) {
        at += used;
        long long is = atoll(at + 2), wanted = wanted_stat(name, 0);
        if (is != wanted && wanted >= 0) {
            failures++;
            printf("%lld calls were handed to the MPI library, not %lld: %s\n", is, wanted, name);
        }
    }
}

/* ---- Start, end, meeting ---- */

/* After MPI_Init of one's own. */
static inline void check_ready(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    with_sago = getenv("SAGO_TEST_DROPIN") != NULL;
}

static inline void check_start(int *argc, char ***argv) {
    MPI_Init(argc, argv);
    check_ready();
}

static inline int check_skip(const char *reason) {
    if (rank == 0)
        printf("SKIP: %s\n", reason);
    fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 77;
}

/* Asleep: there are more ranks than cores. */
static inline void meet_in(MPI_Comm comm) {
    MPI_Request request;
    int done = 0;
    MPI_Ibarrier(comm, &request);
    for (int tries = 0; !done; tries++) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (!done && tries < 100)
            (void)sched_yield();
        else if (!done)
            (void)usleep(50);
    }
}
static inline void meet(void) { meet_in(MPI_COMM_WORLD); }

static inline int check_end(void) {
    int all = 0;
    meet();
    MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    failures = 0;
    if (with_sago && rank == 0)
        check_stats();
    if (rank == 0 && all + failures > 0)
        printf("%d checks failed\n", all + failures);
    fflush(stdout);
    return all + failures > 0;
}

/* ---- Files ---- */

static inline long long plain_size(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 ? (long long)info.st_size : -1;
}

/* Collective.  The file is exactly these bytes. */
#define CHECK_FILE(path, wanted, length) check_file((path), (wanted), (length), false, __FILE__, __LINE__)
#define CHECK_FILE_OR(known, path, wanted, length)                                                                \
    check_file((path), (wanted), (length), (known), __FILE__, __LINE__)

static inline void check_file(const char *path, const void *wanted, long long length, bool known, const char *file,
                              int line) {
    meet();
    if (rank == 0) {
        const unsigned char *right = wanted;
        unsigned char *is = calloc(1, (size_t)length + 1);
        FILE *in = fopen(path, "r");
        long long got = in ? (long long)fread(is, 1, (size_t)length, in) : -1, i = 0;
        while (i < got && is[i] == right[i])
            i++;
        char text[512];
        (void)snprintf(text, sizeof text, "%s: %lld bytes, not %lld; byte %lld is %d, not %d", path,
                       plain_size(path), length, i, i < length ? is[i] : -1, i < length ? right[i] : -1);
        check_report(plain_size(path) == length && i == length, known, file, line, text);
        if (in)
            fclose(in);
        free(is);
    }
    meet();
}

/* A byte that tells its place and whose it is; never 0, which is what holes read as. */
static inline unsigned char byte_of(long long offset, long long whose) {
    uint64_t x = (uint64_t)offset * 0x9e3779b97f4a7c15u + (uint64_t)whose * 0xc2b2ae3d27d4eb4fu;
    return (unsigned char)(1 + (x >> 33) % 255);
}

static inline void fill(void *buf, long long offset, long long length, long long whose) {
    for (long long i = 0; i < length; i++)
        ((unsigned char *)buf)[i] = byte_of(offset + i, whose);
}

/* Are these bytes what fill() makes? */
static inline bool filled(const void *buf, long long offset, long long length, long long whose) {
    for (long long i = 0; i < length; i++)
        if (((const unsigned char *)buf)[i] != byte_of(offset + i, whose))
            return false;
    return true;
}

/* ---- Opening, counting ---- */

enum { MODE_NEW = MPI_MODE_CREATE | MPI_MODE_RDWR };

static inline MPI_File open_in(MPI_Comm comm, const char *path, int amode) {
    MPI_File file = MPI_FILE_NULL;
    OK(MPI_File_open(comm, path, amode, MPI_INFO_NULL, &file));
    return file;
}
static inline MPI_File open_all(const char *path, int amode) { return open_in(MPI_COMM_WORLD, path, amode); }

static inline int count_in(const MPI_Status *status, MPI_Datatype type) {
    int count = -1;
    MPI_Get_count(status, type, &count);
    return count;
}

static inline long long position_of(MPI_File file) {
    MPI_Offset at = -1;
    OK(MPI_File_get_position(file, &at));
    return at;
}

/* Blocks of `length` elements dealt out in turn: this rank's share of the file, as a committed type. */
static inline MPI_Datatype turns_of(int length, MPI_Datatype element) {
    MPI_Datatype block, type;
    MPI_Aint lower, extent;
    MPI_Type_get_extent(element, &lower, &extent);
    MPI_Type_contiguous(length, element, &block);
    MPI_Type_create_resized(block, 0, extent * length * ranks, &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&block);
    return type;
}

#endif
