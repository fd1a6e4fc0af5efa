/* A file that is kept in several: a store that cuts runs at the edges of blocks and hands the parts to the
 * stores of the subfiles, which are opened when they are first needed.
 *
 * All subfiles are made before the description, which comes last.  So a subfile that is missing has been lost,
 * which is an error, not a hole.  A subfile may be shorter than its part of the file: the missing bytes are
 * zero.
 *
 * A file may be made without a rule; then it has a default instead of the description, and is empty until the
 * rule is made.  A link with the description's name makes the rule: only one process can make that link, and
 * all others take its rule.  So a process with such a file open looks for the description before each access,
 * and a write makes the rule if there is none. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/subfile_rule.h"
#include "store/transfer.h"
#include "system/syscalls.h"

/* Subfiles that stay open; others are opened for each access, so that no limit on descriptors is reached. */
enum { STAY_OPEN_MAX = 256, BATCH_RUNS = 128 };
/* Stores with a ring of io_uring each, since a ring takes memory of the kernel's. */
enum { RINGS_MAX = 16 };

struct sagoi_subfile_store {
    sagoi_subfiles rule; /* final once `ruled` is set; the default before that */
    atomic_bool ruled;
    char *dir;                   /* absolute, since the program may change its directory */
    sagoi_store_options options; /* of a subfile */
    pthread_mutex_t lock;        /* guards the fields below */
    sagoi_store **store;         /* rule.count stores; NULL: not open */
    int64_t nopen;               /* number of subfiles that stay open */
    atomic_bool *written; /* rule.count flags: has this process written to the subfile since the last sync? */
};

/* ---- Names ---- */

/* "dir/name", to be freed by the caller; NULL: there is no memory. */
static char *path_in(const char *dir, const char *name) {
    char *path = NULL;
    return asprintf(&path, "%s/%s", dir, name) < 0 ? NULL : path;
}

static char *path_of_subfile(const char *dir, int64_t k) {
    char name[SAGOI_SUBFILE_NAME_MAX];
    sagoi_subfile_name(k, name);
    return path_in(dir, name);
}

static sago_status no_memory(void) { return sagoi_fail_errno(ENOMEM, "subfiles"); }

static sago_status subfile_lost(const char *dir, int64_t k) {
    char name[SAGOI_SUBFILE_NAME_MAX];
    sagoi_subfile_name(k, name);
    return sagoi_fail(SAGO_ERR_BAD_FILE, "subfile %s of %.200s is missing", name, dir);
}

/* ---- The description ---- */

static bool has_name(const char *dir, const char *name) {
    char *path = path_in(dir, name);
    struct stat file;
    bool there = path && sagoi_stat(path, &file) == 0;
    free(path);
    return there;
}

bool sagoi_subfile_store_are_at(const char *path) {
    return has_name(path, SAGOI_SUBFILES_NAME) || has_name(path, SAGOI_SUBFILES_DEFAULT);
}

static sago_status read_text(const char *path, char *text, int64_t capacity, int64_t *bytes) {
    int fd = sagoi_open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0); /* does not wait for the other end of a FIFO */
    if (fd < 0)
        return sagoi_fail_errno(errno, "open of %.200s", path);
    sagoi_file_op op = {.kind = SAGOI_OP_READ, .path = path, .fd = fd, .into = text, .len = capacity};
    int64_t got = sagoi_syscall(&op);
    int error = errno;
    (void)sagoi_close(fd, path);
    *bytes = got;
    return got < 0 ? sagoi_fail_errno(error, "read of %.200s", path) : SAGO_OK;
}

/* Reads the description or the default. */
static sago_status read_rule(const char *dir, const char *name, sagoi_subfiles *rule) {
    char text[SAGOI_SUBFILES_TEXT_MAX];
    int64_t bytes = 0;
    char *path = path_in(dir, name);
    if (!path)
        return no_memory();
    sago_status status = read_text(path, text, sizeof text, &bytes);
    if (status == SAGO_OK)
        status = sagoi_subfiles_parse(path, text, bytes, rule);
    free(path);
    return status;
}

