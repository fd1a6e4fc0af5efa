/* The agreement between the two libraries of the drop-in for GIO: libsago-gio.so (front/), which is preloaded or
 * linked and needs no MPI library; and the core, libsago-mpiio-core.so, which also serves MPI-IO, so that there is
 * one report.  ../entries.h tells why there are two libraries. */
#ifndef DROPIN_GIO_CALLS_H
#define DROPIN_GIO_CALLS_H

#include "gio.h"

/* A handle of any MPI library: an integer or a pointer. */
typedef long gio_handle;

typedef int gio_open_call(gio_handle comm, const char *filename, int amode, gio_handle info, GIO_File *fh);
typedef MPI_Offset gio_write_call(GIO_File fh, const void *buf, MPI_Offset file_npairs,
                                  const MPI_Offset *file_offs, const MPI_Offset *file_lens, MPI_Offset buf_npairs,
                                  const MPI_Offset *buf_offs, const MPI_Offset *buf_lens);
typedef MPI_Offset gio_read_call(GIO_File fh, void *buf, MPI_Offset file_npairs, const MPI_Offset *file_offs,
                                 const MPI_Offset *file_lens, MPI_Offset buf_npairs, const MPI_Offset *buf_offs,
                                 const MPI_Offset *buf_lens);

/* The functions that serve files: Sago's, or those of the GIO behind. */
typedef struct gio_calls {
    gio_open_call *open;
    int (*close)(GIO_File *fh);
    int (*sync)(GIO_File fh);
    int (*delete)(const char *filename);
    int (*set_size)(GIO_File fh, MPI_Offset size);
    int (*get_size)(GIO_File fh, MPI_Offset *size);
    int (*get_info)(GIO_File fh, MPI_Info *info_used);
    gio_write_call *write, *write_all;
    gio_read_call *read, *read_all;
} gio_calls;

/* The function that the core exports. */
const gio_calls *sago_gio_begin(void);

#endif
