/* The storage: bandwidth against request size, writers of a node and nodes that write, and what follows from it.
 *
 * Msg_ind, for each direction: 8 windows, so that moving and storing overlap, each the smallest request that
 * reaches 90% of the best bandwidth of one rank, but not less than 1 MiB.
 *
 * N_ah: the fewest ranks of a node that reach 90% of what they all reach together.
 *
 * Msg_group: what the fewest nodes that reach 90% of all own: nodes x N_ah x Msg_ind.
 *
 * Mem_min: two windows of the smallest request that reaches half of the best bandwidth; below that an aggregator
 * costs more than it saves.
 *
 * Every writer has a file of its own, which has no name any more as soon as it is open.  Times of writes include
 * what it takes to reach the storage; before reads the system is asked to forget the file. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/checked.h"
#include "base/size_text.h"
#include "machine/text.h"
#include "tools/tune.h"

#define KIB INT64_C(1024)
#define MIB (1024 * KIB)
enum { WINDOWS = 8 }; /* windows of a domain */

typedef struct tune_store_state {
    tune_plan *plan;
    int fd;
    char *buffer;
    int64_t largest; /* largest request, bytes */
    int64_t file;    /* bytes that a measurement moves for each writer */
} tune_store_state;

/* The first of n ascending sizes whose rate reaches `share` of the best rate. */
static int knee(const double *rate, int n, double share) {
    double best = 0;
    for (int i = 0; i < n; i++)
        best = rate[i] > best ? rate[i] : best;
    for (int i = 0; i < n; i++)
        if (rate[i] >= share * best)
            return i;
    return n - 1;
}

double tune_round(double value) {
    char text[32];
    double up = 1,
           down = 1; /* rounds down to a unit that leaves a number of at least 1, so that it has few digits */
    for (; value / up >= 1000 && up < 1e12; up *= 1000)
        ;
    for (; value * down < 1 && down < 1e9; down *= 1000)
        ;
    snprintf(text, sizeof text, "%.3g", value / up * down);
    return strtod(text, NULL) * up / down;
}

tune_text tune_rate(double rate) {
    tune_text made;
    (void)snprintf(made.text, sizeof made.text, "%s", sagoi_show_rate(rate).text); /* as the site file has it */
    return made;
}

/* ---- One writer ---- */

static bool move_bytes(tune_store_state *s, bool write, int64_t request) {
    for (int64_t at = 0; at < s->file; at += request) {
        int64_t length = sagoi_min(request, s->file - at), done = 0;
        while (done < length) {
            ssize_t moved = write ? pwrite(s->fd, s->buffer + done, (size_t)(length - done), at + done)
                                  : pread(s->fd, s->buffer + done, (size_t)(length - done), at + done);
            if (moved <= 0 && errno == EINTR)
                continue;
            if (moved <= 0)
                return false;
            done += moved;
        }
    }
    return true;
}

static bool transfer(tune_store_state *s, bool write, int64_t request) {
    if (!write)
        return move_bytes(s, false, request);
    return move_bytes(s, true, request) && fdatasync(s->fd) == 0;
}

/* Bytes a second of all writers together; 0: an error, on all ranks. */
static double measure(tune_store_state *s, bool active, bool write, int64_t request) {
    double best = 0;
    for (int i = 0; i < (s->plan->quick ? 1 : 3); i++) {
        bool good = true;
        if (active && !write) /* data that is not on the storage yet cannot be forgotten */
            good = fdatasync(s->fd) == 0 && posix_fadvise(s->fd, 0, 0, POSIX_FADV_DONTNEED) == 0;
        bench_barrier(&s->plan->world);
        double begin = bench_now();
        if (active && good)
            good = transfer(s, write, request);
        double seconds = active ? bench_now() - begin : 0;
        snprintf(s->plan->why, sizeof s->plan->why, "%s to %s: %s", write ? "writing" : "reading", s->plan->dir,
                 strerror(errno));
        if (!bench_agree(&s->plan->world, good, s->plan->why))
            return 0;
        int64_t bytes = active ? s->file : 0;
        bench_max(&s->plan->world, &seconds, 1);
        bench_sum(&s->plan->world, &bytes, 1);
        double rate = (double)bytes / (seconds > 0 ? seconds : 1e-9);
        best = rate > best ? rate : best;
    }
    return best;
}

/* ---- The curves ---- */