/* Reads the description or, if there is none, the default. */
static sago_status read_any_rule(const char *dir, sagoi_subfiles *rule, bool *ruled) {
    sago_status status = read_rule(dir, SAGOI_SUBFILES_NAME, rule);
    *ruled = status != SAGO_ERR_NO_FILE;
    return *ruled ? status : read_rule(dir, SAGOI_SUBFILES_DEFAULT, rule);
}

/* ---- Making and removing ---- */

/* Makes a new file with these bytes, durable on its device. */
static sago_status write_new(const char *path, const sagoi_store_options *options, const char *text,
                             int64_t bytes) {
    sagoi_store_options plain = {.flags = O_WRONLY | O_CREAT | O_EXCL,
                                 .mode = options->mode,
                                 .stripes = bytes > 0 ? (sagoi_stripes){0, 0} : options->stripes};
    sagoi_store *store = NULL;
    char copy[SAGOI_SUBFILES_TEXT_MAX];
    sago_status status = sagoi_store_open(path, &plain, &store);
    if (status != SAGO_OK)
        return status;
    if (bytes > 0) {
        memcpy(copy, text, (size_t)bytes);
        status = sagoi_store_write(store, &(sagoi_io_run){0, bytes, copy}, 1);
    }
    if (status == SAGO_OK && bytes > 0)
        status = sagoi_store_sync(store);
    sago_status closed = sagoi_store_close(&store);
    return status != SAGO_OK ? status : closed;
}

static sago_status make_subfiles(const char *dir, const sagoi_store_options *options) {
    for (int64_t k = 0; k < options->subfiles.count; k++) {
        char *path = path_of_subfile(dir, k);
        sago_status status = path ? write_new(path, options, NULL, 0) : no_memory();
        free(path);
        if (status != SAGO_OK)
            return status;
    }
    return SAGO_OK;
}

/* The description is written under another name first, so that the file with the right name is always whole. */
static sago_status make_description(const char *dir, const sagoi_store_options *options, const char *name) {
    char text[SAGOI_SUBFILES_TEXT_MAX];
    int64_t bytes = sagoi_subfiles_format(&options->subfiles, text);
    char *path = path_in(dir, name), *aside = path_in(dir, SAGOI_SUBFILES_NEW);
    sago_status status = path && aside ? write_new(aside, options, text, bytes) : no_memory();
    if (status == SAGO_OK && sagoi_name_call(SAGOI_OP_RENAME, aside, path) != 0)
        status = sagoi_fail_errno(errno, "rename of %.200s", aside);
    free(path);
    free(aside);
    return status;
}

/* Removes a file if it exists.  Returns 0 or an errno. */
static int remove_name(char *path) {
    bool gone = path && (sagoi_name_call(SAGOI_OP_UNLINK, path, NULL) == 0 || errno == ENOENT);
    int error = !path ? ENOMEM : gone ? 0 : errno;
    free(path);
    return error;
}

/* Removes descriptions that were never given their name.  Returns 0 or an errno. */
static int remove_unnamed(const char *dir) {
    sagoi_file_op op = {.kind = SAGOI_OP_LIST, .path = dir};
    int64_t bytes = sagoi_syscall(&op);
    int error = bytes < 0 ? errno : 0;
    for (const char *name = op.names; !error && name < op.names + bytes; name += strlen(name) + 1)
        if (strncmp(name, SAGOI_SUBFILES_NEW, sizeof SAGOI_SUBFILES_NEW - 1) == 0)
            error = remove_name(path_in(dir, name));
    free(op.names);
    return error;
}

/* The file that tells the count is removed last: until then a second try can remove the rest. */
static int remove_subfiles(const char *dir, int64_t count) {
    int error = 0;
    for (int64_t k = 0; k < count && !error; k++)
        error = remove_name(path_of_subfile(dir, k));
    error = error ? error : remove_unnamed(dir);
    error = error ? error : remove_name(path_in(dir, SAGOI_SUBFILES_NAME));
    error = error ? error : remove_name(path_in(dir, SAGOI_SUBFILES_DEFAULT));
    return error ? error : sagoi_name_call(SAGOI_OP_RMDIR, dir, NULL) == 0 ? 0 : errno;
}

