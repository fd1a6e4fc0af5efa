/* Made by entry_points.py; change that and run it. */
#ifndef DROPIN_ENTRY_POINTS_H
#define DROPIN_ENTRY_POINTS_H

#include <mpi.h>

/* clang-format off */

/* What comes after Sago under one kind of name: of MPI_File_x perhaps a tool that was preloaded too, of
 * PMPI_File_x the MPI library. */
typedef struct dropin_calls {
    int (*open)(MPI_Comm comm, const char *path, int amode, MPI_Info info, MPI_File *file);
    int (*close)(MPI_File *file);
    int (*delete)(const char *path, MPI_Info info);
    int (*set_view)(MPI_File file, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype, const char *datarep,
                    MPI_Info info);
    int (*get_view)(MPI_File file, MPI_Offset *disp, MPI_Datatype *etype, MPI_Datatype *filetype, char *datarep);
    int (*get_position)(MPI_File file, MPI_Offset *offset);
    int (*seek)(MPI_File file, MPI_Offset offset, int whence);
    int (*seek_shared)(MPI_File file, MPI_Offset offset, int whence);
    int (*set_atomicity)(MPI_File file, int flag);
    int (*set_size)(MPI_File file, MPI_Offset size);
    int (*get_size)(MPI_File file, MPI_Offset *size);
    int (*preallocate)(MPI_File file, MPI_Offset size);
    int (*sync)(MPI_File file);
    int (*get_info)(MPI_File file, MPI_Info *info);
    int (*write_at_all)(MPI_File file, MPI_Offset offset, const void *buf, int count, MPI_Datatype type,
                        MPI_Status *status);
    int (*read_at_all)(MPI_File file, MPI_Offset offset, void *buf, int count, MPI_Datatype type,
                       MPI_Status *status);
    int (*write_all)(MPI_File file, const void *buf, int count, MPI_Datatype type, MPI_Status *status);
    int (*read_all)(MPI_File file, void *buf, int count, MPI_Datatype type, MPI_Status *status);
    int (*write_at_all_begin)(MPI_File file, MPI_Offset offset, const void *buf, int count, MPI_Datatype type);
    int (*read_at_all_begin)(MPI_File file, MPI_Offset offset, void *buf, int count, MPI_Datatype type);
    int (*write_all_begin)(MPI_File file, const void *buf, int count, MPI_Datatype type);
    int (*read_all_begin)(MPI_File file, void *buf, int count, MPI_Datatype type);
    int (*iwrite_at_all)(MPI_File file, MPI_Offset offset, const void *buf, int count, MPI_Datatype type,
                         MPI_Request *request);
    int (*iread_at_all)(MPI_File file, MPI_Offset offset, void *buf, int count, MPI_Datatype type,
                        MPI_Request *request);
    int (*iwrite_all)(MPI_File file, const void *buf, int count, MPI_Datatype type, MPI_Request *request);
    int (*iread_all)(MPI_File file, void *buf, int count, MPI_Datatype type, MPI_Request *request);
    int (*write)(MPI_File file, const void *buf, int count, MPI_Datatype type, MPI_Status *status);
    int (*read)(MPI_File file, void *buf, int count, MPI_Datatype type, MPI_Status *status);
    int (*write_at)(MPI_File file, MPI_Offset offset, const void *buf, int count, MPI_Datatype type,
                    MPI_Status *status);
    int (*read_at)(MPI_File file, MPI_Offset offset, void *buf, int count, MPI_Datatype type, MPI_Status *status);
    int (*write_shared)(MPI_File file, const void *buf, int count, MPI_Datatype type, MPI_Status *status);
    int (*read_shared)(MPI_File file, void *buf, int count, MPI_Datatype type, MPI_Status *status);
    int (*iwrite)(MPI_File file, const void *buf, int count, MPI_Datatype type, MPI_Request *request);
    int (*iread)(MPI_File file, void *buf, int count, MPI_Datatype type, MPI_Request *request);
    int (*iwrite_at)(MPI_File file, MPI_Offset offset, const void *buf, int count, MPI_Datatype type,
                     MPI_Request *request);
    int (*iread_at)(MPI_File file, MPI_Offset offset, void *buf, int count, MPI_Datatype type,
                    MPI_Request *request);
    int (*iwrite_shared)(MPI_File file, const void *buf, int count, MPI_Datatype type, MPI_Request *request);
    int (*iread_shared)(MPI_File file, void *buf, int count, MPI_Datatype type, MPI_Request *request);
    int (*write_ordered)(MPI_File file, const void *buf, int count, MPI_Datatype type, MPI_Status *status);
    int (*read_ordered)(MPI_File file, void *buf, int count, MPI_Datatype type, MPI_Status *status);
    int (*write_ordered_begin)(MPI_File file, const void *buf, int count, MPI_Datatype type);
    int (*read_ordered_begin)(MPI_File file, void *buf, int count, MPI_Datatype type);
    int (*write_at_all_end)(MPI_File file, const void *buf, MPI_Status *status);
    int (*read_at_all_end)(MPI_File file, void *buf, MPI_Status *status);
    int (*write_all_end)(MPI_File file, const void *buf, MPI_Status *status);
    int (*read_all_end)(MPI_File file, void *buf, MPI_Status *status);
    int (*write_ordered_end)(MPI_File file, const void *buf, MPI_Status *status);
    int (*read_ordered_end)(MPI_File file, void *buf, MPI_Status *status);
    int (*call_errhandler)(MPI_File file, int code);
#if MPI_VERSION >= 4
    int (*write_at_all_c)(MPI_File file, MPI_Offset offset, const void *buf, MPI_Count count, MPI_Datatype type,
                          MPI_Status *status);
    int (*read_at_all_c)(MPI_File file, MPI_Offset offset, void *buf, MPI_Count count, MPI_Datatype type,
                         MPI_Status *status);
    int (*write_all_c)(MPI_File file, const void *buf, MPI_Count count, MPI_Datatype type, MPI_Status *status);
    int (*read_all_c)(MPI_File file, void *buf, MPI_Count count, MPI_Datatype type, MPI_Status *status);
    int (*write_at_all_begin_c)(MPI_File file, MPI_Offset offset, const void *buf, MPI_Count count,
                                MPI_Datatype type);
    int (*read_at_all_begin_c)(MPI_File file, MPI_Offset offset, void *buf, MPI_Count count, MPI_Datatype type);
    int (*write_all_begin_c)(MPI_File file, const void *buf, MPI_Count count, MPI_Datatype type);
    int (*read_all_begin_c)(MPI_File file, void *buf, MPI_Count count, MPI_Datatype type);
    int (*iwrite_at_all_c)(MPI_File file, MPI_Offset offset, const void *buf, MPI_Count count, MPI_Datatype type,
                           MPI_Request *request);
    int (*iread_at_all_c)(MPI_File file, MPI_Offset offset, void *buf, MPI_Count count, MPI_Datatype type,
                          MPI_Request *request);
    int (*iwrite_all_c)(MPI_File file, const void *buf, MPI_Count count, MPI_Datatype type, MPI_Request *request);
    int (*iread_all_c)(MPI_File file, void *buf, MPI_Count count, MPI_Datatype type, MPI_Request *request);
    int (*write_c)(MPI_File file, const void *buf, MPI_Count count, MPI_Datatype type, MPI_Status *status);
    int (*read_c)(MPI_File file, void *buf, MPI_Count count, MPI_Datatype type, MPI_Status *status);
    int (*write_at_c)(MPI_File file, MPI_Offset offset, const void *buf, MPI_Count count, MPI_Datatype type,
                      MPI_Status *status);
    int (*read_at_c)(MPI_File file, MPI_Offset offset, void *buf, MPI_Count count, MPI_Datatype type,
                     MPI_Status *status);
    int (*write_shared_c)(MPI_File file, const void *buf, MPI_Count count, MPI_Datatype type, MPI_Status *status);
    int (*read_shared_c)(MPI_File file, void *buf, MPI_Count count, MPI_Datatype type, MPI_Status *status);
    int (*iwrite_c)(MPI_File file, const void *buf, MPI_Count count, MPI_Datatype type, MPI_Request *request);
    int (*iread_c)(MPI_File file, void *buf, MPI_Count count, MPI_Datatype type, MPI_Request *request);
    int (*iwrite_at_c)(MPI_File file, MPI_Offset offset, const void *buf, MPI_Count count, MPI_Datatype type,
                       MPI_Request *request);
    int (*iread_at_c)(MPI_File file, MPI_Offset offset, void *buf, MPI_Count count, MPI_Datatype type,
                      MPI_Request *request);
    int (*iwrite_shared_c)(MPI_File file, const void *buf, MPI_Count count, MPI_Datatype type,
                           MPI_Request *request);
    int (*iread_shared_c)(MPI_File file, void *buf, MPI_Count count, MPI_Datatype type, MPI_Request *request);
    int (*write_ordered_c)(MPI_File file, const void *buf, MPI_Count count, MPI_Datatype type, MPI_Status *status);
    int (*read_ordered_c)(MPI_File file, void *buf, MPI_Count count, MPI_Datatype type, MPI_Status *status);
    int (*write_ordered_begin_c)(MPI_File file, const void *buf, MPI_Count count, MPI_Datatype type);
    int (*read_ordered_begin_c)(MPI_File file, void *buf, MPI_Count count, MPI_Datatype type);
#endif
} dropin_calls;

