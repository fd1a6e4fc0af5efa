/* Which ranks take part in the report, and what happens to the report when MPI is finalized.
 *
 * MPI_Finalize deletes the attributes of MPI_COMM_SELF first, while all of MPI still works, and the callback of
 * Sago's attribute ends the recording.  Ranks can meet in that callback only if all of them come there, and a
 * rank that never used Sago does not.  All ranks do if a file was opened on all ranks of MPI_COMM_WORLD.
 * Otherwise each rank leaves its record in a directory beside the report, as it does while the job runs, and
 * rank 0 makes the page from the records that are there.
 *
 * This is the one place of the library that prints.  Its messages answer variables of the environment, which
 * the user has set: the program knows nothing of them, and makes no call whose status could tell. */
#include "api/reporting.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/handle.h"
#include "base/again.h"
#include "machine/discover.h"
#include "mpi/quiet.h"
#include "trace/events.h"
#include "trace/output.h"
#include "trace/recorder.h"
#include "trace/report_json.h"
#include "trace/saved.h"
#include "trace/tally.h"

static pthread_once_t asked = PTHREAD_ONCE_INIT;
static pthread_mutex_t joining = PTHREAD_MUTEX_INITIALIZER;

/* The values of SAGO_REPORT, SAGO_TRACE and SAGO_STATS; NULL: not set. */
static const char *wanted_report, *wanted_trace, *wanted_stats;
static _Thread_local bool layer_opens; /* A layer above opens a file, and counts that file itself. */

/* The state of this process since it joined the report. */
static struct {
    bool on, off;         /* off: recording could not begin, and is not tried again */
    bool reports, traces; /* which outputs are made: each is wanted, and rank 0 can write it */
    bool prints;          /* the file for statistics cannot be written: they are printed */
    MPI_Comm world;       /* communicator of all ranks, once they have met; else MPI_COMM_NULL */
    int rank, ranks, keyval;
    char records[PATH_MAX], own[PATH_MAX]; /* the directory of records, and the file there of this node or rank */
    int64_t slot;
} joined = {.world = MPI_COMM_NULL, .keyval = MPI_KEYVAL_INVALID};

static void ask(void) {
    const char *stats = sagoi_environment("SAGO_STATS");
    wanted_report = sagoi_environment("SAGO_REPORT");
    wanted_trace = sagoi_environment("SAGO_TRACE");
    wanted_stats = stats && (strcmp(stats, "summary") == 0 || strncmp(stats, "json:", 5) == 0) ? stats : NULL;
}

bool sagoi_report_wanted(void) {
    (void)pthread_once(&asked, ask);
    return wanted_report || wanted_trace || (wanted_stats && !layer_opens);
}

/* ---- Telling ---- */

/* Prints a line by one system call, so that lines of several ranks do not mix. */
SAGOI_PRINTF(1, 2) static void tell(const char *format, ...) {
    char line[PATH_MAX + 1024] = "sago: ";
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line + 6, sizeof line - 8, format, arguments);
    va_end(arguments);
    size_t end = 6 + (length < 0 ? 0 : (size_t)length < sizeof line - 8 ? (size_t)length : sizeof line - 9);
    line[end] = '\n';
    if (write(STDERR_FILENO, line, end + 1) < 0)
        return; /* Nobody can be told of this failure. */
}

static bool is_first(void) {
    int rank = 0;
    sagoi_quiet_begin(MPI_COMM_NULL);
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    sagoi_quiet_end(MPI_COMM_NULL);
    return rank == 0;
}

static void tell_variable(const char *said) { tell("%s", said); }

static void check_environment(void) {
    if (!is_first())
        return;
    sagoi_check_environment(tell_variable);
    sagoi_check_surroundings(tell_variable);
}

void sagoi_report_environment(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, check_environment);
}

/* ---- Writing ---- */

static bool write_text(const char *path, const char *text) {
    sagoi_output out;
    return sagoi_output_open(&out, path) && (fputs(text, out.file), sagoi_output_close(&out));
}

static bool write_page(const char *path, const char *json) {
    sagoi_output out;
    return sagoi_output_open(&out, path) && (sagoi_report_page(out.file, &json, 1), sagoi_output_close(&out));
}

