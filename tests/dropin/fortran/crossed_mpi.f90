! Rank 0 waits for its nonblocking calls before the barrier, the others after it: with ROMIO alone they wait for ever.
program main
    use mpi
    implicit none
    integer, parameter :: n = 300
    integer :: mine(n), back(n)
    integer :: rank, ranks, file, ierr, i, piece, turns, info, request, step, wrong = 0
    integer(kind=MPI_OFFSET_KIND) :: start
    integer(kind=MPI_ADDRESS_KIND) :: lower = 0, extent
    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
    call MPI_Info_create(info, ierr)
    call MPI_Info_set(info, 'sago_map', 'off', ierr)
    call MPI_File_open(MPI_COMM_WORLD, 'crossed', MPI_MODE_CREATE + MPI_MODE_RDWR, info, file, ierr)
    call MPI_Info_free(info, ierr)
    extent = 4*ranks
    call MPI_Type_contiguous(1, MPI_INTEGER, piece, ierr)
    call MPI_Type_create_resized(piece, lower, extent, turns, ierr)
    call MPI_Type_commit(turns, ierr)
    start = 4*rank
    call MPI_File_set_view(file, start, MPI_INTEGER, turns, 'native', MPI_INFO_NULL, ierr)
    start = 0
    do step = 1, 4
        mine = [(1000*step + 100*rank + i, i = 1, n)]
        back = -1
        if (step <= 2) call MPI_File_iwrite_at_all(file, start, mine, n, MPI_INTEGER, request, ierr)
        if (step > 2) call MPI_File_iread_at_all(file, start, back, n, MPI_INTEGER, request, ierr)
        if (rank == 0) call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
        if (rank /= 0) call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
        if (step > 2 .and. any(back /= [(2000 + 100*rank + i, i = 1, n)])) wrong = wrong + 1
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
    end do
    call MPI_File_close(file, ierr)
    call MPI_Type_free(turns, ierr)
    call MPI_Type_free(piece, ierr)
    call MPI_Finalize(ierr)
    if (wrong /= 0) stop 1
end program
