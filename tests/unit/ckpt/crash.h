/* Crashes, replayed: file operations are recorded per writer; a crash is a prefix of each writer's operations, of
 * which everything that no sync had made durable is kept, dropped or torn at 512 bytes, each for itself.  What is
 * left is put into a real directory.
 *
 * What one writer's sync makes durable is only what that writer did before: more may survive on a real file
 * system, never less. */
#ifndef SAGO_TESTS_CRASH_H
#define SAGO_TESTS_CRASH_H

#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/inject.h"
#include "system/files.h"

enum { CRASH_WRITERS = 3, CRASH_OPS = 512, CRASH_FILES = 1024, SECTOR = 512 };
enum { CRASH_REPORTED = 100, CRASH_BARRIER = 101 }; /* kinds besides sagoi_op_kind */

typedef struct crash_op {
    int kind;
    char *path, *to, *data;
    int64_t off, len, number; /* number: of a report or barrier */
    int inode;                /* that the path led to; -1: it is a directory */
} crash_op;

typedef struct crash_name {
    char *path;
    int inode;
} crash_name;

/* Everything that happened, and the names as they are while it happens. */
typedef struct crash_log {
    crash_op ops[CRASH_WRITERS][CRASH_OPS];
    int n[CRASH_WRITERS];
    int writer; /* whose operations are being recorded */
    crash_name names[CRASH_FILES];
    int nnames, ninodes;
    bool ignore_syncs; /* as if nobody ever synced: to see that the test notices */
} crash_log;

static inline int name_find(const crash_name *names, int n, const char *path) {
    for (int i = 0; i < n; i++)
        if (strcmp(names[i].path, path) == 0)
            return i;
    return -1;
}

static inline void name_set(crash_name *names, int *n, const char *path, int inode) {
    int i = name_find(names, *n, path);
    if (i < 0) {
        i = (*n)++;
        names[i].path = strdup(path);
    }
    names[i].inode = inode;
}

static inline void name_drop(crash_name *names, int *n, const char *path) {
    int i = name_find(names, *n, path);
    if (i < 0)
        return;
    free(names[i].path);
    names[i] = names[--*n];
}

/* A directory got another name: so has everything in it. */
static inline void names_move(crash_name *names, int n, const char *from, const char *to) {
    size_t len = strlen(from);
    for (int i = 0; i < n; i++) {
        char path[2 * SAGOI_CKPT_PATH];
        if (strncmp(names[i].path, from, len) != 0 || (names[i].path[len] != '/' && names[i].path[len] != '\0'))
            continue;
        snprintf(path, sizeof path, "%s%s", to, names[i].path + len);
        free(names[i].path);
        names[i].path = strdup(path);
    }
}

/* ---- Recording ---- */

static inline crash_op *crash_add(crash_log *log, int kind) {
    crash_op *op = &log->ops[log->writer][log->n[log->writer]++];
    if (log->n[log->writer] > CRASH_OPS)
        abort();
    *op = (crash_op){.kind = kind, .inode = -1};
    return op;
}

static inline void crash_mark(crash_log *log, int writer, int kind, int64_t number) {
    log->writer = writer;
    crash_add(log, kind)->number = number;
}

static inline void crash_record(void *arg, const sagoi_file_op *done) {
    crash_log *log = arg;
    if (!op_changes(done->kind))
        return;
    crash_op *op = crash_add(log, (int)done->kind);
    int known = name_find(log->names, log->nnames, done->path);
    op->path = strdup(done->path);
    op->to = done->to ? strdup(done->to) : NULL;
    op->off = done->off;
    op->len = done->len;
    if (done->data) {
        op->data = malloc((size_t)done->len);
        memcpy(op->data, done->data, (size_t)done->len);
    }
    if (done->kind == SAGOI_OP_CREATE && known < 0) {
        name_set(log->names, &log->nnames, done->path, log->ninodes++);
        known = name_find(log->names, log->nnames, done->path);
    }
    op->inode = known >= 0 ? log->names[known].inode : -1;
    if (done->kind == SAGOI_OP_RENAME && known < 0)
        names_move(log->names, log->nnames, done->path, done->to);
    else if (done->kind == SAGOI_OP_RENAME || done->kind == SAGOI_OP_LINK)
        name_set(log->names, &log->nnames, done->to, op->inode);
    if (done->kind == SAGOI_OP_RENAME || done->kind == SAGOI_OP_UNLINK)
        name_drop(log->names, &log->nnames, done->path);
}

