/* Ranks send their events one after the other, so that rank 0 has those of one other rank at a time.  A rank is a
 * process of the trace, its I/O thread a thread.  A message is a flow from where it was sent to where it was
 * received: the n-th that one rank sent another for a file is the n-th that came. */
#include "api/reporting.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/again.h"
#include "base/hash.h"
#include "trace/events.h"
#include "trace/report_json.h"

enum { TAG_HEAD = 11, TAG_EVENTS, THREAD_PROGRAM = 0, THREAD_IO };

/* What one rank sends before its events. */
typedef struct head {
    int64_t count, dropped, nfiles;
    double begin; /* since 1970 */
    char host[64];
    char paths[SAGOI_RECORD_FILES][256];
} head;

typedef struct writing {
    FILE *out;
    const head *of;
    int rank, ranks;
    double begin;     /* of the trace, since 1970 */
    int32_t *counted; /* messages: for each file and rank, sent and received */
} writing;

static void describe(const sagoi_record *record, head *own) {
    (void)sagoi_events(&own->count, &own->dropped);
    (void)gethostname(own->host, sizeof own->host - 1);
    own->begin = record ? record->begin : 0;
    own->nfiles = record ? record->nfiles : 0;
    for (int64_t i = 0; i < own->nfiles; i++)
        memcpy(own->paths[i], record->files[i].path, sizeof own->paths[i]);
}

/* ---- Writing ---- */

static void write_name(const writing *w, const char *kind, int thread, const char *name) {
    fprintf(w->out, ",\n{\"ph\":\"M\",\"pid\":%d,\"tid\":%d,\"name\":\"%s\",\"args\":{\"name\":", w->rank, thread,
            kind);
    sagoi_json_text(w->out, name);
    fputs("}}", w->out);
}

static void write_names(const writing *w) {
    char name[128];
    (void)snprintf(name, sizeof name, "rank %d on %s", w->rank, w->of->host);
    write_name(w, "process_name", THREAD_PROGRAM, name);
    write_name(w, "thread_name", THREAD_PROGRAM, "program");
    write_name(w, "thread_name", THREAD_IO, "I/O thread");
    fprintf(w->out, ",\n{\"ph\":\"M\",\"pid\":%d,\"name\":\"process_sort_index\",\"args\":{\"sort_index\":%d}}",
            w->rank, w->rank);
}

static double at(const writing *w, double time) { return 1e6 * (time - w->begin); }

static const char *path_of(const writing *w, int16_t file) {
    return file >= 0 && file < w->of->nfiles ? w->of->paths[file] : "";
}

static void write_span(const writing *w, const sagoi_event *e) {
    const char *name = e->kind == SAGOI_EVENT_PHASE ? sago_phase_string((sago_phase)e->what)
                       : e->kind == SAGOI_EVENT_IO  ? "window"
                       : e->what                    ? "write"
                                                    : "read";
    const char *kind = e->kind == SAGOI_EVENT_PHASE ? "phase" : e->kind == SAGOI_EVENT_IO ? "io" : "call";
    fprintf(w->out,
            ",\n{\"ph\":\"X\",\"pid\":%d,\"tid\":%d,\"ts\":%.3f,\"dur\":%.3f,\"name\":\"%s\",\"cat\":\"%s\","
            "\"args\":{\"call\":%" PRId64 ",\"round\":%d,\"file\":",
            w->rank, e->kind == SAGOI_EVENT_IO ? THREAD_IO : THREAD_PROGRAM, at(w, e->start), 1e6 * e->seconds,
            name, kind, e->call, e->round);
    sagoi_json_text(w->out, path_of(w, e->file));
    fputs("}}", w->out);
}

