#include "bench/json_file.h"

#include <errno.h>
#include <string.h>

static bool complain(const bench_json_file *file) {
    fprintf(stderr, "sago bench %s: --json %s cannot be written: %s\n", file->bench, file->path, strerror(errno));
    return false;
}

bool bench_json_begin(bench_json_file *file, const char *bench, const char *path, const bench_world *world) {
    *file = (bench_json_file){
        .json = {.out = fopen(path, "w"), .lines = SAGOI_JSON_INDENTED}, .bench = bench, .path = path};
    if (!file->json.out)
        return complain(file);
    sagoi_json_open(&file->json, NULL, '{');
    sagoi_json_text(&file->json, "pattern", bench);
    sagoi_json_int(&file->json, "ranks", world->ranks);
    sagoi_json_int(&file->json, "nodes", world->nodes);
    sagoi_json_text(&file->json, "mpi", world->mpi);
    return true;
}

bool bench_json_end(bench_json_file *file) {
    sagoi_json_close(&file->json, '}');
    fputc('\n', file->json.out);
    return fclose(file->json.out) == 0 || complain(file);
}