static inline void crash_free(crash_log *log) {
    for (int w = 0; w < CRASH_WRITERS; w++)
        for (int i = 0; i < log->n[w]; i++) {
            free(log->ops[w][i].path);
            free(log->ops[w][i].to);
            free(log->ops[w][i].data);
        }
    while (log->nnames)
        name_drop(log->names, &log->nnames, log->names[0].path);
}

/* ---- What a crash leaves ---- */

static inline uint64_t crash_draw(uint64_t *state) {
    uint64_t x = (*state += 0x9e3779b97f4a7c15u);
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    return (x ^ x >> 27) * 0x94d049bb133111ebu >> 11;
}

static inline bool in_directory(const char *path, const char *dir) {
    size_t len = strlen(dir);
    return strncmp(path, dir, len) == 0 && path[len] == '/' && !strchr(path + len + 1, '/');
}

/* Did a later operation of the same writer, before the crash, make this one durable? */
static inline bool is_durable(const crash_log *log, int writer, int index, int end) {
    const crash_op *op = &log->ops[writer][index];
    if (!op->path) /* a mark */
        return true;
    for (int i = index + 1; i < end && !log->ignore_syncs; i++) {
        const crash_op *later = &log->ops[writer][i];
        if (op->kind == SAGOI_OP_WRITE && later->kind == SAGOI_OP_SYNC && later->inode == op->inode)
            return true;
        if (op->kind != SAGOI_OP_WRITE && later->kind == SAGOI_OP_SYNC_DIR &&
            (in_directory(op->path, later->path) || (op->to && in_directory(op->to, later->path))))
            return true;
    }
    return false;
}

typedef struct crash_inode {
    char *data;
    int64_t len;
} crash_inode;

typedef struct crash_state {
    crash_name names[CRASH_FILES];
    int nnames;
    crash_name dirs[CRASH_FILES];
    int ndirs;
    crash_inode inodes[CRASH_FILES];
} crash_state;

static inline void inode_write(crash_inode *inode, const char *data, int64_t off, int64_t len) {
    if (off + len > inode->len) {
        inode->data = realloc(inode->data, (size_t)(off + len));
        memset(inode->data + inode->len, 0, (size_t)(off + len - inode->len));
        inode->len = off + len;
    }
    memcpy(inode->data + off, data, (size_t)len);
}

typedef enum { FATE_RANDOM, FATE_KEPT, FATE_DROPPED } crash_fate;

/* Sectors survive one by one. */
static inline void tear_write(crash_inode *inode, const crash_op *op, uint64_t *state) {
    for (int64_t at = op->off; at < op->off + op->len;) {
        int64_t end = (at / SECTOR + 1) * SECTOR;
        end = end < op->off + op->len ? end : op->off + op->len;
        if (crash_draw(state) & 1)
            inode_write(inode, op->data + (at - op->off), at, end - at);
        at = end;
    }
}

static inline void apply_name_op(crash_state *after, const crash_op *op) {
    switch (op->kind) {
    case SAGOI_OP_MKDIR:
        name_set(after->dirs, &after->ndirs, op->path, 0);
        break;
    case SAGOI_OP_RMDIR:
        name_drop(after->dirs, &after->ndirs, op->path);
        break;
    case SAGOI_OP_CREATE:
        name_set(after->names, &after->nnames, op->path, op->inode);
        break;
    case SAGOI_OP_RENAME:
        if (op->inode < 0) { /* a directory */
            name_drop(after->dirs, &after->ndirs, op->to);
            names_move(after->dirs, after->ndirs, op->path, op->to);
            names_move(after->names, after->nnames, op->path, op->to);
            break;
        }
        name_set(after->names, &after->nnames, op->to, op->inode);
        name_drop(after->names, &after->nnames, op->path);
        break;
    case SAGOI_OP_LINK:
        name_set(after->names, &after->nnames, op->to, op->inode);
        break;
    case SAGOI_OP_UNLINK:
        name_drop(after->names, &after->nnames, op->path);
        break;
    default:
        break;
    }
}

static inline void apply_op(crash_state *after, const crash_op *op, bool durable, crash_fate fate,
                            uint64_t *state) {
    uint64_t choice = durable || fate == FATE_KEPT ? 1 : fate == FATE_DROPPED ? 0 : crash_draw(state) % 3;
    if (op->kind != SAGOI_OP_WRITE && choice == 2)
        choice = crash_draw(state) % 2;
    if (choice == 0)
        return;
    if (op->kind != SAGOI_OP_WRITE)
        apply_name_op(after, op);
    else if (choice == 1)
        inode_write(&after->inodes[op->inode], op->data, op->off, op->len);
    else
        tear_write(&after->inodes[op->inode], op, state);
}

