/* `sago ckpt`: the command line, opening the directory, and what the actions share.  Everything goes through the
 * public interface, so that there is only one reader of the format. */
#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench/params.h"
#include "bench/progress.h"
#include "tools/ckpt.h"
#include "tools/command.h"
#include "tools/fold.h"
#include "tools/options.h"

static const struct {
    const char *name;
    int (*run)(ckpt_command *c);
    bool changes; /* the action needs the directory for itself */
    const char *arguments, *help;
} actions[] = {
    {"ls", ckpt_ls, false, "DIR", "list the steps: time, size, levels, state"},
    {"show", ckpt_show, false, "DIR [STEP]", "tell what is in a step (the newest)"},
    {"verify", ckpt_verify, false, "DIR [STEP...]", "read and check everything (all steps)"},
    {"repair", ckpt_repair, true, "DIR [STEP...]",
     "mend what is damaged or missing, on the nodes and at the global level"},
    {"drain", ckpt_drain, true, "DIR [STEP...]", "bring steps from the nodes to the directory"},
    {"export", ckpt_export, false, "DIR [STEP]", "write arrays for other programs (the newest)"},
    {"dump", ckpt_dump, false, "DIR [STEP]", "print statistics of arrays, or with --array their numbers"},
    {"rm", ckpt_rm, true, "DIR STEP...", "remove steps, or what is set aside as damaged"},
};
enum { ACTIONS = sizeof actions / sizeof actions[0] };
enum { INDENT = 24, LINE_WIDTH = 80 }; /* columns of the texts that describe actions */

/* ---- Options ---- */

static bool set_hint(void *target, const char *value, char *why) {
    ckpt_command *c = target;
    const char *equals = strchr(value, '=');
    if (!equals || equals == value || equals - value >= MPI_MAX_INFO_KEY)
        return bench_refuse(why, "--hint %s: must be KEY=VALUE", value);
    if (c->nhints == CKPT_HINTS_MAX)
        return bench_refuse(why, "more than %d hints", CKPT_HINTS_MAX);
    c->hints[c->nhints++] = value;
    return true;
}

static bool set_array(void *target, const char *value, char *why) {
    ckpt_command *c = target;
    if (c->narrays == CKPT_ARRAYS_MAX)
        return bench_refuse(why, "more than %d arrays", CKPT_ARRAYS_MAX);
    c->arrays[c->narrays++] = value;
    return true;
}

static bool set_format(void *target, const char *value, char *why) {
    ckpt_command *c = target;
    c->format = value;
    bool dumps = !strcmp(c->action, "dump");
    if (dumps)
        return !strcmp(value, "text") || !strcmp(value, "csv") ||
               bench_refuse(why, "--format %s: must be text or csv", value);
    return !strcmp(value, "vtk") || !strcmp(value, "vti") || !strcmp(value, "raw") ||
           bench_refuse(why, "--format %s: must be vtk, vti or raw; python3 -m sago.reader writes HDF5 and netCDF",
                        value);
}

#define FIELD(name) offsetof(ckpt_command, name)
static const tool_option table[] = {
    {"json", OPTION_FLAG, FIELD(json), 0, 0, NULL, "ls, show, verify: for programs", NULL},
    {"format", OPTION_CALL, 0, 0, 0, "FORMAT",
     "export: vtk (legacy, the default), vti, or raw with XDMF; dump: text or csv", set_format},
    {"output", OPTION_TEXT, FIELD(output), 0, 0, "PREFIX", "export: how file names begin (step-N)", NULL},
    {"array", OPTION_CALL, 0, 0, 0, "NAME", "export, dump: only this; may be repeated", set_array},
    {"slice", OPTION_TEXT, FIELD(slice), 0, 0, "SLICE", "dump: as 0:10,:,3 or ::5, from 0, the end left out",
     NULL},
    {"stats", OPTION_FLAG, FIELD(statistics), 0, 0, NULL, "dump: statistics also of arrays that are named", NULL},
    {"keep", OPTION_COUNT, FIELD(keep), 1, 1000000, "N", "rm: all but the newest N complete steps", NULL},
    {"remove", OPTION_FLAG, FIELD(remove), 0, 0, NULL, "repair: remove steps that cannot be repaired", NULL},
    {"damaged", OPTION_FLAG, FIELD(damaged), 0, 0, NULL,
     "rm: what is set aside as damaged, of these steps or of all", NULL},
    {"force", OPTION_FLAG, FIELD(force), 0, 0, NULL, "export: overwrite; rm: also the last complete step", NULL},
    {"hint", OPTION_CALL, 0, 0, 0, "KEY=VALUE", "as in an MPI_Info; may be repeated", set_hint},
};
static const tool_options options = {table, sizeof table / sizeof table[0], NULL, NULL};

