#include "bench/file_exchange.h"

#include <stdio.h>
#include <stdlib.h>

#include <sago/sago.h>

#include "base/size_text.h"
#include "bench/json_file.h"
#include "bench/patterns.h"
#include "bench/world.h"

enum { GLOBAL, BY_STORAGE, WAYS };
static const char *const way_names[WAYS] = {"global", "by_storage"};

typedef struct exchange {
    const bench_exchange_config *config;
    bench_world world;
    MPI_Comm near; /* ranks that share the local directory with this one, for the figures */
    sago_exchange *by[WAYS];
    char *data;           /* one block, to be written, or as it was read */
    int *consumer;        /* for each rank: the number of its next block */
    double seconds[WAYS]; /* this rank's times of writing and reading, in all repetitions */
    int64_t local_blocks; /* blocks that this rank left in local storage, in all repetitions */
    char why[BENCH_MESSAGE_MAX];
} exchange;

/* Which rank reads which block: a random permutation, equal on all ranks. */
static void draw_consumers(exchange *x, int64_t number) {
    uint64_t state = (uint64_t)x->config->seed * 1000003u + (uint64_t)number;
    for (int i = 0; i < x->world.ranks; i++)
        x->consumer[i] = i;
    for (int i = x->world.ranks - 1; i > 0; i--) {
        int j = (int)(bench_random(&state) % (uint64_t)(i + 1)), other = x->consumer[j];
        x->consumer[j] = x->consumer[i];
        x->consumer[i] = other;
    }
}

/* ---- One block ---- */

static uint64_t word_of(int producer, int64_t number, int64_t i) {
    uint64_t state = (uint64_t)producer << 40 ^ (uint64_t)number << 20 ^ (uint64_t)i;
    return bench_random(&state);
}

static int64_t words_of(const exchange *x) { return x->config->block / (int64_t)sizeof(uint64_t); }

static void fill_block(exchange *x, int64_t number) {
    uint64_t *words = (uint64_t *)x->data;
    for (int64_t i = 0; i < words_of(x); i++)
        words[i] = word_of(x->world.rank, number, i);
}

static bool verify_block(exchange *x, int producer, int64_t number) {
    const uint64_t *words = (const uint64_t *)x->data;
    for (int64_t i = 0; i < words_of(x); i++)
        if (words[i] != word_of(producer, number, i))
            return bench_refuse(x->why, "the block of rank %d is wrong at byte %lld", producer, (long long)i * 8);
    return true;
}

static int producer_for(const exchange *x) {
    int producer = 0;
    while (x->consumer[producer] != x->world.rank)
        producer++;
    return producer;
}

static bool done(exchange *x, sago_status status) {
    return status == SAGO_OK || bench_refuse(x->why, "%s", sago_error_message());
}

/* Leaves the blocks, agrees, fetches the blocks, agrees. */
static bool exchange_block(exchange *x, int way, int64_t number) {
    draw_consumers(x, number);
    int producer = producer_for(x), consumer = x->consumer[x->world.rank], local = 0;
    int64_t bytes = words_of(x) * 8;
    fill_block(x, number);
    double start = bench_now();
    bool ok = done(x, sago_exchange_put(x->by[way], consumer, "block", x->data, bytes));
    x->seconds[way] += bench_now() - start;
    if (way == BY_STORAGE && sago_exchange_is_local(x->by[way], x->world.rank, consumer, &local) == SAGO_OK)
        x->local_blocks += local;
    ok = bench_agree(&x->world, ok, x->why);
    start = bench_now();
    bool arrived = ok && done(x, sago_exchange_get(x->by[way], producer, "block", x->data, bytes, 60, NULL));
    x->seconds[way] += bench_now() - start;
    return ok && bench_agree(&x->world, arrived && verify_block(x, producer, number), x->why);
}

static bool exchange_all(exchange *x) {
    const bench_exchange_config *config = x->config;
    for (int64_t i = 0; i < config->repeat; i++)
        for (int k = 0; k < WAYS; k++) {
            int way = i % 2 ? WAYS - 1 - k : k; /* no way always comes first */
            bench_barrier(&x->world);
            for (int64_t b = 0; b < config->blocks; b++)
                if (!exchange_block(x, way, i * config->blocks + b))
                    return false;
        }
    return true;
}

/* ---- Setting up, telling ---- */

