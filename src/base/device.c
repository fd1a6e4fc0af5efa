/* Finding the runtimes of GPUs.  Programs load them at any time, so the libraries are looked for again whenever
 * the number of libraries that were ever loaded has changed; that number is cheap to get. */
#include "base/device.h"

#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "base/loaded.h"

enum { RUNTIMES = 3 };

static _Atomic(const sagoi_device *) present[RUNTIMES]; /* the runtimes that were found, which stay */
static _Atomic int found;                               /* how many */
static _Atomic unsigned long long loads_seen = 0; /* number of libraries that had been loaded at the last search */
static pthread_mutex_t looking = PTHREAD_MUTEX_INITIALIZER;

/* ---- CUDA, by the driver's functions: its runtime may be linked statically ---- */

static struct {
    int (*pointer_get)(void *value, int attribute, unsigned long long pointer);
    int (*copy)(unsigned long long to, unsigned long long from, size_t bytes);
    int (*synchronize)(void *stream);
    int (*current)(void **context);
    int (*push)(void *context);
    int (*pop)(void **context);
    int (*retain)(void **context, int device);
    int (*release)(int device);
    int (*error_string)(int error, const char **text);
} cuda;

enum { CUDA_CONTEXT = 1, CUDA_MEMORY_TYPE = 2, CUDA_IS_MANAGED = 8, CUDA_ORDINAL = 9, CUDA_TYPE_DEVICE = 2 };

static bool cuda_is_device(const void *memory) {
    unsigned long long at = (unsigned long long)(uintptr_t)memory;
    unsigned type = 0, managed = 0;
    if (cuda.pointer_get(&type, CUDA_MEMORY_TYPE, at) != 0 || type != CUDA_TYPE_DEVICE)
        return false;
    return cuda.pointer_get(&managed, CUDA_IS_MANAGED, at) != 0 || !managed;
}

/* Enters a context.  A thread without a context takes that of the memory or, for memory without a context, that of
 * its device. */
static int cuda_enter(const void *memory, bool *pushed, int *retained) {
    unsigned long long at = (unsigned long long)(uintptr_t)memory;
    void *context = NULL;
    int device = 0, error = cuda.current(&context);
    *pushed = false;
    *retained = -1;
    if (error || context)
        return error;
    if (cuda.pointer_get(&context, CUDA_CONTEXT, at) != 0 || !context) {
        error = cuda.pointer_get(&device, CUDA_ORDINAL, at);
        if (!error)
            error = cuda.retain(&context, device);
        if (error)
            return error;
        *retained = device;
    }
    error = cuda.push(context);
    *pushed = !error;
    return error;
}

static void cuda_leave(bool pushed, int retained) {
    void *context;
    if (pushed)
        (void)cuda.pop(&context);
    if (retained >= 0)
        (void)cuda.release(retained);
}

/* A copy from memory that is not pinned may still be under way when cuMemcpy() returns, so this function waits. */
static bool cuda_copy(void *to, const void *from, int64_t bytes, const void *memory, const char **why) {
    bool pushed;
    int retained, error = cuda_enter(memory, &pushed, &retained);
    if (!error)
        error = cuda.copy((uintptr_t)to, (uintptr_t)from, (size_t)bytes);
    if (!error)
        error = cuda.synchronize(NULL);
    cuda_leave(pushed, retained);
    *why = "an unknown error";
    if (error)
        (void)cuda.error_string(error, why);
    return !error;
}

static bool cuda_find(void) {
    static const char *const names[] = {"libcuda.so.1", "libcuda.so", NULL};
    const sagoi_wanted functions[] = {
        {"cuPointerGetAttribute", &cuda.pointer_get}, {"cuMemcpy", &cuda.copy},
        {"cuStreamSynchronize", &cuda.synchronize},   {"cuCtxGetCurrent", &cuda.current},
        {"cuCtxPushCurrent_v2", &cuda.push},          {"cuCtxPopCurrent_v2", &cuda.pop},
        {"cuDevicePrimaryCtxRetain", &cuda.retain},   {"cuDevicePrimaryCtxRelease_v2", &cuda.release},
        {"cuGetErrorString", &cuda.error_string},     {NULL, NULL}};
    return sagoi_loaded_find(names, functions);
}

/* ---- HIP ---- */

