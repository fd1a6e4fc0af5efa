/* `sago compare`: runs the user's command with and without the drop-in, in turn, and compares times and files. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/json.h"
#include "base/size_text.h"
#include "bench/params.h"
#include "bench/quantiles.h"
#include "tools/colour.h"
#include "tools/command.h"
#include "tools/fold.h"
#include "tools/launch.h"
#include "tools/options.h"
#include "tools/outputs.h"
#include "tools/json_tree.h"
#include "trace/output.h"
#include "trace/report_json.h"

enum { REPEAT_MAX = 1000, SHOWN_OUTPUT = 8192 };

/* What the drop-in counted in one run; negative: it printed nothing. */
typedef struct served_calls {
    int64_t writes, reads, bytes;
    int64_t independent; /* calls of single ranks that the program makes itself; Sago does not serve them */
} served_calls;

typedef struct compare_config {
    tool_launch launch;
    tool_outputs outputs;
    int64_t repeat;
    double seconds[2][REPEAT_MAX]; /* without Sago, with it */
    served_calls served;
    char report[PATH_MAX + 8]; /* the report's page; "": none */
    bool counted;              /* this run is counted and reported */
    bool progress;             /* stderr is a terminal */
} compare_config;

static const char *const names[] = {"without Sago", "with Sago"};

static volatile sig_atomic_t interrupted; /* the signal */

/* ---- One run ---- */

/* Called in the child; errors go to stderr, which is the log already. */
static _Noreturn void become_command(const compare_config *config, bool with_sago, const char *stats, int log) {
    char why[OPTION_WHY_MAX];
    int null = open("/dev/null", O_RDONLY);
    (void)signal(SIGINT, SIG_DFL);
    (void)signal(SIGTERM, SIG_DFL);
    if (null < 0 || dup2(null, 0) < 0 || dup2(log, 1) < 0 || dup2(log, 2) < 0)
        _exit(LAUNCH_NOT_STARTED);
    if (!(with_sago ? launch_enable(&config->launch, stats, why) : launch_disable(&config->launch, why))) {
        fprintf(stderr, "sago compare: %s\n", why);
        _exit(LAUNCH_NOT_STARTED);
    }
    if (config->counted && config->report[0])
        (void)setenv("SAGO_REPORT", config->report, 1);
    _exit(launch_execute(&config->launch, "compare"));
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* A signal from the terminal reaches the command as well; other signals do not. */
static int wait_for(pid_t child) {
    int status;
    bool told = false;
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR)
            return -1;
        if (interrupted && !told)
            told = kill(child, SIGTERM) == 0;
    }
    return status;
}

/* Prints the end of the command's output. */
static void show_output(FILE *log) {
    char line[SHOWN_OUTPUT];
    (void)fflush(log);
    if (fseek(log, -SHOWN_OUTPUT, SEEK_END))
        rewind(log);
    size_t length = fread(line, 1, sizeof line, log);
    (void)fwrite(line, 1, length, stderr);
    if (length > 0 && line[length - 1] != '\n')
        (void)fputc('\n', stderr);
}

static bool refuse_status(int status, bool with_sago, char *why) {
    if (interrupted)
        return bench_refuse(why, "interrupted");
    if (WIFSIGNALED(status))
        return bench_refuse(why, "the command was ended by signal %d %s", WTERMSIG(status), names[with_sago]);
    return bench_refuse(why, "the command failed with status %d %s", WEXITSTATUS(status), names[with_sago]);
}

/* Runs the command; its output is shown only if it fails. */
static bool run_once(const compare_config *config, bool with_sago, const char *stats, double *seconds, char *why) {
    FILE *log = tmpfile();
    if (!log)
        return bench_refuse(why, "no temporary file: %s", strerror(errno));
    double start = now();
    pid_t child = fork();
    if (child == 0)
        become_command(config, with_sago, stats, fileno(log));
    int status = child < 0 ? -1 : wait_for(child);
    *seconds = now() - start;
    bool ok = status == 0 && !interrupted;
    if (child < 0)
        (void)bench_refuse(why, "fork: %s", strerror(errno));
    else if (!ok)
        (void)refuse_status(status, with_sago, why);
    if (!ok && !interrupted)
        show_output(log);
    (void)fclose(log);
    return ok;
}

