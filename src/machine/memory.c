/* How much memory this node can really give.
 *
 * MemAvailable is the host's.  Inside of a container or a job only the memory cgroup knows the limit, and
 * exceeding it means SIGKILL.  The files are not trusted: a value that cannot be read or understood sets no
 * limit. */
#include "machine/memory.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/checked.h"

static const int64_t unlimited = INT64_MAX;
static const int64_t no_real_limit = INT64_C(1) << 60; /* cgroup v1 writes "no limit" as a number near 2^63 */
/* Bytes that a machine is taken to have if nothing can be found out. */
static const int64_t unknown_machine = INT64_C(256) << 20;

/* The two generations of cgroups differ in names only. */
typedef struct flavour {
    const char *filesystem;
    const char *limits[2];
    const char *usage;
    const char *inactive; /* line of memory.stat with the page cache that the kernel gives back on demand */
} flavour;

static const flavour flavours[2] = {
    {"cgroup", {"memory.limit_in_bytes", NULL}, "memory.usage_in_bytes", "total_inactive_file"},
    {"cgroup2", {"memory.max", "memory.high"}, "memory.current", "inactive_file"},
};

/* ---- Reading ------------------------------------------------------------------------------------------ */

/* Opens a file; NULL: that failed.  O_NONBLOCK makes sure that a FIFO below a made-up root does not stop us. */
static FILE *file_open(const char *root, const char *path) {
    char *full = NULL;
    if (asprintf(&full, "%s%s", root, path) < 0)
        return NULL;
    int fd = open(full, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    free(full);
    if (fd < 0)
        return NULL;
    FILE *file = fdopen(fd, "r");
    if (!file)
        (void)close(fd);
    return file;
}

/* A line of any length; it is of the heap, since a thread may have little stack. */
typedef struct text_line {
    char *text; /* owned */
    size_t capacity;
} text_line;

/* Reads the next line without its end; false: the file has ended, or there is no memory. */
static bool line_next(FILE *file, text_line *line) {
    ssize_t length = getline(&line->text, &line->capacity, file);
    if (length > 0 && line->text[length - 1] == '\n')
        line->text[length - 1] = '\0';
    return length > 0;
}

/* Reads digits up to a blank or the end.  "max", and numbers of more than 63 bits, mean no limit. */
static bool number_parse(const char *text, int64_t *value) {
    if (strcmp(text, "max") == 0) {
        *value = unlimited;
        return true;
    }
    int64_t sum = 0;
    const char *at = text;
    for (; isdigit((unsigned char)*at); at++)
        if (sagoi_mul(sum, 10, &sum) || sagoi_add(sum, *at - '0', &sum))
            sum = unlimited;
    if (at == text || (*at != '\0' && !isspace((unsigned char)*at)))
        return false;
    *value = sum;
    return true;
}

/* The number on the line that begins with `name` followed by ':' or blanks; an empty name means the first line. */
static bool number_read(const char *root, const char *path, const char *name, int64_t *value) {
    FILE *file = file_open(root, path);
    if (!file)
        return false;
    size_t length = strlen(name);
    bool found = false;
    text_line line = {0};
    while (!found && line_next(file, &line)) {
        size_t gap = strspn(line.text + strnlen(line.text, length), ": \t");
        if (strncmp(line.text, name, length) == 0 && (gap > 0 || length == 0))
            found = number_parse(line.text + length + gap, value);
        if (length == 0)
            break;
    }
    free(line.text);
    (void)fclose(file);
    return found;
}

/* ---- One cgroup --------------------------------------------------------------------------------------- */

static bool cgroup_number(const char *root, const char *directory, const char *file, const char *name,
                          int64_t *value) {
    char *path = NULL;
    if (asprintf(&path, "%s/%s", directory, file) < 0)
        return false;
    bool found = number_read(root, path, name, value);
    free(path);
    return found;
}

/* limit - (usage - inactive file), never negative; unlimited if there is no limit. */
static int64_t cgroup_available(const char *root, const flavour *kind, const char *directory) {
    int64_t limit = unlimited, number, usage = 0, inactive = 0;
    for (int i = 0; i < 2 && kind->limits[i]; i++)
        if (cgroup_number(root, directory, kind->limits[i], "", &number))
            limit = sagoi_min(limit, number);
    if (limit >= no_real_limit)
        return unlimited;
    (void)cgroup_number(root, directory, kind->usage, "", &usage);
    (void)cgroup_number(root, directory, "memory.stat", kind->inactive, &inactive);
    int64_t held = sagoi_max(0, usage - inactive);
    return sagoi_max(0, limit - held);
}

/* The least of a cgroup and its ancestors: mount point + below, then ever shorter paths, down to the mount
 * point. */
static int64_t ancestry_available(const char *root, const flavour *kind, const char *mount, const char *below) {
    char *directory = NULL, *slash;
    if (asprintf(&directory, "%s%s", mount, below) < 0)
        return unlimited;
    size_t shortest = strlen(mount);
    int64_t least = cgroup_available(root, kind, directory);
    while ((slash = strrchr(directory, '/')) && (size_t)(slash - directory) >= shortest) {
        *slash = '\0';
        least = sagoi_min(least, cgroup_available(root, kind, directory));
    }
    free(directory);
    return least;
}

/* ---- Which cgroup, and where it is mounted ------------------------------------------------------------- */

/* Is `word` in the list "a,b,c"? */
static bool list_has(const char *list, const char *word) {
    size_t length = strlen(word);
    for (const char *item = list; item; item = strchr(item, ',')) {
        item += *item == ',';
        if (strncmp(item, word, length) == 0 && (item[length] == ',' || item[length] == '\0'))
            return true;
    }
    return false;
}

/* The path for this flavour in a line of /proc/self/cgroup, "4:memory:/a/b" or "0::/a/b"; NULL: none. */
static char *own_path(char *line, const flavour *kind) {
    char *controllers = strchr(line, ':');
    char *path = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!path || path[1] != '/')
        return NULL;
    *controllers++ = '\0';
    *path++ = '\0';
    bool mine = kind == &flavours[1] ? strcmp(line, "0") == 0 && !*controllers : list_has(controllers, "memory");
    return mine ? path : NULL;
}

