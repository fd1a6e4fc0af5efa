/* The statistics of SAGO_STATS as text and as JSON.  Files and calls are those of the job: what the ranks of a
 * file do together counts once; bytes, and what each rank does alone, are added up.  JSON also has what every rank
 * counted. */
#include "trace/tally.h"

#include <inttypes.h>
#include <pthread.h>
#include <string.h>

#include "base/json.h"
#include "base/size_text.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sagoi_tally mine; /* The lock guards this. */

static const char *const (*reasons)[2]; /* NULL: there is no layer */
static int nreasons;

void sagoi_tally_layer(const char *const (*names)[2], int count) {
    reasons = names;
    nreasons = count < SAGO_REPORT_REASONS ? count : SAGO_REPORT_REASONS;
}

bool sagoi_tally_has_layer(void) { return reasons != NULL; }

/* ---- Counting ---- */

static void add_counts(sago_report_counts *to, const sago_report_counts *more) {
    enum { NUMBERS = offsetof(sago_report_counts, seconds) / sizeof(int64_t) };
    int64_t *sum = (int64_t *)to;
    const int64_t *amount = (const int64_t *)more;
    for (size_t i = 1; i < NUMBERS; i++) /* the first number is the struct's size */
        sum[i] += amount[i];
}

static void add_times(sago_report_counts *to, const sago_report_counts *more) {
    for (int i = 0; i < 2; i++)
        to->seconds[i] += more->seconds[i];
    for (int i = 0; i < SAGO_PHASE_COUNT; i++)
        to->phase[i] += more->phase[i];
}

void sagoi_tally_add(const sago_report_counts *more, bool once) {
    (void)pthread_mutex_lock(&lock);
    add_counts(&mine.counted, more);
    add_times(&mine.counted, more);
    if (once)
        add_counts(&mine.once, more);
    (void)pthread_mutex_unlock(&lock);
}

sagoi_tally sagoi_tally_now(void) {
    (void)pthread_mutex_lock(&lock);
    sagoi_tally now = mine;
    (void)pthread_mutex_unlock(&lock);
    return now;
}

static sago_report_counts of_job(const sagoi_tally *all) {
    sago_report_counts job = all->once;
    memcpy(job.bytes, all->counted.bytes, sizeof job.bytes);
    memcpy(job.independent, all->counted.independent, sizeof job.independent);
    memcpy(job.alone, all->counted.alone, sizeof job.alone);
    memcpy(job.seconds, all->counted.seconds, sizeof job.seconds);
    memcpy(job.phase, all->counted.phase, sizeof job.phase);
    return job;
}

/* ---- Text ---- */

static const char *const verb[] = {"read", "write"};

static void print_routes(FILE *out, const sago_report_counts *job) {
    const char *before = "sago: calls of Sago's by route:";
    for (int i = 0; i < SAGO_ROUTE_COUNT; i++)
        if (job->routes[i]) {
            fprintf(out, "%s %s %" PRId64, before, sago_route_string((sago_route)i), job->routes[i]);
            before = ",";
        }
    if (*before == ',')
        fprintf(out, "\n");
}

/* Prints independent reads and writes, if there were any. */
static void print_independent(FILE *out, const char *before, const int64_t calls[2], const char *after) {
    if (calls[0] || calls[1])
        fprintf(out, "sago: %s%" PRId64 " independent write%s and %" PRId64 " read%s%s\n", before, calls[1],
                sagoi_plural(calls[1]), calls[0], sagoi_plural(calls[0]), after);
}

static void print_calls(FILE *out, const sago_report_counts *job, int direction) {
    const double seconds = job->seconds[direction];
    fprintf(out, "sago: %" PRId64 " collective %s%s, %s in %.3f s", job->calls[direction], verb[direction],
            sagoi_plural(job->calls[direction]), sagoi_size_to_text(job->bytes[direction]).text, seconds);
    if (seconds > 0)
        fprintf(out, " (%s/s)", sagoi_size_to_text((int64_t)((double)job->bytes[direction] / seconds)).text);
    fprintf(out, "\n");
}

static void print_saves(FILE *out, const sagoi_tally_saves *saves) {
    if (saves->count > 0)
        fprintf(out, "sago: %s%" PRId64 " checkpoint%s, %s, held the program for %.3f s\n",
                saves->newest ? "the newest " : "", saves->count, sagoi_plural(saves->count),
                sagoi_size_to_text(saves->bytes).text, saves->held);
}

