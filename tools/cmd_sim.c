/* `sago sim`: starts the simulator, which is a program of its own, since only it needs SimGrid. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/command.h"
#include "tools/fold.h"

/* "sago-sim" beside this program. */
static bool find_beside(char path[PATH_MAX]) {
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
    if (length <= 0)
        return false;
    path[length] = '\0';
    char *name = strrchr(path, '/');
    if (!name || (size_t)(name - path) + sizeof "/sago-sim" > PATH_MAX)
        return false;
    memcpy(name, "/sago-sim", sizeof "/sago-sim");
    return access(path, X_OK) == 0;
}

int cmd_sim(int argc, char **argv) {
    char path[PATH_MAX];
    if (find_beside(path)) {
        execv(path, argv);
        fprintf(stderr, "sago sim: %s: %s\n", path, strerror(errno));
        return EXIT_FAILURE;
    }
    const bool help = argc > 1 && !strcmp(argv[1], "--help");
    fold_help(help ? stdout : stderr,
              "sago sim: the simulator sago-sim is not installed beside sago.  It needs SimGrid "
              "(Debian: libsimgrid-dev).  In Sago's source, 'make sim' installs that, builds "
              "sago-sim, and 'make install' then installs it, too.  sago-sim(1) tells what it "
              "does.\n");
    return help ? EXIT_SUCCESS : EXIT_FAILURE;
}
