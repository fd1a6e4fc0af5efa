/* A mesh as a file: which arrays it consists of, what text stands between them, where each begins, and the bytes
 * of a rank's part of an array.  Pure: no MPI, no I/O.
 *
 *   array    numbers of one kind, rank after rank: coordinates, cells, kinds, a field
 *   text     what stands before an array, and after the last one; headers of binary blocks are text, too */
#ifndef SAGOI_MESH_FILE_H
#define SAGOI_MESH_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* As in sago/mesh.h. */
typedef enum { SAGOI_MESH_VTK, SAGOI_MESH_VTU } sagoi_mesh_format;
typedef enum { SAGOI_MESH_AT_POINTS, SAGOI_MESH_AT_CELLS } sagoi_mesh_place;

/* A type of numbers, as the formats call it. */
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

/* One rank's part, or with NULL arrays the sum of all. */
typedef struct sagoi_mesh_part {
    int64_t npoints, ncells, ncorners;
    const void *xyz;
    const int64_t *offsets, *corners;
    const int32_t *kinds;
} sagoi_mesh_part;

/* What is the same on all ranks. */
typedef struct sagoi_mesh_form {
    sagoi_mesh_format format;
    const sagoi_mesh_type *coordinates;
    int64_t nfields;
    const sagoi_mesh_field *fields; /* of this rank; name, place, type and components are the same on all */
} sagoi_mesh_form;

typedef enum {
    SAGOI_MESH_POINTS,
    SAGOI_MESH_CELLS,   /* legacy: how many corners, then these, cell after cell */
    SAGOI_MESH_CORNERS, /* XML: all of them */
    SAGOI_MESH_ENDS,    /* XML: where each cell's corners end */
    SAGOI_MESH_KINDS,
    SAGOI_MESH_FIELD
} sagoi_mesh_kind;

typedef struct sagoi_mesh_array {
    sagoi_mesh_kind kind;
    const sagoi_mesh_field *field; /* of SAGOI_MESH_FIELD */
    int64_t element;               /* bytes of a number in the file */
    int64_t at, bytes;             /* in the file, of all ranks */
    char *text;                    /* before it; owned */
    size_t text_len;
} sagoi_mesh_array;

typedef struct sagoi_mesh_file {
    int64_t narrays;
    sagoi_mesh_array *arrays; /* in the order of the file; owned */
    const char *end;          /* text after the last */
    int64_t end_at, bytes;    /* where it is; of the file */
} sagoi_mesh_file;

/* NULL: no type of mesh files.  `name`: of numbers of 1, 2, 4 or 8 bytes. */
const sagoi_mesh_type *sagoi_mesh_type_find(bool real, bool negative, int64_t bytes);

/* Of a mesh of so much in all.  SAGO_ERR_OVERFLOW, SAGO_ERR_MEMORY. */
sago_status sagoi_mesh_file_make(const sagoi_mesh_form *form, const sagoi_mesh_part *all, sagoi_mesh_file *file)
    SAGOI_CHECKED;
void sagoi_mesh_file_cleanup(sagoi_mesh_file *file); /* fine on a zeroed struct, and twice */

/* Numbers that a part has in an array. */
int64_t sagoi_mesh_numbers(const sagoi_mesh_array *array, const sagoi_mesh_part *part);

/* Walks through a rank's numbers of an array. */
typedef struct sagoi_mesh_walk {
    const sagoi_mesh_array *array;
    const sagoi_mesh_part *part;
    int64_t points_before, corners_before; /* of the ranks before */
    bool swapped;                          /* the file has the other order of bytes */
    int64_t next;                          /* number to come */
    int64_t cell;                          /* of it, in SAGOI_MESH_CELLS */
} sagoi_mesh_walk;

/* Puts the next numbers, at most as many as fit, and returns their bytes. */
int64_t sagoi_mesh_walk_on(sagoi_mesh_walk *walk, char *to, int64_t room);

/* Are the cells made of the rank's points? */
sago_status sagoi_mesh_part_check(const sagoi_mesh_part *part) SAGOI_CHECKED;

/* Does the format have the other order of bytes than this machine? */
bool sagoi_mesh_swapped(sagoi_mesh_format format);

#endif
