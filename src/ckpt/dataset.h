/* What the application protects: arrays by blocks, data of each rank, and data that all ranks have.  It is sorted
 * by name, so that the order of protecting does not matter.  No communication. */
#ifndef SAGOI_CKPT_DATASET_H
#define SAGOI_CKPT_DATASET_H

#include "mpi/types.h"
#include "ckpt/record.h"
#include "ckpt/overlap.h"

typedef struct sagoi_protected {
    sagoi_array_desc desc; /* bytes: of local data, this rank's */
    int64_t nblocks;       /* this rank's blocks; 1 for local and shared data */
    sagoi_box *boxes;      /* arrays */
    char **data;           /* for each block */
} sagoi_protected;

typedef struct sagoi_dataset {
    sagoi_protected *entries;
    int64_t n, capacity;
    bool changed; /* changed since the layout of a save was worked out */
} sagoi_dataset;

void sagoi_dataset_cleanup(sagoi_dataset *set);

/* Copies the caller's arrays of numbers, but not the data. */
typedef struct sagoi_array_arguments {
    const char *name;
    MPI_Datatype element;
    int ndims;
    const int64_t *global;
    int64_t nblocks;
    const sago_block *blocks;
} sagoi_array_arguments;

sago_status sagoi_dataset_add_array(sagoi_dataset *set, const sagoi_array_arguments *given) SAGOI_CHECKED;
sago_status sagoi_dataset_add_bytes(sagoi_dataset *set, const char *name, sago_ckpt_kind kind, void *data,
                                    int64_t bytes) SAGOI_CHECKED;
sago_status sagoi_dataset_remove(sagoi_dataset *set, const char *name) SAGOI_CHECKED;

/* Bytes of a block of an array. */
int64_t sagoi_box_bytes(const sagoi_box *box, const sagoi_array_desc *desc);

/* A sum over blocks that equals that of the whole array exactly when the blocks tile it (but for a chance of
 * 2^-64): the keyed hash of each corner, with alternating signs, cancels inside. */
uint64_t sagoi_box_cover(const int64_t *start, const int64_t *count, int64_t ndims, uint64_t key);

#endif