/* The JSON of "run.html" goes to "run.json". */
static void json_path(const char *page, char path[PATH_MAX]) {
    size_t length = strlen(page);
    bool html = length > 5 && strcmp(page + length - 5, ".html") == 0;
    (void)snprintf(path, PATH_MAX, "%.*s.json", (int)(html ? length - 5 : length), page);
}

/* Does the report use this path?  Another output there would replace the report's file. */
static bool is_reports(const char *path) {
    char json[PATH_MAX];
    if (!wanted_report)
        return false;
    json_path(wanted_report, json);
    return strcmp(path, json) == 0 || strcmp(path, wanted_report) == 0;
}

static void write_report(sagoi_record *record) {
    char path[PATH_MAX], *json = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&json, &size);
    if (!out) {
        tell("SAGO_REPORT=%s: no memory for the report", wanted_report);
        return;
    }
    sagoi_report_json(out, record);
    json_path(wanted_report, path);
    /* No file is made beside a device or a FIFO. */
    if (fclose(out) != 0 || (!sagoi_output_is_special(wanted_report) && !write_text(path, json)))
        tell("SAGO_REPORT=%s: %s: %s", wanted_report, path, sagoi_output_reason(errno));
    else if (!write_page(wanted_report, json))
        tell("SAGO_REPORT=%s: %s", wanted_report, sagoi_output_reason(errno));
    free(json);
}

static sagoi_tally_saves saves_of(const sagoi_record *record) {
    sagoi_tally_saves saves = {.count = record ? record->nsteps : 0};
    for (int64_t i = 0; i < saves.count; i++) {
        saves.bytes += record->steps[i].bytes;
        saves.held += record->steps[i].held;
    }
    saves.newest = saves.count == SAGOI_RECORD_STEPS;
    return saves;
}

/* Prints the statistics by one system call. */
static void print_stats(const sagoi_tally *all, int ranks, const sagoi_tally_saves *saves) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return;
    sagoi_tally_print(out, all, ranks, saves);
    if (fclose(out) == 0 && write(STDERR_FILENO, text, size) < 0)
        errno = 0; /* nobody can be told of this failure */
    free(text);
}

static const char *stats_path(void) {
    return wanted_stats && strncmp(wanted_stats, "json:", 5) == 0 ? wanted_stats + 5 : NULL;
}

static void write_stats(const sagoi_tally *all, int ranks, const sagoi_record *record) {
    const sagoi_tally_saves saves = saves_of(record);
    const char *path = joined.prints ? NULL : stats_path();
    const bool used = path && (is_reports(path) || (wanted_trace && strcmp(path, wanted_trace) == 0));
    if (used)
        tell("SAGO_STATS=%s: that file is the report's or the trace's; the statistics are:", wanted_stats);
    if (used || !path) {
        print_stats(all, ranks, &saves);
        return;
    }
    sagoi_output out;
    if (!sagoi_output_open(&out, path) ||
        (sagoi_tally_json(out.file, all, ranks, &saves), !sagoi_output_close(&out))) {
        tell("SAGO_STATS=%s: %s; the statistics are:", wanted_stats, sagoi_output_reason(errno));
        print_stats(all, ranks, &saves);
    }
}

/* ---- Meeting at the end ---- */

enum { TAG_RECORD = 1 };

static sagoi_record *receive_record(int from) {
    MPI_Status status;
    int bytes = 0;
    if (!SAGOI_DONE(MPI_Probe(from, TAG_RECORD, joined.world, &status)) ||
        MPI_Get_count(&status, MPI_BYTE, &bytes) != MPI_SUCCESS)
        return NULL;
    char *packed = malloc((size_t)bytes + 1), nothing;
    bool came = MPI_Recv(packed ? packed : &nothing, packed ? bytes : 0, MPI_BYTE, from, TAG_RECORD, joined.world,
                         &status) == MPI_SUCCESS;
    sagoi_record *record = packed && came ? sagoi_record_unpack(packed, bytes) : NULL;
    free(packed);
    return record;
}

static void send_record(int to, const sagoi_record *record) {
    int64_t bytes = 0;
    char *packed = record ? sagoi_record_pack(record, &bytes) : NULL, nothing = 0;
    (void)SAGOI_DONE(
        MPI_Send(packed ? packed : &nothing, packed ? (int)bytes : 0, MPI_BYTE, to, TAG_RECORD, joined.world));
    free(packed);
}

