/* What the actions of `sago ckpt` share. */
#ifndef TOOLS_CKPT_H
#define TOOLS_CKPT_H

#include <sago/ckpt.h>
#include <stdbool.h>

enum { CKPT_STEPS_MAX = 1000, CKPT_HINTS_MAX = 32, CKPT_ARRAYS_MAX = 100, CKPT_TEXT_MAX = 32 };

/* The command line, and the directory while it is open. */
typedef struct ckpt_command {
    const char *action, *dir;
    int64_t nsteps, steps[CKPT_STEPS_MAX]; /* steps that were asked for; none: the action decides */
    int nhints;
    const char *hints[CKPT_HINTS_MAX]; /* KEY=VALUE */
    bool json, force, remove, damaged;
    int64_t keep;       /* rm: number of steps to keep; -1: not given */
    const char *format; /* export: vtk, vti or raw; dump: text or csv */
    const char *slice;  /* dump: "0:10,:,3"; NULL: the whole array */
    bool statistics;    /* dump: statistics of the named arrays instead of their elements */
    const char *output; /* export: how the names of the files begin; NULL: step-N */
    int narrays;
    const char *arrays[CKPT_ARRAYS_MAX]; /* export: the arrays; none: all arrays */

    int rank, ranks;
    bool speaks; /* rank 0 */
    sago_ckpt *ckpt;
    int64_t count; /* number of all steps */
    sago_ckpt_step *all;
} ckpt_command;

/* Each action returns the exit status. */
int ckpt_ls(ckpt_command *c);
int ckpt_show(ckpt_command *c);
int ckpt_verify(ckpt_command *c);
int ckpt_repair(ckpt_command *c);
int ckpt_drain(ckpt_command *c);
int ckpt_export(ckpt_command *c);
int ckpt_dump(ckpt_command *c);
int ckpt_rm(ckpt_command *c);

/* Finds a step by its number; after NULL the error was printed. */
const sago_ckpt_step *ckpt_find(const ckpt_command *c, int64_t step);
/* Finds the steps that were asked for, or all steps; false: one is not there, and the error was printed. */
bool ckpt_choose(ckpt_command *c);
/* The newest complete step; NULL: there is none. */
const sago_ckpt_step *ckpt_newest(const ckpt_command *c);
/* "complete", "damaged" or "incomplete". */
const char *ckpt_state(const sago_ckpt_step *step);
/* Is the step complete at any level? */
bool ckpt_is_complete(const sago_ckpt_step *step);

/* Prints "sago ckpt: what Sago says" on one rank; returns false. */
bool ckpt_complain(const ckpt_command *c);
/* Shows on a terminal what is being done, as number `i` of `n`; "" clears the line. */
void ckpt_progress(const ckpt_command *c, const char *what, int64_t i, int64_t n);

/* Print "12.3 MiB" and "2026-11-15 08:30:00". */
const char *ckpt_time_text(int64_t seconds, char text[CKPT_TEXT_MAX]);

#endif