/* To be freed; NULL: there is none, or no memory. */
static char *own_path_read(const char *root, const flavour *kind) {
    FILE *file = file_open(root, "/proc/self/cgroup");
    if (!file)
        return NULL;
    char *own = NULL;
    text_line line = {0};
    while (!own && line_next(file, &line)) {
        const char *path = own_path(line.text, kind);
        own = path ? strdup(path) : NULL;
    }
    free(line.text);
    (void)fclose(file);
    return own;
}

static bool is_octal(char digit) { return digit >= '0' && digit <= '7'; }

/* Decodes blanks and backslashes, which mountinfo writes as \040. */
static void octal_decode(char *text) {
    char *to = text;
    while (*text) {
        if (text[0] == '\\' && is_octal(text[1]) && is_octal(text[2]) && is_octal(text[3])) {
            *to++ = (char)((text[1] - '0') * 64 + (text[2] - '0') * 8 + (text[3] - '0'));
            text += 4;
        } else {
            *to++ = *text++;
        }
    }
    *to = '\0';
}

typedef struct mount_line {
    char *top;   /* the directory of the file system that is mounted */
    char *point; /* where */
    char *filesystem;
    char *options; /* options of the file system itself */
} mount_line;

/* Parses "32 31 0:29 / /sys/fs/cgroup/memory rw shared:9 - cgroup cgroup rw,memory"; cuts `line` up. */
static bool mount_parse(char *line, mount_line *mount) {
    char *tail = strstr(line, " - "), *rest = NULL;
    if (!tail)
        return false;
    *tail = '\0';
    char *field = strtok_r(line, " ", &rest);
    for (int i = 0; i < 3 && field; i++)
        field = strtok_r(NULL, " ", &rest);
    mount->top = field;
    mount->point = field ? strtok_r(NULL, " ", &rest) : NULL;
    mount->filesystem = strtok_r(tail + 3, " ", &rest);
    char *source = mount->filesystem ? strtok_r(NULL, " ", &rest) : NULL;
    mount->options = source ? strtok_r(NULL, " ", &rest) : NULL;
    if (!mount->point || !mount->options)
        return false;
    octal_decode(mount->top);
    octal_decode(mount->point);
    return mount->top[0] == '/' && mount->point[0] == '/';
}

