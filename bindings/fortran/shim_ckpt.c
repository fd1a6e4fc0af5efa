/* The C side of the Fortran module's checkpoints; checkpoints.f90 declares these functions.  Shapes and positions
 * turn around: Fortran's first index moves fastest and counts from 1. */
#include <string.h>

#include <sago/ckpt.h>

#include "shim.h"

void sagof_ckpt_open(const MPI_Fint *comm, const char *dir, const MPI_Fint *info, sago_ckpt **ckpt, int *status) {
    *ckpt = NULL;
    shim_tell(status, sago_ckpt_open(MPI_Comm_f2c(*comm), dir, MPI_Info_f2c(*info), ckpt));
}

void sagof_ckpt_close(sago_ckpt **ckpt, int *status) { shim_tell(status, sago_ckpt_close(ckpt)); }

/* ---- What is saved ---- */

void sagof_ckpt_protect(sago_ckpt *const *ckpt, const char *name, const MPI_Fint *type, const int *ndims,
                        const int64_t *global, const int64_t *start, const int64_t *count, const CFI_cdesc_t *data,
                        const int64_t *mem_start, int *status) {
    int64_t whole[SAGO_CKPT_DIMS_MAX] = {0}, at[SAGO_CKPT_DIMS_MAX], size[SAGO_CKPT_DIMS_MAX] = {0};
    int64_t shape[SAGO_CKPT_DIMS_MAX], inside[SAGO_CKPT_DIMS_MAX];
    int n = *ndims, empty = 0;
    shim_turn(n, global, 0, whole);
    shim_turn(n, start, 1, at);
    shim_turn(n, count, 0, size);
    sago_block block = {.start = at, .count = size, .data = shim_address(data)};
    if (mem_start[0] != 0) {
        for (int d = 0; d < n && n <= SAGO_CKPT_DIMS_MAX; d++)
            shape[n - 1 - d] = data->rank == n ? data->dim[d].extent : 0; /* another rank: refused as too small */
        shim_turn(n, mem_start, 1, inside);
        block.mem_shape = shape;
        block.mem_start = inside;
    }
    for (int d = 0; d < n && n <= SAGO_CKPT_DIMS_MAX; d++)
        empty |= size[d] == 0;
    shim_tell(status, sago_ckpt_protect(*ckpt, name, MPI_Type_f2c(*type), n, whole, empty ? 0 : 1, &block));
}

void sagof_ckpt_protect_bytes(sago_ckpt *const *ckpt, const char *name, const int *shared, const CFI_cdesc_t *data,
                              const int64_t *bytes, int *status) {
    shim_tell(status, *shared ? sago_ckpt_protect_shared(*ckpt, name, shim_address(data), *bytes)
                              : sago_ckpt_protect_local(*ckpt, name, shim_address(data), *bytes));
}

void sagof_ckpt_unprotect(sago_ckpt *const *ckpt, const char *name, int *status) {
    shim_tell(status, sago_ckpt_unprotect(*ckpt, name));
}

/* ---- Saving and restoring ---- */

void sagof_ckpt_save(sago_ckpt *const *ckpt, const int64_t *step, int *status) {
    shim_tell(status, sago_ckpt_save(*ckpt, *step));
}

void sagof_ckpt_progress(sago_ckpt *const *ckpt, int *status) { shim_tell(status, sago_ckpt_progress(*ckpt)); }

void sagof_ckpt_wait(sago_ckpt *const *ckpt, const int64_t *step, const int *level, int *status) {
    shim_tell(status, sago_ckpt_wait(*ckpt, *step, (sago_level)*level));
}

void sagof_ckpt_restore(sago_ckpt *const *ckpt, const int64_t *step, int *status) {
    shim_tell(status, sago_ckpt_restore(*ckpt, *step));
}

void sagof_ckpt_restore_latest(sago_ckpt *const *ckpt, int64_t *step, int *status) {
    *step = -1;
    shim_tell(status, sago_ckpt_restore_latest(*ckpt, step));
}

void sagof_ckpt_due(sago_ckpt *const *ckpt, int *due, int *leave, int *status) {
    *due = *leave = 0;
    shim_tell(status, sago_ckpt_due(*ckpt, due, leave));
}

/* ---- What is there ---- */

void sagof_ckpt_latest(sago_ckpt *const *ckpt, const int *at_least, int64_t *step, int *status) {
    *step = -1;
    shim_tell(status, sago_ckpt_latest(*ckpt, (sago_level)*at_least, step));
}

void sagof_ckpt_list(sago_ckpt *const *ckpt, int64_t *count, sago_ckpt_step *steps, int *status) {
    shim_tell(status, sago_ckpt_list(*ckpt, count, steps));
}

void sagof_ckpt_inquire(sago_ckpt *const *ckpt, const int64_t *step, const int64_t *index, char *name, char *type,
                        int64_t *numbers, int64_t *global, int *status) {
    sago_ckpt_info info = SAGO_CKPT_INFO_INIT;
    shim_tell(status, *index > 0 ? sago_ckpt_inquire_index(*ckpt, *step, *index - 1, &info)
                                 : sago_ckpt_inquire(*ckpt, *step, name, &info));
    memcpy(name, info.name, sizeof info.name);
    memcpy(type, info.type, sizeof info.type);
    const int64_t found[5] = {info.kind, info.element_size, info.ndims, info.bytes, info.ranks};
    memcpy(numbers, found, sizeof found);
    memset(global, 0, sizeof info.global);
    shim_turn(info.ndims, info.global, 0, global);
}

/* ---- Looking after a directory, statistics ---- */

void sagof_ckpt_get_report(sago_ckpt *const *ckpt, int64_t *bytes_from, int64_t *damaged, int64_t *missing,
                           char *text, int64_t *steps, int *status) {
    sago_ckpt_report report = SAGO_CKPT_REPORT_INIT;
    shim_tell(status, sago_ckpt_get_report(*ckpt, &report));
    memcpy(bytes_from, report.bytes_from, sizeof report.bytes_from);
    memcpy(damaged, report.damaged, sizeof report.damaged);
    memcpy(missing, report.missing, sizeof report.missing);
    memcpy(text, report.text, sizeof report.text);
    steps[0] = report.step;
    steps[1] = report.passed_over;
}

void sagof_ckpt_verify(sago_ckpt *const *ckpt, const int64_t *step, int *status) {
    shim_tell(status, sago_ckpt_verify(*ckpt, *step));
}

void sagof_ckpt_drain(sago_ckpt *const *ckpt, const int64_t *step, int *status) {
    shim_tell(status, sago_ckpt_drain(*ckpt, *step));
}

void sagof_ckpt_repair(sago_ckpt *const *ckpt, const int64_t *step, int *status) {
    shim_tell(status, sago_ckpt_repair(*ckpt, *step));
}

void sagof_ckpt_remove(sago_ckpt *const *ckpt, const int64_t *step, int *status) {
    shim_tell(status, sago_ckpt_remove(*ckpt, *step));
}

void sagof_ckpt_remove_damaged(sago_ckpt *const *ckpt, const int64_t *step, int *status) {
    shim_tell(status, sago_ckpt_remove_damaged(*ckpt, *step));
}

void sagof_ckpt_get_stats(sago_ckpt *const *ckpt, sago_ckpt_stats *stats, int *status) {
    *stats = (sago_ckpt_stats)SAGO_CKPT_STATS_INIT;
    shim_tell(status, sago_ckpt_get_stats(*ckpt, stats));
}
