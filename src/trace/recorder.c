/* What this process records while it runs.  There is one recorder in a process, since the report is about all
 * files that are ever open. */
#include "trace/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/checked.h"
#include "system/thread.h"
#include "trace/events.h"
#include "trace/saved.h"
#include "trace/tally.h"

enum { SAVE_SECONDS = 5, PATIENCE_SECONDS = 10 };

/* An open file.  The thread that makes a call on the file owns the fields from `spent` to `round`. */
typedef struct opened {
    const sago_stats *stats; /* the file owns them */
    int16_t file;            /* number of the file's entry in the record */
    /* First: this rank is the first of the file; theirs: a layer above counts the file in the statistics. */
    bool first, theirs;
    double spent[2]; /* seconds in reads and writes */
    double began;    /* when the call that is under way began, by sagoi_clock(); 0: no call is under way */
    double last;     /* when the last phase ended, or the last message came, by sagoi_clock() */
    int64_t ranks;   /* ranks of the file's communicator */
    int64_t round;
    /* What the record has taken of the statistics already; so have the two below. */
    int64_t counted[SAGOI_RECORD_COUNT_COUNT];
    int64_t routed[SAGO_ROUTE_COUNT];
    sago_phase_stats phased[SAGO_PHASE_COUNT];
    struct opened *next;
} opened;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* How often the list of open files changed. */
static _Atomic unsigned changes;

/* The lock guards the record and the list.  `epoch` to `traced` do not change while something is recorded. */
static struct {
    sagoi_record *record; /* NULL: off */
    sagoi_record_row *row;
    opened *files;
    /* Seconds since 1970 when sagoi_clock() was 0.  A double that counts from 1970 is a quarter of a microsecond
     * coarse, too coarse for a trace: what is not for the report's bins counts by sagoi_clock(). */
    double epoch;
    double begin; /* when the record begins, by sagoi_clock() */
    int64_t rank;
    bool reported, traced;
    char node[64];
    int32_t stride; /* the spans of every stride-th call are kept; a power of two */
    /* Calls of this rank on each file, however often the file was opened. */
    _Atomic int64_t calls[SAGOI_RECORD_FILES];
} recorder;

/* The thread that saves the record. */
static struct {
    pthread_t id;
    pthread_cond_t work;
    bool running, stop;
    char path[PATH_MAX];
    int64_t slot;
} saver;

static double since_1970(void) { return sagoi_seconds(CLOCK_REALTIME); }

/* ---- What is open ---- */

static opened *find(const sago_stats *stats) {
    opened *at = recorder.files;
    while (at && at->stats != stats)
        at = at->next;
    return at;
}

/* The caller holds the lock. */
static void note_change(void) { (void)atomic_fetch_add_explicit(&changes, 1, memory_order_release); }

/* The entry of an open file; NULL: the file is not recorded.  A thread that asks for the same file again needs no
 * lock and no search, since an event should cost little more than the time to write it down. */
static opened *known(const sago_stats *stats) {
    static _Thread_local struct {
        const sago_stats *stats;
        opened *of;
        unsigned changes;
    } last;
    unsigned now = atomic_load_explicit(&changes, memory_order_acquire);
    if (last.stats != stats || last.changes != now) {
        (void)pthread_mutex_lock(&lock);
        last.of = recorder.record ? find(stats) : NULL;
        (void)pthread_mutex_unlock(&lock);
        last.stats = stats;
        last.changes = now;
    }
    return last.of;
}

static int64_t calls_on(const opened *of) {
    return atomic_load_explicit(&recorder.calls[of->file], memory_order_relaxed);
}

static const size_t fields[] = {
#define FIELD(name) offsetof(sago_stats, name),
    SAGOI_RECORD_COUNTS(FIELD)
#undef FIELD
};

static int64_t field_of(const sago_stats *stats, int i) {
    int64_t value;
    memcpy(&value, (const char *)stats + fields[i], sizeof value);
    return value;
}

