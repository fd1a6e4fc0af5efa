/* Is Sago there on every rank?  Where its files are missing on a node, ranks there have the front only (front/),
 * and must not be waited for.  So before the first thing that ranks do together in a call that concerns Sago, all
 * of them, the ones without a core too, bring these numbers to an MPI_Allreduce by maximum, of MPI_INT. */
#ifndef DROPIN_PRESENT_H
#define DROPIN_PRESENT_H

#include <limits.h>

enum {
    SEEN_WRONG, /* the mode of opening is wrong, and right; 0 in other calls */
    SEEN_RIGHT,
    SEEN_ABSENT, /* the first rank without a core: dropin_absent(); 0: there is none */
    SEEN_COUNT
};

static inline int dropin_absent(int rank) { return INT_MAX - rank; }

#endif
