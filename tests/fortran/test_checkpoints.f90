! RUN: n=1,3
! Checkpoints from Fortran: an array in blocks with ghost cells, shared and local data, restored and looked at; with
! handles of the module mpi_f08 and of the module mpi.
program test_checkpoints
    use, intrinsic :: iso_fortran_env, only: int64
    use mpi_f08
    use sago_f08
    implicit none
    integer, parameter :: nx = 5, ny = 4 ! of a rank's block
    double precision, target :: field(0:nx + 1, 0:ny + 1), turned(ny, nx)
    integer, target :: mine(3), common(2)
    integer(int64) :: global(2), start(2), count(2), step, number
    integer :: rank, ranks, status, due, leave
    type(MPI_Comm) :: world
    type(sago_ckpt) :: ckpt
    type(sago_ckpt_info) :: info
    type(sago_ckpt_stats) :: stats
    type(sago_ckpt_report) :: report
    type(sago_ckpt_step) :: steps(4)

    call MPI_Init()
    world = MPI_COMM_WORLD
    call MPI_Comm_rank(world, rank)
    call MPI_Comm_size(world, ranks)
    global = [int(nx, int64), int(ny, int64)*ranks] ! blocks of columns
    start = [1_int64, int(ny, int64)*rank + 1]
    count = [int(nx, int64), int(ny, int64)]

    call save()
    call look()
    call restore()
    call MPI_Finalize()