/* Gathers the records along a tree.  A record does not grow with the number of ranks in it. */
static void gather(sagoi_record *record) {
    for (int step = 1; step < joined.ranks; step *= 2) {
        if (joined.rank & step) {
            send_record(joined.rank - step, record);
            return;
        }
        if (joined.rank + step >= joined.ranks)
            continue;
        sagoi_record *more = receive_record(joined.rank + step);
        if (more && record)
            (void)sagoi_record_merge(record, more);
        sagoi_record_destroy(more);
    }
}

/* Statistics of all ranks, at rank 0: counts are added up, times are those of the slowest rank. */
static bool reduce_tally(sagoi_tally *all) {
    enum { NUMBERS = offsetof(sago_report_counts, seconds) / sizeof(int64_t), TIMES = 2 + SAGO_PHASE_COUNT };
    sagoi_tally own = sagoi_tally_now();
    *all = own;
    return SAGOI_DONE(MPI_Reduce(&own.counted, &all->counted, NUMBERS, MPI_INT64_T, MPI_SUM, 0, joined.world)) &&
           SAGOI_DONE(MPI_Reduce(&own.once, &all->once, NUMBERS, MPI_INT64_T, MPI_SUM, 0, joined.world)) &&
           SAGOI_DONE(
               MPI_Reduce(own.counted.seconds, all->counted.seconds, TIMES, MPI_DOUBLE, MPI_MAX, 0, joined.world));
}

/* ---- The directory of records ---- */

/* Makes the directory, and removes files that an earlier job has left there.  Sago makes no directories in it. */
static bool prepare_records(void) {
    if (mkdir(joined.records, 0777) != 0 && errno != EEXIST)
        return false;
    DIR *list = opendir(joined.records);
    const struct dirent *entry;
    while (list && (entry = readdir(list)))
        if (entry->d_name[0] != '.')
            (void)unlinkat(dirfd(list), entry->d_name, 0);
    bool opened = list != NULL, writable = access(joined.records, W_OK | X_OK) == 0;
    if (list)
        (void)closedir(list);
    return opened && writable;
}

static void name_records(void) {
    int length = snprintf(joined.records, sizeof joined.records, "%s.records", wanted_report);
    if (length >= (int)sizeof joined.records)
        joined.records[0] = '\0';
}

/* ---- Finalizing ---- */

