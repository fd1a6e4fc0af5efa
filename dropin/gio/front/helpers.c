/* Functions that concern no file: answered here, whatever serves the files. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <sago/sago.h>

#include "../gio_calls.h"

/* ---- Names and words ---- */

typedef struct code_words {
    int code;
    const char *name, *words;
} code_words;

static const code_words table[] = {
    {GIO_NOERR, "GIO_NOERR", "no error"},
    {GIO_EEXIST, "GIO_EEXIST", "the file exists already"},
    {GIO_EINVAL, "GIO_EINVAL", "an argument is not valid"},
    {GIO_EPERM, "GIO_EPERM", "the file is not open for that: writing to one for reading, say"},
    {GIO_ENOMEM, "GIO_ENOMEM", "no memory left"},
    {GIO_EACCESS, "GIO_EACCESS", "permission denied"},
    {GIO_EFILE, "GIO_EFILE", "an I/O error"},
    {GIO_ENEGATIVECNT, "GIO_ENEGATIVECNT", "a length is negative"},
    {GIO_ENOENT, "GIO_ENOENT", "no such file"},
    {GIO_EINTOVERFLOW, "GIO_EINTOVERFLOW", "a number is too large"},
    {GIO_ENOTENABLED, "GIO_ENOTENABLED", "not offered by this library"},
    {GIO_EBAD_FILE, "GIO_EBAD_FILE", "there can be no file of that name"},
    {GIO_ENO_SPACE, "GIO_ENO_SPACE", "no space left on the file system"},
    {GIO_EQUOTA, "GIO_EQUOTA", "the quota is used up"},
    {GIO_EFSTYPE, "GIO_EFSTYPE", "the kind of file system is not served"},
    {GIO_EMULTIDEFINE_AMODE, "GIO_EMULTIDEFINE_AMODE", "ranks open the file in different modes"},
    {GIO_EMULTIDEFINE_FNC_ARGS, "GIO_EMULTIDEFINE_FNC_ARGS", "ranks gave different arguments"},
    {GIO_EMULTIDEFINE_HINTS, "GIO_EMULTIDEFINE_HINTS", "ranks gave different hints"},
    {GIO_EFILEVIEW, "GIO_EFILEVIEW", "offsets of the file do not ascend, or overlap"},
};

static const code_words *find_code(int code) {
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (table[i].code == code)
            return &table[i];
    return NULL;
}

const char *GIO_strerror(int err) {
    const code_words *found = find_code(err);
    return found ? found->words : err > 0 ? strerror(err) : "no code of GIO's";
}

const char *GIO_strerrno(int err) {
    const code_words *found = find_code(err);
    return found ? found->name : "no code of GIO's";
}

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

const char *GIO_inq_libvers(void) {
    return "1.0.0, served by Sago " TEXT(SAGO_VERSION_MAJOR) "." TEXT(SAGO_VERSION_MINOR) "." TEXT(
        SAGO_VERSION_PATCH);
}

/* ---- Accounts of memory ---- */

int GIO_inq_malloc_size(MPI_Offset *size) {
    (void)size;
    return GIO_ENOTENABLED;
}

int GIO_inq_malloc_max_size(MPI_Offset *size) {
    (void)size;
    return GIO_ENOTENABLED;
}

int GIO_inq_malloc_list(void) { return GIO_ENOTENABLED; }

/* ---- Subarrays ---- */

typedef struct subarray {
    int ndims, esize;
    MPI_Offset disp;
    const int *sizes, *subsizes, *starts;
} subarray;

/* Finds the number of rows, and checks that the last byte of the whole array has an offset. */
static bool count_rows(const subarray *of, MPI_Offset *rows) {
    MPI_Offset elements = 1, bytes, end;
    *rows = 1;
    for (int i = 0; i < of->ndims; i++) {
        if (of->sizes[i] < 0 || of->subsizes[i] < 0 || of->starts[i] < 0 ||
            of->starts[i] > of->sizes[i] - of->subsizes[i])
            return false;
        if (__builtin_mul_overflow(elements, (MPI_Offset)of->sizes[i], &elements) ||
            (i < of->ndims - 1 && __builtin_mul_overflow(*rows, (MPI_Offset)of->subsizes[i], rows)))
            return false;
    }
    return !__builtin_mul_overflow(elements, (MPI_Offset)of->esize, &bytes) &&
           !__builtin_add_overflow(bytes, of->disp, &end);
}

/* The number of a row's first element in the whole array. */
static MPI_Offset first_of(const subarray *of, MPI_Offset row) {
    MPI_Offset element = of->starts[of->ndims - 1], stride = of->sizes[of->ndims - 1];
    for (int i = of->ndims - 2; i >= 0; i--) {
        element += (of->starts[i] + row % of->subsizes[i]) * stride;
        row /= of->subsizes[i];
        stride *= of->sizes[i];
    }
    return element;
}

static int list_rows(const subarray *of, MPI_Offset rows, MPI_Offset **offs, MPI_Offset **lens) {
    *offs = calloc((size_t)rows + 1, sizeof **offs);
    *lens = calloc((size_t)rows + 1, sizeof **lens);
    if (!*offs || !*lens) {
        free(*offs);
        free(*lens);
        *offs = *lens = NULL;
        return GIO_ENOMEM;
    }
    for (MPI_Offset row = 0; row < rows; row++) {
        (*offs)[row] = of->disp + first_of(of, row) * of->esize;
        (*lens)[row] = (MPI_Offset)of->subsizes[of->ndims - 1] * of->esize;
    }
    return GIO_NOERR;
}

int GIO_flatten_subarray(int ndims, int esize, MPI_Offset disp, const int *sizes, const int *subsizes,
                         const int *starts, MPI_Offset *npairs, MPI_Offset **offs, MPI_Offset **lens) {
    const subarray of = {ndims, esize, disp, sizes, subsizes, starts};
    MPI_Offset rows;
    if (ndims == 0)
        return GIO_NOERR;
    if (ndims < 0 || esize <= 0 || disp < 0 || !sizes || !subsizes || !starts || !npairs || !offs || !lens ||
        !count_rows(&of, &rows))
        return GIO_EINVAL;
    int code = list_rows(&of, rows, offs, lens);
    if (!code)
        *npairs = rows;
    return code;
}
