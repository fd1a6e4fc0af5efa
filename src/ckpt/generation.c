#include "ckpt/generation.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/grow.h"

#define LOCK_PREFIX "lock."
#define FOUND_PREFIX "found."

enum {
    TAG = 0x5347,         /* the top bits of an id with a generation; ids without them are older */
    GENERATION_BITS = 24, /* bits of the id: as many owners as a directory can have */
    TRIES = 10            /* tries to load a list that later owners replace meanwhile */
};

/* ---- Ids ---- */

uint64_t sagoi_id_low_of(int64_t generation, uint64_t random) {
    const uint64_t mask = (UINT64_C(1) << GENERATION_BITS) - 1;
    return (uint64_t)TAG << (2 * GENERATION_BITS) | ((uint64_t)generation & mask) << GENERATION_BITS |
           (random & mask);
}

int64_t sagoi_id_generation(uint64_t id_low) {
    bool tagged = id_low >> (2 * GENERATION_BITS) == TAG;
    return tagged ? (int64_t)(id_low >> GENERATION_BITS) & SAGOI_GENERATION_MOST : 0;
}

/* ---- Names ---- */

static void make_name(char name[SAGOI_CKPT_FILE_NAME], const char *prefix, int64_t generation) {
    (void)snprintf(name, SAGOI_CKPT_FILE_NAME, "%s%08" PRId64, prefix, generation);
}

void sagoi_lock_name(char name[SAGOI_CKPT_FILE_NAME], int64_t generation) {
    make_name(name, LOCK_PREFIX, generation);
}

/* The generation in a name with this prefix, and what may follow it; 0: it is no such name. */
static int64_t parse_name(const char *name, const char *prefix, const char **rest) {
    char again[SAGOI_CKPT_FILE_NAME];
    int64_t generation = 0;
    size_t len = strlen(prefix);
    if (strncmp(name, prefix, len) != 0 || sscanf(name + len, "%8" SCNd64, &generation) != 1 || generation < 1 ||
        generation > SAGOI_GENERATION_MOST)
        return 0;
    make_name(again, prefix, generation);
    if (strncmp(name, again, strlen(again)) != 0)
        return 0;
    *rest = name + strlen(again);
    return generation;
}

static int64_t whole_name(const char *name, const char *prefix) {
    const char *rest = "";
    int64_t generation = parse_name(name, prefix, &rest);
    return *rest ? 0 : generation;
}

bool sagoi_is_generation_name(const char *name) {
    return whole_name(name, LOCK_PREFIX) > 0 || whole_name(name, FOUND_PREFIX) > 0;
}

static sago_status look_at_name(void *arg, const char *name) {
    sagoi_generations *seen = arg;
    sagoi_folder_kind kind;
    int64_t step;
    uint64_t id_low;
    seen->lock = sagoi_max(seen->lock, whole_name(name, LOCK_PREFIX));
    seen->found = sagoi_max(seen->found, whole_name(name, FOUND_PREFIX));
    if (sagoi_save_folder_parse(name, &kind, &step, &id_low))
        seen->save = sagoi_max(seen->save, sagoi_id_generation(id_low));
    return SAGO_OK;
}

/* If somebody has removed locks and lists, the saves tell the generation.  Otherwise they do not, since a strange
 * name must not use up all generations. */
int64_t sagoi_next_generation(const sagoi_generations *seen) {
    int64_t last = sagoi_max(seen->lock, seen->found);
    if (last == 0 && seen->save < SAGOI_GENERATION_MOST)
        last = seen->save;
    return last + 1;
}

sago_status sagoi_generations_look(const char *dir, sagoi_generations *seen) {
    *seen = (sagoi_generations){0};
    return sagoi_cdir_list(dir, look_at_name, seen);
}

/* ---- The fence ---- */

/* An owner's own lock is there, or a higher one.  While names come and go a listing may lack one that is there all
 * the time, on some file systems. */
