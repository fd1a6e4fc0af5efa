/* Failures of opening that the MPI library would find on some ranks only, after which the others would wait for
 * them for ever. */
#ifndef DROPIN_FORESEE_H
#define DROPIN_FORESEE_H

#include <mpi.h>
#include <stdbool.h>

/* Collective over `comm`.  True: opening would fail on some ranks and not on others, so that it has failed on all;
 * *code is this rank's, after the handler of MPI_FILE_NULL has seen it.  *present: Sago is there on every rank;
 * else the MPI library is left alone. */
bool dropin_foresee(MPI_Comm comm, const char *path, int amode, int *code, bool *present);

/* Collective over `comm`: is Sago there on every rank (present.h)? */
bool dropin_present(MPI_Comm comm);

/* Local: communicators may have processes of another MPI_COMM_WORLD from here on. */
void dropin_note_merge(void);

#endif
