! Sago for Fortran: the calls of <sago/sago.h>, which says what each of them does.
!
!     use sago        MPI handles are integers (module mpi, mpif.h)
!     use sago_f08    the same, and MPI handles of the module mpi_f08
!
! What differs from C: every call is a subroutine whose last argument is the status (a function in C), which may be left out,
! as may `bytes`: then only sago_error_message(), which is '' after a success, tells of errors.  Variables of a
! series are counted from 1; buffers may be of any type and rank, but must be contiguous (an array section that is not
! is SAGO_ERR_ARG).  Offsets and counts are 64-bit integers, of kind MPI_OFFSET_KIND, int64 or c_int64_t, which is the
! same.  A buffer that Sago keeps beyond the call (nonblocking calls, sago_series_write, sago_series_read) needs the
! attribute TARGET or ASYNCHRONOUS.
!
! Calls are bound to the C functions of shim.c directly; only those that take text are wrapped here.
module sago
    use, intrinsic :: iso_c_binding, only: c_char, c_double, c_f_pointer, c_int, c_int64_t, c_null_char, c_null_ptr, &
        c_ptr, c_size_t
    use mpi, only: MPI_BYTE, MPI_DATATYPE_NULL
    use sago_checkpoints
    use sago_meshes
    implicit none
    private

    ! ---- Status ----

    integer, parameter, public :: &
        SAGO_OK = 0, &
        SAGO_ERR_ARG = 1, &
        SAGO_ERR_HANDLE = 2, &
        SAGO_ERR_MODE = 3, &
        SAGO_ERR_HINT = 4, &
        SAGO_ERR_TYPE = 5, &
        SAGO_ERR_EXTENTS = 6, &
        SAGO_ERR_OVERFLOW = 7, &
        SAGO_ERR_MISMATCH = 8, &
        SAGO_ERR_STATE = 9, &
        SAGO_ERR_NO_FILE = 10, &
        SAGO_ERR_EXISTS = 11, &
        SAGO_ERR_ACCESS = 12, &
        SAGO_ERR_READ_ONLY = 13, &
        SAGO_ERR_BAD_FILE = 14, &
        SAGO_ERR_NO_SPACE = 15, &
        SAGO_ERR_QUOTA = 16, &
        SAGO_ERR_IO = 17, &
        SAGO_ERR_MEMORY = 18, &
        SAGO_ERR_MPI = 19, &
        SAGO_ERR_WRONG_MPI = 20, &
        SAGO_ERR_PEER = 21, &
        SAGO_ERR_UNSUPPORTED = 22, &
        SAGO_ERR_BUSY = 23, &
        SAGO_ERR_TIMEOUT = 24

    public :: sago_error_message, sago_status_string, sago_status_mpi_class, sago_version

    ! ---- Handles and descriptions ----

    type, bind(C), public :: sago_file
        type(c_ptr) :: handle = c_null_ptr
    end type

    type, bind(C), public :: sago_series
        type(c_ptr) :: handle = c_null_ptr
    end type

    type, bind(C), public :: sago_request
        type(c_ptr) :: handle = c_null_ptr
    end type

    type, bind(C), public :: sago_extent
        integer(c_int64_t) :: offset = 0 ! bytes from the start of the file
        integer(c_int64_t) :: length = 0
    end type

    type, bind(C), public :: sago_var
        integer(c_int64_t) :: offset = 0             ! bytes from the start of the file: where the filetype begins
        integer(c_int64_t) :: count = 0              ! elements of `type` in memory
        integer(c_int) :: type = MPI_BYTE               ! in memory
        integer(c_int) :: filetype = MPI_DATATYPE_NULL  ! MPI_DATATYPE_NULL: contiguous in the file
    end type

    type, bind(C), public :: sago_array
        integer(c_int64_t) :: offset = 0     ! bytes from the start of the file: where the array begins
        integer(c_int) :: element = MPI_BYTE
        integer(c_int) :: ndims = 0
        integer(c_int64_t) :: global(8) = 0, start(8) = 1, count(8) = 0 ! the first ndims of them
        integer(c_int64_t) :: mem_shape(8) = 0, mem_start(8) = 0        ! mem_start(1) 0: the buffer is the block
    end type

    ! ---- Files ----

    public :: sago_open, sago_close, sago_delete, sago_get_hints
    public :: sago_sync, sago_sync_local, sago_sync_own, sago_get_size, sago_set_size, sago_preallocate
    public :: sago_flush_all, sago_flush_own

    interface sago_open
        module procedure open_file
    end interface

    interface sago_delete
        module procedure delete_file
    end interface

    interface sago_get_hints
        subroutine sagof_get_hints(file, info, status) bind(C)
            import :: sago_file, c_int
            type(sago_file), intent(in) :: file
            integer(c_int), intent(in) :: info
            integer(c_int), intent(out), optional :: status
        end subroutine
    end interface

    interface
        subroutine sago_close(file, status) bind(C, name='sagof_close')
            import :: sago_file, c_int
            type(sago_file), intent(inout) :: file
            integer(c_int), intent(out), optional :: status
        end subroutine

        subroutine sago_sync(file, status) bind(C, name='sagof_sync')
            import :: sago_file, c_int
            type(sago_file), intent(in) :: file
            integer(c_int), intent(out), optional :: status
        end subroutine

        subroutine sago_sync_local(file, status) bind(C, name='sagof_sync_local')
            import :: sago_file, c_int
            type(sago_file), intent(in) :: file
            integer(c_int), intent(out), optional :: status
        end subroutine

        subroutine sago_sync_own(file, status) bind(C, name='sagof_sync_own')
            import :: sago_file, c_int
            type(sago_file), intent(in) :: file
            integer(c_int), intent(out), optional :: status
        end subroutine

        subroutine sago_flush_all(file, status) bind(C, name='sagof_flush_all')
            import :: sago_file, c_int
            type(sago_file), intent(in) :: file
            integer(c_int), intent(out), optional :: status
        end subroutine

        subroutine sago_flush_own(file, status) bind(C, name='sagof_flush_own')
            import :: sago_file, c_int
            type(sago_file), intent(in) :: file
            integer(c_int), intent(out), optional :: status
        end subroutine

        subroutine sago_get_size(file, size, status) bind(C, name='sagof_get_size')
            import :: sago_file, c_int64_t, c_int
            type(sago_file), intent(in) :: file
            integer(c_int64_t), intent(out) :: size
            integer(c_int), intent(out), optional :: status
        end subroutine

        subroutine sago_set_size(file, size, status) bind(C, name='sagof_set_size')
            import :: sago_file, c_int64_t, c_int
            type(sago_file), intent(in) :: file
            integer(c_int64_t), intent(in) :: size
            integer(c_int), intent(out), optional :: status
        end subroutine

        subroutine sago_preallocate(file, size, status) bind(C, name='sagof_preallocate')
            import :: sago_file, c_int64_t, c_int
            type(sago_file), intent(in) :: file
            integer(c_int64_t), intent(in) :: size
            integer(c_int), intent(out), optional :: status
        end subroutine
    end interface

    ! ---- Views and access by views ----

    public :: sago_set_view, sago_write_at_all, sago_read_at_all, sago_write_at, sago_read_at

    interface sago_set_view
        subroutine sagof_set_view(file, disp, etype, filetype, status) bind(C)
            import :: sago_file, c_int64_t, c_int
            type(sago_file), intent(in) :: file
            integer(c_int64_t), intent(in) :: disp
            integer(c_int), intent(in) :: etype, filetype
            integer(c_int), intent(out), optional :: status
        end subroutine
    end interface

    interface sago_write_at_all
        subroutine sagof_write_at_all(file, offset, buf, count, type, bytes, status) bind(C)
            import :: sago_file, c_int64_t, c_int
            type(sago_file), intent(in) :: file
            integer(c_int64_t), intent(in) :: offset, count
            type(*), dimension(..), intent(in) :: buf
            integer(c_int), intent(in) :: type
            integer(c_int64_t), intent(out), optional :: bytes
            integer(c_int), intent(out), optional :: status
        end subroutine
    end interface

    interface sago_read_at_all
        subroutine sagof_read_at_all(file, offset, buf, count, type, bytes, status) bind(C)
            import :: sago_file, c_int64_t, c_int
            type(sago_file), intent(in) :: file
            integer(c_int64_t), intent(in) :: offset, count
            type(*), dimension(..), intent(inout) :: buf
            integer(c_int), intent(in) :: type
            integer(c_int64_t), intent(out), optional :: bytes
            integer(c_int), intent(out), optional :: status
        end subroutine
    end interface

    interface sago_write_at
        subroutine sagof_write_at(file, offset, buf, count, type, bytes, status) bind(C)
            import :: sago_file, c_int64_t, c_int
            type(sago_file), intent(in) :: file
            integer(c_int64_t), intent(in) :: offset, count
            type(*), dimension(..), intent(in) :: buf
            integer(c_int), intent(in) :: type
            integer(c_int64_t), intent(out), optional :: bytes
            integer(c_int), intent(out), optional :: status
        end subroutine
    end interface

    interface sago_read_at
        subroutine sagof_read_at(file, offset, buf, count, type, bytes, status) bind(C)
            import :: sago_file, c_int64_t, c_int
            type(sago_file), intent(in) :: file
            integer(c_int64_t), intent(in) :: offset, count
            type(*), dimension(..), intent(inout) :: buf
            integer(c_int), intent(in) :: type
            integer(c_int64_t), intent(out), optional :: bytes
            integer(c_int), intent(out), optional :: status
        end subroutine
    end interface

    ! ---- Access by extents ----

    public :: sago_write_extents_all, sago_read_extents_all
    public :: sago_write_pieces_all, sago_read_pieces_all, sago_write_pieces, sago_read_pieces

    interface
        subroutine sago_write_extents_all(file, n, extents, buf, status) bind(C, name='sagof_write_extents_all')
            import :: sago_file, sago_extent, c_int64_t, c_int
            type(sago_file), intent(in) :: file
            integer(c_int64_t), intent(in) :: n
            type(sago_extent), intent(in) :: extents(*)
            type(*), dimension(..), intent(in) :: buf
            integer(c_int), intent(out), optional :: status
        end subroutine

        subroutine sago_read_extents_all(file, n, extents, buf, bytes, status) bind(C, name='sagof_read_extents_all')
            import :: sago_file, sago_extent, c_int64_t, c_int
            type(sago_file), intent(in) :: file
            integer(c_int64_t), intent(in) :: n
            type(sago_extent), intent(in) :: extents(*)
            type(*), dimension(..), intent(inout) :: buf
            integer(c_int64_t), intent(out), optional :: bytes
            integer(c_int), intent(out), optional :: status
        end subroutine

        subroutine sago_write_pieces_all(file, n, extents, buf, npieces, pieces, status) &
            bind(C, name='sagof_write_pieces_all')
            import :: sago_file, sago_extent, c_int64_t, c_int
            type(sago_file), intent(in) :: file
            integer(c_int64_t), intent(in) :: n, npieces
            type(sago_extent), intent(in) :: extents(*), pieces(*)
            type(*), dimension(..), intent(in) :: buf
            integer(c_int), intent(out), optional :: status
        end subroutine

        subroutine sago_read_pieces_all(file, n, extents, buf, npieces, pieces, bytes, status) &
            bind(C, name='sagof_read_pieces_all')
            import :: sago_file, sago_extent, c_int64_t, c_int
            type(sago_file), intent(in) :: file
            integer(c_int64_t), intent(in) :: n, npieces
            type(sago_extent), intent(in) :: extents(*), pieces(*)
            type(*), dimension(..), intent(inout) :: buf
            integer(c_int64_t), intent(out), optional :: bytes
            integer(c_int), intent(out), optional :: status
        end subroutine

        subroutine sago_write_pieces(file, n, extents, buf, npieces, pieces, status) &
            bind(C, name='sagof_write_pieces')
            import :: sago_file, sago_extent, c_int64_t, c_int
            type(sago_file), intent(in) :: file
            integer(c_int64_t), intent(in) :: n, npieces
            type(sago_extent), intent(in) :: extents(*), pieces(*)
            type(*), dimension(..), intent(in) :: buf
            integer(c_int), intent(out), optional :: status
        end subroutine

        subroutine sago_read_pieces(file, n, extents, buf, npieces, pieces, bytes, status) &
            bind(C, name='sagof_read_pieces')
            import :: sago_file, sago_extent, c_int64_t, c_int
            type(sago_file), intent(in) :: file
            integer(c_int64_t), intent(in) :: n, npieces
            type(sago_extent), intent(in) :: extents(*), pieces(*)
            type(*), dimension(..), intent(inout) :: buf
            integer(c_int64_t), intent(out), optional :: bytes
            integer(c_int), intent(out), optional :: status
        end subroutine
    end interface

    ! ---- Nonblocking calls ----

    public :: sago_iwrite_at_all, sago_iread_at_all, sago_iwrite_extents_all, sago_iread_extents_all, sago_wait, sago_test
    public :: sago_iwrite_pieces_all, sago_iread_pieces_all
    public :: sago_wait_begin, sago_wait_end, sago_write_elsewhere

    interface sago_iwrite_at_all
        subroutine sagof_iwrite_at_all(file, offset, buf, count, type, request, status) bind(C)
            import :: sago_file, sago_request, c_int64_t, c_int
            type(sago_file), intent(in) :: file
            integer(c_int64_t), intent(in) :: offset, count
            type(*), dimension(..), intent(in), asynchronous :: buf
            integer(c_int), intent(in) :: type
            type(sago_request), intent(out) :: request
            integer(c_int), intent(out), optional :: status
        end subroutine
    end interface

    interface sago_iread_at_all
        subroutine sagof_iread_at_all(file, offset, buf, count, type, request, status) bind(C)
            import :: sago_file, sago_request, c_int64_t, c_int
            type(sago_file), intent(in) :: file
            integer(c_int64_t), intent(in) :: offset, count
            type(*), dimension(..), intent(inout), asynchronous :: buf
            integer(c_int), intent(in) :: type
            type(sago_request), intent(out) :: request
            integer(c_int), intent(out), optional :: status
        end subroutine
    end interface

    interface
        subroutine sago_iwrite_extents_all(file, n, extents, buf, request, status) bind(C, name='sagof_iwrite_extents_all')
            import :: sago_file, sago_request, sago_extent, c_int64_t, c_int
            type(sago_file), intent(in) :: file
            integer(c_int64_t), intent(in) :: n
            type(sago_extent), intent(in) :: extents(*)
            type(*), dimension(..), intent(in), asynchronous :: buf
            type(sago_request), intent(out) :: request
            integer(c_int), intent(out), optional :: status
        end subroutine

        subroutine sago_iread_extents_all(file, n, extents, buf, request, status) bind(C, name='sagof_iread_extents_all')
            import :: sago_file, sago_request, sago_extent, c_int64_t, c_int
            type(sago_file), intent(in) :: file
            integer(c_int64_t), intent(in) :: n
            type(sago_extent), intent(in) :: extents(*)
            type(*), dimension(..), intent(inout), asynchronous :: buf
            type(sago_request), intent(out) :: request
            integer(c_int), intent(out), optional :: status
        end subroutine

        subroutine sago_iwrite_pieces_all(file, n, extents, buf, npieces, pieces, request, status) &
            bind(C, name='sagof_iwrite_pieces_all')
            import :: sago_file, sago_request, sago_extent, c_int64_t, c_int
            type(sago_file), intent(in) :: file
            integer(c_int64_t), intent(in) :: n, npieces
            type(sago_extent), intent(in) :: extents(*), pieces(*)
            type(*), dimension(..), intent(in), asynchronous :: buf
            type(sago_request), intent(out) :: request
            integer(c_int), intent(out), optional :: status
        end subroutine

        subroutine sago_iread_pieces_all(file, n, extents, buf, npieces, pieces, request, status) &
            bind(C, name='sagof_iread_pieces_all')
            import :: sago_file, sago_request, sago_extent, c_int64_t, c_int
            type(sago_file), intent(in) :: file
            integer(c_int64_t), intent(in) :: n, npieces
            type(sago_extent), intent(in) :: extents(*), pieces(*)
            type(*), dimension(..), intent(inout), asynchronous :: buf
            type(sago_request), intent(out) :: request
            integer(c_int), intent(out), optional :: status
        end subroutine

        subroutine sago_wait(request, bytes, status) bind(C, name='sagof_wait')
            import :: sago_request, c_int64_t, c_int
            type(sago_request), intent(inout) :: request
            integer(c_int64_t), intent(out), optional :: bytes
            integer(c_int), intent(out), optional :: status
        end subroutine

        subroutine sago_test(request, done, bytes, status) bind(C, name='sagof_test') ! done: 0 or 1
            import :: sago_request, c_int64_t, c_int
            type(sago_request), intent(inout) :: request
            integer(c_int), intent(out) :: done
            integer(c_int64_t), intent(out), optional :: bytes
            integer(c_int), intent(out), optional :: status
        end subroutine

        subroutine sago_wait_begin() bind(C, name='sago_wait_begin')
        end subroutine

        subroutine sago_wait_end() bind(C, name='sago_wait_end')
        end subroutine

        subroutine sago_write_elsewhere() bind(C, name='sago_write_elsewhere')
        end subroutine
    end interface

    ! ---- Access by blocks of arrays ----
    !
    ! Dimensions in Fortran's order, indices from 1 on. The array in the file has the shape `global`; this rank's block of it
    ! begins at `start` and has `count` elements along each axis, 0 for none. The array given is the block, or, with mem_start,
    ! holds it from there on (ghost cells around it) and has as many dimensions.

    public :: sago_write_block_all, sago_read_block_all, sago_iwrite_block_all, sago_iread_block_all
    integer(c_int64_t), parameter, private :: whole(1) = 0

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

    interface
        subroutine c_block(file, write, offset, type, ndims, global, start, count, data, mem_start, bytes, status) &
            bind(C, name='sagof_block_all')
            import :: sago_file, c_int64_t, c_int
            type(sago_file), intent(in) :: file
            integer(c_int), intent(in) :: write, type, ndims
            integer(c_int64_t), intent(in) :: offset, global(*), start(*), count(*), mem_start(*)
            type(*), dimension(..), intent(in) :: data
            integer(c_int64_t), intent(out), optional :: bytes
            integer(c_int), intent(out), optional :: status
        end subroutine

        subroutine c_iblock(file, write, offset, type, ndims, global, start, count, data, mem_start, request, status) &
            bind(C, name='sagof_iblock_all')
            import :: sago_file, sago_request, c_int64_t, c_int
            type(sago_file), intent(in) :: file
            integer(c_int), intent(in) :: write, type, ndims
            integer(c_int64_t), intent(in) :: offset, global(*), start(*), count(*), mem_start(*)
            type(*), dimension(..), intent(in), asynchronous :: data
            type(sago_request), intent(out) :: request
            integer(c_int), intent(out), optional :: status
        end subroutine
    end interface

    ! ---- Declared I/O ----

    public :: sago_declare_arrays
    public :: sago_declare, sago_series_write, sago_series_read, sago_series_complete, sago_series_bytes, &
        sago_series_next, sago_series_free

    interface
        subroutine sago_declare(file, nvars, vars, series, status) bind(C, name='sagof_declare')
            import :: sago_file, sago_series, sago_var, c_int64_t, c_int
            type(sago_file), intent(in) :: file
            integer(c_int64_t), intent(in) :: nvars
            type(sago_var), intent(in) :: vars(*)
            type(sago_series), intent(out) :: series
            integer(c_int), intent(out), optional :: status
        end subroutine

        subroutine sago_declare_arrays(file, n, arrays, series, status) bind(C, name='sagof_declare_arrays')
            import :: sago_file, sago_series, sago_array, c_int64_t, c_int
            type(sago_file), intent(in) :: file
            integer(c_int64_t), intent(in) :: n
            type(sago_array), intent(in) :: arrays(*)
            type(sago_series), intent(out) :: series
            integer(c_int), intent(out), optional :: status
        end subroutine

        subroutine sago_series_write(series, var, buf, status) bind(C, name='sagof_series_write')
            import :: sago_series, c_int64_t, c_int
            type(sago_series), intent(in) :: series
            integer(c_int64_t), intent(in) :: var
            type(*), dimension(..), intent(in), asynchronous :: buf
            integer(c_int), intent(out), optional :: status
        end subroutine

        subroutine sago_series_read(series, var, buf, status) bind(C, name='sagof_series_read')
            import :: sago_series, c_int64_t, c_int
            type(sago_series), intent(in) :: series
            integer(c_int64_t), intent(in) :: var
            type(*), dimension(..), intent(inout), asynchronous :: buf
            integer(c_int), intent(out), optional :: status
        end subroutine

        subroutine sago_series_complete(series, status) bind(C, name='sagof_series_complete')
            import :: sago_series, c_int
            type(sago_series), intent(in) :: series
            integer(c_int), intent(out), optional :: status
        end subroutine

        subroutine sago_series_bytes(series, bytes, status) bind(C, name='sagof_series_bytes')
            import :: sago_series, c_int64_t, c_int
            type(sago_series), intent(in) :: series
            integer(c_int64_t), intent(out) :: bytes
            integer(c_int), intent(out), optional :: status
        end subroutine

        subroutine sago_series_next(series, disp, status) bind(C, name='sagof_series_next')
            import :: sago_series, c_int64_t, c_int
            type(sago_series), intent(in) :: series
            integer(c_int64_t), intent(in) :: disp
            integer(c_int), intent(out), optional :: status
        end subroutine

        subroutine sago_series_free(series, status) bind(C, name='sagof_series_free')
            import :: sago_series, c_int
            type(sago_series), intent(inout) :: series
            integer(c_int), intent(out), optional :: status
        end subroutine
    end interface

    ! ---- Storage neighbourhoods ----

    public :: sago_comm_split_storage, sago_storage_shared

    integer, parameter, public :: SAGO_STORAGE_AUTO = 0, SAGO_STORAGE_EXHAUSTIVE = 1, SAGO_STORAGE_HEURISTIC = 2

    interface sago_comm_split_storage
        module procedure split_storage
    end interface

    interface sago_storage_shared
        subroutine sagof_storage_shared(neighbourhood, one_rank, other_rank, shared, status) bind(C) ! shared: 0 or 1
            import :: c_int
            integer(c_int), intent(in) :: neighbourhood, one_rank, other_rank
            integer(c_int), intent(out) :: shared
            integer(c_int), intent(out), optional :: status
        end subroutine
    end interface

    ! Producers and consumers; an empty name of the local directory is none, as NULL in C.

    type, bind(C), public :: sago_exchange
        type(c_ptr) :: handle = c_null_ptr
    end type

    public :: sago_exchange_open, sago_exchange_put, sago_exchange_get, sago_exchange_is_local, sago_exchange_close

    interface
        subroutine sago_exchange_is_local(exchange, one_rank, other_rank, local, status) & ! local: 0 or 1
            bind(C, name='sagof_exchange_is_local')
            import :: sago_exchange, c_int
            type(sago_exchange), intent(in) :: exchange
            integer(c_int), intent(in) :: one_rank, other_rank
            integer(c_int), intent(out) :: local
            integer(c_int), intent(out), optional :: status
        end subroutine

        subroutine sago_exchange_close(exchange, status) bind(C, name='sagof_exchange_close')
            import :: sago_exchange, c_int
            type(sago_exchange), intent(inout) :: exchange
            integer(c_int), intent(out), optional :: status
        end subroutine

        subroutine c_exchange_open(comm, global, local, exchange, status) bind(C, name='sagof_exchange_open')
            import :: sago_exchange, c_char, c_int
            integer(c_int), intent(in) :: comm
            character(kind=c_char), intent(in) :: global(*), local(*)
            type(sago_exchange), intent(out) :: exchange
            integer(c_int), intent(out), optional :: status
        end subroutine

        subroutine c_exchange_put(exchange, consumer, name, data, bytes, status) bind(C, name='sagof_exchange_put')
            import :: sago_exchange, c_char, c_int, c_int64_t
            type(sago_exchange), intent(in) :: exchange
            integer(c_int), intent(in) :: consumer
            character(kind=c_char), intent(in) :: name(*)
            type(*), dimension(..), intent(in) :: data
            integer(c_int64_t), intent(in) :: bytes
            integer(c_int), intent(out), optional :: status
        end subroutine

        subroutine c_exchange_get(exchange, producer, name, data, capacity, seconds, bytes, status) &
            bind(C, name='sagof_exchange_get')
            import :: sago_exchange, c_char, c_double, c_int, c_int64_t
            type(sago_exchange), intent(in) :: exchange
            integer(c_int), intent(in) :: producer
            character(kind=c_char), intent(in) :: name(*)
            type(*), dimension(..), intent(inout) :: data
            integer(c_int64_t), intent(in) :: capacity
            real(c_double), intent(in) :: seconds
            integer(c_int64_t), intent(out), optional :: bytes
            integer(c_int), intent(out), optional :: status
        end subroutine
    end interface

    ! ---- Checkpoints (checkpoints.f90) ----

    public :: sago_ckpt, sago_ckpt_step, sago_ckpt_info, sago_ckpt_save_stats, sago_ckpt_stats, sago_ckpt_report, &
        sago_ckpt_open, sago_ckpt_close, sago_ckpt_protect, sago_ckpt_protect_local, sago_ckpt_protect_shared, &
        sago_ckpt_unprotect, sago_ckpt_save, sago_ckpt_progress, sago_ckpt_wait, sago_ckpt_latest, sago_ckpt_list, &
        sago_ckpt_inquire, sago_ckpt_inquire_index, sago_ckpt_restore, sago_ckpt_restore_latest, sago_ckpt_due, &
        sago_ckpt_get_report, sago_ckpt_verify, sago_ckpt_drain, sago_ckpt_repair, sago_ckpt_remove, &
        sago_ckpt_remove_damaged, sago_ckpt_get_stats
    public :: SAGO_LEVEL_MEMORY, SAGO_LEVEL_LOCAL, SAGO_LEVEL_REDUNDANT, SAGO_LEVEL_GLOBAL, SAGO_CKPT_ARRAY, &
        SAGO_CKPT_LOCAL, SAGO_CKPT_SHARED, SAGO_CKPT_DIMS_MAX, SAGO_CKPT_NAME_MAX, SAGO_CKPT_RECENT

    ! ---- Meshes (meshes.f90) ----

    public :: sago_mesh, sago_mesh_begin, sago_mesh_points, sago_mesh_cells, sago_mesh_field, sago_mesh_end
    public :: SAGO_MESH_VTK, SAGO_MESH_VTU, SAGO_MESH_AT_POINTS, SAGO_MESH_AT_CELLS

    ! ---- Behind the wrappers ----

    interface
        subroutine c_open(comm, path, amode, info, file, status) bind(C, name='sagof_open')
            import :: sago_file, c_char, c_int
            integer(c_int), intent(in) :: comm, amode, info
            character(kind=c_char), intent(in) :: path(*)
            type(sago_file), intent(out) :: file
            integer(c_int), intent(out), optional :: status
        end subroutine

        subroutine c_delete(path, info, status) bind(C, name='sagof_delete')
            import :: c_char, c_int
            character(kind=c_char), intent(in) :: path(*)
            integer(c_int), intent(in) :: info
            integer(c_int), intent(out), optional :: status
        end subroutine

        subroutine c_split_storage(comm, dir, mode, key, newcomm, status) bind(C, name='sagof_comm_split_storage')
            import :: c_char, c_int
            integer(c_int), intent(in) :: comm, mode, key
            character(kind=c_char), intent(in) :: dir(*)
            integer(c_int), intent(out) :: newcomm
            integer(c_int), intent(out), optional :: status
        end subroutine

        function c_error_message() result(text) bind(C, name='sago_error_message')
            import :: c_ptr
            type(c_ptr) :: text
        end function

        function c_status_string(status) result(text) bind(C, name='sago_status_string')
            import :: c_ptr, c_int
            integer(c_int), value :: status
            type(c_ptr) :: text
        end function

        function c_status_mpi_class(status) result(class) bind(C, name='sago_status_mpi_class')
            import :: c_int
            integer(c_int), value :: status
            integer(c_int) :: class
        end function

        function c_version(major, minor, patch) result(text) bind(C, name='sago_version')
            import :: c_ptr
            type(c_ptr), value :: major, minor, patch
            type(c_ptr) :: text
        end function

        function c_strlen(text) result(length) bind(C, name='strlen')
            import :: c_ptr, c_size_t
            type(c_ptr), value :: text
            integer(c_size_t) :: length
        end function
    end interface

