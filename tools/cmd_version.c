/* `sago version`. */
#include <sago/sago.h>
#include <stdlib.h>

#include "tools/command.h"

int cmd_version(int argc, char **argv) {
    if (argc > 1)
        return usage_error("version", "'%s' is not expected here", argv[1]);
    if (command_speaks())
        printf("sago %s, built with %s\n", sago_version(NULL, NULL, NULL), SAGO_MPI_NAME);
    return EXIT_SUCCESS;
}