/* Called where the ranks have not met: leaves this rank's record beside those of the others. */
static void leave_record(const sagoi_record *record) {
    int64_t bytes = 0;
    char *packed = sagoi_record_pack(record, &bytes);
    int fd = open(joined.own, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (packed && fd >= 0)
        (void)sagoi_saved_write(fd, joined.slot, INT64_C(1) << 40, packed, bytes);
    if (fd >= 0)
        (void)close(fd);
    free(packed);
}

/* Are there records of all ranks of the file with most ranks, and has every rank with a record ended? */
static bool is_all_there(const sagoi_record *found) {
    int64_t most = 0;
    for (int64_t i = 0; i < found->nfiles; i++)
        most = found->files[i].ranks > most ? found->files[i].ranks : most;
    return found->complete && found->seen >= most;
}

/* Waits for the records of other ranks, for a second at most, since no rank knows how many will come. */
static sagoi_record *await_records(void) {
    enum { TURNS = 20, TURN_US = 50000 }; /* These make a second in all for ranks that end later. */
    sagoi_record *found = sagoi_saved_merge(joined.records);
    for (int turn = 0; turn < TURNS && found && !is_all_there(found); turn++) {
        (void)usleep(TURN_US);
        sagoi_record_destroy(found);
        found = sagoi_saved_merge(joined.records);
    }
    return found;
}

static void finish_apart(sagoi_record *record) {
    if (wanted_report)
        leave_record(record);
    if (joined.rank != 0)
        return;
    if (wanted_report) {
        sagoi_record *found = await_records();
        write_report(found ? found : record);
        sagoi_record_destroy(found);
    }
    if (wanted_trace)
        tell("SAGO_TRACE=%s: no file was opened on all ranks: there is no trace", wanted_trace);
    if (wanted_stats && !sagoi_tally_has_layer()) {
        const sagoi_tally own = sagoi_tally_now();
        tell("SAGO_STATS=%s: no file was opened on all ranks: of rank 0 alone", wanted_stats);
        write_stats(&own, 1, record);
    }
}

static void write_trace(const sagoi_record *record) {
    sagoi_output out = {.file = NULL};
    bool opened = joined.rank != 0 || sagoi_output_open(&out, wanted_trace);
    int error = errno;
    sagoi_timeline_gather(joined.world, record, out.file);
    if (joined.rank == 0 && (!opened || !sagoi_output_close(&out)))
        tell("SAGO_TRACE=%s: %s", wanted_trace, sagoi_output_reason(opened ? errno : error));
}

static void finish_together(sagoi_record *record) {
    sagoi_tally all;
    gather(record);
    bool counted = reduce_tally(&all);
    if (joined.rank == 0 && record && joined.reports)
        write_report(record);
    if (joined.rank == 0 && counted && wanted_stats)
        write_stats(&all, joined.ranks, record);
    if (joined.reports && joined.slot == 0)
        (void)unlink(joined.own);
    if (joined.traces)
        write_trace(record);
    (void)SAGOI_DONE(MPI_Barrier(joined.world));
    if (joined.reports && joined.rank == 0)
        (void)rmdir(joined.records);
    (void)SAGOI_DONE(MPI_Comm_free(&joined.world));
}

static int on_finalize(MPI_Comm comm, int keyval, void *value, void *extra) {
    (void)comm, (void)keyval, (void)value, (void)extra;
    sagoi_record *record = sagoi_recorder_end();
    sagoi_quiet_begin(MPI_COMM_NULL);
    if (joined.world != MPI_COMM_NULL)
        finish_together(record);
    else if (record)
        finish_apart(record);
    sagoi_record_destroy(record);
    sagoi_events_end();
    (void)SAGOI_DONE(MPI_Comm_free_keyval(&joined.keyval));
    sagoi_quiet_end(MPI_COMM_NULL);
    joined.on = false;
    return MPI_SUCCESS;
}

/* ---- Joining ---- */

static bool is_whole_world(MPI_Comm comm) {
    int result = MPI_UNEQUAL;
    return SAGOI_DONE(MPI_Comm_compare(comm, MPI_COMM_WORLD, &result)) && result != MPI_UNEQUAL;
}

/* The reason why there cannot be a trace; NULL: it can be written. */
static const char *why_no_trace(void) {
    if (is_reports(wanted_trace))
        return "SAGO_REPORT writes that file";
    int error = sagoi_output_check(wanted_trace);
    return error ? sagoi_output_reason(error) : NULL;
}

/* Can the page, the JSON beside it and the records of the job be written?  0, or an error number. */
static int check_report(void) {
    char path[PATH_MAX];
    int error = sagoi_output_check(wanted_report);
    if (error || sagoi_output_is_special(wanted_report)) {
        joined.records[0] = '\0'; /* no directory is made beside a device or a FIFO */
        return error;
    }
    json_path(wanted_report, path);
    error = sagoi_output_check(path);
    return error ? error : !joined.records[0] ? ENAMETOOLONG : prepare_records() ? 0 : errno;
}

/* Called on rank 0: chooses the outputs that can be written, and says why another one cannot. */
static void choose_what_is_made(void) {
    int error = wanted_report ? check_report() : 0;
    joined.reports = wanted_report && !error;
    if (error)
        tell("SAGO_REPORT=%s: %s: there will be no report", wanted_report, sagoi_output_reason(error));
    const char *reason = wanted_trace ? why_no_trace() : NULL;
    joined.traces = wanted_trace && !reason;
    if (reason)
        tell("SAGO_TRACE=%s: %s: there will be no trace", wanted_trace, reason);
    error = stats_path() ? sagoi_output_check(stats_path()) : 0;
    joined.prints = error != 0;
    if (error)
        tell("SAGO_STATS=%s: %s: the statistics will be printed", wanted_stats, sagoi_output_reason(error));
}

/* Collective over MPI_COMM_WORLD: makes a communicator, and tells all ranks what rank 0 has chosen.  Returns the
 * number of the run; 0: the ranks cannot take part. */
static int64_t agree_on_run(bool ready) {
    int64_t run = 0;
    if (!SAGOI_DONE(MPI_Comm_split(MPI_COMM_WORLD, 0, joined.rank, &joined.world)))
        return 0;
    (void)MPI_Comm_set_errhandler(joined.world, MPI_ERRORS_RETURN);
    if (joined.rank == 0)
        choose_what_is_made();
    if (joined.rank == 0 && (joined.reports || joined.traces || wanted_stats)) {
        if (getrandom(&run, sizeof run, 0) < 0)
            run = getpid();
        run = (run & INT64_MAX) | 1;
    }
    int64_t said[] = {run, joined.reports, joined.traces, joined.records[0] != '\0'};
    if (!SAGOI_DONE(MPI_Bcast(said, 4, MPI_INT64_T, 0, joined.world)))
        said[0] = 0;
    run = said[0];
    joined.reports = said[1] && wanted_report;
    joined.traces = said[2];
    if (!said[3])
        joined.records[0] = '\0';
    /* Ranks that meet at the end would wait for a rank that MPI does not call back. */
    int64_t mine = ready ? run : 0;
    if (!SAGOI_DONE(MPI_Allreduce(&mine, &run, 1, MPI_INT64_T, MPI_MIN, joined.world)))
        run = 0;
    if (!run)
        (void)SAGOI_DONE(MPI_Comm_free(&joined.world));
    return run;
}

static const char *job_name(void) {
    static const char *const names[] = {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (sagoi_environment(names[i]))
            return sagoi_environment(names[i]);
    return "";
}

/* The records of a node are slots of one file if all ranks take part; else each rank has a file. */
static void name_own(const sagoi_team *team, int64_t run, const char *host) {
    int length;
    if (run)
        length = snprintf(joined.own, sizeof joined.own, "%s/node-%d", joined.records, team->node);
    else
        length = snprintf(joined.own, sizeof joined.own, "%s/%s-%d", joined.records, host, (int)getpid());
    joined.slot = run ? team->local_rank : 0;
    if (!joined.records[0] || length >= (int)sizeof joined.own)
        joined.own[0] = '\0';
}

static void begin_recording(const sagoi_team *team, int64_t run) {
    char host[64] = "", program[128] = "", mpi[64];
    (void)gethostname(host, sizeof host - 1);
    (void)snprintf(program, sizeof program, "%s", program_invocation_short_name);
    (void)snprintf(mpi, sizeof mpi, "%s", SAGO_MPI_NAME);
    if (joined.reports && !run && sagoi_output_is_special(wanted_report))
        joined.records[0] = '\0';
    if (joined.reports && !run && joined.records[0])
        (void)mkdir(joined.records, 0777);
    name_own(team, run, host);
    const sagoi_recorder_setup setup = {.rank = joined.rank,
                                        .ranks = joined.ranks,
                                        .run = run,
                                        .nodes = team->nodes,
                                        .program = program,
                                        .mpi = mpi,
                                        .version = sago_version(NULL, NULL, NULL),
                                        .job = job_name(),
                                        .node = host,
                                        .reported = joined.reports,
                                        .traced = joined.traces,
                                        .saved = joined.reports && joined.own[0] ? joined.own : NULL,
                                        .slot = joined.slot};
    /* Set even without memory for a record, since the other ranks wait for this one at the end. */
    joined.on = true;
    if (sagoi_recorder_begin(&setup))
        sagoi_message_clear();
}

/* Sets an attribute on MPI_COMM_SELF, whose callback MPI_Finalize runs. */
static bool be_called_back(void) {
    if (joined.keyval != MPI_KEYVAL_INVALID)
        return true;
    return SAGOI_DONE(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_finalize, &joined.keyval, NULL)) &&
           SAGOI_DONE(MPI_Comm_set_attr(MPI_COMM_SELF, joined.keyval, NULL));
}

/* The caller holds the lock: if another thread opens a file on all ranks, all ranks meet in that same call. */
static void join_first(const sagoi_team *team, bool whole) {
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &joined.rank);
    (void)MPI_Comm_size(MPI_COMM_WORLD, &joined.ranks);
    if (wanted_report)
        name_records();
    joined.reports = wanted_report != NULL;
    joined.traces = wanted_trace != NULL;
    bool ready = be_called_back();
    int64_t run = whole ? agree_on_run(ready) : 0;
    if (!ready || (whole && !run))
        joined.off = true;
    else if (!joined.on)
        begin_recording(team, run);
}

