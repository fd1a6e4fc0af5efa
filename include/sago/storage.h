/* Who shares which storage: splitting a communicator into storage neighbourhoods.
 *
 * A directory may be private to a node, shared by a rack, or seen by all; its path and its device number say
 * nothing about that.  So Sago creates files with unguessable names in the directory and looks which ranks see
 * them.  The files are removed before the call returns, also when the call fails. */
#ifndef SAGO_STORAGE_H
#define SAGO_STORAGE_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#include <sago/init.h>
#include <sago/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum sago_storage_mode {
    /* Exact.  One rank acts for all ranks of its node that see the same directory.  These ranks look for one file;
     * only a rank that misses the file creates one of its own, and lists a folder. */
    SAGO_STORAGE_AUTO,
    /* Exact.  Every rank creates a file and lists a folder: many operations on a directory that all ranks see. */
    SAGO_STORAGE_EXHAUSTIVE,
    /* Rank 0 creates a file and one rank of another node looks for the file: if that rank sees it, all ranks are
     * taken to share the directory, else the ranks of each node.  This takes two operations and the removal.  The
     * answer is wrong for a directory that a rack shares, for ranks of one node that see different directories,
     * and for a directory that is missing on some nodes. */
    SAGO_STORAGE_HEURISTIC
} sago_storage_mode;

/* Collective.  *newcomm has the ranks of `comm` that see the same directory under `dir` as this rank does, ordered
 * by `key` and by their rank in `comm`; the caller frees the communicator.  The directory counts, not its name:
 * ranks may name one directory differently, and symbolic links in `dir` are followed.  If any rank finds no
 * directory there, or cannot write to it, the call fails on all ranks (but see the heuristic): the message names
 * the rank and the path, and *newcomm is MPI_COMM_NULL. */
sago_status sago_comm_split_storage(MPI_Comm comm, const char *dir, sago_storage_mode mode, int key,
                                    MPI_Comm *newcomm);

/* The split type of the interface by info keys: a value that no MPI library uses. */
#define SAGO_COMM_TYPE_NEIGHBORHOOD 0x5a60

/* Collective.  Splits as sago_comm_split_storage() does, with the arguments of MPI_Comm_split_type().  With
 * SAGO_COMM_TYPE_NEIGHBORHOOD `info` may have two keys; any other key is SAGO_ERR_HINT, and *newcomm is
 * MPI_COMM_NULL.
 *
 * - nbhd_common_dirname names the directory.  Without this key the directory is the first one of the hint
 *   sago_local_dirs, as the environment or the site file has it.  If neither names one, *newcomm is MPI_COMM_NULL,
 *   which is no error.
 * - sago_storage_mode is auto (the default), exhaustive or heuristic.
 *
 * Other split types are handed to the MPI library.  Ranks that give MPI_UNDEFINED take no part and get
 * MPI_COMM_NULL. */
sago_status sago_comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm *newcomm);

/* Local.  Do two ranks of the communicator that was split share the directory?  `neighbourhood` is the
 * communicator that the split returned to this rank (not a duplicate); any two ranks may be asked about. */
sago_status sago_storage_shared(MPI_Comm neighbourhood, int one_rank, int other_rank, int *shared);

/* The file operations of one split, all ranks together. */
typedef struct sago_storage_stats {
    size_t size;            /* sizeof(sago_storage_stats), set by SAGO_STORAGE_STATS_INIT */
    int64_t neighbourhoods; /* found */
    int64_t probers;        /* ranks that created or looked for files */
    int64_t opens;          /* of directories */
    int64_t checks;         /* which directory is it, may it be written to, whose is it */
    int64_t creates;        /* of files and folders */
    int64_t looks;          /* for one file */
    int64_t lists;          /* of a folder of Sago's own */
    int64_t removes;
} sago_storage_stats;

#define SAGO_STORAGE_STATS_INIT SAGO_SIZED(sago_storage_stats)

/* Local.  What the split that made this communicator cost; stats->size says how much of the struct the caller
 * knows. */
sago_status sago_storage_get_stats(MPI_Comm neighbourhood, sago_storage_stats *stats);

/* ---- Producers and consumers -------------------------------------------------------------------------- */

/* Blocks that one rank produces and another rank consumes go through storage: through local storage where both
 * ranks see it, else through a directory that all ranks see.  Blocks are handed on, not kept: nothing is synced,
 * and a block is removed when the consumer has fetched it. */
typedef struct sago_exchange sago_exchange;

/* Collective.  `global` is a directory that all ranks see.  `local` is a directory that may belong to a node or a
 * rack; with NULL on all ranks it is the first one of the hint sago_local_dirs, as the environment or the site
 * file has it, and if that names none, all blocks go through `global`.  Which ranks share `local` is found as
 * sago_comm_split_storage() finds it. */
sago_status sago_exchange_open(MPI_Comm comm, const char *global, const char *local, sago_exchange **exchange);

/* Local: no other rank is needed.  Leaves a block for the rank `consumer`, which can fetch the block when this
 * call has returned.  Names are between the two ranks; a name whose block was not fetched yet is SAGO_ERR_EXISTS.
 * If local storage is full, the block goes through the global directory. */
sago_status sago_exchange_put(sago_exchange *exchange, int consumer, const char *name, const void *data,
                              int64_t bytes);

/* Local.  Fetches a block that `producer` has left for this rank.  The call waits for the block for `seconds`
 * seconds; 0: the call looks once; less than 0: the call waits as long as it takes.  SAGO_ERR_NO_FILE: the block
 * did not come. *bytes (may be NULL) is the size of the block.  A block of more than `capacity` bytes is
 * SAGO_ERR_ARG and stays. */
sago_status sago_exchange_get(sago_exchange *exchange, int producer, const char *name, void *data,
                              int64_t capacity, double seconds, int64_t *bytes);

/* Local.  Do blocks between these two ranks go through local storage? */
sago_status sago_exchange_is_local(const sago_exchange *exchange, int one_rank, int other_rank, int *local);

/* Collective.  Blocks that nobody has fetched are removed.  Sets *exchange to NULL, also on failure. */
sago_status sago_exchange_close(sago_exchange **exchange);

#ifdef __cplusplus
}
#endif

#endif
