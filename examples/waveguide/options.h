/* The command line of the waveguide. */
#ifndef WAVEGUIDE_OPTIONS_H
#define WAVEGUIDE_OPTIONS_H

#include <stdint.h>

enum { HINTS_MAX = 32 };

typedef struct options {
    int64_t cells;  /* across the height of the guide; the width is 2, the length `length` times that */
    int64_t length; /* in heights */
    int64_t waves;  /* along the length */
    int64_t m, n;   /* the mode TE_mn */
    int64_t steps;
    int64_t every;         /* steps between checkpoints; 0: whenever Sago says that one is due */
    int64_t reference;     /* checkpoints in coio mode after the run, to compare with; 0: none */
    int64_t die_at;        /* a rank kills itself after this step; -1: never */
    int64_t verify;        /* compare with the exact mode: exit 1 if it is not what the grid allows */
    const char *directory; /* directory of the checkpoints; NULL: there are none */
    const char *mode;      /* coio, rbio or threaded */
    int nhints;
    const char *hints[HINTS_MAX]; /* "key=value" */
} options;

/* Reads the command line.  1: go on; 0: help was asked for; -1: it is wrong, which rank 0 has said. */
int options_read(options *o, int argc, char **argv, int rank);

#endif
