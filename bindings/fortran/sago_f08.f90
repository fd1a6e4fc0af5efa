! The module sago, and its calls that take MPI handles once more with the types of the module mpi_f08.  Those are one
! integer in C's layout, so the functions behind are the same.
module sago_f08
    use, intrinsic :: iso_c_binding, only: c_int, c_int64_t
    use mpi_f08, only: MPI_Comm, MPI_Datatype, MPI_Info
    use sago
    implicit none
    public

    private :: c_int, c_int64_t, MPI_Comm, MPI_Datatype, MPI_Info, open_file, delete_file, variable, variable_in, &
        open_directory, protect_block, protect_inside, split_storage, &
        write_block, write_block_inside, read_block, read_block_inside, iwrite_block, iwrite_block_inside, iread_block, &
        iread_block_inside

    interface sago_open
        module procedure open_file
    end interface

    interface sago_delete
        module procedure delete_file
    end interface

    interface sago_get_hints
        subroutine f08_get_hints(file, info, status) bind(C, name='sagof_get_hints')
            import :: sago_file, MPI_Info, c_int
            type(sago_file), intent(in) :: file
            type(MPI_Info), intent(in) :: info
            integer(c_int), intent(out), optional :: status
        end subroutine
    end interface

    interface sago_set_view
        subroutine f08_set_view(file, disp, etype, filetype, status) bind(C, name='sagof_set_view')
            import :: sago_file, c_int64_t, MPI_Datatype, c_int
            type(sago_file), intent(in) :: file
            integer(c_int64_t), intent(in) :: disp
            type(MPI_Datatype), intent(in) :: etype, filetype
            integer(c_int), intent(out), optional :: status
        end subroutine
    end interface

    interface sago_write_at_all
        subroutine f08_write_at_all(file, offset, buf, count, type, bytes, status) bind(C, name='sagof_write_at_all')
            import :: sago_file, c_int64_t, MPI_Datatype, c_int
            type(sago_file), intent(in) :: file
            integer(c_int64_t), intent(in) :: offset, count
            type(*), dimension(..), intent(in) :: buf
            type(MPI_Datatype), intent(in) :: type
            integer(c_int64_t), intent(out), optional :: bytes
            integer(c_int), intent(out), optional :: status
        end subroutine
    end interface

    interface sago_read_at_all
        subroutine f08_read_at_all(file, offset, buf, count, type, bytes, status) bind(C, name='sagof_read_at_all')
            import :: sago_file, c_int64_t, MPI_Datatype, c_int
            type(sago_file), intent(in) :: file
            integer(c_int64_t), intent(in) :: offset, count
            type(*), dimension(..), intent(inout) :: buf
            type(MPI_Datatype), intent(in) :: type
            integer(c_int64_t), intent(out), optional :: bytes
            integer(c_int), intent(out), optional :: status
        end subroutine
    end interface

    interface sago_write_at
        subroutine f08_write_at(file, offset, buf, count, type, bytes, status) bind(C, name='sagof_write_at')
            import :: sago_file, c_int64_t, MPI_Datatype, c_int
            type(sago_file), intent(in) :: file
            integer(c_int64_t), intent(in) :: offset, count
            type(*), dimension(..), intent(in) :: buf
            type(MPI_Datatype), intent(in) :: type
            integer(c_int64_t), intent(out), optional :: bytes
            integer(c_int), intent(out), optional :: status
        end subroutine
    end interface

    interface sago_read_at
        subroutine f08_read_at(file, offset, buf, count, type, bytes, status) bind(C, name='sagof_read_at')
            import :: sago_file, c_int64_t, MPI_Datatype, c_int
            type(sago_file), intent(in) :: file
            integer(c_int64_t), intent(in) :: offset, count
            type(*), dimension(..), intent(inout) :: buf
            type(MPI_Datatype), intent(in) :: type
            integer(c_int64_t), intent(out), optional :: bytes
            integer(c_int), intent(out), optional :: status
        end subroutine
    end interface

    interface sago_iwrite_at_all
        subroutine f08_iwrite_at_all(file, offset, buf, count, type, request, status) bind(C, name='sagof_iwrite_at_all')
            import :: sago_file, sago_request, c_int64_t, MPI_Datatype, c_int
            type(sago_file), intent(in) :: file
            integer(c_int64_t), intent(in) :: offset, count
            type(*), dimension(..), intent(in), asynchronous :: buf
            type(MPI_Datatype), intent(in) :: type
            type(sago_request), intent(out) :: request
            integer(c_int), intent(out), optional :: status
        end subroutine
    end interface

    interface sago_iread_at_all
        subroutine f08_iread_at_all(file, offset, buf, count, type, request, status) bind(C, name='sagof_iread_at_all')
            import :: sago_file, sago_request, c_int64_t, MPI_Datatype, c_int
            type(sago_file), intent(in) :: file
            integer(c_int64_t), intent(in) :: offset, count
            type(*), dimension(..), intent(inout), asynchronous :: buf
            type(MPI_Datatype), intent(in) :: type
            type(sago_request), intent(out) :: request
            integer(c_int), intent(out), optional :: status
        end subroutine
    end interface

    interface sago_comm_split_storage
        module procedure split_storage
    end interface

    interface sago_storage_shared
        subroutine f08_storage_shared(neighbourhood, one_rank, other_rank, shared, status) &
            bind(C, name='sagof_storage_shared')
            import :: MPI_Comm, c_int
            type(MPI_Comm), intent(in) :: neighbourhood
            integer(c_int), intent(in) :: one_rank, other_rank
            integer(c_int), intent(out) :: shared
            integer(c_int), intent(out), optional :: status
        end subroutine
    end interface

    interface sago_ckpt_open
        module procedure open_directory
    end interface

    interface sago_ckpt_protect
        module procedure protect_block, protect_inside
    end interface

    ! sago_var(offset, count, type [, filetype]), with handles of mpi_f08
    interface sago_var
        module procedure variable, variable_in
    end interface

    interface sago_write_block_all
        module procedure write_block, write_block_inside
    end interface

    interface sago_read_block_all
        module procedure read_block, read_block_inside
    end interface

    interface sago_iwrite_block_all
        module procedure iwrite_block, iwrite_block_inside
    end interface

    interface sago_iread_block_all
        module procedure iread_block, iread_block_inside
    end interface

