/* Files that a command writes: they are set aside, kept and compared. */
#include "tools/outputs.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/params.h"

enum { CHUNK = 1 << 20 };

static const char *const kept[] = {".without-sago", ".with-sago"};
static const char before[] = ".before-compare";
static const char *const runs[] = {"without Sago", "with Sago"};

static char *name_of(const tool_output *output, const char *suffix, char name[PATH_MAX]) {
    snprintf(name, PATH_MAX, "%s%s", output->path, suffix);
    return name;
}

/* ---- Setting aside ---- */

bool outputs_add(tool_outputs *outputs, const char *path, char *why) {
    if (outputs->count == OUTPUTS_MAX)
        return bench_refuse(why, "more than %d files", OUTPUTS_MAX);
    if (strlen(path) + sizeof before > PATH_MAX)
        return bench_refuse(why, "--file: too long a path");
    for (int64_t i = 0; i < outputs->count; i++)
        if (strcmp(outputs->output[i].path, path) == 0)
            return true;
    outputs->output[outputs->count++] = (tool_output){.path = path};
    return true;
}

static bool set_aside(tool_output *output, char *why) {
    struct stat info;
    char aside[PATH_MAX];
    if (lstat(name_of(output, before, aside), &info) == 0)
        return bench_refuse(why, "%s is left from a comparison that was killed: move it back or remove it", aside);
    if (lstat(output->path, &info))
        return errno == ENOENT || bench_refuse(why, "--file %s: %s", output->path, strerror(errno));
    if (!S_ISREG(info.st_mode))
        return bench_refuse(why, "--file %s: not a regular file", output->path);
    if (rename(output->path, aside))
        return bench_refuse(why, "--file %s cannot be set aside: %s", output->path, strerror(errno));
    output->set_aside = true;
    return true;
}

bool outputs_begin(tool_outputs *outputs, char *why) {
    for (int64_t i = 0; i < outputs->count; i++)
        if (!set_aside(&outputs->output[i], why))
            return false;
    return true;
}

static void end_one(const tool_output *output) {
    char name[PATH_MAX];
    if (output->set_aside) {
        (void)rename(name_of(output, before, name), output->path);
    } else if (output->comparisons > 0 && !output->last.bytes) {
        (void)rename(name_of(output, kept[true], name), output->path);
    }
    if (output->last.bytes)
        return;
    (void)unlink(name_of(output, kept[true], name));
    (void)unlink(name_of(output, kept[false], name));
}

void outputs_end(tool_outputs *outputs) {
    for (int64_t i = 0; i < outputs->count; i++)
        end_one(&outputs->output[i]);
}

/* ---- Comparing ---- */

/* Bytes that are missing in the shorter file count as different. */
static void count_differences(const char *a, const char *b, size_t n, size_t m, tool_difference *found) {
    size_t longer = n > m ? n : m;
    if (n != m || memcmp(a, b, n) != 0) {
        for (size_t i = 0; i < longer; i++) {
            if (i < n && i < m && a[i] == b[i])
                continue;
            if (found->bytes++ == 0)
                found->first = found->size + (int64_t)i;
            found->zeros = found->zeros && (i >= m || b[i] == 0);
        }
    }
    found->size += (int64_t)longer;
}

static bool compare_files(const char *one, const char *other, tool_difference *difference, char *why) {
    FILE *a = fopen(one, "rb"), *b = fopen(other, "rb");
    char *buffer = malloc(2 * CHUNK);
    tool_difference found = {.zeros = true};
    bool ok = a && b && buffer;
    for (size_t n = 1, m = 1; ok && (n > 0 || m > 0);) {
        n = fread(buffer, 1, CHUNK, a);
        m = fread(buffer + CHUNK, 1, CHUNK, b);
        ok = !ferror(a) && !ferror(b);
        count_differences(buffer, buffer + CHUNK, n, m, &found);
    }
    if (ok)
        *difference = found;
    else
        (void)bench_refuse(why, "%s and %s cannot be compared: %s", one, other, strerror(errno));
    free(buffer);
    if (b)
        (void)fclose(b);
    if (a)
        (void)fclose(a);
    return ok;
}

/* A file that differed already: does it at least stay the same without Sago? */
static bool compare_again(tool_output *output, char *why) {
    char name[PATH_MAX];
    tool_difference difference;
    if (!compare_files(name_of(output, kept[false], name), output->path, &difference, why))
        return false;
    output->differs_anyway |= difference.bytes > 0;
    return true;
}

static bool keep_one(tool_output *output, bool with_sago, char *why) {
    char name[PATH_MAX];
    bool failed;
    if (access(output->path, F_OK) == 0 && output->last.bytes && !with_sago && !compare_again(output, why))
        return false;
    if (output->last.bytes)
        failed = unlink(output->path) != 0;
    else
        failed = rename(output->path, name_of(output, kept[with_sago], name)) != 0;
    return !failed || bench_refuse(why, "%s after the run %s: %s", output->path, runs[with_sago], strerror(errno));
}

bool outputs_keep(tool_outputs *outputs, bool with_sago, char *why) {
    for (int64_t i = 0; i < outputs->count; i++)
        if (!keep_one(&outputs->output[i], with_sago, why))
            return false;
    return true;
}

static bool compare_one(tool_output *output, char *why) {
    char one[PATH_MAX], other[PATH_MAX];
    output->comparisons++;
    return compare_files(name_of(output, kept[false], one), name_of(output, kept[true], other), &output->last,
                         why);
}

bool outputs_compare(tool_outputs *outputs, char *why) {
    for (int64_t i = 0; i < outputs->count; i++)
        if (!outputs->output[i].last.bytes && !compare_one(&outputs->output[i], why))
            return false;
    return true;
}

bool outputs_differ(const tool_outputs *outputs) {
    for (int64_t i = 0; i < outputs->count; i++)
        if (outputs->output[i].last.bytes)
            return true;
    return false;
}
