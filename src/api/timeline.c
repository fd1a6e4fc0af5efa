/* The events of all ranks in one file.  Ranks send their events in turn, so that rank 0 holds those of one other
 * rank at a time.  In the file a rank is a process, and its I/O thread is a thread.  A message is an arrow from
 * where it was sent to where it was received: for each file, the n-th message that one rank sent to another is the
 * n-th one that came. */
#include "api/reporting.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/again.h"
#include "base/hash.h"
#include "base/json.h"
#include "trace/events.h"

enum { TAG_HEAD = 11, TAG_EVENTS, THREAD_PROGRAM = 0, THREAD_IO };

/* What a rank sends before its events. */
typedef struct head {
    int64_t count, dropped, nfiles;
    double begin; /* since 1970 */
    char host[64];
    char paths[SAGOI_RECORD_FILES][256];
} head;

typedef struct writing {
    sagoi_json *json;
    const head *of;
    int rank, ranks;
    double begin;     /* when the trace began, in seconds since 1970: when rank 0 began */
    int32_t *counted; /* for each file and rank: messages sent and received */
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

static void begin_event(const writing *w, const char *type, int thread, const char *name) {
    sagoi_json_open(w->json, NULL, '{');
    sagoi_json_text(w->json, "ph", type);
    sagoi_json_int(w->json, "pid", w->rank);
    sagoi_json_int(w->json, "tid", thread);
    sagoi_json_text(w->json, "name", name);
}

static void write_name(const writing *w, const char *kind, int thread, const char *name) {
    begin_event(w, "M", thread, kind);
    sagoi_json_open(w->json, "args", '{');
    sagoi_json_text(w->json, "name", name);
    sagoi_json_close(w->json, '}');
    sagoi_json_close(w->json, '}');
}

static void write_names(const writing *w) {
    char name[128];
    (void)snprintf(name, sizeof name, "rank %d on %s", w->rank, w->of->host);
    write_name(w, "process_name", THREAD_PROGRAM, name);
    write_name(w, "thread_name", THREAD_PROGRAM, "program");
    write_name(w, "thread_name", THREAD_IO, "I/O thread");
    begin_event(w, "M", THREAD_PROGRAM, "process_sort_index");
    sagoi_json_open(w->json, "args", '{');
    sagoi_json_int(w->json, "sort_index", w->rank);
    sagoi_json_close(w->json, '}');
    sagoi_json_close(w->json, '}');
}

static double at(const writing *w, double time) { return 1e6 * (w->of->begin - w->begin + time); }

static const char *path_of(const writing *w, int16_t file) {
    return file >= 0 && file < w->of->nfiles ? w->of->paths[file] : "";
}

static void write_span(const writing *w, const sagoi_event *e) {
    const char *name = e->kind == SAGOI_EVENT_PHASE ? sago_phase_string((sago_phase)e->what)
                       : e->kind == SAGOI_EVENT_IO  ? "window"
                       : e->what                    ? "write"
                                                    : "read";
    const char *kind = e->kind == SAGOI_EVENT_PHASE ? "phase" : e->kind == SAGOI_EVENT_IO ? "io" : "call";
    begin_event(w, "X", e->kind == SAGOI_EVENT_IO ? THREAD_IO : THREAD_PROGRAM, name);
    sagoi_json_fixed(w->json, "ts", at(w, e->start), 3);
    sagoi_json_fixed(w->json, "dur", 1e6 * e->seconds, 3);
    sagoi_json_text(w->json, "cat", kind);
    sagoi_json_open(w->json, "args", '{');
    sagoi_json_int(w->json, "call", e->call);
    sagoi_json_int(w->json, "round", e->round);
    sagoi_json_text(w->json, "file", path_of(w, e->file));
    sagoi_json_close(w->json, '}');
    sagoi_json_close(w->json, '}');
}

static bool is_message(const sagoi_event *e) {
    return e->kind == SAGOI_EVENT_SENT || e->kind == SAGOI_EVENT_RECEIVED;
}

/* Writes one end of an arrow; both ranks give the arrow the same name. */
static void write_flow(const writing *w, const sagoi_event *e, bool sent, int32_t number) {
    const char *path = path_of(w, e->file);
    uint64_t name = sagoi_hash_bytes(path, (int64_t)strlen(path), (sagoi_hash){0, 0}).low;
    char id[64];
    (void)snprintf(id, sizeof id, "%" PRIx64 ":%d-%d:%d", name, sent ? e->mine : e->peer, sent ? e->peer : e->mine,
                   number);
    begin_event(w, sent ? "s" : "f", THREAD_PROGRAM, "message");
    sagoi_json_fixed(w->json, "ts", at(w, e->start), 3);
    sagoi_json_text(w->json, "cat", "message");
    sagoi_json_text(w->json, "id", id);
    if (!sent)
        sagoi_json_text(w->json, "bp", "e");
    sagoi_json_close(w->json, '}');
}

/* An arrow needs slices to begin and to end in, so a message also becomes a slice, of a
 * nanosecond: a longer one would cross the slices that begin or end soon after it. */
static void write_message(const writing *w, const sagoi_event *e) {
    bool sent = e->kind == SAGOI_EVENT_SENT;
    int64_t peer = e->peer >= 0 && e->peer < w->ranks ? e->peer : 0;
    int32_t number = w->counted[((e->file < 0 ? 0 : e->file) * (int64_t)w->ranks + peer) * 2 + sent]++;
    begin_event(w, "X", THREAD_PROGRAM, sent ? "send" : "receive");
    sagoi_json_fixed(w->json, "ts", at(w, e->start), 3);
    sagoi_json_fixed(w->json, "dur", 1e-3, 3);
    sagoi_json_text(w->json, "cat", "message");
    sagoi_json_open(w->json, "args", '{');
    sagoi_json_int(w->json, sent ? "to" : "from", e->peer);
    sagoi_json_int(w->json, "bytes", e->bytes);
    sagoi_json_int(w->json, "round", e->round);
    sagoi_json_close(w->json, '}');
    sagoi_json_close(w->json, '}');
    write_flow(w, e, sent, number);
}

static void write_events(writing *w, const sagoi_event *events) {
    w->counted = calloc((size_t)w->ranks * 2 * SAGOI_RECORD_FILES, sizeof *w->counted);
    write_names(w);
    for (int64_t i = 0; i < w->of->count; i++) {
        if (!is_message(&events[i]))
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

/* Receives the head and the events of the next rank; *dropped grows by the events that rank has dropped. */
static void receive_events(MPI_Comm comm, writing *w, head *of, int64_t *dropped) {
    memset(of, 0, sizeof *of);
    if (MPI_Recv(of, sizeof *of, MPI_BYTE, w->rank, TAG_HEAD, comm, MPI_STATUS_IGNORE) != MPI_SUCCESS)
        return;
    size_t bytes = (size_t)of->count * sizeof(sagoi_event);
    sagoi_event *events = malloc(bytes + 1), nothing;
    bool came = MPI_Recv(events ? events : &nothing, events ? (int)bytes : 0, MPI_BYTE, w->rank, TAG_EVENTS, comm,
                         MPI_STATUS_IGNORE) == MPI_SUCCESS;
    *dropped += of->dropped;
    w->of = of;
    if (events && came && w->json->out)
        write_events(w, events);
    w->of = NULL;
    free(events);
}

void sagoi_timeline_gather(MPI_Comm comm, const sagoi_record *record, FILE *out) {
    sagoi_json json = {.out = out, .lines = 2};
    writing w = {.json = &json, .ranks = 1};
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
        sagoi_json_open(&json, NULL, '{');
        sagoi_json_text(&json, "displayTimeUnit", "ms");
        sagoi_json_open(&json, "traceEvents", '[');
        write_events(&w, events);
    }
    for (w.rank = 1; w.rank < w.ranks; w.rank++)
        receive_events(comm, &w, &own, &dropped);
    if (out) {
        sagoi_json_close(&json, ']');
        sagoi_json_open(&json, "otherData", '{');
        sagoi_json_int(&json, "dropped_events", dropped);
        sagoi_json_close(&json, '}');
        sagoi_json_close(&json, '}');
    }
}
