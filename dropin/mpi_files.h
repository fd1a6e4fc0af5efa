/* The files Sago knows, by the MPI library's handle. */
#ifndef DROPIN_MPI_FILES_H
#define DROPIN_MPI_FILES_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

#include <sago/sago.h>

#include "dropin_report.h"

/* A split collective call that was begun and not ended. */
typedef enum { DROPIN_SPLIT_NONE, DROPIN_SPLIT_SAGO, DROPIN_SPLIT_MPI } dropin_split;

typedef struct dropin_file {
    MPI_File handle;
    struct dropin_file *next;
    sago_file *sago;                  /* NULL: not taken, or not yet */
    struct dropin_late *_Atomic late; /* what is needed to take it later, until it is taken or refused; late.h */
    MPI_Count etype_size;             /* of the view, bytes */
    MPI_Datatype filetype;            /* of the view, where the MPI library was given another one; else null */
    dropin_reason closed;             /* why Sago serves no call on this file, or DROPIN_SERVED */
    dropin_reason unseen;             /* the same for the view in force */
    int amode;
    bool first; /* this rank is rank 0 of the file's */
    bool atomic;
    pid_t process; /* that opened it: a child has a copy */
    char *path;    /* as it was opened; NULL without memory */
    bool found;    /* by that path, when it was opened; then: */
    mode_t kind;   /* as in stat(2) */
    dev_t device;
    ino_t inode;
    int atomic_lock;      /* a descriptor, or -1; atomic.h */
    pthread_mutex_t lock; /* of the pointer: threads may make independent calls on one file */
    MPI_Offset pointer;   /* the individual file pointer, etypes; pointer.h */
    bool pointer_known;   /* else the MPI library is to be asked */
    bool pointer_moved;   /* by Sago, and the MPI library does not know */
    dropin_split split;
    MPI_Count split_bytes;          /* moved by the split call, for the status of its end */
    int64_t own_failures;           /* of this rank alone, that were dealt with; dropin_failed_alone() */
    struct dropin_request *started; /* nonblocking calls that are not complete, in their order; requests.c */
    struct dropin_file *next_busy;  /* that has some, too */
} dropin_file;

/* A new entry, for a handle that is still to come; NULL without memory. */
dropin_file *dropin_files_create(void);
void dropin_files_add(dropin_file *file, MPI_File handle);
/* NULL: Sago does not know it. */
dropin_file *dropin_files_find(MPI_File handle);
/* The same before a call that Sago may serve: a file that was put off is opened by Sago now, or left to the MPI
 * library from here on.  Defined in open.c. */
dropin_file *dropin_files_find_taken(MPI_File handle);
/* Could only this rank not serve the call that just failed, so that the others know nothing of it? */
bool dropin_failed_alone(dropin_file *file);
/* Local: what this rank has deferred is in all of its files. */
void dropin_files_flush(void);
/* The same, of those that are the file of this name. */
void dropin_files_flush_named(const char *path);
enum { DROPIN_PATH = 64 };
/* A path of the file while it is open, whatever its name and the process's folder are by now; NULL: there is none.
 */
const char *dropin_files_path(const dropin_file *file, char path[DROPIN_PATH]);
/* Takes it out of the table, if it is there, and frees it. */
void dropin_files_remove(dropin_file *file);

#endif
