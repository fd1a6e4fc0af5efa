/* What `sago plan` plans for: a machine, described or this one, and the shape of a pattern on it. */
#ifndef TOOLS_PLAN_INPUT_H
#define TOOLS_PLAN_INPUT_H

#include "bench/params.h"
#include "machine/discover.h"
#include "plan/plan.h"
#include "plan/route.h"

/* How the pattern's calls are made. */
typedef enum { PLAN_COLLECTIVE, PLAN_NONBLOCKING, PLAN_DECLARED, PLAN_INDEPENDENT } plan_kind;

typedef struct plan_config {
    const bench_pattern *pattern;
    bench_params params;
    int64_t nodes; /* 0: this machine, or the whole described one */
    int64_t ranks, cores, memory;
    int64_t stripe_unit, stripe_count;
    int64_t pace;        /* bytes a second that nodes took when data was gathered; 0: not known */
    const char *dir;     /* directory on the file system of the file; NULL: the file system is not known */
    const char *machine; /* path of a description; NULL: none */
    const char *svg;     /* path of a picture to be drawn; NULL: none */
    bool read, json, explain, scale;
    plan_kind kind;
    bool extents;     /* the calls list their runs, and use no view */
    bool sparse;      /* the file has holes */
    int64_t accessed; /* earlier accesses of each rank to its part */
    bool calls;       /* each call of a step is looked at by itself */
    int64_t call;     /* number of that call; declared variables are looked at together */
    sagoi_hints hints;
} plan_config;

/* Everything that a plan is a function of. */
typedef struct plan_input {
    sagoi_description description; /* the machine of --machine */
    sagoi_surroundings found;      /* the machine of a batch job */
    sagoi_node *nodes;             /* owned, as are the arrays below */
    sagoi_node_shape *shapes;
    int64_t *histogram;
    sagoi_node_period *periods;
    int64_t rank_runs, most_runs; /* runs of the rank that is looked at; the most of any rank so far */
    int64_t rank_calls, rank_end; /* calls of that rank so far, and where the last one ended */
    sagoi_machine machine;
    sagoi_shape shape;
    sagoi_target target;
    sagoi_route_file file;                     /* without what views and stages set */
    bool local, in_memory;                     /* the file system */
    sagoi_first_access first;                  /* of the file, where that access makes the rule */
    int64_t *first_bytes;                      /* of that access, for each node */
    char subfiles_why[SAGOI_SUBFILES_WHY_MAX]; /* one line: how many subfiles there are, and why */
} plan_input;

/* Options that `sago plan` and `sago sim` have in common, for their tables; the target begins with a plan_config.
 */
bool plan_set_hint(void *target, const char *value, char *why);                    /* --hint KEY=VALUE */
bool plan_set_declared(void *target, const char *value, char *why);                /* --declared on|off */
bool plan_set_param(void *target, const char *name, const char *value, char *why); /* a size of the pattern */

/* The calls of a step that are looked at together. */
int64_t plan_first_call(const plan_config *config);
int64_t plan_last_call(const plan_config *config, const bench_access *access); /* one past it */

/* Completes the configuration by defaults.  false: `why` says what is wrong. */
bool plan_input_make(plan_config *config, plan_input *input, char *why);
void plan_input_cleanup(plan_input *input); /* fine on a zeroed struct */

#endif
