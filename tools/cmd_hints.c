/* `sago hints`: the table that the library reads, ordered by purpose, as text or JSON; the whole table, or the
 * named hints. */
#include <stdlib.h>
#include <string.h>

#include "base/hints.h"
#include "base/size_text.h"
#include "base/json.h"
#include "tools/colour.h"
#include "tools/command.h"
#include "tools/fold.h"

enum { NAME_WIDTH = 30, LINE_WIDTH = 100 };

/* What hints are for, in the order in which people ask. */
static const struct {
    const char *title;
    const char *names; /* names with a blank on either side; "sago_ckpt_" stands for all names that begin so */
} purposes[] = {
    {"Memory and files",
     " sago_memory sago_memory_kind sago_site sago_machine sago_local_dirs striping_factor striping_unit "},
    {"What collective calls promise",
     " sago_agree sago_nonblocking sago_patience sago_defer sago_defer_age sago_sieve "},
    {"How data moves",
     " sago_strategy sago_map sago_move sago_merge sago_layers sago_messages sago_message_size sago_plan_cache "},
    {"Aggregators", " sago_aggregators sago_local_aggregators sago_aggregators_per_target "
                    "sago_aggregators_per_node sago_placement "
                    "sago_domain_write sago_domain_read sago_group_size sago_host_memory sago_window "},
    {"File systems and system calls", " sago_io sago_direct_io sago_lock_time sago_timing "},
    {"Declared variables", " sago_series_copy sago_series_parts "},
    {"Local storage and subfiles", " sago_tier sago_tier_found sago_tier_drain sago_subfiles sago_subfile_block "},
    {"Checkpoints", " sago_ckpt_ "},
    {"Other", ""},
};
enum { PURPOSES = sizeof purposes / sizeof purposes[0] };

static int purpose_of(const sagoi_hint_row *row) {
    char word[80];
    snprintf(word, sizeof word, " %s ", row->name);
    for (int p = 0; p < PURPOSES - 1; p++)
        if (strstr(purposes[p].names, word))
            return p;
    return strncmp(row->name, "sago_ckpt_", 10) == 0 ? PURPOSES - 2 : PURPOSES - 1;
}

static const char *const type_names[] = {[SAGOI_HINT_SIZE] = "size",
                                         [SAGOI_HINT_INT] = "number",
                                         [SAGOI_HINT_BOOL] = "on|off",
                                         [SAGOI_HINT_ENUM] = NULL,
                                         [SAGOI_HINT_TEXT] = "text"};

static void describe_values(const sagoi_hint_row *row, char *text, size_t capacity) {
    if (row->type == SAGOI_HINT_TEXT && row->choices) {
        snprintf(text, capacity, "%s|number from %lld to %lld", row->choices, (long long)row->low,
                 (long long)row->high);
    } else if (row->type == SAGOI_HINT_ENUM || row->type == SAGOI_HINT_BOOL || row->type == SAGOI_HINT_TEXT) {
        snprintf(text, capacity, "%s", row->choices ? row->choices : type_names[row->type]);
    } else if (row->type == SAGOI_HINT_SIZE) {
        snprintf(text, capacity, "size from %s to %s", sagoi_size_to_hint(row->low).text,
                 sagoi_size_to_hint(row->high).text);
    } else {
        snprintf(text, capacity, "number from %lld to %lld", (long long)row->low, (long long)row->high);
    }
}

/* The lines that follow are indented. */
static void print_wrapped(const char *text) {
    fold_print(stdout, text, NAME_WIDTH, NAME_WIDTH, fold_width(LINE_WIDTH));
    putchar('\n');
}

/* Is this hint printed?  All are, or those that are named, in full or in part. */
typedef struct choice {
    const sagoi_hint_row *rows;
    int64_t count;
    int nnames;
    char **names;
    int printed; /* titles */
} choice;

static bool is_named(const sagoi_hint_row *row, const char *name) {
    return strcasestr(row->name, name) || (row->alias && strcasestr(row->alias, name));
}

static bool is_chosen(const choice *chosen, const sagoi_hint_row *row) {
    for (int i = 0; i < chosen->nnames; i++)
        if (is_named(row, chosen->names[i]))
            return true;
    return chosen->nnames == 0;
}

/* The first name that no hint has; NULL: there is none. */
static const char *unknown_name(const choice *chosen) {
    for (int n = 0; n < chosen->nnames; n++) {
        bool known = false;
        for (int64_t i = 0; i < chosen->count && !known; i++)
            known = is_named(&chosen->rows[i], chosen->names[n]);
        if (!known)
            return chosen->names[n];
    }
    return NULL;
}

static void print_row(const sagoi_hint_row *row, const sagoi_hints *hints) {
    char values[128], now[SAGOI_HINT_TEXT_MAX], line[2 * SAGOI_HINT_TEXT_MAX];
    describe_values(row, values, sizeof values);
    sagoi_hint_format(hints, row, now, sizeof now);
    printf("%s%-*s%s", colour_on(COLOUR_BOLD), NAME_WIDTH, row->name, colour_off());
    print_wrapped(row->help);
    snprintf(line, sizeof line, "%s; default %s%s%s%s%s", values, row->fallback,
             strcmp(now, row->fallback) ? ", in force here " : "", strcmp(now, row->fallback) ? now : "",
             row->alias ? "; also as " : "", row->alias ? row->alias : "");
    printf("%*s", NAME_WIDTH, "");
    print_wrapped(line);
}

