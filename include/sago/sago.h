/* Sago: collective I/O on MPI.
 *
 * Reading order: status and errors (sago/status.h); files; views and collective access; extents; nonblocking
 * calls; declared I/O; sizes and syncing; statistics; version.  Storage neighbourhoods: sago/storage.h.
 * Checkpoints: sago/ckpt.h.  Meshes for visualisation: sago/mesh.h.
 *
 * Conventions
 *   - Every function that can fail returns a sago_status; outputs are set only on success (the `bytes`
 *     outputs also on failure: to what was moved, 0 where that is unknown).
 *   - Collective functions return the same status on every rank of the file's communicator, also when
 *     only one rank failed; sago_error_message() then tells on every rank which rank failed and why.
 *   - Access modes are MPI's (MPI_MODE_*), hints come in an MPI_Info (`sago hints` lists them).
 *   - Offsets and counts are 64-bit.
 *   - The library never exits, aborts or prints.
 *
 * Threads
 *   MPI_THREAD_SINGLE is enough for every feature: the threads of the library do file I/O only and never
 *   call MPI.  A file, a series or a request may be used by one thread at a time.  With MPI_THREAD_MULTIPLE
 *   different files may be used by different threads at once; with MPI_THREAD_SERIALIZED or less, calls that
 *   take a file must not overlap with any other call of MPI or of Sago that takes a file.  sago_status_string(),
 *   sago_status_mpi_class(), sago_version() and sago_error_message() may be called by any thread at any time.
 */
#ifndef SAGO_SAGO_H
#define SAGO_SAGO_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#include <sago/ckpt.h>    /* checkpoints */
#include <sago/config.h>  /* which MPI the library was built with; refuses to compile with another */
#include <sago/device.h>  /* memory of a GPU */
#include <sago/mesh.h>    /* unstructured meshes */
#include <sago/report.h>  /* SAGO_REPORT, for layers above */
#include <sago/stats.h>   /* sago_stats */
#include <sago/status.h>  /* sago_status, sago_error_message() */
#include <sago/storage.h> /* sago_comm_split_storage(): who shares which storage */

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Files ------------------------------------------------------------------------------------------- */

typedef struct sago_file sago_file;

/* Collective.  Opens `path` with `amode` (MPI_MODE_RDONLY, _WRONLY or _RDWR, with _CREATE, _EXCL,
 * _DELETE_ON_CLOSE, _APPEND, _UNIQUE_OPEN; _SEQUENTIAL is not offered).  `hints` may be MPI_INFO_NULL.
 * Sago keeps its own copy of the communicator, which may be freed afterwards. */
sago_status sago_open(MPI_Comm comm, const char *path, int amode, MPI_Info hints, sago_file **file);

/* Collective.  Sets *file to NULL, also on failure, unless other ranks turn out to be in another call: then the
 * file stays open on all of them.  Series of the file are freed with it. */
sago_status sago_close(sago_file **file);

/* Local.  Closes a file that has only just been opened: for a layer whose other library cannot open the file on
 * this rank.  Waits for nobody.  Collective calls of the other ranks on the file fail with SAGO_ERR_PEER from then
 * on, also a sago_open() that has not returned yet, and the other ranks can only close the file. */
sago_status sago_close_alone(sago_file **file);

/* Not collective.  Removes a file.  What this rank has deferred for it (sago_defer) is written first: the file may
 * have other names. */
sago_status sago_delete(const char *path, MPI_Info hints);

/* Local.  Puts all of Sago's hints, with the values in force for this file, into the caller's info object; and
 * striping_unit and striping_factor, as the file system really has them, where it tells. */
sago_status sago_get_hints(sago_file *file, MPI_Info hints);

/* ---- Views and access by views ------------------------------------------------------------------------ */

/* Collective.  As MPI_File_set_view with the "native" representation: etype and filetype may be freed
 * afterwards.  A new file's view is (0, MPI_BYTE, MPI_BYTE). */
sago_status sago_set_view(sago_file *file, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype);

/* Collective.  The same for a layer that has ROMIO, the MPI-IO of MPICH, set this view, too: SAGO_ERR_UNSUPPORTED
 * where the two would not mean the same bytes.  ROMIO moves the data of a resized type by the lower bound, and
 * knows no gaps in pairs like MPI_SHORT_INT. */
sago_status sago_set_view_beside_romio(sago_file *file, MPI_Offset disp, MPI_Datatype etype,
                                       MPI_Datatype filetype);

