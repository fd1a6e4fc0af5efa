/* A line that tells what a command is doing, and for how long: on a terminal only, from the third second on, in a
 * thread of its own, so that it also moves while one long call runs.  One process of a job calls these. */
#ifndef BENCH_PROGRESS_H
#define BENCH_PROGRESS_H

#include <stdbool.h>

/* Does somebody see standard error on a terminal?  Also through a launcher that passes it on. */
bool progress_is_seen(void);

/* From here on this is being done; nothing happens where nobody sees it. */
void progress_set(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* It is done: the line is taken away, and the next one begins to count anew. */
void progress_end(void);

#endif
