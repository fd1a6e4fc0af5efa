/* `sago tier`: what jobs with the hint sago_tier=local have left in local storage.  Listing works without MPI;
 * merging and removing is done by opening the file with the hint sago_tier_found. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include <sago/sago.h>

#include "bench/progress.h"
#include "tier/tier_record.h"
#include "tools/command.h"
#include "tools/fold.h"
#include "tools/options.h"

/* ---- ls ---- */

static bool ends_with(const char *name, const char *end) {
    size_t all = strlen(name), part = strlen(end);
    return all >= part && strcmp(name + all - part, end) == 0;
}

static bool is_in_use(const char *path) {
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    bool used = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (fd >= 0)
        (void)close(fd);
    return used;
}

static void list_part(const char *path, const sagoi_tier_part *part) {
    const char *what = is_in_use(path)                 ? "in use by a job"
                       : sagoi_tier_part_claimed(part) ? "left by a job, to be merged"
                                                       : "not wanted any more";
    printf("  %lld bytes in %lld piece%s of calls for %s, written on %s: %s\n",
           (long long)sagoi_tier_part_bytes(part), (long long)part->nblocks, part->nblocks == 1 ? "" : "s",
           part->file, part->host, what);
}

static bool list_one(const char *dir, const char *name) {
    char path[SAGOI_CKPT_PATH], record[SAGOI_CKPT_PATH + sizeof SAGOI_TIER_RECORD], *bytes = NULL;
    int64_t len = 0;
    sagoi_tier_part part;
    if (!sagoi_path_join(path, dir, name))
        return false;
    snprintf(record, sizeof record, "%s%s", path, SAGOI_TIER_RECORD);
    printf("%s\n", path);
    sago_status status = sagoi_cfile_load(record, SAGOI_RECORD_MOST, &bytes, &len);
    if (status == SAGO_ERR_NO_FILE) {
        printf("  %s\n", is_in_use(path) ? "in use by a job" : "left by a job before it called sago_sync_local");
        return true;
    }
    if (!status)
        status = sagoi_tier_part_decode(bytes, len, &part);
    if (status) {
        printf("  its record cannot be read: %s\n", sago_error_message());
    } else {
        list_part(path, &part);
        sagoi_tier_part_cleanup(&part);
    }
    free(bytes);
    return status == SAGO_OK;
}

static int list(int argc, char **argv) {
    bool ok = true, found = false;
    if (argc < 1)
        return usage_error("tier", "ls needs a directory of local storage");
    for (int i = 0; i < argc; i++) {
        DIR *stream = opendir(argv[i]);
        if (!stream) {
            fprintf(stderr, "sago tier ls: %s: %s\n", argv[i], strerror(errno));
            return EXIT_FAILURE;
        }
        for (struct dirent *entry = readdir(stream); entry; entry = readdir(stream))
            if (!strncmp(entry->d_name, SAGOI_TIER_PREFIX, strlen(SAGOI_TIER_PREFIX)) &&
                !ends_with(entry->d_name, SAGOI_TIER_RECORD) && !ends_with(entry->d_name, SAGOI_ASIDE_SUFFIX)) {
                ok &= list_one(argv[i], entry->d_name);
                found = true;
            }
        closedir(stream);
    }
    if (!found)
        puts("nothing was left there");
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* ---- merge and rm ---- */

typedef struct tier_command {
    const char *local;
    bool force;
} tier_command;

static const tool_option option_table[] = {
    {"local", OPTION_TEXT, offsetof(tier_command, local), 0, 0, "DIRS", "as in the hint sago_local_dirs", NULL},
    {"force", OPTION_FLAG, offsetof(tier_command, force), 0, 0, NULL,
     "merge also where the file may have newer data", NULL},
};
static const tool_options options = {option_table, sizeof option_table / sizeof option_table[0], NULL, NULL};

/* Looks for the claim before, since opening the file tells nothing. */
static bool has_claim(const char *file) {
    sagoi_claim_place place;
    return sagoi_claim_find(file, &place) == SAGO_OK && access(place.path, F_OK) == 0;
}

static int open_and_close(const tier_command *command, const char *action, const char *file) {
    MPI_Info info;
    sago_file *opened = NULL;
    int rank = 0;
    bool merges = !strcmp(action, "merge");
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    bool claimed = rank == 0 && has_claim(file);
    MPI_Info_create(&info);
    MPI_Info_set(info, "sago_tier", "local");
    MPI_Info_set(info, "sago_tier_found", !merges ? "drop" : command->force ? "merge" : "safe");
    if (command->local)
        MPI_Info_set(info, "sago_local_dirs", command->local);
    if (claimed)
        progress_set("%s %s", merges ? "merging" : "removing what was left of", file);
    sago_status status = sago_open(MPI_COMM_WORLD, file, MPI_MODE_RDWR, info, &opened);
    if (status == SAGO_OK)
        status = sago_close(&opened);
    progress_end();
    MPI_Info_free(&info);
    if (rank == 0 && status != SAGO_OK)
        fprintf(stderr, "sago tier %s: %s\n", action, sago_error_message());
    else if (rank == 0)
        printf("%s: %s\n", file,
               !claimed ? "nothing is left in local storage"
               : merges ? "what was left in local storage is in the file"
                        : "what was left in local storage is removed");
    MPI_Finalize();
    return status == SAGO_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* ---- Command ---- */

static void print_help(void) {
    fold_help(stdout, "usage: sago tier ls DIR...\n"
                      "       mpiexec ... sago tier merge FILE [--local DIRS] [--force]\n"
                      "       mpiexec ... sago tier rm FILE [--local DIRS]\n"
                      "\n"
                      "What jobs with the hint sago_tier=local have left in local storage when they died.\n"
                      "\n"
                      "  ls     the local files in a directory of this node, and whose they are\n"
                      "  merge  moves what was left of FILE into it; run it on all nodes where it is\n"
                      "  rm     gives it up\n"
                      "\n");
    options_help(&options, stdout);
}

int cmd_tier(int argc, char **argv) {
    tier_command command = {0};
    char why[OPTION_WHY_MAX];
    if (command_helped(argc, argv, print_help))
        return EXIT_SUCCESS;
    const char *action = argc > 1 ? argv[1] : "";
    if (!strcmp(action, "ls"))
        return list(argc - 2, argv + 2);
    if (strcmp(action, "merge") != 0 && strcmp(action, "rm") != 0)
        return argc > 1 ? usage_error("tier", "ls, merge or rm, not '%s'", action)
                        : usage_error("tier", "ls, merge or rm?");
    if (argc < 3 || argv[2][0] == '-')
        return usage_error("tier", "%s needs a file", action);
    if (!options_parse(&options, 3, argc, argv, &command, why))
        return usage_error("tier", "%s", why);
    if (command.force && !strcmp(action, "rm"))
        return usage_error("tier", "--force is for merge");
    return open_and_close(&command, action, argv[2]);
}
