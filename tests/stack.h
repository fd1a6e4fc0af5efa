/* How much of a stack a function takes: it runs on a thread whose stack was filled with a pattern before. */
#ifndef SAGO_TESTS_STACK_H
#define SAGO_TESTS_STACK_H

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

enum {
    STACK_LARGE = 1 << 20,
    STACK_PATTERN = 0x5a,
    /* Threads with stacks of 64 KiB are found in programs. Half of that is the program's own. */
    STACK_FAIR = 32 << 10
};

typedef struct stack_body {
    void (*run)(void);
} stack_body;

static void *stack_enter(void *arg) {
    ((stack_body *)arg)->run();
    return NULL;
}

/* Bytes, with what the C library itself keeps on the stack of a thread; -1: there is no thread. */
static inline long stack_used(void (*run)(void)) {
    pthread_attr_t attributes;
    pthread_t thread;
    stack_body body = {run};
    void *stack =
        mmap(NULL, STACK_LARGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    long untouched = 0;
    if (stack == MAP_FAILED)
        return -1;
    memset(stack, STACK_PATTERN, STACK_LARGE);
    (void)pthread_attr_init(&attributes);
    (void)pthread_attr_setstack(&attributes, stack, STACK_LARGE);
    int error = pthread_create(&thread, &attributes, stack_enter, &body);
    if (!error)
        (void)pthread_join(thread, NULL);
    (void)pthread_attr_destroy(&attributes);
    while (untouched < STACK_LARGE && ((unsigned char *)stack)[untouched] == STACK_PATTERN)
        untouched++;
    (void)munmap(stack, STACK_LARGE);
    return error ? -1 : STACK_LARGE - untouched;
}

#endif