void sagoi_report_join(MPI_Comm comm, const sagoi_team *team) {
    (void)pthread_mutex_lock(&joining);
    sagoi_quiet_begin(MPI_COMM_NULL);
    bool whole = !joined.off && joined.world == MPI_COMM_NULL && is_whole_world(comm);
    if (!joined.off && (whole || !joined.on))
        join_first(team, whole);
    sagoi_quiet_end(MPI_COMM_NULL);
    (void)pthread_mutex_unlock(&joining);
}

/* ---- Files ---- */

/* Lists the hints that somebody has set, and where. */
static void describe_hints(const sago_file *file, char *text, size_t room) {
    int64_t rows = 0;
    size_t length = 0;
    const sagoi_hint_row *row = sagoi_hint_table(&rows);
    text[0] = '\0';
    for (int64_t i = 0; i < rows && length < room; i++, row++) {
        char value[SAGOI_HINT_TEXT_MAX];
        const char *source = sagoi_hint_source(&file->hints, i);
        if (!source)
            continue;
        if (layer_opens && strcmp(source, "MPI_Info") == 0)
            source = "MPI_Info, or the drop-in";
        sagoi_hint_format(&file->hints, row, value, sizeof value);
        length += (size_t)snprintf(text + length, room - length, "%s=%s (%s)\n", row->name, value, source);
    }
}

