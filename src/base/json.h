/* Writing JSON: the writer puts commas, line breaks and quotes; the caller gives the values in their order. */
#ifndef SAGOI_JSON_H
#define SAGOI_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { SAGOI_JSON_INDENTED = 1000 }; /* more levels than any of our texts has, so that every value begins a line */

typedef struct sagoi_json {
    FILE *out;
    int lines; /* values in at most so many objects and arrays begin a line each; deeper values share a line */
    int depth; /* number of objects and arrays that are open */
    bool more; /* the innermost one has a value, so the next value needs a comma */
} sagoi_json;

/* `name` is NULL in arrays and at the top. */
void sagoi_json_open(sagoi_json *json, const char *name, char bracket); /* '{' or '[' */
void sagoi_json_close(sagoi_json *json, char bracket); /* '}' or ']'; the last one ends the line */
void sagoi_json_text(sagoi_json *json, const char *name, const char *value); /* NULL: null */
/* Writes an array of the lines of a text. */
void sagoi_json_lines(sagoi_json *json, const char *name, const char *text);
void sagoi_json_int(sagoi_json *json, const char *name, int64_t value);
/* Writes null for a number that is not finite. */
void sagoi_json_real(sagoi_json *json, const char *name, double value);
void sagoi_json_fixed(sagoi_json *json, const char *name, double value, int digits); /* `digits` after the point */
void sagoi_json_bool(sagoi_json *json, const char *name, bool value);

#endif
