/* A file that was opened by GIO_open(). */
#ifndef DROPIN_GIO_FILE_H
#define DROPIN_GIO_FILE_H

#include "../mpi_files.h"
#include "gio_calls.h"

struct GIOI_File {
    dropin_file counted; /* contains Sago's file, and what the report needs; not in the table of MPI's handles */
    MPI_Info info;       /* hints that GIO_get_info() returns */
};

gio_open_call gio_open;
int gio_close(GIO_File *fh);
int gio_sync(GIO_File fh);
int gio_delete(const char *filename);
int gio_set_size(GIO_File fh, MPI_Offset size);
int gio_get_size(GIO_File fh, MPI_Offset *size);
int gio_get_info(GIO_File fh, MPI_Info *info_used);
gio_write_call gio_write, gio_write_all;
gio_read_call gio_read, gio_read_all;

/* GIO's code with the same meaning. */
int gio_code(sago_status status);

/* ---- Hints ---- */

/* A number that is equal on all ranks if the hints that GIO compares are. */
long gio_hints_sum(MPI_Info info);
/* Makes the hints for Sago out of the program's; the caller frees them. */
MPI_Info gio_hints_for_sago(MPI_Info info);
/* The program's hints with GIO's defaults and the values in force for the file; MPI_INFO_NULL: there is no
 * memory. */
MPI_Info gio_hints_in_force(MPI_Info info, const char *path, sago_file *file);

#endif
