/* The C side of the Fortran module: everything comes by reference, MPI handles are Fortran's, buffers come as
 * descriptors, and the status goes into the last argument.  sago.f90 declares these functions. */
#include <stdlib.h>

#include <sago/sago.h>

#include "shim.h"

/* ---- Files ---- */

void sagof_open(const MPI_Fint *comm, const char *path, const int *amode, const MPI_Fint *info, sago_file **file,
                int *status) {
    *file = NULL;
    shim_tell(status, sago_open(MPI_Comm_f2c(*comm), path, *amode, MPI_Info_f2c(*info), file));
}

void sagof_close(sago_file **file, int *status) { shim_tell(status, sago_close(file)); }

void sagof_delete(const char *path, const MPI_Fint *info, int *status) {
    shim_tell(status, sago_delete(path, MPI_Info_f2c(*info)));
}

void sagof_get_hints(sago_file *const *file, const MPI_Fint *info, int *status) {
    shim_tell(status, sago_get_hints(*file, MPI_Info_f2c(*info)));
}

void sagof_sync(sago_file *const *file, int *status) { shim_tell(status, sago_sync(*file)); }
void sagof_sync_local(sago_file *const *file, int *status) { shim_tell(status, sago_sync_local(*file)); }
void sagof_sync_own(sago_file *const *file, int *status) { shim_tell(status, sago_sync_own(*file)); }

void sagof_flush_all(sago_file *const *file, int *status) { shim_tell(status, sago_flush_all(*file)); }

void sagof_flush_own(sago_file *const *file, int *status) { shim_tell(status, sago_flush_own(*file)); }

void sagof_get_size(sago_file *const *file, int64_t *size, int *status) {
    MPI_Offset bytes = 0;
    shim_tell(status, sago_get_size(*file, &bytes));
    *size = bytes;
}

void sagof_set_size(sago_file *const *file, const int64_t *size, int *status) {
    shim_tell(status, sago_set_size(*file, *size));
}

void sagof_preallocate(sago_file *const *file, const int64_t *size, int *status) {
    shim_tell(status, sago_preallocate(*file, *size));
}

/* ---- Views and access by views ---- */

void sagof_set_view(sago_file *const *file, const int64_t *disp, const MPI_Fint *etype, const MPI_Fint *filetype,
                    int *status) {
    shim_tell(status, sago_set_view(*file, *disp, MPI_Type_f2c(*etype), MPI_Type_f2c(*filetype)));
}

void sagof_write_at_all(sago_file *const *file, const int64_t *offset, const CFI_cdesc_t *buf,
                        const int64_t *count, const MPI_Fint *type, int64_t *bytes, int *status) {
    MPI_Count moved = 0;
    shim_tell(status, sago_write_at_all(*file, *offset, shim_address(buf), *count, MPI_Type_f2c(*type), &moved));
    shim_tell_bytes(bytes, moved);
}

void sagof_read_at_all(sago_file *const *file, const int64_t *offset, const CFI_cdesc_t *buf, const int64_t *count,
                       const MPI_Fint *type, int64_t *bytes, int *status) {
    MPI_Count moved = 0;
    shim_tell(status, sago_read_at_all(*file, *offset, shim_address(buf), *count, MPI_Type_f2c(*type), &moved));
    shim_tell_bytes(bytes, moved);
}

void sagof_write_at(sago_file *const *file, const int64_t *offset, const CFI_cdesc_t *buf, const int64_t *count,
                    const MPI_Fint *type, int64_t *bytes, int *status) {
    MPI_Count moved = 0;
    shim_tell(status, sago_write_at(*file, *offset, shim_address(buf), *count, MPI_Type_f2c(*type), &moved));
    shim_tell_bytes(bytes, moved);
}

void sagof_read_at(sago_file *const *file, const int64_t *offset, const CFI_cdesc_t *buf, const int64_t *count,
                   const MPI_Fint *type, int64_t *bytes, int *status) {
    MPI_Count moved = 0;
    shim_tell(status, sago_read_at(*file, *offset, shim_address(buf), *count, MPI_Type_f2c(*type), &moved));
    shim_tell_bytes(bytes, moved);
}

/* ---- Access by extents ---- */

void sagof_write_extents_all(sago_file *const *file, const int64_t *n, const sago_extent *extents,
                             const CFI_cdesc_t *buf, int *status) {
    shim_tell(status, sago_write_extents_all(*file, *n, extents, shim_address(buf)));
}

