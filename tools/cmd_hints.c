/* `sago hints`: the table that the library reads, as text or JSON. */
#include <stdlib.h>
#include <string.h>

#include "base/hints.h"
#include "bench/json.h"
#include "tools/command.h"

enum { NAME_WIDTH = 24, LINE_WIDTH = 100 };

static const char *const type_names[] = {[SAGOI_HINT_SIZE] = "size",
                                         [SAGOI_HINT_INT] = "number",
                                         [SAGOI_HINT_BOOL] = "on|off",
                                         [SAGOI_HINT_ENUM] = NULL,
                                         [SAGOI_HINT_TEXT] = "text"};

/* 4194304 as "4M". */
static void format_size(int64_t bytes, char *text, size_t capacity) {
    static const char units[] = "BKMGTP";
    int u = 0;
    for (; u < 5 && bytes && bytes % 1024 == 0; u++)
        bytes /= 1024;
    if (u)
        snprintf(text, capacity, "%lld%c", (long long)bytes, units[u]);
    else
        snprintf(text, capacity, "%lld", (long long)bytes);
}

static void describe_values(const sagoi_hint_row *row, char *text, size_t capacity) {
    char low[32], high[32];
    if (row->type == SAGOI_HINT_ENUM || row->type == SAGOI_HINT_BOOL || row->type == SAGOI_HINT_TEXT) {
        snprintf(text, capacity, "%s", row->choices ? row->choices : type_names[row->type]);
    } else if (row->type == SAGOI_HINT_SIZE) {
        format_size(row->low, low, sizeof low);
        format_size(row->high, high, sizeof high);
        snprintf(text, capacity, "size from %s to %s", low, high);
    } else {
        snprintf(text, capacity, "number from %lld to %lld", (long long)row->low, (long long)row->high);
    }
}

/* Breaks at blanks, and indents what follows. */
static void print_wrapped(const char *text) {
    int column = NAME_WIDTH;
    for (const char *word = text; *word;) {
        int length = (int)strcspn(word, " ");
        if (column > NAME_WIDTH && column + 1 + length > LINE_WIDTH) {
            printf("\n%*s", NAME_WIDTH, "");
            column = NAME_WIDTH;
        }
        column += printf("%s%.*s", column > NAME_WIDTH ? " " : "", length, word);
        word += length + (word[length] == ' ');
    }
    putchar('\n');
}

static void print_text(const sagoi_hint_row *rows, int64_t count, const sagoi_hints *hints) {
    for (int64_t i = 0; i < count; i++) {
        char values[128], now[SAGOI_HINT_TEXT_MAX], line[2 * SAGOI_HINT_TEXT_MAX];
        describe_values(&rows[i], values, sizeof values);
        sagoi_hint_format(hints, &rows[i], now, sizeof now);
        printf("%-*s", NAME_WIDTH, rows[i].name);
        print_wrapped(rows[i].help);
        snprintf(line, sizeof line, "%s; default %s%s%s%s%s", values, rows[i].fallback,
                 strcmp(now, rows[i].fallback) ? ", in force here " : "", strcmp(now, rows[i].fallback) ? now : "",
                 rows[i].alias ? "; also as " : "", rows[i].alias ? rows[i].alias : "");
        printf("%*s", NAME_WIDTH, "");
        print_wrapped(line);
    }
    printf("\nGive hints in an MPI_Info, or as defaults in the environment: SAGO_MEMORY=64M for sago_memory.\n");
}

static void print_json(const sagoi_hint_row *rows, int64_t count, const sagoi_hints *hints) {
    static const char *const names[] = {[SAGOI_HINT_SIZE] = "size",
                                        [SAGOI_HINT_INT] = "int",
                                        [SAGOI_HINT_BOOL] = "bool",
                                        [SAGOI_HINT_ENUM] = "enum",
                                        [SAGOI_HINT_TEXT] = "text"};
    bench_json json = {.out = stdout};
    json_open(&json, NULL, '[');
    for (int64_t i = 0; i < count; i++) {
        bool ranged = rows[i].type == SAGOI_HINT_SIZE || rows[i].type == SAGOI_HINT_INT;
        char now[SAGOI_HINT_TEXT_MAX];
        sagoi_hint_format(hints, &rows[i], now, sizeof now);
        json_open(&json, NULL, '{');
        json_text(&json, "name", rows[i].name);
        json_text(&json, "type", names[rows[i].type]);
        json_text(&json, "default", rows[i].fallback);
        json_text(&json, "value", now);
        if (ranged) {
            json_int(&json, "low", rows[i].low);
            json_int(&json, "high", rows[i].high);
        }
        json_text(&json, "choices", rows[i].choices);
        json_text(&json, "alias", rows[i].alias);
        json_text(&json, "help", rows[i].help);
        json_close(&json, '}');
    }
    json_close(&json, ']');
}

int cmd_hints(int argc, char **argv) {
    bool json = argc > 1 && !strcmp(argv[1], "--json");
    if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
        puts("usage: sago hints [--json]\n\nLists the hints: what they do, their values, defaults and other "
             "names.");
        return EXIT_SUCCESS;
    }
    if (argc > 1 + json)
        return usage_error("hints", "'%s' is not expected here", argv[1 + json]);
    sagoi_hints hints;
    if (sagoi_hints_init(&hints) != SAGO_OK) {
        fprintf(stderr, "sago hints: %s\n", sago_error_message());
        return EXIT_FAILURE;
    }
    int64_t count;
    const sagoi_hint_row *rows = sagoi_hint_table(&count);
    if (json)
        print_json(rows, count, &hints);
    else
        print_text(rows, count, &hints);
    return EXIT_SUCCESS;
}