/* Local.  A type like `filetype`, with which the view was set (the same bytes, bounds and extent), made in one
 * step instead of very many: for a layer that has another library set the same view.  To be freed.
 * MPI_DATATYPE_NULL: the filetype itself is as good, or was not committed. */
sago_status sago_view_run_list(sago_file *file, MPI_Datatype filetype, MPI_Datatype *list);

/* Collective.  `offset` counts etypes of the view.  `bytes` (may be NULL) is what was moved: less than asked
 * for only when a read meets the end of the file; what lies beyond leaves the buffer untouched.
 *
 * When a call returns, all ranks have done their parts of the call.  A rank may begin with its part before the
 * other ranks have come.  Its accesses are ordered after the independent writes that other ranks made before the
 * call; independent reads that other ranks made before the call may see what the call writes, unless there was a
 * barrier.  A call that fails may have moved the parts of some ranks. */
sago_status sago_write_at_all(sago_file *file, MPI_Offset offset, const void *buf, MPI_Count count,
                              MPI_Datatype type, MPI_Count *bytes);
sago_status sago_read_at_all(sago_file *file, MPI_Offset offset, void *buf, MPI_Count count, MPI_Datatype type,
                             MPI_Count *bytes);

/* The same access by one rank: these calls are not collective. */
sago_status sago_write_at(sago_file *file, MPI_Offset offset, const void *buf, MPI_Count count, MPI_Datatype type,
                          MPI_Count *bytes);
sago_status sago_read_at(sago_file *file, MPI_Offset offset, void *buf, MPI_Count count, MPI_Datatype type,
                         MPI_Count *bytes);

/* ---- Access by extents -------------------------------------------------------------------------------- */

typedef struct sago_extent {
    int64_t offset; /* bytes from the start of the file; the view does not matter */
    int64_t length; /* bytes; 0 is allowed */
} sago_extent;

/* Collective.  The buffer holds the extents' bytes one after another.  Extents ascend and do not overlap. */
sago_status sago_write_extents_all(sago_file *file, int64_t n, const sago_extent extents[], const void *buf);
sago_status sago_read_extents_all(sago_file *file, int64_t n, const sago_extent extents[], void *buf,
                                  MPI_Count *bytes);

/* The same with memory in pieces, whose offsets are bytes from `buf`.  Pieces may come in any order, and have as
 * many bytes in all as the extents.  The bytes of the extents go to or come from the pieces one after another,
 * however both are cut.  Pieces that overlap may be written from, but not read into.  Offsets may be negative;
 * `buf` may be NULL, with addresses as offsets. */
sago_status sago_write_pieces_all(sago_file *file, int64_t n, const sago_extent extents[], const void *buf,
                                  int64_t npieces, const sago_extent pieces[]);
sago_status sago_read_pieces_all(sago_file *file, int64_t n, const sago_extent extents[], void *buf,
                                 int64_t npieces, const sago_extent pieces[], MPI_Count *bytes);

/* The same access by one rank: these calls are not collective. */
sago_status sago_write_pieces(sago_file *file, int64_t n, const sago_extent extents[], const void *buf,
                              int64_t npieces, const sago_extent pieces[]);
sago_status sago_read_pieces(sago_file *file, int64_t n, const sago_extent extents[], void *buf, int64_t npieces,
                             const sago_extent pieces[], MPI_Count *bytes);

/* ---- Access by blocks of arrays ----------------------------------------------------------------------- */

/* Collective.  An array of ndims dimensions and `global` elements, in C order, lies in the file from byte `offset`
 * on; the view does not matter.  Each rank moves one block of it, or nothing: block NULL, or a count of 0.  Memory
 * around the block (ghost cells) is as in sago_block.  Elements have no holes.  Blocks of different ranks may
 * overlap when reading; `bytes` is as in sago_read_at_all().  A block of any size takes no more memory than its
 * dimensions. */
sago_status sago_write_block_all(sago_file *file, MPI_Offset offset, MPI_Datatype element, int ndims,
                                 const int64_t global[], const sago_block *block);
sago_status sago_read_block_all(sago_file *file, MPI_Offset offset, MPI_Datatype element, int ndims,
                                const int64_t global[], const sago_block *block, MPI_Count *bytes);

/* ---- Nonblocking calls -------------------------------------------------------------------------------- */

typedef struct sago_request sago_request;

