/* `sago topo`: the machine that this job runs on, or a described one. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include <sago/sago.h>

#include "base/hints.h"
#include "bench/world.h"
#include "machine/discover.h"
#include "machine/memory.h"
#include "tools/command.h"
#include "tools/fold.h"
#include "tools/options.h"
#include "tools/topo.h"

typedef struct topo_config {
    const char *machine; /* NULL: this machine */
    const char *dirs;    /* directories to look at, with colons between them */
    const char *output;
    bool json, svg;
    sagoi_hints hints;
} topo_config;

#define FIELD(name) offsetof(topo_config, name)
static const tool_option table[] = {
    {"json", OPTION_FLAG, FIELD(json), 0, 0, NULL, "as JSON", NULL},
    {"svg", OPTION_FLAG, FIELD(svg), 0, 0, NULL, "as a picture", NULL},
    {"output", OPTION_TEXT, FIELD(output), 0, 0, "FILE", "write to a file (standard output)", NULL},
    {"dirs", OPTION_TEXT, FIELD(dirs), 0, 0, "DIR:DIR",
     "whose storage neighbourhoods to find (sago_local_dirs, and the current one)", NULL},
};
static const tool_options options = {table, sizeof table / sizeof table[0], NULL, NULL};

/* ---- Output ---- */

static void print_view(const void *view, FILE *out) { topo_print_text(view, out); }

static bool show(const topo_config *config, const topo_view *view) {
    FILE *out = config->output ? fopen(config->output, "w") : stdout;
    if (!out) {
        perror(config->output);
        return false;
    }
    if (config->svg)
        topo_print_svg(view, out);
    else if (config->json)
        topo_print_json(view, out);
    else if (config->output)
        topo_print_text(view, out);
    else
        fold_printed(print_view, view);
    bool good = fflush(out) == 0 && !ferror(out);
    if (config->output)
        good = fclose(out) == 0 && good;
    return good;
}