/* The same of the calls that complete requests. */
typedef struct dropin_wait_calls {
    int (*Wait)(MPI_Request *request, MPI_Status *status);
    int (*Waitall)(int n, MPI_Request requests[], MPI_Status statuses[]);
    int (*Waitany)(int n, MPI_Request requests[], int *index, MPI_Status *status);
    int (*Waitsome)(int n, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[]);
    int (*Test)(MPI_Request *request, int *flag, MPI_Status *status);
    int (*Testall)(int n, MPI_Request requests[], int *flag, MPI_Status statuses[]);
    int (*Testany)(int n, MPI_Request requests[], int *index, int *flag, MPI_Status *status);
    int (*Testsome)(int n, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[]);
    int (*Request_get_status)(MPI_Request request, int *flag, MPI_Status *status);
} dropin_wait_calls;

/* What stands behind MPI_File_x and PMPI_File_x of the calls that move no data; `next` is the table to hand the call
 * on with. */
int dropin_open(const dropin_calls *next, MPI_Comm comm, const char *path, int amode, MPI_Info info,
                MPI_File *file);
int dropin_close(const dropin_calls *next, MPI_File *file);
int dropin_delete(const dropin_calls *next, const char *path, MPI_Info info);
int dropin_set_view(const dropin_calls *next, MPI_File file, MPI_Offset disp, MPI_Datatype etype,
                    MPI_Datatype filetype, const char *datarep, MPI_Info info);
