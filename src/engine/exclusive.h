/* Who else may write to a file while a collective call does?  Only where nobody does may what lies between its
 * runs be read and written back. */
#ifndef SAGOI_EXCLUSIVE_H
#define SAGOI_EXCLUSIVE_H

#include <stdbool.h>
#include <stdint.h>

/* A file that this process has open for writing; lies inside the handle. */
typedef struct sagoi_writable {
    uint64_t device, inode;
    struct sagoi_writable *next;
} sagoi_writable;

void sagoi_writable_add(sagoi_writable *one);
void sagoi_writable_remove(sagoi_writable *one); /* fine if it was never added */

struct sago_file;
/* Local: is all that this rank may write to the file during a blocking collective call its part of the call?  If
 * that is so on all ranks, what nobody gave stays as it is until the call is over: all ranks of the job are in it,
 * none has another thread that calls MPI, and nothing that was begun on another handle of the file, or is put off
 * there, is still to be written.  And what was written before, by whichever rank, is what any rank reads. */
bool sagoi_is_exclusive(const struct sago_file *file);

#endif
