#include "dropin_report.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files.h"
#include "foresee.h"

typedef struct counts {
    int64_t files, files_taken;
    int64_t calls[2], bytes[2]; /* read, written */
    int64_t independent[2];     /* calls that the program made for one rank: the MPI library's */
    int64_t alone[2];           /* the same by GIO's interface, and Sago's */
    int64_t deferred, flush_steps, flushes[SAGO_FLUSH_COUNT];
    int64_t routes[SAGO_ROUTE_COUNT];
    int64_t handed[DROPIN_REASON_COUNT];
} counts;

typedef struct times {
    double calls[2]; /* in collective reads, writes */
    double phase[SAGO_PHASE_COUNT];
} times;

typedef struct totals {
    counts counted; /* by this rank */
    counts led;     /* the same, where this rank is the first of the file's: so every call counts once */
} totals;

static totals mine;
static times spent;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t asked = PTHREAD_ONCE_INIT;
static const char *wanted; /* NULL: off */
static bool timed;         /* somebody wants to know how long calls take: SAGO_STATS, or SAGO_REPORT */

static void ask(void) {
    const char *value = getenv("SAGO_STATS");
    if (value && (strcmp(value, "summary") == 0 || strncmp(value, "json:", 5) == 0))
        wanted = value;
    timed = wanted || getenv("SAGO_REPORT");
}

bool dropin_reports(void) {
    (void)pthread_once(&asked, ask);
    return wanted != NULL;
}

/* ---- Counting ---- */

static const struct {
    const char *name, *words;
} reasons[] = {
#define ROW(id, name, words) {name, words},
    DROPIN_REASONS(ROW)
#undef ROW
};

double dropin_clock(void) {
    (void)pthread_once(&asked, ask);
    return timed ? MPI_Wtime() : 0;
}

static void add(counts *to, const counts *more) {
    int64_t *sum = (int64_t *)to;
    const int64_t *amount = (const int64_t *)more;
    for (size_t i = 0; i < sizeof *to / sizeof *sum; i++)
        sum[i] += amount[i];
}

static void count(const dropin_file *file, const counts *more) {
    if (!dropin_reports())
        return;
    (void)pthread_mutex_lock(&lock);
    add(&mine.counted, more);
    if (!file || file->first)
        add(&mine.led, more);
    (void)pthread_mutex_unlock(&lock);
}

void dropin_count_open(const dropin_file *file) {
    count(file, &(counts){.files = 1, .files_taken = file && (file->sago || file->late)});
}

void dropin_count_refused(const dropin_file *file) { count(file, &(counts){.files_taken = -1}); }

void dropin_count_passed(MPI_File handle, double began, int code, const dropin_passed *call) {
    if (!timed)
        return;
    const dropin_file *file = dropin_files_find(handle);
    double seconds = MPI_Wtime() - began;
    MPI_Count size = 0, bytes = 0;
    counts one = {0};
    if (code == MPI_SUCCESS && MPI_Type_size_x(call->type, &size) == MPI_SUCCESS &&
        __builtin_mul_overflow(call->count, size, &bytes))
        bytes = 0;
    sago_report_passed(file && file->path ? file->path : "(unknown)", call->together, call->write, bytes, seconds);
    if (call->together)
        return; /* dropin_count_handed() has */
    one.independent[call->write] = 1;
    count(NULL, &one);
}

void dropin_count_alone(bool write, MPI_Count bytes) {
    counts one = {0};
    one.alone[write] = 1;
    one.bytes[write] = bytes;
    count(NULL, &one);
}

void dropin_count_handed(const dropin_file *file, dropin_reason reason) {
    counts one = {0};
    sago_report_note(file && file->path ? file->path : "(unknown)", reasons[reason].words, !file || file->first);
    one.handed[reason] = 1;
    count(file, &one);
}