static bool set_up(exchange *x) {
    const bench_exchange_config *config = x->config;
    x->data = calloc(1, (size_t)config->block + 8);
    x->consumer = calloc((size_t)x->world.ranks, sizeof *x->consumer);
    bool ok = x->data && x->consumer;
    if (!ok)
        bench_refuse(x->why, "no memory");
    if (!bench_agree(&x->world, ok, x->why))
        return false;
    /* The directory that all ranks see takes the place of a local one, or a local one is found. */
    MPI_Comm comm = x->world.comm;
    return done(x, sago_comm_split_storage(comm, config->local, SAGO_STORAGE_AUTO, 0, &x->near)) &&
           done(x, sago_exchange_open(comm, config->dir, config->dir, &x->by[GLOBAL])) &&
           done(x, sago_exchange_open(comm, config->dir, config->local, &x->by[BY_STORAGE]));
}

/* Least, mean and largest time of the ranks in one repetition. */
typedef struct spread {
    double least, mean, most;
} spread;

static spread spread_of(const exchange *x, double seconds) {
    double mine = seconds / (double)x->config->repeat, ends[2] = {-mine, mine};
    int64_t sum = (int64_t)(mine * 1e9);
    bench_max(&x->world, ends, 2);
    bench_sum(&x->world, &sum, 1);
    return (spread){-ends[0], 1e-9 * (double)sum / x->world.ranks, ends[1]};
}

static bool tell_json(const exchange *x, const spread ways[], int64_t local, int64_t groups) {
    bench_json_file file;
    if (!bench_json_begin(&file, "exchange", x->config->json, &x->world))
        return false;
    sagoi_json *json = &file.json;
    sagoi_json_int(json, "neighbourhoods", groups);
    sagoi_json_int(json, "block", x->config->block);
    sagoi_json_int(json, "blocks", x->config->blocks * x->config->repeat * x->world.ranks);
    sagoi_json_int(json, "local_blocks", local);
    for (int way = 0; way < WAYS; way++) {
        sagoi_json_open(json, way_names[way], '{');
        sagoi_json_real(json, "least_s", ways[way].least);
        sagoi_json_real(json, "mean_s", ways[way].mean);
        sagoi_json_real(json, "most_s", ways[way].most);
        sagoi_json_close(json, '}');
    }
    return bench_json_end(&file);
}

/* false: the results for programs could not be written. */
static bool tell(const exchange *x) {
    spread ways[WAYS] = {spread_of(x, x->seconds[GLOBAL]), spread_of(x, x->seconds[BY_STORAGE])};
    sago_storage_stats stats = SAGO_STORAGE_STATS_INIT;
    int64_t local = x->local_blocks, all = x->config->blocks * x->config->repeat * x->world.ranks;
    bench_sum(&x->world, &local, 1);
    (void)sago_storage_get_stats(x->near, &stats);
    if (x->world.rank != 0)
        return true;
    printf("exchange: %d rank%s on %lld node%s, %lld storage neighbourhood%s;\n%lld of %lld block%s of %lld bytes "
           "local\n",
           x->world.ranks, sagoi_plural(x->world.ranks), (long long)x->world.nodes, sagoi_plural(x->world.nodes),
           (long long)stats.neighbourhoods, sagoi_plural(stats.neighbourhoods), (long long)local, (long long)all,
           sagoi_plural(all), (long long)x->config->block);
    printf("%-12s %10s %10s %10s   seconds of a rank, each time\n", "", "least", "mean", "most");
    for (int way = 0; way < WAYS; way++)
        printf("%-12s %10.6f %10.6f %10.6f\n", way_names[way], ways[way].least, ways[way].mean, ways[way].most);
    printf("by storage is %.2f times as fast as global alone (means)\n",
           ways[GLOBAL].mean / ways[BY_STORAGE].mean);
    return !x->config->json || tell_json(x, ways, local, stats.neighbourhoods);
}

int bench_exchange_execute(const bench_exchange_config *config) {
    exchange x = {.config = config, .near = MPI_COMM_NULL};
    MPI_Init(NULL, NULL);
    bench_world_init(&x.world);
    bool ok = set_up(&x) && exchange_all(&x);
    if (ok)
        ok = tell(&x);
    else if (x.world.rank == 0)
        fprintf(stderr, "sago bench exchange: %s\n", x.why);
    for (int way = 0; way < WAYS; way++)
        if (x.by[way])
            (void)sago_exchange_close(&x.by[way]);
    if (x.near != MPI_COMM_NULL)
        MPI_Comm_free(&x.near);
    free(x.data);
    free(x.consumer);
    bench_world_cleanup(&x.world);
    MPI_Finalize();
    return ok ? 0 : 1;
}