void sagoi_report_file(sago_file *file, const sagoi_hints *given) {
    char hints[2048];
    const sagoi_layout *layout = sagoi_store_layout(file->store);
    if (given || !sagoi_is_recorded())
        return;
    describe_hints(file, hints, sizeof hints);
    file->timed = true;
    file->layered = layer_opens;
    sagoi_recorder_open(&file->stats, &(sagoi_opened){.path = file->path,
                                                      .storage = layout->name,
                                                      .hints = hints,
                                                      .block = layout->block,
                                                      .stripe_unit = layout->stripe_unit,
                                                      .stripe_count = layout->stripe_count,
                                                      .ranks = file->team->size,
                                                      .stream = file->network ? file->network->found.stream : 0,
                                                      .first = file->team->rank == 0,
                                                      .theirs = layer_opens});
}

double sagoi_report_clock(const sago_file *file) {
    return (file ? sagoi_is_recorded() && !file->layered : sagoi_report_wanted() && !layer_opens) ? sagoi_clock()
                                                                                                  : 0;
}

void sagoi_report_around(int call, double began) {
    if (began > 0)
        sagoi_recorder_around(call, sagoi_clock() - began);
}

/* ---- For layers above ---- */

sago_status sago_report_begin(MPI_Comm comm) {
    sagoi_team *team = NULL;
    sagoi_agreement agreed = {.max[0] = !sagoi_report_wanted()};
    sago_status status = sagoi_check_library();
    if (!status)
        status = sagoi_check_comm(comm);
    if (!status)
        status = sagoi_team_acquire(comm, &team);
    if (!status) {
        status = sagoi_agree(team, &agreed, NULL, NULL, NULL);
        if (!status && !agreed.max[0])
            sagoi_report_join(comm, team);
        sagoi_team_release(team);
    }
    return sagoi_done("sago_report_begin", NULL, status);
}

void sago_report_passed(const char *path, int collective, int write, MPI_Count bytes, double seconds) {
    if (path)
        sagoi_recorder_passed(path, &(sagoi_recorded_passed){.together = collective != 0,
                                                             .write = write != 0,
                                                             .bytes = bytes > 0 ? (int64_t)bytes : 0,
                                                             .seconds = seconds > 0 ? seconds : 0});
}

void sago_report_around(int call, double seconds) {
    if (call >= 0 && call < SAGO_REPORT_AROUND && seconds > 0)
        sagoi_recorder_around(call, seconds);
}

void sago_report_note(const char *path, const char *text, int first) {
    if (path && text)
        sagoi_recorder_note(path, text, first != 0);
}

void sago_report_layer(const char *const (*reasons)[2], int count) { sagoi_tally_layer(reasons, count); }

void sago_report_layer_opens(int opens) { layer_opens = opens != 0; }

void sago_report_count(const sago_report_counts *more, int first) {
    sago_report_counts own = {0};
    if (!more || more->size < (int64_t)sizeof more->size)
        return;
    memcpy(&own, more, (size_t)more->size < sizeof own ? (size_t)more->size : sizeof own);
    sagoi_tally_add(&own, first != 0);
}
