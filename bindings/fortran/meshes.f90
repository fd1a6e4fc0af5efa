! Meshes for Fortran: the calls of <sago/mesh.h>, which says what each of them does.  Programs use the module sago (or
! sago_f08), which has all of this.  Corners are numbers of points from 0 on, as in the file.
module sago_meshes
    use, intrinsic :: iso_c_binding, only: c_char, c_int, c_int32_t, c_int64_t, c_null_char, c_null_ptr, c_ptr
    implicit none
    private

    integer, parameter, public :: &
        SAGO_MESH_VTK = 0, &
        SAGO_MESH_VTU = 1, &
        SAGO_MESH_AT_POINTS = 0, &
        SAGO_MESH_AT_CELLS = 1

    type, bind(C), public :: sago_mesh
        type(c_ptr) :: handle = c_null_ptr
    end type

    public :: sago_mesh_begin, sago_mesh_points, sago_mesh_cells, sago_mesh_field, sago_mesh_end

    interface
        subroutine sago_mesh_points(mesh, npoints, type, xyz, status) bind(C, name='sagof_mesh_points')
            import :: sago_mesh, c_int, c_int64_t
            type(sago_mesh), intent(in) :: mesh
            integer(c_int64_t), intent(in) :: npoints
            integer(c_int), intent(in) :: type
            type(*), dimension(..), intent(in), asynchronous :: xyz
            integer(c_int), intent(out), optional :: status
        end subroutine

        subroutine sago_mesh_cells(mesh, ncells, offsets, corners, kinds, status) bind(C, name='sagof_mesh_cells')
            import :: sago_mesh, c_int, c_int32_t, c_int64_t
            type(sago_mesh), intent(in) :: mesh
            integer(c_int64_t), intent(in) :: ncells
            integer(c_int64_t), intent(in), asynchronous :: offsets(*), corners(*)
            integer(c_int32_t), intent(in), asynchronous :: kinds(*)
            integer(c_int), intent(out), optional :: status
        end subroutine

        subroutine sago_mesh_end(mesh, status) bind(C, name='sagof_mesh_end')
            import :: sago_mesh, c_int
            type(sago_mesh), intent(inout) :: mesh
            integer(c_int), intent(out), optional :: status
        end subroutine

        subroutine c_begin(comm, path, format, info, mesh, status) bind(C, name='sagof_mesh_begin')
            import :: sago_mesh, c_char, c_int
            integer(c_int), intent(in) :: comm, format, info
            character(kind=c_char), intent(in) :: path(*)
            type(sago_mesh), intent(out) :: mesh
            integer(c_int), intent(out), optional :: status
        end subroutine

        subroutine c_field(mesh, place, name, type, components, data, status) bind(C, name='sagof_mesh_field')
            import :: sago_mesh, c_char, c_int
            type(sago_mesh), intent(in) :: mesh
            integer(c_int), intent(in) :: place, type, components
            character(kind=c_char), intent(in) :: name(*)
            type(*), dimension(..), intent(in), asynchronous :: data
            integer(c_int), intent(out), optional :: status
        end subroutine
    end interface

contains

    subroutine sago_mesh_begin(comm, path, format, info, mesh, status)
        integer, intent(in) :: comm, format, info
        character(len=*), intent(in) :: path
        type(sago_mesh), intent(out) :: mesh
        integer, intent(out), optional :: status
        call c_begin(comm, trim(path)//c_null_char, format, info, mesh, status)
    end subroutine

    subroutine sago_mesh_field(mesh, place, name, type, components, data, status)
        type(sago_mesh), intent(in) :: mesh
        integer, intent(in) :: place, type, components
        character(len=*), intent(in) :: name
        type(*), dimension(..), intent(in), asynchronous :: data
        integer, intent(out), optional :: status
        call c_field(mesh, place, trim(name)//c_null_char, type, components, data, status)
    end subroutine
end module
