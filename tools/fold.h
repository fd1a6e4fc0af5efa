/* Text in lines that fit the terminal, broken at blanks. */
#ifndef TOOLS_FOLD_H
#define TOOLS_FOLD_H

#include <limits.h>
#include <stdio.h>

/* A width for output that programs read, which should not depend on it. */
enum { FOLD_NEVER = INT_MAX };

/* Columns of the terminal that standard output is, from 40 to 100; `otherwise` where it is none. */
int fold_width(int otherwise);

/* Prints the text from `column` on, and goes to the next line where a word would pass `width`.  Lines that follow
 * begin at `indent`.  Ends without a newline. */
void fold_print(FILE *out, const char *text, int column, int indent, int width);

/* Prints lines.  One that does not fit goes on below its second column, if it has two, as "  name    what it is".
 */
void fold_lines(FILE *out, const char *text, int width);
/* The same for a help, which has a paragraph on each line. */
void fold_help(FILE *out, const char *text);
/* Calls `print`, and prints on standard output what it has written, folded if that is a terminal. */
void fold_printed(void (*print)(const void *what, FILE *out), const void *what);

#endif
