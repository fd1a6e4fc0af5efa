/* `sago report`: reads what SAGO_REPORT has left, and prints it as text, makes a page, or compares two runs; also
 * makes the page of a job that was killed, from the records that its ranks left. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/size_text.h"
#include "bench/params.h"
#include "tools/colour.h"
#include "tools/command.h"
#include "tools/fold.h"
#include "tools/json_tree.h"
#include "tools/options.h"
#include "trace/output.h"
#include "trace/report_json.h"
#include "trace/saved.h"

enum { MOST = 16 };

typedef struct report_config {
    const char *html;
    bool compare;
} report_config;

/* One report: where it was found, its text, and its tree. */
typedef struct loaded {
    char page[PATH_MAX]; /* for a directory of records: the page that the job would have written; else "" */
    char *text;
    tree_value *tree;
} loaded;

/* ---- Reading ---- */

static bool parse(const char *path, loaded *one, char *why) {
    int64_t line = 0;
    one->tree = tree_parse(one->text, &line);
    if (!one->tree)
        return bench_refuse(why, "%s: not JSON, at line %" PRId64, path, line);
    if (strcmp(tree_text(one->tree, "schema"), "sago-report") != 0)
        return bench_refuse(why, "%s: no report of Sago's", path);
    int64_t version = (int64_t)tree_number(one->tree, "schema_version");
    return version == SAGOI_REPORT_SCHEMA ||
           bench_refuse(why, "%s: a report of schema %" PRId64 "; this sago knows %d", path, version,
                        SAGOI_REPORT_SCHEMA);
}

static bool ends_in(const char *text, const char *end) {
    size_t length = strlen(text), tail = strlen(end);
    return length > tail && strcmp(text + length - tail, end) == 0;
}

/* Finds the directory of records in `folder`, if there is only one. */
static bool find_records(const char *folder, char records[PATH_MAX], char *why) {
    DIR *list = opendir(folder);
    const struct dirent *entry;
    int found = 0;
    while (list && (entry = readdir(list)))
        if (ends_in(entry->d_name, ".records") && found++ == 0)
            (void)snprintf(records, PATH_MAX, "%s/%s", folder, entry->d_name);
    if (list)
        (void)closedir(list);
    if (found == 1)
        return true;
    return found ? bench_refuse(why, "%s has records of %d reports; name one: %s", folder, found, records)
                 : bench_refuse(why, "%s: there are no records of a job: no directory whose name ends in .records",
                                folder);
}

static bool load_records(const char *path, loaded *one, char *why) {
    char records[PATH_MAX];
    size_t size = 0, length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    (void)snprintf(records, sizeof records, "%.*s", (int)length, path);
    if (!ends_in(records, ".records") && !find_records(path, records, why))
        return false;
    (void)snprintf(one->page, sizeof one->page, "%.*s", (int)(strlen(records) - strlen(".records")), records);
    sagoi_record *record = sagoi_saved_merge(records);
    if (!record)
        return bench_refuse(why, "%s: there is no record in it", records);
    FILE *out = open_memstream(&one->text, &size);
    if (out)
        sagoi_report_json(out, record);
    sagoi_record_destroy(record);
    return (out && fclose(out) == 0) || bench_refuse(why, "out of memory");
}

static bool load(const char *path, loaded *one, char *why) {
    struct stat info;
    if (stat(path, &info) != 0)
        return bench_refuse(why, "%s: %s", path, strerror(errno));
    if (S_ISDIR(info.st_mode)) {
        if (!load_records(path, one, why))
            return false;
    } else {
        if (ends_in(path, ".html"))
            return bench_refuse(why, "%s is the page; give the JSON beside it", path);
        one->text = tree_read_text(path, why);
    }
    return one->text && parse(path, one, why);
}

/* ---- Text ---- */

