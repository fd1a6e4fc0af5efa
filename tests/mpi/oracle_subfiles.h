/* Files that are kept in several, read and written by the rule alone: block b of the file is block b / count of
 * subfile b mod count. */
#ifndef ORACLE_SUBFILES_H
#define ORACLE_SUBFILES_H

#include <stdio.h>

#include "mpi/oracle_model.h"

typedef struct osubfiles {
    int64_t count, block; /* count 0: one plain file */
} osubfiles;

static int part_open(const char *path, int64_t k, int flags) {
    char name[4200];
    (void)snprintf(name, sizeof name, "%s/part.%05d", path, (int)k);
    return open(name, flags);
}

/* Up to where the file would reach if it ended with this part's last byte; -1: no such part. */
static int64_t part_end(const char *path, const osubfiles *s, int64_t k) {
    struct stat info;
    int fd = part_open(path, k, O_RDONLY);
    if (fd < 0 || fstat(fd, &info) != 0)
        return -1;
    (void)close(fd);
    int64_t last = info.st_size - 1;
    return last < 0 ? 0 : (last / s->block * s->count + k) * s->block + last % s->block + 1;
}

static int64_t parted_size(const char *path, const osubfiles *s) {
    int64_t size = 0;
    for (int64_t k = 0; k < s->count && size >= 0; k++) {
        int64_t end = part_end(path, s, k);
        size = end < 0 ? -1 : end > size ? end : size;
    }
    return size;
}

/* The bytes up to the end of a block, from or to its part. */
static int64_t part_move(const char *path, const osubfiles *s, int64_t off, unsigned char *bytes, int64_t n,
                         bool write) {
    int64_t number = off / s->block, left = s->block - off % s->block;
    int64_t at = number / s->count * s->block + off % s->block;
    n = n < left ? n : left;
    int fd = part_open(path, number % s->count, write ? O_WRONLY : O_RDONLY);
    ssize_t moved = fd < 0 ? -1 : write ? pwrite(fd, bytes, (size_t)n, at) : pread(fd, bytes, (size_t)n, at);
    if (fd >= 0)
        (void)close(fd);
    return moved < 0 || (write && moved < n) ? -1 : n;
}

/* As file_contents(). */
static int64_t parted_contents(const char *path, const osubfiles *s, int64_t base, unsigned char *bytes,
                               int64_t capacity) {
    int64_t size = parted_size(path, s), all = size - base < capacity ? size - base : capacity;
    if (size < base)
        return -1;
    memset(bytes, 0, (size_t)all);
    for (int64_t done = 0, n; done < all; done += n) {
        n = part_move(path, s, base + done, bytes + done, all - done, false);
        if (n < 0)
            return -1;
    }
    return size - base;
}

/* As file_fill(), of a file that is there. */
static bool parted_fill(const char *path, const osubfiles *s, int64_t from, int64_t to, int byte) {
    unsigned char block[4096], zero = 0;
    memset(block, byte, sizeof block);
    if (from > 0 && parted_size(path, s) < from && part_move(path, s, from - 1, &zero, 1, true) < 0)
        return false;
    for (int64_t n; from < to; from += n) {
        n = part_move(path, s, from, block, to - from < 4096 ? to - from : 4096, true);
        if (n < 0)
            return false;
    }
    return true;
}

#endif
