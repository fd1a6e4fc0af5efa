/* A made-up GPU, for tests without one: its library has the names and functions of CUDA's driver, of HIP's runtime or of
 * Level Zero's loader (fake_device.c, built once for each), and its memory cannot be touched by the program, only by
 * the library's copy function. */
#ifndef SAGO_TESTS_FAKE_DEVICE_H
#define SAGO_TESTS_FAKE_DEVICE_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

typedef struct fake_device {
    void *(*allocate)(size_t bytes);     /* zeros */
    void *(*allocate_both)(size_t bytes); /* managed: the program's, too */
    void (*put)(void *device, const void *host, size_t bytes);
    void (*get)(void *host, const void *device, size_t bytes);
    void (*fail_after)(long copies); /* then every copy of the runtime's fails; -1: none */
    long (*copies)(void);            /* that the runtime's function has made */
} fake_device;

/* Loads the library "cuda", "hip" or "ze" from beside the program. */
static inline int fake_device_load(const char *folder, const char *name, fake_device *device) {
    char path[1024];
    (void)snprintf(path, sizeof path, "%s/libfake_%s.so", folder, name);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *functions[6];
    static const char *const names[6] = {"fake_allocate", "fake_allocate_both", "fake_put",
                                         "fake_get",      "fake_fail_after",    "fake_copies"};
    for (int i = 0; i < 6; i++)
        if (!library || !(functions[i] = dlsym(library, names[i]))) {
            printf("%s: %s\n", path, dlerror());
            return 0;
        }
    memcpy(device, functions, sizeof functions);
    return 1;
}

#endif
