#include "foresee.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpi_calls.h"
#include "own_calls.h"
#include "present.h"

#ifdef SAGO_MPI_MPICH
enum { LIBRARY_AGREES = true }; /* ROMIO's ranks agree, once they have one mode */
#else
enum { LIBRARY_AGREES = false }; /* OMPIO's ranks learn what happened to rank 0, not to other ranks */
#endif

bool dropin_mode_is_wrong(int amode) {
    int access = amode & (MPI_MODE_RDONLY | MPI_MODE_WRONLY | MPI_MODE_RDWR);
    if (access != MPI_MODE_RDONLY && access != MPI_MODE_WRONLY && access != MPI_MODE_RDWR)
        return true;
    return (access == MPI_MODE_RDONLY && (amode & (MPI_MODE_CREATE | MPI_MODE_EXCL))) ||
           (access == MPI_MODE_RDWR && (amode & MPI_MODE_SEQUENTIAL));
}

static bool allows(const char *path, int wanted) { return faccessat(AT_FDCWD, path, wanted, AT_EACCESS) == 0; }

/* The folder of a file that is to be created. */
static bool folder_is_there(const char *path) {
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : NULL;
    bool there = !slash || !folder || allows(folder, X_OK);
    free(folder);
    return there;
}

/* What can be found out without opening the file. */
static bool will_not_open(const char *path, int amode) {
    int wanted = (amode & MPI_MODE_WRONLY ? 0 : R_OK) | (amode & MPI_MODE_RDONLY ? 0 : W_OK);
    if (strchr(path, ':') || allows(path, wanted))
        return false;
    return errno != ENOENT || !(amode & MPI_MODE_CREATE) || !folder_is_there(path);
}

/* The MPI library's own error, by opening the file alone; a rank for which that works opens a file that cannot
 * exist. (Open MPI has no other way to its handler of MPI_FILE_NULL.) */
static int fail_alone(const char *path, int amode) {
    MPI_File file = MPI_FILE_NULL;
    int code = path ? dropin_mpi->open(MPI_COMM_SELF, path, amode, MPI_INFO_NULL, &file) : MPI_SUCCESS;
    if (code == MPI_SUCCESS && path)
        (void)dropin_mpi->close(&file);
    return code ? code : dropin_mpi->open(MPI_COMM_SELF, "/dev/null/x", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
}

static bool some_not_all(MPI_Comm comm, bool mine) {
    int seen[2] = {mine, !mine};
    return DROPIN_DONE_ON(comm, PMPI_Allreduce(MPI_IN_PLACE, seen, 2, MPI_INT, MPI_MAX, comm)) && seen[0] &&
           seen[1];
}

bool dropin_is_for_several(MPI_Comm comm) {
    int inter = 0, size = 1;
    return comm != MPI_COMM_NULL && DROPIN_DONE_ON(comm, MPI_Comm_test_inter(comm, &inter)) && !inter &&
           DROPIN_DONE_ON(comm, MPI_Comm_size(comm, &size)) && size > 1;
}

static atomic_bool merged;

void dropin_note_merge(void) { atomic_store(&merged, true); }

static bool is_of_one_world(MPI_Comm comm) {
    static const dropin_groups groups = {PMPI_Comm_group, PMPI_Group_intersection, PMPI_Group_size,
                                         PMPI_Group_free};
    if (!atomic_load(&merged))
        return true;
    sago_quiet_begin(comm);
    return dropin_end_quiet(comm, dropin_in_one_world(&groups, comm, MPI_COMM_WORLD));
}

/* The numbers of all ranks, as in present.h. */
static bool see(MPI_Comm comm, int seen[SEEN_COUNT]) {
    return DROPIN_DONE_ON(comm, PMPI_Allreduce(MPI_IN_PLACE, seen, SEEN_COUNT, MPI_INT, MPI_MAX, comm));
}

/* Kept with communicators whose ranks all have Sago, and with copies of them; MPI gives the handles out once in a
 * process. */
static int present_keyval(void) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static int keyval = MPI_KEYVAL_INVALID;
    (void)pthread_mutex_lock(&lock);
    if (keyval == MPI_KEYVAL_INVALID &&
        !DROPIN_DONE(PMPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &keyval, NULL)))
        keyval = MPI_KEYVAL_INVALID;
    (void)pthread_mutex_unlock(&lock);
    return keyval;
}

/* The answer is kept before it is known, so that a rank that cannot keep it can say so. */
static bool ask_present(MPI_Comm comm, int keyval) {
    bool kept = keyval != MPI_KEYVAL_INVALID && DROPIN_DONE_ON(comm, PMPI_Comm_set_attr(comm, keyval, NULL));
    int seen[SEEN_COUNT] = {[SEEN_FORGETFUL] = !kept};
    bool asked = see(comm, seen), present = !asked || !seen[SEEN_ABSENT];
    if (kept && (!asked || !present || seen[SEEN_FORGETFUL]))
        (void)DROPIN_DONE_ON(comm, PMPI_Comm_delete_attr(comm, keyval));
    return present;
}

bool dropin_present(MPI_Comm comm) {
    void *value;
    int known = 0, keyval;
    if (!dropin_is_for_several(comm))
        return true;
    if (!is_of_one_world(comm))
        return false;
    keyval = present_keyval();
    if (keyval != MPI_KEYVAL_INVALID)
        (void)DROPIN_DONE_ON(comm, PMPI_Comm_get_attr(comm, keyval, &value, &known));
    return known || ask_present(comm, keyval);
}

static bool modes_fail(MPI_Comm comm, bool mine) {
    int seen[SEEN_COUNT] = {[SEEN_WRONG] = mine, [SEEN_RIGHT] = !mine};
    return see(comm, seen) && seen[SEEN_WRONG] && seen[SEEN_RIGHT];
}

/* A rank looks for the file when all ranks have come, since one of them may have made it just before. */
bool dropin_foresee(MPI_Comm comm, const char *path, int amode, bool modes_right, int *code) {
    bool mine = dropin_mode_is_wrong(amode), fails = !modes_right && modes_fail(comm, mine);
    if (!fails && !mine && !LIBRARY_AGREES) {
        mine = path && will_not_open(path, amode);
        fails = some_not_all(comm, mine);
    }
    if (fails)
        *code = fail_alone(mine ? path : NULL, amode);
    return fails;
}