static void print_help(void) {
    printf("usage: sago ckpt ACTION DIR [STEP...] [options]\n"
           "       mpiexec -n RANKS sago ckpt drain|verify|export DIR ...\n\n"
           "Looks after a directory of checkpoints.\n\nActions:\n");
    for (int i = 0; i < ACTIONS; i++) {
        printf("  %-6s %-14s ", actions[i].name, actions[i].arguments);
        fold_print(stdout, actions[i].help, INDENT, INDENT, fold_width(LINE_WIDTH));
        putchar('\n');
    }
    printf("\nOptions:\n");
    options_help(&options, stdout);
    fold_help(stdout, "\n"
                      "ls, show, verify, export and dump also work while a job uses the directory; the "
                      "others refuse.\n"
                      "HDF5 and netCDF, of all arrays or one: python3 -m sago.reader DIR STEP all OUT.h5 "
                      "(or OUT.nc)\n"
                      "Exit status: 0; 1 if something is damaged, missing or went wrong; 2 for wrong "
                      "options.\n");
}

/* Reads STEP...: the words behind the directory that are no options.  Returns the index of the first option; 0: a
 * word is wrong. */
static int read_step_arguments(ckpt_command *c, int argc, char **argv, char *why) {
    int i = 3;
    for (; i < argc && strncmp(argv[i], "--", 2) != 0; i++) {
        int64_t step;
        if (c->nsteps == CKPT_STEPS_MAX || !bench_parse_count(argv[i], &step)) {
            bench_refuse(why, "'%s' is not the number of a step", argv[i]);
            return 0;
        }
        c->steps[c->nsteps++] = step;
    }
    return i;
}

/* ---- Shared by the actions ---- */

bool ckpt_complain(const ckpt_command *c) {
    if (c->speaks)
        fprintf(stderr, "sago ckpt %s: %s\n", c->action, sago_error_message());
    return false;
}

/* Reads the list of steps.  false: the reason was printed. */
static bool read_steps(ckpt_command *c) {
    for (int64_t room = 0;;) {
        int64_t count = room;
        if (sago_ckpt_list(c->ckpt, &count, c->all))
            return ckpt_complain(c);
        c->count = count;
        if (count <= room)
            return true;
        room = count; /* more steps may come meanwhile, so the list is read again */
        free(c->all);
        c->all = calloc((size_t)room, sizeof *c->all);
        if (!c->all) {
            fprintf(stderr, "sago ckpt: out of memory\n");
            MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
        }
    }
}

const sago_ckpt_step *ckpt_find(const ckpt_command *c, int64_t step) {
    const sago_ckpt_step *found = NULL; /* of several saves of one step, a complete one is meant */
    for (int64_t i = 0; i < c->count; i++)
        if (c->all[i].step == step && (!found || !ckpt_is_complete(found)))
            found = &c->all[i];
    if (!found && c->speaks)
        fprintf(stderr, "sago ckpt %s: %s has no step %" PRId64 "\n", c->action, c->dir, step);
    return found;
}

bool ckpt_choose(ckpt_command *c) {
    if (c->nsteps > 0) {
        for (int64_t i = 0; i < c->nsteps; i++)
            if (!ckpt_find(c, c->steps[i]))
                return false;
        return true;
    }
    for (int64_t i = 0; i < c->count && c->nsteps < CKPT_STEPS_MAX; i++)
        if (c->nsteps == 0 || c->steps[c->nsteps - 1] != c->all[i].step)
            c->steps[c->nsteps++] = c->all[i].step;
    return true;
}

bool ckpt_is_complete(const sago_ckpt_step *step) {
    return step->complete[SAGO_LEVEL_LOCAL] || step->complete[SAGO_LEVEL_REDUNDANT] ||
           step->complete[SAGO_LEVEL_GLOBAL];
}

const char *ckpt_state(const sago_ckpt_step *step) {
    if (ckpt_is_complete(step))
        return "complete";
    if (step->late)
        return "late";
    return step->damaged ? "damaged" : "incomplete";
}

