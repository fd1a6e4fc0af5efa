#include "api/handle.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tier/tier.h"
#include "base/again.h"
#include "engine/nonblocking.h"
#include "mpi/quiet.h"

/* MPI_MAX_LIBRARY_VERSION_STRING will not do: the library that runs may have a longer name than the one that was
 * built with. */
enum { LONGEST_NAME = 16384 };

/* Asked once, and not on the stack of a thread that may have little. */
static char name[LONGEST_NAME];

static void ask_name(void) {
    int length = 0;
    (void)SAGOI_DONE(MPI_Get_library_version(name, &length));
}

/* A program that runs with another MPI library would give handles of another form, so this question uses no
 * handle. */
sago_status sagoi_check_library(void) {
    static pthread_once_t asked = PTHREAD_ONCE_INIT;
    int initialized = 0, finalized = 0;
    (void)pthread_once(&asked, ask_name);
    if (strncmp(name, SAGO_MPI_NAME, strlen(SAGO_MPI_NAME)) != 0)
        return sagoi_fail(
            SAGO_ERR_WRONG_MPI,
            "this libsago was built with %s, but the program runs on \"%.60s\": link the program with "
            "the Sago of its own MPI library",
            SAGO_MPI_NAME, name);
    (void)SAGOI_DONE(MPI_Initialized(&initialized));
    (void)SAGOI_DONE(MPI_Finalized(&finalized));
    if (!initialized || finalized)
        return sagoi_fail(SAGO_ERR_STATE, "MPI is not initialized, or is finalized already");
    return SAGO_OK;
}

sago_status sagoi_check_comm(MPI_Comm comm) {
    int between = 0;
    if (comm == MPI_COMM_NULL)
        return sagoi_fail(SAGO_ERR_ARG, "the communicator is MPI_COMM_NULL");
    sagoi_quiet_begin(comm);
    bool asked = SAGOI_DONE(MPI_Comm_test_inter(comm, &between));
    sagoi_quiet_end(comm);
    if (!asked || between)
        return sagoi_fail(SAGO_ERR_ARG, "the communicator must be an intracommunicator");
    return SAGO_OK;
}

sago_status sagoi_handle_create(MPI_Comm comm, size_t bytes, sagoi_team **team, void **handle) {
    sago_status status = sagoi_team_acquire(comm, team);
    if (status)
        return status;
    void *made = calloc(1, bytes);
    status = sagoi_agree_status(*team, made ? SAGO_OK : sagoi_fail(SAGO_ERR_MEMORY, "no memory for a handle"));
    if (!status) {
        *handle = made;
        return SAGO_OK;
    }
    free(made);
    sagoi_team_release(*team);
    return status;
}

sago_status sagoi_check_file(const sago_file *file) {
    if (!file)
        return sagoi_fail(SAGO_ERR_HANDLE, "the file is NULL");
    if (!sagoi_live_has(&file->live))
        return sagoi_fail(SAGO_ERR_HANDLE, "the file is closed, or no file of Sago's");
    return SAGO_OK;
}

sago_status sagoi_check_unmerged(sago_file *file) {
    sago_status status = sagoi_check_file(file);
    if (!status)
        sagoi_nonblocking_finish(file);
    return status;
}

sago_status sagoi_check_collective(sago_file *file) {
    sago_status status = sagoi_check_unmerged(file);
    return status ? status : sagoi_tier_merge(file, false);
}

sago_status sagoi_check_access(const sago_file *file, sagoi_direction direction) {
    if (direction == SAGOI_TO_FILE && (file->amode & MPI_MODE_RDONLY))
        return sagoi_fail(SAGO_ERR_MODE, "a write to a file opened with MPI_MODE_RDONLY");
    if (direction == SAGOI_FROM_FILE && (file->amode & MPI_MODE_WRONLY))
        return sagoi_fail(SAGO_ERR_MODE, "a read of a file opened with MPI_MODE_WRONLY");
    return SAGO_OK;
}

/* "open of PATH: ..." names it already. */
static bool is_named(const char *path) {
    const size_t length = strlen(path);
    const char *message = sago_error_message();
    for (const char *at = strstr(message, path); at && length > 0; at = strstr(at + 1, path))
        if (at - message >= 4 && memcmp(at - 4, " of ", 4) == 0 && at[length] == ':')
            return true;
    return false;
}

sago_status sagoi_done(const char *call, const char *path, sago_status status) {
    if (!status)
        sagoi_message_clear();
    else if (path && !is_named(path))
        sagoi_message_prefix("%s: %s: ", call, path);
    else
        sagoi_message_prefix("%s: ", call);
    return status;
}

int sago_status_mpi_class(sago_status status) {
    switch (status) {
    case SAGO_OK:
        return MPI_SUCCESS;
    case SAGO_ERR_ARG:
    case SAGO_ERR_EXTENTS:
    case SAGO_ERR_OVERFLOW:
        return MPI_ERR_ARG;
    case SAGO_ERR_HANDLE:
        return MPI_ERR_FILE;
    case SAGO_ERR_MODE:
        return MPI_ERR_AMODE;
    case SAGO_ERR_HINT:
        return MPI_ERR_INFO_VALUE;
    case SAGO_ERR_TYPE:
        return MPI_ERR_TYPE;
    case SAGO_ERR_MISMATCH:
        return MPI_ERR_NOT_SAME;
    case SAGO_ERR_NO_FILE:
        return MPI_ERR_NO_SUCH_FILE;
    case SAGO_ERR_EXISTS:
        return MPI_ERR_FILE_EXISTS;
    case SAGO_ERR_ACCESS:
        return MPI_ERR_ACCESS;
    case SAGO_ERR_READ_ONLY:
        return MPI_ERR_READ_ONLY;
    case SAGO_ERR_BAD_FILE:
        return MPI_ERR_BAD_FILE;
    case SAGO_ERR_NO_SPACE:
        return MPI_ERR_NO_SPACE;
    case SAGO_ERR_QUOTA:
        return MPI_ERR_QUOTA;
    case SAGO_ERR_IO:
        return MPI_ERR_IO;
    case SAGO_ERR_MEMORY:
        return MPI_ERR_NO_MEM;
    case SAGO_ERR_UNSUPPORTED:
        return MPI_ERR_UNSUPPORTED_OPERATION;
    default:
        return MPI_ERR_OTHER;
    }
}

void sago_quiet_begin(MPI_Comm comm) { sagoi_quiet_begin(comm); }

void sago_quiet_end(MPI_Comm comm) { sagoi_quiet_end(comm); }