static void absorb_counts(opened *of, sagoi_record_file *file) {
    for (int i = 0; i < SAGOI_RECORD_COUNT_COUNT; i++) {
        int64_t value = field_of(of->stats, i), more = value - of->counted[i];
        file->counts[i] += more;
        file->once[i] += of->first ? more : 0;
        of->counted[i] = value;
    }
    for (int i = 0; i < SAGO_ROUTE_COUNT; i++)
        file->routes[i] += of->stats->routes[i] - of->routed[i];
    memcpy(of->routed, of->stats->routes, sizeof of->routed);
}

static void absorb_phases(opened *of, sagoi_record_file *file) {
    for (int i = 0; i < SAGO_PHASE_COUNT; i++) {
        const sago_phase_stats *is = &of->stats->phase[i], *was = &of->phased[i];
        file->phase[i].seconds += is->seconds - was->seconds;
        file->phase[i].bytes += is->bytes - was->bytes;
        file->phase[i].runs += is->runs - was->runs;
        file->phase[i].messages += is->messages - was->messages;
        of->phased[i] = *is;
    }
}

/* Adds what the file's statistics have counted since the last time.  Called in a thread that may read the
 * statistics. */
static void absorb(opened *of) {
    sagoi_record_file *file = &recorder.record->files[of->file];
    const int plans = SAGOI_COUNT_plan_misses, alone = SAGOI_COUNT_direct_calls;
    bool decided =
        field_of(of->stats, plans) != of->counted[plans] || field_of(of->stats, alone) != of->counted[alone];
    if ((decided || !file->decision[0]) && strncmp(file->decision, of->stats->decision, 1000) != 0)
        (void)snprintf(file->decision, sizeof file->decision, "%.1000s", of->stats->decision);
    absorb_counts(of, file);
    absorb_phases(of, file);
    sagoi_record_node *node = sagoi_record_node_of(recorder.record, recorder.node);
    if (node) {
        node->peak = sagoi_max(node->peak, of->stats->memory_peak);
        node->budget = sagoi_max(node->budget, of->stats->memory_budget);
    }
}

static void describe(sagoi_record_file *file, const sagoi_opened *about) {
    (void)snprintf(file->storage, sizeof file->storage, "%s", about->storage);
    (void)snprintf(file->hints, sizeof file->hints, "%s", about->hints);
    file->block = about->block;
    file->stripe_unit = about->stripe_unit;
    file->stripe_count = about->stripe_count;
    file->ranks = sagoi_max(file->ranks, about->ranks);
    file->opens += about->first;
}

void sagoi_recorder_open(const sago_stats *stats, const sagoi_opened *about) {
    opened *of = calloc(1, sizeof *of);
    (void)pthread_mutex_lock(&lock);
    if (of && recorder.record) {
        sagoi_record_file *file = sagoi_record_find(recorder.record, about->path);
        describe(file, about);
        recorder.record->stream = fmax(recorder.record->stream, about->stream);
        *of = (opened){.stats = stats,
                       .file = (int16_t)(file - recorder.record->files),
                       .first = about->first,
                       .theirs = about->theirs,
                       .ranks = about->ranks,
                       .next = recorder.files};
        recorder.files = of;
        note_change();
        of = NULL;
    }
    (void)pthread_mutex_unlock(&lock);
    free(of);
}

/* Counts the file for SAGO_STATS when it is closed. */
static void count_file(const opened *of) {
    const sago_stats *stats = of->stats;
    sago_report_counts more = {.files = 1,
                               .files_taken = 1,
                               .calls = {stats->collective_reads, stats->collective_writes},
                               .bytes = {stats->bytes_read, stats->bytes_written},
                               .alone = {stats->independent_reads, stats->independent_writes},
                               .deferred = stats->deferred_writes,
                               .flush_steps = stats->flush_steps,
                               .seconds = {of->spent[0], of->spent[1]}};
    if (of->theirs)
        return;
    memcpy(more.flushes, stats->flushes, sizeof more.flushes);
    memcpy(more.routes, stats->routes, sizeof more.routes);
    for (int i = 0; i < SAGO_PHASE_COUNT; i++)
        more.phase[i] = stats->phase[i].seconds;
    sagoi_tally_add(&more, of->first);
}