static void print_head(const tree_value *r) {
    int64_t ranks = (int64_t)tree_number(r, "ranks"), nodes = (int64_t)tree_number(r, "nodes");
    printf("%s%s%s: %" PRId64 " rank%s on %" PRId64 " node%s, %s, %.1f s%s\n\n", colour_on(COLOUR_BOLD),
           tree_text(r, "program"), colour_off(), ranks, ranks == 1 ? "" : "s", nodes, nodes == 1 ? "" : "s",
           tree_text(r, "mpi"), tree_number(r, "seconds"),
           tree_number(r, "complete") > 0 ? "" : "; it did not come to its end");
}

static void print_verdict(const tree_value *r) {
    for (const tree_value *v = tree_get(r, "verdict")->first; v; v = v->next) {
        const char *hint = tree_text(v, "hint"), *text = tree_text(v, "text");
        printf("- ");
        fold_print(stdout, text, 2, 2, fold_width(FOLD_NEVER));
        if (*hint)
            printf("%s%s%s%s.", fold_width(FOLD_NEVER) == FOLD_NEVER ? " Try " : "\n  Try ",
                   colour_on(COLOUR_BOLD), hint, colour_off());
        printf("\n");
    }
    printf("\n");
}

/* Prints the seconds of all ranks by phase. */
static void print_phases(const tree_value *r) {
    double all = 0, seconds[32] = {0};
    const tree_value *timeline = tree_get(r, "timeline"), *names = tree_get(timeline, "phases")->first;
    for (const tree_value *row = tree_get(timeline, "rows")->first; row; row = row->next) {
        int i = 0;
        for (const tree_value *s = tree_get(row, "seconds")->first; s && i < 32; s = s->next, i++) {
            seconds[i] += s->number;
            all += s->number;
        }
    }
    printf("%-12s %12s %6s\n", "phase", "rank seconds", "part");
    int i = 0;
    for (const tree_value *name = names; name && i < 32; name = name->next, i++)
        /* The MPI library's share only if it served anything. */
        if (seconds[i] > 0 || strcmp(name->text, "mpi") != 0)
            printf("%-12s %12.3f %5.0f%%\n", name->text, seconds[i], all > 0 ? 100 * seconds[i] / all : 0);
    printf("\n");
}

static void print_direction(const tree_value *file, const char *verb, const char *calls, const char *bytes,
                            const char *time) {
    const tree_value *job = tree_get(file, "job");
    double moved = tree_number(job, bytes), seconds = tree_number(file, time);
    int64_t count = (int64_t)tree_number(job, calls);
    if (moved <= 0 && count == 0)
        return;
    const sagoi_size_text size = sagoi_size_to_text((int64_t)moved);
    const sagoi_size_text speed = sagoi_size_to_text(seconds > 0 ? (int64_t)(moved / seconds) : 0);
    printf("  %s %s in %.3f s, %s/s, %" PRId64 " collective call%s\n", verb, size.text, seconds, speed.text, count,
           count == 1 ? "" : "s");
}

/* Prints what the MPI library did with a file. */
static void print_by_mpi(const tree_value *file, const char *kind) {
    const tree_value *by = tree_get(tree_get(file, "by_mpi"), kind);
    double writes = tree_number(by, "writes"), reads = tree_number(by, "reads");
    if (writes + reads > 0)
        printf("  by the MPI library: %.0f %s writes, %.0f reads, %.3f s of the slowest rank\n", writes, kind,
               reads, tree_number(by, "seconds"));
}

static void print_file(const tree_value *file) {
    printf("%s%s%s (%s)\n", colour_on(COLOUR_BOLD), tree_text(file, "path"), colour_off(),
           tree_text(tree_get(file, "storage"), "name"));
    print_direction(file, "wrote", "collective_writes", "bytes_written", "write_seconds");
    print_direction(file, "read", "collective_reads", "bytes_read", "read_seconds");
    for (const tree_value *line = tree_get(file, "plan")->first; line; line = line->next) {
        printf("  ");
        fold_print(stdout, line->text ? line->text : "", 2, 4, fold_width(FOLD_NEVER));
        putchar('\n');
    }
    for (const tree_value *h = tree_get(file, "handed")->first; h; h = h->next)
        printf("  handed to the MPI library: %.0f, %s\n", tree_number(h, "calls"), tree_text(h, "why"));
    print_by_mpi(file, "collective");
    print_by_mpi(file, "independent");
}

