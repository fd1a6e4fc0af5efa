/* Files of jobs that died.  A file that is in use is locked by every process that uses it (flock(2)), and the
 * kernel takes the lock away with the process. */
#ifndef SAGOI_LEFTOVERS_H
#define SAGOI_LEFTOVERS_H

#include "store/store.h"

/* As long as the store is open, by this or another process, nobody removes it.  Best effort. */
void sagoi_leftovers_lock(const sagoi_store *store);

/* Is a file of jobs that died wanted all the same? */
typedef bool (*sagoi_leftover_keep)(const char *dir, const char *name);

/* Removes the user's files in `dir` whose names begin with `prefix`, that have not been written to for `age`
 * seconds (a new one may not have been locked yet), that nobody has locked, and that `keep` does not want.  Only
 * where the file system is one kernel's own: elsewhere locks may not be seen.  Best effort; returns how many. */
int64_t sagoi_leftovers_remove(const char *dir, const char *prefix, int64_t age, sagoi_leftover_keep keep);

/* Nobody else holds a lock on it: then this process does, until it closes it. */
bool sagoi_leftovers_seize(const sagoi_store *store);

#endif
