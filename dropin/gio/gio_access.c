/* Reading and writing for GIO's callers.  GIO's lists are two arrays each, and Sago's are arrays of pairs, so the
 * lists are copied; short ones lie on the stack. */
#include <fcntl.h>
#include <stdlib.h>

#include "gio_file.h"

enum { FEW = 32 };

/* The arguments of a call. */
typedef struct gio_access {
    char *buf; /* never written to when the file is */
    MPI_Offset file_n;
    const MPI_Offset *file_offs, *file_lens;
    MPI_Offset buf_n;
    const MPI_Offset *buf_offs, *buf_lens;
    bool write, together;
} gio_access;

typedef struct gio_lists {
    int64_t file_n, buf_n, bytes;
    sago_extent *file, *buf;
    sago_extent few[FEW];
    sago_extent *many; /* to be freed */
} gio_lists;

static bool is_list(MPI_Offset n, const MPI_Offset *offs, const MPI_Offset *lens) {
    return n >= 0 && (n == 0 || (offs && lens));
}

/* GIO looks at sums only; a negative length among others is just as wrong. */
static int copy_list(MPI_Offset n, const MPI_Offset *offs, const MPI_Offset *lens, sago_extent *list,
                     int64_t *sum) {
    *sum = 0;
    for (MPI_Offset i = 0; i < n; i++) {
        list[i] = (sago_extent){offs[i], lens[i]};
        if (lens[i] < 0)
            return GIO_ENEGATIVECNT;
        if (__builtin_add_overflow(*sum, lens[i], sum))
            return GIO_EINTOVERFLOW;
    }
    return GIO_NOERR;
}

/* Do the extents ascend without overlap? */
static bool ascends(int64_t n, const sago_extent list[]) {
    for (int64_t i = 1; i < n; i++)
        if (list[i - 1].offset > list[i].offset || list[i].offset - list[i - 1].offset < list[i - 1].length)
            return false;
    return true;
}

static sago_extent *room_for(gio_lists *lists, MPI_Offset file_n, MPI_Offset buf_n) {
    if (file_n <= FEW && buf_n <= FEW - file_n)
        return lists->few;
    size_t n;
    if (__builtin_add_overflow((size_t)file_n, (size_t)buf_n, &n))
        return NULL;
    lists->many = calloc(n, sizeof *lists->many);
    return lists->many;
}

/* Finds what is wrong on this rank.  Without an error the lists are filled. */
static int make_lists(GIO_File fh, const gio_access *wanted, gio_lists *lists) {
    int64_t in_memory;
    int access = fh->counted.amode & O_ACCMODE;
    if (access == (wanted->write ? O_RDONLY : O_WRONLY))
        return GIO_EPERM;
    if (!is_list(wanted->file_n, wanted->file_offs, wanted->file_lens) ||
        !is_list(wanted->buf_n, wanted->buf_offs, wanted->buf_lens))
        return GIO_EINVAL;
    lists->file = room_for(lists, wanted->file_n, wanted->buf_n);
    if (!lists->file)
        return GIO_ENOMEM;
    lists->buf = lists->file + wanted->file_n;
    int code = copy_list(wanted->file_n, wanted->file_offs, wanted->file_lens, lists->file, &lists->bytes);
    if (!code)
        code = copy_list(wanted->buf_n, wanted->buf_offs, wanted->buf_lens, lists->buf, &in_memory);
    if (!code && !ascends(wanted->file_n, lists->file))
        code = GIO_EFILEVIEW;
    if (!code && lists->bytes != in_memory)
        code = GIO_EINVAL;
    lists->file_n = wanted->file_n;
    lists->buf_n = wanted->buf_n;
    return code;
}

static sago_status move_together(sago_file *file, const gio_access *wanted, const gio_lists *lists,
                                 MPI_Count *bytes) {
    if (!wanted->write)
        return sago_read_pieces_all(file, lists->file_n, lists->file, wanted->buf, lists->buf_n, lists->buf,
                                    bytes);
    *bytes = lists->bytes;
    return sago_write_pieces_all(file, lists->file_n, lists->file, wanted->buf, lists->buf_n, lists->buf);
}

