/* Records on disk while a job runs: one file for each node, with a slot for each rank.
 *
 * A slot has two copies with checksums, which are written in turn: a job that is killed while it writes one
 * copy leaves the other.  So no rank waits for another one, and there are no more files than nodes. */
#ifndef SAGOI_SAVED_H
#define SAGOI_SAVED_H

#include "trace/rank_record.h"

/* Writes the next copy; `number` grows by one each time.  false: writing failed, and the copy before is still
 * there. */
bool sagoi_saved_write(int fd, int64_t slot, int64_t number, char *packed, int64_t bytes);

/* Reads the newest whole copy; NULL: there is none. */
sagoi_record *sagoi_saved_read(int fd, int64_t slot);

/* Adds up the records, in all files of a directory, of the job that saved there last; NULL: there are none. */
sagoi_record *sagoi_saved_merge(const char *directory);

#endif
