/* The real thing: Sago's look at CUDA's memory and its copies, on a machine with a GPU.  Needs neither MPI nor
 * CUDA's headers: run.sh builds it with those files of Sago's that know about memory.  Exit 77: there is no GPU.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/device.h"
#include "extent/staging.h"

enum { MIB = 1 << 20, BYTES = 64 * MIB, RUN = 24 };

static int failures;

#define CHECK(condition)                                                                                          \
    do {                                                                                                          \
        if (!(condition)) {                                                                                       \
            failures++;                                                                                           \
            printf("line %d: failed: %s (%s)\n", __LINE__, #condition, sagoi_message());                          \
        }                                                                                                         \
    } while (0)

/* Patterns are not hashed here. */
sagoi_hash sagoi_hash_bytes(const void *data, int64_t bytes, sagoi_hash seed) {
    (void)data, (void)bytes;
    return seed;
}

static double now(void) {
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static struct {
    int (*init)(unsigned flags);
    int (*device_get)(int *device, int ordinal);
    int (*retain)(void **context, int device);
    int (*set_current)(void *context);
    int (*allocate)(unsigned long long *memory, size_t bytes);
    int (*allocate_pinned)(void **memory, size_t bytes, unsigned flags);
    int (*allocate_managed)(unsigned long long *memory, size_t bytes, unsigned flags);
} cu;

static int load(void) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    void *const places[] = {&cu.init,     &cu.device_get,      &cu.retain,          &cu.set_current,
                            &cu.allocate, &cu.allocate_pinned, &cu.allocate_managed};
    static const char *const names[] = {"cuInit",           "cuDeviceGet",   "cuDevicePrimaryCtxRetain",
                                        "cuCtxSetCurrent",  "cuMemAlloc_v2", "cuMemHostAlloc",
                                        "cuMemAllocManaged"};
    for (int i = 0; i < 7; i++) {
        void *function = library ? dlsym(library, names[i]) : NULL;
        if (!function)
            return 0;
        memcpy(places[i], &function, sizeof function);
    }
    int device = 0;
    void *context = NULL;
    return cu.init(0) == 0 && cu.device_get(&device, 0) == 0 && cu.retain(&context, device) == 0 &&
           cu.set_current(context) == 0;
}

static char *memory; /* of the device */
static char *host, *back;

static void *from_thread(void *arg) {
    (void)arg; /* it has no context of its own */
    const sagoi_device *device = sagoi_device_of(memory);
    CHECK(device && sagoi_device_copy(device, back, memory, BYTES, memory) == SAGO_OK);
    CHECK(memcmp(host, back, BYTES) == 0);
    return NULL;
}

/* Through the copy loops, as a request's memory. */
static void staged(void) {
    sagoi_memory described = {.base = memory};
    const sagoi_span train = {.count = BYTES / RUN, .len = RUN, .stride = RUN + 8};
    char *window = malloc((size_t)train.count * (RUN + 8));
    CHECK(sagoi_staging_add(&described, BYTES, NULL) == SAGO_OK && described.staging);
    if (!window || !described.staging)
        return;
    double start = now();
    sagoi_copy_span(&train, window, 0, &described, SAGOI_TO_FILE);
    CHECK(sagoi_staging_finish(described.staging) == SAGO_OK);
    printf("device to runs of %d bytes: %.2f GB/s\n", RUN, BYTES / (now() - start) / 1e9);
    int wrong = 0;
    for (int64_t i = 0; i < train.count * RUN; i++)
        wrong += window[i / RUN * (RUN + 8) + i % RUN] != host[i];
    CHECK(wrong == 0);
    memset(back, 0, BYTES);
    CHECK(sagoi_device_copy(sagoi_device_of(memory), memory, back, BYTES, memory) == SAGO_OK);
    start = now();
    sagoi_copy_span(&train, window, 0, &described, SAGOI_FROM_FILE);
    CHECK(sagoi_staging_finish(described.staging) == SAGO_OK);
    printf("runs of %d bytes to device: %.2f GB/s\n", RUN, BYTES / (now() - start) / 1e9);
    CHECK(sagoi_device_copy(sagoi_device_of(memory), back, memory, BYTES, memory) == SAGO_OK);
    CHECK(memcmp(back, host, (size_t)(train.count * RUN)) == 0);
    sagoi_staging_destroy(described.staging);
    free(window);
}

static void time_question(const char *what, const void *asked) {
    enum { TIMES = 100000 };
    double start = now();
    for (int i = 0; i < TIMES; i++)
        CHECK((sagoi_device_of(asked) != NULL) == (asked == memory));
    printf("is it a device's? %s: %.0f ns\n", what, (now() - start) / TIMES * 1e9);
}

int main(void) {
    host = malloc(BYTES);
    back = malloc(BYTES);
    unsigned long long found = 0, managed = 0;
    void *pinned = NULL;
    time_question("no runtime", host);
    void *small = malloc(1000);
    time_question("no runtime, of the heap", small);
    free(small);
    if (!load() || cu.allocate(&found, BYTES) != 0) {
        printf("SKIP: no CUDA driver, or no GPU\n");
        return failures ? 1 : 77;
    }
    memory = (char *)(uintptr_t)found;
    for (int64_t i = 0; i < BYTES; i++)
        host[i] = (char)(i * 2654435761u >> 13);
    time_question("host memory", host);
    time_question("device memory", memory);
    CHECK(sagoi_device_of(memory + BYTES - 1) != NULL);
    CHECK(cu.allocate_pinned(&pinned, MIB, 0) == 0 && !sagoi_device_of(pinned));
    CHECK(cu.allocate_managed(&managed, MIB, 1) == 0 && !sagoi_device_of((void *)(uintptr_t)managed));
    const sagoi_device *device = sagoi_device_of(memory);
    CHECK(device != NULL);
    if (!device)
        return 1;
    double start = now();
    CHECK(sagoi_device_copy(device, memory, host, BYTES, memory) == SAGO_OK);
    printf("host to device: %.2f GB/s\n", BYTES / (now() - start) / 1e9);
    start = now();
    CHECK(sagoi_device_copy(device, back, memory, BYTES, memory) == SAGO_OK);
    printf("device to host: %.2f GB/s\n", BYTES / (now() - start) / 1e9);
    CHECK(memcmp(host, back, BYTES) == 0);
    staged();
    memset(back, 0, BYTES);
    pthread_t thread;
    CHECK(sagoi_device_copy(device, memory, host, BYTES, memory) == SAGO_OK);
    CHECK(pthread_create(&thread, NULL, from_thread, NULL) == 0 && pthread_join(thread, NULL) == 0);
    sagoi_message_clear();
    if (sagoi_device_copy(device, memory + BYTES - 10, host, 4 * MIB, memory) != SAGO_OK)
        printf("past the end of an allocation: %s\n", sagoi_message());
    printf(failures ? "%d checks failed\n" : "all checks passed\n", failures);
    return failures != 0;
}
