/* A program without MPI, and plugin.c: loader LIBRARY local|global */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
    int (*run)(void);
    int scope = argc == 3 && strcmp(argv[2], "global") == 0 ? RTLD_GLOBAL : RTLD_LOCAL;
    void *plugin = argc == 3 ? dlopen(argv[1], RTLD_NOW | scope) : NULL,
         *symbol = plugin ? dlsym(plugin, "run") : NULL;
    if (!symbol) {
        fprintf(stderr, "%s\n", dlerror());
        return 2;
    }
    memcpy(&run, &symbol, sizeof run);
    return run();
}
