/* Colours on a terminal that has them; none if NO_COLOR is set, or if the output is no terminal. */
#ifndef TOOLS_COLOUR_H
#define TOOLS_COLOUR_H

typedef enum { COLOUR_BOLD, COLOUR_GOOD, COLOUR_BAD } tool_colour;

/* Codes that begin and end a colour on standard output; "" where there are no colours. */
const char *colour_on(tool_colour colour);
const char *colour_off(void);

#endif
