/* Buffers in the memory of a GPU, in calls that the MPI library serves: it may not be able to use them, so it gets
 * a copy in host memory, whole and with its gaps. */
#ifndef DROPIN_STAGED_H
#define DROPIN_STAGED_H

#include <stdbool.h>

#include <sago/sago.h>

typedef struct dropin_staged {
    void *use;     /* the buffer to be handed on */
    char *host;    /* NULL: that is the program's own */
    char *device;  /* first byte there, */
    int64_t bytes; /* and how many */
} dropin_staged;

/* Codes of MPI, after the file's error handler has seen them. */
int dropin_stage(MPI_File file, dropin_staged *staged, const void *buf, MPI_Count count, MPI_Datatype type);
/* After the call, which returned `code`: what was read goes to the device. */
int dropin_unstage(MPI_File file, dropin_staged *staged, int code, bool wrote);
/* The same of a split call: the copy is kept when the call has begun, with `code`, and what was read goes to the
 * device when it has ended. */
int dropin_stage_begun(MPI_File file, dropin_staged *staged, int code);
int dropin_unstage_begun(MPI_File file, int code, bool wrote);
/* The same of a nonblocking call, which is waited for; the program gets a request that is complete. */
int dropin_unstage_started(MPI_File file, dropin_staged *staged, int code, bool wrote, MPI_Request *request);

#endif
