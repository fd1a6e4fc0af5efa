/* Arrays to which elements are added one by one. */
#ifndef SAGOI_GROW_H
#define SAGOI_GROW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* Makes room for one element more than `count` in an array that malloc() has made, or that is NULL with *capacity
 * 0.  false: there is no memory, and the array is as it was. */
static inline bool sagoi_grow(void **array, int64_t count, int64_t *capacity, size_t element) {
    if (count < *capacity)
        return true;
    int64_t larger = 2 * *capacity + 16;
    void *moved = realloc(*array, (size_t)larger * element);
    if (!moved)
        return false;
    *array = moved;
    *capacity = larger;
    return true;
}

#endif