/* Collective, but starting a call never waits for another rank.  A nonblocking call does what the call without "i"
 * does.  The i-th nonblocking call of a rank on a file belongs to the i-th calls of the other ranks; files may
 * come in any order.  The buffer is Sago's until the call is done: a program does not change what it writes, and
 * does not look at what it reads; datatypes and lists of extents may be freed at once.  Wrong arguments of one
 * rank are told by sago_wait() on all ranks, unless sago_agree or sago_nonblocking lets ranks go alone; the start
 * itself fails only where the handle is wrong or memory is short.
 *
 * Nonblocking calls go on while this process is in a call of Sago's, sago_wait() and sago_test() of any request
 * included; the file I/O of these calls goes on in the background.  A blocking collective call on the same file,
 * as sago_close(), waits for them first.  The calls of one rank on a file are done in the order in which the rank
 * started them.
 *
 * The hint sago_nonblocking says what nonblocking calls need of other ranks:
 *   - together (default): a call is done when all ranks have let it go on.  All get the same status, and a call
 *     sees what all ranks did in the calls before it on the file.  A blocking call of MPI does not let calls go
 *     on: one that another rank makes only after waiting for a request waits for ever, unless this rank waits for
 *     its request before.  With sago_agree=turn ranks go alone, as in blocking calls: a read still sees what all
 *     ranks wrote in the calls before, but of different ranks' writes to the same bytes either may come last,
 *     unless there is a sync between them.
 *   - apart, as in the drop-in: no rank needs another one to be in any call.  While all ranks are in sago_wait(),
 *     or in another call that waits for nonblocking ones, they serve a call together; a rank that has waited for
 *     the others for half the time that it takes to do its part alone (at least 5 ms, at most 250) does it alone,
 *     and so do they.  Then the status is each rank's own.  What other ranks wrote in the calls before is seen if
 *     the call is served together, or if they are done with them within a second (less once a file's ranks have
 *     not been); else as after independent writes: after sago_sync() on all ranks, and a barrier.  In the same way
 *     others may write in later calls before a read of this rank is done, which then finds that.  Writes that are
 *     deferred (sago_defer) wait for nobody: between them and the reads of other ranks, before or after, there
 *     must be a sync.  Not to be had with sago_tier=local, whose data is moved by all ranks together. */
sago_status sago_iwrite_at_all(sago_file *file, MPI_Offset offset, const void *buf, MPI_Count count,
                               MPI_Datatype type, sago_request **request);
sago_status sago_iread_at_all(sago_file *file, MPI_Offset offset, void *buf, MPI_Count count, MPI_Datatype type,
                              sago_request **request);
sago_status sago_iwrite_extents_all(sago_file *file, int64_t n, const sago_extent extents[], const void *buf,
                                    sago_request **request);
sago_status sago_iread_extents_all(sago_file *file, int64_t n, const sago_extent extents[], void *buf,
                                   sago_request **request);
sago_status sago_iwrite_pieces_all(sago_file *file, int64_t n, const sago_extent extents[], const void *buf,
                                   int64_t npieces, const sago_extent pieces[], sago_request **request);
sago_status sago_iread_pieces_all(sago_file *file, int64_t n, const sago_extent extents[], void *buf,
                                  int64_t npieces, const sago_extent pieces[], sago_request **request);

sago_status sago_iwrite_block_all(sago_file *file, MPI_Offset offset, MPI_Datatype element, int ndims,
                                  const int64_t global[], const sago_block *block, sago_request **request);
sago_status sago_iread_block_all(sago_file *file, MPI_Offset offset, MPI_Datatype element, int ndims,
                                 const int64_t global[], const sago_block *block, sago_request **request);

/* Local.  Waits until the call is done, returns how it went (the same on all ranks), and sets *request to NULL.
 * `bytes` (may be NULL) as in the blocking calls.  A request that is NULL already is done, with 0 bytes. */
sago_status sago_wait(sago_request **request, MPI_Count *bytes);
/* Local.  *done: was the call done?  Then this was as sago_wait(); else *request stays.  It does not wait for
 * other ranks to come, but may, with sago_nonblocking=apart, stay for a call for which all of them have come. */
sago_status sago_test(sago_request **request, int *done, MPI_Count *bytes);

/* Local.  Around a wait of the program's own, in which it calls sago_test() again and again until something has
 * happened: with sago_nonblocking=apart calls are served together meanwhile, as in sago_wait().  sago_wait_end()
 * returns when no other rank needs this one for that any more.  They may be nested. */
