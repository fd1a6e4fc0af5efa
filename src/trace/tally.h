/* The statistics of SAGO_STATS: counted in this process, by Sago for files that the program opens by its calls, by
 * a layer above, as the drop-in is one, for the files of that.  One printer for both, as text and as JSON. */
#ifndef SAGOI_TALLY_H
#define SAGOI_TALLY_H

#include <sago/stats.h>
#include <stdbool.h>
#include <stdio.h>

typedef struct sagoi_tally {
    sago_report_counts counted; /* by this rank; or by all, and times of the slowest */
    sago_report_counts led;     /* where this rank is the first of the file's: so a collective call counts once */
} sagoi_tally;

/* A layer is there, and these are its reasons (name, words) not to use Sago; they are not copied. */
void sagoi_tally_layer(const char *const (*reasons)[2], int count);
bool sagoi_tally_has_layer(void);

void sagoi_tally_add(const sago_report_counts *more, bool led);
sagoi_tally sagoi_tally_now(void);

/* Checkpoints of the job, from its record. */
typedef struct sagoi_tally_saves {
    int64_t count, bytes;
    double held;
    bool newest; /* there may have been more: these are the newest ones */
} sagoi_tally_saves;

void sagoi_tally_print(FILE *out, const sagoi_tally *all, int64_t ranks, const sagoi_tally_saves *saves);
void sagoi_tally_json(FILE *out, const sagoi_tally *all, int64_t ranks, const sagoi_tally_saves *saves);

#endif