static int show_described(const topo_config *config) {
    sagoi_description d;
    if (sagoi_machine_load(config->machine, &d) != SAGO_OK)
        return usage_error("topo", "%s", sago_error_message());
    topo_view view = {
        .name = d.name, .source = "its description", .topology = &d.topology, .described = &d, .nodes = d.nodes};
    bool good = show(config, &view);
    sagoi_description_cleanup(&d);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* ---- This machine ---- */

typedef struct job {
    bench_world world;
    MPI_Comm leaders; /* MPI_COMM_NULL on other ranks */
    sagoi_surroundings found;
    int64_t *place;
    topo_node *node;  /* rank 0 */
    int32_t *node_of; /* for each rank; known on all ranks */
    topo_dir dir[TOPO_DIRS_MAX];
    int64_t dirs;
} job;

static topo_node ask_node(const bench_world *world) {
    topo_node mine;
    sagoi_node_name name;
    memset(&mine, 0, sizeof mine);
    sagoi_node_name_ask(&name);
    memcpy(mine.host, name.host, sizeof mine.host);
    mine.ranks = world->node_ranks;
    mine.inside = sagoi_inside_ask();
    mine.memory = sagoi_memory_available("");
    return mine;
}

/* Sets node_of[rank]; nodes are numbered by their first ranks, as the leaders are. */
static void number_nodes(job *j) {
    int mine = 0;
    if (j->leaders != MPI_COMM_NULL)
        MPI_Comm_rank(j->leaders, &mine);
    MPI_Bcast(&mine, 1, MPI_INT, 0, j->world.node);
    MPI_Allgather(&mine, 1, MPI_INT32_T, j->node_of, 1, MPI_INT32_T, j->world.comm);
}

/* Ranks of a neighbourhood know it by its lowest rank; rank 0 turns that into numbers from 0 on. */
static void number_shares(const job *j, topo_dir *dir, const int32_t *lowest) {
    dir->share = calloc((size_t)j->world.nodes, sizeof *dir->share);
    int32_t *number = calloc((size_t)j->world.ranks, sizeof *number);
    bool *seen = calloc((size_t)j->world.nodes, sizeof *seen);
    for (int rank = 0; dir->share && number && seen && rank < j->world.ranks; rank++) {
        if (lowest[rank] == rank)
            number[rank] = (int32_t)dir->shares++;
        int32_t node = j->node_of[rank], share = number[lowest[rank]];
        dir->divided = dir->divided || (seen[node] && dir->share[node] != share);
        dir->share[node] = share;
        seen[node] = true;
    }
    free(number);
    free(seen);
}

static int64_t count_operations(MPI_Comm shared) {
    sago_storage_stats cost = SAGO_STORAGE_STATS_INIT;
    if (sago_storage_get_stats(shared, &cost) != SAGO_OK)
        return 0;
    return cost.opens + cost.checks + cost.creates + cost.looks + cost.lists + cost.removes;
}

static void look_at_dir(job *j, const char *path) {
    topo_dir *dir = &j->dir[j->dirs++];
    MPI_Comm shared = MPI_COMM_NULL;
    snprintf(dir->path, sizeof dir->path, "%s", path);
    sago_status status = sago_comm_split_storage(j->world.comm, path, SAGO_STORAGE_AUTO, 0, &shared);
    if (status != SAGO_OK) {
        snprintf(dir->problem, sizeof dir->problem, "%.250s", sago_error_message());
        return;
    }
    dir->operations = count_operations(shared);
    int32_t lowest = j->world.rank, *all = calloc((size_t)j->world.ranks, sizeof *all);
    MPI_Allreduce(MPI_IN_PLACE, &lowest, 1, MPI_INT32_T, MPI_MIN, shared);
    MPI_Gather(&lowest, 1, MPI_INT32_T, all, 1, MPI_INT32_T, 0, j->world.comm);
    if (j->world.rank == 0 && all)
        number_shares(j, dir, all);
    MPI_Comm_free(&shared);
    free(all);
}

/* The hint wins over the site file; the current directory is looked at in any case. */
static void look_at_storage(job *j, const topo_config *config) {
    char list[SAGOI_HINT_TEXT_MAX], *rest = NULL;
    const char *dirs = config->dirs                  ? config->dirs
                       : config->hints.local_dirs[0] ? config->hints.local_dirs
                                                     : j->found.local_dirs;
    snprintf(list, sizeof list, "%s", dirs);
    for (char *path = strtok_r(list, ":", &rest); path && j->dirs < TOPO_DIRS_MAX - 1;
         path = strtok_r(NULL, ":", &rest))
        look_at_dir(j, path);
    look_at_dir(j, ".");
}

/* Prints on rank 0, which alone has a message after a failure. */
static sago_status discover(job *j, const topo_config *config) {
    sagoi_discover_options asked = {.machine = config->hints.machine,
                                    .site = config->hints.site,
                                    .slurm_conf = sagoi_environment("SLURM_CONF")};
    sagoi_node_name mine, *names = calloc((size_t)j->world.nodes, sizeof *names);
    char why[OPTION_WHY_MAX] = "no memory";
    int status = SAGO_ERR_MEMORY;
    if (bench_agree(&j->world, names != NULL, why)) {
        sagoi_node_name_ask(&mine);
        if (j->leaders != MPI_COMM_NULL)
            MPI_Gather(&mine, sizeof mine, MPI_BYTE, names, sizeof mine, MPI_BYTE, 0, j->leaders);
        if (j->world.rank == 0)
            status = sagoi_discover(&asked, j->world.nodes, names, &j->found, j->place);
        MPI_Bcast(&status, 1, MPI_INT, 0, j->world.comm);
        MPI_Bcast(&j->found, sizeof j->found, MPI_BYTE, 0, j->world.comm);
        MPI_Bcast(j->place, (int)j->world.nodes, MPI_INT64_T, 0, j->world.comm);
    }
    free(names);
    return (sago_status)status;
}

static void gather_nodes(job *j) {
    topo_node mine = ask_node(&j->world);
    if (j->leaders == MPI_COMM_NULL)
        return;
    MPI_Gather(&mine, sizeof mine, MPI_BYTE, j->node, sizeof mine, MPI_BYTE, 0, j->leaders);
    for (int64_t n = 0; j->world.rank == 0 && n < j->world.nodes; n++)
        j->node[n].place = j->place[n];
}

static bool job_init(job *j) {
    bench_world_init(&j->world);
    MPI_Comm_split(j->world.comm, j->world.node_rank == 0 ? 0 : MPI_UNDEFINED, j->world.rank, &j->leaders);
    j->place = calloc((size_t)j->world.nodes, sizeof *j->place);
    j->node = calloc((size_t)j->world.nodes, sizeof *j->node);
    j->node_of = calloc((size_t)j->world.ranks, sizeof *j->node_of);
    char why[OPTION_WHY_MAX] = "no memory";
    return bench_agree(&j->world, j->place && j->node && j->node_of, why);
}

static void job_cleanup(job *j) {
    for (int64_t i = 0; i < j->dirs; i++)
        free(j->dir[i].share);
    free(j->place);
    free(j->node);
    free(j->node_of);
    if (j->leaders != MPI_COMM_NULL)
        MPI_Comm_free(&j->leaders);
    bench_world_cleanup(&j->world);
}

static bool job_show(job *j, const topo_config *config) {
    if (discover(j, config) != SAGO_OK) {
        if (j->world.rank == 0)
            fprintf(stderr, "sago topo: %s\n", sago_error_message());
        return false;
    }
    gather_nodes(j);
    number_nodes(j);
    look_at_storage(j, config);
    topo_view view = {.name = j->found.machine[0] ? j->found.machine : "this machine",
                      .source = j->found.source,
                      .topology = &j->found.topology,
                      .tuned = j->found.tuned,
                      .nodes = j->world.nodes,
                      .node = j->node,
                      .dirs = j->dirs,
                      .dir = j->dir};
    bool good = j->world.rank != 0 || show(config, &view);
    char why[OPTION_WHY_MAX] = "";
    return bench_agree(&j->world, good, why);
}

static int show_discovered(const topo_config *config) {
    job *j = calloc(1, sizeof *j);
    MPI_Init(NULL, NULL);
    bool good = j && job_init(j) && job_show(j, config);
    if (j)
        job_cleanup(j);
    free(j);
    MPI_Finalize();
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

static void print_help(void) {
    fold_help(stdout, "usage: [mpiexec -n N] sago topo [MACHINE] [options]\n"
                      "\n"
                      "Shows the machine: its network, nodes, memory and storage.  MACHINE is a description "
                      "(a name as theta, or the path of a .sago file); without it, what is found of the "
                      "machine this runs on.  By mpiexec: of all its nodes.\n"
                      "\n");
    options_help(&options, stdout);
}

int cmd_topo(int argc, char **argv) {
    topo_config config = {.machine = NULL};
    char why[OPTION_WHY_MAX];
    if (command_helped(argc, argv, print_help))
        return EXIT_SUCCESS;
    int first = 1;
    if (argc > 1 && argv[1][0] != '-')
        config.machine = argv[first++];
    if (sagoi_hints_init(&config.hints) != SAGO_OK)
        return usage_error("topo", "%s", sago_error_message());
    if (!options_parse(&options, first, argc, argv, &config, why))
        return usage_error("topo", "%s", why);
    if (config.json && config.svg)
        return usage_error("topo", "--json and --svg: one of them");
    if (config.machine)
        return command_speaks() ? show_described(&config) : EXIT_SUCCESS;
    return show_discovered(&config);
}
