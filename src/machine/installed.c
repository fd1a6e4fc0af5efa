/* Where the library's own files are, found from where the library itself was loaded: any prefix, or a build tree.
 */
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "machine/site.h"

static bool exists(char *path, int64_t capacity, const char *folder, const char *up, const char *below) {
    int length = snprintf(path, (size_t)capacity, "%s/%s/%s", folder, up, below);
    return length > 0 && length < capacity && access(path, R_OK) == 0;
}

/* The file that this code was loaded from.  Of a program that it is linked into, the loader knows only what the
 * program was called by, which may be a name without a folder, relative to a folder that was left since, or a
 * link. */
static bool own_file(char file[PATH_MAX]) {
    static const char here = 0; /* an address of ours */
    Dl_info about;
    struct link_map *object = NULL;
    if (!dladdr1(&here, &about, (void **)&object, RTLD_DL_LINKMAP) || !object)
        return false;
    if (*object->l_name)
        return realpath(object->l_name, file) != NULL;
    return realpath("/proc/self/exe", file) != NULL;
}

bool sagoi_installed(const char *below, char *path, int64_t capacity) {
    char folder[PATH_MAX];
    char *slash = own_file(folder) ? strrchr(folder, '/') : NULL;
    if (!slash)
        return false;
    *slash = '\0'; /* lib, bin, or lib/x86_64-linux-gnu */
    return exists(path, capacity, folder, "..", below) || exists(path, capacity, folder, "../..", below);
}

bool sagoi_site_find(const char *hint, char *path, int64_t capacity) {
    if (strcmp(hint, "none") == 0)
        return false;
    if (*hint)
        return snprintf(path, (size_t)capacity, "%s", hint) < capacity;
    if (sagoi_installed("etc/sago/site", path, capacity))
        return true;
    int length = snprintf(path, (size_t)capacity, "/etc/sago/site");
    return length < capacity && access(path, R_OK) == 0;
}
