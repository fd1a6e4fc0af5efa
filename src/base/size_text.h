/* Sizes as people read and write them. */
#ifndef SAGOI_SIZE_TEXT_H
#define SAGOI_SIZE_TEXT_H

#include <stdint.h>

typedef struct sagoi_size_text {
    char text[32];
} sagoi_size_text;

/* "4 MiB" or "4.2 MiB": the largest unit that leaves a number of at least 1, and at most one digit after it. */
sagoi_size_text sagoi_size_to_text(int64_t bytes);

/* "4M": the largest unit that divides it, so that hints are read back exactly. */
sagoi_size_text sagoi_size_to_hint(int64_t bytes);

#endif
