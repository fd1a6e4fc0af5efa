/* Writing JSON. */
#include "bench/json.h"

#include <inttypes.h>
#include <math.h>

static void put_quoted(FILE *out, const char *text) {
    putc('"', out);
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c == '"' || *c == '\\')
            fprintf(out, "\\%c", *c);
        else if (*c == '\n')
            fputs("\\n", out);
        else if (*c < ' ')
            fprintf(out, "\\u%04x", *c);
        else
            putc(*c, out);
    }
    putc('"', out);
}

/* Everything before a value. */
static void begin_value(bench_json *json, const char *name) {
    if (json->depth > 0)
        fprintf(json->out, "%s\n%*s", json->empty ? "" : ",", 2 * json->depth, "");
    json->empty = false;
    if (name) {
        put_quoted(json->out, name);
        fputs(": ", json->out);
    }
}

void json_open(bench_json *json, const char *name, char bracket) {
    begin_value(json, name);
    putc(bracket, json->out);
    json->depth++;
    json->empty = true;
}

void json_close(bench_json *json, char bracket) {
    json->depth--;
    if (!json->empty)
        fprintf(json->out, "\n%*s", 2 * json->depth, "");
    putc(bracket, json->out);
    json->empty = false;
    if (json->depth == 0)
        putc('\n', json->out);
}

void json_text(bench_json *json, const char *name, const char *value) {
    begin_value(json, name);
    if (value)
        put_quoted(json->out, value);
    else
        fputs("null", json->out);
}

void json_int(bench_json *json, const char *name, int64_t value) {
    begin_value(json, name);
    fprintf(json->out, "%" PRId64, value);
}

void json_real(bench_json *json, const char *name, double value) {
    begin_value(json, name);
    if (isfinite(value))
        fprintf(json->out, "%.6g", value);
    else
        fputs("null", json->out);
}

void json_bool(bench_json *json, const char *name, bool value) {
    begin_value(json, name);
    fputs(value ? "true" : "false", json->out);
}
