/* The site file: what somebody, or `sago tune`, found out about this system (sago-site(5)). */
#ifndef SAGOI_SITE_H
#define SAGOI_SITE_H

#include <stdio.h>

#include "machine/hostlist.h"
#include "machine/machine.h"
#include "machine/racks.h"
#include "machine/text.h"

enum { SAGOI_SITE_TEXT_MAX = 512 };

/* Hosts whose own links are slower than the network. */
typedef struct sagoi_site_link {
    sagoi_hostlist hosts; /* owned */
    double bandwidth;
} sagoi_site_link;

/* Not given: a level with bandwidth 0, an empty text, a 0 in `tuned`. */
typedef struct sagoi_site {
    char machine[SAGOI_SITE_TEXT_MAX];          /* name or path of a description */
    char topology_library[SAGOI_SITE_TEXT_MAX]; /* path of a shared object (sago/topology.h) */
    char local_dirs[SAGOI_SITE_TEXT_MAX];       /* as in the hint sago_local_dirs */
    sagoi_level inside, network, io;            /* io: one stream to the storage */
    sagoi_level between; /* between nodes of different racks; `network` is then inside of a rack */
    int64_t racks;
    sagoi_hostlist rack[SAGOI_RACKS_MAX]; /* owned */
    sagoi_tuned tuned;
    int64_t links;
    sagoi_site_link link[SAGOI_LINK_RULES_MAX];
} sagoi_site;

/* Reads a file that may contain anything; errors in it are SAGO_ERR_ARG and name file and line.  *site stays as it
 * is if that fails. */
sago_status sagoi_site_read(const char *path, sagoi_site *site) SAGOI_CHECKED;
void sagoi_site_cleanup(sagoi_site *site); /* fine on a zeroed struct, and twice */

/* Writes text that is parsed back to the same values. */
void sagoi_site_write(const sagoi_site *site, FILE *out);

/* Finds the site file: `hint` itself, unless it is empty; then etc/sago/site of the prefix in which the library is
 * installed, then /etc/sago/site.  false: there is none; so it is with the hint "none". */
bool sagoi_site_find(const char *hint, char *path, int64_t capacity);

/* Finds a file or folder of the prefix in which the library is installed ("share/sago/machines"); false: it is not
 * there. */
bool sagoi_installed(const char *below, char *path, int64_t capacity);

#endif
