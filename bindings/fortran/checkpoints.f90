! Checkpoints for Fortran: the calls of <sago/ckpt.h>, which says what each of them does.  Programs use the module sago
! (or sago_f08), which has all of this.
!
! What differs from C: arrays are Fortran's, the first index moving fastest, and positions are counted from 1; a rank
! protects one block of an array (or none: a count of 0); the shape of the memory around it is that of the array given.
module sago_checkpoints
    use, intrinsic :: iso_c_binding, only: c_char, c_double, c_int, c_int64_t, c_null_char, c_null_ptr, c_ptr, c_size_t
    implicit none
    private

    integer, parameter, public :: &
        SAGO_CKPT_DIMS_MAX = 8, &
        SAGO_CKPT_NAME_MAX = 128, &
        SAGO_CKPT_RECENT = 8, &
        SAGO_LEVEL_MEMORY = 0, &
        SAGO_LEVEL_LOCAL = 1, &
        SAGO_LEVEL_REDUNDANT = 2, &
        SAGO_LEVEL_GLOBAL = 3, &
        SAGO_CKPT_ARRAY = 0, &
        SAGO_CKPT_LOCAL = 1, &
        SAGO_CKPT_SHARED = 2

    type, bind(C), public :: sago_ckpt
        type(c_ptr) :: handle = c_null_ptr
    end type

    type, bind(C), public :: sago_ckpt_step
        integer(c_int64_t) :: step, time, bytes, files, writers, ranks, arrays
        integer(c_int) :: complete(SAGO_LEVEL_MEMORY:SAGO_LEVEL_GLOBAL)    ! 0 or 1
        integer(c_int64_t) :: parts(SAGO_LEVEL_MEMORY:SAGO_LEVEL_GLOBAL)
        integer(c_int64_t) :: save_id(2)
        integer(c_int) :: damaged, late                                    ! 0 or 1
    end type

    type, public :: sago_ckpt_info
        character(len=SAGO_CKPT_NAME_MAX) :: name = ''
        integer :: kind = SAGO_CKPT_ARRAY
        character(len=32) :: type = ''
        integer(c_int64_t) :: element_size = 0
        integer :: ndims = 0
        integer(c_int64_t) :: global(SAGO_CKPT_DIMS_MAX) = 0    ! in Fortran's order
        integer(c_int64_t) :: bytes = 0, ranks = 0
    end type

    type, bind(C), public :: sago_ckpt_save_stats
        integer(c_int64_t) :: step, bytes
        integer(c_int) :: written, level
        real(c_double) :: held, copy, queue, write, redundancy, drain, perceived, raw
    end type

    type, bind(C), public :: sago_ckpt_stats
        integer(c_size_t) :: size
        integer(c_int64_t) :: saves, failed, skipped, replaced, restores, bytes_saved
        real(c_double) :: held, copy, queue, write, redundancy, drain, thread_cpu, restore
        integer(c_int64_t) :: pool_bytes, nrecent
        type(sago_ckpt_save_stats) :: recent(SAGO_CKPT_RECENT)
        integer(c_int64_t) :: damaged, damaged_bytes, passed_over
        integer(c_int64_t) :: hung_calls, hung_bytes
    end type

    type, public :: sago_ckpt_report
        integer(c_int64_t), dimension(SAGO_LEVEL_MEMORY:SAGO_LEVEL_GLOBAL) :: bytes_from = 0, damaged = 0, missing = 0
        character(len=1024) :: text = ''
        integer(c_int64_t) :: step = -1, passed_over = 0
    end type

    public :: sago_ckpt_open, sago_ckpt_close, sago_ckpt_protect, sago_ckpt_protect_local, sago_ckpt_protect_shared, &
        sago_ckpt_unprotect, sago_ckpt_save, sago_ckpt_progress, sago_ckpt_wait, sago_ckpt_latest, sago_ckpt_list, &
        sago_ckpt_inquire, sago_ckpt_inquire_index, sago_ckpt_restore, sago_ckpt_restore_latest, sago_ckpt_due, &
        sago_ckpt_get_report, sago_ckpt_verify, sago_ckpt_drain, sago_ckpt_repair, sago_ckpt_remove, &
        sago_ckpt_remove_damaged, sago_ckpt_get_stats

    interface sago_ckpt_open
        module procedure open_directory
    end interface

    ! (ckpt, name, type, global, start, count, data [, mem_start], status): this rank's block of a global array begins at
    ! `start`; in `data` it begins at mem_start, or fills all of it.
    interface sago_ckpt_protect
        module procedure protect_block, protect_inside
    end interface

    interface
        subroutine sago_ckpt_close(ckpt, status) bind(C, name='sagof_ckpt_close')
            import :: sago_ckpt, c_int
            type(sago_ckpt), intent(inout) :: ckpt
            integer(c_int), intent(out), optional :: status
        end subroutine

        subroutine sago_ckpt_save(ckpt, step, status) bind(C, name='sagof_ckpt_save')
            import :: sago_ckpt, c_int, c_int64_t
            type(sago_ckpt), intent(in) :: ckpt
            integer(c_int64_t), intent(in) :: step
            integer(c_int), intent(out), optional :: status
        end subroutine

        subroutine sago_ckpt_progress(ckpt, status) bind(C, name='sagof_ckpt_progress')
            import :: sago_ckpt, c_int
            type(sago_ckpt), intent(in) :: ckpt
            integer(c_int), intent(out), optional :: status
        end subroutine

        subroutine sago_ckpt_wait(ckpt, step, level, status) bind(C, name='sagof_ckpt_wait')
            import :: sago_ckpt, c_int, c_int64_t
            type(sago_ckpt), intent(in) :: ckpt
            integer(c_int64_t), intent(in) :: step
            integer(c_int), intent(in) :: level
            integer(c_int), intent(out), optional :: status
        end subroutine

        subroutine sago_ckpt_latest(ckpt, at_least, step, status) bind(C, name='sagof_ckpt_latest')
            import :: sago_ckpt, c_int, c_int64_t
            type(sago_ckpt), intent(in) :: ckpt
            integer(c_int), intent(in) :: at_least
            integer(c_int64_t), intent(out) :: step
            integer(c_int), intent(out), optional :: status
        end subroutine

        subroutine sago_ckpt_list(ckpt, count, steps, status) bind(C, name='sagof_ckpt_list')
            import :: sago_ckpt, sago_ckpt_step, c_int, c_int64_t
            type(sago_ckpt), intent(in) :: ckpt
            integer(c_int64_t), intent(inout) :: count
            type(sago_ckpt_step), intent(inout) :: steps(*)
            integer(c_int), intent(out), optional :: status
        end subroutine

        subroutine sago_ckpt_restore(ckpt, step, status) bind(C, name='sagof_ckpt_restore')
            import :: sago_ckpt, c_int, c_int64_t
            type(sago_ckpt), intent(in) :: ckpt
            integer(c_int64_t), intent(in) :: step
            integer(c_int), intent(out), optional :: status
        end subroutine

        subroutine sago_ckpt_restore_latest(ckpt, step, status) bind(C, name='sagof_ckpt_restore_latest')
            import :: sago_ckpt, c_int, c_int64_t
            type(sago_ckpt), intent(in) :: ckpt
            integer(c_int64_t), intent(out) :: step
            integer(c_int), intent(out), optional :: status
        end subroutine

        subroutine sago_ckpt_due(ckpt, due, leave, status) bind(C, name='sagof_ckpt_due') ! due, leave: 0 or 1
            import :: sago_ckpt, c_int
            type(sago_ckpt), intent(in) :: ckpt
            integer(c_int), intent(out) :: due, leave
            integer(c_int), intent(out), optional :: status
        end subroutine

        subroutine sago_ckpt_verify(ckpt, step, status) bind(C, name='sagof_ckpt_verify')
            import :: sago_ckpt, c_int, c_int64_t
            type(sago_ckpt), intent(in) :: ckpt
            integer(c_int64_t), intent(in) :: step
            integer(c_int), intent(out), optional :: status
        end subroutine

        subroutine sago_ckpt_drain(ckpt, step, status) bind(C, name='sagof_ckpt_drain')
            import :: sago_ckpt, c_int, c_int64_t
            type(sago_ckpt), intent(in) :: ckpt
            integer(c_int64_t), intent(in) :: step
            integer(c_int), intent(out), optional :: status
        end subroutine

        subroutine sago_ckpt_repair(ckpt, step, status) bind(C, name='sagof_ckpt_repair')
            import :: sago_ckpt, c_int, c_int64_t
            type(sago_ckpt), intent(in) :: ckpt
            integer(c_int64_t), intent(in) :: step
            integer(c_int), intent(out), optional :: status
        end subroutine

        subroutine sago_ckpt_remove(ckpt, step, status) bind(C, name='sagof_ckpt_remove')
            import :: sago_ckpt, c_int, c_int64_t
            type(sago_ckpt), intent(in) :: ckpt
            integer(c_int64_t), intent(in) :: step
            integer(c_int), intent(out), optional :: status
        end subroutine

        subroutine sago_ckpt_remove_damaged(ckpt, step, status) bind(C, name='sagof_ckpt_remove_damaged')
            import :: sago_ckpt, c_int, c_int64_t
            type(sago_ckpt), intent(in) :: ckpt
            integer(c_int64_t), intent(in) :: step
            integer(c_int), intent(out), optional :: status
        end subroutine

        subroutine sago_ckpt_get_stats(ckpt, stats, status) bind(C, name='sagof_ckpt_get_stats')
            import :: sago_ckpt, sago_ckpt_stats, c_int
            type(sago_ckpt), intent(in) :: ckpt
            type(sago_ckpt_stats), intent(out) :: stats
            integer(c_int), intent(out), optional :: status
        end subroutine
    end interface

    ! ---- Behind the wrappers ----

    interface
        subroutine c_open(comm, dir, info, ckpt, status) bind(C, name='sagof_ckpt_open')
            import :: sago_ckpt, c_char, c_int
            integer(c_int), intent(in) :: comm, info
            character(kind=c_char), intent(in) :: dir(*)
            type(sago_ckpt), intent(out) :: ckpt
            integer(c_int), intent(out), optional :: status
        end subroutine

        ! mem_start(1) = 0: the block fills the memory.
        subroutine c_protect(ckpt, name, type, ndims, global, start, count, data, mem_start, status) &
            bind(C, name='sagof_ckpt_protect')
            import :: sago_ckpt, c_char, c_int, c_int64_t
            type(sago_ckpt), intent(in) :: ckpt
            character(kind=c_char), intent(in) :: name(*)
            integer(c_int), intent(in) :: type, ndims
            integer(c_int64_t), intent(in) :: global(*), start(*), count(*), mem_start(*)
            type(*), dimension(..), intent(in), asynchronous :: data
            integer(c_int), intent(out), optional :: status
        end subroutine

        subroutine c_protect_bytes(ckpt, name, shared, data, bytes, status) bind(C, name='sagof_ckpt_protect_bytes')
            import :: sago_ckpt, c_char, c_int, c_int64_t
            type(sago_ckpt), intent(in) :: ckpt
            character(kind=c_char), intent(in) :: name(*)
            integer(c_int), intent(in) :: shared
            type(*), dimension(..), intent(in), asynchronous :: data
            integer(c_int64_t), intent(in) :: bytes
            integer(c_int), intent(out), optional :: status
        end subroutine

        subroutine c_unprotect(ckpt, name, status) bind(C, name='sagof_ckpt_unprotect')
            import :: sago_ckpt, c_char, c_int
            type(sago_ckpt), intent(in) :: ckpt
            character(kind=c_char), intent(in) :: name(*)
            integer(c_int), intent(out), optional :: status
        end subroutine

        ! index = 0: by name, else by the number of the name, from 1.
        subroutine c_inquire(ckpt, step, index, name, type, numbers, global, status) bind(C, name='sagof_ckpt_inquire')
            import :: sago_ckpt, c_char, c_int, c_int64_t
            type(sago_ckpt), intent(in) :: ckpt
            integer(c_int64_t), intent(in) :: step, index
            character(kind=c_char), intent(inout) :: name(*), type(*)
            integer(c_int64_t), intent(out) :: numbers(5), global(*)
            integer(c_int), intent(out), optional :: status
        end subroutine

        subroutine c_get_report(ckpt, bytes_from, damaged, missing, text, steps, status) &
            bind(C, name='sagof_ckpt_get_report')
            import :: sago_ckpt, c_char, c_int, c_int64_t
            type(sago_ckpt), intent(in) :: ckpt
            integer(c_int64_t), intent(out) :: bytes_from(*), damaged(*), missing(*), steps(2)
            character(kind=c_char), intent(out) :: text(*)
            integer(c_int), intent(out), optional :: status
        end subroutine
    end interface