/* Some file systems have no links; there no single process could make the rule later. */
static bool can_link(const char *dir) {
    char *from = path_in(dir, SAGOI_SUBFILES_DEFAULT), *to = path_in(dir, SAGOI_SUBFILES_NEW);
    bool can = from && to && sagoi_name_call(SAGOI_OP_LINK, from, to) == 0;
    free(from);
    return remove_name(to) == 0 && can;
}

static sago_status make_named(const char *path, const sagoi_store_options *options) {
    sago_status status = SAGO_OK;
    if (options->ruled_later) {
        status = make_description(path, options, SAGOI_SUBFILES_DEFAULT);
        if (status != SAGO_OK || can_link(path))
            return status;
    }
    return make_description(path, options, SAGOI_SUBFILES_NAME);
}

sago_status sagoi_subfile_store_make(const char *path, const sagoi_store_options *options, bool *made) {
    *made = false;
    if (!(options->flags & O_CREAT) || options->subfiles.count < 2)
        return SAGO_OK;
    if (!sagoi_subfiles_valid(&options->subfiles))
        return sagoi_fail(SAGO_ERR_ARG, "%lld subfiles with blocks of %lld bytes",
                          (long long)options->subfiles.count, (long long)options->subfiles.block);
    if (sagoi_name_call(SAGOI_OP_MKDIR, path, NULL) != 0) {
        if (errno == EEXIST && !(options->flags & O_EXCL))
            return SAGO_OK; /* an existing file stays as it is */
        return sagoi_fail_errno(errno, "making %.200s for subfiles", path);
    }
    sago_status status = make_subfiles(path, options);
    if (status == SAGO_OK)
        status = make_named(path, options);
    *made = status == SAGO_OK;
    if (status != SAGO_OK)
        (void)remove_subfiles(path, options->subfiles.count);
    return status;
}

sago_status sagoi_store_remove(const char *path) {
    sagoi_subfiles rule = {0, 0};
    if (!sagoi_subfile_store_are_at(path))
        return sagoi_name_call(SAGOI_OP_UNLINK, path, NULL) == 0 ? SAGO_OK
                                                                 : sagoi_fail_errno(errno, "removing the file");
    bool ruled;
    sago_status status = read_any_rule(path, &rule, &ruled);
    if (status != SAGO_OK)
        return status;
    int error = remove_subfiles(path, rule.count);
    return error ? sagoi_fail_errno(error, "removing the subfiles") : SAGO_OK;
}

/* ---- Opening and closing ---- */

static sago_status parts_create(const char *path, const sagoi_store_options *options,
                                sagoi_subfile_store **subfiles) {
    sagoi_subfiles rule = {0, 0};
    bool ruled = false;
    sago_status status = read_any_rule(path, &rule, &ruled);
    if (status != SAGO_OK)
        return status;
    sagoi_subfile_store *created = calloc(1, sizeof *created);
    if (!created)
        return no_memory();
    created->rule = rule;
    atomic_init(&created->ruled, ruled);
    created->options = *options;
    created->options.flags &= ~(O_CREAT | O_EXCL);
    created->options.uring = options->uring && rule.count <= RINGS_MAX;
    (void)pthread_mutex_init(&created->lock, NULL);
    created->dir = realpath(path, NULL);
    int error = created->dir ? ENOMEM : errno;
    size_t count = (size_t)sagoi_max(2, rule.count); /* it is at least 2, which the analyzer does not know */
    created->store = calloc(count, sizeof(sagoi_store *));
    created->written = calloc(count, sizeof *created->written);
    *subfiles = created;
    return created->dir && created->store && created->written
               ? SAGO_OK
               : sagoi_fail_errno(error, "subfiles of %.200s", path);
}

