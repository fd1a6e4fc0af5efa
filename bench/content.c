/* Making and checking content. */
#include "bench/content.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WORD = 8, SPOILED = 0xa5 };

bench_key bench_content_key(int64_t seed, int64_t iteration) {
    uint64_t state = (uint64_t)seed * 0x100000001b3u + (uint64_t)iteration;
    return bench_random(&state) | 1;
}

/* The word at byte offset index * WORD. */
static inline uint64_t word_at(int64_t index, bench_key key) {
    uint64_t x = ((uint64_t)index ^ key) * 0x9e3779b97f4a7c15u;
    return x ^ (x >> 32);
}

/* The part of one word from `offset` on. */
static void fill_part(unsigned char *to, int64_t offset, int64_t length, bench_key key) {
    uint64_t word = word_at(offset / WORD, key);
    memcpy(to, (const char *)&word + offset % WORD, (size_t)length);
}

static inline int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }

/* Bytes from `offset` to the next word, at most `length`. */
static int64_t head_of(int64_t offset, int64_t length) { return min64((WORD - offset % WORD) % WORD, length); }

/* Fills in the bytes of the file from `offset` on. */
static void content_fill(void *buffer, int64_t offset, int64_t length, bench_key key) {
    unsigned char *to = buffer;
    if (key == BENCH_KEY_ZERO) {
        memset(to, 0, (size_t)length);
        return;
    }
    int64_t head = head_of(offset, length), words = (length - head) / WORD, index = (offset + head) / WORD;
    if (head)
        fill_part(to, offset, head, key);
    to += head;
    for (int64_t i = 0; i < words; i++, to += WORD) {
        uint64_t word = word_at(index + i, key);
        memcpy(to, &word, WORD);
    }
    if (length - head - words * WORD)
        fill_part(to, (index + words) * WORD, length - head - words * WORD, key);
}

/* Compares byte by byte, where a difference is known or the piece is short. */
static int64_t check_bytes(const unsigned char *found, int64_t offset, int64_t length, bench_key key) {
    for (int64_t i = 0; i < length; i++) {
        unsigned char expected = 0;
        content_fill(&expected, offset + i, 1, key);
        if (found[i] != expected)
            return i;
    }
    return -1;
}

/* The first place where `buffer` differs from the bytes of the file; -1: none. */
static int64_t content_check(const void *buffer, int64_t offset, int64_t length, bench_key key) {
    enum { STRIP = 512 }; /* words whose differences are or-ed together before the result is looked at */
    const unsigned char *found = buffer;
    int64_t head = head_of(offset, length), words = (length - head) / WORD;
    int64_t bad = check_bytes(found, offset, head, key);
    if (bad >= 0)
        return bad;
    for (int64_t first = 0; first < words; first += STRIP) {
        int64_t count = min64(STRIP, words - first), at = head + first * WORD, index = (offset + at) / WORD;
        uint64_t differences = 0;
        for (int64_t i = 0; i < count; i++) {
            uint64_t word;
            memcpy(&word, found + at + i * WORD, WORD);
            differences |= word ^ (key == BENCH_KEY_ZERO ? 0 : word_at(index + i, key));
        }
        if (differences)
            return at + check_bytes(found + at, offset + at, count * WORD, key);
    }
    int64_t done = head + words * WORD;
    bad = check_bytes(found + done, offset + done, length - done, key);
    return bad < 0 ? -1 : done + bad;
}

static bool wrong_byte(const char *where, int64_t offset, unsigned char found, bench_key key, char *why) {
    unsigned char expected;
    content_fill(&expected, offset, 1, key);
    return bench_refuse(why, "wrong byte %s at file offset %lld: expected 0x%02x, found 0x%02x", where,
                        (long long)offset, expected, found);
}

/* ---- Buffers ---- */

/* Walks pieces that are contiguous both in memory and in the file. */
typedef struct piece {
    int64_t memory, file, length;
} piece;

typedef struct piece_walk {
    bench_cursor memory, file;
    bench_run memory_run, file_run; /* bytes that are left of the current runs */
    int64_t memory_base, file_base;
} piece_walk;

static piece_walk walk_call(const bench_access *access, int64_t step, int64_t call) {
    const bench_call *c = &access->calls[call];
    piece_walk walk = {.memory = bench_cursor_at(&c->memory),
                       .file = bench_cursor_at(&c->file),
                       .memory_base = step * access->memory + c->at,
                       .file_base = step * access->step_bytes + c->disp};
    return walk;
}

static bool walk_next(piece_walk *walk, piece *out) {
    if (walk->memory_run.length == 0 && !bench_cursor_next(&walk->memory, &walk->memory_run))
        return false;
    if (walk->file_run.length == 0 && !bench_cursor_next(&walk->file, &walk->file_run))
        return false;
    int64_t length = min64(walk->memory_run.length, walk->file_run.length);
    *out = (piece){walk->memory_base + walk->memory_run.offset, walk->file_base + walk->file_run.offset, length};
    walk->memory_run.offset += length, walk->memory_run.length -= length;
    walk->file_run.offset += length, walk->file_run.length -= length;
    return true;
}