void sagoi_recorder_close(const sago_stats *stats) {
    (void)pthread_mutex_lock(&lock);
    opened **at = &recorder.files, *gone = NULL;
    while (*at && (*at)->stats != stats)
        at = &(*at)->next;
    if (*at) {
        gone = *at;
        if (recorder.record)
            absorb(gone);
        count_file(gone);
        *at = gone->next;
        note_change();
    }
    (void)pthread_mutex_unlock(&lock);
    free(gone);
}

/* ---- What happens ---- */

/* Halves the spans: of the calls whose spans are kept, every second call stays. */
static void thin_out(sagoi_record *record) {
    int64_t kept = 0;
    recorder.stride *= 2;
    for (int64_t i = 0; i < record->nspans; i++)
        if (record->spans[i].call % recorder.stride == 0)
            record->spans[kept++] = record->spans[i];
    record->nspans = kept;
}

static void add_span(const opened *of, int phase, double end, double seconds) {
    const double start = end - seconds + recorder.epoch;
    sagoi_record *record = recorder.record;
    while (record->nspans >= SAGOI_RECORD_SPANS && recorder.stride < 1 << 30)
        thin_out(record);
    if ((calls_on(of) & (recorder.stride - 1)) != 0 || record->nspans >= SAGOI_RECORD_SPANS)
        return;
    record->spans[record->nspans++] = (sagoi_record_span){.start = start,
                                                          .seconds = seconds,
                                                          .call = calls_on(of),
                                                          .rank = (int32_t)recorder.rank,
                                                          .round = (int32_t)of->round,
                                                          .file = of->file,
                                                          .phase = (int16_t)phase};
}

/* The next event of the trace, with what all events have; NULL: there is no trace, or no room. */
static sagoi_event *next_event(const opened *of, sagoi_event_kind kind, int what) {
    sagoi_event *event = recorder.traced ? sagoi_events_next() : NULL;
    if (event) {
        event->call = calls_on(of);
        event->round = (int32_t)of->round;
        event->file = of->file;
        event->kind = (int8_t)kind;
        event->what = (int8_t)what;
    }
    return event;
}

static void add_event(const opened *of, sagoi_event_kind kind, int what, double end, double seconds) {
    sagoi_event *event = next_event(of, kind, what);
    if (event) {
        event->start = end - seconds - recorder.begin;
        event->seconds = seconds;
    }
}

static void report_phase(const opened *of, sago_phase phase, double end, double seconds) {
    (void)pthread_mutex_lock(&lock);
    if (recorder.record) {
        sagoi_row_add(recorder.row, phase, end + recorder.epoch, seconds);
        add_span(of, phase, end, seconds);
    }
    (void)pthread_mutex_unlock(&lock);
}

double sagoi_phase_end_unusual(sago_stats *stats, sago_phase phase, double start) {
    double clock = sagoi_clock(), stop = clock - (sagoi_fibers_pending() ? sagoi_fiber_away() : 0);
    double seconds = stop - start;
    stats->phase[phase].seconds += seconds;
    opened *of = sagoi_is_recorded() ? known(stats) : NULL;
    if (!of)
        return stop;
    /* The first phase of a call; the call before may have failed. */
    if (of->began == 0 || phase == SAGO_PHASE_FLATTEN)
        of->began = clock - seconds;
    of->last = clock;
    if (recorder.reported)
        report_phase(of, phase, clock, seconds);
    add_event(of, SAGOI_EVENT_PHASE, phase, clock, seconds);
    return stop;
}

static void report_call(opened *of, const sagoi_recorded_call *call, double end, double seconds) {
    (void)pthread_mutex_lock(&lock);
    if (recorder.record) {
        sagoi_record_file *file = &recorder.record->files[of->file];
        file->sizes[call->write][sagoi_size_bin(call->bytes)]++;
        file->calls[call->write] += seconds;
        recorder.row->bytes[call->write] += call->bytes;
        sagoi_heat_add(&file->heat, call->write, call->range, call->bytes, end + recorder.epoch, seconds);
        absorb(of);
    }
    (void)pthread_mutex_unlock(&lock);
}

