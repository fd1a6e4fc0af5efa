#include "dropin_report.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "mpi_access.h"
#include "mpi_files.h"
#include "foresee.h"

static pthread_once_t asked = PTHREAD_ONCE_INIT;
static bool wanted; /* SAGO_STATS */
static bool timed;  /* the times of calls are wanted, for SAGO_STATS or SAGO_REPORT */

static void ask(void) {
    const char *value = getenv("SAGO_STATS");
    wanted = value && (strcmp(value, "summary") == 0 || strncmp(value, "json:", 5) == 0);
    timed = wanted || getenv("SAGO_REPORT");
}

bool dropin_reports(void) {
    (void)pthread_once(&asked, ask);
    return wanted;
}

/* ---- Counting ---- */

static const char *const reasons[][2] = {
#define ROW(id, name, words) {name, words},
    DROPIN_REASONS(ROW)
#undef ROW
};
_Static_assert((int)DROPIN_REASON_COUNT <= (int)SAGO_REPORT_REASONS, "all reasons can be counted");

void dropin_begin_report(void) { sago_report_layer(reasons, DROPIN_REASON_COUNT); }

double dropin_clock(void) {
    (void)pthread_once(&asked, ask);
    return timed ? MPI_Wtime() : 0;
}

int dropin_count_around(int call, double began, int code) {
    if (timed) /* Open MPI's clock begins at 0 */
        sago_report_around(call, MPI_Wtime() - began);
    return code;
}

static void count(const dropin_file *file, const sago_report_counts *more) {
    if (dropin_reports())
        sago_report_count(more, !file || file->first);
}

void dropin_count_open(const dropin_file *file) {
    sago_report_counts one = SAGO_REPORT_COUNTS_INIT;
    one.files = 1;
    one.files_taken = file && (file->sago || file->late);
    count(file, &one);
}

void dropin_count_refused(const dropin_file *file) {
    sago_report_counts one = SAGO_REPORT_COUNTS_INIT;
    one.files_taken = -1;
    count(file, &one);
}

void dropin_count_passed(MPI_File handle, double began, int code, const dropin_access *call, bool together) {
    if (!timed)
        return;
    const dropin_file *file = dropin_files_find(handle);
    double seconds = MPI_Wtime() - began;
    MPI_Count size = 0, bytes = 0;
    sago_report_counts one = SAGO_REPORT_COUNTS_INIT;
    if (code == MPI_SUCCESS && MPI_Type_size_x(call->type, &size) == MPI_SUCCESS &&
        __builtin_mul_overflow(call->count, size, &bytes))
        bytes = 0;
    sago_report_passed(file && file->path ? file->path : "(unknown)", together, call->write, bytes, seconds);
    if (together)
        return; /* dropin_count_handed() has counted it */
    one.independent[call->write] = 1;
    count(NULL, &one);
}

void dropin_count_alone(bool write, MPI_Count bytes) {
    sago_report_counts one = SAGO_REPORT_COUNTS_INIT;
    one.alone[write] = 1;
    one.bytes[write] = bytes;
    count(NULL, &one);
}

void dropin_count_handed(const dropin_file *file, dropin_reason reason) {
    sago_report_counts one = SAGO_REPORT_COUNTS_INIT;
    sago_report_note(file && file->path ? file->path : "(unknown)", reasons[reason][1], !file || file->first);
    one.handed[reason] = 1;
    count(file, &one);
}

void dropin_count_served(const dropin_file *file, bool write, MPI_Count bytes, double start) {
    if (!dropin_reports())
        return;
    sago_report_counts one = SAGO_REPORT_COUNTS_INIT;
    one.calls[write] = 1;
    one.bytes[write] = bytes;
    one.seconds[write] = MPI_Wtime() - start;
    count(file, &one);
}

void dropin_count_close(const dropin_file *file) {
    sago_stats stats = SAGO_STATS_INIT;
    if (!dropin_reports() || sago_get_stats(file->sago, &stats) != SAGO_OK)
        return;
    sago_report_counts more = SAGO_REPORT_COUNTS_INIT;
    more.deferred = stats.deferred_writes;
    more.flush_steps = stats.flush_steps;
    memcpy(more.flushes, stats.flushes, sizeof more.flushes);
    memcpy(more.routes, stats.routes, sizeof more.routes);
    for (int i = 0; i < SAGO_PHASE_COUNT; i++)
        more.phase[i] = stats.phase[i].seconds;
    count(file, &more);
}

/* ---- Telling ---- */

void dropin_join_report(MPI_Comm comm) {
    if (getenv("SAGO_REPORT") || getenv("SAGO_TRACE"))
        (void)sago_report_begin(comm);
}

/* Reported in any case, whatever the program did with files. */
void dropin_report(void) {
    int initialized = 0;
    (void)MPI_Initialized(&initialized);
    if (!initialized || !(dropin_reports() || getenv("SAGO_REPORT") || getenv("SAGO_TRACE")))
        return;
    if (dropin_present(MPI_COMM_WORLD)) /* a rank without Sago has counted nothing, and has said so */
        (void)sago_report_begin(MPI_COMM_WORLD);
}
