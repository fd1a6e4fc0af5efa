/* The made-up GPU.  Device memory is a file in memory that is mapped twice: where the program can see it, without any
 * right to touch it, and where only this library looks.  CUDA, HIP or ZE is defined when this is built. */
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST = 256, FAILS = 719 };

static struct {
    char *seen, *hidden;
    size_t bytes;
    int both;
} memory[MOST];
static int count;
static long made, left = -1;

static void *allocate(size_t bytes, int both) {
    size_t size = bytes > 0 ? bytes : 1;
    int fd = memfd_create("fake device", MFD_CLOEXEC);
    if (count == MOST || fd < 0 || ftruncate(fd, (off_t)size) != 0)
        return NULL;
    char *seen = mmap(NULL, size, both ? PROT_READ | PROT_WRITE : PROT_NONE, MAP_SHARED, fd, 0);
    char *hidden = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    (void)close(fd);
    if (seen == MAP_FAILED || hidden == MAP_FAILED)
        return NULL;
    memory[count].seen = seen;
    memory[count].hidden = hidden;
    memory[count].bytes = size;
    memory[count++].both = both;
    return seen;
}

void *fake_allocate(size_t bytes);
void *fake_allocate_both(size_t bytes);
void fake_put(void *device, const void *host, size_t bytes);
void fake_get(void *host, const void *device, size_t bytes);
void fake_fail_after(long copies);
long fake_copies(void);

void *fake_allocate(size_t bytes) { return allocate(bytes, 0); }
void *fake_allocate_both(size_t bytes) { return allocate(bytes, 1); }
void fake_fail_after(long copies) { left = copies; }
long fake_copies(void) { return made; }

static int find(const void *at) {
    for (int i = 0; i < count; i++)
        if ((uintptr_t)at >= (uintptr_t)memory[i].seen && (uintptr_t)at < (uintptr_t)memory[i].seen + memory[i].bytes)
            return i;
    return -1;
}

/* Where the library reaches it. */
static char *reach(const void *at) {
    int i = find(at);
    return i < 0 ? (char *)(uintptr_t)at : memory[i].hidden + ((uintptr_t)at - (uintptr_t)memory[i].seen);
}

void fake_put(void *device, const void *host, size_t bytes) { memcpy(reach(device), host, bytes); }
void fake_get(void *host, const void *device, size_t bytes) { memcpy(host, reach(device), bytes); }

static int copy(void *to, const void *from, size_t bytes) {
    if (left == 0)
        return FAILS;
    left -= left > 0;
    made++;
    memcpy(reach(to), reach(from), bytes);
    return 0;
}

#ifdef CUDA
/* What a program that has nothing to do with the GPU would be told. */
enum { CONTEXT = 1, TYPE = 2, MANAGED = 8, ORDINAL = 9, INVALID = 1 };

static int context_there;
static void *now;

int cuPointerGetAttribute(void *value, int attribute, unsigned long long pointer);
int cuMemcpy(unsigned long long to, unsigned long long from, size_t bytes);
int cuStreamSynchronize(void *stream);
int cuCtxGetCurrent(void **context);
int cuCtxPushCurrent_v2(void *context);
int cuCtxPopCurrent_v2(void **context);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuDevicePrimaryCtxRelease_v2(int device);
int cuGetErrorString(int error, const char **text);

int cuPointerGetAttribute(void *value, int attribute, unsigned long long pointer) {
    int i = find((const void *)(uintptr_t)pointer);
    if (i < 0)
        return INVALID;
    if (attribute == CONTEXT)
        *(void **)value = i % 2 ? &context_there : NULL; /* of a pool's memory there is none */
    else if (attribute == TYPE)
        *(unsigned *)value = 2;
    else if (attribute == MANAGED)
        *(unsigned *)value = (unsigned)memory[i].both;
    else
        *(int *)value = 0;
    return 0;
}

int cuMemcpy(unsigned long long to, unsigned long long from, size_t bytes) {
    return now ? copy((void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes) : 201;
}
int cuStreamSynchronize(void *stream) {
    (void)stream;
    return now ? 0 : 201;
}
int cuCtxGetCurrent(void **context) {
    *context = now;
    return 0;
}
int cuCtxPushCurrent_v2(void *context) {
    now = context;
    return 0;
}
int cuCtxPopCurrent_v2(void **context) {
    *context = now;
    now = NULL;
    return 0;
}
int cuDevicePrimaryCtxRetain(void **context, int device) {
    *context = &context_there;
    return device;
}
int cuDevicePrimaryCtxRelease_v2(int device) { return device; }
int cuGetErrorString(int error, const char **text) {
    *text = error == FAILS ? "the made-up device has failed" : "no context";
    return 0;
}
#endif

#ifdef HIP
int hipPointerGetAttribute(void *value, int attribute, void *pointer);
int hipMemcpy(void *to, const void *from, size_t bytes, int kind);
int hipStreamSynchronize(void *stream);
int hipRuntimeGetVersion(int *version);
const char *hipGetErrorString(int error);

int hipPointerGetAttribute(void *value, int attribute, void *pointer) {
    int i = find(pointer);
    if (i < 0)
        return 1;
    *(int *)value = attribute == 2 ? 2 : memory[i].both;
    return 0;
}
int hipMemcpy(void *to, const void *from, size_t bytes, int kind) {
    return kind == 4 ? copy(to, from, bytes) : 1;
}
int hipStreamSynchronize(void *stream) { return stream != NULL; }
int hipRuntimeGetVersion(int *version) {
    *version = 60032830;
    return 0;
}
const char *hipGetErrorString(int error) { return error == FAILS ? "the made-up device has failed" : "invalid"; }
#endif

#ifdef ZE
typedef struct properties {
    int stype;
    void *next;
    int type;
    uint64_t id, page;
} properties;

static int handle; /* of whatever it may be */

int zeInit(uint32_t flags);
int zeDriverGet(uint32_t *drivers, void **driver);
int zeContextCreate(void *driver, const void *desc, void **context);
int zeMemGetAllocProperties(void *context, const void *at, properties *found, void **device);
int zeCommandListCreateImmediate(void *context, void *device, const void *desc, void **list);
int zeCommandListAppendMemoryCopy(void *list, void *to, const void *from, size_t bytes, void *signal,
                                  uint32_t nwaits, void **waits);
int zeCommandListDestroy(void *list);

int zeInit(uint32_t flags) { return (int)flags; }
int zeDriverGet(uint32_t *drivers, void **driver) {
    *driver = &handle;
    return *drivers != 1;
}
int zeContextCreate(void *driver, const void *desc, void **context) {
    *context = driver;
    return *(const int *)desc != 0xd;
}
int zeMemGetAllocProperties(void *context, const void *at, properties *found, void **device) {
    int i = find(at);
    if (context != &handle || found->stype != 0x17)
        return 1;
    found->type = i < 0 ? 0 : memory[i].both ? 3 : 2;
    *device = i < 0 ? NULL : &handle;
    return 0;
}
int zeCommandListCreateImmediate(void *context, void *device, const void *desc, void **list) {
    *list = device;
    return context != &handle || *(const int *)desc != 0xe;
}
int zeCommandListAppendMemoryCopy(void *list, void *to, const void *from, size_t bytes, void *signal,
                                  uint32_t nwaits, void **waits) {
    return list != &handle || signal || nwaits || waits ? 1 : copy(to, from, bytes);
}
int zeCommandListDestroy(void *list) { return list != &handle; }
#endif
