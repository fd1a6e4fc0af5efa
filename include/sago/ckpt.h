/* Checkpoints: an application saves its state and goes on computing; whatever dies afterwards, the newest step
 * that was reported complete comes back, bit for bit.
 *
 *     sago_ckpt_open(comm, "ckpt", hints, &ckpt);
 *     sago_ckpt_protect(ckpt, "temperature", MPI_DOUBLE, 3, global, 1, &block);
 *     status = sago_ckpt_restore_latest(ckpt, &step);    an error: end; step -1: begin at the beginning
 *     ... every so often: sago_ckpt_save(ckpt, step);
 *     sago_ckpt_close(&ckpt);
 *
 * Conventions are those of sago/sago.h.  All calls are collective over the communicator and return the same status
 * on every rank, unless they are said to be local.  MPI_THREAD_SINGLE is enough: what runs in the background does
 * file I/O only.  docs/checkpoint-format.md describes what is in the directory.
 *
 * Storage that hangs does not stop the job.  No system call on a directory is waited for longer than the hint
 * sago_ckpt_patience says (300 s); then the call is left behind with its thread and its memory, and everything
 * else on that directory fails at once with SAGO_ERR_TIMEOUT until the call has come back.  What is on other
 * storage goes on: while the global directory hangs steps are saved to and restored from the nodes.  Whether a
 * call that was given up had its effect nobody knows: a step that failed so may be there later.  sago_ckpt_stats
 * counts such calls and their memory.  Ranks are waited for as the hint sago_patience says, but without end while
 * MPI makes communicators in sago_ckpt_open().  A process whose calls are with a server that does not answer may
 * not be able to end, even when it is killed: that is the kernel's matter. */
#ifndef SAGO_CKPT_H
#define SAGO_CKPT_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#include <sago/init.h>
#include <sago/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sago_ckpt sago_ckpt;

enum {
    SAGO_CKPT_DIMS_MAX = 8,  /* An array has at most so many dimensions. */
    SAGO_CKPT_NAME_MAX = 128 /* A name has at most so many bytes, the closing NUL included. */
};

/* Where a step is.  Each level is safer than the one before; a step that is complete at a level counts as complete
 * at all levels before it. */
typedef enum sago_level {
    SAGO_LEVEL_MEMORY,    /* left the application's arrays; lost with the job */
    SAGO_LEVEL_LOCAL,     /* on the storage of the nodes (hint sago_local_dirs); lost with a node */
    SAGO_LEVEL_REDUNDANT, /* the same, with copies or parity on other nodes (hint sago_ckpt_redundancy) */
    SAGO_LEVEL_GLOBAL,    /* in the directory that was opened */
    SAGO_LEVEL_COUNT
} sago_level;

const char *sago_level_string(sago_level level); /* "local"; never NULL */

/* ---- Opening and closing ------------------------------------------------------------------------------ */

/* Opens the directory, which all ranks see and which is made if it does not exist (its parent must).  A directory
 * that holds something else is refused, so is one of a newer format.  The job holds a lock (a lease that is
 * renewed in the background) until it closes: a second job is refused with SAGO_ERR_BUSY, a dead one leaves
 * nothing behind.  A job that was stopped for longer than its lease and replaced does no harm when it goes on: its
 * saves fail with SAGO_ERR_BUSY, or do not count.
 *
 * Leftovers of interrupted saves are removed.  A step that was complete once, or may have been, and is so no
 * longer (a part is lost, a data file cut off) and cannot be mended from another level or redundancy, is not: it
 * is set aside under a name that says so (damaged-...), and is none of the steps to be kept.
 * sago_ckpt_get_report() tells what is set aside after opening, sago_ckpt_list() and the statistics always do.  It
 * takes up space until somebody calls sago_ckpt_remove_damaged(); the library never removes it.  When what was
 * missing is back, it is an ordinary step again.
 *
 * A directory may be moved, and finds what it has on the nodes.  A copy of one finds what was copied; what is on
 * the nodes stays the original's.  Where one was moved and then copied, the one that is opened first counts as the
 * original.
 *
 * With the hint sago_ckpt_read_only=on nothing is changed, no lock is needed (a running job may own the
 * directory), and only latest, list, inquire, restore, restore_latest and verify are allowed.  What nodes have
 * lost is not rebuilt then, and a step that needs it cannot be restored. */
sago_status sago_ckpt_open(MPI_Comm comm, const char *dir, MPI_Info hints, sago_ckpt **ckpt);

