#include "tools/fold.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { NARROWEST = 40, WIDEST = 100, HELP_WIDTH = 80 };

int fold_width(int otherwise) {
    struct winsize size;
    if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return otherwise;
    return size.ws_col < NARROWEST ? NARROWEST : size.ws_col > WIDEST ? WIDEST : size.ws_col;
}

void fold_print(FILE *out, const char *text, int column, int indent, int width) {
    int begun = 0; /* words on this line */
    for (const char *word = text; *word;) {
        const int length = (int)strcspn(word, " ");
        if (begun > 0 && column + 1 + length > width) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
            begun = 0;
        }
        /* A second blank after a sentence is an empty word, which begins no line. */
        if (length > 0 || begun > 0) {
            fprintf(out, "%s%.*s", begun > 0 ? " " : "", length, word);
            column += length + (begun++ > 0);
        }
        word += length + (word[length] == ' ');
    }
}

/* Where a line that is too long goes on: below its second column, or a little to the right of where it begins, so
 * that it is not taken for the next line.  Two blanks after a sentence begin no column. */
static int hang(const char *line, int lead) {
    const char *gap = strstr(line + lead, "  ");
    if (gap && gap > line && gap - line < NARROWEST && gap[-1] != '.')
        return (int)(gap - line) + (int)strspn(gap, " ");
    return lead > 0 ? lead + 2 : 0;
}

static void fold_line(FILE *out, const char *line, int width) {
    const int lead = (int)strspn(line, " ");
    if (line[lead]) {
        fprintf(out, "%*s", lead, "");
        fold_print(out, line + lead, lead, hang(line, lead), width);
    }
    putc('\n', out);
}

void fold_lines(FILE *out, const char *text, int width) {
    while (*text) {
        const size_t length = strcspn(text, "\n");
        char *line = strndup(text, length);
        if (line)
            fold_line(out, line, width);
        free(line);
        text += length + (text[length] == '\n');
    }
}

void fold_help(FILE *out, const char *text) { fold_lines(out, text, fold_width(HELP_WIDTH)); }

void fold_printed(void (*print)(const void *what, FILE *out), const void *what) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    print(what, out ? out : stdout);
    if (out && fclose(out) == 0)
        fold_lines(stdout, text, fold_width(FOLD_NEVER));
    free(text);
}
