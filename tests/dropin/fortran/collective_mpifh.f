C     Collective calls through mpif.h, in fixed form as old programs are.
      program main
      implicit none
      include 'mpif.h'
      integer n
      parameter (n = 100)
      integer mine(n), back(n), status(MPI_STATUS_SIZE)
      integer rank, ranks, file, ierr, i, count, turns, block, wrong
      integer request
      logical done
      integer (kind=MPI_OFFSET_KIND) disp, at
      integer (kind=MPI_ADDRESS_KIND) lower, extent
      call MPI_INIT(ierr)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, ranks, ierr)
      wrong = 0
      do i = 1, n
         mine(i) = 1000 * rank + i
         back(i) = -1
      end do
      call MPI_FILE_OPEN(MPI_COMM_WORLD, 'mpifh', MPI_MODE_CREATE
     &     + MPI_MODE_RDWR, MPI_INFO_NULL, file, ierr)
      if (ierr .ne. MPI_SUCCESS) wrong = wrong + 1
      call MPI_TYPE_CONTIGUOUS(5, MPI_INTEGER, block, ierr)
      lower = 0
      extent = 20 * ranks
      call MPI_TYPE_CREATE_RESIZED(block, lower, extent, turns, ierr)
      call MPI_TYPE_COMMIT(turns, ierr)
      disp = 20 * rank
      call MPI_FILE_SET_VIEW(file, disp, MPI_INTEGER, turns, 'native',
     &     MPI_INFO_NULL, ierr)
      call MPI_FILE_WRITE_ALL(file, mine, n, MPI_INTEGER, status, ierr)
      call MPI_GET_COUNT(status, MPI_INTEGER, count, ierr)
      if (count .ne. n) wrong = wrong + 1
      call MPI_FILE_GET_POSITION(file, at, ierr)
      if (at .ne. n) wrong = wrong + 1
      at = 0
      call MPI_FILE_WRITE_AT_ALL(file, at, mine, n, MPI_INTEGER,
     &     MPI_STATUS_IGNORE, ierr)
      call MPI_FILE_READ_AT_ALL_BEGIN(file, at, back, n, MPI_INTEGER,
     &     ierr)
      call MPI_FILE_READ_AT_ALL_END(file, back, status, ierr)
      do i = 1, n
         if (back(i) .ne. mine(i)) wrong = wrong + 1
      end do
      call MPI_FILE_IWRITE_AT_ALL(file, at, mine, n, MPI_INTEGER,
     &     request, ierr)
      call MPI_WAIT(request, status, ierr)
      call MPI_GET_COUNT(status, MPI_INTEGER, count, ierr)
      if (count .ne. n) wrong = wrong + 1
      call MPI_FILE_IREAD_AT_ALL(file, at, back, n, MPI_INTEGER,
     &     request, ierr)
      done = .false.
      do while (.not. done)
         call MPI_TEST(request, done, status, ierr)
      end do
      do i = 1, n
         if (back(i) .ne. mine(i)) wrong = wrong + 1
      end do
      call MPI_FILE_WRITE_ALL(file, mine, -1, MPI_INTEGER, status,
     &     ierr)
      if (ierr .eq. MPI_SUCCESS) wrong = wrong + 1
      call MPI_FILE_CLOSE(file, ierr)
      if (ierr .ne. MPI_SUCCESS) wrong = wrong + 1
      call MPI_TYPE_FREE(turns, ierr)
      call MPI_TYPE_FREE(block, ierr)
      call MPI_FINALIZE(ierr)
      if (wrong .ne. 0) stop 1
      end
