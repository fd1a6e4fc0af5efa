! RUN: n=1,3
! A mesh from Fortran: a triangle of each rank, read by a strict reader that knows nothing of Sago.  And a number that each
! rank hands on to the next.
program test_mesh
    use, intrinsic :: iso_fortran_env, only: int32, int64, real64
    use mpi
    use sago
    implicit none
    integer :: rank, status, code
    type(sago_mesh) :: mesh
    character(len=512) :: scratch, source
    real(real64) :: xyz(3, 3)
    integer(int64) :: offsets(2), corners(3)
    integer(int32) :: kinds(1), owner(1)
    call MPI_Init(code)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
    call get_environment_variable('SAGO_TEST_DIR', scratch)
    call get_environment_variable('SAGO_SOURCE', source)
    xyz = reshape([0, 0, 0, 1, 0, 0, 0, 1, 0], [3, 3])
    xyz(3, :) = rank
    offsets = [0, 3]
    corners = [0, 1, 2]
    kinds = 5
    owner = rank
    call sago_mesh_begin(MPI_COMM_WORLD, trim(scratch)//'/triangles.vtu', SAGO_MESH_VTU, MPI_INFO_NULL, mesh, status)
    call expect(status == SAGO_OK, 'begin: '//sago_error_message())
    call sago_mesh_points(mesh, 3_int64, MPI_DOUBLE_PRECISION, xyz, status)
    call expect(status == SAGO_OK, 'points: '//sago_error_message())
    call sago_mesh_cells(mesh, 1_int64, offsets, corners, kinds, status)
    call expect(status == SAGO_OK, 'cells: '//sago_error_message())
    call sago_mesh_field(mesh, SAGO_MESH_AT_CELLS, 'rank', MPI_INTEGER, 1, owner, status)
    call expect(status == SAGO_OK, 'field: '//sago_error_message())
    call sago_mesh_end(mesh, status)
    call expect(status == SAGO_OK, 'end: '//sago_error_message())
    if (rank == 0) call compare()
    call hand_on()
    call MPI_Finalize(code)
contains
    subroutine expect(is, what)
        logical, intent(in) :: is
        character(len=*), intent(in) :: what
        if (is) return
        print '(a)', 'FAIL: '//what
        call MPI_Abort(MPI_COMM_WORLD, 1, code)
    end subroutine

    subroutine hand_on()
        type(sago_exchange) :: exchange
        integer :: ranks, local
        integer(int64) :: bytes
        real(real64) :: number
        call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)
        call sago_exchange_open(MPI_COMM_WORLD, trim(scratch), trim(scratch), exchange, status)
        call expect(status == SAGO_OK, 'exchange_open: '//sago_error_message())
        call sago_exchange_is_local(exchange, 0, ranks - 1, local, status)
        call expect(status == SAGO_OK .and. local == 1, 'exchange_is_local')
        number = 100 + rank
        call sago_exchange_put(exchange, modulo(rank + 1, ranks), 'number', number, 8_int64, status)
        call expect(status == SAGO_OK, 'exchange_put: '//sago_error_message())
        call sago_exchange_get(exchange, modulo(rank - 1, ranks), 'number', number, 8_int64, 60d0, bytes, status)
        call expect(status == SAGO_OK .and. bytes == 8 .and. number == 100 + modulo(rank - 1, ranks), 'exchange_get')
        call sago_exchange_close(exchange, status)
        call expect(status == SAGO_OK, 'exchange_close: '//sago_error_message())
    end subroutine

    subroutine compare()
        integer :: unit, r, ranks
        call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)
        open (newunit=unit, file=trim(scratch)//'/expected', action='write')
        do r = 0, ranks - 1
            write (unit, '(2(a, i0, /), a, i0)') 'point 0 0 ', r, 'point 1 0 ', r, 'point 0 1 ', r
            write (unit, '(a, 3(1x, i0))') 'cell 5', 3*r, 3*r + 1, 3*r + 2
            write (unit, '(a, i0)') 'cells rank 1 ', r
        end do
        close (unit)
        call execute_command_line('python3 '//trim(source)//'/tests/scripts/read_mesh.py --compare '//trim(scratch)// &
                                  '/expected '//trim(scratch)//'/triangles.vtu', exitstat=code)
        call expect(code == 0, 'the file is another mesh')
    end subroutine
end program