void sago_wait_begin(void);
void sago_wait_end(void);

/* Local.  From here on this process may write to files in ways that Sago does not see, also while a collective
 * call is under way: then no call of any rank reads and writes back what lies between the runs it was given,
 * unless that was asked for by sago_sieve=on. */
void sago_write_elsewhere(void);

/* ---- Declared I/O ------------------------------------------------------------------------------------- */

typedef struct sago_series sago_series;

/* One variable as this rank sees it. */
typedef struct sago_var {
    size_t size;           /* sizeof(sago_var), set by SAGO_VAR_INIT */
    MPI_Offset offset;     /* bytes from the start of the file: where the filetype begins */
    MPI_Count count;       /* elements of `type` in memory */
    MPI_Datatype type;     /* memory type; its bytes go into the filetype's holes one after another */
    MPI_Datatype filetype; /* MPI_DATATYPE_NULL (default): contiguous in the file */
} sago_var;

#define SAGO_VAR_INIT                                                                                             \
    { sizeof(sago_var), 0, 0, MPI_BYTE, MPI_DATATYPE_NULL }

/* Collective.  Announces all variables of one step; every rank declares the same number of them. */
sago_status sago_declare(sago_file *file, int64_t nvars, const sago_var vars[], sago_series **series);

/* The same for variables that are blocks of arrays: sago_series_write() and _read() give the buffers, which the
 * blocks are laid out in; what block->data says does not matter. */
typedef struct sago_array {
    size_t size;       /* sizeof(sago_array), set by SAGO_ARRAY_INIT */
    MPI_Offset offset; /* bytes from the start of the file: where the array begins */
    MPI_Datatype element;
    int ndims;
    const int64_t *global;
    const sago_block *block; /* this rank's; NULL: none */
} sago_array;

#define SAGO_ARRAY_INIT                                                                                           \
    { sizeof(sago_array), 0, MPI_BYTE, 0, NULL, NULL }

sago_status sago_declare_arrays(sago_file *file, int64_t narrays, const sago_array arrays[], sago_series **series);

/* Local.  Registers the buffer of a variable for this step, in any order.  It must stay untouched until
 * sago_series_complete() (with the hint sago_series_copy, written data is copied at once).  A step either
 * writes or reads.  Variables without a buffer take no part in the step.  With the hint
 * sago_series_parts variables move in parts while others are still being given: then a variable is given once a
 * step, and no other collective call on the file comes between the first one given and sago_series_complete(). */
sago_status sago_series_write(sago_series *series, int64_t var, const void *buf);
sago_status sago_series_read(sago_series *series, int64_t var, void *buf);

/* Collective.  All registered data is in the file, or in the buffers. */
sago_status sago_series_complete(sago_series *series);

/* The bytes this rank moved in the last completed step (less than declared when a read met the end of the
 * file). */
sago_status sago_series_bytes(sago_series *series, MPI_Count *bytes);

/* Collective.  The same shape again, `disp` bytes further on in the file (relative to the declaration);
 * no metadata moves. */
sago_status sago_series_next(sago_series *series, MPI_Offset disp);

/* Collective.  Sets *series to NULL, as sago_close() does with a file. */
sago_status sago_series_free(sago_series **series);

/* ---- Sizes and syncing -------------------------------------------------------------------------------- */

sago_status sago_sync(sago_file *file); /* collective; data is on the device */

/* Local.  Writes the data that this rank has deferred to the file, and brings everything that the kernel of this
 * node holds of the file to the device, also data that the node's ranks wrote for other ranks.  If all ranks call
 * this function they do what sago_sync() does, but each rank learns only of its own errors.  The result is
 * SAGO_ERR_STATE with sago_tier=local, whose data is moved by all ranks together. */
sago_status sago_sync_own(sago_file *file);

/* Local, for layers that have a descriptor of their own: this rank has synced the file through it.  From here on
 * the file system alone says where the file ends, since another process may cut it after the sync. */
sago_status sago_synced_elsewhere(sago_file *file);

/* Local, for layers: MPI calls that this process makes between the two return their errors, whatever handlers the
 * program has on `comm`, on MPI_COMM_WORLD and on MPI_COMM_SELF.  `comm` is what is called on, or MPI_COMM_NULL.
 * For single calls: another thread's error of its own is returned to it, too, if it comes just then. */
