/* Writing JSON: commas, line breaks and quotes are the writer's business, the order of the values is the caller's.
 */
#ifndef SAGOI_JSON_H
#define SAGOI_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { SAGOI_JSON_INDENTED = 1000 }; /* More levels than any of our texts has: every value begins a line. */

typedef struct sagoi_json {
    FILE *out;
    int lines; /* Values in at most so many objects and arrays begin a line each; deeper ones share a line. */
    int depth; /* How many objects and arrays are open. */
    bool more; /* The innermost one has a value, so the next value needs a comma. */
} sagoi_json;

/* `name` is NULL in arrays and at the top. */
void sagoi_json_open(sagoi_json *json, const char *name, char bracket); /* '{' or '[' */
void sagoi_json_close(sagoi_json *json, char bracket); /* '}' or ']'; the last one ends the line */
void sagoi_json_text(sagoi_json *json, const char *name, const char *value); /* NULL: null */
/* An array of the lines of a text. */
void sagoi_json_lines(sagoi_json *json, const char *name, const char *text);
void sagoi_json_int(sagoi_json *json, const char *name, int64_t value);
void sagoi_json_real(sagoi_json *json, const char *name, double value);              /* not finite: null */
void sagoi_json_fixed(sagoi_json *json, const char *name, double value, int digits); /* digits after the point */
void sagoi_json_bool(sagoi_json *json, const char *name, bool value);

#endif
