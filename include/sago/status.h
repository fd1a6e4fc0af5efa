/* What Sago's functions return, and how to learn more.  Needs no MPI header. */
#ifndef SAGO_STATUS_H
#define SAGO_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

typedef enum sago_status {
    SAGO_OK = 0,
    SAGO_ERR_ARG,         /* an argument is wrong: null pointer, negative offset or count, ... */
    SAGO_ERR_HANDLE,      /* the file, series or request is null or closed */
    SAGO_ERR_MODE,        /* the access mode is wrong, or does not allow this call */
    SAGO_ERR_HINT,        /* a hint is unknown, not of its type or out of range */
    SAGO_ERR_TYPE,        /* a datatype cannot be used so */
    SAGO_ERR_EXTENTS,     /* extents overlap or do not ascend */
    SAGO_ERR_OVERFLOW,    /* offset + length does not fit 63 bits */
    SAGO_ERR_MISMATCH,    /* ranks gave different arguments where they must agree */
    SAGO_ERR_STATE,       /* the call does not fit the state, e.g. a variable was not given a buffer */
    SAGO_ERR_NO_FILE,     /* no such file */
    SAGO_ERR_EXISTS,      /* the file exists */
    SAGO_ERR_ACCESS,      /* permission denied */
    SAGO_ERR_READ_ONLY,   /* read-only file or file system */
    SAGO_ERR_BAD_FILE,    /* not a file that can be used: a directory, a bad name */
    SAGO_ERR_NO_SPACE,    /* the file system is full */
    SAGO_ERR_QUOTA,       /* the quota is used up */
    SAGO_ERR_IO,          /* any other I/O error */
    SAGO_ERR_MEMORY,      /* out of memory, or the memory budget is too small for even the smallest plan */
    SAGO_ERR_MPI,         /* an MPI call failed */
    SAGO_ERR_WRONG_MPI,   /* the program runs on another MPI library than Sago was built with */
    SAGO_ERR_PEER,        /* a process of the communicator has died, or can no longer take part */
    SAGO_ERR_UNSUPPORTED, /* not offered */
    SAGO_ERR_BUSY,        /* another job has the checkpoint directory, or no buffer is free */
    SAGO_ERR_TIMEOUT,     /* a file system has not answered in time (hint sago_ckpt_patience) */
    SAGO_STATUS_COUNT
} sago_status;

/* One short English phrase; never NULL. */
const char *sago_status_string(sago_status status);

/* The MPI error class that means the same, e.g. MPI_ERR_NO_SPACE. */
int sago_status_mpi_class(sago_status status);

/* What went wrong in the last failed call of this thread: call, path, offset, cause, rank.
 * Valid until the thread's next Sago call; "" after a success; never NULL. */
const char *sago_error_message(void);

#ifdef __cplusplus
}
#endif

#endif