void bench_buffer_fill(char *buffer, const bench_access *access, bench_key key) {
    for (int64_t step = 0; step < access->steps; step++)
        for (int64_t call = 0; call < access->ncalls; call++) {
            piece_walk walk = walk_call(access, step, call);
            for (piece p; walk_next(&walk, &p);)
                content_fill(buffer + p.memory, p.file, p.length, key);
        }
}

void bench_buffer_reset(char *buffer, const bench_access *access) {
    memset(buffer, SPOILED, (size_t)(access->steps * access->memory));
}

bool bench_buffer_check(char *buffer, const bench_access *access, bench_key key, char *why) {
    for (int64_t step = 0; step < access->steps; step++)
        for (int64_t call = 0; call < access->ncalls; call++) {
            piece_walk walk = walk_call(access, step, call);
            for (piece p; walk_next(&walk, &p);) {
                int64_t bad = content_check(buffer + p.memory, p.file, p.length, key);
                if (bad >= 0)
                    return wrong_byte("read", p.file + bad, (unsigned char)buffer[p.memory + bad], key, why);
                memset(buffer + p.memory, SPOILED, (size_t)p.length);
            }
        }
    /* Bytes of the buffer that are not spoiled now were written where no data belongs. */
    int64_t memory = access->steps * access->memory;
    if (memory == 0 || ((unsigned char)buffer[0] == SPOILED && !memcmp(buffer, buffer + 1, (size_t)memory - 1)))
        return true;
    int64_t at = 0;
    while ((unsigned char)buffer[at] == SPOILED)
        at++;
    return bench_refuse(why, "byte %lld of the buffer, which belongs to no variable, was overwritten by a read",
                        (long long)at);
}

/* ---- Files ---- */

static bool system_error(const char *what, const char *path, char *why) {
    return bench_refuse(why, "%s %s: %s", what, path, strerror(errno));
}

/* The holes, in ascending order, as the check comes to them. */
typedef struct hole_walk {
    bench_cursor cursor;
    int64_t base;
    bench_run hole;
    bool more;
} hole_walk;

static hole_walk holes_of(const bench_expected *expected) {
    hole_walk walk = {.more = expected->nobody && expected->nobody->ncalls > 0};
    if (walk.more) {
        walk.cursor = bench_cursor_at(&expected->nobody->calls[0].file);
        walk.base = expected->nobody->calls[0].disp;
        walk.more = bench_cursor_next(&walk.cursor, &walk.hole);
    }
    return walk;
}

/* The length of the stretch from `offset` on in which all bytes are written (false), or all are a hole (true). */
static bool holes_at(hole_walk *walk, int64_t offset, int64_t *end) {
    while (walk->more && walk->base + walk->hole.offset + walk->hole.length <= offset)
        walk->more = bench_cursor_next(&walk->cursor, &walk->hole);
    int64_t start = walk->base + walk->hole.offset;
    if (!walk->more)
        *end = INT64_MAX;
    else
        *end = offset < start ? start : start + walk->hole.length;
    return walk->more && offset >= start;
}

static bool check_block(const bench_expected *expected, hole_walk *walk, bench_run range, char *why) {
    int64_t high = range.offset + range.length, end;
    for (int64_t at = range.offset; at < high; at = end) {
        bool hole = holes_at(walk, at, &end);
        end = min64(end, high);
        if (hole && expected->any_holes)
            continue;
        bench_key key = hole ? expected->hole_key : expected->key;
        const char *found = expected->block + (at - range.offset);
        int64_t bad = content_check(found, at, end - at, key);
        if (bad >= 0)
            return wrong_byte(hole ? "written into a hole" : "written", at + bad, (unsigned char)found[bad], key,
                              why);
    }
    return true;
}

static bool check_range(int fd, const bench_expected *expected, int64_t low, int64_t high, char *why) {
    struct stat status;
    if (fstat(fd, &status))
        return system_error("fstat", expected->path, why);
    if (status.st_size != expected->size)
        return bench_refuse(why, "the file has %lld bytes instead of %lld", (long long)status.st_size,
                            (long long)expected->size);
    hole_walk walk = holes_of(expected);
    bool ok = true;
    for (int64_t at = low; ok && at < high;) {
        ssize_t got = pread(fd, expected->block, (size_t)min64(BENCH_BLOCK, high - at), at);
        if (got <= 0) {
            ok = got == 0 ? bench_refuse(why, "the file ends at %lld", (long long)at)
                          : system_error("pread", expected->path, why);
            break;
        }
        bench_run range = {at, got};
        ok = check_block(expected, &walk, range, why);
        at += got;
    }
    return ok;
}

bool bench_file_check(const bench_expected *expected, int64_t low, int64_t high, char *why) {
    int fd = open(expected->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return system_error("open", expected->path, why);
    bool ok = check_range(fd, expected, low, high, why);
    close(fd);
    return ok;
}

bool bench_file_fill(const bench_expected *expected, int64_t low, int64_t high, char *why) {
    int fd = open(expected->path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return system_error("open", expected->path, why);
    bool ok = true;
    for (int64_t at = low; ok && at < high;) {
        int64_t length = min64(BENCH_BLOCK, high - at);
        content_fill(expected->block, at, length, expected->hole_key);
        ssize_t put = pwrite(fd, expected->block, (size_t)length, at);
        if (put < 0)
            ok = system_error("pwrite", expected->path, why);
        at += put;
    }
    close(fd);
    return ok;
}
