/* Files of jobs that died.  Every process that uses a file holds a lock on it (flock(2)), and the kernel takes the
 * lock away with the process. */
#ifndef SAGOI_LEFTOVERS_H
#define SAGOI_LEFTOVERS_H

#include "store/store.h"

/* As long as the store is open, here or in another process, nobody removes the file.  Best effort. */
void sagoi_leftovers_lock(const sagoi_store *store);

/* Has a file of jobs that died to be kept all the same? */
typedef bool (*sagoi_leftover_keep)(const char *dir, const char *name);

/* Removes files in `dir` that belong to the user, whose names begin with `prefix`, that nobody has written to for
 * `age` seconds (a new file may not be locked yet), that nobody has locked, and that `keep` does not want.  Only
 * on a file system of one kernel, since elsewhere locks may not be seen.  Best effort; returns the number of
 * files. */
int64_t sagoi_leftovers_remove(const char *dir, const char *prefix, int64_t age, sagoi_leftover_keep keep);

/* Takes the lock of the file until this process closes it; false: another process holds the lock. */
bool sagoi_leftovers_seize(const sagoi_store *store);

#endif