int dropin_get_view(const dropin_calls *next, MPI_File file, MPI_Offset *disp, MPI_Datatype *etype,
                    MPI_Datatype *filetype, char *datarep);
int dropin_get_position(const dropin_calls *next, MPI_File file, MPI_Offset *offset);
int dropin_seek(const dropin_calls *next, MPI_File file, MPI_Offset offset, int whence);
int dropin_seek_shared(const dropin_calls *next, MPI_File file, MPI_Offset offset, int whence);
int dropin_set_atomicity(const dropin_calls *next, MPI_File file, int flag);
int dropin_set_size(const dropin_calls *next, MPI_File file, MPI_Offset size);
int dropin_get_size(const dropin_calls *next, MPI_File file, MPI_Offset *size);
int dropin_preallocate(const dropin_calls *next, MPI_File file, MPI_Offset size);
int dropin_sync(const dropin_calls *next, MPI_File file);
int dropin_get_info(const dropin_calls *next, MPI_File file, MPI_Info *info);

/* What stands behind MPI_x and PMPI_x while Sago has nonblocking calls. */
int dropin_Wait(MPI_Request *request, MPI_Status *status);
int dropin_Waitall(int n, MPI_Request requests[], MPI_Status statuses[]);
int dropin_Waitany(int n, MPI_Request requests[], int *index, MPI_Status *status);
int dropin_Waitsome(int n, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[]);
int dropin_Test(MPI_Request *request, int *flag, MPI_Status *status);
int dropin_Testall(int n, MPI_Request requests[], int *flag, MPI_Status statuses[]);
int dropin_Testany(int n, MPI_Request requests[], int *index, int *flag, MPI_Status *status);
int dropin_Testsome(int n, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[]);
int dropin_Request_get_status(MPI_Request request, int *flag, MPI_Status *status);

