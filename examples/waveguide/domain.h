/* The grid of the waveguide, cut into one block a rank.
 *
 * Arrays are kept [z][y][x], x fastest, with one ghost cell on every side: cell (0,0,0) of a block is at index
 * (1,1,1) of its array.  The axes x and y end at walls; z, along the guide, is periodic. */
#ifndef WAVEGUIDE_DOMAIN_H
#define WAVEGUIDE_DOMAIN_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

enum { Z, Y, X, AXES };

typedef struct domain {
    MPI_Comm comm;                        /* Cartesian; ranks may be numbered anew */
    int rank, ranks;                      /* in comm */
    int64_t cells[AXES];                  /* cells of the whole grid */
    int64_t start[AXES], count[AXES];     /* this rank's block of it */
    int64_t shape[AXES];                  /* shape of an array: the block and its ghost cells */
    int below[AXES], above[AXES];         /* neighbours; MPI_PROC_NULL behind a wall */
    MPI_Datatype first[AXES], last[AXES]; /* outermost cells of the block, a layer across each axis */
    MPI_Datatype ghosts_below[AXES], ghosts_above[AXES]; /* the layers outside */
} domain;

/* False: more ranks than the grid can be cut for. */
int domain_init(domain *d, MPI_Comm comm, const int64_t cells[AXES]);
void domain_cleanup(domain *d);

/* Elements of an array, ghost cells included. */
static inline int64_t domain_elements(const domain *d) { return d->shape[Z] * d->shape[Y] * d->shape[X]; }

/* Where cell (k, j, i) of the block is in its array; -1 and count are ghost cells. */
static inline size_t domain_at(const domain *d, int64_t k, int64_t j, int64_t i) {
    return (size_t)(((k + 1) * d->shape[Y] + j + 1) * d->shape[X] + i + 1);
}

/* Collective.  Fills the ghost cells below (above) the block of a vector field, given by its components along z, y
 * and x, from the neighbours there.  A component is not needed across its own axis: no curl looks there. */
void domain_fill_below(const domain *d, double *const vector[AXES]);
void domain_fill_above(const domain *d, double *const vector[AXES]);

#endif
