/* Opening and closing for GIO's callers, sizes, and calls that concern the whole file. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "gio_file.h"

/* ---- Open ---- */

/* "ufs:/scratch/x" is /scratch/x: GIO takes the names of ROMIO's kinds of file systems for a prefix. */
static const char *without_prefix(const char *name) {
    static const char *const kinds[] = {"ufs",    "nfs",  "xfs",    "pvfs2", "gpfs",   "panfs",
                                        "lustre", "daos", "testfs", "ime",   "quobyte"};
    const char *colon = strchr(name, ':');
    for (size_t i = 0; colon && i < sizeof kinds / sizeof kinds[0]; i++)
        if (strlen(kinds[i]) == (size_t)(colon - name) && strncmp(name, kinds[i], strlen(kinds[i])) == 0)
            return colon + 1;
    return name;
}

static int mode_of(int amode) {
    static const int access[] = {
        [O_RDONLY] = MPI_MODE_RDONLY, [O_WRONLY] = MPI_MODE_WRONLY, [O_RDWR] = MPI_MODE_RDWR};
    int mode = access[amode & O_ACCMODE];
    if (amode & O_CREAT)
        mode |= MPI_MODE_CREATE;
    if ((amode & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL))
        mode |= MPI_MODE_EXCL;
    return mode;
}

static int mistake_in(const char *filename, int amode, const GIO_File *fh) {
    int known = O_ACCMODE | O_CREAT | O_EXCL | O_TRUNC, access = amode & O_ACCMODE;
    if (!filename || !*filename)
        return GIO_EBAD_FILE;
    bool reads = access == O_RDONLY && (amode & (O_CREAT | O_TRUNC));
    return !fh || (amode & ~known) || access == O_ACCMODE || reads ? GIO_EINVAL : GIO_NOERR;
}

/* The same answer on all ranks. */
static int agree(MPI_Comm comm, int mistake, int amode, long hints) {
    long mine[] = {mistake, amode, -(long)amode, hints, -hints}, least[5];
    if (MPI_Allreduce(mine, least, 5, MPI_LONG, MPI_MIN, comm) != MPI_SUCCESS)
        return GIO_EFILE;
    if (least[0])
        return (int)least[0];
    if (least[1] != -least[2])
        return GIO_EMULTIDEFINE_AMODE;
    return least[3] != -least[4] ? GIO_EMULTIDEFINE_HINTS : GIO_NOERR;
}

/* GIO distinguishes a name below a file, which cannot exist, from a missing file. */
static int code_of(sago_status status, const char *name) {
    struct stat found;
    bool below = status == SAGO_ERR_NO_FILE && stat(name, &found) != 0 && errno == ENOTDIR;
    return below ? GIO_EBAD_FILE : gio_code(status);
}

static int open_sago(MPI_Comm comm, const char *name, int amode, MPI_Info info, sago_file **sago) {
    MPI_Info hints = gio_hints_for_sago(info);
    sago_report_layer_opens(1);
    sago_status status = sago_open(comm, name, mode_of(amode), hints, sago);
    sago_report_layer_opens(0);
    if (hints != MPI_INFO_NULL)
        (void)MPI_Info_free(&hints);
    if (!status && (amode & O_TRUNC)) {
        status = sago_set_size(*sago, 0);
        if (status)
            (void)sago_close(sago);
    }
    return code_of(status, name);
}

/* Makes everything but Sago's file: what may fail on one rank. */
static GIO_File make(MPI_Comm comm, int amode) {
    int rank = 0;
    GIO_File file = calloc(1, sizeof *file);
    if (!file)
        return NULL;
    (void)MPI_Comm_rank(comm, &rank);
    file->counted.first = rank == 0;
    file->counted.amode = amode;
    file->info = MPI_INFO_NULL;
    return file;
}

int gio_open(gio_handle comm_word, const char *filename, int amode, gio_handle info_word, GIO_File *fh) {
    MPI_Comm comm = (MPI_Comm)comm_word;
    MPI_Info info = (MPI_Info)info_word;
    if (fh)
        *fh = GIO_FILE_NULL;
    if (comm == MPI_COMM_NULL)
        return GIO_EINVAL;
    GIO_File file = make(comm, amode);
    int mistake = mistake_in(filename, amode, fh);
    int code = agree(comm, mistake ? mistake : file ? GIO_NOERR : GIO_ENOMEM, amode, gio_hints_sum(info));
    if (!code)
        code = open_sago(comm, without_prefix(filename), amode, info, &file->counted.sago);
    if (code) {
        free(file);
        return code;
    }
    file->info = gio_hints_in_force(info, without_prefix(filename), file->counted.sago);
    dropin_count_open(&file->counted);
    *fh = file;
    return GIO_NOERR;
}

/* ---- Close ---- */

int gio_close(GIO_File *fh) {
    if (!fh || !*fh)
        return GIO_EINVAL;
    GIO_File file = *fh;
    (void)sago_flush_all(file->counted.sago); /* for the counts; a write that fails will fail again */
    dropin_count_close(&file->counted);
    int code = gio_code(sago_close(&file->counted.sago));
    if (file->info != MPI_INFO_NULL)
        (void)MPI_Info_free(&file->info);
    free(file);
    *fh = GIO_FILE_NULL;
    return code;
}

int gio_delete(const char *filename) {
    if (!filename || !*filename)
        return GIO_EBAD_FILE;
    return code_of(sago_delete(without_prefix(filename), MPI_INFO_NULL), without_prefix(filename));
}

/* ---- Size, sync, hints ---- */

/* A file that is open for reading has nothing to sync. */
int gio_sync(GIO_File fh) {
    if (!fh)
        return GIO_EINVAL;
    return (fh->counted.amode & O_ACCMODE) == O_RDONLY ? GIO_NOERR : gio_code(sago_sync_own(fh->counted.sago));
}

int gio_set_size(GIO_File fh, MPI_Offset size) {
    return fh ? gio_code(sago_set_size(fh->counted.sago, size)) : GIO_EINVAL;
}

int gio_get_size(GIO_File fh, MPI_Offset *size) {
    return fh && size ? gio_code(sago_get_size(fh->counted.sago, size)) : GIO_EINVAL;
}

int gio_get_info(GIO_File fh, MPI_Info *info_used) {
    if (!fh || !info_used)
        return GIO_EINVAL;
    if (fh->info == MPI_INFO_NULL)
        return GIO_ENOMEM;
    return MPI_Info_dup(fh->info, info_used) == MPI_SUCCESS ? GIO_NOERR : GIO_EFILE;
}
