/* Files that a command writes, kept from two runs of it and compared byte for byte.
 *
 * They are absent when a run starts, so that nothing is inherited from the run before: not a file that was not
 * written, not a byte that was left out.  A file that was there before is set aside and put back at the end. */
#ifndef TOOLS_OUTPUTS_H
#define TOOLS_OUTPUTS_H

#include <stdbool.h>
#include <stdint.h>

enum { OUTPUTS_MAX = 64 };

/* Between the file of a run without Sago and that of a run with it. */
typedef struct tool_difference {
    int64_t size;  /* of the longer one, bytes */
    int64_t bytes; /* that differ; 0: they are the same */
    int64_t first; /* offset */
    bool zeros;    /* all that differ are 0 with Sago, or not there: perhaps bytes that nobody wrote */
} tool_difference;

typedef struct tool_output {
    const char *path;
    bool set_aside;      /* PATH.before-compare is what was there */
    int64_t comparisons; /* until it differed */
    tool_difference last;
    bool differs_anyway; /* also between two runs without Sago */
} tool_output;

typedef struct tool_outputs {
    int64_t count;
    tool_output output[OUTPUTS_MAX];
} tool_outputs;

/* False: `why`, here and below. */
bool outputs_add(tool_outputs *outputs, const char *path, char *why);

/* Sets aside what is there. */
bool outputs_begin(tool_outputs *outputs, char *why);

/* After a run: moves its files to PATH.with-sago or PATH.without-sago; one that differed before is removed, after
 * a look whether it does so without Sago, too. */
bool outputs_keep(tool_outputs *outputs, bool with_sago, char *why);

/* After both: compares.  A file that differs stays, under those names, and is not compared again. */
bool outputs_compare(tool_outputs *outputs, char *why);

/* Does any file differ? */
bool outputs_differ(const tool_outputs *outputs);

/* Puts back what was there before; if nothing was, leaves the last file that was written with Sago. */
void outputs_end(tool_outputs *outputs);

#endif