/* Waits until everything is written (at the levels the hints ask for), gives the lock back and sets *ckpt to NULL,
 * also on failure.  Returns what failed in the background and was not returned by sago_ckpt_wait() before: a save
 * that nobody waited for, or one that was waited for at the local level and could not be brought to the global
 * one. Of several failures it is the oldest step's; the message names the other steps.  What was reported complete
 * is there all the same, at the level it was reported for.  Old steps that cannot be removed are no failure: they
 * go when the directory is opened next. */
sago_status sago_ckpt_close(sago_ckpt **ckpt);

/* ---- What is saved ------------------------------------------------------------------------------------ */

/* A block of a global array as it lies in this rank's memory, in C order (the last index moves fastest). */
typedef struct sago_block {
    const int64_t *start, *count;         /* the block in the global array, elements */
    const int64_t *mem_shape, *mem_start; /* memory is mem_shape elements, with the block at mem_start in it (ghost
                                             cells around it); NULL both: memory is exactly the block */
    void *data;
} sago_block;

/* Local calls, the same on all ranks (names, types, shapes; noticed by the next save or restore).  Descriptions
 * are copied; the data stays the application's, and must stay where it is until it is unprotected.  Names are not
 * empty and have no slash; protecting a name again is SAGO_ERR_EXISTS.  A rank may have no block at all.
 *
 * To be saved, the blocks of all ranks must tile the global array; restoring may ask for any blocks.  The element
 * type must be without holes. */
sago_status sago_ckpt_protect(sago_ckpt *ckpt, const char *name, MPI_Datatype element, int ndims,
                              const int64_t global[], int64_t nblocks, const sago_block blocks[]);
/* Every rank's own bytes; the size may differ.  Restored only by as many ranks as have saved. */
sago_status sago_ckpt_protect_local(sago_ckpt *ckpt, const char *name, void *data, int64_t bytes);
/* The same bytes on all ranks, saved once (rank 0's). */
sago_status sago_ckpt_protect_shared(sago_ckpt *ckpt, const char *name, void *data, int64_t bytes);
sago_status sago_ckpt_unprotect(sago_ckpt *ckpt, const char *name);

/* ---- Saving ------------------------------------------------------------------------------------------- */

/* Saves a step (>= 0), and returns when the arrays may be changed again.  That depends on the hint sago_ckpt_mode:
 *
 * - threaded: after a copy; threads of the writers write in the background.
 * - rbio: after a copy, too, but the writers write before they return.
 * - coio: when all is written, collectively by all ranks.
 *
 * In groups of several nodes (hint sago_ckpt_group) a rank on another node than its writer returns when the writer
 * has received the rank's bytes.  When a save comes before the last one is written, the hint sago_ckpt_early
 * decides: `wait` waits for a free buffer, `skip` returns SAGO_ERR_BUSY and saves nothing, `replace` drops a save
 * that waits in memory.  SAGO_ERR_EXISTS: the step exists already.  SAGO_ERR_NO_SPACE: there is too little space;
 * nothing is written.  A failure in the background is returned by sago_ckpt_wait() for that step, else by
 * sago_ckpt_close(). */
sago_status sago_ckpt_save(sago_ckpt *ckpt, int64_t step);

/* Gives time to what needs messages between nodes (redundancy); never required for a step to exist. */
sago_status sago_ckpt_progress(sago_ckpt *ckpt);

/* Waits until a step that this job saved is complete at `level` or a safer one.  A level that the hints do not ask
 * for is reached, too, if there is such storage, else the status is SAGO_ERR_UNSUPPORTED.  SAGO_ERR_NO_FILE: there
 * is no such step.  Any other error tells why the step could not be written, and is returned each time; the step
 * may still be complete at the levels before.  sago_ckpt_drain() tries again to bring the step to the global
 * level. */
sago_status sago_ckpt_wait(sago_ckpt *ckpt, int64_t step, sago_level level);

/* ---- What is there ------------------------------------------------------------------------------------ */

/* The newest step that is complete at this level or a safer one, by its records (its data is not read); -1 if
 * there is none (which is no error).
 *
 * Where some storage does not answer, this, sago_ckpt_list(), sago_ckpt_inquire() and sago_ckpt_restore_latest()
 * go by what the rest has, and sago_ckpt_get_report() names what was passed over; where the rest has nothing it is
 * SAGO_ERR_TIMEOUT.  sago_ckpt_verify() reads what it can, and then returns SAGO_ERR_TIMEOUT. */
sago_status sago_ckpt_latest(sago_ckpt *ckpt, sago_level at_least, int64_t *step);

