/* What checkpoints cost, in four parts:
 *
 * - held: the time an application is held in a save (threaded mode, a free buffer), beside a memcpy of the same
 * bytes by the same ranks;
 * - store: perceived and raw bandwidth of a store that takes `rate` bytes a second and no more, and how much the
 *   computing between the saves is slowed down, in threaded, rbio and coio mode;
 * - encode: how fast parity is worked out;
 * - restore: restoring, beside reading the same bytes from the same files with read(2).
 *
 * What is restored is compared byte for byte with what was saved. */
#include "bench/checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <sago/ckpt.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench/json_file.h"
#include "bench/patterns.h"
#include "bench/progress.h"
#include "bench/quantiles.h"
#include "bench/slow_storage.h"
#include "bench/world.h"
#include "ckpt/erasure.h"

/* ---- The run ---- */

/* One stretch of computing, in seconds of the slowest rank. */
typedef struct stretch {
    double total, held, write, thread_cpu;
} stretch;

enum { PLAIN, THREADED, RBIO, COIO, MODES };
static const char *const mode_names[MODES] = {"none", "threaded", "rbio", "coio"};

typedef struct ckpt_bench {
    const ckpt_bench_config *config;
    bench_world world;
    int64_t elements; /* elements of a rank's array */
    uint64_t *data, *copy;
    char dir[4096];
    int64_t step;
    double rounds; /* seconds of computing between two saves */

    double held[CKPT_BENCH_MAX], memcpy[CKPT_BENCH_MAX];
    double encode[CKPT_BENCH_MAX]; /* bytes a second */
    double restore[CKPT_BENCH_MAX], read[CKPT_BENCH_MAX];
    stretch stretches[MODES][CKPT_BENCH_MAX];
    int64_t wrong; /* elements */
} ckpt_bench;

static void check(const ckpt_bench *b, sago_status status) {
    if (status == SAGO_OK)
        return;
    if (b->world.rank == 0)
        fprintf(stderr, "sago bench ckpt: %s\n", sago_error_message());
    MPI_Barrier(b->world.comm);
    MPI_Abort(b->world.comm, EXIT_FAILURE);
}

static uint64_t content(const ckpt_bench *b, int64_t i, int64_t step) {
    uint64_t x = (uint64_t)(b->world.rank * b->elements + i) * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)step;
    return x ^ (x >> 29);
}

static void fill(ckpt_bench *b, int64_t step) {
    for (int64_t i = 0; i < b->elements; i++)
        b->data[i] = content(b, i, step);
}

static void count_wrong(ckpt_bench *b, int64_t step) {
    for (int64_t i = 0; i < b->elements; i++)
        b->wrong += b->data[i] != content(b, i, step);
}

static sago_ckpt *open_directory(ckpt_bench *b, const char *mode) {
    sago_ckpt *ckpt;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "sago_ckpt_mode", mode);
    MPI_Info_set(info, "sago_ckpt_keep_global", "1");
    for (int64_t i = 0; i < b->config->nhints; i++) {
        char key[MPI_MAX_INFO_KEY];
        const char *equals = strchr(b->config->hints[i], '=');
        snprintf(key, sizeof key, "%.*s", (int)(equals - b->config->hints[i]), b->config->hints[i]);
        MPI_Info_set(info, key, equals + 1);
    }
    check(b, sago_ckpt_open(b->world.comm, b->dir, info, &ckpt));
    MPI_Info_free(&info);
    int64_t global[1] = {b->elements * b->world.ranks}, start[1] = {b->elements * b->world.rank};
    sago_block block = {.start = start, .count = &b->elements, .data = b->data};
    check(b, sago_ckpt_protect(ckpt, "data", MPI_UINT64_T, 1, global, 1, &block));
    return ckpt;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place) {
    (void)status, (void)kind, (void)place;
    return remove(path);
}

