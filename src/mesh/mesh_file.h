/* A mesh as a file: the arrays it consists of, the text between them, where each array begins, and the bytes of
 * a rank's part of an array.  Pure functions: no MPI, no I/O.
 *
 *   array  numbers of one kind, rank after rank: coordinates, cells, kinds, a field
 *   text   what stands before an array, and after the last one; headers of binary blocks are text, too */
#ifndef SAGOI_MESH_FILE_H
#define SAGOI_MESH_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* As in sago/mesh.h. */
typedef enum { SAGOI_MESH_VTK, SAGOI_MESH_VTU } sagoi_mesh_format;
typedef enum { SAGOI_MESH_AT_POINTS, SAGOI_MESH_AT_CELLS } sagoi_mesh_place;

/* A type of numbers, with the names that the formats have for it. */
typedef struct sagoi_mesh_type {
    const char *legacy, *xml;
    int64_t bytes;
} sagoi_mesh_type;

typedef struct sagoi_mesh_field {
    char name[128];
    sagoi_mesh_place place;
    const sagoi_mesh_type *type;
    int64_t components;
    const void *data;
} sagoi_mesh_field;

/* The part of one rank; or, with NULL arrays, the sum of all parts. */
typedef struct sagoi_mesh_part {
    int64_t npoints, ncells, ncorners;
    const void *xyz;
    const int64_t *offsets, *corners;
    const int32_t *kinds;
} sagoi_mesh_part;

/* What is equal on all ranks. */
typedef struct sagoi_mesh_form {
    sagoi_mesh_format format;
    const sagoi_mesh_type *coordinates;
    int64_t nfields;
    /* Data of this rank; name, place, type and components are equal on all ranks. */
    const sagoi_mesh_field *fields;
} sagoi_mesh_form;

typedef enum {
    SAGOI_MESH_POINTS,
    SAGOI_MESH_CELLS,   /* legacy: number of corners and the corners, cell after cell */
    SAGOI_MESH_CORNERS, /* XML: the corners of all cells */
    SAGOI_MESH_ENDS,    /* XML: for each cell, where its corners end */
    SAGOI_MESH_KINDS,
    SAGOI_MESH_FIELD
} sagoi_mesh_kind;

typedef struct sagoi_mesh_array {
    sagoi_mesh_kind kind;
    const sagoi_mesh_field *field; /* the field, if the kind is SAGOI_MESH_FIELD */
    int64_t element;               /* bytes of a number in the file */
    int64_t at, bytes;             /* place and bytes in the file, of all ranks */
    char *text;                    /* text before the array; owned */
    size_t text_len;
} sagoi_mesh_array;

typedef struct sagoi_mesh_file {
    int64_t narrays;
    sagoi_mesh_array *arrays; /* arrays in the order of the file; owned */
    const char *end;          /* text after the last array */
    int64_t end_at, bytes;    /* place of that text; bytes of the file */
} sagoi_mesh_file;

/* The type of so many bytes: 1, 2, 4 or 8.  NULL: mesh files have no such type. */
const sagoi_mesh_type *sagoi_mesh_type_find(bool real, bool negative, int64_t bytes);

/* Makes the description of a mesh whose parts add up to `all`.  SAGO_ERR_OVERFLOW, SAGO_ERR_MEMORY. */
sago_status sagoi_mesh_file_make(const sagoi_mesh_form *form, const sagoi_mesh_part *all, sagoi_mesh_file *file)
    SAGOI_CHECKED;
void sagoi_mesh_file_cleanup(sagoi_mesh_file *file); /* fine on a zeroed struct, and twice */

/* Numbers that a part has in an array. */
int64_t sagoi_mesh_numbers(const sagoi_mesh_array *array, const sagoi_mesh_part *part);

/* A walk through a rank's numbers of an array. */
typedef struct sagoi_mesh_walk {
    const sagoi_mesh_array *array;
    const sagoi_mesh_part *part;
    int64_t points_before, corners_before; /* points and corners that the ranks before have */
    bool swapped;                          /* the file has the other order of bytes */
    int64_t next;                          /* the number that comes next */
    int64_t cell; /* the cell that the next number belongs to, if the kind is SAGOI_MESH_CELLS */
} sagoi_mesh_walk;

/* Puts the next numbers, as many as fit, and returns their bytes. */
int64_t sagoi_mesh_walk_on(sagoi_mesh_walk *walk, char *to, int64_t room);

/* Do all cells use points that the rank has? */
sago_status sagoi_mesh_part_check(const sagoi_mesh_part *part) SAGOI_CHECKED;

/* Does the format have another order of bytes than this machine? */
bool sagoi_mesh_swapped(sagoi_mesh_format format);

#endif
