/* Files that are written for the user: reports, traces, statistics, site files.  A regular file is replaced as a
 * whole, so that readers see the old one or the new one; whatever else is at the path is written to and stays.
 * Failures set errno. */
#ifndef SAGOI_OUTPUT_H
#define SAGOI_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

typedef struct sagoi_output {
    FILE *file;   /* NULL: not open */
    int fd;       /* of what is written to directly; -1: a regular file is replaced */
    char *target; /* what is replaced, after symbolic links */
    char *aside;  /* what it is replaced by */
    char *text;   /* what is to be written directly */
    size_t length;
} sagoi_output;

/* Is something other than a regular file or a directory at this path, such as a device or a FIFO? */
bool sagoi_output_is_special(const char *path);

/* Could the path be written now?  0, or an error number.  Leaves nothing behind, and opens no FIFO or device. */
int sagoi_output_check(const char *path);

/* Follows symbolic links.  Does not wait for a reader of a FIFO. */
bool sagoi_output_open(sagoi_output *out, const char *path);

/* Call once after a successful open.  If false, what was at the path is as it was, unless it is no regular file.
 */
bool sagoi_output_close(sagoi_output *out);

/* The reason in words, for an error number of these functions. */
const char *sagoi_output_reason(int error);

#endif