/* ---- What Sago did ---- */

static int64_t json_number(const char *text, const char *key) {
    const char *at = strstr(text, key);
    return at ? strtoll(at + strlen(key), NULL, 10) : -1;
}

/* Opens the file by its name, since the writer may have put a new file in its place. */
static served_calls served_read(const char *path) {
    char text[4096] = "";
    served_calls result = {-1, -1, 0, 0};
    int file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    ssize_t length = file < 0 ? -1 : read(file, text, sizeof text - 1);
    if (file >= 0)
        (void)close(file);
    if (length <= 0)
        return result;
    result.writes = json_number(text, "\"writes\":");
    result.reads = json_number(text, "\"reads\":");
    result.independent =
        json_number(text, "\"independent_writes\":") + json_number(text, "\"independent_reads\":");
    result.bytes = json_number(text, "\"write_bytes\":") + json_number(text, "\"read_bytes\":");
    return result;
}

/* A warm-up run, which also tells whether Sago was used at all: otherwise the comparison means nothing. */
static bool run_counted(compare_config *config, double *seconds, char *why) {
    char path[] = "/tmp/sago-compare.XXXXXX", stats[64];
    int file = mkstemp(path);
    if (file < 0)
        return bench_refuse(why, "%s: %s", path, strerror(errno));
    (void)close(file);
    snprintf(stats, sizeof stats, "json:%s", path);
    config->counted = true;
    bool ok = run_once(config, true, stats, seconds, why);
    config->counted = false;
    config->served = served_read(path);
    (void)unlink(path);
    return ok;
}

/* ---- All runs ---- */

static void show_progress(const compare_config *config, int64_t pair, bool with_sago) {
    if (!config->progress)
        return;
    if (pair < 0)
        fprintf(stderr, "\r\033[Kwarming up, %s", names[with_sago]);
    else
        fprintf(stderr, "\r\033[Kpair %" PRId64 " of %" PRId64 ", %s", pair + 1, config->repeat, names[with_sago]);
}

static void clear_progress(const compare_config *config) {
    if (config->progress)
        fprintf(stderr, "\r\033[K");
}

/* Pair -1 is the warm-up, without Sago first, so that a command that never works is not blamed on Sago.  Later
 * pairs begin with Sago or without it in turn, so that going first favours neither. */
static bool run_pair(compare_config *config, int64_t pair, char *why) {
    for (int turn = 0; turn < 2; turn++) {
        bool with_sago = (turn + pair + 1) % 2 != 0;
        double seconds;
        show_progress(config, pair, with_sago);
        bool ok = pair < 0 && with_sago ? run_counted(config, &seconds, why)
                                        : run_once(config, with_sago, "off", &seconds, why);
        if (!ok || !outputs_keep(&config->outputs, with_sago, why))
            return false;
        if (pair >= 0)
            config->seconds[with_sago][pair] = seconds;
    }
    return outputs_compare(&config->outputs, why);
}

static bool run_all(compare_config *config, char *why) {
    double seconds;
    for (int64_t pair = -1; pair < config->repeat; pair++)
        if (!run_pair(config, pair, why))
            return false;
    if (!outputs_differ(&config->outputs))
        return true;
    show_progress(config, config->repeat - 1, false);
    return run_once(config, false, "off", &seconds, why) && outputs_keep(&config->outputs, false, why);
}

/* ---- Report ---- */

static void print_served(const served_calls *served) {
    if (served->writes + served->reads > 0)
        printf("Sago did %" PRId64 " collective write%s and %" PRId64 " read%s, %s in all\n", served->writes,
               sagoi_plural(served->writes), served->reads, sagoi_plural(served->reads),
               sagoi_size_to_text(served->bytes).text);
    else
        printf("Sago did nothing: %s\n",
               served->writes < 0 ? "no program that was started uses its MPI library, or it did not end properly"
                                  : "the program makes no collective MPI-IO call that Sago serves");
    if (served->independent > 0)
        printf("the program itself made %" PRId64 " independent call%s, which are the MPI library's\n",
               served->independent, sagoi_plural(served->independent));
    puts("");
}