typedef struct sago_ckpt_step {
    int64_t step;
    int64_t time;                   /* of the save: seconds since 1970; no earlier than of the job's save before */
    int64_t bytes;                  /* of data */
    int64_t files;                  /* data files at the global level */
    int64_t writers;                /* ranks that wrote */
    int64_t ranks;                  /* that saved */
    int64_t arrays;                 /* names in it */
    int complete[SAGO_LEVEL_COUNT]; /* by level, that level itself; [SAGO_LEVEL_MEMORY] is 0 */
    int64_t parts[SAGO_LEVEL_COUNT]; /* writers whose part is there; when it is `writers`, the level is complete
                                        ([SAGO_LEVEL_REDUNDANT]: those there or to be rebuilt) */
    uint64_t save_id[2];
    int damaged; /* 1: it was complete, or may have been, and is so no longer; set aside when the directory is
                    opened by a job that may change it */
    int late;    /* 1: made by a job that had been replaced by another one (sago_ckpt_open()): it does not count */
} sago_ckpt_step;

/* Steps in ascending order, unfinished and damaged ones included.  *count is the room in `steps` and becomes the
 * number there are; at most the room is filled.  `steps` may be NULL with *count 0. */
sago_status sago_ckpt_list(sago_ckpt *ckpt, int64_t *count, sago_ckpt_step steps[]);

typedef enum sago_ckpt_kind { SAGO_CKPT_ARRAY, SAGO_CKPT_LOCAL, SAGO_CKPT_SHARED } sago_ckpt_kind;

typedef struct sago_ckpt_info {
    size_t size; /* sizeof(sago_ckpt_info), set by SAGO_CKPT_INFO_INIT */
    char name[SAGO_CKPT_NAME_MAX];
    sago_ckpt_kind kind;
    char type[32];        /* "float64", "int32", "complex64", ...; "opaque" for types that have no such name */
    int64_t element_size; /* bytes */
    int ndims;            /* 0 for local and shared data */
    int64_t global[SAGO_CKPT_DIMS_MAX];
    int64_t bytes; /* array: all of it; shared: its size; local: this rank's (0 beyond `ranks`) */
    int64_t ranks; /* that saved */
} sago_ckpt_info;

#define SAGO_CKPT_INFO_INIT SAGO_SIZED(sago_ckpt_info)

/* Type and shape, before allocating.  SAGO_ERR_NO_FILE: no such step, or no such name in it. */
sago_status sago_ckpt_inquire(sago_ckpt *ckpt, int64_t step, const char *name, sago_ckpt_info *info);
/* The same for the index-th name, from 0. */
sago_status sago_ckpt_inquire_index(sago_ckpt *ckpt, int64_t step, int64_t index, sago_ckpt_info *info);

/* ---- Restoring ---------------------------------------------------------------------------------------- */

/* Restores a step into the arrays that are protected now, by the same or another number of ranks, in the same or
 * other blocks.  Every byte is checked; a piece that is damaged or missing at one level comes from the next.  A
 * name that the step does not have, or has with another type or shape, is SAGO_ERR_MISMATCH, before any array is
 * touched.  After SAGO_ERR_IO the contents of the arrays are undefined; the message names what is missing. */
sago_status sago_ckpt_restore(sago_ckpt *ckpt, int64_t step);

/* Restores the newest step that is whole; *step is that step, the same on all ranks.  A step that is damaged or
 * cannot be read, and cannot be rebuilt, is passed over and left as it is; sago_ckpt_get_report() says which steps
 * and why. A step that was passed over may be saved again: the old one is then set aside.  *step is -1 if no step
 * was ever complete, which is no error.  SAGO_ERR_IO: some step was complete once, or cannot be read, and none is
 * whole now, so that no job begins anew unawares.  SAGO_ERR_MISMATCH is as in sago_ckpt_restore(): an older step
 * is not tried then. */
sago_status sago_ckpt_restore_latest(sago_ckpt *ckpt, int64_t *step);

/* ---- When --------------------------------------------------------------------------------------------- */

/* Sets *due: is it time for a save (hints sago_ckpt_interval, sago_ckpt_overhead, sago_ckpt_mtbf)?  And *leave: is
 * the job about to end?  The hint sago_ckpt_signal names a signal that announces it; the end of the allocation is
 * in SLURM_JOB_END_TIME or, where that variable is not set, rank 0 asks the batch system (Slurm, Flux, LSF or PBS)
 * once.  If *leave is set, *due is, too. */
sago_status sago_ckpt_due(sago_ckpt *ckpt, int *due, int *leave);

/* ---- Looking after a directory ------------------------------------------------------------------------ */

typedef struct sago_ckpt_report {
    size_t size;                          /* sizeof(sago_ckpt_report), set by SAGO_CKPT_REPORT_INIT */
    int64_t bytes_from[SAGO_LEVEL_COUNT]; /* restore: where the data came from ([REDUNDANT]: rebuilt) */
    int64_t damaged[SAGO_LEVEL_COUNT];    /* pieces (of 1 MiB or less) whose checksum was wrong */
    int64_t missing[SAGO_LEVEL_COUNT];    /* writers whose part or data is not there */
    char text[1024];                      /* the same in words, a line each */
    int64_t step;                         /* that was restored; -1: none */
    int64_t passed_over;                  /* newer steps that restore_latest could not restore from */
} sago_ckpt_report;