void sago_quiet_begin(MPI_Comm comm);
void sago_quiet_end(MPI_Comm comm);

/* Collective.  With the hint sago_tier=local collective writes (by view and by extents) go to one file for each
 * storage neighbourhood first, in the first of sago_local_dirs that all ranks can use.  sago_sync_local() puts
 * them on the local device, so that they outlive the job; sago_sync() and sago_close() move them to the global
 * file, where later calls win, also between neighbourhoods.  Every other collective call on the file does so
 * first, reads and declared steps among them: they see what was written; nonblocking ones do when their turn
 * comes.  When local storage is full, what is there is moved and the call goes to the global file.  Other files,
 * programs and handles see nothing before sago_sync().
 *
 * With sago_tier_drain=background data begins to go to the global file when sago_sync_local() returns, without a
 * further call: each rank's thread writes what its rank wrote in collective calls that no other call since the
 * last merge overlaps, in runs of 64 KiB or more, as long as no rank has written by an independent call.  All
 * else, and what could not be written, waits for the next call that moves it, which waits for the threads first.
 *
 * Independent writes go to local storage, too; where that is full they fail.  An independent read finds what its
 * rank wrote, what its neighbourhood wrote in collective calls that left no gaps, and elsewhere what is in the
 * global file, except: bytes between the first and the last that a collective call since the last merge wrote may
 * be other ranks', on storage that this rank does not see.  Nobody can be asked without a collective call, so
 * these are SAGO_ERR_STATE until sago_sync().  What other ranks wrote by independent calls is seen after
 * sago_sync(), and counts in sago_get_size() from then on.
 *
 * After a crash what sago_sync_local() made durable is found by the next sago_open() of the same path with
 * sago_tier=local and the same sago_local_dirs, with any number of ranks on the same nodes: it is merged into the
 * global file, also when that is opened for reading, or by `sago tier merge`.  Bytes that were written again after
 * the last sago_sync_local() may have their later value.  It is SAGO_ERR_STATE, and nothing is changed, where the
 * global file may be newer: it is another file of that name, its size or time of writing are not what they were at
 * the first sago_sync_local() since the last merge, or a merge was interrupted, as it is when a job dies that
 * drains in the background.  The hint sago_tier_found then decides: `merge` all the same, or `drop` what was left.
 * SAGO_ERR_NO_FILE: a node that has some of it does not take part. The claim of a file, .NAME.sago-tier beside it,
 * says that there is such data; sago_delete() removes it.  Without local storage: sago_sync(). */
sago_status sago_sync_local(sago_file *file);

sago_status sago_get_size(sago_file *file, MPI_Offset *size);   /* local; with what is still in local storage */
sago_status sago_set_size(sago_file *file, MPI_Offset size);    /* collective; truncates or extends */
sago_status sago_preallocate(sago_file *file, MPI_Offset size); /* collective; never shrinks */

/* With the hint sago_defer collective writes return when their data is copied, without waiting for other ranks.
 * The data of many calls is moved to the file together, before the copies fill half of the memory that Sago may
 * use, and by sago_sync(), sago_close(), sago_set_size(), sago_preallocate(), collective reads and steps of a
 * series.  Of a rank's calls that write the same bytes the later one wins; of different ranks' either may, unless
 * there is a sync between them.  Independent accesses and sago_get_size() write what their own rank has deferred
 * first, and so does the rank by itself after sago_defer_age seconds.  Wrong arguments of a deferred write are an
 * error of that call, on the rank that gave them only.  All other errors are those of the call that moves, on all
 * ranks; data that could not be written stays deferred until the file is closed. */
sago_status sago_flush_all(sago_file *file); /* collective; all that is deferred is in the file */
sago_status sago_flush_own(sago_file *file); /* local; what this rank has deferred is in the file */

/* ---- Statistics --------------------------------------------------------------------------------------- */

/* Local.  stats->size says how much of the struct the caller knows. */
sago_status sago_get_stats(sago_file *file, sago_stats *stats);

/* ---- Version ------------------------------------------------------------------------------------------ */

#define SAGO_VERSION_MAJOR 0
#define SAGO_VERSION_MINOR 2
#define SAGO_VERSION_PATCH 0

/* The version of the library that runs; any argument may be NULL.  Returns it as text. */
const char *sago_version(int *major, int *minor, int *patch);

#ifdef __cplusplus
}
#endif

#endif
