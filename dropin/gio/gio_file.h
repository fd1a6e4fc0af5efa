/* A file that was opened by GIO_open(). */
#ifndef DROPIN_GIO_FILE_H
#define DROPIN_GIO_FILE_H

#include "../mpi_files.h"
#include "gio_calls.h"

struct GIOI_File {
    dropin_file
        counted;   /* Sago's file is in it, and what the report asks for; not in the table of MPI's handles */
    MPI_Info info; /* for gio_get_info() */
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

/* GIO's code that says the same. */
int gio_code(sago_status status);

/* ---- Hints ---- */

/* A number that ranks have in common if the hints that GIO compares are the same on all of them. */
long gio_hints_sum(MPI_Info info);
/* The program's hints for Sago; to be freed. */
MPI_Info gio_hints_for_sago(MPI_Info info);
/* The program's hints, with GIO's defaults, and what is in force for the file; MPI_INFO_NULL: no memory. */
MPI_Info gio_hints_in_force(MPI_Info info, const char *path, sago_file *file);

#endif
