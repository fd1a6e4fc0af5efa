/* What the files hold: a function of the offset and of the iteration, so that any rank can make and check any
 * byte.  Every byte is checked. */
#ifndef BENCH_CONTENT_H
#define BENCH_CONTENT_H

#include <stdbool.h>
#include <stdint.h>

#include "bench/patterns.h"

typedef uint64_t bench_key;           /* content of one iteration */
#define BENCH_KEY_ZERO ((bench_key)0) /* all bytes are 0 */

/* iteration >= 0 */
bench_key bench_content_key(int64_t seed, int64_t iteration);

/* Fills a rank's buffer (of all steps) as it must be before a write. */
void bench_buffer_fill(char *buffer, const bench_access *access, bench_key key);
/* Spoils the buffer before a read, so that bytes which do not arrive are noticed. */
void bench_buffer_reset(char *buffer, const bench_access *access);
/* Checks the buffer after a read: the data must be there, and the rest of the buffer untouched.  Spoils the
 * buffer. On failure `why` names offset, expected and found byte. */
bool bench_buffer_check(char *buffer, const bench_access *access, bench_key key, char *why);

enum { BENCH_BLOCK = 1 << 20 };

/* A file and the content that it must have. */
typedef struct bench_expected {
    const char *path;
    int64_t size;
    bench_key key;
    bench_key hole_key;         /* content of bytes that no rank wrote */
    bool any_holes;             /* holes may hold anything */
    const bench_access *nobody; /* NULL: no holes */
    char *block; /* BENCH_BLOCK bytes to work with, kept so that checks change no figure of memory */
} bench_expected;

/* Checks the bytes [low, high) of the file, and its size. */
bool bench_file_check(const bench_expected *expected, int64_t low, int64_t high, char *why);
/* Writes the holes' content into all of [low, high). */
bool bench_file_fill(const bench_expected *expected, int64_t low, int64_t high, char *why);

#endif
