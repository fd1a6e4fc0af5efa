/* The entry points, and what serves them.  The first file decides for all files: they go to the core or, if Sago
 * is not for this program, to the GIO behind. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "../../front/library.h"
#include "../../front/told.h"
#include "../gio_calls.h"

static _Atomic(const gio_calls *) serving; /* NULL: not decided yet */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static gio_calls behind; /* the program's own GIO */

static void find(const char *name, void *function) {
    void *symbol = dlsym(RTLD_NEXT, name);
    memcpy(function, &symbol, sizeof symbol);
}

static const gio_calls *look_behind(void) {
    find("GIO_open", &behind.open);
    find("GIO_close", &behind.close);
    find("GIO_sync", &behind.sync);
    find("GIO_delete", &behind.delete);
    find("GIO_set_size", &behind.set_size);
    find("GIO_get_size", &behind.get_size);
    find("GIO_get_info", &behind.get_info);
    find("GIO_write", &behind.write);
    find("GIO_write_all", &behind.write_all);
    find("GIO_read", &behind.read);
    find("GIO_read_all", &behind.read_all);
    return &behind;
}

/* NULL: Sago cannot be used, and the user was told why. */
static const gio_calls *load(const mpi_library *mpi) {
    const gio_calls *(*begin)(void) = NULL;
    void *core = library_beside(&serving, "libsago-mpiio-core.so");
    void *symbol = core ? dlsym(core, "sago_gio_begin") : NULL;
    if (!symbol) {
        tell_broken(dlerror());
        return NULL;
    }
    if (!library_serves(mpi, core)) { /* the core's own MPI library is a copy, perhaps by another name */
        tell_foreign(mpi);
        (void)dlclose(core);
        return NULL;
    }
    memcpy(&begin, &symbol, sizeof begin);
    return begin();
}

static const gio_calls *choose(void) {
    mpi_library mpi;
    const gio_calls *core = NULL;
    if (!library_find(&mpi) || is_disabled()) /* without MPI this is a GIO for one process */
        return look_behind();
    if (library_is_own(&mpi))
        core = load(&mpi);
    else
        tell_foreign(&mpi);
    return core ? core : look_behind();
}

static const gio_calls *decided(void) {
    const gio_calls *calls = atomic_load_explicit(&serving, memory_order_acquire);
    if (calls)
        return calls;
    (void)pthread_mutex_lock(&lock);
    calls = atomic_load_explicit(&serving, memory_order_relaxed);
    if (!calls) {
        calls = choose();
        atomic_store_explicit(&serving, calls, memory_order_release);
    }
    (void)pthread_mutex_unlock(&lock);
    return calls;
}

/* ---- Entry points ---- */

/* Under another name, since its handles may be another MPI library's. */
gio_open_call front_open __asm__("GIO_open");

int front_open(gio_handle comm, const char *filename, int amode, gio_handle info, GIO_File *fh) {
    const gio_calls *calls = decided();
    return calls->open ? calls->open(comm, filename, amode, info, fh) : GIO_ENOTENABLED;
}

int GIO_close(GIO_File *fh) {
    const gio_calls *calls = decided();
    return calls->close ? calls->close(fh) : GIO_ENOTENABLED;
}

int GIO_sync(GIO_File fh) {
    const gio_calls *calls = decided();
    return calls->sync ? calls->sync(fh) : GIO_ENOTENABLED;
}

int GIO_delete(const char *filename) {
    const gio_calls *calls = decided();
    return calls->delete ? calls->delete (filename) : GIO_ENOTENABLED;
}

int GIO_set_size(GIO_File fh, MPI_Offset size) {
    const gio_calls *calls = decided();
    return calls->set_size ? calls->set_size(fh, size) : GIO_ENOTENABLED;
}

int GIO_get_size(GIO_File fh, MPI_Offset *size) {
    const gio_calls *calls = decided();
    return calls->get_size ? calls->get_size(fh, size) : GIO_ENOTENABLED;
}

int GIO_get_info(GIO_File fh, MPI_Info *info_used) {
    const gio_calls *calls = decided();
    return calls->get_info ? calls->get_info(fh, info_used) : GIO_ENOTENABLED;
}

MPI_Offset GIO_write(GIO_File fh, const void *buf, MPI_Offset file_npairs, const MPI_Offset *file_offs,
                     const MPI_Offset *file_lens, MPI_Offset buf_npairs, const MPI_Offset *buf_offs,
                     const MPI_Offset *buf_lens) {
    const gio_calls *calls = decided();
    return calls->write ? calls->write(fh, buf, file_npairs, file_offs, file_lens, buf_npairs, buf_offs, buf_lens)
                        : GIO_ENOTENABLED;
}

MPI_Offset GIO_write_all(GIO_File fh, const void *buf, MPI_Offset file_npairs, const MPI_Offset *file_offs,
                         const MPI_Offset *file_lens, MPI_Offset buf_npairs, const MPI_Offset *buf_offs,
                         const MPI_Offset *buf_lens) {
    const gio_calls *calls = decided();
    return calls->write_all
               ? calls->write_all(fh, buf, file_npairs, file_offs, file_lens, buf_npairs, buf_offs, buf_lens)
               : GIO_ENOTENABLED;
}

MPI_Offset GIO_read(GIO_File fh, void *buf, MPI_Offset file_npairs, const MPI_Offset *file_offs,
                    const MPI_Offset *file_lens, MPI_Offset buf_npairs, const MPI_Offset *buf_offs,
                    const MPI_Offset *buf_lens) {
    const gio_calls *calls = decided();
    return calls->read ? calls->read(fh, buf, file_npairs, file_offs, file_lens, buf_npairs, buf_offs, buf_lens)
                       : GIO_ENOTENABLED;
}

MPI_Offset GIO_read_all(GIO_File fh, void *buf, MPI_Offset file_npairs, const MPI_Offset *file_offs,
                        const MPI_Offset *file_lens, MPI_Offset buf_npairs, const MPI_Offset *buf_offs,
                        const MPI_Offset *buf_lens) {
    const gio_calls *calls = decided();
    return calls->read_all
               ? calls->read_all(fh, buf, file_npairs, file_offs, file_lens, buf_npairs, buf_offs, buf_lens)
               : GIO_ENOTENABLED;
}
