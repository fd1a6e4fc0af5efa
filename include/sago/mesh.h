/* Unstructured meshes for visualisation: points, cells and fields of all ranks as one file that ParaView and VisIt
 * read, written by the ranks together (collective calls of sago/sago.h, whose hints hold).
 *
 *     sago_mesh_begin(comm, "step7.vtu", SAGO_MESH_VTU, hints, &mesh);
 *     sago_mesh_points(mesh, npoints, MPI_DOUBLE, xyz);
 *     sago_mesh_cells(mesh, ncells, offsets, corners, kinds);
 *     sago_mesh_field(mesh, SAGO_MESH_AT_POINTS, "pressure", MPI_DOUBLE, 1, pressure);
 *     sago_mesh_end(&mesh);
 *
 * Conventions are those of sago/sago.h.  Every rank has points and cells of its own, or none; a point that several
 * ranks have is in the file once for each of them.  In the file the ranks' data follow one another. */
#ifndef SAGO_MESH_H
#define SAGO_MESH_H

#include <mpi.h>
#include <stdint.h>

#include <sago/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sago_mesh sago_mesh;

typedef enum sago_mesh_format {
    SAGO_MESH_VTK, /* legacy VTK, binary: at most 2^31 - 1 points, and as many corners of all cells together */
    SAGO_MESH_VTU  /* VTK's XML for unstructured grids, with raw appended data */
} sago_mesh_format;

typedef enum sago_mesh_place { SAGO_MESH_AT_POINTS, SAGO_MESH_AT_CELLS } sago_mesh_place;

/* Collective.  Makes the file, or empties one that is there. */
sago_status sago_mesh_begin(MPI_Comm comm, const char *path, sago_mesh_format format, MPI_Info hints,
                            sago_mesh **mesh);

/* The next three calls are local.  Arrays are not copied, and must stay unchanged until sago_mesh_end().  Points
 * and cells are given at most once each. */

/* x, y, z of each point, MPI_FLOAT or MPI_DOUBLE, the same on all ranks. */
sago_status sago_mesh_points(sago_mesh *mesh, int64_t npoints, MPI_Datatype type, const void *xyz);
/* The corners of cell c are corners[offsets[c]] to corners[offsets[c + 1] - 1], numbers of this rank's own points
 * from 0 on; there are ncells + 1 offsets, the first of which is 0.  kinds: VTK's numbers of cell types (5
 * triangle, 9 quadrilateral, 10 tetrahedron, 12 hexahedron, ...), 1 to 255. */
sago_status sago_mesh_cells(sago_mesh *mesh, int64_t ncells, const int64_t offsets[], const int64_t corners[],
                            const int32_t kinds[]);
/* `components` numbers for each of this rank's points or cells.  Fields are given by all ranks in the same order,
 * with the same name, type and components; those of points come first in the file.  Types: MPI_FLOAT, MPI_DOUBLE,
 * MPI_INT, and MPI's integers of 8 to 64 bits. */
sago_status sago_mesh_field(sago_mesh *mesh, sago_mesh_place place, const char *name, MPI_Datatype type,
                            int components, const void *data);

/* Collective.  Writes the mesh, closes the file, and sets *mesh to NULL, also on failure.  SAGO_ERR_MISMATCH:
 * ranks gave different fields or types.  SAGO_ERR_ARG: cells of some rank have corners for which that rank has no
 * points.  After these two nothing is written.  SAGO_ERR_OVERFLOW: too much for legacy VTK. */
sago_status sago_mesh_end(sago_mesh **mesh);

#ifdef __cplusplus
}
#endif

#endif