/* Measures request sizes of one writer in both directions; fills in Msg_ind, Mem_min and io. */
static bool measure_sizes(tune_store_state *s, sagoi_site *site) {
    double rate[2][TUNE_SIZES] = {{0}};
    int64_t size[TUNE_SIZES] = {0};
    int n = 0;
    for (int64_t request = 64 * KIB; request <= s->largest && n < TUNE_SIZES; request *= 4, n++) {
        size[n] = request;
        for (int write = 1; write >= 0; write--) {
            tune_progress(s->plan, "one %s, requests of %s", write ? "writer" : "reader",
                          sagoi_size_to_text(request).text);
            rate[write][n] = measure(s, s->plan->world.rank == 0, write, request);
            if (rate[write][n] <= 0)
                return false;
        }
        tune_found(s->plan, "one rank, %7s at once  write %11s, read %11s", sagoi_size_to_text(request).text,
                   tune_rate(rate[1][n]).text, tune_rate(rate[0][n]).text);
    }
    site->tuned.domain_write = WINDOWS * sagoi_max(MIB, size[knee(rate[1], n, 0.9)]);
    site->tuned.domain_read = WINDOWS * sagoi_max(MIB, size[knee(rate[0], n, 0.9)]);
    site->tuned.least_memory = 2 * size[knee(rate[1], n, 0.5)];
    double best = 0, first = (double)size[0] / rate[1][0];
    for (int i = 0; i < n; i++)
        best = rate[1][i] > best ? rate[1][i] : best;
    double latency = first - (double)size[0] / best; /* the time of a small request besides its bytes */
    site->io = (sagoi_level){latency > 0 ? tune_round(latency) : 0, tune_round(best)};
    return true;
}

/* Tries 1, 2, 4, ... and at last `all`: the fewest that reach 90% of the best rate. */
static int64_t fewest(tune_store_state *s, const char *what[2], int64_t mine, int64_t all, int64_t request) {
    double rate[TUNE_WRITERS];
    int64_t count[TUNE_WRITERS];
    int n = 0;
    if (all == 1)
        return 1;
    for (int64_t writers = 1;; writers = sagoi_min(2 * writers, all)) {
        const char *who = what[writers > 1];
        tune_progress(s->plan, "%lld %s writing", (long long)writers, who);
        count[n] = writers;
        rate[n] = measure(s, mine < writers, true, request);
        if (rate[n] <= 0)
            return 0;
        tune_found(s->plan, "%4lld %-22s write %11s", (long long)writers, who, tune_rate(rate[n]).text);
        if (writers >= all || ++n == TUNE_WRITERS)
            break;
    }
    return count[knee(rate, n < TUNE_WRITERS ? n + 1 : n, 0.9)];
}

static bool measure_writers(tune_store_state *s, sagoi_site *site) {
    const bench_world *world = &s->plan->world;
    int64_t request = sagoi_min(site->tuned.domain_write / WINDOWS, s->largest), nobody = INT64_MAX;
    static const char *of_ranks[2] = {"rank of a node", "ranks of a node"}, *of_nodes[2] = {"node", "nodes"};
    double most = world->node_ranks;
    bench_max(world, &most, 1);
    int64_t of_node = fewest(s, of_ranks, s->plan->node == 0 ? world->node_rank : nobody, (int64_t)most, request);
    if (of_node == 0)
        return false;
    int64_t nodes =
        fewest(s, of_nodes, world->node_rank < of_node ? s->plan->node : nobody, world->nodes, request);
    site->tuned.aggregators_per_node = of_node;
    return nodes > 0 && !sagoi_mul(nodes * of_node, site->tuned.domain_write, &site->tuned.group);
}

/* ---- Setting up ---- */

/* Makes a file without a name, and a buffer; both take only a small part of what is free. */
static bool set_up(tune_store_state *s) {
    char path[4096];
    struct statvfs space;
    s->largest = s->plan->quick ? MIB : 64 * MIB;
    s->file = s->plan->quick ? 2 * MIB : 128 * MIB;
    snprintf(path, sizeof path, "%s/.sago-tune-XXXXXX", s->plan->dir);
    s->fd = mkstemp(path);
    if (s->fd < 0 || unlink(path) != 0 || fstatvfs(s->fd, &space) != 0) {
        snprintf(s->plan->why, sizeof s->plan->why, "%s: %s", s->plan->dir, strerror(errno));
        return false;
    }
    int64_t share = (int64_t)(space.f_bavail / 4 * space.f_frsize) / s->plan->world.ranks;
    s->file = sagoi_min(s->file, share);
    s->largest = sagoi_min(s->largest, s->file);
    s->buffer = aligned_alloc(4096, (size_t)sagoi_round_up(sagoi_max(s->largest, 4096), 4096));
    if (s->buffer)
        memset(s->buffer, 0x5a, (size_t)s->largest);
    if (!s->buffer || s->file < 64 * KIB)
        snprintf(s->plan->why, sizeof s->plan->why, "%s: too little %s to measure", s->plan->dir,
                 s->buffer ? "space" : "memory");
    return s->buffer && s->file >= 64 * KIB;
}

bool tune_store(tune_plan *plan, sagoi_site *site) {
    tune_store_state s = {.plan = plan, .fd = -1};
    bool good = bench_agree(&plan->world, set_up(&s), plan->why);
    double least[2] = {-(double)s.file, -(double)s.largest}; /* all ranks must use the same sizes */
    bench_max(&plan->world, least, 2);
    s.file = (int64_t)-least[0];
    s.largest = (int64_t)-least[1];
    good = good && measure_sizes(&s, site) && measure_writers(&s, site);
    if (s.fd >= 0)
        (void)close(s.fd);
    free(s.buffer);
    return good;
}