contains

    subroutine sago_exchange_open(comm, global, local, exchange, status)
        integer, intent(in) :: comm
        character(len=*), intent(in) :: global, local
        type(sago_exchange), intent(out) :: exchange
        integer, intent(out), optional :: status
        call c_exchange_open(comm, trim(global)//c_null_char, trim(local)//c_null_char, exchange, status)
    end subroutine

    subroutine sago_exchange_put(exchange, consumer, name, data, bytes, status)
        type(sago_exchange), intent(in) :: exchange
        integer, intent(in) :: consumer
        character(len=*), intent(in) :: name
        type(*), dimension(..), intent(in) :: data
        integer(c_int64_t), intent(in) :: bytes
        integer, intent(out), optional :: status
        call c_exchange_put(exchange, consumer, trim(name)//c_null_char, data, bytes, status)
    end subroutine

    subroutine sago_exchange_get(exchange, producer, name, data, capacity, seconds, bytes, status)
        type(sago_exchange), intent(in) :: exchange
        integer, intent(in) :: producer
        character(len=*), intent(in) :: name
        type(*), dimension(..), intent(inout) :: data
        integer(c_int64_t), intent(in) :: capacity
        real(c_double), intent(in) :: seconds
        integer(c_int64_t), intent(out), optional :: bytes
        integer, intent(out), optional :: status
        call c_exchange_get(exchange, producer, trim(name)//c_null_char, data, capacity, seconds, bytes, status)
    end subroutine

    subroutine open_file(comm, path, amode, info, file, status)
        integer, intent(in) :: comm, amode, info
        character(len=*), intent(in) :: path
        type(sago_file), intent(out) :: file
        integer, intent(out), optional :: status
        call c_open(comm, trim(path)//c_null_char, amode, info, file, status)
    end subroutine

    subroutine delete_file(path, info, status)
        character(len=*), intent(in) :: path
        integer, intent(in) :: info
        integer, intent(out), optional :: status
        call c_delete(trim(path)//c_null_char, info, status)
    end subroutine

    subroutine split_storage(comm, dir, mode, key, newcomm, status)
        integer, intent(in) :: comm, mode, key
        character(len=*), intent(in) :: dir
        integer, intent(out) :: newcomm
        integer, intent(out), optional :: status
        call c_split_storage(comm, trim(dir)//c_null_char, mode, key, newcomm, status)
    end subroutine

    ! What went wrong in the last failed call; '' after a success.
    function sago_error_message() result(text)
        character(len=:), allocatable :: text
        text = from_c(c_error_message())
    end function

    function sago_status_string(status) result(text)
        integer, intent(in) :: status
        character(len=:), allocatable :: text
        text = from_c(c_status_string(int(status, c_int)))
    end function

    integer function sago_status_mpi_class(status) result(class)
        integer, intent(in) :: status
        class = int(c_status_mpi_class(int(status, c_int)))
    end function

    function sago_version() result(text)
        character(len=:), allocatable :: text
        text = from_c(c_version(c_null_ptr, c_null_ptr, c_null_ptr))
    end function

    function from_c(pointer) result(text)
        type(c_ptr), intent(in) :: pointer
        character(len=:), allocatable :: text
        character(kind=c_char), pointer :: chars(:)
        integer :: i
        call c_f_pointer(pointer, chars, [c_strlen(pointer)])
        allocate (character(len=size(chars)) :: text)
        do i = 1, size(chars)
            text(i:i) = chars(i)
        end do
    end function

    subroutine write_block(file, offset, type, global, start, count, buf, status)
        type(sago_file), intent(in) :: file
        integer(c_int64_t), intent(in) :: offset, global(:), start(:), count(:)
        integer(c_int), intent(in) :: type
        type(*), dimension(..), intent(in) :: buf
        integer(c_int), intent(out), optional :: status
        call c_block(file, 1_c_int, offset, type, size(global), global, start, count, buf, whole, &
            status=status)
    end subroutine

    subroutine write_block_inside(file, offset, type, global, start, count, buf, mem_start, status)
        type(sago_file), intent(in) :: file
        integer(c_int64_t), intent(in) :: offset, global(:), start(:), count(:)
        integer(c_int), intent(in) :: type
        type(*), dimension(..), intent(in) :: buf
        integer(c_int64_t), intent(in) :: mem_start(:)
        integer(c_int), intent(out), optional :: status
        call c_block(file, 1_c_int, offset, type, size(global), global, start, count, buf, mem_start, &
            status=status)
    end subroutine

    subroutine read_block(file, offset, type, global, start, count, buf, bytes, status)
        type(sago_file), intent(in) :: file
        integer(c_int64_t), intent(in) :: offset, global(:), start(:), count(:)
        integer(c_int), intent(in) :: type
        type(*), dimension(..), intent(inout) :: buf
        integer(c_int64_t), intent(out), optional :: bytes
        integer(c_int), intent(out), optional :: status
        call c_block(file, 0_c_int, offset, type, size(global), global, start, count, buf, whole, &
            bytes, status)
    end subroutine

    subroutine read_block_inside(file, offset, type, global, start, count, buf, mem_start, bytes, status)
        type(sago_file), intent(in) :: file
        integer(c_int64_t), intent(in) :: offset, global(:), start(:), count(:)
        integer(c_int), intent(in) :: type
        type(*), dimension(..), intent(inout) :: buf
        integer(c_int64_t), intent(in) :: mem_start(:)
        integer(c_int64_t), intent(out), optional :: bytes
        integer(c_int), intent(out), optional :: status
        call c_block(file, 0_c_int, offset, type, size(global), global, start, count, buf, mem_start, &
            bytes, status)
    end subroutine

    subroutine iwrite_block(file, offset, type, global, start, count, buf, request, status)
        type(sago_file), intent(in) :: file
        integer(c_int64_t), intent(in) :: offset, global(:), start(:), count(:)
        integer(c_int), intent(in) :: type
        type(*), dimension(..), intent(in), asynchronous :: buf
        type(sago_request), intent(out) :: request
        integer(c_int), intent(out), optional :: status
        call c_iblock(file, 1_c_int, offset, type, size(global), global, start, count, buf, whole, &
            request, status)
    end subroutine

    subroutine iwrite_block_inside(file, offset, type, global, start, count, buf, mem_start, request, status)
        type(sago_file), intent(in) :: file
        integer(c_int64_t), intent(in) :: offset, global(:), start(:), count(:)
        integer(c_int), intent(in) :: type
        type(*), dimension(..), intent(in), asynchronous :: buf
        integer(c_int64_t), intent(in) :: mem_start(:)
        type(sago_request), intent(out) :: request
        integer(c_int), intent(out), optional :: status
        call c_iblock(file, 1_c_int, offset, type, size(global), global, start, count, buf, mem_start, &
            request, status)
    end subroutine

    subroutine iread_block(file, offset, type, global, start, count, buf, request, status)
        type(sago_file), intent(in) :: file
        integer(c_int64_t), intent(in) :: offset, global(:), start(:), count(:)
        integer(c_int), intent(in) :: type
        type(*), dimension(..), intent(inout), asynchronous :: buf
        type(sago_request), intent(out) :: request
        integer(c_int), intent(out), optional :: status
        call c_iblock(file, 0_c_int, offset, type, size(global), global, start, count, buf, whole, &
            request, status)
    end subroutine

    subroutine iread_block_inside(file, offset, type, global, start, count, buf, mem_start, request, status)
        type(sago_file), intent(in) :: file
        integer(c_int64_t), intent(in) :: offset, global(:), start(:), count(:)
        integer(c_int), intent(in) :: type
        type(*), dimension(..), intent(inout), asynchronous :: buf
        integer(c_int64_t), intent(in) :: mem_start(:)
        type(sago_request), intent(out) :: request
        integer(c_int), intent(out), optional :: status
        call c_iblock(file, 0_c_int, offset, type, size(global), global, start, count, buf, mem_start, &
            request, status)
    end subroutine
end module
