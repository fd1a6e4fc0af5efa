/* A type's bytes, found by packing numbers instead of taking the type apart.
 *
 * Open MPI gives a copy of every part of a type that is taken apart, which for a struct of tens of thousands of
 * parts, as HDF5 makes one of chunks, costs ten times what the MPI library itself does with the type.  Packing
 * bytes that say where they are tells the same: as the MPI library will move the data itself. */
#ifndef SAGOI_PROBE_H
#define SAGOI_PROBE_H

#include "view/flatten.h"

/* True: *flat is filled.  False: the type is to be taken apart, since that costs less, or this failed; nothing to
 * be cleaned up. */
bool sagoi_probe(MPI_Datatype type, sagoi_budget *budget, sagoi_flat *flat);

/* The same, part by part, for structs whose parts are so far from each other that only one at a time can be
 * packed. What is packed as the part before is, is not read again. */
typedef struct sagoi_prober {
    sagoi_budget *budget;
    unsigned char *places; /* the numbers of a part's bytes: all low digits, then the high ones */
    unsigned char *packed; /* of this part, and of the one before */
    int64_t low, span, size;
    int newest;       /* which half of `packed` is this part's */
    bool failed;      /* parts are to be taken apart from now on */
    bool uncommitted; /* a part was */
} sagoi_prober;

typedef enum sagoi_probed { SAGOI_NOT_PROBED, SAGOI_PROBED, SAGOI_AS_BEFORE } sagoi_probed;

void sagoi_prober_init(sagoi_prober *prober, int64_t parts, sagoi_budget *budget);
void sagoi_prober_cleanup(sagoi_prober *prober);
/* Packs a part.  SAGOI_AS_BEFORE: it has the form of the part that was packed before; not after forget. */
sagoi_probed sagoi_prober_pack(sagoi_prober *prober, MPI_Datatype type);
void sagoi_prober_forget(sagoi_prober *prober);
/* Adds the runs of the part that was packed, and finishes the pattern; false: it is to be taken apart. */
bool sagoi_prober_read(const sagoi_prober *prober, sagoi_pattern *pattern);

#endif