sago_status sagoi_fence_look(const sagoi_fence *fence, sagoi_generations *seen) {
    char name[SAGOI_CKPT_FILE_NAME], path[SAGOI_CKPT_PATH];
    sago_status status = SAGO_OK;
    bool there = true;
    sagoi_lock_name(name, fence->generation);
    if (!sagoi_path_join(path, fence->dir, name))
        return sagoi_fail(SAGO_ERR_BAD_FILE, "%s: the path is too long", fence->dir);
    for (int i = 0; i < TRIES && there; i++) {
        status = sagoi_generations_look(fence->dir, seen);
        if (status || seen->lock >= fence->generation)
            return status;
        status = sagoi_path_there(path, &there);
        if (status)
            return status;
    }
    return there ? sagoi_fail(SAGO_ERR_IO, "%s is there, but the directory does not list it", path) : SAGO_OK;
}

/* The highest lock is never removed.  So if there is none at all, the directory is away (a lost mount) and may
 * come back. */
sago_status sagoi_fence_check(const sagoi_fence *fence, uint64_t id_low) {
    sagoi_generations seen;
    if (!fence)
        return SAGO_OK;
    int64_t generation = sagoi_id_generation(id_low);
    if (generation > fence->generation)
        return sagoi_fail(SAGO_ERR_BUSY,
                          "%s: a later job's save (generation %lld) is not touched by generation %lld", fence->dir,
                          (long long)generation, (long long)fence->generation);
    sago_status status = sagoi_fence_look(fence, &seen);
    if (status == SAGO_ERR_NO_FILE || (!status && seen.lock == 0))
        return sagoi_fail(SAGO_ERR_NO_FILE, "%s is not there, or has lost its locks", fence->dir);
    if (!status && seen.lock != fence->generation)
        return sagoi_fail(SAGO_ERR_BUSY, "the lock of %s was lost: another job owns the directory now",
                          fence->dir);
    return status;
}

sago_status sagoi_fence_check_adding(const sagoi_fence *fence, uint64_t id_low) {
    sago_status status = sagoi_fence_check(fence, id_low);
    if (!status || status == SAGO_ERR_BUSY || status == SAGO_ERR_NO_FILE)
        return status; /* nothing is saved in the place of a mount that is away */
    sagoi_message_clear();
    return SAGO_OK;
}

sago_status sagoi_fence_rename(const sagoi_fence *fence, uint64_t id_low, const char *from, const char *to) {
    sago_status status = sagoi_fence_check(fence, id_low);
    return status ? status : sagoi_path_rename(from, to);
}

sago_status sagoi_fence_publish(const sagoi_fence *fence, uint64_t id_low, const char *dir, const char *name,
                                const sagoi_wire_out *record) {
    char aside[SAGOI_CKPT_PATH], path[SAGOI_CKPT_PATH];
    if (record->failed)
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory for the record %s, or it is too long", name);
    if (!sagoi_path_join(path, dir, name))
        return sagoi_fail(SAGO_ERR_BAD_FILE, "%s/%s: the path is too long", dir, name);
    sago_status status = sagoi_cfile_put_aside(dir, name, record->bytes, record->len, aside);
    if (status)
        return status;
    status = sagoi_fence_check_adding(fence, id_low);
    if (!status)
        status = sagoi_path_rename(aside, path);
    if (status)
        sagoi_path_discard(aside); /* nobody else uses this name */
    return status;
}

sago_status sagoi_fence_remove(const sagoi_fence *fence, uint64_t id_low, const char *path) {
    sago_status status = sagoi_fence_check(fence, id_low);
    return status ? status : sagoi_path_remove(path);
}

void sagoi_fence_discard(const sagoi_fence *fence, uint64_t id_low, const char *path) {
    char why[SAGOI_MESSAGE_MAX];
    sagoi_message_keep(why);
    if (sagoi_fence_remove(fence, id_low, path))
        sagoi_message_set(why);
}

