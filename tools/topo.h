/* What `sago topo` shows: a machine, described or discovered, as text, JSON and SVG. */
#ifndef TOOLS_TOPO_H
#define TOOLS_TOPO_H

#include "machine/discover.h"

enum { TOPO_DIRS_MAX = 16 };

/* A node of the job. */
typedef struct topo_node {
    char host[SAGOI_HOST_MAX];
    int64_t place, ranks;
    sagoi_inside inside;
    int64_t memory; /* free memory, bytes */
} topo_node;

/* A directory, and which nodes share it. */
typedef struct topo_dir {
    char path[SAGOI_PATH_MAX];
    char problem[256];  /* why that is not known; "": it is known */
    int64_t shares;     /* number of different ones */
    int64_t operations; /* operations on files and folders that all ranks needed to find out */
    int64_t *share;     /* number of each node's share, from 0; owned */
    bool divided;       /* ranks of one node see different directories */
} topo_dir;

typedef struct topo_view {
    const char *name;   /* name of the machine */
    const char *source; /* where the description of the network comes from */
    const sagoi_topology *topology;
    const sagoi_description *described; /* NULL: the machine was discovered */
    sagoi_tuned tuned;
    int64_t nodes;
    const topo_node *node; /* NULL: the machine was described */
    int64_t dirs;
    const topo_dir *dir;
} topo_view;

void topo_print_text(const topo_view *view, FILE *out);
void topo_print_json(const topo_view *view, FILE *out);
void topo_print_svg(const topo_view *view, FILE *out);

/* ---- What the three have in common ---- */

typedef struct topo_text {
    char text[160];
} topo_text;

/* "dragonfly: 9 groups of 6 x 16 routers with 4 nodes" */
topo_text topo_network(const sagoi_topology *topology);
/* "router to router of a row", of a level. */
topo_text topo_level_meaning(const sagoi_topology *topology, int64_t level);
/* "7, nobody knows where", "768, each for 128 places" */
topo_text topo_gateways(const sagoi_topology *topology);
/* "192 GiB", "1.5 TiB" */
/* "each node has its own", "all share one", "3 shares" */
topo_text topo_sharing(const topo_view *view, const topo_dir *dir);
topo_text topo_tier(const sagoi_tier *tier);

#endif
