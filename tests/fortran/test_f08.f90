! RUN: n=2
! The module sago_f08: calls that take MPI handles, with those of the module mpi_f08.
program test_f08
    use, intrinsic :: iso_fortran_env, only: int64
    use mpi_f08
    use sago_f08
    implicit none
    integer, parameter :: n = 8
    double precision, target, asynchronous :: mine(n, n), back(n, n)
    integer :: rank, ranks, status, i
    integer(int64) :: bytes
    logical :: found
    character(len=64) :: value
    type(MPI_Comm) :: half
    type(MPI_Info) :: info
    type(MPI_Datatype) :: spread
    type(sago_file) :: file
    type(sago_series) :: series
    type(sago_request) :: request
    type(sago_var) :: vars(2)

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    mine = reshape([(100d0*rank + i, i=1, n*n)], [n, n])

    call MPI_Info_create(info)
    call MPI_Info_set(info, 'sago_memory', '16M')
    call sago_open(MPI_COMM_WORLD, 'f08.out', MPI_MODE_RDWR + MPI_MODE_CREATE, info, file, status)
    call expect(status == SAGO_OK, 'open: '//sago_error_message())
    call sago_get_hints(file, info, status)
    call MPI_Info_get(info, 'sago_memory', 64, value, found)
    call expect(status == SAGO_OK .and. found .and. value == '16M', 'get_hints')

    call MPI_Type_vector(n, n, n*ranks, MPI_DOUBLE_PRECISION, spread)
    call MPI_Type_commit(spread)
    call sago_set_view(file, 8_int64*n*rank, MPI_DOUBLE_PRECISION, spread, status)
    call expect(status == SAGO_OK, 'set_view')
    call sago_write_at_all(file, 0_int64, mine, size(mine, kind=int64), MPI_DOUBLE_PRECISION, bytes, status)
    call expect(status == SAGO_OK .and. bytes == 8*n*n, 'write_at_all')
    back = 0
    call sago_read_at_all(file, 0_int64, back, size(mine, kind=int64), MPI_DOUBLE_PRECISION, bytes, status)
    call expect(status == SAGO_OK .and. all(abs(back - mine) == 0), 'read_at_all')
    call sago_set_view(file, 0_int64, MPI_BYTE, MPI_BYTE, status)
    back = 0
    call sago_read_at(file, 8_int64*n*rank, back, int(n, int64), MPI_DOUBLE_PRECISION, bytes, status)
    call expect(status == SAGO_OK .and. all(abs(back(:, 1) - mine(:, 1)) == 0), 'read_at')
    call sago_write_at(file, 8_int64*n*rank, back, int(n, int64), MPI_DOUBLE_PRECISION, bytes, status)
    call expect(status == SAGO_OK .and. bytes == 8*n, 'write_at')

    back = 0
    call sago_iread_at_all(file, 8_int64*n*rank, back, int(n, int64), MPI_DOUBLE_PRECISION, request, status)
    call sago_wait(request, bytes, status)
    call expect(status == SAGO_OK .and. bytes == 8*n .and. all(abs(back(:, 1) - mine(:, 1)) == 0), 'iread_at_all')
    call sago_iwrite_at_all(file, 8_int64*n*rank, back, int(n, int64), MPI_DOUBLE_PRECISION, request, status)
    call sago_wait(request, bytes, status)
    call expect(status == SAGO_OK .and. bytes == 8*n, 'iwrite_at_all')

    vars(1) = sago_var(8_int64*n*rank, int(n*n, int64), MPI_DOUBLE_PRECISION, spread)
    vars(2) = sago_var(8_int64*n*n*ranks + 8*n*rank, int(n, int64), MPI_DOUBLE_PRECISION)
    call sago_declare(file, 2_int64, vars, series, status)
    call expect(status == SAGO_OK, 'declare: '//sago_error_message())
    back = 0
    call sago_series_read(series, 1_int64, back, status)
    call sago_series_complete(series, status)
    call expect(status == SAGO_OK .and. all(abs(back - mine) == 0), 'a declared array')
    back = 0
    call sago_read_block_all(file, 8_int64*n*rank, MPI_DOUBLE_PRECISION, [int(n, int64)], [1_int64], [int(n, int64)], back(:, 1), &
        bytes, status)
    call expect(status == SAGO_OK .and. bytes == 8*n .and. all(abs(back(:, 1) - mine(:, 1)) == 0), 'read_block_all')
    call sago_read_block_all(file, 8_int64*n*rank, MPI_DOUBLE_PRECISION, [int(n, int64)], [1_int64], [int(n, int64)], back(:, 1))
    call sago_iwrite_block_all(file, 8_int64*n*rank, MPI_DOUBLE_PRECISION, [int(n, int64)], [1_int64], [int(n, int64)], &
        back(:, 1), request, status)
    call sago_wait(request, bytes, status)
    call expect(status == SAGO_OK .and. bytes == 8*n, 'iwrite_block_all')
    call sago_close(file, status) ! the series, too
    call expect(status == SAGO_OK, 'close')

    call sago_comm_split_storage(MPI_COMM_WORLD, '.', SAGO_STORAGE_AUTO, 0, half, status)
    call expect(status == SAGO_OK, 'split_storage')
    call sago_storage_shared(half, 0, 1, i, status)
    call expect(status == SAGO_OK .and. i == 1, 'storage_shared')
    call MPI_Comm_free(half)
    call MPI_Comm_split(MPI_COMM_WORLD, rank, 0, half)
    write (value, '(a,i0)') 'alone.', rank
    call sago_open(half, value, MPI_MODE_RDWR + MPI_MODE_CREATE, MPI_INFO_NULL, file, status)
    call expect(status == SAGO_OK, 'open by one rank')
    call sago_close(file, status)
    call sago_delete(value, MPI_INFO_NULL, status)
    call expect(status == SAGO_OK, 'delete')
    call MPI_Comm_free(half)
    call MPI_Type_free(spread)
    call MPI_Info_free(info)
    call MPI_Finalize()

contains

    subroutine expect(right, what)
        logical, intent(in) :: right
        character(len=*), intent(in) :: what
        if (right) return
        print '(a,i0,2a)', 'FAIL: rank ', rank, ': ', what
        call MPI_Abort(MPI_COMM_WORLD, 1)
    end subroutine
end program