/* Opens a subfile's store, or takes the open one; the caller gives it back. */
static sago_status subfile_take(sagoi_subfile_store *subfiles, int64_t k, sagoi_store **subfile) {
    (void)pthread_mutex_lock(&subfiles->lock);
    sago_status status = SAGO_OK;
    *subfile = subfiles->store[k];
    if (!*subfile) {
        char *path = path_of_subfile(subfiles->dir, k);
        status = path ? sagoi_store_open(path, &subfiles->options, subfile) : no_memory();
        free(path);
    }
    if (status == SAGO_OK && !subfiles->store[k] && subfiles->nopen < STAY_OPEN_MAX) {
        subfiles->store[k] = *subfile;
        subfiles->nopen++;
    }
    (void)pthread_mutex_unlock(&subfiles->lock);
    return status == SAGO_ERR_NO_FILE ? subfile_lost(subfiles->dir, k) : status;
}

/* Gives a subfile's store back.  `status` is how its use went; the first failure is reported. */
static sago_status subfile_give(sagoi_subfile_store *subfiles, int64_t k, sagoi_store *subfile,
                                sago_status status) {
    (void)pthread_mutex_lock(&subfiles->lock);
    bool stays_open = subfiles->store[k] == subfile;
    (void)pthread_mutex_unlock(&subfiles->lock);
    if (stays_open)
        return status;
    char why[SAGOI_MESSAGE_MAX];
    sagoi_message_keep(why);
    sago_status closed = sagoi_store_close(&subfile);
    if (status == SAGO_OK)
        return closed;
    sagoi_message_set(why);
    return status;
}

sago_status sagoi_subfile_store_open(sagoi_store *store, const char *path, const sagoi_store_options *options) {
    sagoi_store *first = NULL;
    sago_status status = parts_create(path, options, &store->subfiles);
    if (status == SAGO_OK)
        status = subfile_take(store->subfiles, 0, &first);
    if (status == SAGO_OK) {
        store->layout = first->layout;
        status = subfile_give(store->subfiles, 0, first, SAGO_OK);
    }
    return status;
}

sago_status sagoi_subfile_store_close(sagoi_subfile_store **subfiles) {
    sago_status status = SAGO_OK;
    sagoi_subfile_store *closing = *subfiles;
    *subfiles = NULL;
    if (!closing)
        return SAGO_OK;
    for (int64_t k = 0; closing->store && k < closing->rule.count; k++) {
        sago_status closed = sagoi_store_close(&closing->store[k]);
        status = status != SAGO_OK ? status : closed;
    }
    (void)pthread_mutex_destroy(&closing->lock);
    free(closing->dir);
    free(closing->store);
    free(closing->written);
    free(closing);
    return status;
}

const sagoi_subfiles *sagoi_store_subfiles(const sagoi_store *store) {
    return store->subfiles && atomic_load(&store->subfiles->ruled) ? &store->subfiles->rule : NULL;
}

int64_t sagoi_store_subfile_count(const sagoi_store *store) {
    return store->subfiles ? store->subfiles->rule.count : 0;
}

void sagoi_subfile_store_count(sagoi_subfile_store *subfiles, sagoi_store_counts *counts) {
    (void)pthread_mutex_lock(&subfiles->lock);
    for (int64_t k = 0; k < subfiles->rule.count; k++) {
        if (!subfiles->store[k])
            continue;
        sagoi_store_counts one = sagoi_store_counters(subfiles->store[k]);
        counts->system_calls += one.system_calls;
        counts->bytes_written += one.bytes_written;
        counts->bytes_read += one.bytes_read;
        counts->runs += one.runs;
    }
    (void)pthread_mutex_unlock(&subfiles->lock);
}

static sago_status bytes_of_subfile(const sagoi_subfile_store *subfiles, int64_t k, int64_t *bytes) {
    struct stat file = {.st_size = 0};
    char *path = path_of_subfile(subfiles->dir, k);
    int error = !path ? ENOMEM : sagoi_stat(path, &file) == 0 ? 0 : errno;
    free(path);
    *bytes = file.st_size;
    if (error == ENOENT)
        return subfile_lost(subfiles->dir, k);
    return error ? sagoi_fail_errno(error, "stat of a subfile of %.200s", subfiles->dir) : SAGO_OK;
}

