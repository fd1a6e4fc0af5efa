/* A line that tells what a command is doing, and for how long: only on a terminal, from the third second on, and
 * in a thread of its own, so that the line also moves while one long call runs.  Only one process of a job uses
 * these functions. */
#ifndef BENCH_PROGRESS_H
#define BENCH_PROGRESS_H

#include <stdbool.h>

/* Does standard error go to a terminal, perhaps through a launcher that passes it on? */
bool progress_is_seen(void);

/* From now on the command is doing this; nothing is shown where there is no terminal. */
void progress_set(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Removes the line, since the work is done; the next line counts from the beginning. */
void progress_end(void);

#endif
