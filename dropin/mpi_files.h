/* The files that Sago knows, by the MPI library's handle. */
#ifndef DROPIN_MPI_FILES_H
#define DROPIN_MPI_FILES_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <sago/sago.h>

#include "dropin_report.h"

/* A split collective call that has begun and not ended. */
typedef enum { DROPIN_SPLIT_NONE, DROPIN_SPLIT_SAGO, DROPIN_SPLIT_MPI } dropin_split;

typedef struct dropin_file {
    MPI_File handle;
    int64_t number; /* of this opening; a handle is used again after it was closed */
    struct dropin_file *next;
    sago_file *sago;                  /* NULL: not taken, or not yet */
    struct dropin_late *_Atomic late; /* data for taking the file later, until it is taken or refused; late.h */
    MPI_Count etype_size;             /* bytes of the view's etype */
    MPI_Datatype filetype;            /* filetype of the view, if the MPI library got another one; else null */
    dropin_reason closed;             /* why Sago serves no call on this file, or DROPIN_SERVED */
    dropin_reason unseen;             /* the same for the present view */
    int amode;
    bool first; /* this rank is rank 0 of the file */
    bool atomic;
    pid_t process; /* the process that opened the file; a child has a copy */
    char *path;    /* path as it was opened; NULL: there was no memory */
    bool found;    /* the file was found by `path` when it was opened, with: */
    mode_t kind;   /* mode and identity by stat(2) */
    dev_t device;
    ino_t inode;
    int atomic_lock;      /* a descriptor, or -1; atomic.h */
    pthread_mutex_t lock; /* guards the pointer, since threads may make independent calls on one file */
    MPI_Offset pointer;   /* the individual file pointer, in etypes; pointer.h */
    bool pointer_known;   /* else the MPI library has to be asked */
    bool pointer_moved;   /* Sago has moved it, which the MPI library does not know */
    dropin_split split;
    MPI_Count split_bytes;          /* bytes that the split call moved, for the status when the call ends */
    int64_t own_failures;           /* failures of this rank alone that were dealt with; dropin_failed_alone() */
    struct dropin_request *started; /* nonblocking calls that are not complete, in their order; requests.c */
    struct dropin_file *next_busy;  /* the next file with such calls */
} dropin_file;

/* A new entry for a handle that does not exist yet; NULL: there is no memory. */
dropin_file *dropin_files_create(void);
void dropin_files_add(dropin_file *file, MPI_File handle);
/* NULL: Sago does not know the file. */
dropin_file *dropin_files_find(MPI_File handle);
/* Finds a file before a call that Sago may serve: a file whose opening was put off is opened by Sago now, or left
 * to the MPI library from here on.  Defined in mpi_open.c. */
dropin_file *dropin_files_find_taken(MPI_File handle);
/* Could only this rank not serve the call that has just failed, so that the other ranks know nothing of it? */
bool dropin_failed_alone(dropin_file *file);
/* Local: writes what this rank has deferred for all of its files. */
void dropin_files_flush(void);
/* The same for the files with this name. */
void dropin_files_flush_named(const char *path);
enum { DROPIN_PATH = 64 };
/* A path of the file while it is open, whatever its name and the process's folder are by now; NULL: there is
 * none. */
const char *dropin_files_path(const dropin_file *file, char path[DROPIN_PATH]);
/* Takes the file out of the table, if it is there, and frees it. */
void dropin_files_remove(dropin_file *file);

#endif
