/* The mode TE_mn of a rectangular waveguide, travelling along z: the exact solution of Maxwell's equations that
 * the run starts from and is compared with.  Units in which the speed of light is 1. */
#ifndef WAVEGUIDE_MODE_H
#define WAVEGUIDE_MODE_H

/* Six components, in the order of the arrays of a field (fields.h). */
enum { EX, EY, EZ, HX, HY, HZ, COMPONENTS };

typedef struct te_mode {
    double kx, ky, beta; /* wave numbers */
    double omega;        /* angular frequency: omega^2 = kx^2 + ky^2 + beta^2 */
} te_mode;

/* m and n half waves across a guide of the given width and height, `waves` waves along its length. */
te_mode mode_make(int m, int n, double width, double height, int waves, double length);

/* A component at a place and time. */
double mode_value(const te_mode *te, int component, const double xyz[3], double t);

/* The frequency with which the mode oscillates on a grid of spacing h in steps of dt: where the scheme is exact
 * but for the speed of its waves (numerical dispersion). */
double mode_grid_omega(const te_mode *te, double h, double dt);

#endif