contains

    subroutine open_file(comm, path, amode, info, file, status)
        type(MPI_Comm), intent(in) :: comm
        character(len=*), intent(in) :: path
        integer, intent(in) :: amode
        type(MPI_Info), intent(in) :: info
        type(sago_file), intent(out) :: file
        integer, intent(out), optional :: status
        call sago_open(comm%MPI_VAL, path, amode, info%MPI_VAL, file, status)
    end subroutine

    subroutine delete_file(path, info, status)
        character(len=*), intent(in) :: path
        type(MPI_Info), intent(in) :: info
        integer, intent(out), optional :: status
        call sago_delete(path, info%MPI_VAL, status)
    end subroutine

    subroutine split_storage(comm, dir, mode, key, newcomm, status)
        type(MPI_Comm), intent(in) :: comm
        character(len=*), intent(in) :: dir
        integer, intent(in) :: mode, key
        type(MPI_Comm), intent(out) :: newcomm
        integer, intent(out), optional :: status
        call sago_comm_split_storage(comm%MPI_VAL, dir, mode, key, newcomm%MPI_VAL, status)
    end subroutine

    subroutine open_directory(comm, dir, info, ckpt, status)
        type(MPI_Comm), intent(in) :: comm
        character(len=*), intent(in) :: dir
        type(MPI_Info), intent(in) :: info
        type(sago_ckpt), intent(out) :: ckpt
        integer, intent(out), optional :: status
        call sago_ckpt_open(comm%MPI_VAL, dir, info%MPI_VAL, ckpt, status)
    end subroutine

    subroutine protect_block(ckpt, name, type, global, start, count, data, status)
        type(sago_ckpt), intent(in) :: ckpt
        character(len=*), intent(in) :: name
        type(MPI_Datatype), intent(in) :: type
        integer(c_int64_t), intent(in) :: global(:), start(:), count(:)
        type(*), dimension(..), intent(in), asynchronous :: data
        integer, intent(out), optional :: status
        call sago_ckpt_protect(ckpt, name, type%MPI_VAL, global, start, count, data, status)
    end subroutine

    subroutine protect_inside(ckpt, name, type, global, start, count, data, mem_start, status)
        type(sago_ckpt), intent(in) :: ckpt
        character(len=*), intent(in) :: name
        type(MPI_Datatype), intent(in) :: type
        integer(c_int64_t), intent(in) :: global(:), start(:), count(:), mem_start(:)
        type(*), dimension(..), intent(in), asynchronous :: data
        integer, intent(out), optional :: status
        call sago_ckpt_protect(ckpt, name, type%MPI_VAL, global, start, count, data, mem_start, status)
    end subroutine

    type(sago_var) function variable(offset, count, type) result(var)
        integer(c_int64_t), intent(in) :: offset, count
        type(MPI_Datatype), intent(in) :: type
        var%offset = offset
        var%count = count
        var%type = type%MPI_VAL
    end function

    type(sago_var) function variable_in(offset, count, type, filetype) result(var)
        integer(c_int64_t), intent(in) :: offset, count
        type(MPI_Datatype), intent(in) :: type, filetype
        var = variable(offset, count, type)
        var%filetype = filetype%MPI_VAL
    end function

    subroutine write_block(file, offset, type, global, start, count, buf, status)
        type(sago_file), intent(in) :: file
        integer(c_int64_t), intent(in) :: offset, global(:), start(:), count(:)
        type(MPI_Datatype), intent(in) :: type
        type(*), dimension(..), intent(in) :: buf
        integer(c_int), intent(out), optional :: status
        call sago_write_block_all(file, offset, type%MPI_VAL, global, start, count, buf, status)
    end subroutine

    subroutine write_block_inside(file, offset, type, global, start, count, buf, mem_start, status)
        type(sago_file), intent(in) :: file
        integer(c_int64_t), intent(in) :: offset, global(:), start(:), count(:), mem_start(:)
        type(MPI_Datatype), intent(in) :: type
        type(*), dimension(..), intent(in) :: buf
        integer(c_int), intent(out), optional :: status
        call sago_write_block_all(file, offset, type%MPI_VAL, global, start, count, buf, mem_start, status)
    end subroutine

    subroutine read_block(file, offset, type, global, start, count, buf, bytes, status)
        type(sago_file), intent(in) :: file
        integer(c_int64_t), intent(in) :: offset, global(:), start(:), count(:)
        type(MPI_Datatype), intent(in) :: type
        type(*), dimension(..), intent(inout) :: buf
        integer(c_int64_t), intent(out), optional :: bytes
        integer(c_int), intent(out), optional :: status
        call sago_read_block_all(file, offset, type%MPI_VAL, global, start, count, buf, bytes, status)
    end subroutine

    subroutine read_block_inside(file, offset, type, global, start, count, buf, mem_start, bytes, status)
        type(sago_file), intent(in) :: file
        integer(c_int64_t), intent(in) :: offset, global(:), start(:), count(:), mem_start(:)
        type(MPI_Datatype), intent(in) :: type
        type(*), dimension(..), intent(inout) :: buf
        integer(c_int64_t), intent(out), optional :: bytes
        integer(c_int), intent(out), optional :: status
        call sago_read_block_all(file, offset, type%MPI_VAL, global, start, count, buf, mem_start, bytes, status)
    end subroutine

    subroutine iwrite_block(file, offset, type, global, start, count, buf, request, status)
        type(sago_file), intent(in) :: file
        integer(c_int64_t), intent(in) :: offset, global(:), start(:), count(:)
        type(MPI_Datatype), intent(in) :: type
        type(*), dimension(..), intent(in), asynchronous :: buf
        type(sago_request), intent(out) :: request
        integer(c_int), intent(out), optional :: status
        call sago_iwrite_block_all(file, offset, type%MPI_VAL, global, start, count, buf, request, status)
    end subroutine

    subroutine iwrite_block_inside(file, offset, type, global, start, count, buf, mem_start, request, status)
        type(sago_file), intent(in) :: file
        integer(c_int64_t), intent(in) :: offset, global(:), start(:), count(:), mem_start(:)
        type(MPI_Datatype), intent(in) :: type
        type(*), dimension(..), intent(in), asynchronous :: buf
        type(sago_request), intent(out) :: request
        integer(c_int), intent(out), optional :: status
        call sago_iwrite_block_all(file, offset, type%MPI_VAL, global, start, count, buf, mem_start, request, status)
    end subroutine

    subroutine iread_block(file, offset, type, global, start, count, buf, request, status)
        type(sago_file), intent(in) :: file
        integer(c_int64_t), intent(in) :: offset, global(:), start(:), count(:)
        type(MPI_Datatype), intent(in) :: type
        type(*), dimension(..), intent(inout), asynchronous :: buf
        type(sago_request), intent(out) :: request
        integer(c_int), intent(out), optional :: status
        call sago_iread_block_all(file, offset, type%MPI_VAL, global, start, count, buf, request, status)
    end subroutine

    subroutine iread_block_inside(file, offset, type, global, start, count, buf, mem_start, request, status)
        type(sago_file), intent(in) :: file
        integer(c_int64_t), intent(in) :: offset, global(:), start(:), count(:), mem_start(:)
        type(MPI_Datatype), intent(in) :: type
        type(*), dimension(..), intent(inout), asynchronous :: buf
        type(sago_request), intent(out) :: request
        integer(c_int), intent(out), optional :: status
        call sago_iread_block_all(file, offset, type%MPI_VAL, global, start, count, buf, mem_start, request, status)
    end subroutine
end module