/* A flow needs something to begin and to end in: a slice without length. */
static void write_message(const writing *w, const sagoi_event *e) {
    bool sent = e->kind == SAGOI_EVENT_SENT;
    int64_t peer = e->peer >= 0 && e->peer < w->ranks ? e->peer : 0;
    int32_t number = w->counted[((e->file < 0 ? 0 : e->file) * (int64_t)w->ranks + peer) * 2 + sent]++;
    const char *path = path_of(w, e->file);
    uint64_t name = sagoi_hash_bytes(path, (int64_t)strlen(path), (sagoi_hash){0, 0}).low;
    fprintf(w->out,
            ",\n{\"ph\":\"X\",\"pid\":%d,\"tid\":0,\"ts\":%.3f,\"dur\":1,\"name\":\"%s\",\"cat\":\"message\","
            "\"args\":{\"%s\":%d,\"bytes\":%" PRId64 ",\"round\":%d}}",
            w->rank, at(w, e->start), sent ? "send" : "receive", sent ? "to" : "from", e->peer, e->bytes,
            e->round);
    fprintf(w->out,
            ",\n{\"ph\":\"%s\",\"pid\":%d,\"tid\":0,\"ts\":%.3f,\"name\":\"message\",\"cat\":\"message\","
            "\"id\":\"%" PRIx64 ":%d-%d:%d\"%s}",
            sent ? "s" : "f", w->rank, at(w, e->start), name, sent ? e->mine : e->peer, sent ? e->peer : e->mine,
            number, sent ? "" : ",\"bp\":\"e\"");
}

static void write_events(writing *w, const sagoi_event *events) {
    w->counted = calloc((size_t)w->ranks * 2 * SAGOI_RECORD_FILES, sizeof *w->counted);
    write_names(w);
    for (int64_t i = 0; i < w->of->count; i++) {
        bool message = events[i].kind == SAGOI_EVENT_SENT || events[i].kind == SAGOI_EVENT_RECEIVED;
        if (!message)
            write_span(w, &events[i]);
        else if (w->counted)
            write_message(w, &events[i]);
    }
    free(w->counted);
}

/* ---- Gathering ---- */

static void send_events(MPI_Comm comm, const sagoi_record *record) {
    head own = {0};
    int64_t count, dropped;
    const sagoi_event *events = sagoi_events(&count, &dropped);
    describe(record, &own);
    (void)SAGOI_DONE(MPI_Send(&own, sizeof own, MPI_BYTE, 0, TAG_HEAD, comm));
    (void)SAGOI_DONE(MPI_Send(events, (int)(count * (int64_t)sizeof *events), MPI_BYTE, 0, TAG_EVENTS, comm));
}

/* *dropped grows by those of that rank. */
static void receive_events(MPI_Comm comm, writing *w, int64_t *dropped) {
    head of = {0};
    if (MPI_Recv(&of, sizeof of, MPI_BYTE, w->rank, TAG_HEAD, comm, MPI_STATUS_IGNORE) != MPI_SUCCESS)
        return;
    size_t bytes = (size_t)of.count * sizeof(sagoi_event);
    sagoi_event *events = malloc(bytes + 1), nothing;
    bool came = MPI_Recv(events ? events : &nothing, events ? (int)bytes : 0, MPI_BYTE, w->rank, TAG_EVENTS, comm,
                         MPI_STATUS_IGNORE) == MPI_SUCCESS;
    *dropped += of.dropped;
    w->of = &of;
    if (events && came && w->out)
        write_events(w, events);
    w->of = NULL;
    free(events);
}

void sagoi_timeline_gather(MPI_Comm comm, const sagoi_record *record, FILE *out) {
    writing w = {.out = out, .ranks = 1};
    head own = {0};
    int64_t count, dropped;
    (void)MPI_Comm_rank(comm, &w.rank);
    (void)MPI_Comm_size(comm, &w.ranks);
    if (w.rank != 0) {
        send_events(comm, record);
        return;
    }
    const sagoi_event *events = sagoi_events(&count, &dropped);
    describe(record, &own);
    w.of = &own;
    w.begin = own.begin;
    if (out) {
        fputs("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[{\"ph\":\"M\",\"name\":\"sago\",\"pid\":0}", out);
        write_events(&w, events);
    }
    for (w.rank = 1; w.rank < w.ranks; w.rank++)
        receive_events(comm, &w, &dropped);
    if (out)
        fprintf(out, "\n],\"otherData\":{\"dropped_events\":%" PRId64 "}}\n", dropped);
}
