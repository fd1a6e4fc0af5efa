/* The MPI-IO calls that Sago stands in front of, and the way past it.
 *
 * One row a call: name, parameters, arguments.  From the rows come the table of the next functions (calls.h), the
 * entry points MPI_File_x and PMPI_File_x (calls.c), and the declarations of what stands behind them: dropin_x(),
 * which gets the row's parameters and the table `next` to hand the call on with.
 *
 * Calls without a row never come here: they go to the MPI library, whose MPI_File every handle is. */
#ifndef DROPIN_CALLS_H
#define DROPIN_CALLS_H

#include <stdbool.h>

#include <sago/sago.h>

/* clang-format off */

/* Opening, closing, and what decides how a file is accessed. */
#define DROPIN_FILE_CALLS(X)                                                                                  \
    X(open, (MPI_Comm comm, const char *path, int amode, MPI_Info info, MPI_File *file),                      \
      (comm, path, amode, info, file))                                                                        \
    X(close, (MPI_File *file), (file))                                                                        \
    X(set_view, (MPI_File file, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype,                   \
                 const char *datarep, MPI_Info info), (file, disp, etype, filetype, datarep, info))           \
    X(get_position, (MPI_File file, MPI_Offset *offset), (file, offset))                                      \
    X(seek, (MPI_File file, MPI_Offset offset, int whence), (file, offset, whence))                           \
    X(seek_shared, (MPI_File file, MPI_Offset offset, int whence), (file, offset, whence))                    \
    X(set_atomicity, (MPI_File file, int flag), (file, flag))                                                 \
    X(set_size, (MPI_File file, MPI_Offset size), (file, size))                                               \
    X(get_size, (MPI_File file, MPI_Offset *size), (file, size))                                              \
    X(preallocate, (MPI_File file, MPI_Offset size), (file, size))                                            \
    X(sync, (MPI_File file), (file))                                                                          \
    X(get_info, (MPI_File file, MPI_Info *info), (file, info))

/* Access.  K says what is made of a call, by its kind; C is empty
 * with int for COUNT, or _c with MPI_Count.  The last argument: does it write? */
#define DROPIN_ACCESS_CALLS(K, X, C, COUNT)                                                                   \
    K##AT(X, write_at_all##C, const void *, COUNT, true)                                                      \
    K##AT(X, read_at_all##C, void *, COUNT, false)                                                            \
    K##HERE(X, write_all##C, const void *, COUNT, true)                                                       \
    K##HERE(X, read_all##C, void *, COUNT, false)                                                             \
    K##BEGIN_AT(X, write_at_all_begin##C, const void *, COUNT, true)                                          \
    K##BEGIN_AT(X, read_at_all_begin##C, void *, COUNT, false)                                                \
    K##BEGIN_HERE(X, write_all_begin##C, const void *, COUNT, true)                                           \
    K##BEGIN_HERE(X, read_all_begin##C, void *, COUNT, false)                                                 \
    K##ALONE(X, write##C, const void *, COUNT, true)                                                          \
    K##ALONE(X, read##C, void *, COUNT, false)                                                                \
    K##ALONE_AT(X, write_at##C, const void *, COUNT, true)                                                    \
    K##ALONE_AT(X, read_at##C, void *, COUNT, false)                                                          \
    K##ALONE_SHARED(X, write_shared##C, const void *, COUNT, true)                                            \
    K##ALONE_SHARED(X, read_shared##C, void *, COUNT, false)                                                  \
    K##START_ALONE(X, iwrite##C, const void *, COUNT, true)                                                   \
    K##START_ALONE(X, iread##C, void *, COUNT, false)                                                         \
    K##START_ALONE_AT(X, iwrite_at##C, const void *, COUNT, true)                                             \
    K##START_ALONE_AT(X, iread_at##C, void *, COUNT, false)                                                   \
    K##START_ALONE_SHARED(X, iwrite_shared##C, const void *, COUNT, true)                                     \
    K##START_ALONE_SHARED(X, iread_shared##C, void *, COUNT, false)                                           \
    K##START_AT(X, iwrite_at_all##C, const void *, COUNT, true)                                               \
    K##START_AT(X, iread_at_all##C, void *, COUNT, false)                                                     \
    K##START_HERE(X, iwrite_all##C, const void *, COUNT, true)                                                \
    K##START_HERE(X, iread_all##C, void *, COUNT, false)                                                      \
    K##ORDERED(X, write_ordered##C, const void *, COUNT, true)                                                \
    K##ORDERED(X, read_ordered##C, void *, COUNT, false)                                                      \
    K##BEGIN_ORDERED(X, write_ordered_begin##C, const void *, COUNT, true)                                    \
    K##BEGIN_ORDERED(X, read_ordered_begin##C, void *, COUNT, false)