/* ---- A rule that is made later ---- */

sago_status sagoi_store_take_rule(sagoi_store *store, int64_t block) {
    sagoi_subfile_store *subfiles = store->subfiles;
    (void)pthread_mutex_lock(&subfiles->lock);
    bool before = atomic_load(&subfiles->ruled);
    const sagoi_subfiles rule = {subfiles->rule.count, block};
    bool fine = before ? subfiles->rule.block == block : sagoi_subfiles_valid(&rule);
    if (fine && !before) {
        subfiles->rule.block = block;
        atomic_store(&subfiles->ruled, true);
    }
    (void)pthread_mutex_unlock(&subfiles->lock);
    return fine ? SAGO_OK
                : sagoi_fail(SAGO_ERR_BAD_FILE, "two rules for the subfiles of %.200s: blocks of %lld bytes",
                             subfiles->dir, (long long)block);
}

/* Looks for the rule if it is not known yet; *ruled: it is known now. */
static sago_status learn_rule(sagoi_store *store, bool *ruled) {
    sagoi_subfile_store *subfiles = store->subfiles;
    sagoi_subfiles rule = {0, 0};
    *ruled = atomic_load(&subfiles->ruled);
    if (*ruled)
        return SAGO_OK;
    sago_status status = read_rule(subfiles->dir, SAGOI_SUBFILES_NAME, &rule);
    if (status == SAGO_ERR_NO_FILE)
        return SAGO_OK;
    if (status == SAGO_OK && rule.count != subfiles->rule.count)
        status = sagoi_fail(SAGO_ERR_BAD_FILE, "the description of %.200s is of %lld subfiles, there are %lld",
                            subfiles->dir, (long long)rule.count, (long long)subfiles->rule.count);
    *ruled = status == SAGO_OK;
    return *ruled ? sagoi_store_take_rule(store, rule.block) : status;
}

/* Without a rule no subfile may have a byte: otherwise the description was lost, which is an error. */
static sago_status learn_or_empty(sagoi_store *store, int64_t first, int64_t every, bool *ruled) {
    const sagoi_subfile_store *subfiles = store->subfiles;
    sago_status status = learn_rule(store, ruled);
    for (int64_t k = first, bytes = 0; k < subfiles->rule.count && status == SAGO_OK && !*ruled; k += every) {
        status = bytes_of_subfile(subfiles, k, &bytes);
        if (status != SAGO_OK || bytes == 0)
            continue;
        status = learn_rule(store, ruled); /* the rule may have been made meanwhile */
        if (status == SAGO_OK && !*ruled)
            return sagoi_fail(SAGO_ERR_BAD_FILE, "%.200s has data, but its description is missing", subfiles->dir);
    }
    return status;
}

/* Writes the description under a name of its own.  The caller frees *path. */
static sago_status write_unnamed(const sagoi_subfile_store *subfiles, int64_t block, char **path) {
    uint64_t number = 0;
    char text[SAGOI_SUBFILES_TEXT_MAX];
    int64_t bytes = sagoi_subfiles_format(&(sagoi_subfiles){subfiles->rule.count, block}, text);
    if (getrandom(&number, sizeof number, 0) < 0)
        number = (uint64_t)getpid();
    if (asprintf(path, "%s/%s.%016llx", subfiles->dir, SAGOI_SUBFILES_NEW, (unsigned long long)number) < 0) {
        *path = NULL;
        return no_memory();
    }
    return write_new(*path, &subfiles->options, text, bytes);
}

/* Makes the link that gives the description its name: of all processes that try only one succeeds, and the
 * others find that link.  The description is on its device before any data is written, since data may be synced
 * after it. */
static sago_status name_rule(const sagoi_subfile_store *subfiles, const char *from) {
    char *name = path_in(subfiles->dir, SAGOI_SUBFILES_NAME);
    sagoi_file_op op = {.kind = SAGOI_OP_SYNC_DIR, .path = subfiles->dir};
    int error = !name ? ENOMEM : sagoi_name_call(SAGOI_OP_LINK, from, name) == 0 || errno == EEXIST ? 0 : errno;
    if (!error && sagoi_syscall(&op) != 0 && errno != EINVAL)
        error = errno;
    free(name);
    return error ? sagoi_fail_errno(error, "making the description of %.200s", subfiles->dir) : SAGO_OK;
}

