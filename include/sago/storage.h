/* Who shares which storage: splitting a communicator into storage neighbourhoods.
 *
 * A directory may be private to a node, shared by a rack, or seen by all; its path and its device number say
 * nothing about that.  So Sago tries it out: it creates files with unguessable names and looks who sees them. They
 * are removed before the call returns, also when it fails. */
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
    /* Exact.  One rank for all of a node that see the same directory; all of those look for one file, and only who
     * misses it goes on to create a file of its own and to list. */
    SAGO_STORAGE_AUTO,
    /* Exact.  Every rank creates a file and lists: many operations on a directory that all see. */
    SAGO_STORAGE_EXHAUSTIVE,
    /* Rank 0 creates a file and one rank of another node looks for it: if it is there, all are taken to share the
     * directory, else the ranks of each node.  Two operations and the removal, and wrong for what a rack shares,
     * for ranks of one node that see different directories, and about a directory that is missing on some nodes.
     */
    SAGO_STORAGE_HEURISTIC
} sago_storage_mode;

/* Collective.  *newcomm: the ranks of `comm` that see the same directory under `dir` as this rank does, ordered by
 * `key` and their rank in `comm`; to be freed by the caller.  What counts is the directory, not its name: ranks
 * may name it differently, and symbolic links in `dir` are followed. A directory that is missing or cannot be
 * written to on any rank fails on all (but see the heuristic): the message names the rank and the path, and
 * *newcomm is MPI_COMM_NULL. */
sago_status sago_comm_split_storage(MPI_Comm comm, const char *dir, sago_storage_mode mode, int key,
                                    MPI_Comm *newcomm);

/* The split type of the interface by info keys: a value that no MPI library uses. */
#define SAGO_COMM_TYPE_NEIGHBORHOOD 0x5a60

/* Collective.  The same, the way of MPI_Comm_split_type: with SAGO_COMM_TYPE_NEIGHBORHOOD `info` may have
 *     nbhd_common_dirname     the directory; without it the first of the hint sago_local_dirs, as the environment
 * or the site file has it; where neither has any *newcomm is MPI_COMM_NULL, which is no error sago_storage_mode
 * auto (default), exhaustive or heuristic and no other key: that is SAGO_ERR_HINT, and MPI_COMM_NULL.  Other split
 * types are the MPI library's.  Ranks that give MPI_UNDEFINED take no part and get MPI_COMM_NULL. */
sago_status sago_comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm *newcomm);

/* Local.  Do two ranks of the communicator that was split share the directory?  `neighbourhood` is what the split
 * returned to this rank (not a copy of it); any two ranks may be asked about. */
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

/* Blocks that one rank produces and another one consumes go through storage: through local storage where both ends
 * see it, else through a directory that all see.  They are handed on, not kept: nothing is synced, and a block is
 * gone when it was fetched. */
typedef struct sago_exchange sago_exchange;

/* Collective.  `global`: a directory that all ranks see; `local`: one that may be of a node or a rack, or NULL on
 * all ranks: then the first of the hint sago_local_dirs, as the environment or the site file has it, and where
 * that names none everything goes through `global`.  Who shares it is found as sago_comm_split_storage() does. */
sago_status sago_exchange_open(MPI_Comm comm, const char *global, const char *local, sago_exchange **exchange);

/* Local: no other rank is needed.  Leaves a block for a rank, which can fetch it when this has returned.  The name
 * is between the two; one that was not fetched yet is SAGO_ERR_EXISTS.  Where local storage is full the block goes
 * through the other directory. */
sago_status sago_exchange_put(sago_exchange *exchange, int consumer, const char *name, const void *data,
                              int64_t bytes);

/* Local.  Fetches a block that `producer` has left for this rank; waits for it for so many seconds, 0: looks once,
 * less: as long as it takes.  SAGO_ERR_NO_FILE: it did not come.  *bytes (may be NULL): its size, also where it is
 * more than `capacity`, which is SAGO_ERR_ARG; then it stays. */
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
