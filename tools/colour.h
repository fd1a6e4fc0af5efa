/* Colours on a terminal that has them; nothing where NO_COLOR is set, or the output is no terminal. */
#ifndef TOOLS_COLOUR_H
#define TOOLS_COLOUR_H

typedef enum { COLOUR_BOLD, COLOUR_GOOD, COLOUR_BAD } tool_colour;

/* What begins and ends it on standard output; "" where there is none. */
const char *colour_on(tool_colour colour);
const char *colour_off(void);

#endif