void dropin_count_served(const dropin_file *file, bool write, MPI_Count bytes, double start) {
    if (!dropin_reports())
        return;
    counts one = {0};
    one.calls[write] = 1;
    one.bytes[write] = bytes;
    count(file, &one);
    (void)pthread_mutex_lock(&lock);
    spent.calls[write] += MPI_Wtime() - start;
    (void)pthread_mutex_unlock(&lock);
}

void dropin_count_close(const dropin_file *file) {
    sago_stats stats = SAGO_STATS_INIT;
    if (!dropin_reports() || sago_get_stats(file->sago, &stats) != SAGO_OK)
        return;
    counts more = {.deferred = stats.deferred_writes, .flush_steps = stats.flush_steps};
    memcpy(more.flushes, stats.flushes, sizeof more.flushes);
    memcpy(more.routes, stats.routes, sizeof more.routes);
    count(file, &more);
    (void)pthread_mutex_lock(&lock);
    for (int i = 0; i < SAGO_PHASE_COUNT; i++)
        spent.phase[i] += stats.phase[i].seconds;
    (void)pthread_mutex_unlock(&lock);
}

/* ---- Telling ---- */

static const char *const verb[] = {"read", "write"};

static const char *plural(int64_t n) { return n == 1 ? "" : "s"; }

static void print_routes(FILE *out, const counts *job) {
    const char *before = "sago: calls of Sago's by route:";
    for (int i = 0; i < SAGO_ROUTE_COUNT; i++)
        if (job->routes[i]) {
            fprintf(out, "%s %s %" PRId64, before, sago_route_string((sago_route)i), job->routes[i]);
            before = ",";
        }
    if (*before == ',')
        fprintf(out, "\n");
}

static void print_summary(FILE *out, const counts *job, const times *longest, int ranks) {
    fprintf(out, "sago: %d rank%s, %" PRId64 " file%s opened, %" PRId64 " taken\n", ranks, plural(ranks),
            job->files, plural(job->files), job->files_taken);
    for (int i = 1; i >= 0; i--) {
        double seconds = longest->calls[i], mib = (double)job->bytes[i] / (1 << 20);
        fprintf(out, "sago: %" PRId64 " collective %s%s, %.1f MiB in %.3f s (%.0f MiB/s)\n", job->calls[i],
                verb[i], plural(job->calls[i]), mib, seconds, seconds > 0 ? mib / seconds : 0);
    }
    if (job->independent[0] || job->independent[1])
        fprintf(out,
                "sago: the program itself made %" PRId64 " independent write%s and %" PRId64
                " read%s, which are the MPI library's\n",
                job->independent[1], plural(job->independent[1]), job->independent[0],
                plural(job->independent[0]));
    if (job->alone[0] || job->alone[1])
        fprintf(out, "sago: %" PRId64 " independent write%s and %" PRId64 " read%s by GIO's interface\n",
                job->alone[1], plural(job->alone[1]), job->alone[0], plural(job->alone[0]));
    if (job->deferred)
        fprintf(out, "sago: %" PRId64 " writes deferred, moved in %" PRId64 " steps\n", job->deferred,
                job->flush_steps);
    print_routes(out, job);
    fprintf(out, "sago: seconds by phase, slowest rank:");
    for (int i = 0; i < SAGO_PHASE_COUNT; i++)
        fprintf(out, " %s %.3f", sago_phase_string((sago_phase)i), longest->phase[i]);
    fprintf(out, "\n");
    for (int i = 1; i < DROPIN_REASON_COUNT; i++)
        if (job->handed[i])
            fprintf(out, "sago: %" PRId64 " calls handed to MPI: %s\n", job->handed[i], reasons[i].words);
}

