/* The electromagnetic field on a Yee grid: six components, each at its own place of a cell, E at whole time steps
 * and H half a step later; both advance in turn by central differences.
 *
 * In cell (k, j, i) the components lie at (x, y, z) =
 *     Ex (i+1/2, j, k)      Ey (i, j+1/2, k)      Ez (i, j, k+1/2)
 *     Hx (i, j+1/2, k+1/2)  Hy (i+1/2, j, k+1/2)  Hz (i+1/2, j+1/2, k)      times the grid spacing,
 * so that all six arrays have the shape of the grid.  On the walls, which conduct perfectly, the tangential
 * electric field is 0: for ever at i = 0 and j = 0, and in the ghost cells behind the last ones. */
#ifndef WAVEGUIDE_FIELDS_H
#define WAVEGUIDE_FIELDS_H

#include "domain.h"
#include "mode.h"

typedef struct fields {
    const domain *domain;
    double spacing, dt;
    double *component[COMPONENTS];
} fields;

extern const char *const field_names[COMPONENTS];

/* False: out of memory (on this rank). */
int fields_init(fields *f, const domain *d, double spacing, double dt);
void fields_cleanup(fields *f);

/* The exact mode, E at time 0 and H at dt/2. */
void fields_start(fields *f, const te_mode *te);

/* Collective.  One time step. */
void fields_step(fields *f);

/* Collective.  The difference from the exact mode after `step` steps, relative to its strength (both as root mean
 * squares over all components). */
double fields_error(const fields *f, const te_mode *te, int64_t step);

/* Collective.  A checksum of every bit of the field, the same for any number of ranks. */
uint64_t fields_checksum(const fields *f);

#endif
