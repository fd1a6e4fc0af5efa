#include "neighbourhood/handover.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/checked.h"

/* Bytes of one system call, so that a signal or an error is seen before the next one. */
enum { AT_ONCE = 64 << 20 };
enum { FILE_MAX = 4 * SAGOI_HANDOVER_NAME, WHOLE_MAX = SAGOI_HANDOVER_PATH + FILE_MAX };

sago_status sagoi_handover_folder(const char *dir, const uint64_t token[2], char folder[SAGOI_HANDOVER_PATH]) {
    int length = snprintf(folder, SAGOI_HANDOVER_PATH, "%s/.sago-exchange-%016" PRIx64 "%016" PRIx64, dir,
                          token[0], token[1]);
    if (length < 0 || length >= SAGOI_HANDOVER_PATH)
        return sagoi_fail(SAGO_ERR_BAD_FILE, "the name of a directory is too long");
    return SAGO_OK;
}

sago_status sagoi_handover_make(const char *folder) {
    return mkdir(folder, 0700) == 0 ? SAGO_OK : sagoi_fail_errno(errno, "making %s", folder);
}

sago_status sagoi_handover_remove(const char *folder) {
    DIR *listing = opendir(folder);
    if (!listing)
        return errno == ENOENT ? SAGO_OK : sagoi_fail_errno(errno, "opening %s", folder);
    for (struct dirent *entry = readdir(listing); entry; entry = readdir(listing))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            /* A file that stays keeps the folder from being removed. */
            (void)unlinkat(dirfd(listing), entry->d_name, 0);
    (void)closedir(listing);
    return rmdir(folder) == 0 || errno == ENOENT ? SAGO_OK : sagoi_fail_errno(errno, "removing %s", folder);
}

/* ---- Blocks ---- */

sago_status sagoi_parcel_check(const sagoi_parcel *parcel) {
    if (!parcel->name || !*parcel->name || strlen(parcel->name) >= SAGOI_HANDOVER_NAME / 2)
        return sagoi_fail(SAGO_ERR_ARG, "a block needs a name of at most %d bytes", SAGOI_HANDOVER_NAME / 2 - 1);
    return SAGO_OK;
}

/* A block may have any name: each character but letters, digits, dashes and underscores becomes its number. */
static void file_of(const char *folder, const sagoi_parcel *parcel, const char *end, char path[WHOLE_MAX]) {
    int at = snprintf(path, WHOLE_MAX, "%s/%d-%d-", folder, parcel->from, parcel->to);
    for (const unsigned char *c = (const unsigned char *)parcel->name; *c; c++)
        at += snprintf(path + at, (size_t)(WHOLE_MAX - at),
                       isalnum(*c) || *c == '-' || *c == '_' ? "%c" : "%%%02x", *c);
    (void)snprintf(path + at, (size_t)(WHOLE_MAX - at), "%s", end);
}

/* Returns 0 or an errno; EIO: the file ended early. */
static int move_bytes(int fd, char *to, const char *from, int64_t bytes) {
    for (int64_t done = 0; done < bytes;) {
        size_t next = (size_t)sagoi_min(bytes - done, AT_ONCE);
        ssize_t moved = from ? write(fd, from + done, next) : read(fd, to + done, next);
        if (moved < 0 && errno == EINTR)
            continue;
        if (moved <= 0)
            return moved < 0 ? errno : EIO;
        done += moved;
    }
    return 0;
}

sago_status sagoi_parcel_put(const char *folder, const sagoi_parcel *parcel, const void *data, int64_t bytes) {
    char path[WHOLE_MAX], aside[WHOLE_MAX];
    file_of(folder, parcel, "", path);
    file_of(folder, parcel, ".aside", aside);
    if (access(path, F_OK) == 0) /* no other process makes this name */
        return sagoi_fail(SAGO_ERR_EXISTS, "block \"%s\" for rank %d is there and was not fetched", parcel->name,
                          parcel->to);
    int fd = open(aside, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return sagoi_fail_errno(errno, "making %s", aside);
    int error = move_bytes(fd, NULL, data ? data : "", bytes);
    if (close(fd) != 0 && !error && errno != EINTR)
        error = errno;
    if (!error && rename(aside, path) != 0)
        error = errno;
    if (!error)
        return SAGO_OK;
    (void)unlink(aside);
    return sagoi_fail_errno(error, "writing %s", path);
}

sago_status sagoi_parcel_get(const char *folder, const sagoi_parcel *parcel, void *data, int64_t capacity,
                             int64_t *bytes) {
    char path[WHOLE_MAX];
    struct stat info;
    file_of(folder, parcel, "", path);
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT
                   ? sagoi_fail(SAGO_ERR_NO_FILE, "rank %d has left no block \"%s\"", parcel->from, parcel->name)
                   : sagoi_fail_errno(errno, "opening %s", path);
    int error = fstat(fd, &info) == 0 ? 0 : errno;
    if (!error)
        *bytes = info.st_size;
    if (!error && info.st_size > capacity) {
        (void)close(fd);
        return sagoi_fail(SAGO_ERR_ARG, "block \"%s\" of rank %d has %lld bytes, and there is room for %lld",
                          parcel->name, parcel->from, (long long)info.st_size, (long long)capacity);
    }
    if (!error)
        error = move_bytes(fd, data, NULL, info.st_size);
    (void)close(fd);
    if (!error && unlink(path) != 0)
        error = errno;
    return error ? sagoi_fail_errno(error, "reading %s", path) : SAGO_OK;
}
