/* What the programs here have in common: `APP write FILE` and `APP read FILE`.
 *
 * Every element of a variable has a value that depends on the variable and on its place only, so a file can be
 * written and read by any number of ranks, cut in any way. */
#ifndef LIBS_APP_H
#define LIBS_APP_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct app_world {
    int rank, ranks;
    const char *path;
} app_world;

/* No value is 0 or a fill value, and neighbours differ. */
static inline int32_t app_value(int32_t variable, int64_t place) {
    return (int32_t)(1 + (place * 7 + variable * 1000003) % 1000000007);
}

/* Ends all ranks: what failed here would make the others wait. */
static inline void app_fail(const char *file, int line, const char *what) {
    fprintf(stderr, "%s:%d: %s\n", file, line, what);
    fflush(stderr);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

#define REQUIRE(condition) ((condition) ? (void)0 : app_fail(__FILE__, __LINE__, #condition))

/* The part of `length` that belongs to `rank`: not the same for all, and none for some when there is little. */
static inline void app_part(const app_world *app, int64_t length, int64_t *start, int64_t *count) {
    *start = length * app->rank / app->ranks;
    *count = length * (app->rank + 1) / app->ranks - *start;
}

static inline void *app_buffer(int64_t bytes) {
    void *buffer = malloc(bytes > 0 ? (size_t)bytes : 1);
    REQUIRE(buffer);
    memset(buffer, 0xa5, bytes > 0 ? (size_t)bytes : 1);
    return buffer;
}

/* The values of a box of a three-dimensional variable, one after another; and are they all there? */
typedef struct app_box {
    int64_t dims[3], start[3], count[3], stride[3];
} app_box;

static inline int64_t app_box_volume(const app_box *box) { return box->count[0] * box->count[1] * box->count[2]; }

static inline int64_t app_box_place(const app_box *box, int64_t i) {
    int64_t x = box->start[2] + i % box->count[2] * box->stride[2];
    int64_t y = box->start[1] + i / box->count[2] % box->count[1] * box->stride[1];
    int64_t z = box->start[0] + i / box->count[2] / box->count[1] * box->stride[0];
    return (z * box->dims[1] + y) * box->dims[2] + x;
}

static inline int32_t *app_box_fill(const app_box *box, int32_t variable) {
    int32_t *values = app_buffer(app_box_volume(box) * (int64_t)sizeof *values);
    for (int64_t i = 0; i < app_box_volume(box); i++)
        values[i] = app_value(variable, app_box_place(box, i));
    return values;
}

/* Frees the values. */
static inline bool app_box_check(const app_box *box, int32_t variable, int32_t *values) {
    int64_t bad = 0;
    for (int64_t i = 0; i < app_box_volume(box); i++)
        bad += values[i] != app_value(variable, app_box_place(box, i));
    if (bad)
        fprintf(stderr, "variable %d: %lld of %lld values are wrong\n", variable, (long long)bad,
                (long long)app_box_volume(box));
    free(values);
    return bad == 0;
}

/* A slab along one dimension, cut among the ranks. */
static inline app_box app_slab(const app_world *app, int64_t n0, int64_t n1, int64_t n2, int along) {
    app_box box = {{n0, n1, n2}, {0, 0, 0}, {n0, n1, n2}, {1, 1, 1}};
    app_part(app, box.dims[along], &box.start[along], &box.count[along]);
    return box;
}

/* Every ranks-th index of one dimension. */
static inline app_box app_comb(const app_world *app, int64_t n0, int64_t n1, int64_t n2, int along) {
    app_box box = {{n0, n1, n2}, {0, 0, 0}, {n0, n1, n2}, {1, 1, 1}};
    box.start[along] = app->rank;
    box.stride[along] = app->ranks;
    box.count[along] = (box.dims[along] - app->rank + app->ranks - 1) / app->ranks;
    if (box.start[along] >= box.dims[along])
        box.start[along] = box.count[along] = 0;
    return box;
}

/* Runs write() or read(); the exit status of main(). */
static inline int app_main(int argc, char **argv, void (*write)(const app_world *),
                           void (*read)(const app_world *)) {
    app_world app = {.path = argc > 2 ? argv[2] : NULL};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &app.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &app.ranks);
    bool writes = argc == 3 && strcmp(argv[1], "write") == 0, reads = argc == 3 && strcmp(argv[1], "read") == 0;
    if (writes)
        write(&app);
    else if (reads)
        read(&app);
    else if (app.rank == 0)
        fprintf(stderr, "usage: %s write|read FILE\n", argv[0]);
    MPI_Finalize();
    return writes || reads ? 0 : 2;
}

#endif
