#include "tools/colour.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_coloured(void) {
    const char *no = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return !(no && *no) && terminal && *terminal && strcmp(terminal, "dumb") != 0 && isatty(STDOUT_FILENO);
}

const char *colour_on(tool_colour colour) {
    static const char *const codes[] = {"\033[1m", "\033[32m", "\033[31m"};
    return is_coloured() ? codes[colour] : "";
}

const char *colour_off(void) { return is_coloured() ? "\033[0m" : ""; }
