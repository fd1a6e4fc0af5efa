/* The binary partition tree of paper 004: a range of the file, bisected into domains; a domain that finds no host
 * leaves the tree, and a neighbour takes its part over. */
#ifndef SAGOI_TREE_H
#define SAGOI_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

typedef struct sagoi_vertex {
    int64_t start, end;
    int64_t parent, left, right; /* -1: none; a leaf has neither left nor right */
    int64_t before, after;       /* the leaves next to this one in the file; -1: none */
    int64_t host;                /* leaves: the node that aggregates it; -1: none yet */
} sagoi_vertex;

typedef struct sagoi_tree {
    sagoi_vertex *vertex;
    int64_t count, capacity;
    int64_t first;  /* leaf of the lowest offset */
    int64_t leaves; /* that are left */
    int64_t by_sibling,
        by_descendant; /* leaves taken over so far: by a sibling; by the nearest leaf of its subtree */
} sagoi_tree;

/* How far a bisection goes. */
typedef struct sagoi_bisection {
    int64_t start, end;
    int64_t unit;   /* cuts are at multiples of it, counted from `origin` */
    int64_t origin; /* at or before start */
    int64_t leaves; /* > 0: so many leaves, of `bytes` bytes each but for the last, or, bytes == 0, as even as
                       units allow; no more than there are units */
    int64_t bytes;  /* leaves == 0: until a leaf is no longer than this (Msg_ind) */
} sagoi_bisection;

/* SAGO_ERR_MEMORY. */
sago_status sagoi_tree_make(const sagoi_bisection *bisection, sagoi_tree *tree) SAGOI_CHECKED;
void sagoi_tree_cleanup(sagoi_tree *tree); /* fine on a zeroed struct, and twice */

/* How many leaves that would be. */
int64_t sagoi_bisection_leaves(const sagoi_bisection *bisection);

/* Finds a host for every leaf, in the order of the file: elect() returns a node, or -1, upon which the leaf
 * leaves. A leaf that has a host keeps it when it takes over.  false: no host for all of them together. */
typedef int64_t (*sagoi_elect_fn)(void *arg, int64_t start, int64_t end);
bool sagoi_tree_elect(sagoi_tree *tree, sagoi_elect_fn elect, void *arg);

#endif
