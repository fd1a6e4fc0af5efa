/* Figures at the end of a run.  Names as in the paper: np ranks, S bytes of a checkpoint, BW bandwidths, f_cp time
 * steps between checkpoints, X a checkpoint's time in time steps, epsilon the slowdown of a time step. */
#include "report.h"

#include <stdio.h>
#include <string.h>

static double per(double a, double b) { return b > 0 ? a / b : 0; }

static double perceived(const leg *l) { return per((double)l->bytes, l->held); }
static double step_time(const leg *l) { return per(l->compute, (double)l->steps); }

void report_leg(const leg *l) {
    printf("%s: %lld steps in %.3f s: compute %.3f s, held by I/O %.3f s (%lld checkpoint%s)\n", l->mode,
           (long long)l->steps, l->wall, l->compute, l->held, (long long)l->saves, l->saves == 1 ? "" : "s");
    if (l->saves > 0)
        printf("%s: %.1f MiB a checkpoint; perceived bandwidth %.0f MiB/s, raw %.0f MiB/s\n", l->mode,
               per((double)l->bytes, (double)l->saves) / (1 << 20), perceived(l) / (1 << 20),
               per((double)l->bytes, l->write) / (1 << 20));
}

static void row(const char *equation, double model, double measured, const char *unit) {
    printf("  %-58s %10.4g %10.4g %s\n", equation, model, measured, unit);
}

/* X: how many time steps a checkpoint takes. */
static double checkpoint_steps(const leg *l) { return per(per(l->held, (double)l->saves), step_time(l)); }

void report_equations(const leg *run, const leg *coio, const leg *plain) {
    double np = run->ranks, size = per((double)run->bytes, (double)run->saves);
    double f_cp = per((double)run->steps, (double)run->saves);
    double blocked = per(run->held_ranks, (double)run->saves),
           blocked_coio = per(coio->held_ranks, (double)coio->saves);
    double period = per(run->wall, (double)run->saves), period_coio = per(coio->wall, (double)coio->saves);
    double epsilon = per(step_time(run), step_time(coio)) - 1;
    double x_coio = checkpoint_steps(coio), x = checkpoint_steps(run);
    double t_coio = blocked_coio / np, t_run = blocked / np; /* seconds of a rank in a checkpoint */

    printf("np %d, S %.1f MiB, f_cp %.0f, X_coIO %.2f, X_%s %.2f, epsilon %+.1f%%\n", run->ranks, size / (1 << 20),
           f_cp, x_coio, run->mode, x, 100 * epsilon);
    printf("compute slowdown against steps without checkpoints: %+.1f%% (%s), %+.1f%% (coio)\n",
           100 * (per(step_time(run), step_time(plain)) - 1), run->mode,
           100 * (per(step_time(coio), step_time(plain)) - 1));
    printf("  %-58s %10s %10s\n", "equation, for one checkpoint", "model", "measured");
    row("(1) Speedup_io = T_coIO / T_trbIO", per(per(np * size, perceived(coio)), per(np * size, perceived(run))),
        per(blocked_coio, blocked), "");
    row("(2) T_coIO = np S / BW_coIO", per(np * size, perceived(coio)), blocked_coio, "s");
    row("(3) T_trbIO = np S / BW_p", per(np * size, perceived(run)), blocked, "s");
    row("(4) Speedup_io = BW_p / BW_coIO", per(perceived(run), perceived(coio)), per(blocked_coio, blocked), "");
    row("(5) Speedup_prod = (T_coIO + Tcomp) / (T_trbIO + Tcomp)",
        per(t_coio + f_cp * step_time(coio), t_run + f_cp * step_time(run)), per(period_coio, period), "");
    row("(6) ... by X and f_cp, each with its own t_comp",
        per((x_coio + f_cp) * step_time(coio), (x + f_cp) * step_time(run)), per(period_coio, period), "");
    row("(7) ... (X_coIO + f_cp) / (X_trbIO + f_cp) / (1 + epsilon)",
        per(per(x_coio + f_cp, x + f_cp), 1 + epsilon), per(period_coio, period), "");
}
