#include "tools/json_tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/params.h"

enum { DEEPEST = 64 };

typedef struct reader {
    const char *at;
    int64_t line;
    int depth;
} reader;

static const tree_value nothing = {.kind = JSON_NULL};

static tree_value *read_value(reader *r);

static void skip_blanks(reader *r) {
    for (; *r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r'; r->at++)
        r->line += *r->at == '\n';
}

static bool take(reader *r, const char *word) {
    size_t length = strlen(word);
    if (strncmp(r->at, word, length) != 0)
        return false;
    r->at += length;
    return true;
}

static bool read_hex(reader *r, unsigned *code) {
    char digits[5] = "", *end;
    for (int i = 0; i < 4 && r->at[i]; i++)
        digits[i] = r->at[i];
    *code = (unsigned)strtoul(digits, &end, 16);
    if (end != digits + 4)
        return false;
    r->at += 4;
    return true;
}

/* Writes a character as UTF-8; halves of surrogate pairs are written one by one, which names of files never
 * need. */
static char *put_code(char *to, unsigned code) {
    if (code < 0x80) {
        *to++ = (char)code;
    } else if (code < 0x800) {
        *to++ = (char)(0xc0 | code >> 6);
        *to++ = (char)(0x80 | (code & 0x3f));
    } else {
        *to++ = (char)(0xe0 | code >> 12);
        *to++ = (char)(0x80 | (code >> 6 & 0x3f));
        *to++ = (char)(0x80 | (code & 0x3f));
    }
    return to;
}

/* The character that a backslash and this character stand for; NULL: none. */
static char *read_escape(reader *r, char *to) {
    static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    char letter = *r->at++;
    unsigned code = 0;
    if (letter == 'u')
        return read_hex(r, &code) ? put_code(to, code) : NULL;
    const char *which = letter ? strchr(letters, letter) : NULL;
    if (!which)
        return NULL;
    *to++ = meant[which - letters];
    return to;
}

/* Reads a text behind its opening quote; it never gets longer than its source. */
static char *read_text(reader *r) {
    size_t room = 0;
    while (r->at[room] && r->at[room] != '"')
        room += r->at[room] == '\\' && r->at[room + 1] ? 2 : 1;
    char *text = malloc(room + 4), *to = text;
    while (to && *r->at && *r->at != '"') {
        if (*r->at == '\\') {
            r->at++;
            to = read_escape(r, to);
        } else {
            *to++ = *r->at++;
        }
    }
    if (!to || !take(r, "\"")) {
        free(text);
        return NULL;
    }
    *to = '\0';
    return text;
}

/* Reads "name": of an object's member. */
static bool read_name(reader *r, char **name) {
    skip_blanks(r);
    *name = take(r, "\"") ? read_text(r) : NULL;
    skip_blanks(r);
    return *name && take(r, ":");
}

/* Reads everything up to the closing bracket. */
static bool read_members(reader *r, tree_value *of, const char *close) {
    tree_value **last = &of->first;
    skip_blanks(r);
    if (take(r, close))
        return true;
    do {
        char *name = NULL;
        bool ok = of->kind == JSON_ARRAY || read_name(r, &name);
        *last = ok ? read_value(r) : NULL;
        if (!*last) {
            free(name);
            return false;
        }
        (*last)->name = name;
        last = &(*last)->next;
        skip_blanks(r);
    } while (take(r, ","));
    return take(r, close);
}

static bool read_number(reader *r, tree_value *value) {
    char *end;
    value->kind = JSON_NUMBER;
    value->number = strtod(r->at, &end);
    bool read = end > r->at;
    r->at = end;
    return read;
}

static bool read_into(reader *r, tree_value *value) {
    if (take(r, "{")) {
        value->kind = JSON_OBJECT;
        return read_members(r, value, "}");
    }
    if (take(r, "[")) {
        value->kind = JSON_ARRAY;
        return read_members(r, value, "]");
    }
    if (take(r, "\"")) {
        value->kind = JSON_TEXT;
        value->text = read_text(r);
        return value->text;
    }
    if (take(r, "null"))
        return true;
    value->kind = JSON_BOOL;
    value->number = 1;
    if (take(r, "true"))
        return true;
    value->number = 0;
    return take(r, "false") || read_number(r, value);
}

static tree_value *read_value(reader *r) {
    tree_value *value = r->depth < DEEPEST ? calloc(1, sizeof *value) : NULL;
    skip_blanks(r);
    r->depth++;
    bool ok = value && read_into(r, value);
    r->depth--;
    if (ok)
        return value;
    tree_free(value);
    return NULL;
}

tree_value *tree_parse(const char *text, int64_t *line) {
    reader r = {.at = text, .line = 1};
    tree_value *value = read_value(&r);
    skip_blanks(&r);
    *line = r.line;
    if (value && !*r.at)
        return value;
    tree_free(value);
    return NULL;
}

void tree_free(tree_value *value) {
    while (value) {
        tree_value *next = value->next;
        tree_free(value->first);
        free(value->text);
        free(value->name);
        free(value);
        value = next;
    }
}

const tree_value *tree_get(const tree_value *object, const char *name) {
    const tree_value *at = object->kind == JSON_OBJECT ? object->first : NULL;
    while (at && strcmp(at->name, name) != 0)
        at = at->next;
    return at ? at : &nothing;
}

double tree_number(const tree_value *object, const char *name) { return tree_get(object, name)->number; }

const char *tree_text(const tree_value *object, const char *name) {
    const tree_value *value = tree_get(object, name);
    return value->text ? value->text : "";
}

char *tree_read_text(const char *path, char *why) {
    FILE *in = fopen(path, "r");
    char *text = NULL, part[65536];
    size_t size = 0, length;
    FILE *out = in ? open_memstream(&text, &size) : NULL;
    if (!out) {
        (void)bench_refuse(why, "%s: %s", path, strerror(errno));
        if (in)
            (void)fclose(in);
        return NULL;
    }
    while ((length = fread(part, 1, sizeof part, in)) > 0)
        (void)fwrite(part, 1, length, out);
    (void)fclose(in);
    (void)fclose(out);
    return text;
}