void sagoi_recorder_call(const sago_stats *stats, const sagoi_recorded_call *call) {
    opened *of = known(stats);
    if (!of)
        return;
    /* A call ends with its last phase; to ask the clock again would cost more than to write the event down. */
    double end = of->began > 0 ? of->last : sagoi_clock(), seconds = of->began > 0 ? end - of->began : 0;
    of->spent[call->write] += seconds;
    if (recorder.reported)
        report_call(of, call, end, seconds);
    add_event(of, SAGOI_EVENT_CALL, call->write, end, seconds);
    of->began = 0;
    of->round = 0;
    (void)atomic_fetch_add_explicit(&recorder.calls[of->file], 1, memory_order_relaxed);
}

void sagoi_recorder_no_call(const sago_stats *stats) {
    opened *of = known(stats);
    if (of)
        of->began = 0;
}

void sagoi_recorder_round(const sago_stats *stats, int64_t round) {
    opened *of = known(stats);
    if (of)
        of->round = round;
}

static void report_io(const opened *of, double end, double seconds) {
    (void)pthread_mutex_lock(&lock);
    if (recorder.record) {
        recorder.record->files[of->file].io_seconds += seconds;
        add_span(of, SAGOI_RECORD_PHASES, end, seconds);
    }
    (void)pthread_mutex_unlock(&lock);
}

void sagoi_recorder_io(const sago_stats *stats, double start, double seconds) {
    const opened *of = known(stats);
    double end = start + seconds;
    if (of && recorder.reported)
        report_io(of, end, seconds);
    if (of)
        add_event(of, SAGOI_EVENT_IO, 0, end, seconds);
}

void sagoi_recorder_request(const sago_stats *stats, const sagoi_recorded_request *request) {
    const opened *of = sagoi_is_reported() ? known(stats) : NULL;
    (void)pthread_mutex_lock(&lock);
    if (of && recorder.record) {
        recorder.row->stored += request->seconds;
        recorder.row->stored_bytes += request->bytes;
        for (int i = 0; i < SAGOI_RECORD_TARGETS && request->bytes > 0; i++) {
            sagoi_record_target *target = &recorder.record->files[of->file].targets[i];
            target->bytes += request->parts[i];
            target->seconds += request->seconds * request->parts[i] / request->bytes;
        }
    }
    (void)pthread_mutex_unlock(&lock);
}

/* A rank that receives a message has waited since the message before, or since the last phase ended.  Ranks of
 * another communicator than the job's are not known by their numbers. */
static void add_waiting(opened *of, const int ranks[2], double end) {
    double seconds = of->last > 0 ? end - of->last : 0;
    of->last = end;
    if (of->ranks != recorder.record->ranks || ranks[0] != recorder.rank)
        return;
    int64_t peer = sagoi_record_row_number(recorder.record, ranks[1]);
    recorder.row->waited += seconds;
    if (peer >= 0)
        recorder.record->awaited[peer] += seconds;
}

static void report_received(opened *of, const int ranks[2], double end) {
    (void)pthread_mutex_lock(&lock);
    if (recorder.record)
        add_waiting(of, ranks, end);
    (void)pthread_mutex_unlock(&lock);
}

void sagoi_recorder_message(const sago_stats *stats, bool sent, const int ranks[2], int64_t bytes) {
    opened *of = known(stats);
    if (!of)
        return;
    double end = sagoi_clock();
    if (recorder.reported && !sent)
        report_received(of, ranks, end);
    sagoi_event *event = next_event(of, sent ? SAGOI_EVENT_SENT : SAGOI_EVENT_RECEIVED, 0);
    if (event) {
        event->start = end - recorder.begin;
        event->bytes = bytes;
        event->mine = ranks[0];
        event->peer = ranks[1];
    }
}