/* Is the path made of ".." alone?  Seen from a cgroup namespace, the mount then shows one of our ancestors. */
static bool leads_up(const char *path) {
    while (strncmp(path, "/..", 3) == 0)
        path += 3;
    return *path == '\0';
}

/* Has the path a ".." anywhere?  Then our cgroup is not where its path says, as seen from here. */
static bool has_dots(const char *path) {
    for (const char *at = strstr(path, "/.."); at; at = strstr(at + 3, "/.."))
        if (at[3] == '/' || at[3] == '\0')
            return true;
    return false;
}

/* Where our cgroup is below the mount, "" for the mount itself; NULL: the mount does not show it. */
static const char *path_below(const char *own, const char *top) {
    size_t length = strcmp(top, "/") == 0 ? 0 : strlen(top);
    if (strncmp(own, top, length) == 0 && (own[length] == '/' || own[length] == '\0')) {
        const char *below = own + length;
        return strcmp(below, "/") == 0 || has_dots(below) ? "" : below;
    }
    return leads_up(top) ? "" : NULL;
}

/* The least of all places where our cgroup is mounted. */
static int64_t mounts_available(const char *root, const flavour *kind, const char *own) {
    FILE *file = file_open(root, "/proc/self/mountinfo");
    if (!file)
        return unlimited;
    int64_t least = unlimited;
    text_line line = {0};
    while (line_next(file, &line)) {
        mount_line mount;
        if (!mount_parse(line.text, &mount) || strcmp(mount.filesystem, kind->filesystem) != 0)
            continue;
        if (kind == &flavours[0] && !list_has(mount.options, "memory"))
            continue;
        const char *below = path_below(own, mount.top);
        if (below)
            least = sagoi_min(least, ancestry_available(root, kind, mount.point, below));
    }
    free(line.text);
    (void)fclose(file);
    return least;
}

static int64_t flavour_available(const char *root, const flavour *kind) {
    char *own = own_path_read(root, kind);
    int64_t least = own ? mounts_available(root, kind, own) : unlimited;
    free(own);
    return least;
}

int64_t sagoi_memory_available(const char *root) {
    int64_t least = unlimited, kib, bytes;
    if (number_read(root, "/proc/meminfo", "MemAvailable", &kib) && !sagoi_mul(kib, 1024, &bytes))
        least = bytes;
    for (int i = 0; i < 2; i++)
        least = sagoi_min(least, flavour_available(root, &flavours[i]));
    return least < no_real_limit ? least : unknown_machine;
}

int64_t sagoi_memory_share(int64_t memory, int64_t parts, int64_t ranks) {
    /* Ranks of a node, limited so that products stay far from overflow. */
    static const int64_t most_ranks = 1 << 22;
    if (memory <= 0 || parts <= 0)
        return 0;
    ranks = sagoi_min(sagoi_max(1, ranks), most_ranks);
    if (parts >= ranks * SAGOI_MEMORY_PART)
        return memory;
    int64_t of_rank = memory / ranks;
    return of_rank / SAGOI_MEMORY_PART * parts + of_rank % SAGOI_MEMORY_PART * parts / SAGOI_MEMORY_PART;
}
