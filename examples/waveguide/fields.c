/* The Yee scheme.  A step does the same arithmetic for a cell whatever block it is in, so results do not depend on
 * the number of ranks by a single bit. */
#include "fields.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const field_names[COMPONENTS] = {"Ex", "Ey", "Ez", "Hx", "Hy", "Hz"};

int fields_init(fields *f, const domain *d, double spacing, double dt) {
    *f = (fields){.domain = d, .spacing = spacing, .dt = dt};
    int ok = 1;
    for (int c = 0; c < COMPONENTS; c++) {
        f->component[c] = calloc((size_t)domain_elements(d), sizeof(double));
        ok &= f->component[c] != NULL;
    }
    return ok;
}

void fields_cleanup(fields *f) {
    for (int c = 0; c < COMPONENTS; c++)
        free(f->component[c]);
}

/* ---- Places and exact values ---- */

static int is_electric(int component) { return component < HX; }
static int axis_of(int component) { return X - component % 3; } /* EX, HX: X; ... */

/* Is the component half a cell further on along the axis?  E is on edges, H on faces. */
static double shift_of(int component, int axis) {
    return (axis_of(component) == axis) == is_electric(component) ? 0.5 : 0;
}

/* Tangential electric field on the wall at index 0; it is never computed. */
static int on_wall(int component, int64_t j, int64_t i) {
    int axis = axis_of(component);
    return is_electric(component) && ((i == 0 && axis != X) || (j == 0 && axis != Y));
}

static double exact(const fields *f, const te_mode *te, int component, const int64_t cell[AXES], int64_t step) {
    double h = f->spacing, t = ((double)step + (is_electric(component) ? 0 : 0.5)) * f->dt;
    double xyz[3];
    for (int axis = 0; axis < AXES; axis++)
        xyz[X - axis] = ((double)cell[axis] + shift_of(component, axis)) * h;
    return on_wall(component, cell[Y], cell[X]) ? 0 : mode_value(te, component, xyz, t);
}

/* ---- Walking over a block ---- */

/* A function of one value of one component; `cell` counts in the whole grid. */
typedef void visitor(const fields *f, int component, const int64_t cell[AXES], double *value, void *context);

static void visit(const fields *f, visitor *look, void *context) {
    const domain *d = f->domain;
    for (int c = 0; c < COMPONENTS; c++)
        for (int64_t k = 0; k < d->count[Z]; k++)
            for (int64_t j = 0; j < d->count[Y]; j++)
                for (int64_t i = 0; i < d->count[X]; i++) {
                    int64_t cell[AXES] = {d->start[Z] + k, d->start[Y] + j, d->start[X] + i};
                    look(f, c, cell, &f->component[c][domain_at(d, k, j, i)], context);
                }
}

static void set_exact(const fields *f, int component, const int64_t cell[AXES], double *value, void *te) {
    *value = exact(f, te, component, cell, 0);
}

void fields_start(fields *f, const te_mode *te) { visit(f, set_exact, (void *)te); }

typedef struct comparison {
    const te_mode *te;
    int64_t step;
    double sums[2]; /* squares of the difference, squares of the exact values */
} comparison;

static void compare(const fields *f, int component, const int64_t cell[AXES], double *value, void *context) {
    comparison *c = context;
    double right = exact(f, c->te, component, cell, c->step);
    c->sums[0] += (*value - right) * (*value - right);
    c->sums[1] += right * right;
}

double fields_error(const fields *f, const te_mode *te, int64_t step) {
    comparison c = {.te = te, .step = step};
    visit(f, compare, &c);
    MPI_Allreduce(MPI_IN_PLACE, c.sums, 2, MPI_DOUBLE, MPI_SUM, f->domain->comm);
    return sqrt(c.sums[0] / c.sums[1]);
}

/* Mixes the bits of a value with its place; sums of this do not depend on the order. */
static uint64_t mix(uint64_t x) {
    x = (x ^ (x >> 31)) * UINT64_C(0x7fb5d329728ea185);
    x = (x ^ (x >> 27)) * UINT64_C(0x81dadef4bc2dd44d);
    return x ^ (x >> 33);
}

static void add_bits(const fields *f, int component, const int64_t cell[AXES], double *value, void *context) {
    const int64_t *cells = f->domain->cells;
    int64_t place = ((component * cells[Z] + cell[Z]) * cells[Y] + cell[Y]) * cells[X] + cell[X];
    uint64_t bits;
    memcpy(&bits, value, sizeof bits);
    *(uint64_t *)context += mix(bits + mix((uint64_t)place + 1));
}

uint64_t fields_checksum(const fields *f) {
    uint64_t sum = 0;
    visit(f, add_bits, &sum);
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UINT64_T, MPI_SUM, f->domain->comm);
    return sum;
}

/* ---- Advancing ---- */

/* One row of cells of one component: out += c * ((up - up_before) - (vp - vp_before)), the difference of the other
 * field's two components across the two other axes. */
static void advance_row(double *restrict out, const double *u, const double *u_before, const double *v,
                        const double *v_before, double c, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        out[i] += c * ((u[i] - u_before[i]) - (v[i] - v_before[i]));
}

/* dE/dt = curl H, dH/dt = -curl E.  The component along axis a takes u, the component along the axis before (x
 * before y before z before x), differenced along the axis after; and v, the other way round.  E looks at the cells
 * below (direction -1), H at those above (+1), which gives H its sign. */
static void advance(fields *f, int component) {
    const domain *d = f->domain;
    int direction = is_electric(component) ? -1 : 1, other = is_electric(component) ? HX : EX;
    int after = (component + 1) % 3, before = (component + 2) % 3; /* 0 is x, 1 y, 2 z */
    const int64_t stride[3] = {1, d->shape[X], d->shape[X] * d->shape[Y]};
    const double *u = f->component[other + before], *v = f->component[other + after];
    int64_t across_u = direction * stride[after], across_v = direction * stride[before];
    int64_t first_i = on_wall(component, 1, d->start[X]) ? 1 : 0;
    for (int64_t k = 0; k < d->count[Z]; k++)
        for (int64_t j = on_wall(component, d->start[Y], 1) ? 1 : 0; j < d->count[Y]; j++) {
            size_t row = domain_at(d, k, j, first_i);
            advance_row(f->component[component] + row, u + row, u + row + across_u, v + row, v + row + across_v,
                        f->dt / f->spacing, d->count[X] - first_i);
        }
}

void fields_step(fields *f) {
    double **c = f->component;
    domain_fill_below(f->domain, (double *[]){[X] = c[HX], [Y] = c[HY], [Z] = c[HZ]});
    for (int component = EX; component <= EZ; component++)
        advance(f, component);
    domain_fill_above(f->domain, (double *[]){[X] = c[EX], [Y] = c[EY], [Z] = c[EZ]});
    for (int component = HX; component <= HZ; component++)
        advance(f, component);
}
