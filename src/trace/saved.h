/* Records on disk while a job runs: a file for each node, in it a slot for each rank.
 *
 * A slot has two copies, written in turn, with a checksum: a job that is killed while it writes one leaves the
 * other. So ranks need not wait for each other, and there are no more files than nodes. */
#ifndef SAGOI_SAVED_H
#define SAGOI_SAVED_H

#include "trace/rank_record.h"

/* The next copy; `number` grows by one each time.  False: it could not be written, and the one before is there. */
bool sagoi_saved_write(int fd, int64_t slot, int64_t number, char *packed, int64_t bytes);

/* The newest whole copy; NULL: there is none. */
sagoi_record *sagoi_saved_read(int fd, int64_t slot);

/* What the ranks of the job that was the last to save here have saved, in all files of a directory; NULL: nothing.
 */
sagoi_record *sagoi_saved_merge(const char *directory);

#endif