const sago_ckpt_step *ckpt_newest(const ckpt_command *c) {
    for (int64_t i = c->count - 1; i >= 0; i--)
        if (ckpt_is_complete(&c->all[i]))
            return &c->all[i];
    return NULL;
}

void ckpt_progress(const ckpt_command *c, const char *what, int64_t i, int64_t n) {
    if (!*what)
        progress_end();
    else if (c->speaks)
        progress_set("%s (%" PRId64 " of %" PRId64 ")", what, i, n);
}

const char *ckpt_time_text(int64_t seconds, char text[CKPT_TEXT_MAX]) {
    time_t time = (time_t)seconds;
    struct tm local;
    if (seconds <= 0) /* nothing that could be read tells the size */
        snprintf(text, CKPT_TEXT_MAX, "date not known");
    else if (!localtime_r(&time, &local) || strftime(text, CKPT_TEXT_MAX, "%Y-%m-%d %H:%M:%S", &local) == 0)
        snprintf(text, CKPT_TEXT_MAX, "?");
    return text;
}

/* ---- Running an action ---- */

static bool open_directory(ckpt_command *c, bool changes) {
    MPI_Info info;
    MPI_Info_create(&info);
    for (int i = 0; i < c->nhints; i++) {
        char key[MPI_MAX_INFO_KEY];
        const char *equals = strchr(c->hints[i], '=');
        snprintf(key, sizeof key, "%.*s", (int)(equals - c->hints[i]), c->hints[i]);
        MPI_Info_set(info, key, equals + 1);
    }
    if (!changes)
        MPI_Info_set(info, "sago_ckpt_read_only", "on");
    sago_status status = sago_ckpt_open(MPI_COMM_WORLD, c->dir, info, &c->ckpt);
    MPI_Info_free(&info);
    return status == SAGO_OK || ckpt_complain(c);
}

static bool has_something(const char *dir) {
    DIR *stream = opendir(dir);
    bool found = !stream; /* opening it tells why */
    for (struct dirent *entry; stream && !found && (entry = readdir(stream));)
        found = strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    if (stream)
        closedir(stream);
    return found;
}

/* A typing error must not make a directory, nor turn an empty one into a directory of checkpoints. */
static bool is_there(const ckpt_command *c) {
    int there = access(c->dir, F_OK) == 0 ? 1 + has_something(c->dir) : 0;
    MPI_Allreduce(MPI_IN_PLACE, &there, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (there < 2 && c->speaks)
        fprintf(stderr, "sago ckpt %s: %s: %s\n", c->action, c->dir,
                there ? "it is not a checkpoint directory: it is empty" : "no such directory");
    return there == 2;
}

static int run_action(ckpt_command *c, int action) {
    int result = EXIT_FAILURE;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &c->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &c->ranks);
    c->speaks = c->rank == 0;
    if (is_there(c) && open_directory(c, actions[action].changes)) {
        if (read_steps(c))
            result = actions[action].run(c);
        ckpt_progress(c, "", 0, 0);
        if (sago_ckpt_close(&c->ckpt)) {
            ckpt_complain(c);
            result = EXIT_FAILURE;
        }
    }
    free(c->all);
    MPI_Finalize();
    return result;
}

int cmd_ckpt(int argc, char **argv) {
    static ckpt_command command = {.keep = -1, .format = "vtk"};
    char why[OPTION_WHY_MAX];
    if (command_helped(argc, argv, print_help))
        return EXIT_SUCCESS;
    int action = 0;
    while (action < ACTIONS && (argc < 2 || strcmp(actions[action].name, argv[1]) != 0))
        action++;
    if (action == ACTIONS)
        return usage_error("ckpt", "%s%s; there are ls, show, verify, repair, drain, export, dump and rm",
                           argc < 2 ? "no action given" : "no action ", argc < 2 ? "" : argv[1]);
    if (argc < 3 || !strncmp(argv[2], "--", 2))
        return usage_error("ckpt", "%s needs a directory", argv[1]);
    command.action = argv[1];
    command.dir = argv[2];
    int first = read_step_arguments(&command, argc, argv, why);
    if (first == 0 || !options_parse(&options, first, argc, argv, &command, why))
        return usage_error("ckpt", "%s", why);
    if (!strcmp(command.format, "csv") && (command.statistics || command.narrays == 0))
        return usage_error("ckpt", "--format csv is for the numbers of arrays: with --array, without --stats");
    return run_action(&command, action);
}
