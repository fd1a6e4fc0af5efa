/* Writing JSON: commas, indentation and quoting are taken care of. */
#ifndef BENCH_JSON_H
#define BENCH_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct bench_json {
    FILE *out;
    int depth;
    bool empty; /* nothing yet at this depth */
} bench_json;

/* `name` is NULL in arrays and at the top. */
void json_open(bench_json *json, const char *name, char bracket);      /* '{' or '[' */
void json_close(bench_json *json, char bracket);                       /* '}' or ']' */
void json_text(bench_json *json, const char *name, const char *value); /* NULL: null */
void json_int(bench_json *json, const char *name, int64_t value);
void json_real(bench_json *json, const char *name, double value); /* not finite: null */
void json_bool(bench_json *json, const char *name, bool value);

#endif
