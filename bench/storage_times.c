#include "bench/storage_times.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sago/sago.h>

#include "base/size_text.h"
#include "bench/json_file.h"
#include "bench/patterns.h"
#include "bench/world.h"

enum { GLOBAL, LOCAL, PLACES, MODES = 3 };
static const char *const place_names[PLACES] = {"global", "local"};
static const char *const mode_names[MODES] = {"auto", "exhaustive", "heuristic"};

/* One way of discovery for one directory: the time of the slowest rank, its least and its mean over all
 * repetitions. */
typedef struct found {
    double least, mean;
    sago_storage_stats stats;
} found;

typedef struct times {
    const bench_storage_config *config;
    bench_world world;
    MPI_Comm near; /* the ranks that share the local directory */
    char *data;
    found found[PLACES][MODES];
    double write[PLACES]; /* means over ranks and repetitions: open, write, sync, close */
    char why[BENCH_MESSAGE_MAX];
} times;

static bool done(times *t, sago_status status) {
    return status == SAGO_OK || bench_refuse(t->why, "%s", sago_error_message());
}

static const char *dir_of(const times *t, int place) {
    return place == GLOBAL ? t->config->dir : t->config->local;
}

/* ---- Finding out ---- */

static bool time_split(times *t, int place, int mode) {
    found *is = &t->found[place][mode];
    *is = (found){.stats = SAGO_STORAGE_STATS_INIT};
    for (int64_t i = 0; i < t->config->repeat; i++) {
        MPI_Comm near = MPI_COMM_NULL;
        bench_barrier(&t->world);
        double took = bench_now();
        if (!done(t, sago_comm_split_storage(t->world.comm, dir_of(t, place), (sago_storage_mode)mode, 0, &near)))
            return false;
        took = bench_now() - took;
        bench_max(&t->world, &took, 1);
        is->least = i == 0 || took < is->least ? took : is->least;
        is->mean += took / (double)t->config->repeat;
        bool told = done(t, sago_storage_get_stats(near, &is->stats));
        MPI_Comm_free(&near);
        if (!told)
            return false;
    }
    return true;
}

/* ---- Writing ---- */

/* The first rank of a file removes it. */
static bool write_once(times *t, int place, double *seconds) {
    MPI_Comm comm = place == GLOBAL ? t->world.comm : t->near;
    char path[4096];
    sago_file *file = NULL;
    MPI_Count moved;
    int rank;
    MPI_Comm_rank(comm, &rank);
    snprintf(path, sizeof path, "%s/.sago-bench-storage-%s", dir_of(t, place), place_names[place]);
    bench_barrier(&t->world);
    double begin = bench_now();
    bool ok = done(t, sago_open(comm, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file));
    if (ok)
        ok =
            done(t, sago_write_at_all(file, rank * t->config->bytes, t->data, t->config->bytes, MPI_BYTE, &moved));
    if (ok)
        ok = done(t, sago_sync(file));
    if (file && !done(t, sago_close(&file)))
        ok = false;
    *seconds = bench_now() - begin;
    ok = bench_agree(&t->world, ok, t->why);
    if (rank == 0)
        (void)unlink(path);
    return ok;
}

static bool time_writes(times *t) {
    for (int64_t i = 0; i < t->config->repeat && t->config->bytes > 0; i++)
        for (int k = 0; k < PLACES; k++) {
            int place = i % 2 ? PLACES - 1 - k : k; /* no way always comes first */
            double seconds = 0;
            if (!write_once(t, place, &seconds))
                return false;
            int64_t sum = (int64_t)(seconds * 1e9);
            bench_sum(&t->world, &sum, 1);
            t->write[place] += 1e-9 * (double)sum / t->world.ranks / (double)t->config->repeat;
        }
    return true;
}

/* ---- Telling ---- */

static bool tell_json(const times *t) {
    bench_json_file file;
    if (!bench_json_begin(&file, "storage", t->config->json, &t->world))
        return false;
    sagoi_json *json = &file.json;
    sagoi_json_int(json, "bytes", t->config->bytes);
    for (int place = 0; place < PLACES; place++) {
        sagoi_json_open(json, place_names[place], '{');
        sagoi_json_real(json, "write_s", t->write[place]);
        sagoi_json_int(json, "neighbourhoods", t->found[place][0].stats.neighbourhoods);
        for (int mode = 0; mode < MODES; mode++) {
            const found *is = &t->found[place][mode];
            sagoi_json_open(json, mode_names[mode], '{');
            sagoi_json_real(json, "least_s", is->least);
            sagoi_json_real(json, "mean_s", is->mean);
            sagoi_json_int(json, "creates", is->stats.creates);
            sagoi_json_int(json, "looks", is->stats.looks);
            sagoi_json_int(json, "lists", is->stats.lists);
            sagoi_json_close(json, '}');
        }
        sagoi_json_close(json, '}');
    }
    return bench_json_end(&file);
}

/* false: the results for programs could not be written. */
static bool tell(const times *t) {
    if (t->world.rank != 0)
        return true;
    printf("storage: %d rank%s on %lld node%s, %s\n", t->world.ranks, sagoi_plural(t->world.ranks),
           (long long)t->world.nodes, sagoi_plural(t->world.nodes), t->world.mpi);
    printf("seconds of the slowest rank\n%-8s %-12s %10s %10s %8s %8s %8s %8s\n", "", "way", "least", "mean",
           "groups", "creates", "looks", "lists");
    for (int place = 0; place < PLACES; place++)
        for (int mode = 0; mode < MODES; mode++) {
            const found *is = &t->found[place][mode];
            printf("%-8s %-12s %10.6f %10.6f %8lld %8lld %8lld %8lld\n", place_names[place], mode_names[mode],
                   is->least, is->mean, (long long)is->stats.neighbourhoods, (long long)is->stats.creates,
                   (long long)is->stats.looks, (long long)is->stats.lists);
        }
    if (t->config->bytes > 0)
        printf("writing %lld bytes a rank (means of the ranks):\n  global %.4f s, local %.4f s, %.1f times\n",
               (long long)t->config->bytes, t->write[GLOBAL], t->write[LOCAL], t->write[GLOBAL] / t->write[LOCAL]);
    return !t->config->json || tell_json(t);
}

static bool measure(times *t) {
    for (int place = 0; place < PLACES; place++)
        for (int mode = 0; mode < MODES; mode++)
            if (!time_split(t, place, mode))
                return false;
    t->data = malloc((size_t)t->config->bytes + 1);
    if (!bench_agree(&t->world, t->data || bench_refuse(t->why, "no memory"), t->why))
        return false;
    memset(t->data, t->world.rank + 1, (size_t)t->config->bytes);
    return done(t, sago_comm_split_storage(t->world.comm, t->config->local, SAGO_STORAGE_AUTO, 0, &t->near)) &&
           time_writes(t);
}

int bench_storage_execute(const bench_storage_config *config) {
    times t = {.config = config, .near = MPI_COMM_NULL};
    MPI_Init(NULL, NULL);
    bench_world_init(&t.world);
    bool ok = measure(&t);
    if (ok)
        ok = tell(&t);
    else if (t.world.rank == 0)
        fprintf(stderr, "sago bench storage: %s\n", t.why);
    if (t.near != MPI_COMM_NULL)
        MPI_Comm_free(&t.near);
    free(t.data);
    bench_world_cleanup(&t.world);
    MPI_Finalize();
    return ok ? 0 : 1;
}
