/* `sago tune`: measures the system at hand, writes the site file, and tells what has changed. */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sago/sago.h>

#include "base/hints.h"
#include "bench/progress.h"
#include "tools/command.h"
#include "tools/fold.h"
#include "tools/options.h"
#include "tools/tune.h"
#include "trace/output.h"

typedef struct tune_config {
    const char *dir, *site;
    bool quick, dry, network;
    sagoi_hints hints;
    char path[PATH_MAX]; /* path of the site file */
} tune_config;

#define FIELD(name) offsetof(tune_config, name)
static const tool_option table[] = {
    {"dir", OPTION_TEXT, FIELD(dir), 0, 0, "DIR", "on the storage to be measured (.)", NULL},
    {"site", OPTION_TEXT, FIELD(site), 0, 0, "FILE", "the site file (SAGO_SITE, the installed one, or sago.site)",
     NULL},
    {"network", OPTION_FLAG, FIELD(network), 0, 0, NULL, "the network alone, not the storage", NULL},
    {"quick", OPTION_FLAG, FIELD(quick), 0, 0, NULL, "seconds instead of minutes, less exact", NULL},
    {"dry-run", OPTION_FLAG, FIELD(dry), 0, 0, NULL, "show what would change, write nothing", NULL},
};
static const tool_options options = {table, sizeof table / sizeof table[0], NULL, NULL};

/* On a terminal each line replaces the one before; elsewhere all lines are shown. */
void tune_progress(const tune_plan *plan, const char *format, ...) {
    char what[140];
    if (plan->world.rank != 0)
        return;
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    progress_set("measuring: %s", what);
    if (!progress_is_seen())
        fprintf(stderr, "measuring: %s\n", what); /* in one piece, since launchers mix pieces of several ranks */
}

void tune_found(const tune_plan *plan, const char *format, ...) {
    if (plan->world.rank != 0)
        return;
    progress_end();
    va_list arguments;
    va_start(arguments, format);
    fputs("measured ", stdout);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
    fflush(stdout);
}

/* ---- The site file ---- */

/* A line without its comment and its leading blanks. */
static int line_length(const char *line) {
    int length = (int)strcspn(line, "\n#");
    while (length > 0 && line[length - 1] == ' ')
        length--;
    return length;
}

static const char *line_next(const char *line) {
    line += strcspn(line, "\n");
    return line + (*line == '\n');
}

/* The line of `text` with the same key (for links and racks: the same hosts); NULL: there is none. */
static const char *line_find(const char *text, const char *line) {
    int width = (int)strcspn(line, " ");
    if (strncmp(line, "link ", 5) == 0 || strncmp(line, "rack ", 5) == 0)
        width = 5 + (int)strcspn(line + 5, " ");
    for (; *text; text = line_next(text))
        if (strncmp(text, line, (size_t)width + 1) == 0)
            return text;
    return NULL;
}

/* Tells what the new site file has, and what the old one had instead. */
static void say_changes(const char *before, const char *after) {
    for (const char *line = after; *line; line = line_next(line)) {
        const char *old = line_find(before, line);
        int length = line_length(line), old_length = old ? line_length(old) : 0;
        if (!old)
            printf("new      %.*s\n", length, line);
        else if (old_length == length && strncmp(old, line, (size_t)length) == 0)
            printf("same     %.*s\n", length, line);
        else
            printf("changed  %.*s\n    from %.*s\n", length, line, old_length, old);
    }
    for (const char *line = before; *line; line = line_next(line))
        if (!line_find(after, line))
            printf("gone     %.*s\n", line_length(line), line);
}

static char *site_text(const sagoi_site *site) {
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        return NULL;
    sagoi_site_write(site, out);
    return fclose(out) == 0 ? text : NULL;
}

static bool site_replace(const char *path, const char *text, char *why) {
    sagoi_output out;
    bool good = sagoi_output_open(&out, path);
    if (good) {
        fprintf(out.file, "# Written by sago tune; see sago-site(5).\n%s", text);
        good = sagoi_output_close(&out);
    }
    if (!good)
        snprintf(why, TUNE_WHY_MAX, "%.300s: %s", path, sagoi_output_reason(errno));
    return good;
}

static void site_choose(tune_config *config) {
    const char *hint = config->site ? config->site : config->hints.site;
    if (!sagoi_site_find(strcmp(hint, "none") == 0 ? "" : hint, config->path, sizeof config->path))
        snprintf(config->path, sizeof config->path, "sago.site");
}

