! Collective calls through the module mpi; arrays of two dimensions.
program main
    use mpi
    implicit none
    integer, parameter :: n = 8
    double precision :: mine(n, n), back(n, n)
    integer :: status(MPI_STATUS_SIZE), rank, ranks, file, ierr, i, count, block, wrong = 0
    integer :: requests(2), which
    integer(kind=MPI_OFFSET_KIND) :: start = 0, size
    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
    mine = reshape([(1d0*rank + i/1000d0, i = 1, n*n)], [n, n])
    back = -1
    call MPI_File_open(MPI_COMM_WORLD, 'mpi', MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, file, ierr)
    if (ierr /= MPI_SUCCESS) wrong = wrong + 1
    ! every rank some columns and all rows, then some rows and all columns
    call MPI_Type_create_subarray(2, [n*ranks, n], [n, n], [n*rank, 0], MPI_ORDER_FORTRAN, MPI_DOUBLE_PRECISION, &
                                  block, ierr)
    call MPI_Type_commit(block, ierr)
    call MPI_File_set_view(file, start, MPI_DOUBLE_PRECISION, block, 'native', MPI_INFO_NULL, ierr)
    call MPI_File_write_at_all(file, start, mine, n*n, MPI_DOUBLE_PRECISION, status, ierr)
    call MPI_Get_count(status, MPI_DOUBLE_PRECISION, count, ierr)
    if (count /= n*n) wrong = wrong + 1
    call MPI_File_read_all(file, back, n*n, MPI_DOUBLE_PRECISION, status, ierr)
    if (any(back /= mine)) wrong = wrong + 1
    call MPI_File_write_all_begin(file, mine, n*n, MPI_DOUBLE_PRECISION, ierr)
    call MPI_File_write_all_end(file, mine, MPI_STATUS_IGNORE, ierr)
    back = -1
    call MPI_File_iwrite_at_all(file, start, mine, n*n, MPI_DOUBLE_PRECISION, requests(1), ierr)
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierr)
    call MPI_File_iread_at_all(file, start, back, n*n, MPI_DOUBLE_PRECISION, requests(1), ierr)
    requests(2) = MPI_REQUEST_NULL
    call MPI_Waitany(2, requests, which, status, ierr)
    call MPI_Get_count(status, MPI_DOUBLE_PRECISION, count, ierr)
    if (which /= 1 .or. count /= n*n .or. any(back /= mine)) wrong = wrong + 1
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    call MPI_File_get_size(file, size, ierr)
    if (size /= 2*8*n*n*ranks) wrong = wrong + 1
    call MPI_File_close(file, ierr)
    call MPI_Type_free(block, ierr)
    call MPI_Finalize(ierr)
    if (wrong /= 0) stop 1
end program
