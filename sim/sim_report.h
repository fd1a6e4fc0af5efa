/* What `sago sim` prints and draws. */
#ifndef SIM_REPORT_H
#define SIM_REPORT_H

#include <stdio.h>

#include "sim/sim_engine.h"
#include "sim/replay.h"

enum { SIM_ENGINES_MAX = 16 };

typedef struct sim_result {
    sim_course course;
    sim_outcome outcome;     /* sums over all calls */
    double requests, joined; /* runs of all ranks; runs that are left when local aggregators have joined them */
    int64_t calls;           /* calls that were simulated */
    double wall;             /* seconds that the simulation took */
} sim_result;

void sim_report_text(const sim_case *c, const sim_result *result, int64_t count, FILE *out);
void sim_report_json(const sim_case *c, const sim_result *result, int64_t count, FILE *out);
/* A timeline: some aggregators and nodes of each engine. */
void sim_report_svg(const sim_case *c, const sim_result *result, int64_t count, FILE *out);

#endif
