/* Stands where the made-up GPU of the tests stands (fake_device.c), with a real one behind it: the same tests then
 * run on the hardware.  CUDA's driver is found when this is loaded; its functions are handed on, so that copies
 * can be counted and made to fail. */
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

enum { FAILS = 719, MANAGED_BY_ANY_STREAM = 1 };
typedef unsigned long long address;

static void *driver;
static long made, left = -1;

static struct {
    int (*init)(unsigned flags);
    int (*retain)(void **context, int device);
    int (*release)(int device);
    int (*set_current)(void *context);
    int (*get_current)(void **context);
    int (*push)(void *context);
    int (*pop)(void **context);
    int (*allocate)(address *memory, size_t bytes);
    int (*allocate_managed)(address *memory, size_t bytes, unsigned flags);
    int (*clear)(address memory, unsigned char value, size_t bytes);
    int (*copy)(address to, address from, size_t bytes);
    int (*synchronize)(void *stream);
    int (*pointer_get)(void *value, int attribute, address memory);
    int (*error_string)(int error, const char **text);
} cu;

/* NULL in `function`: the driver is too old for it, or is none. */
static void find(const char *name, void *function) {
    *(void **)function = driver ? dlsym(driver, name) : NULL;
    if (!*(void **)function) {
        printf("CUDA's driver has no %s\n", name);
        exit(1);
    }
}

static void check(int error, const char *what) {
    if (error) {
        printf("%s: error %d\n", what, error);
        exit(1);
    }
}

/* By its path, which run.sh finds: by its name alone this library itself would be found. */
__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("SAGO_TEST_LIBCUDA");
    void *context;
    driver = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    find("cuInit", &cu.init);
    find("cuDevicePrimaryCtxRetain", &cu.retain);
    find("cuDevicePrimaryCtxRelease_v2", &cu.release);
    find("cuCtxSetCurrent", &cu.set_current);
    find("cuCtxGetCurrent", &cu.get_current);
    find("cuCtxPushCurrent_v2", &cu.push);
    find("cuCtxPopCurrent_v2", &cu.pop);
    find("cuMemAlloc_v2", &cu.allocate);
    find("cuMemAllocManaged", &cu.allocate_managed);
    find("cuMemsetD8_v2", &cu.clear);
    find("cuMemcpy", &cu.copy);
    find("cuStreamSynchronize", &cu.synchronize);
    find("cuPointerGetAttribute", &cu.pointer_get);
    find("cuGetErrorString", &cu.error_string);
    check(cu.init(0), "cuInit");
    check(cu.retain(&context, 0), "cuDevicePrimaryCtxRetain");
    check(cu.set_current(context), "cuCtxSetCurrent");
}

/* ---- As the tests use it ---- */

void *fake_allocate(size_t bytes);
void *fake_allocate_both(size_t bytes);
void fake_put(void *device, const void *host, size_t bytes);
void fake_get(void *host, const void *device, size_t bytes);
void fake_fail_after(long copies);
long fake_copies(void);

static void *cleared(address memory, size_t bytes) {
    check(cu.clear(memory, 0, bytes), "cuMemsetD8");
    check(cu.synchronize(NULL), "cuStreamSynchronize");
    return (void *)memory;
}

void *fake_allocate(size_t bytes) {
    address memory = 0;
    check(cu.allocate(&memory, bytes), "cuMemAlloc");
    return cleared(memory, bytes);
}

void *fake_allocate_both(size_t bytes) {
    address memory = 0;
    check(cu.allocate_managed(&memory, bytes, MANAGED_BY_ANY_STREAM), "cuMemAllocManaged");
    return cleared(memory, bytes);
}

static void copy_now(const void *to, const void *from, size_t bytes) {
    check(cu.copy((address)to, (address)from, bytes), "cuMemcpy");
    check(cu.synchronize(NULL), "cuStreamSynchronize");
}

void fake_put(void *device, const void *host, size_t bytes) { copy_now(device, host, bytes); }
void fake_get(void *host, const void *device, size_t bytes) { copy_now(host, device, bytes); }
void fake_fail_after(long copies) { left = copies; }
long fake_copies(void) { return made; }

/* ---- As Sago uses it ---- */

int cuPointerGetAttribute(void *value, int attribute, address pointer);
int cuMemcpy(address to, address from, size_t bytes);
int cuStreamSynchronize(void *stream);
int cuCtxGetCurrent(void **context);
int cuCtxPushCurrent_v2(void *context);
int cuCtxPopCurrent_v2(void **context);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuDevicePrimaryCtxRelease_v2(int device);
int cuGetErrorString(int error, const char **text);

int cuMemcpy(address to, address from, size_t bytes) {
    if (left == 0)
        return FAILS;
    left -= left > 0;
    made++;
    return cu.copy(to, from, bytes);
}
int cuGetErrorString(int error, const char **text) {
    int unknown = cu.error_string(error, text);
    if (left == 0)
        *text = "the made-up device has failed";
    return unknown;
}
int cuPointerGetAttribute(void *value, int attribute, address pointer) {
    return cu.pointer_get(value, attribute, pointer);
}
int cuStreamSynchronize(void *stream) { return cu.synchronize(stream); }
int cuCtxGetCurrent(void **context) { return cu.get_current(context); }
int cuCtxPushCurrent_v2(void *context) { return cu.push(context); }
int cuCtxPopCurrent_v2(void **context) { return cu.pop(context); }
int cuDevicePrimaryCtxRetain(void **context, int device) { return cu.retain(context, device); }
int cuDevicePrimaryCtxRelease_v2(int device) { return cu.release(device); }