/* Reads the site file: measured values are replaced, and the rest stays.  A missing file counts as empty. */
static bool site_load(const tune_config *config, sagoi_site *site, char *why) {
    sago_status status = sagoi_site_read(config->path, site);
    if (status == SAGO_ERR_NO_FILE) {
        memset(site, 0, sizeof *site);
        status = SAGO_OK;
    }
    if (status != SAGO_OK)
        snprintf(why, TUNE_WHY_MAX, "%s", sago_error_message());
    return status == SAGO_OK;
}

static bool finish(const tune_config *config, const char *before, const sagoi_site *site, char *why) {
    char *after = site_text(site), full[PATH_MAX];
    if (!after) {
        snprintf(why, TUNE_WHY_MAX, "no memory");
        return false;
    }
    say_changes(before, after);
    bool good = config->dry || site_replace(config->path, after, why);
    if (good && !config->dry)
        printf("written to %s; programs find it by\nSAGO_SITE=%s, or as etc/sago/site where Sago is installed\n",
               config->path, realpath(config->path, full) ? full : config->path);
    free(after);
    return good;
}

/* ---- The run ---- */

static void plan_init(tune_plan *plan, const tune_config *config) {
    int node = 0;
    plan->dir = config->dir;
    plan->quick = config->quick;
    bench_world_init(&plan->world);
    MPI_Comm_split(plan->world.comm, plan->world.node_rank == 0 ? 0 : MPI_UNDEFINED, plan->world.rank,
                   &plan->leaders);
    if (plan->leaders != MPI_COMM_NULL)
        MPI_Comm_rank(plan->leaders, &node);
    MPI_Bcast(&node, 1, MPI_INT, 0, plan->world.node);
    plan->node = node;
}

/* Checked before anything is measured. */
static bool is_writable(const char *dir, char *why) {
    if (access(dir, W_OK) == 0)
        return true;
    snprintf(why, TUNE_WHY_MAX, "--dir %.200s: %s", dir, strerror(errno));
    return false;
}

static bool is_site_writable(const tune_config *config, char *why) {
    int error = config->dry ? 0 : sagoi_output_check(config->path);
    if (error)
        snprintf(why, TUNE_WHY_MAX, "%.300s: %s", config->path, sagoi_output_reason(error));
    return !error;
}

static bool tune(tune_plan *plan, const tune_config *config) {
    sagoi_site site = {.links = 0};
    bool root = plan->world.rank == 0;
    bool good = bench_agree(&plan->world,
                            !root || (is_site_writable(config, plan->why) && site_load(config, &site, plan->why)),
                            plan->why);
    good = good && bench_agree(&plan->world, config->network || is_writable(config->dir, plan->why), plan->why);
    char *before = good && root ? site_text(&site) : NULL;
    good = good && tune_network(plan, &site) && (config->network || tune_store(plan, &site));
    progress_end();
    if (good && root)
        good = finish(config, before ? before : "", &site, plan->why);
    good = bench_agree(&plan->world, good, plan->why);
    if (!good && root)
        fprintf(stderr, "sago tune: %s\n", plan->why);
    sagoi_site_cleanup(&site);
    free(before);
    return good;
}

static void print_help(void) {
    fold_help(stdout, "usage: [mpiexec -n N] sago tune [options]\n"
                      "\n"
                      "Measures latency and bandwidth inside a node and between nodes, and the storage "
                      "against request size and number of writers; writes what the planner needs of it to "
                      "the site file and says what changed.  Run it with as many ranks and nodes as "
                      "programs use.\n"
                      "\n");
    options_help(&options, stdout);
}

int cmd_tune(int argc, char **argv) {
    tune_config config = {.dir = "."};
    char why[OPTION_WHY_MAX];
    if (command_helped(argc, argv, print_help))
        return EXIT_SUCCESS;
    if (sagoi_hints_init(&config.hints) != SAGO_OK)
        return usage_error("tune", "%s", sago_error_message());
    if (!options_parse(&options, 1, argc, argv, &config, why))
        return usage_error("tune", "%s", why);
    site_choose(&config);
    tune_plan plan = {.leaders = MPI_COMM_NULL};
    MPI_Init(NULL, NULL);
    plan_init(&plan, &config);
    bool good = tune(&plan, &config);
    if (plan.leaders != MPI_COMM_NULL)
        MPI_Comm_free(&plan.leaders);
    bench_world_cleanup(&plan.world);
    MPI_Finalize();
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