static void print_counts(FILE *out, const counts *all) {
    fprintf(out, "\"files\": %" PRId64 ", \"files_taken\": %" PRId64, all->files, all->files_taken);
    for (int i = 0; i < 2; i++)
        fprintf(out,
                ",\n \"%ss\": %" PRId64 ", \"%s_bytes\": %" PRId64 ", \"independent_%ss\": %" PRId64
                ", \"gio_independent_%ss\": %" PRId64,
                verb[i], all->calls[i], verb[i], all->bytes[i], verb[i], all->independent[i], verb[i],
                all->alone[i]);
    fprintf(out, ",\n \"deferred\": %" PRId64 ", \"flush_steps\": %" PRId64 ", \"flushes\": {", all->deferred,
            all->flush_steps);
    for (int i = 0; i < SAGO_FLUSH_COUNT; i++)
        fprintf(out, "%s\"%s\": %" PRId64, i ? ", " : "", sago_flush_string((sago_flush)i), all->flushes[i]);
    fprintf(out, "},\n \"routes\": {");
    for (int i = 0; i < SAGO_ROUTE_COUNT; i++)
        fprintf(out, "%s\"%s\": %" PRId64, i ? ", " : "", sago_route_string((sago_route)i), all->routes[i]);
    fprintf(out, "},\n \"handed\": {");
    for (int i = 1; i < DROPIN_REASON_COUNT; i++)
        fprintf(out, "%s\"%s\": %" PRId64, i > 1 ? ", " : "", reasons[i].name, all->handed[i]);
    fprintf(out, "}");
}

/* What the summary says, and then what was counted by all ranks together. */
static void print_json(FILE *out, const counts *job, const counts *all, const times *longest, int ranks) {
    fprintf(out, "{\"ranks\": %d, ", ranks);
    print_counts(out, job);
    for (int i = 0; i < 2; i++)
        fprintf(out, ",\n \"%s_seconds\": %.6f", verb[i], longest->calls[i]);
    fprintf(out, ",\n \"phases\": {");
    for (int i = 0; i < SAGO_PHASE_COUNT; i++)
        fprintf(out, "%s\"%s\": %.6f", i ? ", " : "", sago_phase_string((sago_phase)i), longest->phase[i]);
    fprintf(out, "},\n \"all_ranks\": {");
    print_counts(out, all);
    fprintf(out, "}}\n");
}

/* Files and calls of the job: what all ranks of a file do together counts once, bytes and what each does alone are
 * added up. */
static counts of_job(const totals *all) {
    counts job = all->led;
    memcpy(job.bytes, all->counted.bytes, sizeof job.bytes);
    memcpy(job.independent, all->counted.independent, sizeof job.independent);
    memcpy(job.alone, all->counted.alone, sizeof job.alone);
    return job;
}

/* In one piece, which comes between the lines of other ranks, not into them. */
static void write_summary(const counts *job, const times *longest, int ranks) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return;
    print_summary(out, job, longest, ranks);
    if (fclose(out) == 0) {
        (void)fflush(stderr);
        if (write(STDERR_FILENO, text, size) < 0)
            clearerr(stderr); /* there is nobody to tell */
    }
    free(text);
}

static void tell(const totals *all, const times *longest, int ranks) {
    counts job = of_job(all);
    if (strncmp(wanted, "json:", 5) != 0) {
        write_summary(&job, longest, ranks);
        return;
    }
    FILE *out = fopen(wanted + 5, "w");
    if (!out)
        return;
    print_json(out, &job, &all->counted, longest, ranks);
    (void)fclose(out);
}

void dropin_join_report(MPI_Comm comm) {
    if (getenv("SAGO_REPORT") || getenv("SAGO_TRACE"))
        (void)sago_report_begin(comm);
}

void dropin_report(void) {
    totals all = {0};
    times longest = {{0}, {0}};
    int rank = 0, ranks = 1, initialized = 0;
    (void)MPI_Initialized(&initialized);
    if (initialized)
        dropin_join_report(MPI_COMM_WORLD); /* whatever the program did with files */
    if (!dropin_reports() || !initialized)
        return;
    if (!dropin_present(MPI_COMM_WORLD)) /* who has no Sago has counted nothing, and has told so */
        return;
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    (void)MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    (void)MPI_Reduce(&mine, &all, sizeof all / sizeof(int64_t), MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    (void)MPI_Reduce(&spent, &longest, sizeof longest / sizeof(double), MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        tell(&all, &longest, ranks);
}