static void print_times(const compare_config *config) {
    int64_t n = config->repeat;
    printf("%-14s %12s %12s\n", "seconds", "median", "best");
    for (int w = 0; w < 2; w++)
        printf("%-14s %12.3f %12.3f\n", names[w], bench_median(n, config->seconds[w]),
               bench_best(n, config->seconds[w]));
    bench_estimate ratio = bench_paired_ratio(n, config->seconds[0], config->seconds[1]);
    if (n == 1)
        printf("\nwith Sago it is %s%.2f%s times as fast, in one pair\n", colour_on(COLOUR_BOLD), ratio.median,
               colour_off());
    else
        printf("\nwith Sago it is %s%.2f%s times as fast [%.2f, %.2f], %s %" PRId64 " pairs\n",
               colour_on(COLOUR_BOLD), ratio.median, colour_off(), ratio.low, ratio.high,
               n < 6 ? "range of" : "95% interval from", n);
}

static void print_output(const tool_output *output) {
    const tool_difference *last = &output->last;
    printf("%s: ", output->path);
    if (last->bytes == 0) {
        printf("identical, %" PRId64 " byte%s, %" PRId64 " comparison%s\n", last->size, sagoi_plural(last->size),
               output->comparisons, sagoi_plural(output->comparisons));
        return;
    }
    printf("%sDIFFERS%s in %" PRId64 " byte%s from byte %" PRId64 " on: see %s.with-sago and %s.without-sago\n",
           colour_on(COLOUR_BAD), colour_off(), last->bytes, sagoi_plural(last->bytes), last->first, output->path,
           output->path);
    if (last->zeros)
        puts("  with Sago these are all 0, or beyond the end: as where a program writes nothing (see "
             "sago-compare(1))");
    if (output->differs_anyway)
        puts("  it also differs between two runs without Sago");
}

static void print_outputs(const tool_outputs *outputs) {
    for (int64_t i = 0; i < outputs->count; i++)
        print_output(&outputs->output[i]);
}

/* ---- The page ---- */

static void put_seconds(sagoi_json *json, const char *name, int64_t count, const double values[]) {
    sagoi_json_open(json, name, '[');
    for (int64_t i = 0; i < count; i++)
        sagoi_json_fixed(json, NULL, values[i], 6);
    sagoi_json_close(json, ']');
}

/* Reads what the counted run has written, and adds the times of all runs at its end. */
static char *add_times(const compare_config *config, char *json) {
    char *made = NULL, *end = strrchr(json, '}');
    size_t size = 0;
    FILE *out = end ? open_memstream(&made, &size) : NULL;
    if (!out)
        return NULL;
    while (end > json && end[-1] == '\n')
        end--;
    fwrite(json, 1, (size_t)(end - json), out);
    sagoi_json more = {.out = out, .lines = 1, .depth = 1, .more = true};
    sagoi_json_open(&more, "compared", '{');
    put_seconds(&more, "without_sago", config->repeat, config->seconds[0]);
    put_seconds(&more, "with_sago", config->repeat, config->seconds[1]);
    sagoi_json_close(&more, '}');
    sagoi_json_close(&more, '}');
    return fclose(out) == 0 ? made : NULL;
}

/* Where the run with the report leaves its JSON: beside the page. */
static void json_path(const compare_config *config, char path[PATH_MAX + 16]) {
    size_t length = strlen(config->report);
    bool html = length > 5 && strcmp(config->report + length - 5, ".html") == 0;
    snprintf(path, PATH_MAX + 16, "%.*s.json", (int)(html ? length - 5 : length), config->report);
}

/* Asked before anything is measured. */
static bool can_report(const compare_config *config, char *why) {
    char path[PATH_MAX + 16];
    json_path(config, path);
    const char *const paths[] = {config->report, path};
    for (int i = 0; config->report[0] && i < 2; i++) {
        int error = sagoi_output_check(paths[i]);
        if (error)
            return bench_refuse(why, "--report %.300s: %s", paths[i], sagoi_output_reason(error));
        if (sagoi_output_is_special(paths[i]))
            return bench_refuse(why, "--report %.300s: not a regular file", paths[i]);
    }
    return true;
}

