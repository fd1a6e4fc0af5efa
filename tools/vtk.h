/* The text of visualisation files around the data: legacy VTK, VTK's ImageData (.vti), XDMF.  ckpt_export.c writes
 * it to files. */
#ifndef TOOLS_VTK_H
#define TOOLS_VTK_H

#include <sago/ckpt.h>
#include <stdio.h>

/* A type of elements, with the names that the formats have for it. */
typedef struct vtk_type {
    const char *name;   /* Sago's name: "float64" */
    const char *legacy; /* "double" */
    const char *vti;    /* "Float64" */
    const char *xdmf;   /* "Float" */
    int64_t size;       /* bytes of a number */
    MPI_Datatype mpi;   /* type of an element */
    int components;     /* numbers of an element: 2 for complex types */
} vtk_type;

/* NULL: the formats have no such type. */
const vtk_type *vtk_type_find(const char *name);

/* nx, ny, nz of an array of at most 3 dimensions, the last index fastest; missing dimensions are 1. */
void vtk_dims(const sago_ckpt_info *info, int64_t dims[3]);

/* Before all arrays; before each array. */
void vtk_legacy_begin(FILE *out, int64_t step, const int64_t dims[3]);
void vtk_legacy_array(FILE *out, const char *name, const vtk_type *type);

/* The whole description; the data of the arrays follows, each behind its length (8 bytes), then vtk_vti_end. */
void vtk_vti_begin(FILE *out, const int64_t dims[3]);
void vtk_vti_array(FILE *out, const char *name, const vtk_type *type, int64_t offset);
void vtk_vti_data(FILE *out);
extern const char vtk_vti_end[];

/* Describes raw files; `ndims` numbers of `shape`, the slowest dimension first. */
void vtk_xdmf_begin(FILE *out, int64_t step);
void vtk_xdmf_grid(FILE *out, const sago_ckpt_info *info);
void vtk_xdmf_array(FILE *out, const sago_ckpt_info *info, const vtk_type *type, const char *file);
void vtk_xdmf_grid_end(FILE *out);
void vtk_xdmf_end(FILE *out);

#endif
