/* `sago subfile`: shows a file that is kept in several, and makes one file of it.  It works without MPI, and reads
 * through the library's own store. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/json.h"
#include "bench/progress.h"
#include "store/store.h"
#include "store/subfile_rule.h"
#include "tools/command.h"
#include "tools/fold.h"
#include "tools/options.h"

enum { CHUNK = 1 << 20 }; /* bytes that are copied at a time; a chunk of zeros stays a hole */

static int failed(const char *what) {
    bool named = strstr(sago_error_message(), what) != NULL; /* most messages say which file */
    fprintf(stderr, "sago subfile: %s%s%s\n", named ? "" : what, named ? "" : ": ", sago_error_message());
    return EXIT_FAILURE;
}

/* The path of the description stands for its directory. */
static void find_directory(const char *given, char path[PATH_MAX]) {
    char copy[PATH_MAX];
    struct stat is;
    snprintf(path, PATH_MAX, "%s", given);
    snprintf(copy, sizeof copy, "%s", given);
    if (stat(given, &is) == 0 && S_ISREG(is.st_mode) && !strcmp(basename(copy), SAGOI_SUBFILES_NAME)) {
        snprintf(copy, sizeof copy, "%s", given);
        snprintf(path, PATH_MAX, "%s", dirname(copy));
    }
}

static sago_status open_parted(const char *path, sagoi_store **store, int64_t *size) {
    const sagoi_store_options options = {.flags = O_RDONLY};
    sago_status status = sagoi_store_open(path, &options, store);
    if (status == SAGO_OK && sagoi_store_subfile_count(*store) == 0)
        status = sagoi_fail(SAGO_ERR_BAD_FILE, "one plain file, not kept in subfiles");
    return status == SAGO_OK ? sagoi_store_size(*store, size) : status;
}

/* ---- Show ---- */

static int64_t bytes_of_part(const char *path, int64_t k) {
    char name[SAGOI_SUBFILE_NAME_MAX], part[PATH_MAX + SAGOI_SUBFILE_NAME_MAX];
    struct stat is;
    sagoi_subfile_name(k, name);
    snprintf(part, sizeof part, "%s/%s", path, name);
    return stat(part, &is) == 0 ? (int64_t)is.st_size : -1;
}

static void show_text(const char *path, const sagoi_subfiles *rule, int64_t size) {
    if (rule->block == 0) {
        printf("%s: empty; %lld subfiles, in blocks that the first write decides\n", path, (long long)rule->count);
        return;
    }
    printf("%s: %lld bytes in %lld subfile%s, blocks of %lld bytes in turn\n", path, (long long)size,
           (long long)rule->count, rule->count == 1 ? "" : "s", (long long)rule->block);
    for (int64_t k = 0; k < rule->count; k++) {
        char name[SAGOI_SUBFILE_NAME_MAX];
        sagoi_subfile_name(k, name);
        printf("  %s %lld\n", name, (long long)bytes_of_part(path, k));
    }
}

static void show_json(const char *path, const sagoi_subfiles *rule, int64_t size) {
    sagoi_json json = {.out = stdout, .lines = SAGOI_JSON_INDENTED};
    sagoi_json_open(&json, NULL, '{');
    sagoi_json_text(&json, "path", path);
    sagoi_json_int(&json, "size", size);
    sagoi_json_int(&json, "count", rule->count);
    sagoi_json_int(&json, "block", rule->block);
    sagoi_json_open(&json, "subfiles", '[');
    for (int64_t k = 0; k < rule->count; k++)
        sagoi_json_int(&json, NULL, bytes_of_part(path, k));
    sagoi_json_close(&json, ']');
    sagoi_json_close(&json, '}');
    putchar('\n');
}

static int show(int argc, char **argv) {
    bool json = argc == 2 && !strcmp(argv[0], "--json");
    if (argc != 1 + json)
        return usage_error("subfile", "show takes one file");
    char path[PATH_MAX];
    sagoi_store *store = NULL;
    int64_t size = 0;
    find_directory(argv[json], path);
    sago_status status = open_parted(path, &store, &size);
    if (status == SAGO_OK) {
        const sagoi_subfiles *made = sagoi_store_subfiles(store);
        sagoi_subfiles none = {sagoi_store_subfile_count(store), 0};
        (json ? show_json : show_text)(path, made ? made : &none, size);
    }
    (void)sagoi_store_close(&store);
    return status == SAGO_OK ? EXIT_SUCCESS : failed(path);
}

/* ---- Merge ---- */

