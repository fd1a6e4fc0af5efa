/* Where a node of a Cray XT, XE, XK or XC sits, by the name of its component: /proc/cray_xt/cname holds
 * "c1-0c2s7n3", cabinet 1 of row 0, chassis 2, slot 7, node 3.  Nodes of a slot (a blade) share a router or are
 * next to each other on all of these, and those of a chassis are nearer than those of others, whatever the
 * network: so a tree of cabinets, chassis and slots is made of it, and no coordinates of routers, which the name
 * does not have.
 *
 * Untried on such a machine. */
#ifndef SAGOI_CRAY_H
#define SAGOI_CRAY_H

#include <stdbool.h>
#include <stdint.h>

/* "c1-0.2.7.HOST", as sagoi_slurm_addresses() takes it; false: it is no such name, or too long. */
bool sagoi_cray_address(const char *cname, int64_t length, const char *host, char *address, int64_t capacity);
/* The same of the file below `root`, "" but in tests; false also if there is none. */
bool sagoi_cray_ask(const char *root, const char *host, char *address, int64_t capacity);

#endif