contains

    subroutine expect(right, what)
        logical, intent(in) :: right
        character(len=*), intent(in) :: what
        if (right) return
        print '(a,i0,4a)', 'FAIL: rank ', rank, ': ', what, ': ', sago_error_message()
        call MPI_Abort(world, 1)
    end subroutine

    double precision function value(i, j) ! of the global array
        integer, intent(in) :: i, j
        value = 1000d0*j + i
    end function

    subroutine fill(with_values)
        logical, intent(in) :: with_values
        integer :: i, j
        field = -1
        mine = -1
        common = -1
        if (.not. with_values) return
        do j = 1, ny
            do i = 1, nx
                field(i, j) = value(i, ny*rank + j)
            end do
        end do
        mine = rank + [10, 20, 30]
        common = [7, 8]
    end subroutine

    subroutine protect()
        call sago_ckpt_protect(ckpt, 'field', MPI_DOUBLE_PRECISION, global, start, count, field, [2_int64, 2_int64], status)
        call expect(status == SAGO_OK, 'protect')
        call sago_ckpt_protect_local(ckpt, 'mine', mine, 4_int64*rank, status)
        call expect(status == SAGO_OK, 'protect_local')
        call sago_ckpt_protect_shared(ckpt, 'common', common, 8_int64, status)
        call expect(status == SAGO_OK, 'protect_shared')
    end subroutine

    subroutine save()
        call sago_ckpt_open(world, 'saved', MPI_INFO_NULL, ckpt, status)
        call expect(status == SAGO_OK, 'open')
        call sago_ckpt_latest(ckpt, SAGO_LEVEL_LOCAL, step, status)
        call expect(status == SAGO_OK .and. step == -1, 'latest in an empty directory')
        call protect()
        call sago_ckpt_protect_shared(ckpt, 'common', common, 8_int64, status)
        call expect(status == SAGO_ERR_EXISTS, 'a name twice')
        call fill(.true.)
        do step = 10, 12
            call sago_ckpt_save(ckpt, step, status)
            call expect(status == SAGO_OK, 'save')
        end do
        call sago_ckpt_progress(ckpt, status)
        call expect(status == SAGO_OK, 'progress')
        call sago_ckpt_wait(ckpt, 12_int64, SAGO_LEVEL_GLOBAL, status)
        call expect(status == SAGO_OK, 'wait')
        call sago_ckpt_get_stats(ckpt, stats, status)
        call expect(status == SAGO_OK .and. stats%saves == 3 .and. stats%recent(1)%step == 12, 'stats')
        call sago_ckpt_due(ckpt, due, leave, status)
        call expect(status == SAGO_OK .and. leave == 0, 'due')
        call sago_ckpt_unprotect(ckpt, 'mine', status)
        call expect(status == SAGO_OK, 'unprotect')
        call sago_ckpt_close(ckpt, status)
        call expect(status == SAGO_OK, 'close')
    end subroutine

    subroutine look()
        call sago_ckpt_open(world%MPI_VAL, 'saved', MPI_INFO_NULL%MPI_VAL, ckpt, status) ! as with the module mpi
        call expect(status == SAGO_OK, 'open again')
        number = size(steps)
        call sago_ckpt_list(ckpt, number, steps, status)
        call expect(status == SAGO_OK .and. number == 3 .and. all(steps(1:3)%step == [10, 11, 12]), 'list')
        call expect(steps(3)%complete(SAGO_LEVEL_GLOBAL) == 1 .and. steps(3)%arrays == 3, 'a step')
        call sago_ckpt_inquire(ckpt, 11_int64, 'field', info, status)
        call expect(status == SAGO_OK .and. info%name == 'field' .and. info%type == 'float64', 'inquire')
        call expect(info%ndims == 2 .and. all(info%global(1:2) == global) .and. info%ranks == ranks, 'the shape')
        call sago_ckpt_inquire_index(ckpt, 11_int64, 1_int64, info, status)
        call expect(status == SAGO_OK .and. info%name == 'common' .and. info%kind == SAGO_CKPT_SHARED, 'by index')
        call sago_ckpt_inquire(ckpt, 11_int64, 'nothing', info, status)
        call expect(status == SAGO_ERR_NO_FILE, 'a name that is not there')
        call sago_ckpt_verify(ckpt, 11_int64, status)
        call expect(status == SAGO_OK, 'verify')
        call sago_ckpt_get_report(ckpt, report, status)
        call expect(status == SAGO_OK .and. sum(report%damaged) == 0, 'report')
        call sago_ckpt_remove(ckpt, 10_int64, status)
        call expect(status == SAGO_OK, 'remove')
        call sago_ckpt_drain(ckpt, 11_int64, status)
        call expect(status == SAGO_OK, 'drain')
        call sago_ckpt_repair(ckpt, 11_int64, status)
        call expect(status == SAGO_OK, 'repair')
    end subroutine

    subroutine restore()
        integer :: i, j
        call sago_ckpt_latest(ckpt, SAGO_LEVEL_GLOBAL, step, status)
        call expect(status == SAGO_OK .and. step == 12, 'latest')
        call protect()
        call fill(.false.)
        call sago_ckpt_restore_latest(ckpt, step, status)
        call expect(status == SAGO_OK .and. step == 12, 'restore_latest')
        call sago_ckpt_get_report(ckpt, report, status)
        call expect(status == SAGO_OK .and. report%step == 12 .and. report%passed_over == 0, 'the step restored')
        call sago_ckpt_get_stats(ckpt, stats, status)
        call expect(status == SAGO_OK .and. stats%damaged == 0 .and. stats%passed_over == 0, 'nothing is damaged')
        call sago_ckpt_remove_damaged(ckpt, 12_int64, status)
        call expect(status == SAGO_ERR_NO_FILE, 'remove_damaged')
        do j = 1, ny
            do i = 1, nx
                call expect(abs(field(i, j) - value(i, ny*rank + j)) < 1d-12, 'a wrong element')
            end do
        end do
        call expect(all(field(0, :) < 0) .and. all(field(:, 0) < 0) .and. all(field(nx + 1, :) < 0), 'ghost cells')
        call expect(rank == 0 .or. mine(1) == rank + 10, 'local data')
        call expect(all(common == [7, 8]), 'shared data')
        ! Another decomposition: everybody wants the first column alone, and memory is exactly that.
        call sago_ckpt_unprotect(ckpt, 'field', status)
        turned = -1
        call sago_ckpt_protect(ckpt, 'field', MPI_DOUBLE_PRECISION, global, [2_int64, 1_int64], &
            [4_int64, 1_int64], turned(:, 1), status)
        call expect(status == SAGO_OK, 'protect a part')
        call sago_ckpt_restore(ckpt, step, status)
        call expect(status == SAGO_OK, 'restore a part')
        call expect(all(abs(turned(:, 1) - [(value(i, 1), i=2, 5)]) < 1d-12) .and. all(turned(:, 2) < 0), 'a part')
        call sago_ckpt_close(ckpt, status)
        call expect(status == SAGO_OK, 'close')
    end subroutine
end program