/* Phases between barriers follow each other; within one the writers' order does not matter. */
static inline void crash_apply(const crash_log *log, int writers, const int *end, crash_fate fate, uint64_t seed,
                               crash_state *after) {
    int at[CRASH_WRITERS] = {0};
    uint64_t state = seed;
    for (bool more = true; more;) {
        more = false;
        for (int w = 0; w < writers; w++) {
            while (at[w] < end[w] && log->ops[w][at[w]].kind != CRASH_BARRIER) {
                apply_op(after, &log->ops[w][at[w]], is_durable(log, w, at[w], end[w]), fate, &state);
                at[w]++;
            }
        }
        for (int w = 0; w < writers; w++)
            if (at[w] < end[w]) {
                at[w]++; /* past the barrier */
                more = true;
            }
    }
}

/* A writer passes a barrier only when all have come to it: shortens prefixes that could not have been. */
static inline void crash_make_possible(const crash_log *log, int writers, int *end) {
    for (bool again = true; again;) {
        again = false;
        int64_t least = INT64_MAX;
        for (int w = 0; w < writers; w++) {
            int64_t reached = 0, stop = end[w];
            for (int i = 0; i < log->n[w]; i++) {
                if (log->ops[w][i].kind == CRASH_BARRIER) {
                    if (i > stop)
                        break;
                    reached = log->ops[w][i].number;
                }
            }
            least = reached < least ? reached : least;
        }
        for (int w = 0; w < writers; w++)
            for (int i = 0; i < end[w]; i++)
                if (log->ops[w][i].kind == CRASH_BARRIER && log->ops[w][i].number > least) {
                    end[w] = i;
                    again = true;
                }
    }
}

/* The newest number that all writers have reported before the crash. */
static inline int64_t crash_reported(const crash_log *log, int writers, const int *end) {
    int64_t all = INT64_MAX;
    for (int w = 0; w < writers; w++) {
        int64_t mine = 0;
        for (int i = 0; i < end[w]; i++)
            if (log->ops[w][i].kind == CRASH_REPORTED)
                mine = log->ops[w][i].number;
        all = mine < all ? mine : all;
    }
    return all;
}

/* ---- On a real file system ---- */

static inline bool parent_there(const crash_state *after, const char *path, const char *root) {
    char parent[SAGOI_CKPT_PATH];
    snprintf(parent, sizeof parent, "%s", path);
    *strrchr(parent, '/') = '\0';
    return strcmp(parent, root) == 0 || name_find(after->dirs, after->ndirs, parent) >= 0;
}

/* Paths under `from` are put under `to`. */
static inline void moved(char out[SAGOI_CKPT_PATH], const char *path, const char *from, const char *to) {
    snprintf(out, SAGOI_CKPT_PATH, "%s%s", to, path + strlen(from));
}

static inline void crash_materialize(crash_state *after, const char *from, const char *to) {
    char path[SAGOI_CKPT_PATH];
    mkdir(to, 0700);
    for (size_t depth = 0; depth < 5; depth++) /* parents before children */
        for (int i = 0; i < after->ndirs; i++)
            if (parent_there(after, after->dirs[i].path, from)) {
                moved(path, after->dirs[i].path, from, to);
                mkdir(path, 0700);
            }
    for (int i = 0; i < after->nnames; i++) {
        if (!parent_there(after, after->names[i].path, from))
            continue;
        moved(path, after->names[i].path, from, to);
        int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        const crash_inode *inode = &after->inodes[after->names[i].inode];
        if (fd >= 0) {
            if (inode->len > 0 && write(fd, inode->data, (size_t)inode->len) != inode->len)
                abort();
            close(fd);
        }
    }
}

static inline void crash_state_free(crash_state *after) {
    while (after->nnames)
        name_drop(after->names, &after->nnames, after->names[0].path);
    while (after->ndirs)
        name_drop(after->dirs, &after->ndirs, after->dirs[0].path);
    for (int i = 0; i < CRASH_FILES; i++)
        free(after->inodes[i].data);
}

static inline int remove_one(const char *path, const struct stat *info, int type, struct FTW *walk) {
    (void)info, (void)type, (void)walk;
    return remove(path);
}

static inline void remove_tree(const char *path) { nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS); }

#endif
