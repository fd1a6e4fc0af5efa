/* Files that a command writes, kept from two runs of it and compared byte for byte.
 *
 * They do not exist when a run starts, so that it inherits nothing from the run before: no file that it does
 * not write, no byte that it leaves out.  A file that existed before is set aside, and put back at the end. */
#ifndef TOOLS_OUTPUTS_H
#define TOOLS_OUTPUTS_H

#include <stdbool.h>
#include <stdint.h>

enum { OUTPUTS_MAX = 64 };

/* The difference between the file of a run without Sago and that of a run with Sago. */
typedef struct tool_difference {
    int64_t size;  /* bytes of the longer file */
    int64_t bytes; /* bytes that differ; 0: the files are the same */
    int64_t first; /* offset */
    bool zeros;    /* all of them are 0 with Sago, or missing: perhaps no rank writes them */
} tool_difference;

typedef struct tool_output {
    const char *path;
    bool set_aside;      /* PATH.before-compare is the file that was there */
    int64_t comparisons; /* comparisons until it differed */
    tool_difference last;
    bool differs_anyway; /* the file differs between two runs without Sago, too */
} tool_output;

typedef struct tool_outputs {
    int64_t count;
    tool_output output[OUTPUTS_MAX];
} tool_outputs;

/* false: `why` says what is wrong, as in the functions below. */
bool outputs_add(tool_outputs *outputs, const char *path, char *why);

/* Sets aside what is there. */
bool outputs_begin(tool_outputs *outputs, char *why);

/* Called after a run: moves its files to PATH.with-sago or PATH.without-sago.  A file that differed before is
 * removed, after a look whether it also differs without Sago. */
bool outputs_keep(tool_outputs *outputs, bool with_sago, char *why);

/* Called after both runs: compares the files.  A file that differs stays under those names, and is not compared
 * again. */
bool outputs_compare(tool_outputs *outputs, char *why);

/* Does any file differ? */
bool outputs_differ(const tool_outputs *outputs);

/* Puts back what was there before; if there was nothing, leaves the last file that was written with Sago. */
void outputs_end(tool_outputs *outputs);

#endif