sago_status sagoi_store_make_rule(sagoi_store *store, int64_t block) {
    sagoi_subfile_store *subfiles = store->subfiles;
    char *from = NULL;
    bool ruled = false;
    sago_status status = learn_or_empty(store, 0, 1, &ruled);
    if (status != SAGO_OK || ruled)
        return status;
    if (block > 0)
        status = write_unnamed(subfiles, block, &from);
    else if (!(from = path_in(subfiles->dir, SAGOI_SUBFILES_DEFAULT)))
        status = no_memory();
    if (status == SAGO_OK)
        status = name_rule(subfiles, from);
    if (block > 0 && from)
        (void)remove_name(from);
    else
        free(from);
    if (status == SAGO_OK)
        status = learn_rule(store, &ruled);
    return status == SAGO_OK && !ruled
               ? sagoi_fail(SAGO_ERR_BAD_FILE, "%.200s: its description is gone", subfiles->dir)
               : status;
}

/* ---- Size, space, syncing ---- */

static sago_status end_of_subfile(const sagoi_subfile_store *subfiles, int64_t k, int64_t *end) {
    int64_t bytes = 0;
    sago_status status = bytes_of_subfile(subfiles, k, &bytes);
    if (status == SAGO_OK && !sagoi_subfile_end(&subfiles->rule, k, bytes, end))
        return sagoi_fail(SAGO_ERR_BAD_FILE, "subfile %lld of %.200s is too long", (long long)k, subfiles->dir);
    return status;
}

sago_status sagoi_subfile_store_size(sagoi_store *store, int64_t first, int64_t every, int64_t *size) {
    const sagoi_subfile_store *subfiles = store->subfiles;
    bool ruled = false;
    sago_status status = learn_or_empty(store, first, every, &ruled);
    *size = 0;
    if (!ruled)
        return status;
    for (int64_t k = first, end = 0; k < subfiles->rule.count && status == SAGO_OK; k += every) {
        status = end_of_subfile(subfiles, k, &end);
        if (status == SAGO_OK)
            *size = sagoi_max(*size, end);
    }
    return status;
}

/* A file without a rule is empty already, so making it empty takes nothing. */
sago_status sagoi_subfile_store_change(sagoi_store *store, int64_t size,
                                       sago_status (*change)(sagoi_store *, int64_t)) {
    sagoi_subfile_store *subfiles = store->subfiles;
    bool ruled = true;
    sago_status status = size > 0 ? sagoi_store_make_rule(store, 0) : learn_or_empty(store, 0, 1, &ruled);
    if (!ruled)
        return status;
    for (int64_t k = 0; k < subfiles->rule.count && status == SAGO_OK; k++) {
        sagoi_store *subfile;
        status = subfile_take(subfiles, k, &subfile);
        if (status != SAGO_OK)
            return status;
        atomic_store(&subfiles->written[k], true);
        status =
            subfile_give(subfiles, k, subfile, change(subfile, sagoi_subfile_share(&subfiles->rule, k, size)));
    }
    return status;
}

sago_status sagoi_subfile_store_sync(sagoi_subfile_store *subfiles) {
    sago_status status = SAGO_OK;
    for (int64_t k = 0; k < subfiles->rule.count && status == SAGO_OK; k++) {
        sagoi_store *subfile;
        if (!atomic_exchange(&subfiles->written[k], false))
            continue;
        status = subfile_take(subfiles, k, &subfile);
        if (status == SAGO_OK)
            status = subfile_give(subfiles, k, subfile, sagoi_store_sync(subfile));
        if (status != SAGO_OK)
            atomic_store(&subfiles->written[k], true); /* the subfile has still to be synced */
    }
    return status;
}

/* ---- Transfers ---- */

