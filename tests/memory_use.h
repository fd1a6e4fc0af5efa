/* How much memory a process uses, and has used at most, and views to use it: for tests that count bytes a run. */
#ifndef SAGO_TESTS_MEMORY_USE_H
#define SAGO_TESTS_MEMORY_USE_H

#include <malloc.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of freed pieces malloc() keeps some at hand and counts them as used: the program starts anew without that.  To be
 * called first. */
static inline void count_exactly(char **argv) {
    static const char name[] = "GLIBC_TUNABLES", value[] = "glibc.malloc.tcache_count=0";
    const char *set = getenv(name);
    if ((set && strcmp(set, value) == 0) || setenv(name, value, 1) != 0)
        return;
    execv("/proc/self/exe", argv);
}

/* Bytes from malloc(), by what it says itself. */
static inline long long heap_in_use(void) {
    struct mallinfo2 info = mallinfo2();
    return (long long)(info.uordblks + info.hblkhd);
}

/* A sanitizer has a malloc() of its own, which says nothing of itself. */
static inline bool heap_is_counted(void) {
    enum { PROBE = 100000 };
    long long before = heap_in_use();
    char *volatile probe = malloc(PROBE);
    bool counted = probe && heap_in_use() - before >= PROBE;
    free(probe);
    return counted;
}

/* "VmRSS" or "VmHWM", bytes. */
static inline long long process_memory(const char *field) {
    char line[256];
    long long kilobytes = -1;
    size_t length = strlen(field);
    FILE *in = fopen("/proc/self/status", "r");
    while (in && kilobytes < 0 && fgets(line, sizeof line, in))
        if (strncmp(line, field, length) == 0 && line[length] == ':')
            kilobytes = atoll(line + length + 1);
    if (in)
        fclose(in);
    return kilobytes * 1024;
}

/* The peak starts anew from what is in use; false: the system does not do that. */
static inline bool forget_peak(void) {
    (void)malloc_trim(0); /* what was freed before is not used again unseen */
    FILE *out = fopen("/proc/self/clear_refs", "w");
    bool ok = out && fputs("5", out) >= 0;
    return out && fclose(out) == 0 && ok;
}

typedef struct memory_mark {
    long long heap, resident;
    bool peak_known;
} memory_mark;

static inline memory_mark mark_memory(void) {
    bool known = forget_peak();
    return (memory_mark){heap_in_use(), process_memory("VmRSS"), known};
}

/* What is in use more than at the mark; at most, since then, in pages (0: not known). */
static inline long long heap_since(const memory_mark *mark) { return heap_in_use() - mark->heap; }
static inline long long peak_since(const memory_mark *mark) {
    return mark->peak_known ? process_memory("VmHWM") - mark->resident : 0;
}

/* ---- Views: committed, to be freed; nothing is kept but the type ---- */

/* Runs of 1 to 9 bytes, gaps of 1 to 30, no two alike for long. */
static inline MPI_Datatype irregular_view(int runs) {
    int *lengths = malloc((size_t)runs * sizeof *lengths);
    MPI_Aint *places = malloc((size_t)runs * sizeof *places), at = 0;
    uint64_t state = 1;
    MPI_Datatype type;
    for (int i = 0; i < runs; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        places[i] = at;
        lengths[i] = 1 + (int)(state >> 60) % 9;
        at += lengths[i] + 1 + (int)(state >> 40) % 30;
    }
    MPI_Type_create_hindexed(runs, lengths, places, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    free(lengths);
    free(places);
    return type;
}

enum { REGULAR_VIEWS = 8 };

/* Many runs that a few numbers describe: a quarter of side^2, side^3 / 8 in 4 dimensions, 5000 side in the vector.
 * In the last but one, and of a part with gaps in the last, every axis ends with a shorter block. */
static inline MPI_Datatype regular_view(int which, int side, const char **name) {
    static const char *const names[REGULAR_VIEWS] = {"vector", "subarray of 3 dimensions", "subarray of 4 dimensions",
                                                     "darray by blocks", "darray in turn",
                                                     "vector of vectors", "darray with shorter blocks",
                                                     "darray of pairs with shorter blocks"};
    int sizes[4] = {side, side, side, 8}, part[4] = {side / 2, side / 2, side / 2, 4};
    int start[4] = {side / 4, side / 4, side / 4, 2};
    int blocks[3] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_BLOCK}, grid[3] = {2, 2, 2};
    int none[3] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG};
    int turns[2] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_CYCLIC}, width[2] = {4, 2}, plane[2] = {2, 4};
    int odd[4] = {side - 3, side / 2 + 1, side - 1, 5}, dealt[3] = {7, 5, 3}, cube[3] = {2, 2, 2};
    int in_turn[3] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_CYCLIC};
    MPI_Datatype type = MPI_DATATYPE_NULL, element;
    *name = names[which];
    if (which == 0)
        MPI_Type_vector(5000 * side, 3, 7, MPI_INT, &type);
    else if (which <= 2)
        MPI_Type_create_subarray(which + 2, sizes, part, start, MPI_ORDER_C, MPI_INT, &type);
    else if (which == 3)
        MPI_Type_create_darray(8, 3, 3, sizes, blocks, none, grid, MPI_ORDER_C, MPI_DOUBLE, &type);
    else if (which == 4)
        MPI_Type_create_darray(8, 3, 2, sizes, turns, width, plane, MPI_ORDER_C, MPI_DOUBLE, &type);
    else if (which == 6)
        MPI_Type_create_darray(8, 0, 3, odd, in_turn, dealt, cube, MPI_ORDER_C, MPI_DOUBLE, &type);
    if (which == 5 || which == 7) {
        MPI_Type_vector(which == 5 ? side / 2 : 2, 3, 7, MPI_INT, &element);
        if (which == 5)
            MPI_Type_create_hvector(side, 3, 50 * (MPI_Aint)side, element, &type);
        else
            MPI_Type_create_darray(8, 0, 2, odd, in_turn, dealt, plane, MPI_ORDER_C, element, &type);
        MPI_Type_free(&element);
    }
    MPI_Type_commit(&type);
    return type;
}

#endif
