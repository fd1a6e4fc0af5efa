/* What Sago did for this program: counted here; added up and reported by the library (sago/report.h) when rank
 * 0 is in MPI_Finalize.
 *
 * SAGO_STATS=off (default), summary (on stderr) or json:FILE; the same on all ranks.  Text and JSON count files
 * and calls of the job; "all_ranks" in JSON also counts what every rank opened and called. */
#ifndef DROPIN_REPORT_H
#define DROPIN_REPORT_H

#include <stdbool.h>

#include <sago/report.h>
#include <sago/sago.h>

/* Why a collective call was handed to the MPI library: identifier, name in JSON, and words in the summary, which
 * also tell what to change, if anything can be changed. */
#define DROPIN_REASONS(X)                                                                                         \
    X(SERVED, "served", "served")                                                                                 \
    X(UNKNOWN, "unknown_handle", "unknown file handle")                                                           \
    X(PREFIX, "prefix", "file name with a prefix, which can be left out")                                         \
    X(SEQUENTIAL, "sequential", "MPI_MODE_SEQUENTIAL, without which Sago serves it")                              \
    X(SPECIAL_FILE, "special_file", "not a regular file")                                                         \
    X(HINTS, "hints", "hints or paths that are wrong or differ between ranks")                                    \
    X(NOT_OPENED, "not_opened", "Sago could not open the file")                                                   \
    X(ABSENT, "absent", "Sago cannot be loaded on every rank")                                                    \
    X(REPRESENTATION, "representation", "data representation other than native")                                  \
    X(VIEW, "view", "file view")                                                                                  \
    X(ATOMIC, "atomic", "atomic mode, needed only where ranks write to the same bytes")                           \
    X(SHARED_POINTER, "shared_pointer", "shared file pointer; explicit offsets are served")                       \
    X(TOO_MUCH, "memory", "beyond what Sago can do, or its memory")

typedef enum {
#define DROPIN_ENUM(id, name, words) DROPIN_##id,
    DROPIN_REASONS(DROPIN_ENUM)
#undef DROPIN_ENUM
        DROPIN_REASON_COUNT
} dropin_reason;

struct dropin_file;
struct dropin_access;

/* Must be called before anything else. */
void dropin_begin_report(void);

/* Will there be statistics at the end? */
bool dropin_reports(void);

/* Seconds if the times of calls are wanted, else 0. */
double dropin_clock(void);

/* Ends a call around reads and writes (sago/report.h) that began at that time, by dropin_clock(); returns
 * `code`. */
int dropin_count_around(int call, double began, int code);

/* `file` may be NULL: Sago does not know the file. */
void dropin_count_open(const struct dropin_file *file);
/* Takes the count back: Sago has not taken the file after all. */
void dropin_count_refused(const struct dropin_file *file);
void dropin_count_close(const struct dropin_file *file);
void dropin_count_served(const struct dropin_file *file, bool write, MPI_Count bytes, double start);
void dropin_count_alone(bool write,
                        /* Counts an independent call that Sago served, through GIO's interface. */
                        MPI_Count bytes);

/* Called after a call that the MPI library was given, which began at `began`, by dropin_clock(), and ended with
 * `code`. */
void dropin_count_passed(MPI_File handle, double began, int code, const struct dropin_access *call, bool together);
void dropin_count_handed(const struct dropin_file *file, dropin_reason reason);

/* Collective: begins the report of SAGO_REPORT, if the environment, which is the same on all ranks, asks for
 * one. */
void dropin_join_report(MPI_Comm comm);

/* Collective over MPI_COMM_WORLD, while MPI still runs: prepares the report in MPI_Finalize. */
void dropin_report(void);

#endif
