/* TE_mn: H_z = cos(kx x) cos(ky y) cos(omega t - beta z); the other components follow from Maxwell's equations. */
#include "mode.h"

#include <math.h>

te_mode mode_make(int m, int n, double width, double height, int waves, double length) {
    const double pi = 3.14159265358979323846;
    te_mode te = {.kx = pi * m / width, .ky = pi * n / height, .beta = 2 * pi * waves / length};
    te.omega = sqrt(te.kx * te.kx + te.ky * te.ky + te.beta * te.beta);
    return te;
}

double mode_value(const te_mode *te, int component, const double xyz[3], double t) {
    double phase = te->omega * t - te->beta * xyz[2];
    double cutoff = te->kx * te->kx + te->ky * te->ky;
    double cx = cos(te->kx * xyz[0]), sx = sin(te->kx * xyz[0]);
    double cy = cos(te->ky * xyz[1]), sy = sin(te->ky * xyz[1]);
    switch (component) {
    case EX:
        return -te->omega * te->ky / cutoff * cx * sy * sin(phase);
    case EY:
        return te->omega * te->kx / cutoff * sx * cy * sin(phase);
    case HX:
        return -te->beta * te->kx / cutoff * sx * cy * sin(phase);
    case HY:
        return -te->beta * te->ky / cutoff * cx * sy * sin(phase);
    case HZ:
        return cx * cy * cos(phase);
    default: /* EZ: the electric field is transverse */
        return 0;
    }
}

/* sin(k h / 2) / h, the grid's notion of k / 2. */
static double half_wave_number(double k, double h) { return sin(k * h / 2) / h; }

double mode_grid_omega(const te_mode *te, double h, double dt) {
    double x = half_wave_number(te->kx, h), y = half_wave_number(te->ky, h), z = half_wave_number(te->beta, h);
    return 2 / dt * asin(dt * sqrt(x * x + y * y + z * z));
}
