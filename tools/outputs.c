/* Files that a command writes: set aside, kept and compared. */
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
    } else if (output->comparisons > 0 && !output->differs) {
        (void)rename(name_of(output, kept[true], name), output->path);
    }
    if (output->differs)
        return;
    (void)unlink(name_of(output, kept[true], name));
    (void)unlink(name_of(output, kept[false], name));
}

void outputs_end(tool_outputs *outputs) {
    for (int64_t i = 0; i < outputs->count; i++)
        end_one(&outputs->output[i]);
}

/* ---- Comparing ---- */

/* The offset of the first byte that differs, or that only one of them has; -1: none.  `size`: of the longer. */
static int64_t first_difference(FILE *a, FILE *b, char *buffer, int64_t *size) {
    int64_t offset = 0, found = -1;
    size_t n, m;
    do {
        n = fread(buffer, 1, CHUNK, a);
        m = fread(buffer + CHUNK, 1, CHUNK, b);
        size_t both = n < m ? n : m, i = 0;
        if (found < 0 && (n != m || memcmp(buffer, buffer + CHUNK, both) != 0)) {
            while (i < both && buffer[i] == buffer[CHUNK + i])
                i++;
            found = offset + (int64_t)i;
        }
        offset += (int64_t)(n > m ? n : m);
    } while (n > 0 || m > 0);
    *size = offset;
    return found;
}

static bool compare_files(const char *one, const char *other, int64_t *difference, int64_t *size, char *why) {
    FILE *a = fopen(one, "rb"), *b = fopen(other, "rb");
    char *buffer = malloc(2 * CHUNK);
    bool ok = a && b && buffer;
    if (ok) {
        *difference = first_difference(a, b, buffer, size);
        ok = !ferror(a) && !ferror(b);
    }
    if (!ok)
        (void)bench_refuse(why, "%s and %s cannot be compared: %s", one, other, strerror(errno));
    free(buffer);
    if (b)
        (void)fclose(b);
    if (a)
        (void)fclose(a);
    return ok;
}

/* A file that differed already: is it the same as ever, at least without Sago? */
static bool compare_again(tool_output *output, char *why) {
    char name[PATH_MAX];
    int64_t difference, size;
    if (!compare_files(name_of(output, kept[false], name), output->path, &difference, &size, why))
        return false;
    output->differs_anyway |= difference >= 0;
    return true;
}

static bool keep_one(tool_output *output, bool with_sago, char *why) {
    char name[PATH_MAX];
    bool failed;
    if (access(output->path, F_OK) == 0 && output->differs && !with_sago && !compare_again(output, why))
        return false;
    if (output->differs)
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
    int64_t difference;
    if (!compare_files(name_of(output, kept[false], one), name_of(output, kept[true], other), &difference,
                       &output->size, why))
        return false;
    output->comparisons++;
    output->differs = difference >= 0;
    output->first_difference = difference;
    return true;
}

bool outputs_compare(tool_outputs *outputs, char *why) {
    for (int64_t i = 0; i < outputs->count; i++)
        if (!outputs->output[i].differs && !compare_one(&outputs->output[i], why))
            return false;
    return true;
}

bool outputs_differ(const tool_outputs *outputs) {
    for (int64_t i = 0; i < outputs->count; i++)
        if (outputs->output[i].differs)
            return true;
    return false;
}
