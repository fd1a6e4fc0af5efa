/* A tool that counts calls, as Darshan and its like do: it defines MPI_File_x and goes on to PMPI_File_x.
 *
 * With -DBY_NEXT it looks for the next one itself (Darshan, preloaded), else the linker finds it.  With
 * -DBOTH_NAMES its functions have both of MPI's names, MPI_Init among them (Darshan, too). */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPEN, CLOSE, WRITE_AT_ALL, READ_ALL, WRITE_AT, KINDS };
static const char *const names[] = {"open", "close", "write_at_all", "read_all", "write_at"};
static long counts[KINDS];

#if defined BY_NEXT || defined BOTH_NAMES
static void *find(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    if (!found)
        abort();
    return found;
}
#define NEXT(name, type) ((type)find("PMPI_" #name))
#else
#define NEXT(name, type) PMPI_##name
#endif

typedef int (*open_fn)(MPI_Comm, const char *, int, MPI_Info, MPI_File *);
typedef int (*close_fn)(MPI_File *);
typedef int (*write_at_fn)(MPI_File, MPI_Offset, const void *, int, MPI_Datatype, MPI_Status *);
typedef int (*read_fn)(MPI_File, void *, int, MPI_Datatype, MPI_Status *);
typedef int (*finalize_fn)(void);

int MPI_File_open(MPI_Comm comm, const char *path, int amode, MPI_Info info, MPI_File *file) {
    counts[OPEN]++;
    return NEXT(File_open, open_fn)(comm, path, amode, info, file);
}

int MPI_File_close(MPI_File *file) {
    counts[CLOSE]++;
    return NEXT(File_close, close_fn)(file);
}

int MPI_File_write_at_all(MPI_File f, MPI_Offset at, const void *buf, int n, MPI_Datatype type,
                          MPI_Status *status) {
    counts[WRITE_AT_ALL]++;
    return NEXT(File_write_at_all, write_at_fn)(f, at, buf, n, type, status);
}

int MPI_File_read_all(MPI_File f, void *buf, int n, MPI_Datatype type, MPI_Status *status) {
    counts[READ_ALL]++;
    return NEXT(File_read_all, read_fn)(f, buf, n, type, status);
}

int MPI_File_write_at(MPI_File f, MPI_Offset at, const void *buf, int n, MPI_Datatype type, MPI_Status *status) {
    counts[WRITE_AT]++;
    return NEXT(File_write_at, write_at_fn)(f, at, buf, n, type, status);
}

/* Not counted.  Tools want to know where it begins. */
int MPI_File_read(MPI_File f, void *buf, int n, MPI_Datatype type, MPI_Status *status) {
    MPI_Offset at;
    MPI_File_get_position(f, &at);
    return NEXT(File_read, read_fn)(f, buf, n, type, status);
}

int MPI_Finalize(void) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    FILE *out = rank == 0 ? fopen("tool.txt", "w") : NULL;
    for (int i = 0; out && i < KINDS; i++)
        fprintf(out, "%s %ld\n", names[i], counts[i]);
    if (out)
        fclose(out);
    return NEXT(Finalize, finalize_fn)();
}

#ifdef BOTH_NAMES
typedef int (*init_fn)(int *, char ***);

int MPI_Init(int *argc, char ***argv) { return NEXT(Init, init_fn)(argc, argv); }

int PMPI_Init(int *argc, char ***argv) __attribute__((alias("MPI_Init")));
int PMPI_Finalize(void) __attribute__((alias("MPI_Finalize")));
int PMPI_File_open(MPI_Comm comm, const char *path, int amode, MPI_Info info, MPI_File *file)
    __attribute__((alias("MPI_File_open")));
int PMPI_File_close(MPI_File *file) __attribute__((alias("MPI_File_close")));
int PMPI_File_write_at_all(MPI_File f, MPI_Offset at, const void *buf, int n, MPI_Datatype type,
                           MPI_Status *status) __attribute__((alias("MPI_File_write_at_all")));
int PMPI_File_read_all(MPI_File f, void *buf, int n, MPI_Datatype type, MPI_Status *status)
    __attribute__((alias("MPI_File_read_all")));
int PMPI_File_read(MPI_File f, void *buf, int n, MPI_Datatype type, MPI_Status *status)
    __attribute__((alias("MPI_File_read")));
int PMPI_File_write_at(MPI_File f, MPI_Offset at, const void *buf, int n, MPI_Datatype type, MPI_Status *status)
    __attribute__((alias("MPI_File_write_at")));
#endif
