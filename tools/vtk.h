/* What files for visualisation programs look like around the data: legacy VTK, VTK's ImageData (.vti), XDMF.  Text
 * only; who writes it where is another's business (ckpt_export.c). */
#ifndef TOOLS_VTK_H
#define TOOLS_VTK_H

#include <sago/ckpt.h>
#include <stdbool.h>
#include <stdio.h>

/* An element type as the formats call it. */
typedef struct vtk_type {
    const char *name;   /* Sago's: "float64" */
    const char *legacy; /* "double" */
    const char *vti;    /* "Float64" */
    const char *xdmf;   /* "Float" */
    int64_t size;       /* of a number, bytes */
    MPI_Datatype mpi;   /* of an element */
    int components;     /* numbers in an element: 2 for complex types */
} vtk_type;

/* NULL: it has no such type. */
const vtk_type *vtk_type_find(const char *name);

/* nx, ny, nz of an array of at most 3 dimensions, the last index fastest; 1 where it has no more. */
void vtk_dims(const sago_ckpt_info *info, int64_t dims[3]);

/* Before all arrays; before each. */
void vtk_legacy_begin(FILE *out, int64_t step, const int64_t dims[3]);
void vtk_legacy_array(FILE *out, const char *name, const vtk_type *type);

/* The whole description; the data of the arrays follow, each behind its length (8 bytes), then vtk_vti_end. */
void vtk_vti_begin(FILE *out, const int64_t dims[3]);
void vtk_vti_array(FILE *out, const char *name, const vtk_type *type, int64_t offset);
void vtk_vti_data(FILE *out);
extern const char vtk_vti_end[];

/* A description of raw files; `ndims` numbers of `shape`, slowest first. */
void vtk_xdmf_begin(FILE *out, int64_t step);
void vtk_xdmf_grid(FILE *out, const sago_ckpt_info *info);
void vtk_xdmf_array(FILE *out, const sago_ckpt_info *info, const vtk_type *type, const char *file);
void vtk_xdmf_grid_end(FILE *out);
void vtk_xdmf_end(FILE *out);

#endif