/* With one piece in both lists, as in most independent calls, nothing needs to be described. */
static sago_status move_alone(sago_file *file, const gio_access *wanted, const gio_lists *lists,
                              MPI_Count *bytes) {
    if (lists->file_n == 1 && lists->buf_n == 1) {
        char *place = (char *)((uintptr_t)wanted->buf + (uintptr_t)lists->buf[0].offset); /* `buf` may be NULL */
        int64_t offset = lists->file[0].offset;
        return wanted->write ? sago_write_at(file, offset, place, lists->bytes, MPI_BYTE, bytes)
                             : sago_read_at(file, offset, place, lists->bytes, MPI_BYTE, bytes);
    }
    if (!wanted->write)
        return sago_read_pieces(file, lists->file_n, lists->file, wanted->buf, lists->buf_n, lists->buf, bytes);
    *bytes = lists->bytes;
    return sago_write_pieces(file, lists->file_n, lists->file, wanted->buf, lists->buf_n, lists->buf);
}

static sago_status move(GIO_File fh, const gio_access *wanted, const gio_lists *lists, MPI_Count *bytes) {
    double start = dropin_clock();
    sago_file *file = fh->counted.sago;
    sago_status status =
        wanted->together ? move_together(file, wanted, lists, bytes) : move_alone(file, wanted, lists, bytes);
    if (wanted->together)
        dropin_count_served(&fh->counted, wanted->write, status ? 0 : *bytes, start);
    else
        dropin_count_alone(wanted->write, status ? 0 : *bytes);
    return status;
}

/* A rank with wrong arguments takes part in a collective call, with nothing. */
static MPI_Offset serve(GIO_File fh, const gio_access *wanted) {
    if (!fh)
        return GIO_EINVAL;
    gio_lists lists = {.many = NULL};
    MPI_Count bytes = 0;
    sago_status status = SAGO_OK;
    int mistake = make_lists(fh, wanted, &lists);
    if (mistake)
        lists.file_n = lists.buf_n = lists.bytes = 0;
    if (wanted->together || (!mistake && lists.bytes > 0))
        status = move(fh, wanted, &lists, &bytes);
    free(lists.many);
    return mistake ? mistake : status ? gio_code(status) : (MPI_Offset)bytes;
}

MPI_Offset gio_write(GIO_File fh, const void *buf, MPI_Offset file_npairs, const MPI_Offset *file_offs,
                     const MPI_Offset *file_lens, MPI_Offset buf_npairs, const MPI_Offset *buf_offs,
                     const MPI_Offset *buf_lens) {
    return serve(fh, &(gio_access){(char *)(uintptr_t)buf, file_npairs, file_offs, file_lens, buf_npairs, buf_offs,
                                   buf_lens, .write = true});
}

MPI_Offset gio_write_all(GIO_File fh, const void *buf, MPI_Offset file_npairs, const MPI_Offset *file_offs,
                         const MPI_Offset *file_lens, MPI_Offset buf_npairs, const MPI_Offset *buf_offs,
                         const MPI_Offset *buf_lens) {
    return serve(fh, &(gio_access){(char *)(uintptr_t)buf, file_npairs, file_offs, file_lens, buf_npairs, buf_offs,
                                   buf_lens, .write = true, .together = true});
}

MPI_Offset gio_read(GIO_File fh, void *buf, MPI_Offset file_npairs, const MPI_Offset *file_offs,
                    const MPI_Offset *file_lens, MPI_Offset buf_npairs, const MPI_Offset *buf_offs,
                    const MPI_Offset *buf_lens) {
    return serve(
        fh, &(gio_access){buf, file_npairs, file_offs, file_lens, buf_npairs, buf_offs, buf_lens, .write = false});
}

MPI_Offset gio_read_all(GIO_File fh, void *buf, MPI_Offset file_npairs, const MPI_Offset *file_offs,
                        const MPI_Offset *file_lens, MPI_Offset buf_npairs, const MPI_Offset *buf_offs,
                        const MPI_Offset *buf_lens) {
    return serve(fh, &(gio_access){buf, file_npairs, file_offs, file_lens, buf_npairs, buf_offs, buf_lens,
                                   .together = true});
}
