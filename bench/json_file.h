/* The file of results for programs that a benchmark writes on rank 0 (--json FILE). */
#ifndef BENCH_JSON_FILE_H
#define BENCH_JSON_FILE_H

#include "base/json.h"
#include "bench/world.h"

typedef struct bench_json_file {
    sagoi_json json;   /* inside the outermost object, between begin and end */
    const char *bench; /* name of the benchmark, for messages: "sago bench NAME: ..." */
    const char *path;
} bench_json_file;

/* Creates the file and begins the object with what is known of the run.  false: a message was printed. */
bool bench_json_begin(bench_json_file *file, const char *bench, const char *path, const bench_world *world);
/* Completes and closes the file.  false: not everything was written, and a message was printed. */
bool bench_json_end(bench_json_file *file);

#endif
