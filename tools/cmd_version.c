/* `sago version`. */
#include <sago/sago.h>
#include <stdlib.h>

#include "tools/command.h"
#include "tools/fold.h"
#include "tools/options.h"

int cmd_version(int argc, char **argv) {
    if (options_ask_help(argc, argv)) {
        if (command_speaks())
            fold_help(stdout,
                      "usage: sago version\n\nPrints the version and the MPI library it was built with; 'sago "
                      "info' tells more.\n");
        return EXIT_SUCCESS;
    }
    if (argc > 1)
        return usage_error("version", "'%s' is not expected here", argv[1]);
    if (command_speaks())
        printf("sago %s, built with %s\n", sago_version(NULL, NULL, NULL), SAGO_MPI_NAME);
    return EXIT_SUCCESS;
}