void sagoi_recorder_note(const char *path, const char *text, bool first) {
    if (!sagoi_is_recorded())
        return;
    (void)pthread_mutex_lock(&lock);
    if (recorder.record)
        sagoi_record_note_add(sagoi_record_find(recorder.record, path), text, 1, first);
    (void)pthread_mutex_unlock(&lock);
}

void sagoi_recorder_passed(const char *path, const sagoi_recorded_passed *call) {
    if (!sagoi_is_recorded())
        return;
    (void)pthread_mutex_lock(&lock);
    if (recorder.record) {
        sagoi_record_passed *to = &sagoi_record_find(recorder.record, path)->passed[call->together];
        to->calls[call->write]++;
        to->bytes[call->write] += call->bytes;
        to->longest += call->seconds;
        sagoi_row_add(recorder.row, SAGOI_PHASE_MPI, since_1970(), call->seconds);
    }
    (void)pthread_mutex_unlock(&lock);
}

void sagoi_recorder_around(int call, double seconds) {
    if (!sagoi_is_recorded())
        return;
    (void)pthread_mutex_lock(&lock);
    if (recorder.record) { /* the first call began before the record */
        recorder.record->around[call].calls++;
        recorder.record->around[call].seconds += fmin(seconds, since_1970() - recorder.record->begin);
    }
    (void)pthread_mutex_unlock(&lock);
}

void sagoi_recorder_step(const sagoi_record_step *step) {
    if (!sagoi_is_recorded())
        return;
    (void)pthread_mutex_lock(&lock);
    if (recorder.record)
        sagoi_record_step_add(recorder.record, step);
    (void)pthread_mutex_unlock(&lock);
}

/* ---- What is read ---- */

static void complete_targets(sagoi_record_file *file) {
    for (int i = 0; i < SAGOI_RECORD_TARGETS; i++) {
        sagoi_record_target *target = &file->targets[i];
        target->ranks = target->bytes > 0;
        target->longest = target->seconds;
        target->longest_rank = recorder.rank;
    }
}

/* Fills the fields that follow from others.  The caller holds the lock. */
static void complete(sagoi_record *record) {
    sagoi_record_row *row = recorder.row;
    sagoi_record_node *node = sagoi_record_node_of(record, recorder.node);
    row->ranks = 1;
    (void)snprintf(row->node, sizeof row->node, "%.40s", recorder.node);
    row->most = 0;
    for (int i = 0; i < SAGO_PHASE_COUNT; i++)
        row->most += row->seconds[i];
    row->least = row->most;
    for (int64_t f = 0; f < record->nfiles; f++)
        for (int i = 0; i < SAGO_PHASE_COUNT; i++) {
            record->files[f].longest[i] = record->files[f].phase[i].seconds;
            record->files[f].longest_rank[i] = recorder.rank;
        }
    for (int64_t f = 0; f < record->nfiles; f++)
        complete_targets(&record->files[f]);
    for (int64_t i = 0; i < record->nspans; i++)
        record->spans[i].stride = recorder.stride;
    if (node)
        node->ranks = 1;
    record->seen = 1;
    record->end = record->date = since_1970();
}

/* Saves a copy of the record, so that no call waits while it is written.  Nobody can be told of a failure; the
 * next save may succeed. */
static void save(int fd, int64_t number) {
    int64_t bytes = 0;
    char *packed = NULL;
    (void)pthread_mutex_lock(&lock);
    if (recorder.record) {
        complete(recorder.record);
        packed = sagoi_record_pack(recorder.record, &bytes);
    }
    (void)pthread_mutex_unlock(&lock);
    if (packed)
        (void)sagoi_saved_write(fd, saver.slot, number, packed, bytes);
    free(packed);
}

/* Waits until it is time to save again; false: the thread is to end. */
static bool await_time(void) {
    struct timespec at = sagoi_timespec(sagoi_seconds(CLOCK_MONOTONIC) + SAVE_SECONDS);
    (void)pthread_mutex_lock(&lock);
    while (!saver.stop && pthread_cond_timedwait(&saver.work, &lock, &at) != ETIMEDOUT)
        ;
    bool more = !saver.stop;
    (void)pthread_mutex_unlock(&lock);
    return more;
}

