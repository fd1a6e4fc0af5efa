/* `sago`: finds the subcommand in a table and runs it. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/spelling.h"
#include "tools/command.h"
#include "tools/options.h"

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *help;
} commands[] = {
    {"run", cmd_run, "run a command, so that Sago does the collective MPI-IO in it"},
    {"compare", cmd_compare, "run a command with and without Sago; compare times and files"},
    {"report", cmd_report, "show what a job has recorded (SAGO_REPORT); two runs side by side"},
    {"bench", cmd_bench, "measure an access pattern beside MPI-IO; run it by mpiexec"},
    {"plan", cmd_plan, "show how Sago would move an access pattern on a machine"},
    {"sim", cmd_sim, "simulate an access pattern on a machine, beside other libraries"},
    {"topo", cmd_topo, "show the machine: network, nodes, memory, storage"},
    {"tune", cmd_tune, "measure this system and write the site file; run it by mpiexec"},
    {"ckpt", cmd_ckpt, "look after a directory of checkpoints"},
    {"subfile", cmd_subfile, "look at a file that is kept in several, or make one of them"},
    {"tier", cmd_tier, "find, merge or remove what jobs that died left in local storage"},
    {"hints", cmd_hints, "list the hints and their defaults"},
    {"info", cmd_info, "tell what this Sago is, and whether this machine can do what it needs"},
    {"version", cmd_version, "print the version and the MPI library it was built with"},
};
enum { COMMANDS = sizeof commands / sizeof commands[0] };

bool command_speaks(void) {
    static const char *const ranks[] = {"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK"};
    for (size_t i = 0; i < sizeof ranks / sizeof ranks[0]; i++)
        if (getenv(ranks[i]))
            return strcmp(getenv(ranks[i]), "0") == 0;
    return true;
}

bool command_helped(int argc, char **argv, void (*print)(void)) {
    if (!options_ask_help(argc, argv))
        return false;
    if (command_speaks())
        print();
    return true;
}

int usage_error(const char *command, const char *format, ...) {
    va_list arguments;
    if (!command_speaks())
        return EXIT_USAGE;
    fprintf(stderr, "sago%s%s: ", *command ? " " : "", command);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, "\nTry 'sago%s%s --help'.\n", *command ? " " : "", command);
    return EXIT_USAGE;
}

static void print_help(FILE *out) {
    fprintf(out, "usage: sago COMMAND [arguments]\n\nCollective I/O on MPI.\n\n");
    for (int i = 0; i < COMMANDS; i++)
        fprintf(out, "  %-8s %s\n", commands[i].name, commands[i].help);
    fprintf(out, "\n'sago COMMAND --help' tells more; so do the man pages sago(1), sago-run(1) ...\n");
}

static int run(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "";
    char *asked[] = {argc > 2 ? argv[2] : NULL, "--help", NULL};
    if (!strcmp(name, "help") && asked[0]) /* as `sago COMMAND --help` */
        for (int i = 0; i < COMMANDS; i++)
            if (strcmp(commands[i].name, asked[0]) == 0)
                return commands[i].run(2, asked);
    if (!strcmp(name, "help") && asked[0])
        name = asked[0];
    if (!strcmp(name, "--help") || !strcmp(name, "-h") || !strcmp(name, "help")) {
        if (command_speaks())
            print_help(stdout);
        return EXIT_SUCCESS;
    }
    if (!strcmp(name, "--version"))
        name = "version";
    for (int i = 0; i < COMMANDS; i++)
        if (strcmp(commands[i].name, name) == 0)
            return commands[i].run(argc - 1, argv + 1);
    if (argc < 2)
        return usage_error("", "no command given");
    sagoi_spelling spelling = {.word = name};
    for (int i = 0; i < COMMANDS; i++)
        sagoi_spelling_offer(&spelling, commands[i].name);
    const char *meant = sagoi_spelling_guess(&spelling);
    return meant ? usage_error("", "no command '%s'; did you mean %s?", name, meant)
                 : usage_error("", "no command '%s'", name);
}

/* Standard output may be a full disk or a closed descriptor, and programs that read it go by the exit status. */
int main(int argc, char **argv) {
    int code = run(argc, argv);
    if (fflush(stdout) == 0 && !ferror(stdout))
        return code;
    fprintf(stderr, "sago: not all of the output could be written\n");
    return code == EXIT_SUCCESS ? EXIT_FAILURE : code;
}