static bool write_report(const compare_config *config, char *why) {
    char path[PATH_MAX + 16];
    json_path(config, path);
    char *json = tree_read_text(path, why), *whole = json ? add_times(config, json) : NULL;
    free(json);
    if (!whole)
        return json ? bench_refuse(why, "out of memory") : false;
    sagoi_output page, data;
    bool ok = sagoi_output_open(&data, path) && (fputs(whole, data.file), sagoi_output_close(&data)) &&
              sagoi_output_open(&page, config->report) &&
              (sagoi_report_page(page.file, (const char *const[]){whole}, 1), sagoi_output_close(&page));
    free(whole);
    return ok || bench_refuse(why, "--report %s: %s", config->report, sagoi_output_reason(errno));
}

/* ---- Command line ---- */

static bool set_report(void *target, const char *value, char *why) {
    compare_config *config = target;
    return launch_path(config->report, sizeof config->report, "report", value, why);
}

static bool set_hint(void *target, const char *value, char *why) {
    return launch_hint(&((compare_config *)target)->launch, value, why);
}

static bool set_file(void *target, const char *value, char *why) {
    return outputs_add(&((compare_config *)target)->outputs, value, why);
}

static const tool_option table[] = {
    {"repeat", OPTION_COUNT, offsetof(compare_config, repeat), 1, REPEAT_MAX, "N",
     "runs of each, in turn, after one of each to warm up (5)", NULL},
    {"file", OPTION_CALL, 0, 0, 0, "PATH", "a file the command writes: compare its bytes; may be repeated",
     set_file},
    {"hint", OPTION_CALL, 0, 0, 0, "KEY=VALUE", "default of a hint, as in 'sago hints'; may be repeated",
     set_hint},
    {"report", OPTION_CALL, 0, 0, 0, "FILE.html", "a page on a run with Sago, and the times of all runs",
     set_report},
};
static const tool_options options = {table, sizeof table / sizeof table[0], NULL,
                                     "those of the command come after '--'"};

static void print_help(void) {
    fold_help(stdout, "usage: sago compare [options] [--] COMMAND [arguments]\n"
                      "\n"
                      "Runs a command several times with and without Sago, and prints both times, how many "
                      "times as fast it is with Sago, and whether the files it writes are the same.  Exit "
                      "status: 0, 1 if a file differs or the command fails, 2 for wrong options.\n"
                      "\n"
                      "Options:\n");
    options_help(&options, stdout);
    puts("\nExample: sago compare --file out.h5 -- mpiexec -n 8 ./app");
}

static void interrupt(int signal) { interrupted = signal; }

static int compare(compare_config *config) {
    char why[OPTION_WHY_MAX];
    struct sigaction action = {.sa_handler = interrupt}; /* the files are put back, whatever happens */
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    bool begun = can_report(config, why) && outputs_begin(&config->outputs, why),
         ok = begun && run_all(config, why);
    clear_progress(config);
    outputs_end(&config->outputs);
    if (!begun)
        return usage_error("compare", "%s", why);
    if (!ok) {
        fprintf(stderr, "sago compare: %s\n", why);
        return EXIT_FAILURE;
    }
    print_served(&config->served);
    print_times(config);
    print_outputs(&config->outputs);
    if (config->report[0] && !write_report(config, why)) {
        fprintf(stderr, "sago compare: %s\n", why);
        return EXIT_FAILURE;
    }
    return outputs_differ(&config->outputs) ? EXIT_FAILURE : EXIT_SUCCESS;
}

int cmd_compare(int argc, char **argv) {
    char why[OPTION_WHY_MAX];
    int end = launch_options_end(argc, argv);
    if (command_helped(end, argv, print_help))
        return EXIT_SUCCESS;
    compare_config *config = calloc(1, sizeof *config);
    if (!config)
        return usage_error("compare", "out of memory");
    config->repeat = 5;
    config->progress = isatty(STDERR_FILENO);
    bool ok = launch_init(&config->launch, end, argc, argv, why) &&
              options_parse(&options, 1, end, argv, config, why) && launch_complete(&config->launch, why);
    int code = ok ? compare(config) : usage_error("compare", "%s", why);
    free(config);
    return code;
}
