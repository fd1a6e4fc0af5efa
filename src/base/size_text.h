/* Sizes as people read and write them. */
#ifndef SAGOI_SIZE_TEXT_H
#define SAGOI_SIZE_TEXT_H

#include <stdint.h>

typedef struct sagoi_size_text {
    char text[32];
} sagoi_size_text;

/* "4 MiB" or "4.2 MiB": the largest unit that leaves a number of at least 1, with at most one digit after the
 * point. */
sagoi_size_text sagoi_size_to_text(int64_t bytes);

/* "4M": the largest unit that divides the size, so that a hint is read back exactly. */
sagoi_size_text sagoi_size_to_hint(int64_t bytes);

/* What follows a noun that stands behind a number: "1 file", "2 files". */
static inline const char *sagoi_plural(int64_t n) { return n == 1 ? "" : "s"; }

#endif
