/* One process's part in trying out a directory: the files it creates there, looks for, lists and removes.
 *
 * Everything is relative to the directory that was opened first, so that nobody can put another in its place, and
 * no symbolic link is followed from there on.  Names have 128 random bits; files are created exclusively. Failures
 * are told, agreeing on them is the caller's. */
#ifndef SAGOI_PROBE_H
#define SAGOI_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* As in sago_storage_stats. */
typedef struct sagoi_probe_counts {
    int64_t opens, checks, creates, looks, lists, removes;
} sagoi_probe_counts;

enum { SAGOI_PROBE_NAME_MAX = 64 };

typedef struct sagoi_probe {
    const char *path;                /* for messages; the caller's */
    int dir, folder;                 /* descriptors, -1: not open */
    uint64_t device, inode;          /* of the directory */
    char name[SAGOI_PROBE_NAME_MAX]; /* of the one file */
    char folder_name[SAGOI_PROBE_NAME_MAX];
    int64_t entry;                        /* this process's number in the folder */
    bool has_file, has_folder, has_entry; /* to be removed */
    sagoi_probe_counts counts;
} sagoi_probe;

void sagoi_probe_init(sagoi_probe *probe, const char *path);
/* Closes what is open; removes nothing. */
void sagoi_probe_cleanup(sagoi_probe *probe);

/* Opens the directory.  `examine`: learns which one it is and makes sure that it can be written to. */
sago_status sagoi_probe_open(sagoi_probe *probe, bool examine) SAGOI_CHECKED;
/* 128 random bits that all processes of one discovery share become the names. */
void sagoi_probe_set_name(sagoi_probe *probe, const uint64_t random[2]);

/* ---- One file for all ---- */

sago_status sagoi_probe_create(sagoi_probe *probe) SAGOI_CHECKED;
/* Is the file there?  Nothing that goes wrong in finding out is an error: then it is not. */
bool sagoi_probe_sees(sagoi_probe *probe);

/* ---- A file for each, in a folder ---- */

/* Makes the folder unless somebody has, and in it a file named by the number. */
sago_status sagoi_probe_enter(sagoi_probe *probe, int64_t number) SAGOI_CHECKED;
/* The least number below `end` in the folder.  Not to find one's own is an error: the folder has gone. */
sago_status sagoi_probe_list(sagoi_probe *probe, int64_t end, int64_t *least) SAGOI_CHECKED;

/* ---- The end ---- */

/* Removes this process's files; the folder must be left to sagoi_probe_remove_folder(), after all have done so.
 * Fails if anything of it is left behind. */
sago_status sagoi_probe_remove_files(sagoi_probe *probe) SAGOI_CHECKED;
/* `alone`: nobody else does it, so that it must succeed. */
sago_status sagoi_probe_remove_folder(sagoi_probe *probe, bool alone) SAGOI_CHECKED;

#endif