static void *save_often(void *argument) {
    (void)argument;
    int fd = open(saver.path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    bool more = true;
    for (int64_t number = 0; fd >= 0 && more; number++) {
        save(fd, number);
        more = await_time();
    }
    if (fd >= 0)
        (void)close(fd);
    return NULL;
}

/* ---- Beginning and ending ---- */

static void start_saver(const sagoi_recorder_setup *setup) {
    if (!setup->saved || strlen(setup->saved) >= sizeof saver.path)
        return;
    (void)snprintf(saver.path, sizeof saver.path, "%s", setup->saved);
    saver.slot = setup->slot;
    saver.stop = false;
    saver.running = sagoi_condition_init(&saver.work) == 0 &&
                    sagoi_thread_start(&saver.id, "sago-report", save_often, NULL) == 0;
}

/* A thread that hangs in a file system is left behind: it uses nothing but copies of its own. */
static void stop_saver(void) {
    struct timespec at;
    if (!saver.running)
        return;
    (void)pthread_mutex_lock(&lock);
    saver.stop = true;
    (void)pthread_cond_broadcast(&saver.work);
    (void)pthread_mutex_unlock(&lock);
    (void)clock_gettime(CLOCK_REALTIME, &at);
    at.tv_sec += PATIENCE_SECONDS;
    if (pthread_timedjoin_np(saver.id, NULL, &at) != 0)
        (void)pthread_detach(saver.id);
    saver.running = false;
}

static sago_status set_up(const sagoi_recorder_setup *setup) {
    sagoi_record *record = sagoi_record_create(setup->ranks);
    sagoi_record_row *row = record ? sagoi_record_row_of(record, setup->rank) : NULL;
    if (!row || (setup->traced && !sagoi_events_begin(setup->ranks))) {
        sagoi_record_destroy(record);
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory to record what happens");
    }
    record->run = setup->run;
    record->all_nodes = setup->nodes;
    (void)snprintf(record->program, sizeof record->program, "%s", setup->program);
    (void)snprintf(record->mpi, sizeof record->mpi, "%s", setup->mpi);
    (void)snprintf(record->version, sizeof record->version, "%s", setup->version);
    (void)snprintf(record->job, sizeof record->job, "%s", setup->job);
    recorder.begin = sagoi_clock();
    record->begin = since_1970();
    recorder.epoch = record->begin - recorder.begin;
    recorder.row = row;
    recorder.rank = setup->rank;
    recorder.stride = 1;
    recorder.reported = setup->reported;
    recorder.traced = setup->traced;
    (void)snprintf(recorder.node, sizeof recorder.node, "%s", setup->node);
    recorder.record = record;
    return SAGO_OK;
}

sago_status sagoi_recorder_begin(const sagoi_recorder_setup *setup) {
    (void)pthread_mutex_lock(&lock);
    bool first = !recorder.record;
    sago_status status = first ? set_up(setup) : SAGO_OK;
    (void)pthread_mutex_unlock(&lock);
    if (status || !first)
        return status;
    (void)atomic_fetch_or(&sagoi_unusual, SAGOI_RECORDED | (setup->reported ? SAGOI_REPORTED : 0));
    start_saver(setup);
    return SAGO_OK;
}

sagoi_record *sagoi_recorder_end(void) {
    stop_saver();
    (void)atomic_fetch_and(&sagoi_unusual, ~(SAGOI_RECORDED | SAGOI_REPORTED));
    (void)pthread_mutex_lock(&lock);
    sagoi_record *record = recorder.record;
    for (opened *of = recorder.files, *next; of; of = next) { /* files that the program has left open */
        next = of->next;
        if (record)
            absorb(of);
        count_file(of);
        free(of);
    }
    if (record) {
        complete(record);
        record->complete = 1;
    }
    recorder.files = NULL;
    recorder.record = NULL;
    for (int i = 0; i < SAGOI_RECORD_FILES; i++)
        recorder.calls[i] = 0;
    note_change();
    (void)pthread_mutex_unlock(&lock);
    return record;
}
