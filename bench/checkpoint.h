/* What checkpoints cost: `sago bench ckpt`. */
#ifndef BENCH_CHECKPOINT_H
#define BENCH_CHECKPOINT_H

#include <stdint.h>

enum { CKPT_BENCH_HINTS = 32, CKPT_BENCH_MAX = 200 };

typedef struct ckpt_bench_config {
    const char *dir;  /* directories are made in it, and removed */
    const char *json; /* NULL: none */
    int64_t size;     /* bytes of a rank's array */
    int64_t repeat;
    int64_t saves; /* seconds of a stretch of computing */
    int64_t rate;  /* bytes a second that the limited store takes */
    int64_t nhints;
    const char *hints[CKPT_BENCH_HINTS]; /* "key=value" */
} ckpt_bench_config;

/* Runs everything; returns the exit status. */
int ckpt_bench_execute(const ckpt_bench_config *config);

#endif