void sagof_read_extents_all(sago_file *const *file, const int64_t *n, const sago_extent *extents,
                            const CFI_cdesc_t *buf, int64_t *bytes, int *status) {
    MPI_Count moved = 0;
    shim_tell(status, sago_read_extents_all(*file, *n, extents, shim_address(buf), &moved));
    shim_tell_bytes(bytes, moved);
}

void sagof_write_pieces_all(sago_file *const *file, const int64_t *n, const sago_extent *extents,
                            const CFI_cdesc_t *buf, const int64_t *npieces, const sago_extent *pieces,
                            int *status) {
    shim_tell(status, sago_write_pieces_all(*file, *n, extents, shim_address(buf), *npieces, pieces));
}

void sagof_read_pieces_all(sago_file *const *file, const int64_t *n, const sago_extent *extents,
                           const CFI_cdesc_t *buf, const int64_t *npieces, const sago_extent *pieces,
                           int64_t *bytes, int *status) {
    MPI_Count moved = 0;
    shim_tell(status, sago_read_pieces_all(*file, *n, extents, shim_address(buf), *npieces, pieces, &moved));
    shim_tell_bytes(bytes, moved);
}

void sagof_write_pieces(sago_file *const *file, const int64_t *n, const sago_extent *extents,
                        const CFI_cdesc_t *buf, const int64_t *npieces, const sago_extent *pieces, int *status) {
    shim_tell(status, sago_write_pieces(*file, *n, extents, shim_address(buf), *npieces, pieces));
}

void sagof_read_pieces(sago_file *const *file, const int64_t *n, const sago_extent *extents,
                       const CFI_cdesc_t *buf, const int64_t *npieces, const sago_extent *pieces, int64_t *bytes,
                       int *status) {
    MPI_Count moved = 0;
    shim_tell(status, sago_read_pieces(*file, *n, extents, shim_address(buf), *npieces, pieces, &moved));
    shim_tell_bytes(bytes, moved);
}

/* ---- Nonblocking calls ---- */

void sagof_iwrite_at_all(sago_file *const *file, const int64_t *offset, const CFI_cdesc_t *buf,
                         const int64_t *count, const MPI_Fint *type, sago_request **request, int *status) {
    *request = NULL;
    shim_tell(status, sago_iwrite_at_all(*file, *offset, shim_address(buf), *count, MPI_Type_f2c(*type), request));
}

void sagof_iread_at_all(sago_file *const *file, const int64_t *offset, const CFI_cdesc_t *buf,
                        const int64_t *count, const MPI_Fint *type, sago_request **request, int *status) {
    *request = NULL;
    shim_tell(status, sago_iread_at_all(*file, *offset, shim_address(buf), *count, MPI_Type_f2c(*type), request));
}

void sagof_iwrite_extents_all(sago_file *const *file, const int64_t *n, const sago_extent *extents,
                              const CFI_cdesc_t *buf, sago_request **request, int *status) {
    *request = NULL;
    shim_tell(status, sago_iwrite_extents_all(*file, *n, extents, shim_address(buf), request));
}

void sagof_iread_extents_all(sago_file *const *file, const int64_t *n, const sago_extent *extents,
                             const CFI_cdesc_t *buf, sago_request **request, int *status) {
    *request = NULL;
    shim_tell(status, sago_iread_extents_all(*file, *n, extents, shim_address(buf), request));
}

void sagof_iwrite_pieces_all(sago_file *const *file, const int64_t *n, const sago_extent *extents,
                             const CFI_cdesc_t *buf, const int64_t *npieces, const sago_extent *pieces,
                             sago_request **request, int *status) {
    *request = NULL;
    shim_tell(status, sago_iwrite_pieces_all(*file, *n, extents, shim_address(buf), *npieces, pieces, request));
}

void sagof_iread_pieces_all(sago_file *const *file, const int64_t *n, const sago_extent *extents,
                            const CFI_cdesc_t *buf, const int64_t *npieces, const sago_extent *pieces,
                            sago_request **request, int *status) {
    *request = NULL;
    shim_tell(status, sago_iread_pieces_all(*file, *n, extents, shim_address(buf), *npieces, pieces, request));
}

void sagof_wait(sago_request **request, int64_t *bytes, int *status) {
    MPI_Count moved = 0;
    shim_tell(status, sago_wait(request, &moved));
    shim_tell_bytes(bytes, moved);
}

