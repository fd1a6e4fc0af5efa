/* What the tests of src/store/ share: directories of their own, random numbers with a seed, and the ways to open
 * a store that must all give the same bytes. */
#ifndef SAGO_TEST_STORE_FIXTURE_H
#define SAGO_TEST_STORE_FIXTURE_H

/* cmocka wants these four first */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/store.h"
#include "support/unit.h"

enum { PLACES = 2 };

/* place[0] in memory (or SAGO_TEST_DIR), place[1] on a disk. */
typedef struct fixture {
    char place[PLACES][256];
    char path[512]; /* the file of the last fixture_open() */
} fixture;

typedef struct way {
    const char *name;
    bool uring, direct_io;
} way;

static const way ways[] = {
    {"posix", false, false}, {"uring", true, false}, {"direct", false, true}, {"uring direct", true, true}};
enum { WAYS = sizeof ways / sizeof *ways };

static inline uint64_t next_random(uint64_t *seed) {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed * 0x2545f4914f6cdd1du;
}

static inline int64_t random_below(uint64_t *seed, int64_t limit) {
    return (int64_t)((next_random(seed) >> 16) % (uint64_t)limit);
}

static inline void random_fill(uint64_t *seed, char *buf, int64_t len) {
    for (int64_t i = 0; i < len; i += 8) {
        uint64_t eight = next_random(seed);
        memcpy(buf + i, &eight, (size_t)(len - i < 8 ? len - i : 8));
    }
}

static inline void place_make(char *place, size_t capacity, const char *parent) {
    (void)snprintf(place, capacity, "%s/sago-store-XXXXXX", parent);
    assert_non_null(mkdtemp(place));
}

static inline int fixture_setup(void **state) {
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    const char *given = getenv("SAGO_TEST_DIR"), *disk = getenv("TMPDIR");
    place_make(f->place[0], sizeof f->place[0], given ? given : "/dev/shm");
    place_make(f->place[1], sizeof f->place[1], disk ? disk : "/var/tmp");
    *state = f;
    return 0;
}

static inline int fixture_teardown(void **state) {
    fixture *f = *state;
    for (int i = 0; i < PLACES; i++) {
        char command[300];
        (void)snprintf(command, sizeof command, "rm -rf '%s'", f->place[i]);
        assert_int_equal(system(command), 0);
    }
    free(f);
    return 0;
}

/* A new, empty file, for reading and writing. */
static inline sagoi_store *fixture_open(fixture *f, int place, const way *how) {
    (void)snprintf(f->path, sizeof f->path, "%s/data", f->place[place]);
    sagoi_store_options options = {
        .flags = O_RDWR | O_CREAT | O_TRUNC, .mode = 0600, .uring = how->uring, .direct_io = how->direct_io};
    sagoi_store *store = NULL;
    sago_status status = sagoi_store_open(f->path, &options, &store);
    if (status != SAGO_OK)
        fail_msg("%s: %s", how->name, sagoi_message());
    return store;
}

/* Another file system over the first place, in a name space that ends with this process; false: not allowed. */
static inline bool place_mount(fixture *f, const char *type, const char *options) {
    return geteuid() == 0 && unshare(CLONE_NEWNS) == 0 &&
           mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("none", f->place[0], type, 0, options) == 0;
}

static inline int place_unmount(void **state) {
    fixture *f = *state;
    while (umount2(f->place[0], MNT_DETACH) == 0) /* as often as it was mounted */
        ;
    return 0;
}

/* The whole file, read by other means than the store's; freed by the caller. */
static inline char *file_contents(const char *path, int64_t *size) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    struct stat file;
    assert_int_equal(fstat(fd, &file), 0);
    char *all = calloc(1, (size_t)file.st_size + 1);
    assert_non_null(all);
    for (int64_t at = 0; at < file.st_size;) {
        ssize_t got = pread(fd, all + at, (size_t)(file.st_size - at), at);
        assert_true(got > 0);
        at += got;
    }
    (void)close(fd);
    *size = file.st_size;
    return all;
}

static inline void assert_file_is(const char *path, const char *model, int64_t size) {
    int64_t found;
    char *all = file_contents(path, &found);
    assert_int_equal(found, size);
    for (int64_t i = 0; memcmp(all, model, (size_t)size) != 0 && i < size; i++)
        if (all[i] != model[i])
            fail_msg("%s: byte %lld is %d, not %d", path, (long long)i, all[i], model[i]);
    free(all);
}

#endif
