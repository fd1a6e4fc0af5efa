#include "library.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include <mpi.h>

#include <sago/config.h>

/* A symbol that every MPI library has, and no tool.  PMPI_Init will not do: Darshan has it, and PMPI_File_x, under
 * both of MPI's names. */
static const char always_there[] = "PMPI_Wtime";

/* The header of each family refers to something that only its own libraries have. */
#ifdef SAGO_MPI_MPICH
static const char only_in_own[] = "MPIR_Dup_fn";
#else
static const char only_in_own[] = "ompi_mpi_comm_world";
#endif

/* ---- Finding it ---- */

void *library_of(void *symbol) {
    Dl_info info;
    struct link_map *map = NULL;
    if (!symbol || !dladdr1(symbol, &info, (void **)&map, RTLD_DL_LINKMAP) || !map)
        return NULL;
    return dlopen(*map->l_name ? map->l_name : NULL, RTLD_LAZY | RTLD_NOLOAD);
}

/* "$ORIGIN" in the name will not do: a tool that stands before dlopen() would count as the caller. */
void *library_beside(void *symbol, const char *name) {
    char path[PATH_MAX + NAME_MAX];
    void *here = library_of(symbol);
    if (!here || dlinfo(here, RTLD_DI_ORIGIN, path) != 0)
        return NULL;
    size_t length = strlen(path);
    snprintf(path + length, sizeof path - length, "/%s", name);
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

typedef struct numbered_object {
    int left;
    char path[PATH_MAX];
} numbered_object;

static int count_down(struct dl_phdr_info *info, size_t size, void *data) {
    numbered_object *wanted = data;
    (void)size;
    if (wanted->left-- > 0)
        return 0;
    snprintf(wanted->path, sizeof wanted->path, "%s", info->dlpi_name);
    return 1;
}

/* Looks at one object at a time, since inside of the walk nothing may be opened. */
static void *find_anywhere(void) {
    void *symbol = NULL;
    numbered_object object = {0};
    for (int n = 0; !symbol; n++) {
        object.left = n;
        if (!dl_iterate_phdr(count_down, &object))
            return NULL;
        void *handle = *object.path ? dlopen(object.path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
        symbol = handle ? dlsym(handle, always_there) : NULL; /* in the library, or in those that it needs */
        if (handle)
            (void)dlclose(handle);
    }
    return symbol;
}

bool library_find(mpi_library *mpi) {
    void *symbol = dlsym(RTLD_NEXT, always_there);
    mpi->handle = library_of(symbol ? symbol : find_anywhere());
    return mpi->handle != NULL;
}

/* A symbol of another library does not count: if the program itself is the MPI library, the name may lead back to
 * Sago. */
void *library_has(const mpi_library *mpi, const char *name) {
    void *symbol = dlsym(mpi->handle, name), *holder = library_of(symbol);
    if (holder)
        (void)dlclose(holder); /* the library itself stays open */
    return holder == mpi->handle ? symbol : NULL;
}

/* ---- What it is ---- */

bool library_is_own(const mpi_library *mpi) { return dlsym(mpi->handle, only_in_own) != NULL; }

bool library_serves(const mpi_library *mpi, void *loaded) {
    return dlsym(loaded, always_there) == dlsym(mpi->handle, always_there);
}

/* "MPICH Version: 4.0.2" and further lines; "Open MPI v4.1.4, package: ...". */
void library_name(const mpi_library *mpi, char *text, size_t capacity) {
    static char words[1 << 14]; /* longer than any library's; the caller has a lock */
    int length = 0, (*version)(char *, int *) = NULL;
    void *symbol = dlsym(mpi->handle, "PMPI_Get_library_version");
    memcpy(&version, &symbol, sizeof version);
    if (!version || version(words, &length) != 0)
        snprintf(words, sizeof words, "an unknown one");
    words[strcspn(words, ",\n")] = '\0';
    for (char *tab = words; (tab = strchr(tab, '\t'));)
        *tab = ' ';
    snprintf(text, capacity, "%s", words);
}
