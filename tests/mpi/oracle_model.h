/* What the file must hold, and what every rank asks for in one access: the naive model of the oracle. */
#ifndef ORACLE_MODEL_H
#define ORACLE_MODEL_H

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mpi/oracle_type.h"

enum { MAX_RANKS = 32, NOISE = 65521 };

/* ---- Contents ---- */

/* What stands at an address of a rank's buffer in a step: no two steps or ranks have the same. */
typedef struct content {
    const unsigned char *noise; /* NOISE random bytes */
    uint64_t salt;
} content;

static unsigned char content_at(const content *c, int64_t address) {
    return c->noise[((uint64_t)address + c->salt) % NOISE];
}

static content content_make(const unsigned char *noise, int64_t step, int rank) {
    rng r = {(uint64_t)step * 1000 + (uint64_t)rank};
    return (content){noise, rng_next(&r) >> 8};
}

/* ---- What one rank accesses ---- */

typedef struct oview {
    int64_t disp;
    const otype *etype, *filetype;
} oview;

/* `bytes` of the view from `offset` etypes on; in memory `count` elements of `memory`. */
typedef struct opart {
    oview view;
    int64_t offset, bytes;
    const otype *memory;
    int64_t count;
} opart;

static void part_file_runs(const opart *part, int64_t cap, runs *out) {
    int64_t begin = part->offset * part->view.etype->size;
    otype_stream(part->view.filetype, part->view.disp, begin, part->bytes, cap, out);
}

static void part_memory_runs(const opart *part, runs *out) {
    for (int64_t i = 0; i < part->count; i++)
        otype_expand(part->memory, i * part->memory->extent, out);
}

/* ---- A buffer that just holds what a part's memory type reaches ---- */

typedef struct obuffer {
    char *bytes; /* exactly as large as needed: a sanitizer sees every step beside it */
    int64_t low, size;
} obuffer;

static void obuffer_make(obuffer *buffer, const runs *memory, const content *c) {
    int64_t high;
    runs_bounds(memory, &buffer->low, &high);
    buffer->size = high - buffer->low;
    buffer->bytes = malloc((size_t)buffer->size + (buffer->size == 0));
    if (!buffer->bytes)
        abort();
    for (int64_t i = 0; i < buffer->size; i++)
        buffer->bytes[i] = (char)content_at(c, buffer->low + i);
}

/* What MPI takes for the buffer's address; NULL where there is nothing. */
static void *obuffer_base(const obuffer *buffer) {
    return buffer->size == 0 ? NULL : (void *)((intptr_t)buffer->bytes - (intptr_t)buffer->low);
}

/* ---- The file ---- */

typedef struct model {
    unsigned char *bytes;
    int64_t size, capacity;
} model;

static void model_resize(model *m, int64_t size) {
    if (size > m->capacity)
        abort();
    if (size > m->size)
        memset(m->bytes + m->size, 0, (size_t)(size - m->size));
    m->size = size;
}

/* Two lists of runs of the same stream, side by side. */
typedef struct pairing {
    const runs *file, *memory;
    int64_t i, j, a, b; /* run and byte in it */
} pairing;

/* The next piece that is contiguous on both sides. */
static bool pairing_next(pairing *p, int64_t *off, int64_t *address, int64_t *len) {
    if (p->i == p->file->n || p->j == p->memory->n)
        return false;
    run f = p->file->list[p->i], m = p->memory->list[p->j];
    *off = f.off + p->a;
    *address = m.off + p->b;
    *len = f.len - p->a < m.len - p->b ? f.len - p->a : m.len - p->b;
    p->a += *len;
    p->b += *len;
    if (p->a == f.len) {
        p->i++;
        p->a = 0;
    }
    if (p->b == m.len) {
        p->j++;
        p->b = 0;
    }
    return true;
}

static void model_write(model *m, const runs *file, const runs *memory, const content *c) {
    pairing p = {file, memory, 0, 0, 0, 0};
    int64_t off, address, len;
    while (pairing_next(&p, &off, &address, &len)) {
        if (off + len > m->size)
            model_resize(m, off + len);
        for (int64_t k = 0; k < len; k++)
            m->bytes[off + k] = content_at(c, address + k);
    }
}

/* What stands at an offset of the file in a write that ranks agree on. */
static unsigned char agreed_at(const content *c, int64_t off) { return content_at(c, off * 3); }

/* The same, by offsets: in the model, or in a rank's buffer. */
static void model_write_agreed(model *m, const runs *file, const content *c) {
    for (int64_t i = 0; i < file->n; i++) {
        int64_t off = file->list[i].off, stop = off + file->list[i].len;
        if (stop > m->size)
            model_resize(m, stop);
        for (; off < stop; off++)
            m->bytes[off] = agreed_at(c, off);
    }
}

static void obuffer_fill_agreed(obuffer *buffer, const runs *file, const runs *memory, const content *c) {
    pairing p = {file, memory, 0, 0, 0, 0};
    int64_t off, address, len;
    while (pairing_next(&p, &off, &address, &len))
        for (int64_t k = 0; k < len; k++)
            buffer->bytes[address - buffer->low + k] = (char)agreed_at(c, off + k);
}

/* Puts into `expected` what a read must leave there; returns the bytes it must report. */
static int64_t model_read(const model *m, const runs *file, const runs *memory, obuffer *expected) {
    pairing p = {file, memory, 0, 0, 0, 0};
    int64_t off, address, len, bytes = 0;
    while (pairing_next(&p, &off, &address, &len)) {
        int64_t there = off >= m->size ? 0 : off + len > m->size ? m->size - off : len;
        memcpy(expected->bytes + (address - expected->low), m->bytes + off, (size_t)there);
        bytes += there;
    }
    return bytes;
}

/* ---- Comparing ---- */

/* First byte that differs, or -1. */
static int64_t first_difference(const void *a, const void *b, int64_t n) {
    const unsigned char *x = a, *y = b;
    if (n == 0 || memcmp(x, y, (size_t)n) == 0)
        return -1;
    int64_t i = 0;
    while (x[i] == y[i])
        i++;
    return i;
}

/* All of a file from `base` on by plain reads: its size less `base`, and at most `capacity` bytes.  -1: cannot be
 * read. */
static int64_t file_contents(const char *path, int64_t base, unsigned char *bytes, int64_t capacity) {
    struct stat info;
    int fd = open(path, O_RDONLY);
    if (fd < 0)
        return -1;
    int64_t done = 0;
    if (fstat(fd, &info) != 0)
        info.st_size = -1;
    while (done < capacity) {
        ssize_t got = pread(fd, bytes + done, (size_t)(capacity - done), base + done);
        if (got <= 0)
            break;
        done += got;
    }
    (void)close(fd);
    return info.st_size < base ? -1 : info.st_size - base;
}

/* Plain writing, as another program would; nothing is cut, and what is to be empty is made as long. */
static bool file_fill(const char *path, int64_t from, int64_t to, int byte) {
    char block[4096];
    int fd = open(path, O_WRONLY | O_CREAT, 0666);
    memset(block, byte, sizeof block);
    if (fd >= 0 && lseek(fd, 0, SEEK_END) < from && ftruncate(fd, from) != 0)
        return close(fd) != 0;
    while (fd >= 0 && from < to) {
        ssize_t put = pwrite(fd, block, (size_t)(to - from < 4096 ? to - from : 4096), from);
        if (put <= 0)
            break;
        from += put;
    }
    return fd >= 0 && close(fd) == 0 && from >= to;
}

#endif