contains

    subroutine open_directory(comm, dir, info, ckpt, status)
        integer, intent(in) :: comm, info
        character(len=*), intent(in) :: dir
        type(sago_ckpt), intent(out) :: ckpt
        integer, intent(out), optional :: status
        call c_open(comm, trim(dir)//c_null_char, info, ckpt, status)
    end subroutine

    subroutine protect_block(ckpt, name, type, global, start, count, data, status)
        type(sago_ckpt), intent(in) :: ckpt
        character(len=*), intent(in) :: name
        integer, intent(in) :: type
        integer(c_int64_t), intent(in) :: global(:), start(:), count(:)
        type(*), dimension(..), intent(in), asynchronous :: data
        integer, intent(out), optional :: status
        integer(c_int64_t) :: whole(1)
        whole = 0
        call c_protect(ckpt, trim(name)//c_null_char, type, size(global), global, start, count, data, whole, status)
    end subroutine

    subroutine protect_inside(ckpt, name, type, global, start, count, data, mem_start, status)
        type(sago_ckpt), intent(in) :: ckpt
        character(len=*), intent(in) :: name
        integer, intent(in) :: type
        integer(c_int64_t), intent(in) :: global(:), start(:), count(:), mem_start(:)
        type(*), dimension(..), intent(in), asynchronous :: data
        integer, intent(out), optional :: status
        call c_protect(ckpt, trim(name)//c_null_char, type, size(global), global, start, count, data, mem_start, status)
    end subroutine

    subroutine sago_ckpt_protect_local(ckpt, name, data, bytes, status)
        type(sago_ckpt), intent(in) :: ckpt
        character(len=*), intent(in) :: name
        type(*), dimension(..), intent(in), asynchronous :: data
        integer(c_int64_t), intent(in) :: bytes
        integer, intent(out), optional :: status
        call c_protect_bytes(ckpt, trim(name)//c_null_char, 0_c_int, data, bytes, status)
    end subroutine

    subroutine sago_ckpt_protect_shared(ckpt, name, data, bytes, status)
        type(sago_ckpt), intent(in) :: ckpt
        character(len=*), intent(in) :: name
        type(*), dimension(..), intent(in), asynchronous :: data
        integer(c_int64_t), intent(in) :: bytes
        integer, intent(out), optional :: status
        call c_protect_bytes(ckpt, trim(name)//c_null_char, 1_c_int, data, bytes, status)
    end subroutine

    subroutine sago_ckpt_unprotect(ckpt, name, status)
        type(sago_ckpt), intent(in) :: ckpt
        character(len=*), intent(in) :: name
        integer, intent(out), optional :: status
        call c_unprotect(ckpt, trim(name)//c_null_char, status)
    end subroutine

    subroutine sago_ckpt_inquire(ckpt, step, name, info, status)
        type(sago_ckpt), intent(in) :: ckpt
        integer(c_int64_t), intent(in) :: step
        character(len=*), intent(in) :: name
        type(sago_ckpt_info), intent(out) :: info
        integer, intent(out), optional :: status
        call ask(ckpt, step, 0_c_int64_t, name, info, status)
    end subroutine

    subroutine sago_ckpt_inquire_index(ckpt, step, index, info, status) ! index: from 1
        type(sago_ckpt), intent(in) :: ckpt
        integer(c_int64_t), intent(in) :: step, index
        type(sago_ckpt_info), intent(out) :: info
        integer, intent(out), optional :: status
        call ask(ckpt, step, index, '', info, status)
    end subroutine

    subroutine ask(ckpt, step, index, name, info, status)
        type(sago_ckpt), intent(in) :: ckpt
        integer(c_int64_t), intent(in) :: step, index
        character(len=*), intent(in) :: name
        type(sago_ckpt_info), intent(out) :: info
        integer, intent(out), optional :: status
        character(kind=c_char, len=SAGO_CKPT_NAME_MAX) :: found
        character(kind=c_char, len=32) :: type
        integer(c_int64_t) :: numbers(5)
        if (len_trim(name) < SAGO_CKPT_NAME_MAX) then
            found = trim(name)//c_null_char
        else
            found = c_null_char ! too long for any name
        end if
        call c_inquire(ckpt, step, index, found, type, numbers, info%global, status)
        info%name = before_null(found)
        info%type = before_null(type)
        info%kind = int(numbers(1))
        info%element_size = numbers(2)
        info%ndims = int(numbers(3))
        info%bytes = numbers(4)
        info%ranks = numbers(5)
    end subroutine

    subroutine sago_ckpt_get_report(ckpt, report, status)
        type(sago_ckpt), intent(in) :: ckpt
        type(sago_ckpt_report), intent(out) :: report
        integer, intent(out), optional :: status
        character(kind=c_char, len=1024) :: text
        integer(c_int64_t) :: steps(2)
        call c_get_report(ckpt, report%bytes_from, report%damaged, report%missing, text, steps, status)
        report%text = before_null(text)
        report%step = steps(1)
        report%passed_over = steps(2)
    end subroutine

    pure function before_null(chars) result(text)
        character(len=*), intent(in) :: chars
        character(len=len(chars)) :: text
        integer :: at
        at = index(chars, c_null_char)
        text = chars
        if (at > 0) text = chars(1:at - 1)
    end function
end module
