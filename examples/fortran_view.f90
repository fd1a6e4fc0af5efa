! A 2-D array, whose columns are dealt out to the ranks in turn, is written to one shared file as if it were one array in
! one memory, and read back.
!
!     mpiexec -n 4 fortran_view [FILE]
program fortran_view
    use, intrinsic :: iso_fortran_env, only: int64
    use mpi_f08
    use sago_f08
    implicit none
    integer, parameter :: rows = 96, columns = 64 ! of a rank
    double precision :: block(rows, columns), back(rows, columns)
    character(len=1024) :: path
    integer :: rank, ranks, i, j, status
    integer(int64) :: bytes
    type(MPI_Datatype) :: mine
    type(sago_file) :: file

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    call get_command_argument(1, path)
    if (path == '') path = 'fortran_view.dat'
    do j = 1, columns
        do i = 1, rows
            block(i, j) = 1d6*rank + 1d3*j + i
        end do
    end do
    back = -1

    ! Where this rank's columns lie in the whole array.
    call MPI_Type_vector(columns, rows, rows*ranks, MPI_DOUBLE_PRECISION, mine)
    call MPI_Type_commit(mine)

    call sago_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR + MPI_MODE_CREATE, MPI_INFO_NULL, file, status)
    call check(status)
    call sago_set_view(file, 8_int64*rows*rank, MPI_DOUBLE_PRECISION, mine, status)
    call check(status)
    call sago_write_at_all(file, 0_int64, block, size(block, kind=int64), MPI_DOUBLE_PRECISION, bytes, status)
    call check(status)
    call sago_read_at_all(file, 0_int64, back, size(back, kind=int64), MPI_DOUBLE_PRECISION, bytes, status)
    call check(status)
    call sago_close(file, status)
    call check(status)

    if (any(block /= back)) then
        print '(a,i0,a)', 'rank ', rank, ': WRONG: read back something else'
        call MPI_Abort(MPI_COMM_WORLD, 1)
    end if
    print '(a,i0,a)', 'rank ', rank, ': read back what it wrote'
    call MPI_Type_free(mine)
    call MPI_Finalize()

contains

    subroutine check(status)
        integer, intent(in) :: status
        if (status == SAGO_OK) return
        print '(a)', sago_error_message()
        call MPI_Abort(MPI_COMM_WORLD, 1)
    end subroutine
end program
