/* Where a node of a Cray XT, XE, XK or XC is, from the name of its component: /proc/cray_xt/cname holds
 * "c1-0c2s7n3", cabinet 1 of row 0, chassis 2, slot 7, node 3.  On all of these machines the nodes of a slot (a
 * blade) share a router or are next to each other, and the nodes of a chassis are nearer than those of other
 * chassis, whatever the network.  So the names make a tree of cabinets, chassis and slots.  They do not tell
 * the coordinates of routers.
 *
 * Not tried on such a machine. */
#ifndef SAGOI_CRAY_H
#define SAGOI_CRAY_H

#include <stdbool.h>
#include <stdint.h>

/* Makes "c1-0.2.7.HOST", which sagoi_slurm_addresses() takes; false: the name is of another kind, or too long. */
bool sagoi_cray_address(const char *cname, int64_t length, const char *host, char *address, int64_t capacity);
/* Does the same with the file below `root`, which is "" except in tests; false also if there is no such file. */
bool sagoi_cray_ask(const char *root, const char *host, char *address, int64_t capacity);

#endif
