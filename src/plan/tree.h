/* The binary partition tree of paper 004: a range of the file, bisected into domains.  A domain that finds no host
 * leaves the tree, and a neighbour takes its part over. */
#ifndef SAGOI_TREE_H
#define SAGOI_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

typedef struct sagoi_vertex {
    int64_t start, end;
    int64_t parent, left, right; /* -1: none; a leaf has neither left nor right */
    int64_t before, after;       /* neighbouring leaves in the file; -1: none */
    int64_t host;                /* the node that aggregates this leaf; -1: none yet */
} sagoi_vertex;

typedef struct sagoi_tree {
    sagoi_vertex *vertex;
    int64_t count, capacity;
    int64_t first;  /* leaf of the lowest offset */
    int64_t leaves; /* leaves that are in the tree */
    int64_t by_sibling,
        by_descendant; /* leaves taken over so far: by a sibling; by the nearest leaf of the sibling's subtree */
} sagoi_tree;

/* How far a range is bisected. */
typedef struct sagoi_bisection {
    int64_t start, end;
    int64_t unit;   /* Cuts are at multiples of this number, counted from `origin`. */
    int64_t origin; /* an offset at or before `start` */
    /* The number of leaves, never more than there are units; 0: `bytes` decides.  The leaves have `bytes` bytes
     * each except the last, or with bytes == 0 they are as even as units allow. */
    int64_t leaves;
    int64_t bytes; /* With leaves == 0 the range is bisected until no leaf is longer than this (Msg_ind). */
} sagoi_bisection;

/* SAGO_ERR_MEMORY. */
sago_status sagoi_tree_make(const sagoi_bisection *bisection, sagoi_tree *tree) SAGOI_CHECKED;
void sagoi_tree_cleanup(sagoi_tree *tree); /* fine on a zeroed struct, and twice */

/* The number of leaves that this would make. */
int64_t sagoi_bisection_leaves(const sagoi_bisection *bisection);

/* Finds a host for every leaf, in the order of the file: elect() returns a node, or -1, and then the leaf leaves
 * the tree.  A leaf that has a host keeps it when it takes a part over.  false: no node can host all parts
 * together. */
typedef int64_t (*sagoi_elect_fn)(void *arg, int64_t start, int64_t end);
bool sagoi_tree_elect(sagoi_tree *tree, sagoi_elect_fn elect, void *arg);

#endif
