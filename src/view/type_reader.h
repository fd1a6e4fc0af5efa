/* The bytes of a type, found by packing numbers instead of taking the type apart.
 *
 * Open MPI copies every part of a type that is taken apart.  For a struct of tens of thousands of parts, as
 * HDF5 makes one of chunks, that costs ten times what the MPI library itself does with the type.  Packing bytes
 * that tell their own places gives the same answer, since the MPI library moves the data in the same way. */
#ifndef SAGOI_TYPE_READER_H
#define SAGOI_TYPE_READER_H

#include "view/flatten.h"

/* true: *flat is filled.  false: the type has to be taken apart, since that costs less or packing failed; nothing
 * needs to be cleaned up. */
bool sagoi_type_read(MPI_Datatype type, sagoi_budget *budget, sagoi_flat *flat);

/* Packs part by part, for structs whose parts are so far apart that only one at a time can be packed.  A part that
 * packs to the same bytes as the part before is not read again. */
typedef struct sagoi_type_reader {
    sagoi_budget *budget;
    unsigned char *places; /* the numbers that a part is packed from: all low digits, then the high ones */
    unsigned char *packed; /* the packed bytes of this part and of the one before */
    int64_t low, span, size;
    int newest;       /* which half of `packed` is this part's */
    bool failed;      /* the parts from here on have to be taken apart */
    bool uncommitted; /* a part was */
} sagoi_type_reader;

typedef enum sagoi_type_reading { SAGOI_NOT_READ, SAGOI_READ, SAGOI_READ_AS_BEFORE } sagoi_type_reading;

void sagoi_type_reader_init(sagoi_type_reader *reader, int64_t parts, sagoi_budget *budget);
void sagoi_type_reader_cleanup(sagoi_type_reader *reader);
/* Packs a part.  SAGOI_READ_AS_BEFORE: the part has the form of the one packed before; never the first time after
 * forgetting. */
sagoi_type_reading sagoi_type_reader_pack(sagoi_type_reader *reader, MPI_Datatype type);
void sagoi_type_reader_forget(sagoi_type_reader *reader);
/* Adds the runs of the packed part and finishes the pattern; false: the part has to be taken apart. */
bool sagoi_type_reader_read(const sagoi_type_reader *reader, sagoi_pattern *pattern);

#endif
