/* Reading JSON into a tree. */
#ifndef TOOLS_JSON_TREE_H
#define TOOLS_JSON_TREE_H

#include <stdint.h>

typedef enum { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_TEXT, JSON_ARRAY, JSON_OBJECT } json_kind;

typedef struct tree_value {
    json_kind kind;
    double number;            /* value of a number, or 0 or 1 for a bool */
    char *text;               /* value of a text */
    char *name;               /* name of a member of an object; else NULL */
    struct tree_value *first; /* first element of an array or object */
    struct tree_value *next;
} tree_value;

/* The text of a file, from malloc(); NULL: `why` says what is wrong. */
char *tree_read_text(const char *path, char *why);
/* NULL: the text is not JSON, or nested too deeply; *line: where. */
tree_value *tree_parse(const char *text, int64_t *line);
void tree_free(tree_value *value);

/* A member of an object; if there is none, a null, so that look-ups can be chained. */
const tree_value *tree_get(const tree_value *object, const char *name);
/* 0 and "" for values of other types. */
double tree_number(const tree_value *object, const char *name);
const char *tree_text(const tree_value *object, const char *name);

#endif
