/* The C side of meshes for Fortran: as shim.c says. */
#include <sago/mesh.h>

#include "shim.h"

void sagof_mesh_begin(const MPI_Fint *comm, const char *path, const int *format, const MPI_Fint *info,
                      sago_mesh **mesh, int *status) {
    *mesh = NULL;
    shim_tell(status,
              sago_mesh_begin(MPI_Comm_f2c(*comm), path, (sago_mesh_format)*format, MPI_Info_f2c(*info), mesh));
}

void sagof_mesh_points(sago_mesh *const *mesh, const int64_t *npoints, const MPI_Fint *type,
                       const CFI_cdesc_t *xyz, int *status) {
    shim_tell(status, sago_mesh_points(*mesh, *npoints, MPI_Type_f2c(*type), shim_address(xyz)));
}

void sagof_mesh_cells(sago_mesh *const *mesh, const int64_t *ncells, const int64_t offsets[],
                      const int64_t corners[], const int32_t kinds[], int *status) {
    shim_tell(status, sago_mesh_cells(*mesh, *ncells, offsets, corners, kinds));
}

void sagof_mesh_field(sago_mesh *const *mesh, const int *place, const char *name, const MPI_Fint *type,
                      const int *components, const CFI_cdesc_t *data, int *status) {
    shim_tell(status, sago_mesh_field(*mesh, (sago_mesh_place)*place, name, MPI_Type_f2c(*type), *components,
                                      shim_address(data)));
}

void sagof_mesh_end(sago_mesh **mesh, int *status) { shim_tell(status, sago_mesh_end(mesh)); }
