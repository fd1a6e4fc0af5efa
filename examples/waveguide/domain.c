/* Cutting the grid into blocks, and exchanging ghost cells between them. */
#include "domain.h"

/* One layer across `axis`, at index `at` there, without the ghost cells of the other axes: the difference
 * equations never look around a corner. */
static MPI_Datatype layer(const domain *d, int axis, int64_t at) {
    int shape[AXES], size[AXES], start[AXES];
    for (int a = 0; a < AXES; a++) {
        shape[a] = (int)d->shape[a];
        size[a] = a == axis ? 1 : (int)d->count[a];
        start[a] = a == axis ? (int)at : 1;
    }
    MPI_Datatype type;
    MPI_Type_create_subarray(AXES, shape, size, start, MPI_ORDER_C, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    return type;
}

int domain_init(domain *d, MPI_Comm comm, const int64_t cells[AXES]) {
    int grid[AXES] = {0, 0, 0}, periodic[AXES] = {1, 0, 0}, place[AXES], fits = 1;
    MPI_Comm_size(comm, &d->ranks);
    MPI_Dims_create(d->ranks, AXES, grid); /* most along z, the long axis */
    for (int a = 0; a < AXES; a++)
        fits &= cells[a] >= grid[a];
    if (!fits)
        return 0;
    MPI_Cart_create(comm, AXES, grid, periodic, 1, &d->comm);
    MPI_Comm_rank(d->comm, &d->rank);
    MPI_Cart_coords(d->comm, d->rank, AXES, place);
    for (int a = 0; a < AXES; a++) {
        d->cells[a] = cells[a];
        d->start[a] = cells[a] * place[a] / grid[a];
        d->count[a] = cells[a] * (place[a] + 1) / grid[a] - d->start[a];
        d->shape[a] = d->count[a] + 2;
        MPI_Cart_shift(d->comm, a, 1, &d->below[a], &d->above[a]);
    }
    for (int a = 0; a < AXES; a++) {
        d->ghosts_below[a] = layer(d, a, 0);
        d->first[a] = layer(d, a, 1);
        d->last[a] = layer(d, a, d->count[a]);
        d->ghosts_above[a] = layer(d, a, d->count[a] + 1);
    }
    return 1;
}

void domain_cleanup(domain *d) {
    for (int a = 0; a < AXES; a++) {
        MPI_Type_free(&d->ghosts_below[a]);
        MPI_Type_free(&d->first[a]);
        MPI_Type_free(&d->last[a]);
        MPI_Type_free(&d->ghosts_above[a]);
    }
    MPI_Comm_free(&d->comm);
}

/* All layers under way at once, then one wait: ranks meet once, not once a layer. */
static void fill(const domain *d, double *const vector[AXES], int below) {
    MPI_Request requests[4 * AXES];
    int n = 0;
    for (int axis = 0; axis < AXES; axis++)
        for (int component = 0; component < AXES; component++) {
            double *array = vector[component];
            int tag = AXES * axis + component;
            if (component == axis)
                continue;
            MPI_Irecv(array, 1, below ? d->ghosts_below[axis] : d->ghosts_above[axis],
                      below ? d->below[axis] : d->above[axis], tag, d->comm, &requests[n++]);
            MPI_Isend(array, 1, below ? d->last[axis] : d->first[axis], below ? d->above[axis] : d->below[axis],
                      tag, d->comm, &requests[n++]);
        }
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
}

void domain_fill_below(const domain *d, double *const vector[AXES]) { fill(d, vector, 1); }

void domain_fill_above(const domain *d, double *const vector[AXES]) { fill(d, vector, 0); }
