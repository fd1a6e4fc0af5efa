/* Reading the command line by a table. */
#include "options.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct option {
    const char *name;
    size_t field; /* an int64_t in options */
    int64_t low, high;
    const char *help;
} option;

#define FIELD(name) offsetof(options, name)
static const option numbers[] = {
    {"--cells", FIELD(cells), 2, 100000, "cells across the height of the guide (16)"},
    {"--length", FIELD(length), 1, 100000, "its length, in heights (8); its width is 2"},
    {"--waves", FIELD(waves), 0, 100000, "waves along the length (3)"},
    {"--m", FIELD(m), 0, 1000, "half waves across the width: the mode TE_mn (1)"},
    {"--n", FIELD(n), 0, 1000, "half waves across the height (0)"},
    {"--steps", FIELD(steps), 0, INT64_MAX, "time steps (200)"},
    {"--every", FIELD(every), 0, INT64_MAX, "steps between checkpoints (50); 0: when Sago says one is due"},
    {"--reference", FIELD(reference), 0, 1000, "checkpoints in coio mode after the run, to compare with (1)"},
    {"--die-at", FIELD(die_at), 0, INT64_MAX, "kill a rank after this step, to see the restart"},
    {"--verify", FIELD(verify), 0, 1, "1: exit 1 unless the error is what such a grid allows (0)"},
};
enum { NUMBERS = sizeof numbers / sizeof numbers[0] };

static void print_help(void) {
    printf("usage: mpiexec -n RANKS waveguide [options]\n\n"
           "Simulates a TE mode that travels along a rectangular waveguide, compares it with the exact solution, "
           "and\n"
           "saves checkpoints on the way.  Started again, it goes on from the latest one.\n\n");
    for (int i = 0; i < NUMBERS; i++)
        printf("  %-17s %s\n", numbers[i].name, numbers[i].help);
    printf("  %-17s %s\n", "--dir DIR", "where checkpoints are; without it there are none");
    printf("  %-17s %s\n", "--mode MODE", "coio, rbio or threaded (threaded)");
    printf("  %-17s %s\n", "--hint KEY=VALUE", "a hint for the checkpoints (`sago hints`); may be repeated");
}

static int set_number(options *o, const option *number, const char *text) {
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (errno || end == text || *end || value < number->low || value > number->high)
        return 0;
    *(int64_t *)((char *)o + number->field) = value;
    return 1;
}

static int set(options *o, const char *name, const char *text) {
    for (int i = 0; i < NUMBERS; i++)
        if (strcmp(name, numbers[i].name) == 0)
            return set_number(o, &numbers[i], text);
    if (strcmp(name, "--dir") == 0) {
        o->directory = text;
        return *text != 0;
    }
    if (strcmp(name, "--mode") == 0) {
        o->mode = text;
        return strcmp(text, "coio") == 0 || strcmp(text, "rbio") == 0 || strcmp(text, "threaded") == 0;
    }
    if (strcmp(name, "--hint") == 0 && strchr(text, '=') && o->nhints < HINTS_MAX) {
        o->hints[o->nhints++] = text;
        return 1;
    }
    return 0;
}

int options_read(options *o, int argc, char **argv, int rank) {
    *o = (options){.cells = 16, .length = 8, .waves = 3, .m = 1, .n = 0, .steps = 200};
    o->every = 50;
    o->reference = 1;
    o->die_at = -1;
    o->mode = "threaded";
    for (int i = 1; i < argc; i += 2) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--help") == 0) {
            if (rank == 0)
                print_help();
            return 0;
        }
        if (i + 1 == argc || !set(o, argv[i], value)) {
            if (rank == 0)
                fprintf(stderr, "waveguide: %s %s: not understood; try --help\n", argv[i], value);
            return -1;
        }
    }
    if (o->m + o->n == 0 && rank == 0)
        fprintf(stderr, "waveguide: there is no mode TE_00\n");
    return o->m + o->n > 0 ? 1 : -1;
}
