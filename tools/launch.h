/* Running a command of the user's with the drop-in libraries that belong to this `sago`. */
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
    sagoi_hints hints; /* only for checking the values */
    int64_t nsettings;
    tool_setting settings[LAUNCH_SETTINGS_MAX]; /* hints in the form of environment variables */
    char **command;                             /* ends with NULL */
} tool_launch;

/* The index behind sago's own options, which begin with "--" and take a value (except --help); "--" or the first
 * other word ends them. */
int launch_options_end(int argc, char **argv);

/* Takes the words behind sago's options as the command.  false: `why` says what is wrong, as in the functions
 * below. */
bool launch_init(tool_launch *launch, int options_end, int argc, char **argv, char *why);

/* Takes "sago_memory=32M". */
bool launch_hint(tool_launch *launch, const char *text, char *why);

/* Takes off, summary or json:FILE for SAGO_STATS; FILE is made absolute, for ranks that start in another
 * folder. */
bool launch_stats(char *value, size_t capacity, const char *text, char *why);
/* Takes a file for another variable, and makes it absolute; `option`: the option's name. */
bool launch_path(char *value, size_t capacity, const char *option, const char *file, char *why);

/* Called when the options are read: is there a command, and where are the libraries? */
bool launch_complete(tool_launch *launch, char *why);

/* Changes the environment of this process for the command: with the libraries, or without them for certain. */
bool launch_enable(const tool_launch *launch, const char *stats, char *why);
bool launch_disable(const tool_launch *launch, char *why);

/* Becomes the command.  Returns only on failure: LAUNCH_NOT_STARTED, after printing why on stderr. */
int launch_execute(const tool_launch *launch, const char *subcommand);

#endif
