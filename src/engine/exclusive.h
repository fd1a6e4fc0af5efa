/* Can any other way into a file write to it during a collective call?  Only if none can, may the holes between the
 * call's runs be read and written back. */
#ifndef SAGOI_EXCLUSIVE_H
#define SAGOI_EXCLUSIVE_H

#include <stdbool.h>
#include <stdint.h>

/* A file that this process has open for writing; part of the handle. */
typedef struct sagoi_writable {
    uint64_t device, inode;
    struct sagoi_writable *next;
} sagoi_writable;

void sagoi_writable_add(sagoi_writable *one);
void sagoi_writable_remove(sagoi_writable *one); /* fine if the file was never added */

struct sago_file;
/* Local: is this rank's part of a blocking collective call all that this rank may write to the file meanwhile?  If
 * so on all ranks, holes keep their contents until the call is over: all ranks of the job take part, no rank has
 * another thread that calls MPI, and no write by another handle of the file is under way or deferred.  The file
 * system is coherent, too: whatever a rank wrote before, all ranks read. */
bool sagoi_is_exclusive(const struct sago_file *file);

#endif