/* Runs of one subfile on their way. */
typedef struct mover {
    sagoi_store *store;
    sagoi_subfile_store *subfiles;
    bool write;
    int64_t subfile, n;
    sagoi_io_run run[BATCH_RUNS]; /* offsets in the subfile */
    int64_t off[BATCH_RUNS];      /* in the file */
    int64_t bytes;                /* bytes moved so far */
} mover;

/* Called if the subfile is shorter than the runs.  Up to the end of the whole file the missing bytes are a hole,
 * hence zero, unless another process has written there meanwhile. */
static sago_status read_past_end(mover *m, sagoi_store *subfile) {
    int64_t size = 0;
    sago_status status = sagoi_subfile_store_size(m->store, 0, 1, &size);
    if (status != SAGO_OK)
        return status;
    for (int64_t i = 0; i < m->n; i++) {
        m->run[i].len = sagoi_max(0, sagoi_min(m->run[i].len, size - m->off[i]));
        memset(m->run[i].buf, 0, (size_t)m->run[i].len);
        m->bytes += m->run[i].len;
    }
    return sagoi_store_read(subfile, m->run, m->n, NULL);
}

static sago_status move_runs(mover *m, sagoi_store *subfile) {
    int64_t wanted = 0, found = 0;
    for (int64_t i = 0; i < m->n; i++)
        wanted += m->run[i].len;
    if (m->write)
        atomic_store(&m->subfiles->written[m->subfile], true);
    sago_status status =
        m->write ? sagoi_store_write(subfile, m->run, m->n) : sagoi_store_read(subfile, m->run, m->n, &found);
    if (status == SAGO_OK && !m->write && found < wanted)
        return read_past_end(m, subfile);
    m->bytes += wanted;
    return status;
}

static sago_status flush(mover *m) {
    sagoi_store *subfile;
    if (m->n == 0)
        return SAGO_OK;
    sago_status status = subfile_take(m->subfiles, m->subfile, &subfile);
    if (status == SAGO_OK)
        status = subfile_give(m->subfiles, m->subfile, subfile, move_runs(m, subfile));
    m->n = 0;
    return status;
}

/* Adds a piece of a run that lies in one block. */
static sago_status add_piece(mover *m, const sagoi_io_run *piece) {
    const sagoi_subfiles *rule = &m->subfiles->rule;
    int64_t subfile = sagoi_subfile_of(rule, piece->off);
    sago_status status = m->n == BATCH_RUNS || subfile != m->subfile ? flush(m) : SAGO_OK;
    m->subfile = subfile;
    m->off[m->n] = piece->off;
    m->run[m->n++] = (sagoi_io_run){sagoi_subfile_offset(rule, piece->off), piece->len, piece->buf};
    return status;
}

static bool have_bytes(const sagoi_io_run *runs, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        if (runs[i].len > 0)
            return true;
    return false;
}

sago_status sagoi_subfile_store_move(sagoi_store *store, bool write, const sagoi_io_run *runs, int64_t n,
                                     int64_t *bytes) {
    sagoi_subfile_store *subfiles = store->subfiles;
    mover m = {.store = store, .subfiles = subfiles, .write = write};
    bool ruled = have_bytes(runs, n);
    sago_status status = !ruled  ? SAGO_OK
                         : write ? sagoi_store_make_rule(store, 0)
                                 : learn_or_empty(store, 0, 1, &ruled);
    for (int64_t i = 0; i < n && ruled && status == SAGO_OK; i++) {
        sagoi_io_run rest = runs[i];
        while (rest.len > 0 && status == SAGO_OK) {
            int64_t left = subfiles->rule.block - rest.off % subfiles->rule.block;
            sagoi_io_run piece = {rest.off, sagoi_min(rest.len, left), rest.buf};
            status = add_piece(&m, &piece);
            rest = (sagoi_io_run){rest.off + piece.len, rest.len - piece.len, rest.buf + piece.len};
        }
    }
    status = status == SAGO_OK ? flush(&m) : status;
    if (bytes && status == SAGO_OK)
        *bytes = m.bytes;
    return status;
}
