/* Failures of opening that the MPI library would find on some ranks only, after which the others would wait for
 * them for ever. */
#ifndef DROPIN_FORESEE_H
#define DROPIN_FORESEE_H

#include <mpi.h>
#include <stdbool.h>

/* Is it a communicator of several ranks, who must not be left waiting? */
bool dropin_is_for_several(MPI_Comm comm);

/* Collective over `comm`: is Sago there on every rank (present.h)?  Else the MPI library is left alone. */
bool dropin_present(MPI_Comm comm);

/* Both MPI libraries refuse it before they communicate. */
bool dropin_mode_is_wrong(int amode);

/* Collective over `comm`, of several ranks.  True: opening would fail on some ranks and not on others, so that it
 * has failed on all; *code is this rank's, after the handler of MPI_FILE_NULL has seen it.  `modes_right`: no
 * rank's mode is wrong, as all know. */
bool dropin_foresee(MPI_Comm comm, const char *path, int amode, bool modes_right, int *code);

/* Local: communicators may have processes of another MPI_COMM_WORLD from here on. */
void dropin_note_merge(void);

#endif
