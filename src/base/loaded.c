#include "base/loaded.h"

#include <dlfcn.h>
#include <string.h>

static void *held_library(const char *const names[]) {
    void *library = NULL;
    for (; *names && !library; names++)
        library = dlopen(*names, RTLD_NOLOAD | RTLD_LAZY | RTLD_LOCAL);
    return library;
}

bool sagoi_loaded_find(const char *const names[], const sagoi_wanted functions[]) {
    void *library = held_library(names);
    for (; library && functions->name; functions++) {
        void *found = dlsym(library, functions->name);
        if (!found) {
            (void)dlclose(library);
            return false;
        }
        memcpy(functions->function, &found, sizeof found);
    }
    return library != NULL;
}
