/* In the place of GIO, for test_preload.sh: it opens nothing, and its code says that it was asked. */
#include <gio.h>
#include <stddef.h>

int GIO_open(MPI_Comm comm, const char *filename, int amode, MPI_Info info, GIO_File *fh) {
    (void)comm, (void)filename, (void)amode, (void)info;
    *fh = GIO_FILE_NULL;
    return GIO_EFSTYPE;
}

int GIO_close(GIO_File *fh) { return *fh == NULL ? GIO_EFSTYPE : GIO_NOERR; }

const char *GIO_strerrno(int err) { return err ? "GIO_EMULTIDEFINE_FNC_ARGS" : "GIO_NOERR"; }
