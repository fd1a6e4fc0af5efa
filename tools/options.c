/* Parsing command lines by a table. */
#include "tools/options.h"

#include <inttypes.h>
#include <string.h>

#include "base/hints.h"
#include "base/size_text.h"
#include "base/spelling.h"
#include "bench/params.h"
#include "tools/fold.h"

enum { INDENT = 23, LINE_WIDTH = 80 }; /* columns of the texts that describe options */

static const tool_option *find(const tool_options *options, const char *name) {
    for (int64_t i = 0; i < options->count; i++)
        if (strcmp(options->table[i].name, name) == 0)
            return &options->table[i];
    return NULL;
}

static bool set_number(const tool_option *option, int64_t *field, const char *text, char *why) {
    int64_t value;
    bool size = option->kind == OPTION_SIZE;
    bool ok = size ? sagoi_parse_size(text, &value) : bench_parse_count(text, &value);
    if (ok && value >= option->low && value <= option->high) {
        *field = value;
        return true;
    }
    if (size)
        return bench_refuse(why, "--%s %s: must be a size (4096, 64K, 1G) from %s to %s", option->name, text,
                            sagoi_size_to_hint(option->low).text, sagoi_size_to_hint(option->high).text);
    if (option->high == INT64_MAX)
        return bench_refuse(why, "--%s %s: must be a number, at least %" PRId64, option->name, text, option->low);
    return bench_refuse(why, "--%s %s: must be a number from %" PRId64 " to %" PRId64, option->name, text,
                        option->low, option->high);
}

static bool set(const tool_option *option, void *target, const char *text, char *why) {
    char *field = (char *)target + option->field;
    switch (option->kind) {
    case OPTION_FLAG:
        *(bool *)field = true;
        return true;
    case OPTION_TEXT:
        *(const char **)field = text;
        return *text || bench_refuse(why, "--%s: an empty value", option->name);
    case OPTION_CALL:
        return option->call(target, text, why);
    default:
        return set_number(option, (int64_t *)field, text, why);
    }
}

/* Suggests what was meant, among the table's options and, if they are options here, the sizes of patterns. */
static bool refuse_unknown(const tool_options *options, const char *name, char *why) {
    sagoi_spelling spelling = {.word = name};
    for (int64_t i = 0; i < options->count; i++)
        sagoi_spelling_offer(&spelling, options->table[i].name);
    const char *size = NULL;
    for (int64_t i = 0; options->other && (size = bench_params_any(i)); i++)
        sagoi_spelling_offer(&spelling, size);
    const char *meant = sagoi_spelling_guess(&spelling);
    if (meant)
        return bench_refuse(why, "--%s is no option; did you mean --%s?", name, meant);
    return bench_refuse(why, "--%s is no option%s%s", name, options->note ? "; " : "",
                        options->note ? options->note : "");
}

static bool is_size(const char *name) {
    const char *size = NULL;
    for (int64_t i = 0; (size = bench_params_any(i)); i++)
        if (strcmp(size, name) == 0)
            return true;
    return false;
}

bool options_parse(const tool_options *options, int first, int argc, char **argv, void *target, char *why) {
    for (int i = first; i < argc; i++) {
        char name[64];
        const char *word = argv[i], *equals = strchr(word, '=');
        if (strncmp(word, "--", 2) != 0)
            return bench_refuse(why, "'%s' is not expected here", word);
        snprintf(name, sizeof name, "%.*s", equals ? (int)(equals - word - 2) : 60, word + 2);
        const tool_option *option = find(options, name);
        if (option && option->kind == OPTION_FLAG) {
            if (equals)
                return bench_refuse(why, "--%s takes no value", name);
            (void)set(option, target, NULL, why);
            continue;
        }
        if (!option && !(options->other && is_size(name)))
            return refuse_unknown(options, name, why);
        if (!equals && i + 1 == argc)
            return bench_refuse(why, "--%s needs a value", name);
        const char *value = equals ? equals + 1 : argv[++i];
        if (!(option ? set(option, target, value, why) : options->other(target, name, value, why)))
            return false;
    }
    return true;
}

void options_help(const tool_options *options, FILE *out) {
    for (int64_t i = 0; i < options->count; i++) {
        const tool_option *option = &options->table[i];
        char left[48];
        snprintf(left, sizeof left, "--%s %s", option->name, option->value ? option->value : "");
        if (strlen(left) > 20) /* long options have a line of their own, so that columns do not collide */
            fprintf(out, "  %s\n%*s", left, INDENT, "");
        else
            fprintf(out, "  %-20s ", left);
        fold_print(out, option->help, INDENT, INDENT, fold_width(LINE_WIDTH));
        putc('\n', out);
    }
}

bool options_ask_help(int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))
            return true;
    return false;
}