#ifdef __cplusplus
static inline sago_ckpt_report sago_ckpt_report_init(void) {
    sago_ckpt_report report = SAGO_SIZED(sago_ckpt_report);
    report.step = -1;
    return report;
}
#define SAGO_CKPT_REPORT_INIT sago_ckpt_report_init()
#else
#define SAGO_CKPT_REPORT_INIT                                                                                     \
    { .size = sizeof(sago_ckpt_report), .step = -1 }
#endif

/* Local.  What the last restore or verify found (or any call that had to pass over storage which does not answer);
 * before the first, what opening did. */
sago_status sago_ckpt_get_report(sago_ckpt *ckpt, sago_ckpt_report *report);

/* Reads everything a step has at every level and checks it.  SAGO_ERR_IO if something is damaged. */
sago_status sago_ckpt_verify(sago_ckpt *ckpt, int64_t step);
/* Brings a step from the nodes to the global directory, rebuilding what is lost or damaged if redundancy allows.
 */
sago_status sago_ckpt_drain(sago_ckpt *ckpt, int64_t step);
/* Mends what is damaged or lost of a step, where it is, from redundancy or from another level; then verifies it.
 * SAGO_ERR_IO: not everything could be mended. */
sago_status sago_ckpt_repair(sago_ckpt *ckpt, int64_t step);
/* Removes a step at all levels, but nothing of it that is set aside. */
sago_status sago_ckpt_remove(sago_ckpt *ckpt, int64_t step);
/* Removes what is set aside of a step as damaged, at all levels; -1: of all steps. */
sago_status sago_ckpt_remove_damaged(sago_ckpt *ckpt, int64_t step);

/* ---- Statistics --------------------------------------------------------------------------------------- */

/* Times are seconds, the longest of any rank.  The hint sago_ckpt_stats names a file that gets the same for every
 * checkpoint as a line of JSON, as soon as it has come as far as it is to go ("state": "written" or "failed", with
 * the "error" where something failed; "skipped", "replaced"); another line where it is brought further later.  It
 * also tells, with the reason as "error", of steps that opening finds set aside ("damaged") and that a restart
 * goes back beyond ("passed over"). */
typedef struct sago_ckpt_save_stats {
    int64_t step;
    int64_t bytes;     /* of all ranks */
    int written;       /* 1: the first level is complete; 0: under way; -1: failed */
    int level;         /* sago_level reached */
    double held;       /* in sago_ckpt_save() */
    double copy;       /* of it: copying */
    double queue;      /* from the copy to the start of writing */
    double write;      /* opening to closing, the commit included */
    double redundancy; /* exchange, encoding and writing of parity */
    double drain;      /* bringing it to the global directory */
    double perceived;  /* bytes / held, bytes a second */
    double raw;        /* bytes / write */
} sago_ckpt_save_stats;

enum { SAGO_CKPT_RECENT = 8 };

typedef struct sago_ckpt_stats {
    size_t size;                                        /* sizeof(sago_ckpt_stats), set by SAGO_CKPT_STATS_INIT */
    int64_t saves, failed, skipped, replaced, restores; /* failed: also at a later level; saves: not the skipped */
    int64_t bytes_saved;
    double held, copy, queue, write, redundancy, drain; /* sums over saves, of the rank with the largest */
    double thread_cpu;                                  /* CPU seconds of the background threads, largest */
    double restore;                                     /* the last one, slowest rank */
    int64_t pool_bytes;                                 /* largest of a node */
    int64_t nrecent;
    sago_ckpt_save_stats recent[SAGO_CKPT_RECENT]; /* newest first */
    int64_t damaged,
        damaged_bytes;   /* steps that are damaged and set aside, and the space they take at all levels */
    int64_t passed_over; /* steps that restore_latest could not restore from */
    int64_t hung_calls, hung_bytes; /* calls that have not come back (hint sago_ckpt_patience), and memory that is
                                       kept for them; of the rank with the most */
} sago_ckpt_stats;

#define SAGO_CKPT_STATS_INIT SAGO_SIZED(sago_ckpt_stats)

/* What this job's checkpoints cost so far; stats->size says how much of the struct the caller knows. */
sago_status sago_ckpt_get_stats(sago_ckpt *ckpt, sago_ckpt_stats *stats);

#ifdef __cplusplus
}
#endif

#endif
