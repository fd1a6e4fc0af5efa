#include "tools/colour.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Output that goes to a launcher may look like a terminal, so ranks of a job use no colours. */
static bool is_launched(void) {
    static const char *const ranks[] = {"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK"};
    bool launched = false;
    for (size_t i = 0; i < sizeof ranks / sizeof ranks[0]; i++)
        launched = launched || getenv(ranks[i]);
    return launched;
}

static bool is_coloured(void) {
    const char *no = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return !(no && *no) && terminal && *terminal && strcmp(terminal, "dumb") != 0 && isatty(STDOUT_FILENO) &&
           !is_launched();
}

const char *colour_on(tool_colour colour) {
    static const char *const codes[] = {"\033[1m", "\033[32m", "\033[31m"};
    return is_coloured() ? codes[colour] : "";
}

const char *colour_off(void) { return is_coloured() ? "\033[0m" : ""; }
