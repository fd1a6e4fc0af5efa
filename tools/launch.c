/* Finds the drop-in libraries beside this executable, and prepares the environment of a command that is to use
 * them: the list of libraries to preload, hints as SAGO_* variables, SAGO_STATS, and what Open MPI's launcher
 * needs to pass them on.
 *
 * The whole command gets the libraries, including launchers and scripts, which are not affected: the libraries
 * need nothing but the C library.  Only its environment reaches a launcher's child on another node. */
#include "tools/launch.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/params.h"

static const char *const library_names[LAUNCH_LIBRARIES] = {"libsago-mpiio.so", "libsago-gio.so"};

/* ---- Command line ---- */

int launch_options_end(int argc, char **argv) {
    int i = 1;
    while (i < argc && strncmp(argv[i], "--", 2) == 0 && argv[i][2]) {
        bool alone = strchr(argv[i], '=') || strcmp(argv[i], "--help") == 0;
        i += alone ? 1 : 2;
    }
    return i < argc ? i : argc;
}

static bool own_folder(char folder[PATH_MAX], char *why) {
    ssize_t length = readlink("/proc/self/exe", folder, PATH_MAX - 1);
    if (length < 0)
        return bench_refuse(why, "/proc/self/exe: %s", strerror(errno));
    folder[length] = '\0';
    *strrchr(folder, '/') = '\0';
    return true;
}

/* The place as installed, or as built; the last place is named if the libraries are in neither. */
static bool find_library(const char *library, char path[PATH_MAX], char *why) {
    static const char *const places[] = {SAGO_BIN_TO_LIB, "../lib"};
    char folder[PATH_MAX], name[2 * PATH_MAX] = "";
    if (!own_folder(folder, why))
        return false;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        snprintf(name, sizeof name, "%s/%s/%s", folder, places[i], library);
        if (realpath(name, path) && access(path, R_OK) == 0)
            return !strpbrk(path, " :") ||
                   bench_refuse(why, "%s cannot be preloaded: LD_PRELOAD takes no path with a blank or a colon",
                                path);
    }
    return bench_refuse(why, "%s: %s; is Sago installed completely?", name, strerror(errno));
}

bool launch_init(tool_launch *launch, int options_end, int argc, char **argv, char *why) {
    bool separated = options_end < argc && strcmp(argv[options_end], "--") == 0;
    launch->command = argv + options_end + separated;
    return sagoi_hints_init(&launch->hints) == SAGO_OK || bench_refuse(why, "%s", sago_error_message());
}

bool launch_complete(tool_launch *launch, char *why) {
    if (!launch->command[0])
        return bench_refuse(why, "no command given");
    for (int i = 0; i < LAUNCH_LIBRARIES; i++)
        if (!find_library(library_names[i], launch->libraries[i], why))
            return false;
    return true;
}

/* ---- Hints ---- */

static bool in_list(const char *list, const char *word) {
    size_t length = strlen(word);
    for (const char *item = list; item && *item; item += strspn(item, "|")) {
        size_t width = strcspn(item, "|");
        if (width == length && strncmp(item, word, length) == 0)
            return true;
        item += width;
    }
    return false;
}

/* Only Sago's own names have a variable; for other names, says what to use instead. */
static bool refuse_foreign(const char *key, char *why) {
    int64_t count;
    const sagoi_hint_row *rows = sagoi_hint_table(&count);
    for (int64_t i = 0; i < count; i++) {
        if (strcmp(key, rows[i].name) == 0)
            return bench_refuse(why, "--hint %s: can only be given by the program, in an MPI_Info", key);
        if (in_list(rows[i].alias, key))
            return bench_refuse(why, "--hint %s: give it as %s", key, rows[i].name);
    }
    return bench_refuse(why, "--hint %s: unknown; 'sago hints' lists them", key);
}

bool launch_hint(tool_launch *launch, const char *text, char *why) {
    const char *equals = strchr(text, '=');
    char key[64];
    if (!equals || equals == text || !equals[1] || equals - text >= (int64_t)sizeof key)
        return bench_refuse(why, "--hint %s: must be KEY=VALUE", text);
    snprintf(key, sizeof key, "%.*s", (int)(equals - text), text);
    if (strncmp(key, "sago_", 5) != 0)
        return refuse_foreign(key, why);
    if (sagoi_hints_set(&launch->hints, key, equals + 1) != SAGO_OK)
        return bench_refuse(why, "%s", sago_error_message());
    if (launch->nsettings == LAUNCH_SETTINGS_MAX)
        return bench_refuse(why, "more than %d hints", LAUNCH_SETTINGS_MAX);
    tool_setting *setting = &launch->settings[launch->nsettings++];
    for (size_t i = 0; i <= strlen(key); i++)
        setting->variable[i] = (char)toupper((unsigned char)key[i]);
    setting->value = equals + 1;
    return true;
}