void sagof_test(sago_request **request, int *done, int64_t *bytes, int *status) {
    MPI_Count moved = 0;
    *done = 0;
    shim_tell(status, sago_test(request, done, &moved));
    shim_tell_bytes(bytes, moved);
}

/* ---- Declared I/O ---- */

/* A variable as Fortran knows it. */
typedef struct fortran_var {
    int64_t offset, count;
    MPI_Fint type, filetype;
} fortran_var;

void sagof_declare(sago_file *const *file, const int64_t *nvars, const fortran_var *vars, sago_series **series,
                   int *status) {
    /* Without memory the declaration fails where all ranks notice it: variables that are not there. */
    sago_var *converted = *nvars > 0 ? calloc((size_t)*nvars, sizeof *converted) : NULL;
    for (int64_t i = 0; converted && i < *nvars; i++) {
        converted[i] = (sago_var)SAGO_VAR_INIT;
        converted[i].offset = vars[i].offset;
        converted[i].count = vars[i].count;
        converted[i].type = MPI_Type_f2c(vars[i].type);
        converted[i].filetype = MPI_Type_f2c(vars[i].filetype);
    }
    *series = NULL;
    shim_tell(status, sago_declare(*file, *nvars, converted, series));
    free(converted);
}

void sagof_series_write(sago_series *const *series, const int64_t *var, const CFI_cdesc_t *buf, int *status) {
    shim_tell(status, sago_series_write(*series, *var - 1, shim_address(buf)));
}

void sagof_series_read(sago_series *const *series, const int64_t *var, const CFI_cdesc_t *buf, int *status) {
    shim_tell(status, sago_series_read(*series, *var - 1, shim_address(buf)));
}

void sagof_series_complete(sago_series *const *series, int *status) {
    shim_tell(status, sago_series_complete(*series));
}

void sagof_series_bytes(sago_series *const *series, int64_t *bytes, int *status) {
    MPI_Count moved = 0;
    shim_tell(status, sago_series_bytes(*series, &moved));
    shim_tell_bytes(bytes, moved);
}

void sagof_series_next(sago_series *const *series, const int64_t *disp, int *status) {
    shim_tell(status, sago_series_next(*series, *disp));
}

void sagof_series_free(sago_series **series, int *status) { shim_tell(status, sago_series_free(series)); }

/* ---- Storage neighbourhoods ---- */

void sagof_comm_split_storage(const MPI_Fint *comm, const char *dir, const int *mode, const int *key,
                              MPI_Fint *newcomm, int *status) {
    MPI_Comm made = MPI_COMM_NULL;
    shim_tell(status, sago_comm_split_storage(MPI_Comm_f2c(*comm), dir, (sago_storage_mode)*mode, *key, &made));
    *newcomm = MPI_Comm_c2f(made);
}

void sagof_exchange_open(const MPI_Fint *comm, const char *global, const char *local, sago_exchange **exchange,
                         int *status) {
    *exchange = NULL;
    shim_tell(status, sago_exchange_open(MPI_Comm_f2c(*comm), global, *local ? local : NULL, exchange));
}

void sagof_exchange_put(sago_exchange *const *exchange, const int *consumer, const char *name,
                        const CFI_cdesc_t *data, const int64_t *bytes, int *status) {
    shim_tell(status, sago_exchange_put(*exchange, *consumer, name, shim_address(data), *bytes));
}

void sagof_exchange_get(sago_exchange *const *exchange, const int *producer, const char *name,
                        const CFI_cdesc_t *data, const int64_t *capacity, const double *seconds, int64_t *bytes,
                        int *status) {
    int64_t got = 0;
    shim_tell(status,
              sago_exchange_get(*exchange, *producer, name, shim_address(data), *capacity, *seconds, &got));
    shim_tell_bytes(bytes, got);
}

void sagof_exchange_is_local(sago_exchange *const *exchange, const int *one_rank, const int *other_rank,
                             int *local, int *status) {
    shim_tell(status, sago_exchange_is_local(*exchange, *one_rank, *other_rank, local));
}

void sagof_exchange_close(sago_exchange **exchange, int *status) {
    shim_tell(status, sago_exchange_close(exchange));
}

void sagof_storage_shared(const MPI_Fint *neighbourhood, const int *one_rank, const int *other_rank, int *shared,
                          int *status) {
    *shared = 0;
    shim_tell(status, sago_storage_shared(MPI_Comm_f2c(*neighbourhood), *one_rank, *other_rank, shared));
}