static bool is_zero(const char *bytes, int64_t n) {
    return n > 0 && bytes[0] == 0 && memcmp(bytes, bytes + 1, (size_t)(n - 1)) == 0;
}

static sago_status copy(sagoi_store *from, sagoi_store *to, int64_t size) {
    char *chunk = malloc(CHUNK);
    sago_status status = chunk ? SAGO_OK : sagoi_fail(SAGO_ERR_MEMORY, "no memory for %d bytes", CHUNK);
    for (int64_t off = 0; off < size && status == SAGO_OK; off += CHUNK) {
        sagoi_io_run run = {off, sagoi_min(CHUNK, size - off), chunk};
        int64_t got = 0;
        progress_set("merging: %lld%%", (long long)(100 * (double)off / (double)size));
        status = sagoi_store_read(from, &run, 1, &got);
        if (status == SAGO_OK && got < run.len)
            status = sagoi_fail(SAGO_ERR_IO, "somebody has cut the file meanwhile");
        if (status == SAGO_OK && !is_zero(chunk, run.len))
            status = sagoi_store_write(to, &run, 1);
    }
    free(chunk);
    progress_end();
    if (status == SAGO_OK)
        status = sagoi_store_resize(to, size);
    return status == SAGO_OK ? sagoi_store_sync(to) : status;
}

/* Names the file without replacing another one that may be there by now; where there are no hard links this cannot
 * be known. */
static sago_status give_name(const char *aside, const char *out) {
    if (link(aside, out) == 0) {
        (void)unlink(aside);
        return SAGO_OK;
    }
    bool linkless = errno == EPERM || errno == EOPNOTSUPP || errno == EMLINK;
    if (linkless && access(out, F_OK) != 0 && rename(aside, out) == 0)
        return SAGO_OK;
    return sagoi_fail_errno(errno, "naming the result %.200s", out);
}

/* A file under the right name is always whole. */
static sago_status merge_into(sagoi_store *from, int64_t size, const char *out) {
    char aside[PATH_MAX + 24];
    uint64_t random = 0;
    sagoi_store *to = NULL;
    const sagoi_store_options options = {.flags = O_RDWR | O_CREAT | O_EXCL, .mode = 0666};
    if (getrandom(&random, sizeof random, 0) < 0)
        return sagoi_fail_errno(errno, "a random name");
    snprintf(aside, sizeof aside, "%s.%016llx", out, (unsigned long long)random);
    sago_status status = sagoi_store_open(aside, &options, &to);
    if (status != SAGO_OK)
        return status;
    status = copy(from, to, size);
    sago_status closed = sagoi_store_close(&to);
    status = status == SAGO_OK ? closed : status;
    if (status == SAGO_OK)
        status = give_name(aside, out);
    if (status != SAGO_OK)
        (void)unlink(aside);
    return status;
}

static int merge(int argc, char **argv) {
    if (argc != 2)
        return usage_error("subfile", "merge takes a file and a name for the result");
    char path[PATH_MAX];
    struct stat is;
    sagoi_store *from = NULL;
    int64_t size = 0;
    find_directory(argv[0], path);
    sago_status status = open_parted(path, &from, &size);
    if (status == SAGO_OK && lstat(argv[1], &is) == 0)
        status = sagoi_fail(SAGO_ERR_EXISTS, "%.200s exists", argv[1]);
    if (status == SAGO_OK)
        status = merge_into(from, size, argv[1]);
    (void)sagoi_store_close(&from);
    if (status != SAGO_OK)
        return failed(path);
    printf("%s: %lld bytes\n", argv[1], (long long)size);
    return EXIT_SUCCESS;
}

/* ---- Command ---- */

static void print_help(void) {
    fold_help(stdout, "usage: sago subfile show [--json] FILE\n"
                      "       sago subfile merge FILE OUT\n"
                      "\n"
                      "FILE is kept in several (hint sago_subfiles): a directory, or the description in "
                      "it.\n"
                      "\n"
                      "  show   how many there are, the blocks that they hold in turn, the bytes in each\n"
                      "  merge  makes one plain file of them; OUT must not exist, and FILE stays as it is\n");
}

int cmd_subfile(int argc, char **argv) {
    if (command_helped(argc, argv, print_help))
        return EXIT_SUCCESS;
    if (argc > 1 && !strcmp(argv[1], "show"))
        return show(argc - 2, argv + 2);
    if (argc > 1 && !strcmp(argv[1], "merge"))
        return merge(argc - 2, argv + 2);
    return argc > 1 ? usage_error("subfile", "show or merge, not '%s'", argv[1])
                    : usage_error("subfile", "show or merge?");
}
