! Collective calls through the module mpi_f08; error codes left out, and an error handler.
module handlers
    use mpi_f08
    implicit none
    integer :: called = 0
contains
    subroutine handler(file, code)
        type(MPI_File) :: file
        integer :: code
        if (code /= MPI_SUCCESS) called = called + 1
    end subroutine
end module

program main
    use mpi_f08
    use handlers
    implicit none
    integer, parameter :: n = 50
    integer :: mine(n), back(n), rank, ranks, i, count, ierr, wrong = 0
    type(MPI_File) :: file
    type(MPI_Status) :: status
    type(MPI_Request) :: requests(2)
    type(MPI_Info) :: info
    type(MPI_Errhandler) :: mine_too
    integer(kind=MPI_OFFSET_KIND) :: at
    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    mine = [(100*rank + i, i = 1, n)]
    back = -1
    call MPI_File_open(MPI_COMM_WORLD, 'f08', MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, file)
    at = 4*n*rank
    call MPI_File_set_view(file, at, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL)
    call MPI_File_write_all(file, mine, n, MPI_INTEGER, status)
    call MPI_Get_count(status, MPI_INTEGER, count)
    if (count /= n) wrong = wrong + 1
    at = 0
    call MPI_File_read_at_all(file, at, back, n, MPI_INTEGER, MPI_STATUS_IGNORE)
    if (any(back /= mine)) wrong = wrong + 1
    call MPI_File_write_at_all_begin(file, at, mine, n, MPI_INTEGER)
    call MPI_File_write_at_all_end(file, mine, status)
    call MPI_File_iwrite_at_all(file, at, mine, n, MPI_INTEGER, requests(1))
    call MPI_Wait(requests(1), status)
    call MPI_Get_count(status, MPI_INTEGER, count)
    if (count /= n) wrong = wrong + 1
    back = -1
    call MPI_File_iread_at_all(file, at, back, n, MPI_INTEGER, requests(1))
    requests(2) = MPI_REQUEST_NULL
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    if (any(back /= mine)) wrong = wrong + 1
    call MPI_File_create_errhandler(handler, mine_too)
    call MPI_File_set_errhandler(file, mine_too)
    call MPI_File_write_all(file, mine, -1, MPI_INTEGER, status, ierr)
    if (ierr == MPI_SUCCESS .or. called /= 1) wrong = wrong + 1
    call MPI_File_get_info(file, info)
    call MPI_Info_free(info)
    call MPI_File_close(file)
    call MPI_Finalize()
    if (wrong /= 0) stop 1
end program
