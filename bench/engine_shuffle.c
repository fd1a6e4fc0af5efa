/* What links and storage allow where data has to change nodes: the bytes of `limit`, in as few and as large
 * messages as an exchange can have, and stored as large blocks by who received them.  Each writer has a part of
 * the bytes of each writer in the same place of another node; nothing is packed, sorted or agreed on. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/engines.h"

/* Part p of rank r's bytes is at `start[r] + p * part(r)` in the file. */
typedef struct shuffle {
    MPI_Comm peers; /* writers in the same place of all nodes; MPI_COMM_NULL: this rank moves nothing */
    int rank, ranks;
    int64_t *start, *bytes; /* where each peer's part begins, and its bytes */
    MPI_Request *requests;  /* two a peer */
    char *received;         /* one part from each peer */
    int fd;
} shuffle;

static int64_t part_begin(const shuffle *s, int owner, int part) { return s->bytes[owner] / s->ranks * part; }

static int64_t part_bytes(const shuffle *s, int owner, int part) {
    int64_t end = part + 1 < s->ranks ? part_begin(s, owner, part + 1) : s->bytes[owner];
    return end - part_begin(s, owner, part);
}

static void shuffle_close(bench_engine *engine) {
    shuffle *s = engine->state;
    if (!s)
        return;
    if (s->fd >= 0)
        close(s->fd);
    if (s->peers != MPI_COMM_NULL)
        MPI_Comm_free(&s->peers);
    free(s->start);
    free(s->bytes);
    free(s->requests);
    free(s->received);
    free(s);
    engine->state = NULL;
}

/* Everybody's place in the file, and room for what comes. */
static bool prepare(shuffle *s, const bench_access *access, char *why) {
    size_t peers = (size_t)s->ranks;
    int64_t mine[2] = {access->calls[0].disp, access->calls[0].file.length},
            *all = malloc(2 * sizeof *all * peers);
    s->start = malloc(peers * sizeof *s->start);
    s->bytes = malloc(peers * sizeof *s->bytes);
    s->requests = malloc(2 * peers * sizeof(MPI_Request));
    if (!all || !s->start || !s->bytes || !s->requests)
        MPI_Abort(s->peers, 1); /* peers wait already */
    MPI_Allgather(mine, 2, MPI_INT64_T, all, 2, MPI_INT64_T, s->peers);
    int64_t room = 0, most = 0;
    for (int r = 0; r < s->ranks; r++) {
        s->start[r] = all[2 * r];
        s->bytes[r] = all[2 * r + 1];
        most = s->bytes[r] > most ? s->bytes[r] : most;
    }
    for (int r = 0; r < s->ranks; r++)
        room += part_bytes(s, r, s->rank);
    free(all);
    s->received = malloc((size_t)room + 1);
    if (s->received)
        memset(s->received, 0, (size_t)room); /* touched before anything is timed */
    return (s->received && most / s->ranks < INT_MAX) ||
           bench_refuse(why, "no room for %lld bytes in %d parts", (long long)most, s->ranks);
}

static bool shuffle_open(bench_engine *engine, char *why) {
    const bench_world *world = engine->world;
    bool moves = engine->access->ncalls > 0;
    shuffle *s = calloc(1, sizeof *s);
    if (!s)
        MPI_Abort(world->comm, 1); /* the split is collective */
    engine->state = s;
    MPI_Comm_split(world->comm, moves ? world->node_rank : MPI_UNDEFINED, world->rank, &s->peers);
    s->fd = open(engine->path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    bool ok = s->fd >= 0 || bench_refuse(why, "open %s: %s", engine->path, strerror(errno));
    if (moves) {
        MPI_Comm_rank(s->peers, &s->rank);
        MPI_Comm_size(s->peers, &s->ranks);
        ok = prepare(s, engine->access, why) && ok;
    }
    return ok;
}

/* Each peer's part for this rank comes to `received`; or goes back from there. */
static void exchange(shuffle *s, char *own, bool write) {
    char *at = s->received;
    int n = 0;
    for (int r = 0; r < s->ranks; r++) {
        int64_t mine = part_bytes(s, s->rank, r), theirs = part_bytes(s, r, s->rank);
        char *place = own + part_begin(s, s->rank, r);
        if (r == s->rank) {
            memcpy(write ? at : place, write ? place : at, (size_t)mine);
        } else {
            MPI_Irecv(write ? at : place, (int)(write ? theirs : mine), MPI_BYTE, r, 0, s->peers,
                      &s->requests[n++]);
            MPI_Isend(write ? place : at, (int)(write ? mine : theirs), MPI_BYTE, r, 0, s->peers,
                      &s->requests[n++]);
        }
        at += theirs;
    }
    MPI_Waitall(n, s->requests, MPI_STATUSES_IGNORE);
}

static bool store(shuffle *s, bool write, char *why) {
    char *at = s->received;
    for (int r = 0; r < s->ranks; r++) {
        int64_t bytes = part_bytes(s, r, s->rank), begin = s->start[r] + part_begin(s, r, s->rank);
        for (int64_t done = 0; done < bytes;) {
            ssize_t moved = write ? pwrite(s->fd, at + done, (size_t)(bytes - done), begin + done)
                                  : pread(s->fd, at + done, (size_t)(bytes - done), begin + done);
            if (moved <= 0)
                return bench_refuse(why, "%s: %s", write ? "pwrite" : "pread",
                                    moved ? strerror(errno) : "the file ends too early");
            done += moved;
        }
        at += bytes;
    }
    return true;
}

static bool shuffle_transfer(bench_engine *engine, bool write, char *why) {
    shuffle *s = engine->state;
    bool ok = true;
    if (s->peers == MPI_COMM_NULL)
        return true;
    if (write)
        exchange(s, engine->buffer, write);
    ok = store(s, write, why);
    if (!write)
        exchange(s, engine->buffer, write);
    return ok;
}

const bench_engine_ops bench_engine_shuffle = {
    .name = "shuffle", .open = shuffle_open, .close = shuffle_close, .transfer = shuffle_transfer};
