! RUN: n=1,3
! Every call of the module sago with handles of the module mpi.
program test_module
    use, intrinsic :: iso_fortran_env, only: int64, int8
    use mpi
    use sago
    implicit none
    integer, parameter :: n = 60
    integer :: rank, ranks, ierr, status, i, info
    logical :: found
    integer, target :: mine(n), back(n)
    integer(int64) :: bytes, size_now
    type(sago_file) :: file
    character(len=64) :: value

    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
    mine = [(1000*rank + i, i=1, n)]

    call MPI_Info_create(info, ierr)
    call MPI_Info_set(info, 'sago_memory', '8M', ierr)
    call sago_open(MPI_COMM_WORLD, 'module.out   ', MPI_MODE_RDWR + MPI_MODE_CREATE, info, file, status)
    call expect(status == SAGO_OK, 'open: '//sago_error_message())
    call sago_get_hints(file, info, status)
    call MPI_Info_get(info, 'sago_memory', 64, value, found, ierr)
    call expect(status == SAGO_OK .and. found .and. value == '8M', 'the hint in force is '//trim(value))
    call MPI_Info_free(info, ierr)

    call views()
    call left_out()
    call extents()
    call memory_in_pieces()
    call nonblocking()
    call sizes()
    call series()
    call blocks()
    call errors()

    call sago_close(file, status)
    call expect(status == SAGO_OK, 'close')
    call sago_sync(file, status)
    call expect(status == SAGO_ERR_HANDLE, 'a closed file')
    if (rank == 0) then
        call sago_delete('module.out', MPI_INFO_NULL, status)
        call expect(status == SAGO_OK, 'delete')
        call sago_delete('module.out', MPI_INFO_NULL, status)
        call expect(status == SAGO_ERR_NO_FILE, 'delete again')
    end if
    call MPI_Finalize(ierr)

contains

    subroutine expect(right, what)
        logical, intent(in) :: right
        character(len=*), intent(in) :: what
        if (right) return
        print '(a,i0,2a)', 'FAIL: rank ', rank, ': ', what
        call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
    end subroutine

    ! `bytes` and `status` are optional; what went wrong is told by the message.
    subroutine left_out()
        type(sago_file) :: other
        type(sago_request) :: request
        integer(int64), parameter :: zero = 0
        call sago_open(MPI_COMM_WORLD, 'left_out.out', MPI_MODE_RDWR + MPI_MODE_CREATE, MPI_INFO_NULL, other)
        call expect(sago_error_message() == '', 'open without a status')
        call sago_set_view(other, int(4*n*rank, int64), MPI_INTEGER, MPI_INTEGER)
        call sago_write_at_all(other, zero, mine, int(n, int64), MPI_INTEGER)
        back = 0
        call sago_read_at_all(other, zero, back, int(n, int64), MPI_INTEGER, status=status)
        call expect(status == SAGO_OK .and. all(back == mine), 'bytes left out')
        back = 0
        call sago_iread_at_all(other, zero, back, int(n, int64), MPI_INTEGER, request)
        call sago_wait(request)
        call expect(all(back == mine), 'nonblocking, both left out')
        call sago_read_at(other, zero, back, int(n, int64), MPI_INTEGER, bytes)
        call expect(bytes == 4*n, 'only the status left out')
        call sago_write_at_all(other, -1_int64, mine, int(n, int64), MPI_INTEGER)
        call expect(sago_error_message() /= '', 'an error without a status')
        call sago_close(other)
    end subroutine

    subroutine views()
        integer :: mosaic
        call MPI_Type_vector(n/4, 4, 4*ranks, MPI_INTEGER, mosaic, ierr)
        call MPI_Type_commit(mosaic, ierr)
        call sago_set_view(file, 16_int64*rank, MPI_INTEGER, mosaic, status)
        call expect(status == SAGO_OK, 'set_view')
        call sago_write_at_all(file, 0_int64, mine, int(n, int64), MPI_INTEGER, bytes, status)
        call expect(status == SAGO_OK .and. bytes == 4*n, 'write_at_all')
        back = -1
        call sago_read_at_all(file, 0_int64, back, int(n, int64), MPI_INTEGER, bytes, status)
        call expect(status == SAGO_OK .and. bytes == 4*n .and. all(back == mine), 'read_at_all')
        call MPI_Type_free(mosaic, ierr)
        call sago_set_view(file, 0_int64, MPI_BYTE, MPI_BYTE, status)
        i = -1 ! a scalar is a buffer, too
        call sago_read_at(file, 16_int64*rank, i, 1_int64, MPI_INTEGER, bytes, status)
        call expect(status == SAGO_OK .and. i == mine(1), 'read_at')
        call sago_write_at(file, 16_int64*rank, i, 1_int64, MPI_INTEGER, bytes, status)
        call expect(status == SAGO_OK .and. bytes == 4, 'write_at')
    end subroutine

    subroutine extents()
        type(sago_extent) :: pieces(n)
        pieces = [(sago_extent(4_int64*((i - 1)*ranks + rank), 4_int64), i=1, n)]
        call sago_write_extents_all(file, int(n, int64), pieces, mine, status)
        call expect(status == SAGO_OK, 'write_extents_all')
        back = -1
        call sago_read_extents_all(file, int(n, int64), pieces, back, bytes, status)
        call expect(status == SAGO_OK .and. bytes == 4*n .and. all(back == mine), 'read_extents_all')
        call sago_read_at(file, 4_int64*((rank + 1)*ranks - 1), i, 1_int64, MPI_INTEGER, bytes, status)
        call expect(i == 1000*(ranks - 1) + rank + 1, 'extents are in the wrong place')
    end subroutine

    ! The halves of the array in the other order.
    subroutine memory_in_pieces()
        type(sago_extent) :: extent(1), halves(2)
        type(sago_request) :: request
        integer, asynchronous :: swapped(n)
        integer :: half
        half = n/2
        extent = sago_extent(4_int64*n*rank, 4_int64*n)
        halves = [sago_extent(4_int64*(n - half), 4_int64*half), sago_extent(0_int64, 4_int64*(n - half))]
        swapped(:n - half) = mine(half + 1:)
        swapped(n - half + 1:) = mine(:half)
        call sago_write_pieces_all(file, 1_int64, extent, swapped, 2_int64, halves, status)
        call expect(status == SAGO_OK, 'write_pieces_all')
        back = -1
        call sago_read_extents_all(file, 1_int64, extent, back, bytes, status)
        call expect(status == SAGO_OK .and. all(back == mine), 'pieces are in the wrong place')
        swapped = -1
        call sago_read_pieces_all(file, 1_int64, extent, swapped, 2_int64, halves, bytes, status)
        call expect(status == SAGO_OK .and. bytes == 4*n .and. all(swapped(:n - half) == mine(half + 1:)), 'read_pieces_all')
        call sago_write_pieces(file, 1_int64, extent, swapped, 2_int64, halves, status)
        call expect(status == SAGO_OK, 'write_pieces')
        swapped = -1
        call sago_read_pieces(file, 1_int64, extent, swapped, 2_int64, halves, bytes, status)
        call expect(status == SAGO_OK .and. all(swapped(n - half + 1:) == mine(:half)), 'read_pieces')
        call sago_iwrite_pieces_all(file, 1_int64, extent, swapped, 2_int64, halves, request, status)
        call sago_wait(request, bytes, status)
        call expect(status == SAGO_OK .and. bytes == 4*n, 'iwrite_pieces_all')
        call sago_iread_pieces_all(file, 1_int64, extent, swapped, 2_int64, halves, request, status)
        call sago_wait(request, bytes, status)
        call expect(status == SAGO_OK .and. bytes == 4*n, 'iread_pieces_all')
        call sago_sync_own(file, status)
        call expect(status == SAGO_OK, 'sync_own')
    end subroutine

    subroutine nonblocking()
        type(sago_request) :: first, second
        type(sago_extent) :: piece(1)
        integer, asynchronous :: left(n), right(n)
        integer :: done
        left = mine
        call sago_iwrite_at_all(file, 4_int64*n*rank, left, int(n, int64), MPI_INTEGER, first, status)
        call expect(status == SAGO_OK, 'iwrite_at_all')
        call sago_wait(first, bytes, status)
        call expect(status == SAGO_OK .and. bytes == 4*n, 'wait')
        right = -1
        piece = sago_extent(4_int64*n*rank, 4_int64*n)
        call sago_iread_extents_all(file, 1_int64, piece, right, second, status)
        call expect(status == SAGO_OK, 'iread_extents_all')
        done = 0
        do while (done == 0)
            call sago_test(second, done, bytes, status)
        end do
        call expect(status == SAGO_OK .and. bytes == 4*n .and. all(right == mine), 'test')
        call sago_iwrite_extents_all(file, 1_int64, piece, left, first, status)
        call sago_wait(first, bytes, status)
        call expect(status == SAGO_OK .and. bytes == 4*n, 'iwrite_extents_all')
        right = -1
        call sago_iread_at_all(file, 4_int64*n*rank, right, int(n, int64), MPI_INTEGER, second, status)
        call sago_wait(second, bytes, status)
        call expect(status == SAGO_OK .and. all(right == mine), 'iread_at_all')
        call sago_wait(second, bytes, status)
        call expect(status == SAGO_OK .and. bytes == 0, 'wait for what is done')
    end subroutine

    subroutine sizes()
        call sago_get_size(file, size_now, status)
        call expect(status == SAGO_OK .and. size_now == 4*n*ranks, 'get_size')
        call sago_set_size(file, 10_int64, status)
        call expect(status == SAGO_OK, 'set_size')
        call sago_preallocate(file, 4096_int64, status)
        call expect(status == SAGO_OK, 'preallocate')
        call sago_sync(file, status)
        call expect(status == SAGO_OK, 'sync')
        call sago_flush_own(file, status)
        call expect(status == SAGO_OK, 'flush_own')
        call sago_flush_all(file, status)
        call expect(status == SAGO_OK, 'flush_all')
        call sago_get_size(file, size_now, status)
        call expect(status == SAGO_OK .and. size_now == 4096, 'get_size after preallocate')
    end subroutine

    subroutine storage()
        integer :: together, shared, number
        call sago_comm_split_storage(MPI_COMM_WORLD, '.', SAGO_STORAGE_AUTO, 0, together, status)
        call expect(status == SAGO_OK, 'split_storage')
        call MPI_Comm_size(together, number, ierr)
        call sago_storage_shared(together, 0, ranks - 1, shared, status)
        call expect(status == SAGO_OK .and. number == ranks .and. shared == 1, 'storage_shared')
        call MPI_Comm_free(together, ierr)
    end subroutine

    subroutine series()
        type(sago_series) :: steps
        type(sago_var) :: vars(2)
        integer(int8), target :: small(7), small_back(7)
        integer :: step
        integer(int64) :: step_bytes
        step_bytes = (4*n + 7)*ranks
        small = int(rank + [1, 2, 3, 4, 5, 6, 7], int8)
        vars(1)%offset = 4*n*rank
        vars(1)%count = n
        vars(1)%type = MPI_INTEGER
        vars(2) = sago_var(4*n*ranks + 7*rank, 7, MPI_BYTE) ! contiguous by default
        call sago_declare(file, 2_int64, vars, steps, status)
        call expect(status == SAGO_OK, 'declare: '//sago_error_message())
        do step = 0, 2
            call sago_series_next(steps, step*step_bytes, status)
            call expect(status == SAGO_OK, 'next')
            call sago_series_write(steps, 2_int64, small, status)
            call expect(status == SAGO_OK, 'series_write')
            call sago_series_write(steps, 1_int64, mine, status)
            call expect(status == SAGO_OK, 'series_write')
            call sago_series_complete(steps, status)
            call expect(status == SAGO_OK, 'complete')
        end do
        back = -1
        small_back = -1
        call sago_series_read(steps, 1_int64, back, status)
        call sago_series_read(steps, 2_int64, small_back, status)
        call sago_series_complete(steps, status)
        call sago_series_bytes(steps, bytes, status)
        call expect(bytes == 4*n + 7 .and. all(back == mine) .and. all(small_back == small), 'series_read')
        call sago_series_write(steps, 3_int64, small, status)
        call expect(status == SAGO_ERR_ARG, 'a variable that was not declared')
        call sago_series_free(steps, status)
        call expect(status == SAGO_OK, 'free')
        call sago_series_complete(steps, status)
        call expect(status == SAGO_ERR_HANDLE, 'a series that was freed')
    end subroutine

    subroutine errors()
        type(sago_file) :: other
        call sago_write_at_all(file, 0_int64, mine(1:n:2), n/2_int64, MPI_INTEGER, bytes, status)
        call expect(status == SAGO_ERR_ARG, 'a buffer with gaps')
        call expect(len(sago_error_message()) > 10, 'no message')
        call expect(sago_status_mpi_class(status) == MPI_ERR_ARG, 'the class of MPI')
        call sago_write_at_all(file, 0_int64, mine(3:n), 4_int64*rank, MPI_INTEGER, bytes, status)
        call expect(status == SAGO_OK .and. sago_error_message() == '', 'a message after a success')
        call sago_open(MPI_COMM_WORLD, 'no/such/folder', MPI_MODE_RDWR, MPI_INFO_NULL, other, status)
        call expect(status == SAGO_ERR_NO_FILE .and. index(sago_error_message(), 'no/such/folder') > 0, 'open')
        call expect(sago_status_string(SAGO_ERR_NO_SPACE) == 'no space left', &
            'a status: '//sago_status_string(SAGO_ERR_NO_SPACE))
        call expect(index(sago_version(), '.') > 0, 'version')
        call storage()
    end subroutine

    ! A 5 x 4 ranks array, four columns a rank, with a ghost cell on every side; then two rows of all of it.
    subroutine blocks()
        integer :: cells(7, 6), read_back(7, 6), rows(2, 4*ranks), j
        integer(int64) :: global(2), start(2), count(2)
        type(sago_request) :: request
        type(sago_series) :: steps
        type(sago_array) :: arrays(1)
        cells = -1
        cells(2:6, 2:5) = reshape([((1000*(4*rank + j) + i, i=1, 5), j=1, 4)], [5, 4])
        global = [5, 4*ranks]
        start = [1, 4*rank + 1]
        count = [5, 4]
        call sago_write_block_all(file, 8_int64, MPI_INTEGER, global, start, count, cells, [2_int64, 2_int64], status)
        call expect(status == SAGO_OK, 'write_block_all: '//sago_error_message())
        call sago_read_at(file, 8_int64 + 4*(20*rank + 5 + 2), i, 1_int64, MPI_INTEGER, bytes, status)
        call expect(i == 1000*(4*rank + 2) + 3, 'a block is in the wrong place')
        call sago_read_block_all(file, 8_int64, MPI_INTEGER, global, [2_int64, 1_int64], [2_int64, 4_int64*ranks], rows, bytes, &
            status)
        call expect(status == SAGO_OK .and. bytes == 32*ranks, 'read_block_all')
        call expect(all(rows == reshape([((1000*j + i, i=2, 3), j=1, 4*ranks)], [2, 4*ranks])), 'rows of all columns')
        call sago_iwrite_block_all(file, 8_int64, MPI_INTEGER, global, start, count, cells(2:6, 2:5), request, status)
        call sago_wait(request, bytes, status)
        call expect(status == SAGO_ERR_ARG, 'memory with gaps')
        call sago_iwrite_block_all(file, 8_int64, MPI_INTEGER, global, start, count, cells, [2_int64, 2_int64], request, status)
        call sago_wait(request, bytes, status)
        call expect(status == SAGO_OK .and. bytes == 80, 'iwrite_block_all')
        read_back = -1
        call sago_iread_block_all(file, 8_int64, MPI_INTEGER, global, start, count, read_back, [2_int64, 2_int64], request, status)
        call sago_wait(request, bytes, status)
        call expect(status == SAGO_OK .and. bytes == 80 .and. all(read_back == cells), 'iread_block_all')
        call sago_write_block_all(file, 8_int64, MPI_INTEGER, global, start, count, cells, [2_int64, 2_int64])
        read_back = -1
        call sago_read_block_all(file, 8_int64, MPI_INTEGER, global, start, count, read_back, [2_int64, 2_int64])
        call expect(all(read_back == cells), 'blocks, bytes and status left out')
        call sago_read_block_all(file, 8_int64, MPI_INTEGER, global, [2_int64, 1_int64], [2_int64, 4_int64*ranks], rows)
        call sago_write_block_all(file, 8_int64, MPI_INTEGER, global, [2_int64, 1_int64], [2_int64, 4_int64*ranks], rows)
        call sago_iread_block_all(file, 8_int64, MPI_INTEGER, global, start, count, read_back, [2_int64, 2_int64], request)
        call sago_wait(request)
        arrays(1)%offset = 8
        arrays(1)%element = MPI_INTEGER
        arrays(1)%ndims = 2
        arrays(1)%global(1:2) = global
        arrays(1)%start(1:2) = start
        arrays(1)%count(1:2) = count
        arrays(1)%mem_shape(1:2) = [7, 6]
        arrays(1)%mem_start(1:2) = 2
        call sago_declare_arrays(file, 1_int64, arrays, steps, status)
        call expect(status == SAGO_OK, 'declare_arrays: '//sago_error_message())
        read_back = -1
        call sago_series_read(steps, 1_int64, read_back, status)
        call sago_series_complete(steps, status)
        call expect(status == SAGO_OK .and. all(read_back == cells), 'a declared array')
        call sago_series_free(steps, status)
        call sago_declare_arrays(file, 1_int64, arrays, steps)
        call sago_series_free(steps)
    end subroutine
end program
