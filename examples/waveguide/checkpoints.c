/* Checkpoints of the waveguide by Sago.
 *
 * This is all that an application needs: open, protect, restore the latest, save now and then, close. */
#include "checkpoints.h"

#include <stdio.h>
#include <string.h>

static void check(const checkpoints *c, sago_status status) {
    if (status == SAGO_OK)
        return;
    if (c->domain->rank == 0) /* the message is the same everywhere */
        fprintf(stderr, "waveguide: %s\n", sago_error_message());
    MPI_Barrier(c->domain->comm);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static MPI_Info make_hints(const options *o, const char *mode) {
    MPI_Info hints;
    MPI_Info_create(&hints);
    MPI_Info_set(hints, "sago_ckpt_mode", mode);
    for (int i = 0; i < o->nhints; i++) {
        char key[MPI_MAX_INFO_KEY];
        const char *equals = strchr(o->hints[i], '=');
        snprintf(key, sizeof key, "%.*s", (int)(equals - o->hints[i]), o->hints[i]);
        MPI_Info_set(hints, key, equals + 1);
    }
    return hints;
}

/* All six arrays have the grid's shape; in memory a block has ghost cells around it, which are not saved. */
static void protect(checkpoints *c, fields *f) {
    const domain *d = f->domain;
    const int64_t behind_ghosts[AXES] = {1, 1, 1};
    for (int i = 0; i < COMPONENTS; i++) {
        sago_block block = {.start = d->start, .count = d->count, .mem_shape = d->shape};
        block.mem_start = behind_ghosts;
        block.data = f->component[i];
        check(c, sago_ckpt_protect(c->ckpt, field_names[i], MPI_DOUBLE, AXES, d->cells, 1, &block));
    }
    check(c, sago_ckpt_protect_shared(c->ckpt, "run", &c->record, sizeof c->record));
}

void checkpoints_open(checkpoints *c, fields *f, const options *o, const char *directory, const char *mode) {
    *c = (checkpoints){.domain = f->domain, .printed = -1};
    c->record = (run_record){o->cells, o->length, o->waves, o->m, o->n, 0};
    MPI_Info hints = make_hints(o, mode);
    check(c, sago_ckpt_open(f->domain->comm, directory, hints, &c->ckpt));
    MPI_Info_free(&hints);
    protect(c, f);
}

/* ---- Going on ---- */

/* How long it took, and where the data came from. */
static void print_restored(const checkpoints *c, int64_t step) {
    sago_ckpt_report report = SAGO_CKPT_REPORT_INIT;
    sago_ckpt_stats stats = SAGO_CKPT_STATS_INIT;
    check(c, sago_ckpt_get_report(c->ckpt, &report));
    check(c, sago_ckpt_get_stats(c->ckpt, &stats));
    if (c->domain->rank != 0)
        return;
    printf("restored step %lld in %.0f ms; read:", (long long)step, 1e3 * stats.restore);
    for (int level = SAGO_LEVEL_LOCAL; level <= SAGO_LEVEL_GLOBAL; level++)
        if (report.bytes_from[level] > 0)
            printf(" %.1f MiB %s", (double)report.bytes_from[level] / (1 << 20),
                   sago_level_string((sago_level)level));
    printf("\n");
    if (report.passed_over > 0)
        printf("%s", report.text);
}

/* Steps that opening has found damaged. */
static void print_damaged(const checkpoints *c) {
    sago_ckpt_report report = SAGO_CKPT_REPORT_INIT;
    check(c, sago_ckpt_get_report(c->ckpt, &report));
    if (c->domain->rank == 0)
        printf("%s", report.text);
}

int64_t checkpoints_restart(checkpoints *c) {
    int64_t latest;
    run_record asked = c->record;
    print_damaged(c);
    check(c, sago_ckpt_restore_latest(c->ckpt, &latest));
    if (latest < 0)
        return 0;
    c->printed = latest;
    asked.steps_done = c->record.steps_done;
    if (memcmp(&asked, &c->record, sizeof asked) != 0) {
        if (c->domain->rank == 0)
            fprintf(stderr, "waveguide: the checkpoint is of a run with other options\n");
        MPI_Barrier(c->domain->comm);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    print_restored(c, latest);
    return c->record.steps_done;
}

/* ---- Saving ---- */

static void print_line(const checkpoints *c, const sago_ckpt_save_stats *s) {
    if (c->domain->rank != 0)
        return;
    if (s->written < 0) {
        printf("checkpoint %8lld: not written\n", (long long)s->step);
        return;
    }
    printf("checkpoint %8lld: %.1f MiB, held %.1f ms (copy %.1f), queue %.1f, write %.1f, redundancy %.1f, drain "
           "%.1f; "
           "%s; perceived %.0f MiB/s, raw %.0f MiB/s\n",
           (long long)s->step, (double)s->bytes / (1 << 20), 1e3 * s->held, 1e3 * s->copy, 1e3 * s->queue,
           1e3 * s->write, 1e3 * s->redundancy, 1e3 * s->drain, sago_level_string((sago_level)s->level),
           s->perceived / (1 << 20), s->raw / (1 << 20));
}

/* Lines of checkpoints whose times are known by now, oldest first. */
static void print_written(checkpoints *c) {
    sago_ckpt_stats stats = SAGO_CKPT_STATS_INIT;
    check(c, sago_ckpt_get_stats(c->ckpt, &stats));
    for (int64_t i = stats.nrecent - 1; i >= 0; i--) {
        const sago_ckpt_save_stats *s = &stats.recent[i];
        if (s->step <= c->printed)
            continue;
        if (s->written == 0)
            break;
        print_line(c, s);
        c->printed = s->step;
    }
    fflush(stdout);
}

int checkpoints_due(checkpoints *c, const options *o, int64_t step, int *leave) {
    int due = 0;
    *leave = 0;
    if (o->every > 0)
        return step % o->every == 0;
    check(c, sago_ckpt_due(c->ckpt, &due, leave));
    return due;
}

void checkpoints_save(checkpoints *c, int64_t step) {
    double start = MPI_Wtime();
    c->record.steps_done = step;
    sago_status status = sago_ckpt_save(c->ckpt, step);
    c->own_held += MPI_Wtime() - start;
    if (status == SAGO_ERR_BUSY) /* the hint sago_ckpt_early=skip: the last one is still being written */
        return;
    check(c, status);
    print_written(c);
}

void checkpoints_close(checkpoints *c) {
    int64_t latest = c->record.steps_done;
    sago_ckpt_stats stats = SAGO_CKPT_STATS_INIT;
    check(c, sago_ckpt_get_stats(c->ckpt, &stats));
    if (stats.saves > 0) /* the end of a run belongs on the storage that stays */
        check(c, sago_ckpt_wait(c->ckpt, latest, SAGO_LEVEL_GLOBAL));
    print_written(c);
    check(c, sago_ckpt_get_stats(c->ckpt, &stats));
    c->held = stats.held;
    c->write = stats.write;
    c->saves = stats.saves;
    c->bytes = stats.bytes_saved;
    check(c, sago_ckpt_close(&c->ckpt));
}