bool launch_path(char *value, size_t capacity, const char *option, const char *file, char *why) {
    char folder[PATH_MAX] = "";
    if (!*file)
        return bench_refuse(why, "--%s: an empty path", option);
    if (*file != '/' && !getcwd(folder, sizeof folder))
        return bench_refuse(why, "--%s %s: %s", option, file, strerror(errno));
    int length = snprintf(value, capacity, "%s%s%s", folder, *folder ? "/" : "", file);
    return (size_t)length < capacity || bench_refuse(why, "--%s %s: too long a path", option, file);
}

bool launch_stats(char *value, size_t capacity, const char *text, char *why) {
    const char *file = strncmp(text, "json:", 5) == 0 ? text + 5 : NULL;
    if (!file || !*file) {
        snprintf(value, capacity, "%s", text);
        return !strcmp(text, "off") || !strcmp(text, "summary") ||
               bench_refuse(why, "--stats %s: must be off, summary or json:FILE", text);
    }
    memcpy(value, "json:", 5);
    return launch_path(value + 5, capacity - 5, "stats", file, why);
}

/* ---- Environment ---- */

/* The libraries stand behind those that are preloaded already, so that tools such as Darshan stay next to the
 * program and see its calls. */
static int add_preload(const char *library) {
    const char *others = getenv("LD_PRELOAD");
    if (!others || !*others)
        return setenv("LD_PRELOAD", library, 1);
    if (strstr(others, library))
        return 0;
    size_t capacity = strlen(others) + strlen(library) + 2;
    char *list = malloc(capacity);
    if (!list)
        return -1;
    snprintf(list, capacity, "%s:%s", others, library);
    int result = setenv("LD_PRELOAD", list, 1);
    free(list);
    return result;
}

/* Does the command begin with a launcher that passes no variables by itself, without an -x of the user's, which
 * cannot be combined with a list in the environment? */
static bool may_list_variables(char **command) {
    const char *slash = strrchr(command[0], '/'), *name = slash ? slash + 1 : command[0];
    if (strncmp(name, "mpiexec", 7) != 0 && strncmp(name, "mpirun", 6) != 0 && strncmp(name, "orterun", 7) != 0)
        return false;
    for (char **word = command + 1; *word; word++)
        if (!strcmp(*word, "-x") || strstr(*word, "mca_base_env_list"))
            return false;
    return true;
}

/* Open MPI starts ranks on other nodes with an environment of its own, to which it adds the variables that this
 * list names.  Other launchers do not know the list. */
static int list_variables(char **command) {
    static const char name[] = "OMPI_MCA_mca_base_env_list";
    char list[4096] = "";
    const char *given = getenv(name);
    if (!may_list_variables(command))
        return 0;
    size_t length = 0;
    for (char **entry = environ; *entry; entry++) { /* Open MPI warns of listed names that are not set */
        size_t width = strcspn(*entry, "=");
        bool ours = strncmp(*entry, "SAGO_", 5) == 0 || strncmp(*entry, "LD_PRELOAD=", 11) == 0;
        if (ours && length + width + 2 <= sizeof list)
            length += (size_t)snprintf(list + length, sizeof list - length, "%s%.*s", length ? ";" : "",
                                       (int)width, *entry);
    }
    if (given && length + strlen(given) + 2 <= sizeof list)
        snprintf(list + length, sizeof list - length, "%s%s", length ? ";" : "", given);
    return setenv(name, list, 1);
}

bool launch_enable(const tool_launch *launch, const char *stats, char *why) {
    bool bad = false;
    for (int i = 0; i < LAUNCH_LIBRARIES; i++)
        bad |= add_preload(launch->libraries[i]) != 0;
    for (int64_t i = 0; i < launch->nsettings; i++)
        bad |= setenv(launch->settings[i].variable, launch->settings[i].value, 1) != 0;
    bad |= stats && setenv("SAGO_STATS", stats, 1) != 0;
    bad |= list_variables(launch->command) != 0;
    return !bad || bench_refuse(why, "the environment: %s", strerror(errno));
}

bool launch_disable(const tool_launch *launch, char *why) {
    bool bad = setenv("SAGO_DISABLE", "1", 1) != 0 || list_variables(launch->command) != 0;
    return !bad || bench_refuse(why, "the environment: %s", strerror(errno));
}

int launch_execute(const tool_launch *launch, const char *subcommand) {
    execvp(launch->command[0], launch->command);
    fprintf(stderr, "sago %s: %s: %s\n", subcommand, launch->command[0], strerror(errno));
    return LAUNCH_NOT_STARTED;
}
