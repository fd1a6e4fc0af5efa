/* A command of the user's, run with the drop-in libraries that belong to this `sago`. */
#ifndef TOOLS_LAUNCH_H
#define TOOLS_LAUNCH_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/hints.h"

enum { LAUNCH_SETTINGS_MAX = 64, LAUNCH_NOT_STARTED = 127, LAUNCH_LIBRARIES = 2 };

typedef struct tool_setting {
    char variable[64]; /* SAGO_MEMORY */
    const char *value;
} tool_setting;

typedef struct tool_launch {
    char libraries[LAUNCH_LIBRARIES][PATH_MAX];
    sagoi_hints hints; /* only to check what is given */
    int64_t nsettings;
    tool_setting settings[LAUNCH_SETTINGS_MAX]; /* hints as environment variables */
    char **command;                             /* ends with NULL */
} tool_launch;

/* Where sago's own options end: they begin with "--" and take a value, but for --help; "--" or the first other
 * word ends them. */
int launch_options_end(int argc, char **argv);

/* Takes what follows sago's options as the command.  False: `why`, also for all below. */
bool launch_init(tool_launch *launch, int options_end, int argc, char **argv, char *why);

/* "sago_memory=32M" */
bool launch_hint(tool_launch *launch, const char *text, char *why);

/* off, summary or json:FILE, for SAGO_STATS; FILE is made absolute, for ranks that start in another folder. */
bool launch_stats(char *value, size_t capacity, const char *text, char *why);
/* A file for another variable, made absolute, too; `option`: whose value it is. */
bool launch_path(char *value, size_t capacity, const char *option, const char *file, char *why);

/* When the options are read: is there a command, and where are the libraries? */
bool launch_complete(tool_launch *launch, char *why);

/* Changes the environment of this process for the command: with the libraries, or certainly without. */
bool launch_enable(const tool_launch *launch, const char *stats, char *why);
bool launch_disable(const tool_launch *launch, char *why);

/* Becomes the command.  Returns only if it cannot: LAUNCH_NOT_STARTED, and says why on stderr. */
int launch_execute(const tool_launch *launch, const char *subcommand);

#endif
