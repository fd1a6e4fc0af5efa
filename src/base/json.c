#include "base/json.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/escape.h"

static void begin_line(const sagoi_json *json) { fprintf(json->out, "\n%*s", 2 * json->depth, ""); }

/* Writes everything before a value.  No blank follows the commas of long arrays of numbers, which keeps them
 * short. */
static void begin_value(sagoi_json *json, const char *name) {
    if (json->more)
        putc(',', json->out);
    if (json->depth > 0 && json->depth <= json->lines)
        begin_line(json);
    else if (json->more && name)
        putc(' ', json->out);
    json->more = true;
    if (name) {
        sagoi_escape_json(json->out, name, strlen(name));
        fputs(": ", json->out);
    }
}

void sagoi_json_open(sagoi_json *json, const char *name, char bracket) {
    begin_value(json, name);
    putc(bracket, json->out);
    json->depth++;
    json->more = false;
}

void sagoi_json_close(sagoi_json *json, char bracket) {
    bool own_line = json->more && json->depth <= json->lines;
    json->depth--;
    if (own_line)
        begin_line(json);
    putc(bracket, json->out);
    json->more = true;
    if (json->depth == 0)
        putc('\n', json->out);
}

void sagoi_json_text(sagoi_json *json, const char *name, const char *value) {
    begin_value(json, name);
    if (value)
        sagoi_escape_json(json->out, value, strlen(value));
    else
        fputs("null", json->out);
}

void sagoi_json_lines(sagoi_json *json, const char *name, const char *text) {
    sagoi_json_open(json, name, '[');
    while (*text) {
        size_t length = strcspn(text, "\n");
        begin_value(json, NULL);
        sagoi_escape_json(json->out, text, length);
        text += length + (text[length] == '\n');
    }
    sagoi_json_close(json, ']');
}

void sagoi_json_int(sagoi_json *json, const char *name, int64_t value) {
    begin_value(json, name);
    fprintf(json->out, "%" PRId64, value);
}

void sagoi_json_real(sagoi_json *json, const char *name, double value) {
    begin_value(json, name);
    if (isfinite(value))
        fprintf(json->out, "%.6g", value);
    else
        fputs("null", json->out);
}

void sagoi_json_fixed(sagoi_json *json, const char *name, double value, int digits) {
    begin_value(json, name);
    fprintf(json->out, "%.*f", digits, isfinite(value) ? value : 0.0);
}

void sagoi_json_bool(sagoi_json *json, const char *name, bool value) {
    begin_value(json, name);
    fputs(value ? "true" : "false", json->out);
}
