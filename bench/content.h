/* What the files hold: a function of the offset and of the iteration, so that any rank can make and check any
 * byte.  Every byte is checked, none sampled. */
#ifndef BENCH_CONTENT_H
#define BENCH_CONTENT_H

#include <stdbool.h>
#include <stdint.h>

#include "bench/patterns.h"

typedef uint64_t bench_key;           /* of one iteration */
#define BENCH_KEY_ZERO ((bench_key)0) /* all bytes are 0 */

/* iteration >= 0 */
bench_key bench_content_key(int64_t seed, int64_t iteration);

/* A rank's buffer (of all steps) as it must be before a write. */
void bench_buffer_fill(char *buffer, const bench_access *access, bench_key key);
/* Spoils it before a read, so that bytes which did not arrive are seen. */
void bench_buffer_reset(char *buffer, const bench_access *access);
/* After a read: the data is there, the rest of the buffer untouched.  Spoils the buffer.  Else `why` names
 * offset, expected and found byte. */
bool bench_buffer_check(char *buffer, const bench_access *access, bench_key key, char *why);

enum { BENCH_BLOCK = 1 << 20 };

/* A file and what must be in it. */
typedef struct bench_expected {
    const char *path;
    int64_t size;
    bench_key key;
    bench_key hole_key;         /* of what nobody wrote */
    bool any_holes;             /* holes may hold anything */
    const bench_access *nobody; /* NULL: no holes */
    char *block;                /* BENCH_BLOCK bytes to work with: kept, so that checks change no memory figure */
} bench_expected;

/* Checks the bytes [low, high) of the file, and its size. */
bool bench_file_check(const bench_expected *expected, int64_t low, int64_t high, char *why);
/* Writes the holes' content into all of [low, high). */
bool bench_file_fill(const bench_expected *expected, int64_t low, int64_t high, char *why);

#endif