#define DROPIN_END_CALLS(K, X)                                                                                \
    K##END(X, write_at_all_end, const void *)                                                                 \
    K##END(X, read_at_all_end, void *)                                                                        \
    K##END(X, write_all_end, const void *)                                                                    \
    K##END(X, read_all_end, void *)                                                                           \
    K##END_ORDERED(X, write_ordered_end, const void *)                                                        \
    K##END_ORDERED(X, read_ordered_end, void *)

#if MPI_VERSION >= 4
#define DROPIN_LARGE_CALLS(K, X) DROPIN_ACCESS_CALLS(K, X, _c, MPI_Count)
#else
#define DROPIN_LARGE_CALLS(K, X)
#endif

#define DROPIN_ALL_ACCESS(K, X)                                                                               \
    DROPIN_ACCESS_CALLS(K, X, , int) DROPIN_LARGE_CALLS(K, X) DROPIN_END_CALLS(K, X)

/* The kind ROW_: rows of them. */
#define ROW_AT(X, name, BUF, COUNT, WRITE)                                                                    \
    X(name, (MPI_File file, MPI_Offset offset, BUF buf, COUNT count, MPI_Datatype type, MPI_Status *status),  \
      (file, offset, buf, count, type, status))
#define ROW_HERE(X, name, BUF, COUNT, WRITE)                                                                  \
    X(name, (MPI_File file, BUF buf, COUNT count, MPI_Datatype type, MPI_Status *status),                     \
      (file, buf, count, type, status))
#define ROW_BEGIN_AT(X, name, BUF, COUNT, WRITE)                                                              \
    X(name, (MPI_File file, MPI_Offset offset, BUF buf, COUNT count, MPI_Datatype type),                      \
      (file, offset, buf, count, type))
#define ROW_BEGIN_HERE(X, name, BUF, COUNT, WRITE)                                                            \
    X(name, (MPI_File file, BUF buf, COUNT count, MPI_Datatype type), (file, buf, count, type))
#define ROW_START_AT(X, name, BUF, COUNT, WRITE)                                                              \
    X(name, (MPI_File file, MPI_Offset offset, BUF buf, COUNT count, MPI_Datatype type, MPI_Request *request),\
      (file, offset, buf, count, type, request))
#define ROW_START_HERE(X, name, BUF, COUNT, WRITE)                                                            \
    X(name, (MPI_File file, BUF buf, COUNT count, MPI_Datatype type, MPI_Request *request),                   \
      (file, buf, count, type, request))
#define ROW_ALONE(X, name, BUF, COUNT, WRITE) ROW_HERE(X, name, BUF, COUNT, WRITE)
#define ROW_ALONE_AT(X, name, BUF, COUNT, WRITE) ROW_AT(X, name, BUF, COUNT, WRITE)
#define ROW_ALONE_SHARED(X, name, BUF, COUNT, WRITE) ROW_HERE(X, name, BUF, COUNT, WRITE)
#define ROW_START_ALONE(X, name, BUF, COUNT, WRITE) ROW_START_HERE(X, name, BUF, COUNT, WRITE)
#define ROW_START_ALONE_AT(X, name, BUF, COUNT, WRITE) ROW_START_AT(X, name, BUF, COUNT, WRITE)
#define ROW_START_ALONE_SHARED(X, name, BUF, COUNT, WRITE) ROW_START_HERE(X, name, BUF, COUNT, WRITE)
#define ROW_ORDERED(X, name, BUF, COUNT, WRITE) ROW_HERE(X, name, BUF, COUNT, WRITE)
#define ROW_BEGIN_ORDERED(X, name, BUF, COUNT, WRITE) ROW_BEGIN_HERE(X, name, BUF, COUNT, WRITE)
#define ROW_END(X, name, BUF)                                                                                 \
    X(name, (MPI_File file, BUF buf, MPI_Status *status), (file, buf, status))
#define ROW_END_ORDERED(X, name, BUF) ROW_END(X, name, BUF)

#define DROPIN_CALLS(X) DROPIN_FILE_CALLS(X) DROPIN_ALL_ACCESS(ROW_, X)

/* A call that Sago itself makes, but does not stand in front of. */
#define DROPIN_USED_CALLS(X) X(call_errhandler, (MPI_File file, int code), (file, code))

/* clang-format on */

/* What comes after Sago under one kind of name: of MPI_File_x perhaps a tool that was preloaded too, of
 * PMPI_File_x the MPI library. */
typedef struct dropin_calls {
#define DROPIN_POINTER(name, params, args) int(*name) params;
    DROPIN_CALLS(DROPIN_POINTER) DROPIN_USED_CALLS(DROPIN_POINTER)
#undef DROPIN_POINTER
} dropin_calls;

#define DROPIN_DECLARE(name, params, args) int dropin_##name(const dropin_calls *next, DROPIN_SPREAD params);
#define DROPIN_SPREAD(...) __VA_ARGS__
DROPIN_CALLS(DROPIN_DECLARE)
#undef DROPIN_DECLARE

/* The MPI library's own functions. */
extern const dropin_calls *const dropin_mpi;

#endif
