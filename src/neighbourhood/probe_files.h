/* One process's part in probing a directory: the files that it creates there, looks for, lists and removes.
 *
 * All operations are relative to the directory that was opened first, so that nobody can put another directory
 * in its place, and no symbolic link is followed below it.  Names have 128 random bits, and files are created
 * exclusively.  Failures are returned; agreeing on them is left to the caller. */
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
    const char *path;                /* name of the directory in messages; owned by the caller */
    int dir, folder;                 /* descriptors, -1: not open */
    uint64_t device, inode;          /* identity of the directory */
    char name[SAGOI_PROBE_NAME_MAX]; /* name of the one file */
    char folder_name[SAGOI_PROBE_NAME_MAX];
    int64_t entry;                        /* this process's number in the folder */
    bool has_file, has_folder, has_entry; /* things that this process has made, and has to remove */
    sagoi_probe_counts counts;
} sagoi_probe;

void sagoi_probe_init(sagoi_probe *probe, const char *path);
/* Closes what is open; removes nothing. */
void sagoi_probe_cleanup(sagoi_probe *probe);

/* Opens the directory.  `examine`: also finds out which directory it is, and that it can be written to. */
sago_status sagoi_probe_open(sagoi_probe *probe, bool examine) SAGOI_CHECKED;
/* Makes names of 128 random bits, which all processes of one discovery share. */
void sagoi_probe_set_name(sagoi_probe *probe, const uint64_t random[2]);

/* ---- One file for all ---- */

sago_status sagoi_probe_create(sagoi_probe *probe) SAGOI_CHECKED;
/* Is the file there?  A failure to find out is no error: then the file counts as not there. */
bool sagoi_probe_sees(sagoi_probe *probe);

/* ---- A file for each, in a folder ---- */

/* Makes the folder, unless another process has, and in it a file named by the number. */
sago_status sagoi_probe_enter(sagoi_probe *probe, int64_t number) SAGOI_CHECKED;
/* The least number below `end` in the folder.  It is an error not to find one's own file: then the folder is
 * gone. */
sago_status sagoi_probe_list(sagoi_probe *probe, int64_t end, int64_t *least) SAGOI_CHECKED;

/* ---- The end ---- */

/* Removes this process's files.  The folder is removed by sagoi_probe_remove_folder(), after all processes have
 * done this.  Fails if any file is left behind. */
sago_status sagoi_probe_remove_files(sagoi_probe *probe) SAGOI_CHECKED;
/* `alone`: no other process removes the folder, so this must succeed. */
sago_status sagoi_probe_remove_folder(sagoi_probe *probe, bool alone) SAGOI_CHECKED;

#endif
