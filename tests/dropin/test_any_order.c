/* RUN: n=2,3,4 25 */
/* RUN-LONG: n=2,3,4,6 600 1000 */
/* Random programs whose ranks start, wait and talk to each other in any order: test_any_order [SEEDS [FIRST]].
 *
 * A seed is one list of events that all ranks know.  Each rank does its own, in that order: it starts a
 * nonblocking collective call on one of the files, or completes some in one of MPI's ways, or sends a message, or
 * receives one that another sends at this very place of the list; some events are of all ranks: collective calls
 * of MPI, and blocking ones on a file.  So the program ends if starting and completing need no other rank,
 * whatever the order, and hangs only if they do.  What is read is what a call before has surely written: by the
 * same rank, and waited for.  Without Sago there is nothing to be tested: MPICH's own nonblocking calls need the
 * other ranks. */
#include <signal.h>

#include "dropin_check.h"

enum { FILES = 3, CALLS = 48, EVENTS = 80, PIECE = 10, MOST = 3000, PENDING = 256, AHEAD = 5, RANKS = 16 };

typedef struct pending {
    MPI_Request request;
    bool message; /* that is not known to be sent */
    bool write;
    int file, call, count;
    char *buf; /* NULL: of a message */
} pending;

typedef struct target {
    MPI_File file;
    char name[32];
    bool interleaved, completed[CALLS]; /* this rank's write of a call is done */
    int started[RANKS];                 /* calls of each rank so far, blocking ones too */
} target;

/* An Irecv that nobody has sent for yet. */
typedef struct promise {
    int to, tag, index; /* of the receiver's pending ones, there */
} promise;

static target files[FILES];
static pending list[PENDING];
static int npending, nfiles, at_event;
static promise promises[8];
static int npromises, next_tag;
static char *dropped[PENDING]; /* buffers of requests that were freed */
static int ndropped;
static uint64_t seed, common, own;
static char tokens[EVENTS + 1];

static uint64_t draw(uint64_t *state) {
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}
static int below(uint64_t *state, int n) { return (int)(draw(state) % (uint64_t)n); }

static void on_alarm(int signal) {
    char text[128];
    (void)signal;
    int n = snprintf(text, sizeof text, "rank %d HANGS: seed %llu event %d, %d pending\n", rank,
                     (unsigned long long)seed, at_event, npending);
    _exit(write(STDOUT_FILENO, text, (size_t)n) < 0 ? 4 : 3);
}

