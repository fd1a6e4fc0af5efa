/* Failures of opening that the MPI library would find on some ranks only, after which the other ranks would wait
 * for ever. */
#ifndef DROPIN_FORESEE_H
#define DROPIN_FORESEE_H

#include <mpi.h>
#include <stdbool.h>

/* Is this a communicator of several ranks, which must not be left waiting? */
bool dropin_is_for_several(MPI_Comm comm);

/* Collective over `comm`: is Sago there on every rank (present.h)?  Otherwise the MPI library serves the call
 * alone. */
bool dropin_present(MPI_Comm comm);

/* Both MPI libraries refuse such a mode before they communicate. */
bool dropin_mode_is_wrong(int amode);

/* Collective over `comm`, which has several ranks.  true: opening would fail on some ranks only, so it fails on
 * all; *code is this rank's, after the handler of MPI_FILE_NULL was called.  `modes_right`: all ranks know that no
 * rank's mode is wrong. */
bool dropin_foresee(MPI_Comm comm, const char *path, int amode, bool modes_right, int *code);

/* Local: from here on communicators may have processes of another MPI_COMM_WORLD. */
void dropin_note_merge(void);

#endif
