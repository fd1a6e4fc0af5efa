/* The value of a hint that is in force, for the tests of subfiles. */
#ifndef TESTS_HINT_OF_H
#define TESTS_HINT_OF_H

#include "mpi/check.h"

/* A number of bytes or of files; "auto" is 0; -1: the file has no such hint. */
static long long hint_of(sago_file *file, const char *key) {
    MPI_Info info;
    char value[MPI_MAX_INFO_VAL + 1] = "";
    int found = 0;
    MPI_Info_create(&info);
    CHECK_OK(sago_get_hints(file, info));
    MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &found);
    MPI_Info_free(&info);
    return !found ? -1 : atoll(value) << (strchr(value, 'K') ? 10 : 0);
}

#endif