void sagoi_tally_print(FILE *out, const sagoi_tally *all, int64_t ranks, const sagoi_tally_saves *saves) {
    const sago_report_counts job = of_job(all);
    fprintf(out, "sago: %" PRId64 " rank%s, %" PRId64 " file%s opened", ranks, sagoi_plural(ranks), job.files,
            sagoi_plural(job.files));
    if (sagoi_tally_has_layer())
        fprintf(out, ", %" PRId64 " taken", job.files_taken);
    fprintf(out, "\n");
    for (int i = 1; i >= 0; i--)
        print_calls(out, &job, i);
    print_independent(out, "the program itself made ", job.independent, ", which are the MPI library's");
    print_independent(out, "", job.alone, " by Sago");
    if (job.deferred)
        fprintf(out, "sago: %" PRId64 " write%s deferred, moved in %" PRId64 " step%s\n", job.deferred,
                sagoi_plural(job.deferred), job.flush_steps, sagoi_plural(job.flush_steps));
    print_saves(out, saves);
    print_routes(out, &job);
    fprintf(out, "sago: seconds by phase, slowest rank:");
    for (int i = 0; i < SAGO_PHASE_COUNT; i++)
        fprintf(out, " %s %.3f", sago_phase_string((sago_phase)i), job.phase[i]);
    fprintf(out, "\n");
    for (int i = 1; i < nreasons; i++)
        if (job.handed[i])
            fprintf(out, "sago: %" PRId64 " call%s handed to MPI: %s\n", job.handed[i],
                    sagoi_plural(job.handed[i]), reasons[i][1]);
}

/* ---- JSON ---- */

/* Prints a number for each direction, as "read_bytes" and "write_bytes". */
static void json_both(sagoi_json *json, const char *before, const char *after, const int64_t values[2]) {
    char name[64];
    for (int i = 0; i < 2; i++) {
        (void)snprintf(name, sizeof name, "%s%s%s", before, verb[i], after);
        sagoi_json_int(json, name, values[i]);
    }
}

static void json_named(sagoi_json *json, const sago_report_counts *all) {
    sagoi_json_open(json, "flushes", '{');
    for (int i = 0; i < SAGO_FLUSH_COUNT; i++)
        sagoi_json_int(json, sago_flush_string((sago_flush)i), all->flushes[i]);
    sagoi_json_close(json, '}');
    sagoi_json_open(json, "routes", '{');
    for (int i = 0; i < SAGO_ROUTE_COUNT; i++)
        sagoi_json_int(json, sago_route_string((sago_route)i), all->routes[i]);
    sagoi_json_close(json, '}');
    sagoi_json_open(json, "handed", '{');
    for (int i = 1; i < nreasons; i++)
        sagoi_json_int(json, reasons[i][0], all->handed[i]);
    sagoi_json_close(json, '}');
}

static void json_counts(sagoi_json *json, const sago_report_counts *all) {
    sagoi_json_int(json, "files", all->files);
    sagoi_json_int(json, "files_taken", all->files_taken);
    json_both(json, "", "s", all->calls);
    json_both(json, "", "_bytes", all->bytes);
    json_both(json, "independent_", "s", all->independent);
    json_both(json, "own_independent_", "s", all->alone);
    sagoi_json_int(json, "deferred", all->deferred);
    sagoi_json_int(json, "flush_steps", all->flush_steps);
    json_named(json, all);
}

static void json_saves(sagoi_json *json, const sagoi_tally_saves *saves) {
    sagoi_json_open(json, "checkpoints", '{');
    sagoi_json_int(json, "count", saves->count);
    sagoi_json_int(json, "bytes", saves->bytes);
    sagoi_json_fixed(json, "held_seconds", saves->held, 6);
    sagoi_json_bool(json, "newest_only", saves->newest);
    sagoi_json_close(json, '}');
}

void sagoi_tally_json(FILE *out, const sagoi_tally *all, int64_t ranks, const sagoi_tally_saves *saves) {
    const sago_report_counts job = of_job(all);
    sagoi_json json = {.out = out, .lines = 1};
    sagoi_json_open(&json, NULL, '{');
    sagoi_json_int(&json, "ranks", ranks);
    json_counts(&json, &job);
    sagoi_json_fixed(&json, "read_seconds", job.seconds[0], 6);
    sagoi_json_fixed(&json, "write_seconds", job.seconds[1], 6);
    sagoi_json_open(&json, "phases", '{');
    for (int i = 0; i < SAGO_PHASE_COUNT; i++)
        sagoi_json_fixed(&json, sago_phase_string((sago_phase)i), job.phase[i], 6);
    sagoi_json_close(&json, '}');
    json_saves(&json, saves);
    sagoi_json_open(&json, "all_ranks", '{');
    json_counts(&json, &all->counted);
    sagoi_json_close(&json, '}');
    sagoi_json_close(&json, '}');
}