static void print_text(choice *chosen, const sagoi_hints *hints) {
    for (int p = 0; p < PURPOSES; p++) {
        bool titled = false;
        for (int64_t i = 0; i < chosen->count; i++) {
            if (purpose_of(&chosen->rows[i]) != p || !is_chosen(chosen, &chosen->rows[i]))
                continue;
            if (!titled)
                printf("%s%s%s%s\n\n", chosen->printed++ ? "\n" : "", colour_on(COLOUR_GOOD), purposes[p].title,
                       colour_off());
            titled = true;
            print_row(&chosen->rows[i], hints);
        }
    }
    putchar('\n');
    fold_print(stdout,
               "Give hints in an MPI_Info, or as defaults in the environment: SAGO_MEMORY=64M for sago_memory.", 0,
               0, fold_width(LINE_WIDTH));
    putchar('\n');
}

static void print_json(const choice *chosen, const sagoi_hints *hints) {
    static const char *const names[] = {[SAGOI_HINT_SIZE] = "size",
                                        [SAGOI_HINT_INT] = "int",
                                        [SAGOI_HINT_BOOL] = "bool",
                                        [SAGOI_HINT_ENUM] = "enum",
                                        [SAGOI_HINT_TEXT] = "text"};
    sagoi_json json = {.out = stdout, .lines = SAGOI_JSON_INDENTED};
    sagoi_json_open(&json, NULL, '[');
    const sagoi_hint_row *rows = chosen->rows;
    for (int64_t i = 0; i < chosen->count; i++) {
        if (!is_chosen(chosen, &rows[i]))
            continue;
        bool ranged = rows[i].type == SAGOI_HINT_SIZE || rows[i].type == SAGOI_HINT_INT ||
                      (rows[i].type == SAGOI_HINT_TEXT && rows[i].high > rows[i].low);
        char now[SAGOI_HINT_TEXT_MAX];
        sagoi_hint_format(hints, &rows[i], now, sizeof now);
        sagoi_json_open(&json, NULL, '{');
        sagoi_json_text(&json, "name", rows[i].name);
        sagoi_json_text(&json, "group", purposes[purpose_of(&rows[i])].title);
        sagoi_json_text(&json, "type", names[rows[i].type]);
        sagoi_json_text(&json, "default", rows[i].fallback);
        sagoi_json_text(&json, "value", now);
        if (ranged) {
            sagoi_json_int(&json, "low", rows[i].low);
            sagoi_json_int(&json, "high", rows[i].high);
        }
        sagoi_json_text(&json, "choices", rows[i].choices);
        sagoi_json_text(&json, "alias", rows[i].alias);
        sagoi_json_text(&json, "help", rows[i].help);
        sagoi_json_close(&json, '}');
    }
    sagoi_json_close(&json, ']');
}

/* The table of hints knows the name that is nearest. */
static void complain_unknown(sagoi_hints *hints, const char *name) {
    char key[64];
    (void)snprintf(key, sizeof key, "%s%.40s", strncmp(name, "sago_", 5) == 0 ? "" : "sago_", name);
    if (sagoi_hints_set(hints, key, "") == SAGO_OK)
        return;
    const char *said = sago_error_message();
    fprintf(stderr, "sago hints: %s%s\n", said, strstr(said, "lists all") ? "" : "  `sago hints` lists all.");
}

int cmd_hints(int argc, char **argv) {
    bool json = false;
    int names = 0;
    if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
        fold_help(stdout, "usage: sago hints [--json] [NAME...]\n"
                          "\n"
                          "Lists the hints by purpose: what they do, their values, defaults and other names.  "
                          "NAME, or a part of one as \"stripe\" or \"ckpt\": only those.\n");
        return EXIT_SUCCESS;
    }
    for (int i = 1; i < argc; i++) {
        bool here = !strcmp(argv[i], "--json");
        if (argv[i][0] == '-' && !here)
            return usage_error("hints", "'%s' is not expected here", argv[i]);
        json = json || here;
        if (!here)
            argv[1 + names++] = argv[i];
    }
    sagoi_hints hints;
    if (sagoi_hints_init(&hints) != SAGO_OK) {
        fprintf(stderr, "sago hints: %s\n", sago_error_message());
        return EXIT_FAILURE;
    }
    choice chosen = {.nnames = names, .names = argv + 1};
    chosen.rows = sagoi_hint_table(&chosen.count);
    const char *unknown = unknown_name(&chosen);
    if (unknown) {
        complain_unknown(&hints, unknown);
        return EXIT_USAGE;
    }
    if (json)
        print_json(&chosen, &hints);
    else
        print_text(&chosen, &hints);
    return EXIT_SUCCESS;
}