static void print_report(const tree_value *r) {
    print_head(r);
    print_verdict(r);
    print_phases(r);
    for (const tree_value *file = tree_get(r, "files")->first; file; file = file->next)
        print_file(file);
}

/* ---- Two runs ---- */

static double sum_of(const tree_value *r, const char *group, const char *name) {
    double sum = 0;
    for (const tree_value *file = tree_get(r, "files")->first; file; file = file->next)
        sum += tree_number(*group ? tree_get(file, group) : file, name);
    return sum;
}

static double slowest_of(const tree_value *r) {
    double most = 0;
    for (const tree_value *row = tree_get(tree_get(r, "timeline"), "rows")->first; row; row = row->next)
        most = tree_number(row, "most") > most ? tree_number(row, "most") : most;
    return most;
}

static void print_pair(const char *what, const char *a, const char *b, double ratio) {
    printf("%-26s %14s %14s", what, a, b);
    if (ratio > 0)
        printf(" %12.2f", ratio);
    printf("\n");
}

static double ratio_of(double a, double b) { return a > 0 && b > 0 ? b / a : 0; }

static void print_seconds(const char *what, double a, double b) {
    char text[2][32];
    (void)snprintf(text[0], sizeof text[0], "%.3f s", a);
    (void)snprintf(text[1], sizeof text[1], "%.3f s", b);
    print_pair(what, text[0], text[1], ratio_of(a, b));
}

static void print_sizes(const char *what, double a, double b) {
    print_pair(what, sagoi_size_to_text((int64_t)a).text, sagoi_size_to_text((int64_t)b).text, ratio_of(a, b));
}

static void print_counts(const char *what, double a, double b) {
    char text[2][32];
    (void)snprintf(text[0], sizeof text[0], "%.0f", a);
    (void)snprintf(text[1], sizeof text[1], "%.0f", b);
    print_pair(what, text[0], text[1], ratio_of(a, b));
}

static void print_comparison(const tree_value *a, const tree_value *b) {
    printf("%-26s %14s %14s %12s\n", "", "first", "second", "second/first");
    print_seconds("run", tree_number(a, "seconds"), tree_number(b, "seconds"));
    print_seconds("in Sago, slowest rank", slowest_of(a), slowest_of(b));
    print_sizes("written", sum_of(a, "job", "bytes_written"), sum_of(b, "job", "bytes_written"));
    print_seconds("writing", sum_of(a, "", "write_seconds"), sum_of(b, "", "write_seconds"));
    print_sizes("read", sum_of(a, "job", "bytes_read"), sum_of(b, "job", "bytes_read"));
    print_seconds("reading", sum_of(a, "", "read_seconds"), sum_of(b, "", "read_seconds"));
    print_sizes("messages", sum_of(a, "job", "wire_bytes"), sum_of(b, "job", "wire_bytes"));
    print_counts("rounds", sum_of(a, "job", "rounds"), sum_of(b, "job", "rounds"));
}

/* ---- Pages ---- */

static int write_page(const char *path, const loaded *reports, int count) {
    const char *texts[2] = {reports[0].text, count > 1 ? reports[1].text : NULL};
    sagoi_output out;
    if (!sagoi_output_open(&out, path) || (sagoi_report_page(out.file, texts, count), !sagoi_output_close(&out))) {
        fprintf(stderr, "sago report: %s: %s\n", path, sagoi_output_reason(errno));
        return EXIT_FAILURE;
    }
    fprintf(stderr, "sago report: %s is written\n", path);
    return EXIT_SUCCESS;
}

/* The page and the JSON that a killed job would have made. */
static int write_both(const loaded *one) {
    char path[PATH_MAX + 8];
    sagoi_output out;
    bool html = ends_in(one->page, ".html");
    (void)snprintf(path, sizeof path, "%.*s.json", (int)(strlen(one->page) - (html ? 5 : 0)), one->page);
    if (!sagoi_output_open(&out, path) || (fputs(one->text, out.file), !sagoi_output_close(&out))) {
        fprintf(stderr, "sago report: %s: %s\n", path, sagoi_output_reason(errno));
        return EXIT_FAILURE;
    }
    return write_page(one->page, one, 1);
}