static void remove_directory(const ckpt_bench *b) {
    MPI_Barrier(b->world.comm);
    if (b->world.rank == 0)
        (void)nftw(b->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    MPI_Barrier(b->world.comm);
}

static double slowest(const ckpt_bench *b, double seconds) {
    bench_max(&b->world, &seconds, 1);
    return seconds;
}

/* ---- held ---- */

static void measure_held(ckpt_bench *b) {
    sago_ckpt *ckpt = open_directory(b, "threaded");
    size_t bytes = (size_t)b->elements * sizeof *b->data;
    for (int64_t i = -1; i < b->config->repeat; i++) { /* the first save makes the buffers */
        bench_barrier(&b->world);
        double start = bench_now();
        memcpy(b->copy, b->data, bytes);
        double copied = slowest(b, bench_now() - start);
        bench_barrier(&b->world);
        start = bench_now();
        check(b, sago_ckpt_save(ckpt, ++b->step));
        double held = slowest(b, bench_now() - start);
        check(b, sago_ckpt_wait(ckpt, b->step, SAGO_LEVEL_LOCAL)); /* lets the next save find a free buffer */
        if (i >= 0) {
            b->held[i] = held;
            b->memcpy[i] = copied;
        }
    }
    check(b, sago_ckpt_close(&ckpt));
}

/* ---- store ---- */

/* Keeps a core busy with data that fits its nearest cache. */
static double compute(double rounds) {
    static double x[512];
    for (double r = 0; r < rounds; r++)
        for (int i = 0; i < 512; i++)
            x[i] = x[i] * 0.999 + 1e-3 * i;
    return x[7];
}

/* The number of rounds that take longer than the store takes for a save. */
static void calibrate(ckpt_bench *b) {
    double wanted = 1.5 * (double)(b->elements * b->world.ranks) * sizeof *b->data / (double)b->config->rate;
    double best = 0;
    for (int i = 0; i < 5; i++) { /* the first rounds warm up */
        double start = bench_now();
        compute(20000);
        double seconds = bench_now() - start;
        best = i == 0 || seconds < best ? seconds : best;
    }
    b->rounds = 20000 * wanted / best;
    MPI_Bcast(&b->rounds, 1, MPI_DOUBLE, 0, b->world.comm);
}

static stretch run_stretch(ckpt_bench *b, int mode) {
    stretch s = {0};
    sago_ckpt *ckpt = mode == PLAIN ? NULL : open_directory(b, mode_names[mode]);
    if (ckpt)
        check(b, sago_ckpt_save(ckpt, ++b->step)); /* makes the buffers */
    if (ckpt)
        check(b, sago_ckpt_wait(ckpt, b->step, SAGO_LEVEL_LOCAL));
    sago_ckpt_stats before = SAGO_CKPT_STATS_INIT, after = SAGO_CKPT_STATS_INIT;
    if (ckpt)
        check(b, sago_ckpt_get_stats(ckpt, &before));
    bench_barrier(&b->world);
    double start = bench_now(), held = 0;
    for (int64_t i = 0; i < b->config->saves; i++) {
        double saving = bench_now();
        if (ckpt)
            check(b, sago_ckpt_save(ckpt, ++b->step));
        held += bench_now() - saving;
        compute(b->rounds);
    }
    s.total = slowest(b, bench_now() - start);
    s.held = ckpt ? slowest(b, held) : 0;
    if (!ckpt)
        return s;
    check(b, sago_ckpt_wait(ckpt, b->step, SAGO_LEVEL_LOCAL));
    check(b, sago_ckpt_get_stats(ckpt, &after));
    s.write = after.write - before.write;
    s.thread_cpu = after.thread_cpu - before.thread_cpu;
    check(b, sago_ckpt_close(&ckpt));
    return s;
}

static void measure_store(ckpt_bench *b) {
    calibrate(b);
    bench_limit_storage(&b->world, (double)b->config->rate / (double)b->world.nodes);
    for (int64_t i = 0; i < b->config->repeat; i++)
        /* In turn, so that other work on the machine affects all of them alike. */
        for (int mode = PLAIN; mode < MODES; mode++)
            b->stretches[mode][i] = run_stretch(b, mode);
    bench_limit_storage(&b->world, 0);
}

/* ---- encode ---- */

/* Encodes stripes of two data and two parity fragments, as sets of four members have them, and checks that the
 * parity brings the data back. */
static void measure_encode(ckpt_bench *b) {
    enum { DATA = 2, PARITY = 2 };
    int64_t bytes = b->elements * (int64_t)sizeof *b->data,
            length = bytes / DATA < 1 << 20 ? bytes / DATA : 1 << 20;
    unsigned char *in = (unsigned char *)b->data, *out = (unsigned char *)b->copy;
    const int64_t from[DATA] = {DATA, DATA + 1}; /* from parity alone */
    for (int64_t i = 0; i < b->config->repeat; i++) {
        unsigned char *data[DATA] = {in, in + length}, *parity[PARITY] = {out, out + length};
        int64_t stripes = 0;
        bench_barrier(&b->world);
        double start = bench_now(), seconds = 0;
        for (; seconds < 0.05; stripes++, seconds = bench_now() - start)
            for (int64_t j = 0; j < PARITY; j++)
                sagoi_erasure_encode(DATA, PARITY, j, data, parity[j], length);
        b->encode[i] = 1 / slowest(b, seconds / (double)(stripes * DATA * length));
        unsigned char *back = malloc((size_t)length);
        b->wrong += !back || sagoi_erasure_decode(DATA, PARITY, 1, from, parity, back, length) ||
                    memcmp(back, data[1], (size_t)length) != 0;
        free(back);
    }
}

/* ---- restore ---- */

/* Reads a share of the files of the newest step; a global, since nftw() has no argument for it. */
static struct {
    char *into;
    int64_t room, rank, ranks;
} reading;

static int read_share(const char *path, const struct stat *status, int kind, struct FTW *place) {
    (void)place;
    const char *dot = strrchr(path, '.');
    if (kind != FTW_F || !dot || strcmp(dot, ".data") != 0)
        return 0;
    int64_t first = status->st_size * reading.rank / reading.ranks;
    int64_t left = status->st_size * (reading.rank + 1) / reading.ranks - first;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    for (ssize_t got = 1; fd >= 0 && left > 0 && got > 0; left -= got, first += got)
        got = pread(fd, reading.into, (size_t)(left < reading.room ? left : reading.room), first);
    if (fd >= 0)
        close(fd);
    return left > 0;
}

/* The limit: every rank reads its share with read(2), without anything else. */
static double read_files(ckpt_bench *b) {
    reading.into = (char *)b->copy;
    reading.room = b->elements * (int64_t)sizeof *b->copy;
    reading.rank = b->world.rank;
    reading.ranks = b->world.ranks;
    bench_barrier(&b->world);
    double start = bench_now();
    int failed = nftw(b->dir, read_share, 16, FTW_PHYS);
    double seconds = slowest(b, bench_now() - start);
    if (failed)
        fprintf(stderr, "sago bench ckpt: the files of %s cannot be read\n", b->dir);
    return seconds;
}

static void measure_restore(ckpt_bench *b) {
    fill(b, ++b->step);
    sago_ckpt *ckpt = open_directory(b, "threaded");
    check(b, sago_ckpt_save(ckpt, b->step));
    check(b, sago_ckpt_close(&ckpt));
    ckpt = open_directory(b, "threaded");
    for (int64_t i = -1; i < b->config->repeat; i++) {
        double limit = read_files(b);
        memset(b->data, 0, (size_t)b->elements * sizeof *b->data);
        bench_barrier(&b->world);
        double start = bench_now();
        check(b, sago_ckpt_restore(ckpt, b->step));
        double restored = slowest(b, bench_now() - start);
        count_wrong(b, b->step);
        if (i >= 0) {
            b->restore[i] = restored;
            b->read[i] = limit;
        }
    }
    check(b, sago_ckpt_close(&ckpt));
    bench_sum(&b->world, &b->wrong, 1);
}

/* ---- Report ---- */

typedef struct figures {
    double bytes; /* bytes of a save */
    double held, memcpy, encode, restore, read;
    bench_estimate held_ratio, restore_ratio;
    struct {
        double total, perceived, raw, ratio, slowdown, thread_cpu;
    } mode[MODES]; /* medians */
} figures;

static double median_of(const ckpt_bench *b, double (*value)(const ckpt_bench *, int, int64_t), int mode) {
    double values[CKPT_BENCH_MAX];
    for (int64_t i = 0; i < b->config->repeat; i++)
        values[i] = value(b, mode, i);
    return bench_median(b->config->repeat, values);
}

static double save_bytes(const ckpt_bench *b) {
    return (double)(b->elements * b->world.ranks) * sizeof *b->data * (double)b->config->saves;
}

static double total_of(const ckpt_bench *b, int mode, int64_t i) { return b->stretches[mode][i].total; }
static double cpu_of(const ckpt_bench *b, int mode, int64_t i) { return b->stretches[mode][i].thread_cpu; }
static double perceived_of(const ckpt_bench *b, int mode, int64_t i) {
    return save_bytes(b) / b->stretches[mode][i].held;
}
static double raw_of(const ckpt_bench *b, int mode, int64_t i) {
    return save_bytes(b) / b->stretches[mode][i].write;
}
static double ratio_of(const ckpt_bench *b, int mode, int64_t i) {
    return b->stretches[mode][i].write / b->stretches[mode][i].held;
}
/* How much longer computing took than without checkpoints, not counting the time in saves. */
static double slowdown_of(const ckpt_bench *b, int mode, int64_t i) {
    const stretch *s = &b->stretches[mode][i];
    return (s->total - s->held) / b->stretches[PLAIN][i].total - 1;
}

static figures make_figures(const ckpt_bench *b) {
    int64_t n = b->config->repeat;
    figures f = {.bytes = save_bytes(b) / (double)b->config->saves};
    f.held = bench_median(n, b->held);
    f.memcpy = bench_median(n, b->memcpy);
    f.encode = bench_median(n, b->encode);
    f.restore = bench_median(n, b->restore);
    f.read = bench_median(n, b->read);
    f.held_ratio = bench_paired_ratio(n, b->held, b->memcpy);
    f.restore_ratio = bench_paired_ratio(n, b->read, b->restore);
    for (int mode = PLAIN; mode < MODES; mode++) {
        f.mode[mode].total = median_of(b, total_of, mode);
        if (mode == PLAIN)
            continue;
        f.mode[mode].perceived = median_of(b, perceived_of, mode);
        f.mode[mode].raw = median_of(b, raw_of, mode);
        f.mode[mode].ratio = median_of(b, ratio_of, mode);
        f.mode[mode].slowdown = median_of(b, slowdown_of, mode);
        f.mode[mode].thread_cpu = median_of(b, cpu_of, mode);
    }
    return f;
}

static void print_figures(const ckpt_bench *b, const figures *f) {
    printf("%d rank%s on %" PRId64 " node%s, %" PRId64 " core%s, %s;\n%.0f MiB a save; medians of %" PRId64 "\n",
           b->world.ranks, b->world.ranks == 1 ? "" : "s", b->world.nodes, b->world.nodes == 1 ? "" : "s",
           b->world.cores, b->world.cores == 1 ? "" : "s", b->world.mpi, f->bytes / (1 << 20), b->config->repeat);
    printf("held      %8.2f ms, memcpy of the same %8.2f ms: %.2f times (%.2f to %.2f)\n", 1e3 * f->held,
           1e3 * f->memcpy, f->held_ratio.median, f->held_ratio.low, f->held_ratio.high);
    printf("store     limited to %.0f MiB/s, %" PRId64 " saves; without them %.3f s\n",
           (double)b->config->rate / (1 << 20), b->config->saves, f->mode[PLAIN].total);
    for (int mode = THREADED; mode < MODES; mode++)
        printf("%-9s %8.3f s in all; perceived %.0f MiB/s, raw %.0f MiB/s: %.1f times;\n"
               "          slowdown %+.1f%%, thread's CPU time %.3f s\n",
               mode_names[mode], f->mode[mode].total, f->mode[mode].perceived / (1 << 20),
               f->mode[mode].raw / (1 << 20), f->mode[mode].ratio, 100 * f->mode[mode].slowdown,
               f->mode[mode].thread_cpu);
    printf("encode    %8.0f MiB/s a core: parity of rs:2 over 4 nodes\n", f->encode / (1 << 20));
    printf("restore   %8.2f ms, reading the same %8.2f ms: %.2f of that (%.2f to %.2f)\n", 1e3 * f->restore,
           1e3 * f->read, f->restore_ratio.median, f->restore_ratio.low, f->restore_ratio.high);
    printf("content   %s\n", b->wrong ? "WRONG" : "verified");
}

static void put_ratio(sagoi_json *json, const char *name, bench_estimate e) {
    sagoi_json_open(json, name, '{');
    sagoi_json_real(json, "median", e.median);
    sagoi_json_real(json, "low", e.low);
    sagoi_json_real(json, "high", e.high);
    sagoi_json_close(json, '}');
}

/* false: the file could not be written. */
static bool write_figures(const ckpt_bench *b, const figures *f) {
    bench_json_file file;
    if (!bench_json_begin(&file, "ckpt", b->config->json, &b->world))
        return false;
    sagoi_json *json = &file.json;
    sagoi_json_int(json, "cores", b->world.cores);
    sagoi_json_int(json, "bytes", (int64_t)f->bytes);
    sagoi_json_int(json, "repeat", b->config->repeat);
    sagoi_json_real(json, "held_s", f->held);
    sagoi_json_real(json, "memcpy_s", f->memcpy);
    put_ratio(json, "held_by_memcpy", f->held_ratio);
    sagoi_json_int(json, "store_rate", b->config->rate);
    sagoi_json_real(json, "compute_s", f->mode[PLAIN].total);
    for (int mode = THREADED; mode < MODES; mode++) {
        sagoi_json_open(json, mode_names[mode], '{');
        sagoi_json_real(json, "total_s", f->mode[mode].total);
        sagoi_json_real(json, "perceived", f->mode[mode].perceived);
        sagoi_json_real(json, "raw", f->mode[mode].raw);
        sagoi_json_real(json, "perceived_by_raw", f->mode[mode].ratio);
        sagoi_json_real(json, "slowdown", f->mode[mode].slowdown);
        sagoi_json_real(json, "thread_cpu_s", f->mode[mode].thread_cpu);
        sagoi_json_close(json, '}');
    }
    sagoi_json_real(json, "encode_rate", f->encode);
    sagoi_json_real(json, "restore_s", f->restore);
    sagoi_json_real(json, "read_s", f->read);
    put_ratio(json, "restore_of_limit", f->restore_ratio);
    sagoi_json_bool(json, "verified", b->wrong == 0);
    return bench_json_end(&file);
}

/* Called on rank 0. */
static bool report(const ckpt_bench *b) {
    figures f = make_figures(b);
    print_figures(b, &f);
    return !b->config->json || write_figures(b, &f);
}

/* ---- All of it ---- */

/* Makes a directory under a name that nobody else uses. */
static void name_directory(ckpt_bench *b) {
    if (b->world.rank == 0)
        snprintf(b->dir, sizeof b->dir, "%s/sago-bench-ckpt.%d.%lld", b->config->dir, (int)getpid(),
                 (long long)time(NULL));
    MPI_Bcast(b->dir, sizeof b->dir, MPI_BYTE, 0, b->world.comm);
}

/* Called on rank 0, which makes what is in the directory. */
static bool has_directory(const ckpt_bench *b, char *why) {
    if (b->world.rank != 0 || access(b->config->dir, W_OK | X_OK) == 0)
        return true;
    snprintf(why, BENCH_MESSAGE_MAX, "--dir %s: %s", b->config->dir, strerror(errno));
    return false;
}

static void show_progress(const ckpt_bench *b, const char *what) {
    if (b->world.rank == 0)
        progress_set("measuring: %s", what);
}

int ckpt_bench_execute(const ckpt_bench_config *config) {
    static ckpt_bench b;
    int ok = 0;
    MPI_Init(NULL, NULL);
    b.config = config;
    bench_world_init(&b.world);
    b.elements = config->size / (int64_t)sizeof *b.data;
    b.data = malloc((size_t)b.elements * sizeof *b.data);
    b.copy = malloc((size_t)b.elements * sizeof *b.copy);
    char why[BENCH_MESSAGE_MAX] = "out of memory";
    if (bench_agree(&b.world, b.data && b.copy && has_directory(&b, why), why)) {
        fill(&b, 0);
        memset(b.copy, 1, (size_t)b.elements * sizeof *b.copy);
        name_directory(&b);
        show_progress(&b, "how long saves hold a program");
        measure_held(&b);
        show_progress(&b, "a slow store");
        measure_store(&b);
        show_progress(&b, "parity");
        measure_encode(&b);
        show_progress(&b, "restoring");
        measure_restore(&b);
        remove_directory(&b);
        progress_end();
        ok = b.wrong == 0 && (b.world.rank != 0 || report(&b));
    } else if (b.world.rank == 0) {
        fprintf(stderr, "sago bench ckpt: %s\n", why);
    }
    free(b.data);
    free(b.copy);
    bench_world_cleanup(&b.world);
    MPI_Finalize();
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