static struct {
    int (*pointer_get)(void *value, int attribute, void *pointer);
    int (*copy)(void *to, const void *from, size_t bytes, int kind);
    int (*synchronize)(void *stream);
    int (*version)(int *version);
    const char *(*error_string)(int error);
} hip;

enum { HIP_MEMORY_TYPE = 2, HIP_IS_MANAGED = 8, HIP_COPY_DEFAULT = 4, HIP_VERSION_6 = 60000000 };

/* HIP 6 changed the numbers of the kinds of memory. */
static bool hip_is_device(const void *memory) {
    int type = -1, managed = 0, version = 0;
    void *at = (void *)(uintptr_t)memory;
    if (hip.version(&version) != 0 || hip.pointer_get(&type, HIP_MEMORY_TYPE, at) != 0 ||
        type != (version >= HIP_VERSION_6 ? 2 : 1))
        return false;
    return hip.pointer_get(&managed, HIP_IS_MANAGED, at) != 0 || !managed;
}

static bool hip_copy(void *to, const void *from, int64_t bytes, const void *memory, const char **why) {
    (void)memory;
    int error = hip.copy(to, from, (size_t)bytes, HIP_COPY_DEFAULT);
    if (!error)
        error = hip.synchronize(NULL);
    *why = error ? hip.error_string(error) : "";
    return !error;
}

static bool hip_find(void) {
    static const char *const names[] = {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5",
                                        "libamdhip64.so", NULL};
    const sagoi_wanted functions[] = {
        {"hipPointerGetAttribute", &hip.pointer_get}, {"hipMemcpy", &hip.copy},
        {"hipStreamSynchronize", &hip.synchronize},   {"hipRuntimeGetVersion", &hip.version},
        {"hipGetErrorString", &hip.error_string},     {NULL, NULL}};
    return sagoi_loaded_find(names, functions);
}

/* ---- Level Zero ---- */

/* As in the header of Level Zero, version 1. */
typedef struct ze_context_desc {
    int stype;
    const void *next;
    uint32_t flags;
} ze_context_desc;
typedef struct ze_queue_desc {
    int stype;
    const void *next;
    uint32_t ordinal, index, flags;
    int mode, priority;
} ze_queue_desc;
typedef struct ze_memory_properties {
    int stype;
    void *next;
    int type;
    uint64_t id, page_size;
} ze_memory_properties;

enum {
    ZE_CONTEXT_DESC = 0xd,
    ZE_QUEUE_DESC = 0xe,
    ZE_MEMORY_PROPERTIES = 0x17,
    ZE_SYNCHRONOUS = 1,
    ZE_DEVICE = 2
};

static struct {
    int (*init)(uint32_t flags);
    int (*driver_get)(uint32_t *count, void **drivers);
    int (*context_create)(void *driver, const ze_context_desc *desc, void **context);
    int (*properties)(void *context, const void *memory, ze_memory_properties *properties, void **device);
    int (*list_create)(void *context, void *device, const ze_queue_desc *desc, void **list);
    int (*append_copy)(void *list, void *to, const void *from, size_t bytes, void *signal, uint32_t nwaits,
                       void **waits);
    int (*list_destroy)(void *list);
    void *context; /* Sago's own context, in which memory of other contexts is known, too */
} ze;

static bool ze_look(const void *memory, void **device) {
    ze_memory_properties properties = {.stype = ZE_MEMORY_PROPERTIES};
    return ze.properties(ze.context, memory, &properties, device) == 0 && properties.type == ZE_DEVICE && *device;
}

static bool ze_is_device(const void *memory) {
    void *device = NULL;
    return ze_look(memory, &device);
}

static bool ze_copy(void *to, const void *from, int64_t bytes, const void *memory, const char **why) {
    const ze_queue_desc desc = {.stype = ZE_QUEUE_DESC, .mode = ZE_SYNCHRONOUS};
    void *device = NULL, *list = NULL;
    *why = "no command list for the memory's device";
    if (!ze_look(memory, &device) || ze.list_create(ze.context, device, &desc, &list) != 0)
        return false;
    *why = "zeCommandListAppendMemoryCopy failed";
    bool copied = ze.append_copy(list, to, from, (size_t)bytes, NULL, 0, NULL) == 0;
    (void)ze.list_destroy(list);
    return copied;
}