#define CHECK_SEED(condition)                                                                                     \
    do {                                                                                                          \
        bool fine = (condition);                                                                                  \
        if (!fine)                                                                                                \
            printf("rank %d: seed %llu event %d\n", rank, (unsigned long long)seed, at_event);                    \
        CHECK(fine &&#condition);                                                                                 \
    } while (0)

/* ---- Calls: what the k-th of a file is follows from its number ---- */

typedef struct what {
    bool write;
    int bytes; /* of each rank; those with less to do have half */
} what;

static what call_of(int f, int k) {
    uint64_t r = seed * 1000 + (uint64_t)(f * CALLS + k);
    what w = {.write = k == 0 || below(&r, 100) < 60};
    int size = below(&r, 10);
    w.bytes = k == 0      ? MOST
              : size == 0 ? 0
              : size < 4  ? PIECE * (1 + below(&r, 4))
                          : PIECE * below(&r, MOST / PIECE);
    return w;
}

static int count_of(int f, int k, int whose) {
    int bytes = call_of(f, k).bytes;
    return (whose + k) % 3 == 0 ? bytes / 2 / PIECE * PIECE : bytes;
}

/* In the rank's view. */
static MPI_Offset offset_of(int f, int k) {
    return files[f].interleaved ? (MPI_Offset)MOST * k : (MPI_Offset)MOST * (k * ranks + rank);
}

/* A call whose data this rank has surely written. */
static int source_for(int f, int k) {
    int from = k - 1;
    while (from > 0 && !(files[f].completed[from] && call_of(f, from).write))
        from--;
    return from;
}

static long long tag_of(int f, int k) { return (long long)(seed * 100 + (uint64_t)f) * CALLS + k; }

/* ---- Completing ---- */

static void take_out(int i) {
    list[i] = list[--npending];
    for (int k = 0; k < npromises; k++) {
        int *index = promises[k].to == rank ? &promises[k].index : NULL;
        if (index && *index == i)
            *index = -1; /* it came before this rank knew that it was sent */
        else if (index && *index == npending)
            *index = i;
    }
}

static void finish(int i, const MPI_Status *status) {
    pending p = list[i];
    take_out(i);
    if (!p.buf)
        return;
    CHECK_SEED(count_in(status, MPI_BYTE) == p.count);
    if (p.write)
        files[p.file].completed[p.call] = true;
    else
        CHECK_SEED(filled(p.buf + 8, tag_of(p.file, (int)*(long long *)p.buf), p.count, rank));
    free(p.buf);
}

/* Those that can be completed now come first; how many there are. */
static int sort_ready(void) {
    int n = 0;
    for (int i = 0; i < npending; i++)
        if (!list[i].message) {
            pending p = list[n];
            list[n] = list[i];
            list[i] = p;
            for (int k = 0; k < npromises; k++)
                if (promises[k].to == rank && (promises[k].index == n || promises[k].index == i))
                    promises[k].index = promises[k].index == n ? i : n;
            n++;
        }
    return n;
}

static void finish_some(int done, const int indices[], const MPI_Status statuses[], const MPI_Request left[],
                        int n) {
    bool over[PENDING] = {false};
    MPI_Status of[PENDING];
    for (int i = 0; i < n; i++)
        list[i].request = left[i];
    for (int k = 0; k < done; k++) {
        over[indices[k]] = true;
        of[indices[k]] = statuses[k];
    }
    for (int i = n - 1; i >= 0; i--)
        if (over[i])
            finish(i, &of[i]);
}

static void wait_one(int i) {
    MPI_Status status;
    OK(MPI_Wait(&list[i].request, &status));
    finish(i, &status);
}

static void test_one(int i) {
    MPI_Status status;
    for (int flag = 0; !flag;) {
        OK(MPI_Test(&list[i].request, &flag, &status));
        if (!flag && below(&own, 3) == 0)
            (void)usleep((useconds_t)below(&own, 300));
    }
    finish(i, &status);
}

static void ask_one(int i) {
    for (int flag = 0; !flag; (void)usleep(20))
        OK(MPI_Request_get_status(list[i].request, &flag, MPI_STATUS_IGNORE));
    wait_one(i);
}

/* Nobody asks how it went; its buffer stays until the file is closed. */
static void free_one(int i) {
    if (!list[i].buf || !list[i].write || ndropped == PENDING)
        return;
    OK(MPI_Request_free(&list[i].request));
    CHECK_SEED(list[i].request == MPI_REQUEST_NULL);
    dropped[ndropped++] = list[i].buf;
    take_out(i);
}

/* Of all that are pending, also those that are not sure to come. */
static void of_all(int way) {
    MPI_Request all[PENDING];
    MPI_Status statuses[PENDING];
    int indices[PENDING], done = 0, flag = 0, n = npending;
    for (int i = 0; i < n; i++)
        all[i] = list[i].request;
    if (way == 0)
        OK(MPI_Waitsome(n, all, &done, indices, statuses));
    else if (way == 1)
        OK(MPI_Testsome(n, all, &done, indices, statuses));
    else if (way == 2)
        OK(MPI_Waitany(n, all, indices, statuses));
    else
        OK(MPI_Testany(n, all, indices, &flag, statuses));
    if (way == 2 || (way == 3 && flag && indices[0] != MPI_UNDEFINED))
        done = 1;
    finish_some(done == MPI_UNDEFINED ? 0 : done, indices, statuses, all, n);
}

static void all_ready(int n) {
    MPI_Request all[PENDING];
    MPI_Status statuses[PENDING];
    int indices[PENDING];
    for (int i = 0; i < n; i++) {
        all[i] = list[i].request;
        indices[i] = i;
    }
    OK(MPI_Waitall(n, all, statuses));
    finish_some(n, indices, statuses, all, n);
}

static void complete_some(void) {
    int n = sort_ready(), way = below(&own, 9);
    if (n == 0)
        return;
    if (way == 0)
        all_ready(n);
    else if (way < 5)
        of_all(way - 1);
    else
        (way == 5 ? test_one : way == 6 ? ask_one : way == 7 ? free_one : wait_one)(below(&own, n));
}

/* ---- Starting ---- */

static int least_started(int f) {
    int least = files[f].started[0];
    for (int r = 1; r < ranks; r++)
        least = files[f].started[r] < least ? files[f].started[r] : least;
    return least;
}

static int most_started(int f) {
    int most = 0;
    for (int r = 0; r < ranks; r++)
        most = files[f].started[r] > most ? files[f].started[r] : most;
    return most;
}

/* The buffer begins with the number of the call whose data it is. */
static char *buffer_for(int f, int k, int *count, MPI_Offset *at) {
    bool write = call_of(f, k).write;
    long long from = write ? k : source_for(f, k);
    *count = count_of(f, k, rank);
    if (!write && *count > count_of(f, (int)from, rank))
        *count = count_of(f, (int)from, rank);
    *at = offset_of(f, (int)from);
    char *buf = calloc(1, MOST + 8);
    memcpy(buf, &from, sizeof from);
    if (write)
        fill(buf + 8, tag_of(f, k), *count, rank);
    return buf;
}

static void start_next(int f, int who) {
    int k = files[f].started[who]++;
    if (who != rank)
        return;
    pending *p = &list[npending++];
    MPI_Offset at;
    *p = (pending){.write = call_of(f, k).write, .file = f, .call = k};
    p->buf = buffer_for(f, k, &p->count, &at);
    OK(p->write ? MPI_File_iwrite_at_all(files[f].file, at, p->buf + 8, p->count, MPI_BYTE, &p->request)
                : MPI_File_iread_at_all(files[f].file, at, p->buf + 8, p->count, MPI_BYTE, &p->request));
}

static void catch_up(int f) {
    for (int most = most_started(f), r = 0; r < ranks; r++)
        while (files[f].started[r] < most)
            start_next(f, r);
}

static void block(int f, int way) {
    catch_up(f);
    int k = files[f].started[0], count;
    if (way == 0 || k >= CALLS) {
        OK(MPI_File_sync(files[f].file));
        return;
    }
    for (int r = 0; r < ranks; r++)
        files[f].started[r]++;
    MPI_Offset at;
    MPI_Status status;
    char *buf = buffer_for(f, k, &count, &at);
    bool write = call_of(f, k).write;
    if (way == 1) {
        OK(write ? MPI_File_write_at_all_begin(files[f].file, at, buf + 8, count, MPI_BYTE)
                 : MPI_File_read_at_all_begin(files[f].file, at, buf + 8, count, MPI_BYTE));
        OK(write ? MPI_File_write_at_all_end(files[f].file, buf + 8, &status)
                 : MPI_File_read_at_all_end(files[f].file, buf + 8, &status));
    } else {
        OK(write ? MPI_File_write_at_all(files[f].file, at, buf + 8, count, MPI_BYTE, &status)
                 : MPI_File_read_at_all(files[f].file, at, buf + 8, count, MPI_BYTE, &status));
    }
    CHECK_SEED(count_in(&status, MPI_BYTE) == count);
    if (write)
        files[f].completed[k] = true;
    else
        CHECK_SEED(filled(buf + 8, tag_of(f, (int)*(long long *)buf), count, rank));
    free(buf);
}

/* ---- Messages ---- */

static void pass_token(int from, int to, bool synchronous) {
    char token = 0;
    if (rank == from)
        OK(synchronous ? MPI_Ssend(&token, 1, MPI_CHAR, to, 1, MPI_COMM_WORLD)
                       : MPI_Send(&token, 1, MPI_CHAR, to, 1, MPI_COMM_WORLD));
    if (rank == to)
        OK(MPI_Recv(&token, 1, MPI_CHAR, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

/* Received whenever it comes: who waits for it would wait for whoever sends it. */
static void promise_one(int to) {
    if (npromises == 8)
        return;
    promises[npromises] = (promise){to, 10 + next_tag, npending};
    if (rank == to) {
        list[npending] = (pending){.message = true};
        OK(MPI_Irecv(&tokens[next_tag], 1, MPI_CHAR, MPI_ANY_SOURCE, 10 + next_tag, MPI_COMM_WORLD,
                     &list[npending].request));
        npending++;
    }
    next_tag++;
    npromises++;
}

static void keep_promise(int which, int from) {
    promise kept = promises[which];
    char token = 1;
    if (rank == from)
        OK(MPI_Send(&token, 1, MPI_CHAR, kept.to, kept.tag, MPI_COMM_WORLD));
    if (rank == kept.to && kept.index >= 0)
        list[kept.index].message = false;
    promises[which] = promises[--npromises];
}

static void collective(int way) {
    int value = rank, sum = 0;
    if (way == 0)
        MPI_Barrier(MPI_COMM_WORLD);
    else if (way == 1)
        MPI_Bcast(&value, 1, MPI_INT, ranks - 1, MPI_COMM_WORLD);
    else
        MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

/* ---- Events ---- */

static void event(void) {
    int way = below(&common, 100), who = below(&common, ranks), f = below(&common, nfiles),
        other = (who + 1 + below(&common, ranks - 1)) % ranks, detail = below(&common, 12);
    if (way < 42) {
        if (files[f].started[who] < CALLS && files[f].started[who] - least_started(f) < AHEAD)
            start_next(f, who);
    } else if (way < 68) {
        if (who == rank)
            complete_some();
    } else if (way < 78) {
        pass_token(who, other, detail % 2);
    } else if (way < 82) {
        promise_one(who);
    } else if (way < 86) {
        if (npromises > 0 && promises[detail % npromises].to != who)
            keep_promise(detail % npromises, who);
    } else if (way < 90) {
        collective(detail % 3);
    } else if (way < 95) {
        block(f, detail % 4);
    } else if (who == rank) {
        (void)usleep((useconds_t)(detail * 900)); /* computes */
    }
}

static void open_one(int f) {
    static const char *const hints[][2] = {
        {"sago_map", "off"}, {"sago_strategy", "aggregated"}, {"sago_map", "auto"}, {"sago_agree", "turn"}};
    target *t = &files[f];
    memset(t, 0, sizeof *t);
    (void)snprintf(t->name, sizeof t->name, "any-%llu-%d", (unsigned long long)seed, f);
    MPI_Comm comm;
    MPI_Info info;
    const char *const *hint = hints[below(&common, 4)];
    MPI_Info_create(&info);
    MPI_Info_set(info, hint[0], hint[1]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, below(&common, 2) ? rank : -rank, &comm);
    OK(MPI_File_open(comm, t->name, MODE_NEW, info, &t->file));
    MPI_Comm_free(&comm);
    MPI_Info_free(&info);
    t->interleaved = below(&common, 3) > 0;
    if (t->interleaved) {
        MPI_Datatype turns = turns_of(PIECE, MPI_BYTE);
        OK(MPI_File_set_view(t->file, PIECE * rank, MPI_BYTE, turns, "native", MPI_INFO_NULL));
        MPI_Type_free(&turns);
    }
    block(f, 2);
}

/* What every rank has written of every call. */
static void check_target(int f) {
    target *t = &files[f];
    OK(MPI_File_close(&t->file));
    meet();
    FILE *in = fopen(t->name, "r");
    CHECK_SEED(in != NULL);
    for (int k = 0; in && k < t->started[rank]; k++) {
        char piece[MOST];
        int count = call_of(f, k).write ? count_of(f, k, rank) : 0, got = 0;
        for (int i = 0; i < count; i += t->interleaved ? PIECE : count) {
            int n = t->interleaved ? PIECE : count;
            long at = (long)(t->interleaved ? ((long)MOST * k + i) * ranks + PIECE * rank : offset_of(f, k));
            (void)fseek(in, at, SEEK_SET);
            got += (int)fread(piece + i, 1, (size_t)n, in);
        }
        CHECK_SEED(got == count && filled(piece, tag_of(f, k), count, rank));
    }
    if (in)
        (void)fclose(in);
    meet();
    if (rank == 0)
        (void)unlink(t->name);
}

static void run_seed(void) {
    common = seed * 7919;
    own = seed * 104729 + (uint64_t)rank;
    npending = npromises = next_tag = ndropped = 0;
    nfiles = 1 + below(&common, FILES);
    for (int f = 0; f < nfiles; f++)
        open_one(f);
    for (at_event = 0; at_event < EVENTS; at_event++)
        event();
    while (npromises > 0)
        keep_promise(0, (promises[0].to + 1) % ranks);
    for (int f = 0; f < nfiles; f++)
        catch_up(f);
    while (npending > 0)
        complete_some();
    for (int f = 0; f < nfiles; f++)
        check_target(f);
    for (int i = 0; i < ndropped; i++)
        free(dropped[i]);
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    long long seeds = PLAIN || ranks < 2 || ranks > RANKS ? 0
                      : argc > 1                          ? atoll(argv[1])
                                                          : 20,
              first = argc > 2 ? atoll(argv[2]) : 1;
    int failed = 0;
    (void)signal(SIGALRM, on_alarm);
    for (long long i = 0; i < seeds && !failed; i++) {
        seed = (uint64_t)(first + i);
        (void)alarm(90);
        run_seed();
        MPI_Allreduce(&failures, &failed, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    (void)alarm(0);
    return check_end();
}
