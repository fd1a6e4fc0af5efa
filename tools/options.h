/* Command-line options from a table: --name VALUE, --name=VALUE, and flags. */
#ifndef TOOLS_OPTIONS_H
#define TOOLS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef enum {
    OPTION_FLAG,  /* bool */
    OPTION_TEXT,  /* const char * */
    OPTION_COUNT, /* int64_t */
    OPTION_SIZE,  /* int64_t, bytes */
    OPTION_CALL   /* `call` takes the value */
} option_kind;

typedef struct tool_option {
    const char *name;
    option_kind kind;
    size_t field; /* offset in the target */
    int64_t low, high;
    const char *value; /* how help names the value */
    const char *help;
    bool (*call)(void *target, const char *value, char *why);
} tool_option;

typedef struct tool_options {
    const tool_option *table;
    int64_t count;
    /* Takes sizes of patterns, which are not in the table; false: with the reason.  NULL: there are no other
     * options. */
    bool (*other)(void *target, const char *name, const char *value, char *why);
    const char *note; /* printed with an unknown option; may be NULL */
} tool_options;

enum { OPTION_WHY_MAX = 400 };

/* Reads argv[first...].  false: `why` says what is wrong. */
bool options_parse(const tool_options *options, int first, int argc, char **argv, void *target, char *why);
void options_help(const tool_options *options, FILE *out);

/* Is --help or -h among the arguments? */
bool options_ask_help(int argc, char **argv);

#endif
