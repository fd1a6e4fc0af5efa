/* `sago run`: runs the user's command with the drop-in. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/params.h"
#include "tools/command.h"
#include "tools/fold.h"
#include "tools/gio_static.h"
#include "tools/launch.h"
#include "tools/options.h"
#include "trace/output.h"

typedef struct run_config {
    tool_launch launch;
    char stats[PATH_MAX + 8];  /* value of SAGO_STATS; "": not asked for */
    char report[PATH_MAX + 8]; /* values of SAGO_REPORT and SAGO_TRACE; "": left alone */
    char trace[PATH_MAX + 8];
} run_config;

static bool set_hint(void *target, const char *value, char *why) {
    return launch_hint(&((run_config *)target)->launch, value, why);
}

static bool set_stats(void *target, const char *value, char *why) {
    run_config *config = target;
    return launch_stats(config->stats, sizeof config->stats, value, why);
}

static bool set_report(void *target, const char *value, char *why) {
    run_config *config = target;
    return launch_path(config->report, sizeof config->report, "report", value, why);
}

static bool set_trace(void *target, const char *value, char *why) {
    run_config *config = target;
    return launch_path(config->trace, sizeof config->trace, "trace", value, why);
}

/* Sets or unsets a variable.  A file that cannot be made here costs a line, never the job.  It is said at once,
 * since the library says it only if the command opens a file. */
static bool set_output(const char *variable, const char *option, const char *file) {
    if (!file[0])
        return true;
    int error = sagoi_output_check(file);
    if (!error)
        return setenv(variable, file, 1) == 0;
    fprintf(stderr, "sago run: --%s %s: %s: there will be no %s\n", option, file, sagoi_output_reason(error),
            option);
    return unsetenv(variable) == 0;
}

static bool set_outputs(const run_config *config, char *why) {
    bool good =
        set_output("SAGO_REPORT", "report", config->report) && set_output("SAGO_TRACE", "trace", config->trace);
    return good || bench_refuse(why, "the environment: %s", strerror(errno));
}

static const tool_option table[] = {
    {"hint", OPTION_CALL, 0, 0, 0, "KEY=VALUE", "default of a hint, as in 'sago hints'; may be repeated",
     set_hint},
    {"stats", OPTION_CALL, 0, 0, 0, "HOW", "off, summary (default: on stderr at the end) or json:FILE", set_stats},
    {"report", OPTION_CALL, 0, 0, 0, "FILE.html", "a page on what happened, and JSON beside it; see 'sago report'",
     set_report},
    {"trace", OPTION_CALL, 0, 0, 0, "FILE.json", "a trace for Perfetto or chrome://tracing", set_trace},
};
static const tool_options options = {table, sizeof table / sizeof table[0], NULL,
                                     "those of the command come after '--'"};

static void print_help(void) {
    fold_help(stdout, "usage: sago run [options] [--] COMMAND [arguments]\n"
                      "\n"
                      "Runs a command, mpiexec with an MPI program or a script, so that collective MPI-IO "
                      "in it is done by Sago; so is what uses GIO, as PnetCDF 1.15 does.  The program need "
                      "not be changed.  The exit status is the command's.\n"
                      "\n"
                      "Options:\n");
    options_help(&options, stdout);
    puts("\nExample: sago run --hint sago_memory=256M -- mpiexec -n 8 ./app");
}

static void tell_static(char *const *command) {
    const char *program = gio_static_find(command);
    if (program)
        fprintf(stderr,
                "sago run: GIO is linked to %s statically, where Sago cannot stand in front of it: PnetCDF is led "
                "to MPI-IO instead (nc_driver=mpiio), the program's own calls of GIO are not served\n",
                program);
}

int cmd_run(int argc, char **argv) {
    char why[OPTION_WHY_MAX];
    run_config config = {.launch = {.nsettings = 0}};
    int end = launch_options_end(argc, argv);
    if (command_helped(end, argv, print_help))
        return EXIT_SUCCESS;
    if (!launch_init(&config.launch, end, argc, argv, why) ||
        !options_parse(&options, 1, end, argv, &config, why) || !launch_complete(&config.launch, why))
        return usage_error("run", "%s", why);
    if (!config.stats[0])
        snprintf(config.stats, sizeof config.stats, "%s", getenv("SAGO_STATS") ? getenv("SAGO_STATS") : "summary");
    if (!set_outputs(&config, why) || !launch_enable(&config.launch, config.stats, why))
        return usage_error("run", "%s", why);
    tell_static(config.launch.command);
    return launch_execute(&config.launch, "run");
}
