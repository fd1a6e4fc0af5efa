/* Where the library's own files are, found from where the library itself was loaded: any prefix, or a build tree.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "machine/site.h"

static bool exists(char *path, int64_t capacity, const char *folder, const char *up, const char *below) {
    int length = snprintf(path, (size_t)capacity, "%s/%s/%s", folder, up, below);
    return length > 0 && length < capacity && access(path, R_OK) == 0;
}

bool sagoi_installed(const char *below, char *path, int64_t capacity) {
    static const char here = 0; /* an address of ours */
    Dl_info about;
    char folder[4096];
    if (!dladdr(&here, &about) || !about.dli_fname)
        return false;
    int length = snprintf(folder, sizeof folder, "%s", about.dli_fname);
    char *slash = length > 0 && (size_t)length < sizeof folder ? strrchr(folder, '/') : NULL;
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
