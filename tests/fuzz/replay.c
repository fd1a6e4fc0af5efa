/* Runs the inputs of a corpus, and all of their beginnings, through a fuzz target: its test in `make check`. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INPUT_MAX = 1 << 16, CUTS = 200 };

static int replay(const char *path) {
    uint8_t *data = malloc(INPUT_MAX);
    FILE *file = fopen(path, "rb");
    if (!data || !file) {
        perror(path);
        return EXIT_FAILURE;
    }
    size_t size = fread(data, 1, INPUT_MAX, file);
    (void)fclose(file);
    for (size_t cut = 0; cut < size; cut += size / CUTS + 1) {
        uint8_t *exact = malloc(cut ? cut : 1); /* so that a sanitizer sees a byte read past the end */
        if (!exact)
            return EXIT_FAILURE;
        memcpy(exact, data, cut);
        (void)LLVMFuzzerTestOneInput(exact, cut);
        free(exact);
    }
    (void)LLVMFuzzerTestOneInput(data, size);
    free(data);
    return EXIT_SUCCESS;
}

int main(int argc, char **argv) {
    DIR *corpus = argc == 2 ? opendir(argv[1]) : NULL;
    int inputs = 0, status = EXIT_SUCCESS;
    if (!corpus) {
        fprintf(stderr, "usage: %s CORPUS\n", argv[0]);
        return 2;
    }
    for (struct dirent *entry; status == EXIT_SUCCESS && (entry = readdir(corpus));) {
        char path[4096];
        if (entry->d_name[0] == '.')
            continue;
        (void)snprintf(path, sizeof path, "%s/%s", argv[1], entry->d_name);
        status = replay(path);
        inputs++;
    }
    (void)closedir(corpus);
    printf("%d inputs\n", inputs);
    return inputs ? status : EXIT_FAILURE;
}