/* ---- Tidying up ---- */

typedef struct old_names {
    int64_t own, n, capacity;
    char **names;
} old_names;

/* The rest of claims (.aside) may be of our own generation: left by jobs that lost the claim. */
static bool is_old(const char *name, int64_t own) {
    const char *rest = "";
    int64_t generation = parse_name(name, LOCK_PREFIX, &rest);
    if (!generation)
        generation = parse_name(name, FOUND_PREFIX, &rest);
    size_t len = strlen(rest), suffix = strlen(SAGOI_ASIDE_SUFFIX);
    bool aside = len > suffix && strcmp(rest + len - suffix, SAGOI_ASIDE_SUFFIX) == 0;
    return generation > 0 && (aside ? generation <= own : !*rest && generation < own);
}

static sago_status note_old(void *arg, const char *name) {
    old_names *old = arg;
    if (!is_old(name, old->own))
        return SAGO_OK;
    if (!sagoi_grow((void **)&old->names, old->n, &old->capacity, sizeof *old->names))
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory for the list of locks");
    old->names[old->n] = strdup(name);
    return old->names[old->n++] ? SAGO_OK : sagoi_fail(SAGO_ERR_MEMORY, "no memory for the list of locks");
}

/* A lock that cannot be removed, for instance because somebody has made it a directory, does no harm. */
static sago_status let_it_stay(sago_status status) {
    if (!status || status == SAGO_ERR_BUSY || status == SAGO_ERR_TIMEOUT || status == SAGO_ERR_MEMORY)
        return status;
    sagoi_message_clear();
    return SAGO_OK;
}

sago_status sagoi_fence_tidy(const sagoi_fence *fence, const char *dir) {
    old_names old = {.own = fence->generation};
    char path[SAGOI_CKPT_PATH];
    sago_status status = let_it_stay(sagoi_cdir_list(dir, note_old, &old));
    for (int64_t i = 0; i < old.n; i++) {
        if (!status && sagoi_path_join(path, dir, old.names[i]))
            status = let_it_stay(sagoi_fence_remove(fence, 0, path));
        free(old.names[i]);
    }
    free(old.names);
    return status;
}

/* ---- What an owner found ---- */

void sagoi_found_cleanup(sagoi_found *found) {
    free(found->saves);
    *found = (sagoi_found){0};
}

static bool is_listed(const sagoi_found *found, int64_t step, uint64_t id_low) {
    for (int64_t i = 0; i < found->n; i++)
        if (found->saves[i].step == step && found->saves[i].id_low == id_low)
            return true;
    return false;
}

bool sagoi_found_counts(const sagoi_found *found, int64_t step, uint64_t id_low) {
    return sagoi_id_generation(id_low) >= found->generation || is_listed(found, step, id_low);
}

sago_status sagoi_found_add(sagoi_found *found, int64_t step, uint64_t id_low) {
    if (is_listed(found, step, id_low))
        return SAGO_OK;
    sagoi_found_save *moved = realloc(found->saves, (size_t)(found->n + 1) * sizeof *moved);
    if (!moved)
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory for the list of checkpoints");
    found->saves = moved;
    found->saves[found->n++] = (sagoi_found_save){step, id_low};
    return SAGO_OK;
}

void sagoi_found_encode(const sagoi_found *found, sagoi_wire_out *out) {
    sagoi_record_begin(out, SAGOI_RECORD_FOUND);
    sagoi_out_int(out, found->generation);
    sagoi_out_int(out, found->n);
    for (int64_t i = 0; i < found->n; i++) {
        sagoi_out_int(out, found->saves[i].step);
        sagoi_out_int(out, (int64_t)found->saves[i].id_low);
    }
    sagoi_record_end(out);
}