static bool ze_find(void) {
    static const char *const names[] = {"libze_loader.so.1", "libze_loader.so", NULL};
    const sagoi_wanted functions[] = {{"zeInit", &ze.init},
                                      {"zeDriverGet", &ze.driver_get},
                                      {"zeContextCreate", &ze.context_create},
                                      {"zeMemGetAllocProperties", &ze.properties},
                                      {"zeCommandListCreateImmediate", &ze.list_create},
                                      {"zeCommandListAppendMemoryCopy", &ze.append_copy},
                                      {"zeCommandListDestroy", &ze.list_destroy},
                                      {NULL, NULL}};
    const ze_context_desc desc = {.stype = ZE_CONTEXT_DESC};
    uint32_t count = 1;
    void *driver = NULL;
    return sagoi_loaded_find(names, functions) && ze.init(0) == 0 && ze.driver_get(&count, &driver) == 0 &&
           driver && ze.context_create(driver, &desc, &ze.context) == 0;
}

/* ---- All of them ---- */

static const struct {
    sagoi_device device;
    bool (*find)(void);
} runtimes[RUNTIMES] = {
    {{"CUDA", cuda_is_device, cuda_copy}, cuda_find},
    {{"HIP", hip_is_device, hip_copy}, hip_find},
    {{"Level Zero", ze_is_device, ze_copy}, ze_find},
};

static int first_object(struct dl_phdr_info *info, size_t size, void *loads) {
    (void)size;
    *(unsigned long long *)loads = info->dlpi_adds;
    return 1;
}

static bool is_present(const sagoi_device *device) {
    for (int i = 0; i < atomic_load(&found); i++)
        if (atomic_load(&present[i]) == device)
            return true;
    return false;
}

static SAGOI_COLD void look_for_runtimes(unsigned long long loads) {
    (void)pthread_mutex_lock(&looking);
    for (int i = 0; i < RUNTIMES; i++)
        if (!is_present(&runtimes[i].device) && runtimes[i].find()) {
            atomic_store(&present[atomic_load(&found)], &runtimes[i].device);
            atomic_fetch_add(&found, 1);
        }
    atomic_store(&loads_seen, loads);
    (void)pthread_mutex_unlock(&looking);
}

static uintptr_t heap_start; /* the end of the program's data when this library was loaded */

__attribute__((constructor)) static void note_heap(void) { heap_start = (uintptr_t)sbrk(0); }

/* Is the address in the heap?  malloc() gives out small pieces there, and no runtime maps memory there, so it need
 * not be asked.  The heap's end is asked for only between the largest end and the smallest address beyond it that
 * were seen so far: UCX makes a system call of each such question.  Where the heap has shrunk, or grown over that
 * address, the runtimes are asked in vain, or nobody has mapped anything. */
static bool is_in_heap(const void *memory) {
    static _Atomic uintptr_t largest_end, beyond = UINTPTR_MAX;
    const uintptr_t at = (uintptr_t)memory;
    if (at < heap_start || at >= atomic_load_explicit(&beyond, memory_order_relaxed))
        return false;
    if (at < atomic_load_explicit(&largest_end, memory_order_relaxed))
        return true;
    const uintptr_t end = (uintptr_t)sbrk(0);
    atomic_store_explicit(at < end ? &largest_end : &beyond, at < end ? end : at, memory_order_relaxed);
    return at < end;
}

bool sagoi_device_is_there(void) {
    unsigned long long loads = 0;
    (void)dl_iterate_phdr(first_object, &loads);
    if (loads != atomic_load_explicit(&loads_seen, memory_order_relaxed))
        look_for_runtimes(loads);
    return atomic_load(&found) > 0;
}

const sagoi_device *sagoi_device_of(const void *memory) {
    if (is_in_heap(memory) || !sagoi_device_is_there())
        return NULL;
    for (int i = 0; i < atomic_load(&found); i++)
        if (atomic_load(&present[i])->is_device(memory))
            return atomic_load(&present[i]);
    return NULL;
}

sago_status sagoi_device_copy(const sagoi_device *device, void *to, const void *from, int64_t bytes,
                              const void *memory) {
    const char *why = "";
    if (bytes == 0 || device->copy(to, from, bytes, memory, &why))
        return SAGO_OK;
    return sagoi_fail(SAGO_ERR_IO, "a copy of %lld bytes of device memory: %s: %s", (long long)bytes, device->name,
                      why);
}
