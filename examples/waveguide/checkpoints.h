/* Everything the waveguide does with Sago: what is saved, when, how a run goes on from it, and a line of figures
 * for every checkpoint. */
#ifndef WAVEGUIDE_CHECKPOINTS_H
#define WAVEGUIDE_CHECKPOINTS_H

#include <sago/ckpt.h>

#include "fields.h"
#include "options.h"

/* What belongs to the run and is the same on all ranks. */
typedef struct run_record {
    int64_t cells, length, waves, m, n;
    int64_t steps_done;
} run_record;

typedef struct checkpoints {
    sago_ckpt *ckpt;
    const domain *domain;
    run_record record;
    int64_t printed;      /* the newest step whose line has been printed */
    double own_held;      /* seconds this rank was held in saves */
    double held;          /* the same of the slowest rank, save by save */
    double write;         /* seconds from opening the files to closing them */
    int64_t saves, bytes; /* sums over all ranks */
} checkpoints;

/* Collective.  Opens the directory in a mode and protects the field.  Errors end the program. */
void checkpoints_open(checkpoints *c, fields *f, const options *o, const char *directory, const char *mode);

/* Collective.  Restores the newest checkpoint; returns its step, 0 if there is none. */
int64_t checkpoints_restart(checkpoints *c);

/* Collective.  Saves after `step`, and prints the lines of checkpoints that have been written meanwhile. */
void checkpoints_save(checkpoints *c, int64_t step);

/* Collective.  Is it time for one?  Every n steps, or whenever Sago says so; *leave: the job is about to end. */
int checkpoints_due(checkpoints *c, const options *o, int64_t step, int *leave);

/* Collective.  Waits until everything is written, prints what is left to print, and closes. */
void checkpoints_close(checkpoints *c);

#endif