sago_status sagoi_found_decode(const char *bytes, int64_t len, sagoi_found *found) {
    sagoi_wire_in in;
    *found = (sagoi_found){0};
    sago_status status = sagoi_record_open(bytes, len, SAGOI_RECORD_FOUND, "the list of older saves", &in);
    if (status)
        return status;
    found->generation = sagoi_in_range(&in, 1, SAGOI_GENERATION_MOST);
    found->n = sagoi_in_count(&in, 16);
    found->saves = calloc((size_t)found->n + 1, sizeof *found->saves);
    for (int64_t i = 0; found->saves && i < found->n; i++) {
        found->saves[i].step = sagoi_in_range(&in, 0, INT64_MAX);
        found->saves[i].id_low = (uint64_t)sagoi_in_int(&in);
    }
    if (!found->saves)
        status = sagoi_fail(SAGO_ERR_MEMORY, "no memory for the list of older saves");
    else if (in.failed || in.at != in.end)
        status = sagoi_fail(SAGO_ERR_IO, "the list of older saves has contents that cannot be");
    if (status)
        sagoi_found_cleanup(found);
    return status;
}

/* SAGO_ERR_NO_FILE: a later owner has removed the list meanwhile. */
static sago_status load_list(const char *dir, int64_t generation, sagoi_found *found) {
    char name[SAGOI_CKPT_FILE_NAME], path[SAGOI_CKPT_PATH], *bytes = NULL;
    int64_t len = 0;
    make_name(name, FOUND_PREFIX, generation);
    if (!sagoi_path_join(path, dir, name))
        return sagoi_fail(SAGO_ERR_BAD_FILE, "%s: the path is too long", dir);
    sago_status status = sagoi_cfile_load(path, SAGOI_RECORD_MOST, &bytes, &len);
    if (!status)
        status = sagoi_found_decode(bytes, len, found);
    free(bytes);
    if (!status && found->generation != generation) {
        sagoi_found_cleanup(found);
        status = sagoi_fail(SAGO_ERR_IO, "%s is another generation's", path);
    }
    if (status == SAGO_ERR_IO ||
        status == SAGO_ERR_BAD_FILE) { /* a damaged list: showing too much is better than losing a step */
        sagoi_message_clear();
        return SAGO_OK;
    }
    return status;
}

sago_status sagoi_found_load(const char *dir, sagoi_found *found) {
    sagoi_generations seen;
    sago_status status = SAGO_ERR_NO_FILE;
    *found = (sagoi_found){0};
    for (int i = 0; i < TRIES && status == SAGO_ERR_NO_FILE; i++) {
        sagoi_message_clear();
        status = sagoi_generations_look(dir, &seen);
        if (status)
            return status;
        if (seen.found == 0)
            return SAGO_OK;
        status = load_list(dir, seen.found, found);
    }
    return status;
}

sago_status sagoi_found_store(const sagoi_fence *fence, const char *dir, const sagoi_found *found) {
    char name[SAGOI_CKPT_FILE_NAME];
    sagoi_wire_out out = {0};
    sagoi_found mine = *found;
    mine.generation = fence->generation;
    make_name(name, FOUND_PREFIX, fence->generation);
    sagoi_found_encode(&mine, &out);
    sago_status status = sagoi_fence_publish(fence, 0, dir, name, &out);
    free(out.bytes);
    return status ? status : sagoi_cdir_sync(dir);
}

sago_status sagoi_found_adopt(const sagoi_fence *fence, const char *dir, int64_t step, uint64_t id_low) {
    sagoi_found found = {0};
    sago_status status =
        sagoi_id_generation(id_low) == fence->generation ? SAGO_OK : sagoi_found_load(dir, &found);
    if (!status && !sagoi_found_counts(&found, step, id_low)) {
        status = sagoi_found_add(&found, step, id_low);
        if (!status)
            status = sagoi_found_store(fence, dir, &found);
    }
    sagoi_found_cleanup(&found);
    return status;
}
