/* GIO's interface as Sago serves it (libsago-gio.so): names, types and values are those of GIO 1.0, commit
 * e347282655c8387eebc3449045e84202a5b74a13, so that a program compiled with either header runs with either
 * library. -DSAGO_GIO=PREFIX compares this header with the one that is installed there.
 *
 * Calls are collective where it says so.  Codes are negative; reads and writes return bytes, or a code.  Offsets
 * and lengths of the file ascend and do not overlap; those of memory count from `buf`, in any order, with as many
 * bytes in all.  A rank whose arguments of a collective read or write are wrong is told, takes part with nothing,
 * and the others succeed. */
#ifndef H_GIO
#define H_GIO

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Codes ---- */

#define GIO_NOERR 0
#define GIO_EEXIST (-35)                 /* the file exists (O_EXCL) */
#define GIO_EINVAL (-36)                 /* a handle or an argument is wrong */
#define GIO_EPERM (-37)                  /* a write to what is open for reading, or the other way round */
#define GIO_ENOMEM (-61)                 /* no memory */
#define GIO_EACCESS (-77)                /* permission denied */
#define GIO_EFILE (-204)                 /* any other I/O error */
#define GIO_ENEGATIVECNT (-210)          /* lengths are negative */
#define GIO_ENOENT (-220)                /* no such file */
#define GIO_EINTOVERFLOW (-221)          /* too large a number */
#define GIO_ENOTENABLED (-222)           /* not offered */
#define GIO_EBAD_FILE (-223)             /* no file of that name can be: too long, a directory */
#define GIO_ENO_SPACE (-224)             /* the file system is full */
#define GIO_EQUOTA (-225)                /* the quota is used up */
#define GIO_EFSTYPE (-241)               /* a file system that is not served */
#define GIO_EMULTIDEFINE_AMODE (-251)    /* ranks gave different modes */
#define GIO_EMULTIDEFINE_FNC_ARGS (-269) /* ranks gave other different arguments */
#define GIO_EMULTIDEFINE_HINTS (-274)    /* ranks gave different hints */
#define GIO_EFILEVIEW (-275)             /* offsets of the file do not ascend, or overlap */

/* ---- Files ---- */

typedef struct GIOI_File *GIO_File;
#define GIO_FILE_NULL ((GIO_File)0)

/* Collective.  `amode`: O_RDONLY, or O_WRONLY or O_RDWR of open(2) with O_CREAT, O_EXCL, O_TRUNC.  A prefix of the
 * name like "ufs:" is dropped.  On failure *fh is GIO_FILE_NULL, and all ranks get a code. */
int GIO_open(MPI_Comm comm, const char *filename, int amode, MPI_Info info, GIO_File *fh);
/* Collective.  Sets *fh to GIO_FILE_NULL. */
int GIO_close(GIO_File *fh);
/* Not collective: what this rank, and its node, wrote is on the device. */
int GIO_sync(GIO_File fh);
/* Not collective. */
int GIO_delete(const char *filename);
/* Collective. */
int GIO_set_size(GIO_File fh, MPI_Offset size);
/* Not collective here; GIO's own needs all ranks. */
int GIO_get_size(GIO_File fh, MPI_Offset *size);
/* Not collective.  The program's hints, with those in force; to be freed by the caller. */
int GIO_get_info(GIO_File fh, MPI_Info *info_used);

/* ---- Reading and writing ---- */

/* Collective with _all.  Reads return less than asked for where the file ends. */
MPI_Offset GIO_write(GIO_File fh, const void *buf, MPI_Offset file_npairs, const MPI_Offset *file_offs,
                     const MPI_Offset *file_lens, MPI_Offset buf_npairs, const MPI_Offset *buf_offs,
                     const MPI_Offset *buf_lens);
MPI_Offset GIO_write_all(GIO_File fh, const void *buf, MPI_Offset file_npairs, const MPI_Offset *file_offs,
                         const MPI_Offset *file_lens, MPI_Offset buf_npairs, const MPI_Offset *buf_offs,
                         const MPI_Offset *buf_lens);
MPI_Offset GIO_read(GIO_File fh, void *buf, MPI_Offset file_npairs, const MPI_Offset *file_offs,
                    const MPI_Offset *file_lens, MPI_Offset buf_npairs, const MPI_Offset *buf_offs,
                    const MPI_Offset *buf_lens);
MPI_Offset GIO_read_all(GIO_File fh, void *buf, MPI_Offset file_npairs, const MPI_Offset *file_offs,
                        const MPI_Offset *file_lens, MPI_Offset buf_npairs, const MPI_Offset *buf_offs,
                        const MPI_Offset *buf_lens);

/* ---- Local helpers ---- */

/* The rows of a subarray (C order, any number of dimensions; GIO's own: two) of elements of `esize` bytes, from
 * `disp` on, as pairs; *offs and *lens are for free().  Without dimensions: nothing. */
int GIO_flatten_subarray(int ndims, int esize, MPI_Offset disp, const int *sizes, const int *subsizes,
                         const int *starts, MPI_Offset *npairs, MPI_Offset **offs, MPI_Offset **lens);

const char *GIO_inq_libvers(void);
const char *GIO_strerror(int err); /* the error in words; positive numbers are the system's errors */
const char *GIO_strerrno(int err); /* the name of the code */

/* GIO's accounts of its memory, in debugging builds of it: GIO_ENOTENABLED. */
int GIO_inq_malloc_size(MPI_Offset *size);
int GIO_inq_malloc_max_size(MPI_Offset *size);
int GIO_inq_malloc_list(void);

#ifdef __cplusplus
}
#endif

#endif
