/* A 3-D electromagnetic solver: a mode travels along a rectangular waveguide, and the state is saved by Sago.
 *
 *     mpiexec -n 4 waveguide --cells 32 --steps 400 --every 100 --dir ckpt
 *
 * Kill it and start it again: it goes on from the latest checkpoint, and ends with the same bits.
 *
 *     domain.c        the grid in blocks, ghost cells        fields.c        the Yee scheme
 *     mode.c          the exact solution                     checkpoints.c   all that concerns Sago
 *     report.c        times, bandwidths, the speedup model   options.c       the command line */
#include <ftw.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "checkpoints.h"
#include "fields.h"
#include "mode.h"
#include "options.h"
#include "report.h"

typedef struct simulation {
    options options;
    domain domain;
    te_mode mode;
    fields fields;
    int64_t step; /* done so far */
} simulation;

/* ---- Setting up ---- */

static int prepare(simulation *sim, int rank) {
    const options *o = &sim->options;
    const int64_t cells[AXES] = {o->cells * o->length, o->cells, 2 * o->cells};
    if (!domain_init(&sim->domain, MPI_COMM_WORLD, cells)) {
        if (rank == 0)
            fprintf(stderr, "waveguide: too many ranks for so few cells\n");
        return 0;
    }
    double spacing = 1.0 / (double)o->cells, dt = 0.9 * spacing / sqrt(3); /* stable below 1 */
    int ok = fields_init(&sim->fields, &sim->domain, spacing, dt);
    MPI_Allreduce(MPI_IN_PLACE, &ok, 1, MPI_INT, MPI_MIN, sim->domain.comm);
    if (!ok) {
        if (rank == 0)
            fprintf(stderr, "waveguide: out of memory\n");
        return 0;
    }
    sim->mode = mode_make((int)o->m, (int)o->n, 2, 1, (int)o->waves, (double)o->length);
    fields_start(&sim->fields, &sim->mode);
    if (sim->domain.rank == 0)
        printf("waveguide: TE_%lld%lld on %lld x %lld x %lld cells, %d rank%s, %.1f MiB of state\n",
               (long long)o->m, (long long)o->n, (long long)cells[X], (long long)cells[Y], (long long)cells[Z],
               sim->domain.ranks, sim->domain.ranks == 1 ? "" : "s",
               (double)(cells[X] * cells[Y] * cells[Z] * COMPONENTS) * sizeof(double) / (1 << 20));
    return 1;
}

/* ---- Running ---- */

static void maybe_die(const simulation *sim) {
    if (sim->step == sim->options.die_at && sim->domain.rank == sim->domain.ranks / 2)
        raise(SIGKILL);
}

/* Steps until `last`, with checkpoints unless c is NULL. */
static leg run(simulation *sim, int64_t last, checkpoints *c, const char *mode) {
    leg l = {.mode = mode, .ranks = sim->domain.ranks};
    double start = MPI_Wtime();
    for (int leave = 0; sim->step < last && !leave; l.steps++) {
        double before = MPI_Wtime();
        fields_step(&sim->fields);
        l.compute += MPI_Wtime() - before;
        sim->step++;
        if (c && checkpoints_due(c, &sim->options, sim->step, &leave))
            checkpoints_save(c, sim->step);
        maybe_die(sim);
    }
    l.wall = MPI_Wtime() - start;
    return l;
}

/* Closes the checkpoints, and completes the figures with theirs. */
static void finish(const simulation *sim, leg *l, checkpoints *c) {
    if (c) {
        checkpoints_close(c);
        l->saves = c->saves;
        l->bytes = c->bytes;
        l->held = c->held;
        l->write = c->write;
        MPI_Allreduce(&c->own_held, &l->held_ranks, 1, MPI_DOUBLE, MPI_SUM, sim->domain.comm);
    }
    double slowest[2] = {l->wall, l->compute};
    MPI_Allreduce(MPI_IN_PLACE, slowest, 2, MPI_DOUBLE, MPI_MAX, sim->domain.comm);
    l->wall = slowest[0];
    l->compute = slowest[1];
}

/* ---- The speedup model ---- */

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place) {
    (void)status, (void)kind, (void)place;
    return remove(path);
}

/* The same again without checkpoints and in coio mode, which is what the model compares with. */
static void compare_modes(simulation *sim, const leg *main_leg) {
    const options *o = &sim->options;
    int64_t steps = o->reference * (main_leg->steps / main_leg->saves);
    char directory[4096];
    checkpoints c;
    leg plain = run(sim, sim->step + steps, NULL, "no checkpoints");
    finish(sim, &plain, NULL);
    snprintf(directory, sizeof directory, "%s.reference", o->directory);
    if (sim->domain.rank == 0)
        printf("for comparison, in %s:\n", directory);
    checkpoints_open(&c, &sim->fields, o, directory, "coio");
    leg coio = run(sim, sim->step + steps, &c, "coio");
    finish(sim, &coio, &c);
    if (sim->domain.rank == 0) {
        nftw(directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);
        report_leg(&plain);
        report_leg(&coio);
        if (coio.saves > 0)
            report_equations(main_leg, &coio, &plain);
    }
}

/* ---- The answer ---- */

/* The scheme's only error is that its waves are a little slow; how much is known exactly. */
static int is_right(const simulation *sim) {
    const fields *f = &sim->fields;
    double error = fields_error(f, &sim->mode, sim->step), t = (double)sim->step * f->dt, h = f->spacing;
    double behind = fabs(mode_grid_omega(&sim->mode, h, f->dt) - sim->mode.omega) * t; /* in radians */
    double expected = 2 * fabs(sin(behind / 2)), coarseness = sim->mode.omega * h;
    uint64_t checksum = fields_checksum(f);
    if (sim->domain.rank == 0)
        printf("step %lld: error %.4g against the exact mode (%.4g expected from numerical dispersion); "
               "checksum %016llx\n",
               (long long)sim->step, error, expected, (unsigned long long)checksum);
    return fabs(error - expected) <= 0.1 * expected + coarseness * coarseness / 24;
}

static int simulate(simulation *sim) {
    const options *o = &sim->options;
    checkpoints kept, *c = o->directory ? &kept : NULL;
    if (c) {
        checkpoints_open(c, &sim->fields, o, o->directory, o->mode);
        sim->step = checkpoints_restart(c);
    }
    leg l = run(sim, o->steps, c, c ? o->mode : "no checkpoints");
    finish(sim, &l, c);
    int right = is_right(sim);
    if (sim->domain.rank == 0)
        report_leg(&l);
    if (l.saves > 0 && o->reference > 0 && sim->step == o->steps)
        compare_modes(sim, &l);
    return right || !o->verify;
}

int main(int argc, char **argv) {
    static simulation sim;
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int go = options_read(&sim.options, argc, argv, rank), ok = go >= 0;
    if (go > 0 && (ok = prepare(&sim, rank))) {
        ok = simulate(&sim);
        fields_cleanup(&sim.fields);
        domain_cleanup(&sim.domain);
    }
    MPI_Finalize();
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
