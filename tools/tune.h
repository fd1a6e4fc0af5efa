/* What `sago tune` measures. */
#ifndef TOOLS_TUNE_H
#define TOOLS_TUNE_H

#include "bench/world.h"
#include "machine/site.h"

enum { TUNE_SIZES = 8, TUNE_WHY_MAX = 400, TUNE_WRITERS = 12 };

typedef struct tune_plan {
    bench_world world;
    MPI_Comm leaders; /* MPI_COMM_NULL on other ranks */
    int64_t node;     /* number of this rank's node */
    const char *dir;  /* where the storage is measured */
    bool quick;
    char why[TUNE_WHY_MAX];
} tune_plan;

/* Tell what is being measured, on standard error, and what was found, on standard output; called on rank 0
 * only. */
void tune_progress(const tune_plan *plan, const char *format, ...) __attribute__((format(printf, 2, 3)));
void tune_found(const tune_plan *plan, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Both are collective, and fill in what they find: levels and links; io and tuned.  false: plan->why, equal on all
 * ranks. */
bool tune_network(tune_plan *plan, sagoi_site *site);
bool tune_store(tune_plan *plan, sagoi_site *site);

/* Rounds to three digits, since more would only look exact. */
double tune_round(double value);

/* "2.0 GiB/s", for people. */
typedef struct tune_text {
    char text[48];
} tune_text;
tune_text tune_rate(double rate);

#endif
