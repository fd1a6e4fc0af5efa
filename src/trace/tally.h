/* The statistics of SAGO_STATS in this process.  Sago counts the files that the program opens by Sago's calls; a
 * layer above, such as the drop-in, counts the files that it opens. */
#ifndef SAGOI_TALLY_H
#define SAGOI_TALLY_H

#include <sago/stats.h>
#include <stdbool.h>
#include <stdio.h>

typedef struct sagoi_tally {
    sago_report_counts counted; /* counts of this rank; or sums over all ranks, with the times of the slowest */
    sago_report_counts
        once; /* counts of the files whose first rank this is, so that a collective call counts once */
} sagoi_tally;

/* Says that there is a layer above; `reasons` are pairs (name, words) why that layer passes files on to the MPI
 * library.  They are not copied. */
void sagoi_tally_layer(const char *const (*reasons)[2], int count);
bool sagoi_tally_has_layer(void);

void sagoi_tally_add(const sago_report_counts *more, bool once);
sagoi_tally sagoi_tally_now(void);

/* The checkpoints of the job, from its record. */
typedef struct sagoi_tally_saves {
    int64_t count, bytes;
    double held;
    bool newest; /* there may have been more checkpoints; these are the newest */
} sagoi_tally_saves;

void sagoi_tally_print(FILE *out, const sagoi_tally *all, int64_t ranks, const sagoi_tally_saves *saves);
void sagoi_tally_json(FILE *out, const sagoi_tally *all, int64_t ranks, const sagoi_tally_saves *saves);

#endif