/* Makes what a killed job would have made, unless a page was asked for. */
static int show(const report_config *config, const loaded *reports, int count) {
    bool page_only = config->html != NULL;
    if (config->compare) {
        if (!page_only)
            print_comparison(reports[0].tree, reports[1].tree);
        return page_only ? write_page(config->html, reports, 2) : EXIT_SUCCESS;
    }
    for (int i = 0; i < count && !page_only; i++)
        print_report(reports[i].tree);
    if (page_only)
        return write_page(config->html, reports, 1);
    int status = EXIT_SUCCESS;
    for (int i = 0; i < count; i++)
        if (reports[i].page[0] && write_both(&reports[i]))
            status = EXIT_FAILURE;
    return status;
}

/* ---- Command line ---- */

static const tool_option table[] = {
    {"html", OPTION_TEXT, offsetof(report_config, html), 0, 0, "FILE", "write a page, and no text", NULL},
    {"compare", OPTION_FLAG, offsetof(report_config, compare), 0, 0, NULL, "two runs side by side", NULL},
};
static const tool_options options = {table, sizeof table / sizeof table[0], NULL, NULL};

static void print_help(void) {
    fold_help(stdout,
              "usage: sago report [options] REPORT.json... | DIRECTORY\n"
              "\n"
              "Shows what a job with SAGO_REPORT=run.html has recorded, from the run.json beside "
              "the page.  Of a job that was killed or ran out of time, the directory of the report "
              "has records of a few seconds before: given that directory, it makes the page and the JSON.\n"
              "\n"
              "Options:\n");
    options_help(&options, stdout);
    puts("\nExample: sago report --compare --html both.html before.json after.json");
}

/* Paths stand first, or behind the options. */
static int take_paths(int argc, char **argv, char **paths, char **rest) {
    int count = 0, others = 1;
    rest[0] = argv[0];
    for (int i = 1; i < argc; i++) {
        bool option = strncmp(argv[i], "--", 2) == 0;
        bool valued = option && strcmp(argv[i], "--html") == 0 && i + 1 < argc;
        if (option)
            rest[others++] = argv[i];
        else if (count < MOST)
            paths[count++] = argv[i];
        if (valued)
            rest[others++] = argv[++i];
    }
    rest[others] = NULL;
    return count;
}

static const char *wrong_number(const report_config *config, int count) {
    if (count == 0)
        return "no report given";
    if (config->compare && count != 2)
        return "--compare takes two reports";
    if (config->html && !config->compare && count != 1)
        return "--html takes one report, or two with --compare";
    return NULL;
}

int cmd_report(int argc, char **argv) {
    char why[OPTION_WHY_MAX], *paths[MOST];
    report_config config = {0};
    loaded reports[MOST] = {0};
    int status = EXIT_SUCCESS;
    if (command_helped(argc, argv, print_help))
        return EXIT_SUCCESS;
    char **rest = calloc((size_t)argc + 1, sizeof *rest);
    if (!rest)
        return usage_error("report", "out of memory");
    int count = take_paths(argc, argv, paths, rest), others = 0;
    while (rest[others])
        others++;
    bool ok = options_parse(&options, 1, others, rest, &config, why);
    free(rest);
    if (!ok)
        return usage_error("report", "%s", why);
    if (wrong_number(&config, count))
        return usage_error("report", "%s", wrong_number(&config, count));
    for (int i = 0; i < count && ok; i++)
        ok = load(paths[i], &reports[i], why);
    if (ok)
        status = show(&config, reports, count);
    else
        fprintf(stderr, "sago report: %s\n", why);
    for (int i = 0; i < count; i++) {
        free(reports[i].text);
        tree_free(reports[i].tree);
    }
    return ok ? status : EXIT_FAILURE;
}