/* The numbers of the entries. */
enum {
    DROPIN_MPI_File_open, DROPIN_PMPI_File_open,
    DROPIN_MPI_File_close, DROPIN_PMPI_File_close,
    DROPIN_MPI_File_delete, DROPIN_PMPI_File_delete,
    DROPIN_MPI_File_set_view, DROPIN_PMPI_File_set_view,
    DROPIN_MPI_File_get_view, DROPIN_PMPI_File_get_view,
    DROPIN_MPI_File_get_position, DROPIN_PMPI_File_get_position,
    DROPIN_MPI_File_seek, DROPIN_PMPI_File_seek,
    DROPIN_MPI_File_seek_shared, DROPIN_PMPI_File_seek_shared,
    DROPIN_MPI_File_set_atomicity, DROPIN_PMPI_File_set_atomicity,
    DROPIN_MPI_File_set_size, DROPIN_PMPI_File_set_size,
    DROPIN_MPI_File_get_size, DROPIN_PMPI_File_get_size,
    DROPIN_MPI_File_preallocate, DROPIN_PMPI_File_preallocate,
    DROPIN_MPI_File_sync, DROPIN_PMPI_File_sync,
    DROPIN_MPI_File_get_info, DROPIN_PMPI_File_get_info,
    DROPIN_MPI_File_write_at_all, DROPIN_PMPI_File_write_at_all,
    DROPIN_MPI_File_read_at_all, DROPIN_PMPI_File_read_at_all,
    DROPIN_MPI_File_write_all, DROPIN_PMPI_File_write_all,
    DROPIN_MPI_File_read_all, DROPIN_PMPI_File_read_all,
    DROPIN_MPI_File_write_at_all_begin, DROPIN_PMPI_File_write_at_all_begin,
    DROPIN_MPI_File_read_at_all_begin, DROPIN_PMPI_File_read_at_all_begin,
    DROPIN_MPI_File_write_all_begin, DROPIN_PMPI_File_write_all_begin,
    DROPIN_MPI_File_read_all_begin, DROPIN_PMPI_File_read_all_begin,
    DROPIN_MPI_File_iwrite_at_all, DROPIN_PMPI_File_iwrite_at_all,
    DROPIN_MPI_File_iread_at_all, DROPIN_PMPI_File_iread_at_all,
    DROPIN_MPI_File_iwrite_all, DROPIN_PMPI_File_iwrite_all,
    DROPIN_MPI_File_iread_all, DROPIN_PMPI_File_iread_all,
    DROPIN_MPI_File_write, DROPIN_PMPI_File_write,
    DROPIN_MPI_File_read, DROPIN_PMPI_File_read,
    DROPIN_MPI_File_write_at, DROPIN_PMPI_File_write_at,
    DROPIN_MPI_File_read_at, DROPIN_PMPI_File_read_at,
    DROPIN_MPI_File_write_shared, DROPIN_PMPI_File_write_shared,
    DROPIN_MPI_File_read_shared, DROPIN_PMPI_File_read_shared,
    DROPIN_MPI_File_iwrite, DROPIN_PMPI_File_iwrite,
    DROPIN_MPI_File_iread, DROPIN_PMPI_File_iread,
    DROPIN_MPI_File_iwrite_at, DROPIN_PMPI_File_iwrite_at,
    DROPIN_MPI_File_iread_at, DROPIN_PMPI_File_iread_at,
    DROPIN_MPI_File_iwrite_shared, DROPIN_PMPI_File_iwrite_shared,
    DROPIN_MPI_File_iread_shared, DROPIN_PMPI_File_iread_shared,
    DROPIN_MPI_File_write_ordered, DROPIN_PMPI_File_write_ordered,
    DROPIN_MPI_File_read_ordered, DROPIN_PMPI_File_read_ordered,
    DROPIN_MPI_File_write_ordered_begin, DROPIN_PMPI_File_write_ordered_begin,
    DROPIN_MPI_File_read_ordered_begin, DROPIN_PMPI_File_read_ordered_begin,
    DROPIN_MPI_File_write_at_all_end, DROPIN_PMPI_File_write_at_all_end,
    DROPIN_MPI_File_read_at_all_end, DROPIN_PMPI_File_read_at_all_end,
    DROPIN_MPI_File_write_all_end, DROPIN_PMPI_File_write_all_end,
    DROPIN_MPI_File_read_all_end, DROPIN_PMPI_File_read_all_end,
    DROPIN_MPI_File_write_ordered_end, DROPIN_PMPI_File_write_ordered_end,
    DROPIN_MPI_File_read_ordered_end, DROPIN_PMPI_File_read_ordered_end,
    DROPIN_MPI_Wait, DROPIN_PMPI_Wait,
    DROPIN_MPI_Waitall, DROPIN_PMPI_Waitall,
    DROPIN_MPI_Waitany, DROPIN_PMPI_Waitany,
    DROPIN_MPI_Waitsome, DROPIN_PMPI_Waitsome,
    DROPIN_MPI_Test, DROPIN_PMPI_Test,
    DROPIN_MPI_Testall, DROPIN_PMPI_Testall,
    DROPIN_MPI_Testany, DROPIN_PMPI_Testany,
    DROPIN_MPI_Testsome, DROPIN_PMPI_Testsome,
    DROPIN_MPI_Request_get_status, DROPIN_PMPI_Request_get_status,
    DROPIN_MPI_Comm_split_type, DROPIN_PMPI_Comm_split_type,
    DROPIN_MPI_Finalize, DROPIN_PMPI_Finalize,
    DROPIN_MPI_Abort, DROPIN_PMPI_Abort,
    DROPIN_MPI_Intercomm_merge, DROPIN_PMPI_Intercomm_merge,
#if MPI_VERSION >= 4
    DROPIN_MPI_File_write_at_all_c, DROPIN_PMPI_File_write_at_all_c,
    DROPIN_MPI_File_read_at_all_c, DROPIN_PMPI_File_read_at_all_c,
    DROPIN_MPI_File_write_all_c, DROPIN_PMPI_File_write_all_c,
    DROPIN_MPI_File_read_all_c, DROPIN_PMPI_File_read_all_c,
    DROPIN_MPI_File_write_at_all_begin_c, DROPIN_PMPI_File_write_at_all_begin_c,
    DROPIN_MPI_File_read_at_all_begin_c, DROPIN_PMPI_File_read_at_all_begin_c,
    DROPIN_MPI_File_write_all_begin_c, DROPIN_PMPI_File_write_all_begin_c,
    DROPIN_MPI_File_read_all_begin_c, DROPIN_PMPI_File_read_all_begin_c,
    DROPIN_MPI_File_iwrite_at_all_c, DROPIN_PMPI_File_iwrite_at_all_c,
    DROPIN_MPI_File_iread_at_all_c, DROPIN_PMPI_File_iread_at_all_c,
    DROPIN_MPI_File_iwrite_all_c, DROPIN_PMPI_File_iwrite_all_c,
    DROPIN_MPI_File_iread_all_c, DROPIN_PMPI_File_iread_all_c,
    DROPIN_MPI_File_write_c, DROPIN_PMPI_File_write_c,
    DROPIN_MPI_File_read_c, DROPIN_PMPI_File_read_c,
    DROPIN_MPI_File_write_at_c, DROPIN_PMPI_File_write_at_c,
    DROPIN_MPI_File_read_at_c, DROPIN_PMPI_File_read_at_c,
    DROPIN_MPI_File_write_shared_c, DROPIN_PMPI_File_write_shared_c,
    DROPIN_MPI_File_read_shared_c, DROPIN_PMPI_File_read_shared_c,
    DROPIN_MPI_File_iwrite_c, DROPIN_PMPI_File_iwrite_c,
    DROPIN_MPI_File_iread_c, DROPIN_PMPI_File_iread_c,
    DROPIN_MPI_File_iwrite_at_c, DROPIN_PMPI_File_iwrite_at_c,
    DROPIN_MPI_File_iread_at_c, DROPIN_PMPI_File_iread_at_c,
    DROPIN_MPI_File_iwrite_shared_c, DROPIN_PMPI_File_iwrite_shared_c,
    DROPIN_MPI_File_iread_shared_c, DROPIN_PMPI_File_iread_shared_c,
    DROPIN_MPI_File_write_ordered_c, DROPIN_PMPI_File_write_ordered_c,
    DROPIN_MPI_File_read_ordered_c, DROPIN_PMPI_File_read_ordered_c,
    DROPIN_MPI_File_write_ordered_begin_c, DROPIN_PMPI_File_write_ordered_begin_c,
    DROPIN_MPI_File_read_ordered_begin_c, DROPIN_PMPI_File_read_ordered_begin_c,
#endif
    DROPIN_ENTRY_COUNT
};

#endif
