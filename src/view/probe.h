/* The bytes of a type, found by packing numbers instead of taking the type apart.
 *
 * Open MPI copies every part of a type that is taken apart.  For a struct of tens of thousands of parts, as
 * HDF5 makes one of chunks, that costs ten times what the MPI library itself does with the type.  Packing bytes
 * that tell their own places gives the same answer, since the MPI library moves the data in the same way. */
#ifndef SAGOI_PROBE_H
#define SAGOI_PROBE_H

#include "view/flatten.h"

/* true: *flat is filled.  false: the type has to be taken apart, since that costs less or packing failed; nothing
 * needs to be cleaned up. */
bool sagoi_probe(MPI_Datatype type, sagoi_budget *budget, sagoi_flat *flat);

/* Packs part by part, for structs whose parts are so far apart that only one at a time can be packed.  A part that
 * packs to the same bytes as the part before is not read again. */
typedef struct sagoi_prober {
    sagoi_budget *budget;
    unsigned char *places; /* the numbers that a part is packed from: all low digits, then the high ones */
    unsigned char *packed; /* the packed bytes of this part and of the one before */
    int64_t low, span, size;
    int newest;       /* which half of `packed` is this part's */
    bool failed;      /* the parts from here on have to be taken apart */
    bool uncommitted; /* a part was */
} sagoi_prober;

typedef enum sagoi_probed { SAGOI_NOT_PROBED, SAGOI_PROBED, SAGOI_AS_BEFORE } sagoi_probed;

void sagoi_prober_init(sagoi_prober *prober, int64_t parts, sagoi_budget *budget);
void sagoi_prober_cleanup(sagoi_prober *prober);
/* Packs a part.  SAGOI_AS_BEFORE: the part has the form of the one packed before; never the first time after
 * forgetting. */
sagoi_probed sagoi_prober_pack(sagoi_prober *prober, MPI_Datatype type);
void sagoi_prober_forget(sagoi_prober *prober);
/* Adds the runs of the packed part and finishes the pattern; false: the part has to be taken apart. */
bool sagoi_prober_read(const sagoi_prober *prober, sagoi_pattern *pattern);

#endif
