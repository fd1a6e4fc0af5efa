/* The table of costs, and where each number is from. */
#include "sim/costs.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "bench/patterns.h"

enum { MACHINES = 6 };
static const char *const machines[MACHINES] = {"cluster", "theta", "mira", "intrepid", "jaguar", "xeon-ddr"};
/* Where a machine is described under more names than one. */
static const char *const same_as[][2] = {{"mira-1024", "mira"}, {"vcluster", "cluster"}};

#define FIELD(name) #name, offsetof(sim_costs, name)
#define FITTED(m) (1u << (m))
enum { CLUSTER, THETA, MIRA, INTREPID, JAGUAR, XEON };

static const struct {
    const char *name;
    size_t field;
    const char *unit;
    double value[MACHINES];
    unsigned fitted;
    const char *source;
} rows[] = {
    {FIELD(send),
     "s",
     {2e-6, 2e-6, 2e-6, 4e-6, 1e-6, 1e-6},
     0,
     "half of what small messages take one way, less the wire: Theta 3.5 us between KNL cores, BG/P 3 us and 850 "
     "MHz"},
    {FIELD(receive),
     "s",
     {2e-6, 3e-6, 3e-6, 4e-6, 1e-6, 1e-6},
     FITTED(THETA),
     "as send; receiving does the matching"},
    {FIELD(match),
     "s",
     {5e-9, 1e-8, 1e-8, 2e-8, 5e-9, 5e-9},
     FITTED(THETA),
     "an entry of the queue of posted receives that is looked at: one cache miss in a few"},
    {FIELD(run),
     "s",
     {1e-8, 1e-7, 1e-7, 1.5e-7, 4e-8, 3e-8},
     FITTED(CLUSTER),
     "`sago bench e3sm-f` on one node with cold caches, 2e-8, times the clocks' and issue widths' ratio, 5 for "
     "KNL "
     "and A2"},
    {FIELD(compare), "s", {6e-9, 3e-8, 3e-8, 4e-8, 1e-8, 8e-9}, 0, "as run: a heap's comparison and exchange"},
    {FIELD(copy),
     "B/s",
     {4.8e9, 2.5e9, 1.5e9, 1.1e8, 8e7, 3e9},
     FITTED(CLUSTER) | FITTED(INTREPID) | FITTED(JAGUAR),
     "one core's memcpy of what is not in its cache; Intrepid and Jaguar: what a writer receives from its group, "
     "MPI included"},
    {FIELD(stack),
     "B/s",
     {2.5e9, 0, 0, 0, 0, 0},
     FITTED(CLUSTER),
     "TCP between namespaces: the kernel's copies and queues; elsewhere the network's interface does it"},
    {FIELD(memory), "B/s", {1e10, 4e10, 1e10, 3e9, 8e9, 1.2e10}, 0, "half of the nodes' published STREAM figures"},
    {FIELD(collective),
     "s",
     {3.8e-5, 8e-6, 5e-6, 6e-6, 5e-6, 5e-6},
     FITTED(CLUSTER),
     "send + receive + wire, doubled for noise; cluster: with the naps of ranks that wait"},
    {FIELD(call),
     "s",
     {1.1e-6, 4e-4, 5e-4, 2e-3, 1e-3, 1e-3},
     FITTED(CLUSTER),
     "a remote procedure call to the file's server; cluster: a system call with a few bytes"},
    {FIELD(seek),
     "s",
     {0, 0, 0, 0, 0, 0.021},
     FITTED(XEON),
     "the disks of a storage target that many streams share: between two requests each other stream's place is "
     "sought; elsewhere a part of the target's bandwidth"},
    {FIELD(lock),
     "s",
     {0, 1e-2, 5e-3, 5e-3, 1e-2, 1e-2},
     0,
     "assumed: revoking a lock writes the holder's data first"},
    {FIELD(in_turn),
     "",
     {0, 1, 0, 0, 1, 1},
     0,
     "Lustre: a target's server gives a node all of the file's object that nobody else has locked, so the next "
     "one "
     "has to have it taken back, one after another; GPFS's tokens are blocks'"},
    {FIELD(at_once),
     "",
     {0, 0, 0, 0, 0, 0},
     0,
     "FUSE without a cache holds the file's lock while a request is written: 1 there"},
    {FIELD(writer),
     "B/s",
     {2e9, 1.15e8, 4e8, 4.6e7, 1.24e8, 0},
     FITTED(CLUSTER) | FITTED(THETA) | FITTED(INTREPID) | FITTED(JAGUAR),
     "one process through the file system's client; Mira: assumed; cluster: a core that copies to pages of a "
     "tmpfs"},
    {FIELD(reader),
     "B/s",
     {8e9, 4e8, 5e8, 2e8, 2e8, 0},
     0,
     "the same, reading: assumed; cluster: measured, pread"},
    {FIELD(target_write),
     "B/s",
     {0, 1.739e9, 0, 3.7e8, 1.8e8, 1.4e8},
     FITTED(XEON),
     "Theta: FIVES' OST; Intrepid: 47 GB/s over 128 servers (002); Jaguar: 120 GB/s over 672 OSTs (002)"},
    {FIELD(target_read), "B/s", {0, 2.575e9, 0, 4.7e8, 1.8e8, 1.95e8}, FITTED(XEON), "the same, reading"},
    {FIELD(io_node),
     "B/s",
     {0, 0, 2.8e9, 6e8, 0, 0},
     0,
     "Mira: 89.6 GB/s over 32 I/O nodes (000); Intrepid: 10 Gbit/s Ethernet less what forwarding takes, assumed"},
    {FIELD(file),
     "B/s",
     {0, 0, 0, 1.7e9, 4e8, 0},
     FITTED(INTREPID) | FITTED(JAGUAR),
     "one file that all ranks write together: 52 GB in 30 and 132 s (002)"},
    {FIELD(payload),
     "",
     {0.94, 0.9, 1, 0.9, 0.9, 0.9},
     0,
     "TCP's headers; packets' headers elsewhere; Mira's 1.8 GB/s are payload"},
    {FIELD(open), "s", {1e-4, 5e-4, 1e-3, 1e-3, 5e-4, 5e-4}, 0, "2,000 creations a second and metadata server"},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

static double *field_of(sim_costs *costs, int r) { return (double *)((char *)costs + rows[r].field); }

static int machine_of(const char *name) {
    for (size_t i = 0; i < sizeof same_as / sizeof same_as[0]; i++)
        if (strcmp(same_as[i][0], name) == 0)
            name = same_as[i][1];
    for (int m = 0; m < MACHINES; m++)
        if (strcmp(machines[m], name) == 0)
            return m;
    return -1;
}

bool sim_costs_of(const char *machine, sim_costs *costs, sim_costs_origin *origin) {
    int m = machine_of(machine);
    if (m < 0)
        return false;
    for (int r = 0; r < ROWS; r++)
        *field_of(costs, r) = rows[r].value[m];
    *origin = (sim_costs_origin){.of = machines[m]};
    (void)snprintf(origin->text, sizeof origin->text, "%s", machines[m]);
    return true;
}

static bool take(double *cost, double said) {
    if (said > 0)
        *cost = said;
    return said > 0;
}

/* What the description says in its line `process`; false: nothing. */
static bool take_process(const sagoi_topology *t, sim_costs *costs) {
    bool said = take(&costs->send, t->message) && take(&costs->receive, t->message);
    said = take(&costs->copy, t->copy) || said;
    said = take(&costs->run, t->run) || said;
    if (take(&costs->writer, t->writer) && take(&costs->reader, t->writer))
        said = true;
    said = take(&costs->reader, t->reader) || said;
    said = take(&costs->call, t->request) || said;
    if (take(&costs->lock, t->lock) && take(&costs->in_turn, 1))
        said = true;
    return said;
}

void sim_costs_described(const sagoi_description *described, bool targets, sim_costs *costs,
                         sim_costs_origin *origin) {
    if (described && sim_costs_of(described->name, costs, origin))
        return;
    if (!sim_costs_of(machines[CLUSTER], costs, origin))
        return;
    origin->assumed = true;
    if (!described) {
        (void)snprintf(origin->text, sizeof origin->text, "assumed, those of %s: no machine is described",
                       origin->of);
        return;
    }
    const sagoi_topology *t = &described->topology;
    if (targets && take(&costs->target_write, t->io.bandwidth))
        (void)take(&costs->target_read, t->io_reading > 0 ? t->io_reading : t->io.bandwidth);
    (void)take(&costs->seek, t->seek);
    (void)take(&costs->file, t->file);
    origin->described = take_process(t, costs);
    if (origin->described) {
        costs->stack = 0; /* `copy` and `message` are what the network costs a process */
        (void)snprintf(origin->text, sizeof origin->text,
                       "the lines process and io of %s; all others assumed, those of %s", described->name,
                       origin->of);
    } else {
        (void)snprintf(origin->text, sizeof origin->text,
                       "assumed, those of %s: the description of %s has no line process", origin->of,
                       described->name);
    }
}

bool sim_costs_set(sim_costs *costs, const char *text, char *why) {
    const char *equals = strchr(text, '=');
    char *end;
    if (!equals)
        return bench_refuse(why, "--cost %s: must be NAME=NUMBER", text);
    double value = strtod(equals + 1, &end);
    if (*end || end == equals + 1 || !isfinite(value) || value < 0)
        return bench_refuse(why, "--cost %s: must be a number that is not negative", text);
    for (int r = 0; r < ROWS; r++)
        if (strlen(rows[r].name) == (size_t)(equals - text) &&
            !strncmp(rows[r].name, text, (size_t)(equals - text))) {
            *field_of(costs, r) = value;
            return true;
        }
    return bench_refuse(why, "--cost %s: no such cost; 'sago sim --costs' lists them", text);
}

void sim_costs_print(FILE *out) {
    fprintf(out, "| cost | unit |");
    for (int m = 0; m < MACHINES; m++)
        fprintf(out, " %s |", machines[m]);
    fprintf(out, " source |\n|---|---|---|---|---|---|---|---|---|\n");
    for (int r = 0; r < ROWS; r++) {
        fprintf(out, "| %s | %s |", rows[r].name, rows[r].unit);
        for (int m = 0; m < MACHINES; m++)
            fprintf(out, " %.4g%s |", rows[r].value[m], rows[r].fitted & FITTED(m) ? " *" : "");
        fprintf(out, " %s |\n", rows[r].source);
    }
    fprintf(out, "\n`*`: fitted, to a published result or, on the cluster, to the cells of docs/sim-validation.md "
                 "with 2 and 4 nodes.\n");
}
